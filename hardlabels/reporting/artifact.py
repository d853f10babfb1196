"""A study's report at Weights & Biases, as a versioned artifact. The report's folder stays the source of truth."""

import re
from pathlib import Path

from hardlabels.console import complain, say
from hardlabels.errors import InputError
from hardlabels.runs.views.wandb_run import check_project, chosen_mode, open_run, short_message

KINDS = (".html", ".json", ".md", ".csv", ".tex", ".svg", ".png")


def report_files(folder: Path) -> dict[str, Path]:
    """The page, the tables and the figures of a report: name in the artifact to file.

    Raises:
        InputError: when the folder holds no report.
    """
    if not (folder / "index.html").is_file():
        raise InputError(f"{folder} holds no report: expected index.html; first: python -m hardlabels.report")
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix in KINDS and not path.name.startswith(".")
    )
    return {path.relative_to(folder).as_posix(): path for path in files}


def log_report(
    folder: Path, study: str, *, project: str, mode: str, entity: str | None = None, group: str | None = None
) -> Path | None:
    """Send a report to W&B: a run ``report-<study>`` of job type ``report``, and an artifact of that name.

    The run's id is the same each time, so that a new report is a new version of the same artifact. As with training runs, a
    failure of W&B is said and costs the view only.

    Args:
        folder: the report's, with ``index.html``.
        study: its name.
        project: at W&B.
        mode: online, offline or disabled.
        entity: user or team; None for W&B's default.
        group: that the run appears in; None for the study.

    Returns:
        W&B's own folder of the run; None when W&B failed.
    """
    check_project(project)
    files = report_files(folder)
    name = f"report-{re.sub(r'[^A-Za-z0-9_.-]', '-', study)}"[:128]
    chosen = chosen_mode(mode, "the report")
    try:
        import wandb  # noqa: PLC0415 - seconds, and only for those who use it

        # Beside the report: W&B's own files are no part of it.
        place = {"dir": str(folder.parent), "project": project, "entity": entity, "mode": chosen}
        run = open_run(id=name, resume="allow", name=name, group=(group or study)[:128], job_type="report", **place)
        artifact = wandb.Artifact(name, type="report", metadata={"study": study, "files": len(files)})
        for path_in_artifact, path in files.items():
            artifact.add_file(str(path), name=path_in_artifact)
        run.log_artifact(artifact)
        directory = Path(run.dir).parent
        run.finish()
    except Exception as error:  # whatever it is: the report is written, and that is what counts
        complain(f"W&B failed, the report is not there ({short_message(error)})")
        return None
    say(f"W&B: {len(files)} files of the report, {'as ' + name if chosen == 'online' else f'{chosen}: {directory}'}")
    return directory
