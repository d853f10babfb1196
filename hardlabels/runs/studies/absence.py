"""The errors where a study has no finished runs, and where its data set or recipe is not known."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.archive import archives, recipe_of
from hardlabels.runs.spelling import read_recipe
from hardlabels.runs.studies.commands import TRAIN, Commands
from hardlabels.runs.studies.repeat import TO_FILL_IN
from hardlabels.runs.studies.study import Study


def no_finished_run(study: Study, places: Sequence[str | Path]) -> InputError:
    """The error where a study has no finished run. It names the places searched, other runs of its data, and the first command.

    >>> from hardlabels.runs.studies.study import Block
    >>> block = Block({"data": ["popquorn"], "recipe": ["paper"], "method": ["sls"], "K": [5], "seed": [0]})
    >>> print(no_finished_run(Study("x", "", (block,)), ["outputs"]))
    no finished run of study 'x' in outputs; first: python -m hardlabels.train -m data=popquorn recipe=paper method=sls K=5 seed=0
    """
    cells = study.cells()
    outputs = [] if str(places[0]) == "outputs" else [f"outputs={places[0]}"]
    first = Commands(study.name, outputs, places).train(cells)[0]
    there = [f"{data} with recipe {recipe}" for data, recipe in _there(places) if data == cells[0].data]
    instead = f" (there are runs of {'; '.join(there)})" if there else ""
    return InputError(f"no finished run of study {study.name!r} in {', '.join(map(str, places))}{instead}; first: {first}")


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


def _there(places: Sequence[str | Path]) -> list[tuple[str, str]]:
    """Data set and recipe (with its tag) of all runs in these folders."""
    folders = [folder for place in places for folder in sorted(Path(place).glob("[!.]*/*/*/K=*"))]
    packed = [file.parent / recipe_of(file) / "*" / "K=*" for place in places for file in archives(Path(place))]
    return list(dict.fromkeys((folder.parts[-4], folder.parts[-3]) for folder in (*folders, *packed)))
