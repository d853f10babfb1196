"""Which run is which: whatever may change a result is in the fingerprint, and in the folder's name or behind a tag."""

import inspect
import json
import shutil
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from lightning import Trainer
from omegaconf import OmegaConf, open_dict

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.archive import archives, read_members, recipe_of
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.identity import LEAVES_THE_RESULT_ALONE, fingerprint, training_config
from hardlabels.runs.settings.checks import SET_BY_THE_RUN, check_config
from hardlabels.runs.settings.hidden import hidden_changes, plain_config

RESULTS = Path(__file__).parents[2] / "results"
PLAIN = ["data=synthetic", "recipe=smoke"]

# An argument of Lightning's Trainer to a value that is not its default.
TRAINER = {
    "accelerator": "cpu", "strategy": "ddp", "devices": 2, "num_nodes": 2, "precision": "bf16-mixed", "logger": "true",
    "callbacks": "[]", "fast_dev_run": "true", "max_epochs": 3, "min_epochs": 3, "max_steps": 5, "min_steps": 5,
    "max_time": "00:00:01:00", "limit_train_batches": 2, "limit_val_batches": 2, "limit_test_batches": 2,
    "limit_predict_batches": 2, "overfit_batches": 2, "val_check_interval": 0.5, "check_val_every_n_epoch": 2,
    "num_sanity_val_steps": 1, "log_every_n_steps": 5, "enable_checkpointing": "false", "enable_progress_bar": "true",
    "enable_model_summary": "true", "accumulate_grad_batches": 2, "gradient_clip_val": 0.5, "gradient_clip_algorithm": "value",
    "deterministic": "true", "benchmark": "true", "inference_mode": "false", "use_distributed_sampler": "true",
    "profiler": "simple", "detect_anomaly": "true", "barebones": "true", "plugins": "[]", "sync_batchnorm": "true",
    "reload_dataloaders_every_n_epochs": 1, "default_root_dir": "elsewhere", "enable_autolog_hparams": "false",
    "model_registry": "some",
}  # fmt: skip


