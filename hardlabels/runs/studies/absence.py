"""The errors where a study has no finished runs, and where its data set or recipe is not known."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.archive import archives, recipe_of
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.spelling import read_recipe
from hardlabels.runs.studies.commands import TRAIN, Commands, command_about, which_runs
from hardlabels.runs.studies.repeat import TO_FILL_IN
from hardlabels.runs.studies.study import Study

MOST = 4
"""Groups of runs that an error names with their methods."""


def no_finished_run(study: Study, places: Sequence[str | Path], command: str | None = None) -> InputError:
    """The error where a study has no finished run: the places searched, which runs there are instead, and the first command.

    Args:
        study: without finished runs.
        places: folders of runs, the user's own first. What ran there is named whatever its data; elsewhere, where the data are
            those of the study.
        command: what the user wanted of the study's runs, such as ``python -m hardlabels.report``: it is spelt for the runs
            that are there. None: a command that takes more than a study.

    >>> from hardlabels.runs.studies.study import Block
    >>> block = Block({"data": ["popquorn"], "recipe": ["paper"], "method": ["sls"], "K": [5], "seed": [0]})
    >>> print(no_finished_run(Study("x", "", (block,)), ["outputs"]))
    no finished run of study 'x' in outputs; first: python -m hardlabels.train -m data=popquorn recipe=paper method=sls K=5 seed=0
    """
    cells = study.cells()
    outputs = [] if str(places[0]) == "outputs" else [f"outputs={places[0]}"]
    first = Commands(study.name, outputs, places).train(cells)[0]
    lines = [f"no finished run of study {study.name!r} in {', '.join(map(str, places))}"]
    groups = _finished(places[:1]) | {key: found for key, found in _finished(places).items() if key[0] == cells[0].data}
    ordered = sorted(groups.items(), key=lambda entry: (entry[0][0] != cells[0].data, -len(entry[1])))
    for key, found in ordered[:MOST]:
        runs = f"{len(found)} finished run{'s' * (len(found) > 1)}"
        line = f"there {'are' if len(found) > 1 else 'is'} {runs} of {_with_recipe(key)}: {which_runs(found)}"
        lines.append(line if command is None else f"{line}; for these: {command_about(command, study.name, found, outputs)}")
    if more := [_with_recipe(key) for key, _ in ordered[MOST:]]:
        lines.append(f"there are finished runs of {'; '.join(more)} as well")
    if rest := [_with_recipe(key) for key in _there(places) if key[0] == cells[0].data and key not in groups]:
        lines.append(f"there are runs, unfinished or in an archive, of {'; '.join(rest)}")
    return InputError(f"{lines[0]}; first: {first}" if len(lines) == 1 else "\n".join([*lines, f"first: {first}"]))


def refuse_unknown(study: Study, places: Sequence[str | Path]) -> None:
    """Refuse a data set or recipe that nothing knows: neither the configuration nor a run that is there.

    Raises:
        InputError: names what is known, since a mistyped name would only look like a study without runs.
    """
    there, looked = _there(places), ", ".join(map(str, places))
    names = {"data": {data for data, _ in there}, "recipe": {read_recipe(recipe).name for _, recipe in there}}
    for group, ran in names.items():
        known = {file.stem for file in (CONF / group).glob("*.yaml")}
        for name in dict.fromkeys(cell.data if group == "data" else cell.recipe for cell in study.cells()):
            if name in known | ran:
                continue
            near = get_close_matches(name, sorted(known | ran), n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            own = f"; your own data: {' '.join([TRAIN, *TO_FILL_IN, f'data.name={name}'])}" if group == "data" else ""
            raise InputError(
                f"study {study.name!r}: {group} {name!r} is not known. {guess}"
                f"It is none of {', '.join(sorted(known))}, and no run in {looked} has it{own}"
            )


def _with_recipe(group: tuple[str, str]) -> str:
    data, recipe = group
    return f"{data} with recipe {recipe}"


def _finished(places: Sequence[str | Path]) -> dict[tuple[str, str], list[Cell]]:
    """Data set and recipe (with its tag) to the finished runs that have a folder of their own."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for folder in sorted(folder for place in places for folder in Path(place).glob("[!.]*/*/*/K=*/seed=*")):
        with suppress(InputError):  # a folder that only looks like one of ours
            cell = Cell.from_folder(folder)
            if RunDirectory(folder).is_done():
                found.setdefault((cell.data, cell.tagged_recipe), []).append(cell)
    return found


def _there(places: Sequence[str | Path]) -> list[tuple[str, str]]:
    """Data set and recipe (with its tag) of all runs in these folders."""
    folders = [folder for place in places for folder in sorted(Path(place).glob("[!.]*/*/*/K=*"))]
    packed = [file.parent / recipe_of(file) / "*" / "K=*" for place in places for file in archives(Path(place))]
    return list(dict.fromkeys((folder.parts[-4], folder.parts[-3]) for folder in (*folders, *packed)))
