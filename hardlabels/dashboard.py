"""Build the W&B workspace of a project: ``python -m hardlabels.dashboard project=hardlabels``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from hardlabels.configuration import compose_command
from hardlabels.console import complain, say
from hardlabels.errors import InputError, printable
from hardlabels.runs.views.wandb_run import check_project, has_wandb_login
from hardlabels.runs.writing import write_json
from hardlabels.stopping import ends_with_its_reader

if TYPE_CHECKING:
    from wandb_workspaces.workspaces import Section, Workspace

LOWER, HIGHER = "lower is better", "higher is better"


def workspace(project: str, entity: str, *, name: str, group: str | None = None) -> "Workspace":
    """Four sections over the runs of a project, grouped by method and K; a line or bar is a mean over seeds.

    Args:
        project: at W&B.
        entity: its user or team.
        name: of the workspace.
        group: of the runs to show, which is the study's name; None for all.
    """
    ws, wr = _packages()
    runs = [ws.Metric("JobType") == "train"]  # reports are runs as well
    if group is not None:
        runs.append(ws.Metric("Group") == group)
    columns = ["run:displayName", "run:state", "summary:epoch", "summary:best/epoch", "summary:best/soft_nll"]
    return ws.Workspace(
        entity=entity,
        project=project,
        name=name,
        sections=[_soft_nll(ws, wr), _calibration(ws, wr), _entropy(ws, wr), _progress(ws, wr)],
        settings=ws.WorkspaceSettings(x_axis="epoch", max_runs=100),
        runset_settings=ws.RunsetSettings(
            filters=ws.And(*runs),
            groupby=[ws.Config("method"), ws.Config("K")],
            order=[ws.Ordering(ws.Metric("Name"))],
            pinned_columns=columns,
        ),
    )


def _soft_nll(ws: Any, wr: Any) -> "Section":
    score = wr.SummaryMetric("best/soft_nll")
    panels = [
        _line(wr, "soft_nll", f"soft NLL, {LOWER}"),
        _bar(wr, "best/soft_nll", f"soft NLL at the best epoch by method and K, {LOWER}"),
        wr.ScatterPlot(title="soft NLL at the best epoch by K", x=wr.Config("K"), y=score, log_x=True),
        _bar(wr, "best/soft_nll", "soft NLL by method, all K", wr.Config("method")),
        _bar(wr, "best/non_unanimous/soft_nll", "soft NLL where annotators disagree at all"),
        _bar(wr, "best/high_disagreement/soft_nll", "soft NLL where they disagree most"),
    ]
    return ws.Section(name="Soft NLL by method and K", panels=panels, is_open=True)


def _calibration(ws: Any, wr: Any) -> "Section":
    names = {"ece_eqmass": "ECE (equal mass)", "smooth_ece": "smooth ECE"}
    lines = [_line(wr, metric, f"{title}, {LOWER}") for metric, title in names.items()]
    bars = [_bar(wr, f"best/{metric}", f"{title} at the best epoch") for metric, title in names.items()]
    return ws.Section(name="Calibration", panels=[*lines, *bars], is_open=True)


def _entropy(ws: Any, wr: Any) -> "Section":
    x, y = wr.SummaryMetric("best/soft_nll"), wr.SummaryMetric("best/ent_corr")
    panels = [
        _line(wr, "ent_corr", f"entropy correlation, {HIGHER}"),
        _bar(wr, "best/ent_corr", "entropy correlation at the best epoch"),
        wr.ScatterPlot(title="entropy correlation and soft NLL", x=x, y=y),
    ]
    return ws.Section(name="Entropy correlation", panels=panels, is_open=True)


def _progress(ws: Any, wr: Any) -> "Section":
    panels = [
        _bar(wr, "epoch", "last epoch of each run", wr.Metric("Name"), bars=500),
        _bar(wr, "epoch", "last epoch by state", wr.Metric("State")),
        wr.LinePlot(title="epochs over time", x="RelativeTime(Process)", y=["epoch"], max_runs_to_show=100),
        wr.ScalarChart(title="soft NLL of the best run so far", metric="best/soft_nll", groupby_aggfunc="min"),
    ]
    return ws.Section(name="Progress of the grid", panels=panels, is_open=True)


def _line(wr: Any, metric: str, title: str) -> Any:
    mean = {"groupby_aggfunc": "mean", "groupby_rangefunc": "stddev", "max_runs_to_show": 100}
    return wr.LinePlot(title=title, x="epoch", y=[f"evaluate/{metric}"], title_x="epoch", **mean)


def _bar(wr: Any, metric: str, title: str, by: Any = None, bars: int = 100) -> Any:
    mean = {"groupby_aggfunc": "mean", "groupby_rangefunc": "stddev"}
    return wr.BarPlot(title=title, metrics=[metric], groupby=by, max_runs_to_show=500, max_bars_to_show=bars, **mean)


def dashboard(cfg: DictConfig) -> None:
    """Save the workspace at W&B, or with ``save=FILE`` its specification as JSON, which needs no login."""
    check_project(cfg.project, "project")
    if cfg.save is not None:
        built = workspace(cfg.project, cfg.entity or "", name=cfg.name, group=cfg.group)
        write_json(Path(cfg.save), built._to_model().model_dump(by_alias=True, exclude_none=True))
        say(f"workspace: {cfg.save}")
        return
    if not has_wandb_login():
        raise InputError("no W&B login on this machine: `wandb login` first, or save=FILE for the workspace as JSON")
    ws, _ = _packages()
    import wandb  # noqa: PLC0415

    try:
        entity = cfg.entity or wandb.Api().default_entity or ""
        built = workspace(cfg.project, entity, name=cfg.name, group=cfg.group)
        if cfg.view is not None:
            old = ws.Workspace.from_url(cfg.view)
            for part in ("name", "sections", "settings", "runset_settings"):
                setattr(old, part, getattr(built, part))
            built = old
        built.save()
    except Exception as error:  # no network, no such project, no right to it: all of them the user's to put right
        raise InputError(f"W&B did not take the workspace: {type(error).__name__}: {printable(str(error))}") from error
    say(f"workspace: {built.url}")


def _packages() -> tuple[Any, Any]:
    try:
        import wandb_workspaces.reports.v2 as wr  # noqa: PLC0415 - optional
        import wandb_workspaces.workspaces as ws  # noqa: PLC0415
    except ImportError as error:
        raise InputError("the dashboard needs the package wandb-workspaces: pip install wandb-workspaces") from error
    return ws, wr


@ends_with_its_reader()
def main() -> None:
    """The command: exit code 2 for bad input, and without a login."""
    try:
        dashboard(compose_command("dashboard", sys.argv[1:]))
    except InputError as error:
        complain(f"error: {error}")
        sys.exit(2)


if __name__ == "__main__":
    main()
