"""Report a study: ``python -m hardlabels.report study=main``. From its runs, or from committed records without any checkpoint."""

import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import DictConfig, OmegaConf
from rich.table import Table as Lines

from hardlabels.configuration import CONF, compose_command
from hardlabels.console import complain, console, say
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError, printable
from hardlabels.reporting.artifact import log_report
from hardlabels.reporting.claims import CLAIMS, Design, Rules, Verdict, designs, judge
from hardlabels.reporting.page import SIGNS, Page, Part, render
from hardlabels.reporting.provenance import describe_report, describe_runs
from hardlabels.reporting.write import Drawing, draw, write_drawing, write_table
from hardlabels.runs.cell import Cell
from hardlabels.runs.files import write_json, write_text
from hardlabels.runs.records import Records, read_records
from hardlabels.runs.study import Study, quoted

T = TypeVar("T")
WRITTEN = re.compile(r"table_S?\d+\.(md|csv|tex)|figure_S?\d+\.(svg|png)")


def report(cfg: DictConfig, words: list[str] | None = None) -> Path:
    """Write the report of a study; returns the path of ``index.html``.

    Args:
        cfg: ``conf/report.yaml``, composed.
        words: the overrides it was composed with, for the commands that the report names.
    """
    study = Study.from_config(cfg.study)
    places = [Path(cfg.outputs), *(Path(place) for place in cfg.places or ())]
    if not any(place.is_dir() for place in places):
        raise InputError(f"no runs: none of the folders {', '.join(map(str, places))} exists; first: {study.commands()[0]}")
    if not isinstance(cfg.alpha, float) or not 0 < cfg.alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5, got {cfg.alpha!r}")
    rules = Rules(cfg.alpha, _plain(cfg.margins), _plain(cfg.thresholds))
    chosen = [word for word in words or [] if word.lstrip("+").startswith(("study.", "outputs="))]
    folder = Path(cfg.folder) if cfg.folder else places[0] / "studies" / study.name / _report_name(cfg.study)
    _clear(folder)
    records = read_records(places, study)
    problems: list[str] = []
    found = designs(records, study.cells())
    parts = tuple(
        _part(design, study, rules, chosen, cfg, folder if len(found) == 1 else folder / f"{data}_{recipe}", problems)
        for (data, recipe), design in ((key, _only(design)) for key, design in found.items())
    )
    command = " ".join(["python -m hardlabels.report", *map(quoted, words if words is not None else [f"study={study.name}"])])
    runs, own = describe_runs(records.folders.values()), describe_report(command)
    page = Page(study.title, study.name, parts, rules, tuple(runs), tuple(own), tuple(problems))
    write_json(folder / "verdicts.json", [{"data": p.data, "recipe": p.recipe, **v.plain()} for p in parts for v in p.verdicts])
    write_text(folder / "index.html", render(page))
    for part in parts:
        console.print(verdict_lines(part))
    for line in problems:
        complain(line)
    say(f"report: {folder / 'index.html'}")
    if cfg.logger.name == "wandb":
        views = {key: cfg.logger[key] for key in ("project", "mode", "entity", "group")}
        log_report(folder, study.name, **views)
    return folder / "index.html"


def _report_name(study: DictConfig) -> str:
    """``report``; with the data set, recipe and tag where they are not the study's own, so that no report replaces another."""
    own: Any = OmegaConf.load(CONF / "study" / f"{study.name}.yaml") if (CONF / "study" / f"{study.name}.yaml").is_file() else {}
    changed = [str(study.get(key)) for key in ("data", "recipe", "tag") if study.get(key) != own.get(key)]
    return "_".join(["report", *changed])


def _part(
    design: Design, study: Study, rules: Rules, words: list[str], cfg: DictConfig, folder: Path, problems: list[str]
) -> Part:
    """All about one data set and recipe; tables and figures are written on the way."""
    from hardlabels.reporting.figures import FIGURES  # noqa: PLC0415 - after the checks: matplotlib takes a second
    from hardlabels.reporting.tables import TABLES  # noqa: PLC0415
    from hardlabels.reporting.tables.commands import train_commands  # noqa: PLC0415

    records, cell = design.records, design.cells[0]
    verdicts = tuple(judge(claim, design, rules, study=study.name, words=words, probes=study.probes) for claim in CLAIMS.values())
    tables, drawings, left_out = [], [], []
    for table in _made("table", TABLES, cfg.tables, records, problems):
        if any(entry.mean is not None for entry in table.cells.values()):
            tables.append(table)
            write_table(table, folder)
        else:
            left_out.append((f"Table {table.number}. {table.title}", tuple(table.notes)))
    for figure in _made("figure", FIGURES, cfg.figures, records, problems):
        drawing: Drawing | None = _attempt(f"figure {figure.number}", lambda figure=figure: draw(figure), problems)  # type: ignore[misc]
        if drawing is None:
            left_out.append((f"Figure {figure.number}. {figure.title}", tuple(figure.notes)))
        else:
            drawings.append(drawing)
            write_drawing(drawing, folder)
    open_cells = [one for one in design.cells if one not in records.folders]
    return Part(
        data=cell.data,
        recipe=cell.recipe,
        finished=len(records.folders),
        planned=len(design.cells),
        verdicts=verdicts,
        tables=tuple(tables),
        drawings=tuple(drawings),
        left_out=tuple(left_out),
        unfinished=tuple((str(path), printable(reason)) for path, reason in records.unfinished),
        missing=tuple(_by_method(records.missing)),
        commands=tuple(train_commands(open_cells)),
        floor=_floor(records),
    )