def composed(*overrides):
    """A command's configuration, and Hydra's own part of it."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        whole = compose("train", list(overrides), return_hydra_config=True)
    return OmegaConf.masked_copy(whole, [name for name in whole if name != "hydra"]), whole.hydra


def hidden(*overrides):
    cfg, hydra = composed(*overrides)
    return hidden_changes(cfg, plain_config(cfg, hydra))


@pytest.mark.parametrize("name", list(inspect.signature(Trainer).parameters))
def test_every_argument_of_the_trainer_is_free_or_part_of_the_run_or_refused(name):
    """New ones of a later Lightning too: what nobody has thought about is part of the run."""
    setting = f"trainer.{name}={TRAINER.get(name, 'unheard_of')}"
    cfg, hydra = composed(*PLAIN, f"++{setting}")
    if name in SET_BY_THE_RUN:
        with pytest.raises(InputError, match=rf"trainer\.{name} is set by the run itself: "):
            check_config(cfg)
        return
    check_config(cfg)
    changes = hidden_changes(cfg, plain_config(cfg, hydra))
    same = training_config(cfg) == training_config(composed(*PLAIN)[0])
    free = f"trainer.{name}" in LEAVES_THE_RESULT_ALONE or setting in LEAVES_THE_RESULT_ALONE
    assert same == free
    assert changes == ([] if free else [setting])


def test_what_the_list_names_is_really_set_by_the_run_or_an_argument():
    arguments = set(inspect.signature(Trainer).parameters)
    assert set(SET_BY_THE_RUN) <= arguments
    named = {key.split("=")[0].removeprefix("trainer.") for key in LEAVES_THE_RESULT_ALONE if key.startswith("trainer.")}
    assert named <= arguments - set(SET_BY_THE_RUN)
    assert all(LEAVES_THE_RESULT_ALONE.values()), "each has its reason"


SHOWN = [
    [], ["method=sls", "method.hold=3"], ["K=5", "seed=1"], ["outputs=x"], ["logger=wandb", "logger.mode=offline"], ["workers=2"],
    ["trainer.devices=2", "trainer.strategy=ddp", "trainer.num_nodes=2"], ["hydra.verbose=true"], ["hydra/launcher=slurm"],
    ["recipe.epochs=6"], ["+recipe.optimizer={lr:0.1}"], ["model.compile=true"], ["data.name=mine"], ["~trainer.devices"],
    ["trainer.precision=32-true"], ["data=cifar10h", "data.root=x", "data.url=y", "data.timeout=3"],
    ["data=chaosnli", "data.subset=mnli", "recipe=text_head"], ["data=files", "data.name=mine", "model=mlp"],
]  # fmt: skip

HIDDEN = [
    (["recipe.epochs=3"], "recipe.epochs=3"),
    (["recipe.width=2"], "recipe.width=2"),
    (["++recipe.width=2"], "recipe.width=2"),
    (["model.width=2"], "model.width=2"),
    (["+recipe.optimizer.dampening=0.1"], "recipe.optimizer.dampening=0.1"),
    (["recipe.optimizer={lr:3}"], "recipe.optimizer.lr=3"),
    (["recipe.optimizer._target_=torch.optim.AdamW"], "recipe.optimizer._target_=torch.optim.AdamW"),
    (["~recipe.optimizer.momentum"], "~recipe.optimizer.momentum"),
    (["~trainer.precision"], "~trainer.precision"),
    (["trainer.strategy=fsdp"], "trainer.strategy=fsdp"),
    (["+trainer={gradient_clip_val:1}"], "trainer.gradient_clip_val=1"),
    (["data.items=50"], "data.items=50"),
    (["data.name=mine", "data.items=50"], "data.items=50"),
    (["data.name=cifar10h"], "data._target_=hardlabels.sources.synthetic.synthetic"),
    (["data=chaosnli", "data.subset=mnli", "data.name=mine"], "data.subset=mnli"),
    (["recipe.name=paper"], "recipe.epochs=6"),
    (["recipe.name=mine"], "recipe.name=mine"),
    (["method=soft", "+method.name=sls"], "method.delivery=hardlabels.delivery.soft.Soft"),
    (["method.delivery=mine.Method"], "method.delivery=mine.Method"),
    (["callbacks=early_stopping"], "callbacks.early_stopping._target_=lightning.pytorch.callbacks.EarlyStopping"),
    (["method._target_=mine.Method"], "method._target_=mine.Method"),
    (["model._target_=mine.Network"], "model._target_=mine.Network"),
    (["model=mlp", "recipe=smoke", "model.depth=3"], "model.depth=3"),
    (["data=popquorn", "recipe=text_finetune", "model=text_head"], "model._target_=hardlabels.learning.text.TextHead"),
    (["+x=1"], "x=1"),
    (["+run.note=1"], "run.note=1"),
    (["+recipe.more={}"], "recipe.more={}"),
    (["recipe.optimizer.nesterov=true"], "recipe.optimizer.nesterov=true"),
    (["recipe.train_items=null"], "recipe.train_items=null"),
    (["recipe.epochs=${K}", "K=3"], "recipe.epochs=3"),
]


@pytest.mark.parametrize("overrides", SHOWN, ids=" ".join)
def test_what_the_folder_shows_or_what_changes_nothing_needs_no_tag(overrides):
    assert hidden(*PLAIN, *overrides) == []


@pytest.mark.parametrize(("overrides", "named"), HIDDEN, ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_what_the_folder_does_not_show_needs_a_tag(overrides, named):
    assert named in hidden(*PLAIN, *overrides)


# name: (files of a folder that the user's command names, its arguments, what needs a tag)
SMOKE = "defaults: [smoke]\nname: "
SOFT = "{name: mine, _target_: hardlabels.delivery.soft.Soft}"
OWN = {
    "a trainer": (
        {"trainer/mine.yaml": "defaults: [default]\ngradient_clip_val: 1.0\n"}, ["trainer=mine"], "trainer.gradient_clip_val=1.0",
    ),
    "a recipe of its own name": ({"recipe/mine.yaml": f"{SMOKE}mine\nepochs: 1\n"}, ["recipe=mine"], None),
    "a recipe under the name of ours": ({"recipe/mine.yaml": f"{SMOKE}smoke\nepochs: 1\n"}, ["recipe=mine"], "recipe.epochs=1"),
    "a recipe that follows K": ({"recipe/mine.yaml": f"{SMOKE}mine\nepochs: ${{K}}\n"}, ["recipe=mine", "K=2"], None),
    "a recipe that follows workers": (
        {"recipe/mine.yaml": f"{SMOKE}mine\nepochs: ${{workers}}\n"}, ["workers=2", "recipe=mine"], "recipe.epochs=2",
    ),
    "a whole configuration": (
        {"mine.yaml": "defaults: [train, _self_]\nrecipe: {epochs: 1}\n"}, ["--config-name=mine"], "recipe.epochs=1",
    ),
    "a method of another class": (
        {"method/mine.yaml": SOFT}, ["method=mine", "method._target_=hardlabels.delivery.majority.Majority"], "method._target_=",
    ),
    "a logger that changes the network": (
        {"logger/wide.yaml": "# @package _global_\nlogger: {name: csv}\nmodel: {width: 3}\n"}, ["logger=wide"], "model.width=3",
    ),
    "a data set under the name of ours": (
        {"data/mine.yaml": "defaults: [synthetic]\nname: synthetic\nnoise: 0.5\n"}, ["data=mine"], "data.noise=0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN)
def test_yaml_of_the_users_own(case, tmp_path, command):
    files, arguments, named = OWN[case]
    for name, text in files.items():
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).write_text(text)
    # A second hidden change, so that nothing is trained where the first thing needs no tag.
    more = ["data.size=14"] if named is None else []
    words = sorted([*PLAIN, *arguments, *more], key=lambda word: not word.startswith("--"))
    code, _, err = command("--config-dir=own", *words)
    assert code == 2
    assert err.startswith(f"error: {named or 'data.size=14'}")
    assert "run.tag=NAME" in err


def records():
    """(folder in ``results``, files of the run by name) of one run of each study and data set, which are archives."""
    wanted = ("fingerprint.json", "config.yaml")
    for study in sorted(path for path in RESULTS.iterdir() if path.is_dir()):
        for file in archives(study):
            found = {}
            for name, content in read_members(file):  # no list to look in: it is read up to the first run's files
                folder, _, last = name.rpartition("/")
                if last in wanted:
                    found.setdefault(folder, {})[last] = content
                if len(found.get(folder, {})) == len(wanted):
                    yield Path(file.parent.name, recipe_of(file), folder), found[folder]
                    break


RECORDS = list(records())


def test_there_are_committed_runs():
    assert len(RECORDS) >= 8


@pytest.mark.parametrize(("cell", "files"), RECORDS, ids=lambda value: str(value) if isinstance(value, Path) else "")
def test_committed_runs_are_those_of_the_plain_configuration(cell, files, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    data, recipe, method, k, seed = cell.parts
    method, *variant = method.split(",")
    words = [f"data={data}", f"recipe={recipe}", f"method={method}", k.replace("all", "null"), seed]
    words += [f"method.{setting}" for setting in variant]
    training = training_config(composed(*words)[0])
    RunDirectory(tmp_path).check(training)
    recorded = json.loads((tmp_path / "fingerprint.json").read_text())
    assert {key: training[key] for key in recorded["training"]} == recorded["training"]
    if "data_settings" not in training:  # a subset has its entry since
        assert fingerprint(training, recorded["data"]) == recorded["fingerprint"]
    for other in ("+trainer.gradient_clip_val=1.0", "+trainer.accumulate_grad_batches=2", "recipe.epochs=7", "+x=1"):
        with pytest.raises(InputError, match="another configuration"):
            RunDirectory(tmp_path).check(training_config(composed(*words, other)[0]))


def test_a_run_of_an_earlier_version_is_known_by_its_whole_configuration(make_config, run_cell, tmp_path):
    """Its fingerprint did not say that gradients were clipped; its config.yaml does."""
    clipped, folder = "+trainer.gradient_clip_val=0.1", tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=0"
    run_cell(make_config(clipped))
    identity = json.loads((folder / "fingerprint.json").read_text())
    assert identity["training"]["trainer"] == {"gradient_clip_val": 0.1}
    del identity["format"], identity["training"]["trainer"], identity["training"]["data_settings"]
    (folder / "fingerprint.json").write_text(json.dumps(identity))

    assert run_cell(make_config(clipped)) == folder  # skipped
    with pytest.raises(InputError, match=r"trainer.gradient_clip_val: 0.1 there, not set now"):
        run_cell(make_config())
    with pytest.raises(InputError, match=r"data\.items: 120 there, 110 now"):
        run_cell(make_config(clipped, "data.items=110"))


@pytest.mark.parametrize(
    "other",
    ["+trainer.gradient_clip_val=0.1", "+trainer.accumulate_grad_batches=2", "data.noise=0.2", "~trainer.precision"],
)
def test_a_finished_run_is_not_skipped_for_one_with_another_setting(make_config, run_cell, tmp_path, other):
    folder = run_cell(make_config())
    with pytest.raises(InputError, match="another configuration"):
        run_cell(make_config(other))
    shutil.rmtree(folder)


def test_clipping_and_accumulating_do_change_the_result(make_config, run_cell):
    """What the fingerprint distinguishes is different."""
    results = set()
    for name, override in {
        "plain": "+trainer.gradient_clip_val=null",
        "clipped": "+trainer.gradient_clip_val=0.01",
        "two": "+trainer.accumulate_grad_batches=2",
    }.items():
        results.add((run_cell(make_config(f"run.tag={name}", override)) / "history.csv").read_text())
    assert len(results) == 3


def test_a_setting_of_ones_own_is_welcome_where_another_refers_to_it(make_config):
    """Nothing of ours reads ``recipe.units``; the network does, by its own setting."""
    config = make_config()
    with open_dict(config):
        config.recipe.units = 4
        config.model.width = "${recipe.units}"
    check_config(config)
    config.model.width = 4
    with pytest.raises(InputError, match=r"recipe\.units is read by nothing"):
        check_config(config)
