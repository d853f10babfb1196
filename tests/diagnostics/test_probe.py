"""A probe's settings: those of its yaml, of the study, of the command; and what they make of its file's name."""

import pytest
from omegaconf import OmegaConf

from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.studies.study import Study

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


def test_the_checkpoint_is_part_of_the_files_name_and_not_of_the_probes():
    last = Probe.from_config(OmegaConf.merge(HESSIAN, {"checkpoint": "last", "items": 50}))
    assert (last.name, last.file) == ("hessian,items=50", "hessian,items=50,checkpoint=last")
    assert Probe.from_config(HESSIAN).file == "hessian"
    with pytest.raises(InputError, match="probe hessian: checkpoint must be one of best, last, got 'first'"):
        Probe.from_config(OmegaConf.merge(HESSIAN, {"checkpoint": "first"}))
    with pytest.raises(InputError, match=r"the study's settings of hessian must be among protocol, .*, got 'checkpoint'"):
        Probe.from_config(HESSIAN, {"checkpoint": "last"})


def test_a_run_lacks_the_checkpoint_that_is_asked_for(tmp_path):
    (tmp_path / "best.ckpt").write_text("")
    best, last = (Probe.from_config(OmegaConf.merge(HESSIAN, {"checkpoint": each})) for each in ("best", "last"))
    assert (best.lacks(RunDirectory(tmp_path)), last.lacks(RunDirectory(tmp_path))) == (None, "last.ckpt")


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "diagnostic").glob("*.yaml")))
@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_a_probe_reads_the_checkpoint_that_it_is_told(name, checkpoint, finished, monkeypatch):
    """Every probe there is: those that read a network have the setting, and open no other checkpoint than it says."""
    quick = {"max_products": 1, "slices": ["full"], "points": 3, "sets": ["noise"], "detectors": ["msp"], "draws": 2}
    yaml = OmegaConf.load(CONF / "diagnostic" / f"{name}.yaml")
    opened, network = [], FinishedRun.network

    def spy(run, which="best", device="cpu"):
        opened.append(which)
        return network(run, which, device)

    monkeypatch.setattr(FinishedRun, "network", spy)
    probe = Probe.from_config(OmegaConf.merge(yaml, {key: value for key, value in quick.items() if key in yaml}))
    settings = probe.settings | ({"checkpoint": checkpoint} if "checkpoint" in probe.settings else {})
    runs = [finished(method, 0, "K=5") for method in ("sls", "soft")][: 1 if probe.over == "run" else 2]
    assert dict(probe.function(*runs, **settings, **probe.where, device="cpu"))
    assert set(opened) == ({checkpoint} if probe.needs == "checkpoint" else set())


@pytest.mark.parametrize("study", sorted(path.stem for path in (CONF / "study").glob("*.yaml")))
def test_every_study_has_probes_and_settings_that_exist(study):
    cfg = compose_command("diagnose", [f"study={study}"])
    for name, own in Study.from_config(cfg.study).settings.items():
        assert Probe.from_config(cfg[name], own).name == name
    assert set(Study.from_config(cfg.study).probes) <= {path.stem for path in (CONF / "diagnostic").glob("*.yaml")}
