"""A run's configuration as arguments: composing them gives the configuration again."""

import shlex
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.runs.archive import unpacked
from hardlabels.runs.reading import read_config
from hardlabels.runs.settings.hidden import hidden_changes, plain_config
from hardlabels.runs.studies.repeat import TO_FILL_IN, as_override, repeated_settings, settings_like

ROOT = Path(__file__).parents[2]
PARTS = ("data", "recipe", "model", "trainer")
OWN = ["data=files", "data.votes=my votes.csv", "data.items=pictures/", "data.name=mine"]
CONFIGURATIONS = [
    [],
    ["data=chaosnli_mnli", "recipe=text_head"],
    ["data=lewidi_hs_brexit", "recipe=text_finetune", "model.longest=64"],
    ["data=synthetic", "data.items=50", "recipe=smoke", "run.tag=few"],
    ["data=synthetic", "data.name=other"],
    [*OWN, "recipe=smoke"],
    [*OWN, "model=mlp", "recipe=smoke", "recipe.width=2", "recipe.epochs=2", "run.tag=tiny", "trainer.accelerator=cpu"],
    [*OWN, "model=mlp", "model.depth=3", "data.classes=[a,'b c',null,'12','true']", "data.label='a=b:c'", "data.text=[x,y]"],
    [*OWN, "model=resnet18", "model.width=5", "recipe.optimizer.lr=5e-4", "+recipe.optimizer.dampening=0.1"],
    [*OWN, "recipe=text_head", "+trainer.gradient_clip_val=1.5", "data.size=64"],
]


def composed(words):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", list(words))


def resolved(cfg):
    return {part: OmegaConf.to_container(cfg, resolve=True)[part] for part in PARTS}


@pytest.mark.parametrize("words", CONFIGURATIONS, ids=" ".join)
def test_the_arguments_give_the_configuration_again(words):
    cfg = composed(words)
    again = repeated_settings(cfg)
    assert resolved(composed(again)) == resolved(cfg)
    # After a shell, too, and in a multirun, where a bare comma would be a sweep.
    typed = shlex.split(" ".join(map(shlex.quote, again)))
    assert resolved(composed(typed)) == resolved(cfg)
    assert not any(override.is_sweep_override() for override in OverridesParser.create().parse_overrides(typed))


def test_what_needed_no_tag_still_needs_none():
    again = repeated_settings(composed([*OWN, "model=mlp", "recipe=smoke", "data.size=64"]))
    with initialize_config_dir(str(CONF), version_base="1.3"):
        cfg = compose("train", again, return_hydra_config=True)
        assert hidden_changes(cfg, plain_config(cfg, cfg.hydra)) == []


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="ascii", exclude_characters="$")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc_", min_size=1), inner, max_size=3),
    max_leaves=6,
)


@given(values)
def test_hydra_reads_every_value_as_it_was(value):
    [override] = OverridesParser.create().parse_overrides([f"+key={as_override(value)}"])
    found = OmegaConf.create({"key": override.value()})
    assert OmegaConf.to_container(found)["key"] == value


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("sls/K=5/seed=0", ["data=cifar10h", "recipe=pocket"]),
        ("sls,hold=5/K=all/seed=0", ["data=cifar10h", "recipe=pocket"]),
    ],
)
def test_committed_records_are_named_by_data_and_recipe_alone(config, expected):
    place = unpacked(ROOT / "results/pocket/cifar10h/pocket.tar.xz") / "cifar10h/pocket"
    assert repeated_settings(read_config(place / config / "config.yaml")) == expected


def write_config(place, data, recipe, words):
    folder = place / data / recipe / "sls" / "K=all" / "seed=0"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(OmegaConf.to_yaml(composed(words), resolve=True))
    return folder


def test_a_data_set_is_what_its_runs_say_also_with_another_recipe(tmp_path):
    write_config(tmp_path, "mine", "smoke,tag=tiny", [*OWN, "model=mlp", "recipe=smoke", "recipe.epochs=2", "run.tag=tiny"])
    mine = ["data=files", "data.name=mine", 'data.votes="my votes.csv"', "data.items=pictures/"]
    same = settings_like("mine", "smoke,tag=tiny", [tmp_path / "nowhere", tmp_path])
    assert same == [*mine, "recipe=smoke", "recipe.epochs=2", "model=mlp", "run.tag=tiny"]
    # Two epochs belong to the tag; the data, and the kind of network that takes them, do not.
    assert settings_like("mine", "paper", [tmp_path]) == [*mine, "recipe=paper", "model=mlp"]
    assert settings_like("yours", "paper", [tmp_path]) == [*TO_FILL_IN, "data.name=yours", "recipe=paper"]


def test_a_damaged_configuration_is_passed_over(tmp_path):
    (write_config(tmp_path, "mine", "smoke", OWN) / "config.yaml").write_text("data: [")
    assert settings_like("mine", "smoke", [tmp_path])[: len(TO_FILL_IN)] == list(TO_FILL_IN)


def test_a_setting_younger_than_a_run_stays_as_it_is_now(tmp_path):
    cfg = composed(OWN)
    del cfg.recipe.stride
    del cfg.model.stride
    assert not any("stride" in word for word in repeated_settings(cfg))
