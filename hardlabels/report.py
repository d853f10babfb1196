"""Report a study: ``python -m hardlabels.report study=main``. From its runs, or from committed records without any checkpoint."""

import re
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf

from hardlabels.configuration import CONF, compose_command
from hardlabels.console import complain, console, say
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError, printable
from hardlabels.reporting.answer import Answer, answer
from hardlabels.reporting.artifact import log_report
from hardlabels.reporting.claims import CLAIMS, Design, Rules, Shares, designs, judge
from hardlabels.reporting.explorer import prepare_explorer
from hardlabels.reporting.limit import limit_of_runs
from hardlabels.reporting.make import ReportParts, Wanted, choose, impossible_probes, make
from hardlabels.reporting.page import Overview, Page, Part, render
from hardlabels.reporting.parallel import side_by_side
from hardlabels.reporting.primary import analyse, too_few, whole_seeds, whole_seeds_only
from hardlabels.reporting.primary_plan import Primary
from hardlabels.reporting.primary_table import write_primary
from hardlabels.reporting.provenance import describe_again, describe_report, describe_runs
from hardlabels.reporting.verdict_lines import verdict_lines
from hardlabels.reporting.verdicts_by_data import matrix_lines, verdict_matrix, write_matrix
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import Records, read_records
from hardlabels.runs.spelling import write_votes
from hardlabels.runs.studies.absence import no_finished_run, refuse_unknown
from hardlabels.runs.studies.commands import CHOSEN_BY, Commands
from hardlabels.runs.studies.study import Study, quoted
from hardlabels.runs.writing import write_json_lines, write_text
from hardlabels.stopping import ends_with_its_reader

REPORT = "python -m hardlabels.report"
MOST_NAMED = 5
"""Unfinished runs that an error names."""
WRITTEN = re.compile(r"table_S?\d+\.(md|csv|tex)|figure_S?\d+(_last)?\.(svg|png)|(verdicts_by_data|primary)\.(md|csv)")


def report(cfg: DictConfig, words: list[str] | None = None) -> Path:
    """Write the report of a study; returns the path of ``index.html``.

    Args:
        cfg: ``conf/report.yaml``, composed.
        words: the overrides it was composed with, for the commands that the report names.
    """
    study = Study.from_config(cfg.study)
    places = [Path(cfg.outputs), *(Path(place) for place in cfg.places or ())]
    refuse_unknown(study, places)
    if not any(place.is_dir() for place in places):
        raise no_finished_run(study, places, REPORT)
    rules = read_rules(cfg)
    primary = Primary.from_config(cfg.study)
    folder = Path(cfg.folder) if cfg.folder else places[0] / "studies" / study.name / _report_name(cfg.study)
    records = read_records(places, study, [Path(place) for place in cfg.probed or ()])
    if not records.folders:
        broken = "".join(f"\n{path}: {printable(reason)}" for path, reason in records.unfinished[:MOST_NAMED])
        raise InputError(f"{no_finished_run(study, places, REPORT)}{broken}")
    chosen = _choosing_words(words or [], places[0], records)
    _clear(folder)
    found = {key: _of_one_data_set(design, chosen) for key, design in designs(records, study.cells()).items()}
    wanted = choose(cfg.tables, cfg.figures)

    def made(key: tuple[str, str] | None) -> tuple[Part | ReportParts, list[str]]:
        problems: list[str] = []
        if key is None:
            return _over_data(found, wanted, folder, problems), problems
        place = folder if len(found) == 1 else folder / "_".join(key)
        return _part(found[key], study, rules, primary, wanted, place, problems), problems

    several = len({data for data, _ in found}) > 1 and not _refused(primary, found)
    done = side_by_side(made, [*found, *([None] if several else [])], cfg.processes)
    parts, problems = tuple(one for one, _ in done if isinstance(one, Part)), [line for _, lines in done for line in lines]
    overview = next((_overview(found, parts, folder, one) for one, _ in done if isinstance(one, ReportParts)), None)
    if not several:
        problems += [f"{what}: it compares data sets, and this report has one" for what in wanted.over_data_only]
    command = " ".join([REPORT, *map(quoted, words if words is not None else [f"study={study.name}"])])
    runs, own = [*describe_runs(records.folders.values()), *describe_again(records)], describe_report(command)
    page = Page(study.title, study.name, parts, rules, tuple(runs), tuple(own), tuple(problems), overview)
    verdicts = [
        {"data": part.data, "recipe": part.recipe, **with_numbers(verdict.plain())} for part in parts for verdict in part.verdicts
    ]
    write_json_lines(folder / "verdicts.json", verdicts)
    write_text(folder / "index.html", render(page))
    for part in parts:
        console.print(verdict_lines(part))
    if overview is not None:
        console.print(matrix_lines(overview.matrix))
    for line in problems:
        complain(line)
    for part in parts:
        if part.answer.sentences:
            say("\n".join(["", f"What was found on {part.data}:", *(f"  - {sentence}" for sentence in part.answer.sentences)]))
    say(f"report: {folder / 'index.html'}")
    if cfg.logger.get("_target_") == "hardlabels.runs.views.loggers.wandb_logger":
        views = {key: cfg.logger[key] for key in ("project", "mode", "entity", "group")}
        log_report(folder, study.name, **views)
    return folder / "index.html"


