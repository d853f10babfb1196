"""The W&B workspace: what it shows, that the runs log what it shows, and what happens without a login."""

import json
import sys

import pytest

from hardlabels import dashboard
from hardlabels.metrics import METRICS


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """``python -m hardlabels.dashboard ARGUMENTS`` in this process, on a machine without a login."""
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))

    def go(*arguments):
        monkeypatch.setattr(sys, "argv", ["hardlabels.dashboard", *arguments])
        try:
            dashboard.main()
            code = 0
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


@pytest.fixture
def saved(run, tmp_path):
    pytest.importorskip("wandb_workspaces")
    code, _, err = run("project=votes", "entity=team", "group=main", f"save={tmp_path / 'workspace.json'}")
    assert code == 0, err
    return json.loads((tmp_path / "workspace.json").read_text())


def panels(view):
    return {
        section["name"]: [panel["config"] for panel in section["panels"]]
        for section in view["spec"]["section"]["panelBankConfig"]["sections"]
    }


def test_the_four_sections_and_what_is_in_them(saved):
    assert (saved["entity"], saved["project"]) == ("team", "votes")
    shown = {
        name: {metric for config in configs for metric in config.get("metrics", [])} for name, configs in panels(saved).items()
    }
    assert list(shown) == ["Soft NLL by method and K", "Calibration", "Entropy correlation", "Progress of the grid"]
    assert {"evaluate/soft_nll", "best/soft_nll", "best/high_disagreement/soft_nll"} <= shown["Soft NLL by method and K"]
    calibration = {f"{when}/{name}" for when in ("evaluate", "best") for name in ("ece_eqmass", "smooth_ece")}
    assert shown["Calibration"] == calibration
    assert shown["Entropy correlation"] == {"evaluate/ent_corr", "best/ent_corr"}
    assert "epoch" in shown["Progress of the grid"]
    progress = [config.get("groupBy") for config in panels(saved)["Progress of the grid"]]
    assert {"displayName", "state"} <= set(progress)


def test_runs_are_those_of_the_study_grouped_by_method_and_k_over_epochs(saved):
    section = saved["spec"]["section"]
    [runs] = section["runSets"]
    assert [key["name"] for key in runs["grouping"]] == ["method.value", "K.value"]
    assert {key["section"] for key in runs["grouping"]} == {"config"}
    chosen = json.dumps(runs["filters"])
    assert '"main"' in chosen
    assert '"train"' in chosen
    lines = [config for configs in panels(saved).values() for config in configs if "xAxisTitle" in config]
    assert lines
    assert {config["xAxis"] for config in lines} == {section["settings"]["xAxis"]} == {"epoch"}


def test_every_metric_it_shows_is_one_that_runs_log(saved, make_config, run_cell):
    from hardlabels.runs.directory import RunDirectory
    from hardlabels.runs.views.wandb_result import summary_metrics

    directory = RunDirectory(run_cell(make_config("recipe.epochs=1")))
    logged = {*directory.read_history()[0], *summary_metrics(json.loads(directory.result.read_text()))}
    shown = {metric for configs in panels(saved).values() for config in configs for metric in config.get("metrics", [])}
    axes = {
        config[axis].split(":")[1]
        for configs in panels(saved).values()
        for config in configs
        for axis in ("xAxis", "yAxis")
        if ":" in config.get(axis, "")
    }
    assert shown | axes - {"K.value"} <= logged
    assert {name.split("/")[-1] for name in shown} - {"epoch"} <= set(METRICS)


def test_without_a_login_it_says_what_to_do(run):
    code, _, err = run("project=votes")
    assert code == 2
    assert err.count("\n") == 1
    assert "`wandb login` first" in err


def test_without_the_package_it_names_it(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb_workspaces.workspaces", None)
    code, _, err = run(f"save={tmp_path / 'workspace.json'}")
    assert code == 2
    assert "pip install wandb-workspaces" in err
    assert not (tmp_path / "workspace.json").exists()


@pytest.mark.parametrize(("argument", "message"), [("project=a/b", "project must be 1 to 128"), ("projekt=x", "projekt")])
def test_mistakes_are_one_line(run, argument, message):
    code, _, err = run(argument)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


def test_a_saved_workspace_is_replaced_in_place(run, saved, monkeypatch):
    """Against a stand-in for W&B's server at the two calls that reach it."""
    from wandb_workspaces.workspaces import Workspace, internal

    sent = []
    old = {"id": "view-id", "displayName": "old", "spec": json.dumps(saved["spec"])}
    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    monkeypatch.setattr(internal, "get_view_dict", lambda entity, project, name: old)
    monkeypatch.setattr(
        internal, "upsert_view2", lambda view: sent.append(view) or {"upsertView": {"view": {"id": view.id, "name": view.name}}}
    )
    monkeypatch.setattr(Workspace, "url", "https://wandb.example.org/team/votes?nw=abc")
    code, out, err = run("project=votes", "entity=team", "view='https://wandb.ai/team/votes?nw=abc'")
    assert code == 0, err
    assert "workspace: https://wandb.example.org/team/votes?nw=abc" in out
    [view] = sent
    assert (view.id, view.name, view.display_name) == ("view-id", "nw-abc-v", "hardlabels")
    assert len(view.spec.section.panel_bank_config.sections) == 4