def _made(kind: str, known: Mapping[str, Callable[[Records], T]], wanted: Any, records: Records, problems: list[str]) -> list[T]:
    """The tables or figures that were asked for; one that fails is a line of the report, and the others are made."""
    names = list(known) if wanted is None else [str(name) for name in wanted]
    for name in names:
        if name not in known:
            raise InputError(f"{kind}s must be among {', '.join(known)}, got {name!r}")
    found = [_attempt(f"{kind} {name}", lambda name=name: known[name](records), problems) for name in names]  # type: ignore[misc]
    return [one for one in found if one is not None]


def _attempt(what: str, make: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return make()
    except Exception as error:  # a fault of ours in one picture must not cost the verdicts; it is shown, on the page as well
        if not isinstance(error, InputError):
            complain(traceback.format_exc())
        problems.append(f"{what}: {type(error).__name__}: {printable(str(error))}")
        return None


def _only(design: Design) -> Design:
    """The design with the records of its own data set and recipe alone."""
    records, cells = design.records, set(design.cells)
    data, recipe = design.cells[0].data, design.cells[0].recipe
    rows, pairs = records.table, records.pairs
    kept = Records(
        rows[(rows["data"] == data) & (rows["recipe"] == recipe)],
        pairs[(pairs["data"] == data) & (pairs["recipe"] == recipe)],
        {cell: path for cell, path in records.folders.items() if cell in cells},
        [(path, why) for path, why in records.unfinished if Cell.from_folder(path) in cells],
        [cell for cell in records.missing if cell in cells],
    )
    return replace(design, records=kept)


def _floor(records: Records) -> float | None:
    """Mean over runs of soft NLL minus KL: the entropy of the annotators."""
    rows = records.table
    rows = rows[(rows["slice"] == "full") & (rows["checkpoint"] == "best")]
    nll, kl = (rows.loc[rows["name"] == name, "value"].dropna() for name in ("soft_nll", "kl_to_annotator"))
    return float(nll.mean() - kl.mean()) if len(nll) and len(nll) == len(kl) else None


def _by_method(cells: list[Cell]) -> list[str]:
    seeds: dict[str, list[int]] = {}
    for cell in cells:
        seeds.setdefault(f"{cell.method}, K = {'all' if cell.K is None else cell.K}", []).append(cell.seed)
    return [f"{name}: seed{'s' * (len(found) > 1)} {', '.join(map(str, found))}" for name, found in seeds.items()]


def verdict_lines(part: Part) -> Lines:
    """The verdicts for a terminal: those that the study is about."""
    lines = Lines(
        title=f"{part.data}, {part.recipe}: {part.finished} of {part.planned} runs", title_justify="left", caption_justify="left"
    )
    for head in ("verdict", "claim", "n", "p", "seeds needed"):
        lines.add_column(head, justify="right" if head in ("n", "p", "seeds needed") else "left", no_wrap=head != "claim")
    styles = {"supported": "green", "contradicted": "red", "inconclusive": "yellow", "not run": "dim"}
    for verdict in part.verdicts:
        if not verdict.elsewhere:
            lines.add_row(*_words(verdict), style=styles[verdict.status])
    others = sum(verdict.elsewhere for verdict in part.verdicts)
    counts = ", ".join(f"{count} {status}" for status, count in part.counts.items())
    lines.caption = f"{counts}; {others} claims belong to other studies"
    return lines


def _words(verdict: Verdict) -> tuple[str, str, str, str, str]:
    p = "" if verdict.p is None else f"{verdict.p:.3g}"
    status = f"{SIGNS[verdict.status]} {verdict.status}"
    return status, verdict.claim.name, str(verdict.n), p, "" if verdict.needed is None else str(verdict.needed)


def _plain(numbers: DictConfig | None) -> dict[str, float]:
    found: Any = {} if numbers is None else OmegaConf.to_container(numbers, resolve=True)
    return found


def _clear(folder: Path) -> None:
    """Make the folder, and take away what an earlier report left there: its tables would look like those of this one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.rglob("*") if (folder / "index.html").is_file() else ():
            if WRITTEN.fullmatch(path.name):
                path.unlink()
    except OSError as error:
        raise InputError(
            f"the report cannot be written to {folder}: {error.strerror or error}; folder=DIR is another place"
        ) from error


def main() -> None:
    """The command: exit code 2 for bad input."""
    try:
        report(compose_command("report", sys.argv[1:], lists=("places", "tables", "figures")), sys.argv[1:])
    except MISTAKES as error:
        refuse(error)


if __name__ == "__main__":
    main()