def _choosing_words(words: list[str], outputs: Path, records: Records) -> tuple[str, ...]:
    """The overrides that chose the runs, for the commands that tables name.

    A folder of runs that holds none of this study chose nothing. Reports of committed records are made with such a folder, and
    tables that are committed in turn would name a place of somebody's machine.
    """
    chosen = tuple(word for word in words if word.lstrip("+").startswith(CHOSEN_BY))
    runs = [*records.folders.values(), *(path for path, _ in records.unfinished)]
    used = any(path.is_relative_to(outputs) for path in runs)
    return chosen if used else tuple(word for word in chosen if not word.lstrip("+").startswith("outputs="))


def with_numbers(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict for ``verdicts.json``, in six significant digits: seeds give no more, and committed reports are kept small.

    Comparisons without a single pair of runs are left out, since ``missing`` names them.

    >>> with_numbers({"best": {"comparisons": [{"label": "a", "n": 0}, {"label": "b", "n": 5, "p": 1 / 32 / 3}]}, "n": 5})
    {'best': {'comparisons': [{'label': 'b', 'n': 5, 'p': 0.0104167}]}, 'n': 5}
    """
    return {
        name: [with_numbers(row) for row in entry if row["n"]] if name == "comparisons" else _with_six_digits(entry)
        for name, entry in verdict.items()
    }


def _with_six_digits(entry: Any) -> Any:
    if isinstance(entry, dict):
        return with_numbers(entry)
    return float(f"{entry:.6g}") if isinstance(entry, float) else entry


def _report_name(study: DictConfig) -> str:
    """``report``; with the data set, recipe and tag where they are not the study's own, so that no report replaces another."""
    own: Any = OmegaConf.load(CONF / "study" / f"{study.name}.yaml") if (CONF / "study" / f"{study.name}.yaml").is_file() else {}
    changed = [_joined(study.get(key)) for key in ("data", "recipe", "tag") if study.get(key) != own.get(key)]
    return "_".join(["report", *changed])


def _joined(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, ListConfig) else str(value)


def read_rules(cfg: DictConfig) -> Rules:
    """The rules of ``conf/report.yaml``: level, margins, thresholds, shares, power."""
    return Rules(cfg.alpha, _plain(cfg.margins), _plain(cfg.thresholds), Shares(**_plain(cfg.shares)), cfg.power)


def _part(
    design: Design, study: Study, rules: Rules, primary: Primary | None, wanted: Wanted, folder: Path, problems: list[str]
) -> Part:
    """All about one data set and recipe; tables and figures are written on the way."""
    records, cell = design.records, design.cells[0]
    impossible = impossible_probes(records)
    probes = [probe for probe in study.probes if probe not in impossible]
    judged, outcome = design, None
    if primary is not None:
        judged, outcome = whole_seeds_only(design, primary), analyse(primary, design, rules)
        write_primary(outcome, folder)
    verdicts = tuple(judge(claim, judged, rules, study=study.name, probes=probes) for claim in CLAIMS.values())
    refused = outcome is not None and outcome.refused
    if outcome is not None and outcome.refused:  # no number before its time: a table of means is half an analysis
        verdicts = tuple(too_few(verdict, outcome) for verdict in verdicts)
        made = ReportParts(left_out=(("All tables and figures", (outcome.sentence,)),))
    else:
        made = make(wanted.tables, wanted.figures, records, folder, problems)
    limit = None if refused else limit_of_runs(records)
    open_cells = [one for one in design.cells if one not in records.folders]
    return Part(
        data=cell.data,
        recipe=cell.tagged_recipe,
        finished=len(records.folders),
        planned=len(design.cells),
        verdicts=verdicts,
        tables=made.tables,
        drawings=made.drawings,
        left_out=tuple((name, notes) for name, notes in made.left_out if not _about(notes, impossible)),
        unfinished=tuple((str(path), printable(reason)) for path, reason in records.unfinished),
        missing=tuple(_by_method(records.missing)),
        commands=tuple(Commands(study.name, records.words, records.places).train(open_cells)),
        limit=limit,
        primary=outcome,
        answer=Answer() if refused else answer(records, verdicts, limit, outcome),
        explorer=None if refused else prepare_explorer(records),
        same_items=design.same_items,
    )


def _about(notes: tuple[str, ...], probes: Collection[str]) -> bool:
    """Whether the notes ask for one of these probes."""
    return any(f"probe={probe}" in note for note in notes for probe in probes)


def _refused(primary: Primary | None, found: dict[tuple[str, str], Design]) -> bool:
    """Whether a data set has fewer whole seeds than were written down, so that nothing may be said about it."""
    return primary is not None and any(len(whole_seeds(primary, design)) < primary.least_seeds for design in found.values())


def _names(found: dict[tuple[str, str], Design]) -> list[str]:
    """What each part is called beside the others: its data set, which comes once with each of several recipes."""
    several = [data for data, _ in found]
    return [data if several.count(data) == 1 else f"{data}, {recipe}" for data, recipe in found]


def _over_data(found: dict[tuple[str, str], Design], wanted: Wanted, folder: Path, problems: list[str]) -> ReportParts:
    """Tables and figures that compare data sets."""
    groups = {name: design.records for name, design in zip(_names(found), found.values(), strict=True)}
    return make(wanted.tables_over_data, wanted.figures_over_data, groups, folder, problems)


def _overview(found: dict[tuple[str, str], Design], parts: tuple[Part, ...], folder: Path, made: ReportParts) -> Overview:
    """What several data sets say together."""
    matrix = verdict_matrix({name: part.verdicts for name, part in zip(_names(found), parts, strict=True)})
    write_matrix(matrix, folder)
    return Overview(matrix, made.tables, made.drawings, made.left_out)


def _of_one_data_set(design: Design, words: tuple[str, ...]) -> Design:
    """The design with the records of its own data set and recipe alone.

    Args:
        design: with the records of all.
        words: the overrides that chose the study's runs, for the commands of verdicts, tables and figures.
    """
    records, cells = design.records, set(design.cells)
    data, recipe = design.cells[0].data, design.cells[0].tagged_recipe
    rows, pairs = records.table, records.pairs
    kept = replace(
        records,
        table=rows[(rows["data"] == data) & (rows["recipe"] == recipe)],
        pairs=pairs[(pairs["data"] == data) & (pairs["recipe"] == recipe)],
        folders={cell: path for cell, path in records.folders.items() if cell in cells},
        unfinished=[(path, why) for path, why in records.unfinished if Cell.from_folder(path) in cells],
        missing=[cell for cell in records.missing if cell in cells],
        words=words,
    )
    return replace(design, records=kept)


def _by_method(cells: list[Cell]) -> list[str]:
    seeds: dict[str, list[int]] = {}
    for cell in cells:
        seeds.setdefault(f"{cell.variant}, K = {write_votes(cell.K)}", []).append(cell.seed)
    return [f"{name}: seed{'s' * (len(found) > 1)} {', '.join(map(str, found))}" for name, found in seeds.items()]


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


@ends_with_its_reader()
def main() -> None:
    """The command: exit code 2 for bad input."""
    try:
        report(compose_command("report", sys.argv[1:], lists=("places", "probed", "tables", "figures")), sys.argv[1:])
    except MISTAKES as error:
        refuse(error)


if __name__ == "__main__":
    main()
