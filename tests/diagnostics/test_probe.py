"""A probe's settings: those of its yaml, of the study, of the command; and what they make of its file's name."""

import pytest
from omegaconf import OmegaConf

from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError
from hardlabels.runs.study import Study

HESSIAN = OmegaConf.load(CONF / "diagnostic" / "hessian.yaml")


def test_a_studys_own_settings_are_the_usual_ones_there():
    assert Probe.from_config(HESSIAN).settings["items"] is None
    own = Probe.from_config(HESSIAN, {"items": 300})
    assert (own.name, own.settings["items"]) == ("hessian", 300)  # so that tables and figures read it


def test_an_override_goes_before_them_and_shows_in_the_name():
    other = Probe.from_config(OmegaConf.merge(HESSIAN, {"items": 50}), {"items": 300})
    assert (other.name, other.settings["items"]) == ("hessian,items=50", 50)


def test_a_study_cannot_set_what_a_probe_does_not_have():
    with pytest.raises(InputError, match=r"the study's settings of hessian must be among protocol, .*, got 'item'"):
        Probe.from_config(HESSIAN, {"item": 300})
    settings = {"name": "toy", "grid": [{"method": "soft"}], "data": "synthetic", "recipe": "smoke", "settings": {"hessian": 3}}
    with pytest.raises(InputError, match="study 'toy': settings must be those of probes"):
        Study.from_config(OmegaConf.create(settings))


@pytest.mark.parametrize("study", sorted(path.stem for path in (CONF / "study").glob("*.yaml")))
def test_every_study_has_probes_and_settings_that_exist(study):
    cfg = compose_command("diagnose", [f"study={study}"])
    for name, own in Study.from_config(cfg.study).settings.items():
        assert Probe.from_config(cfg[name], own).name == name
    assert set(Study.from_config(cfg.study).probes) <= {path.stem for path in (CONF / "diagnostic").glob("*.yaml")}
