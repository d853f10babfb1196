"""A study is a list of cells: its grid, the commands that train it, and what it refuses."""

import shlex

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from hardlabels.configuration import CONF, compose_command
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.studies.commands import Commands
from hardlabels.runs.studies.study import Study


def load(name: str) -> Study:
    return Study.from_config(compose_command("reproduce", [f"study={name}"]).study)


def test_the_papers_four_grids_have_the_papers_numbers_of_runs():
    """170 runs as listed (10 x 5 + 4 x 5 + 4 x 4 x 5 + 4 x 5), fewer where a cell serves two grids. Ours also lists the soft
    runs that table 3 copies from table 2."""
    sizes = {name: len(load(name).cells()) for name in ("main", "family", "sparse", "resampling")}
    assert sizes == {"main": 50, "family": 25, "sparse": 80, "resampling": 20}
    distinct = {cell for name in sizes for cell in load(name).cells()}
    # family shares soft and sls with main (10), resampling shares hold = 1 with both (5).
    assert len(distinct) == 50 + 25 + 80 + 20 - 10 - 5


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONF / "study").glob("*.yaml")))
def test_the_commands_of_a_study_train_exactly_its_cells(name):
    """Hydra's own parser expands the overrides; composing a cell gives the cell that the study lists."""
    study, composed = load(name), []
    for command in Commands(name).train(study.cells()):
        words = shlex.split(command)
        assert words[:4] == ["python", "-m", "hardlabels.train", "-m"]
        from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

        overrides = OverridesParser.create().parse_overrides(words[4:])
        [jobs] = BasicSweeper.split_arguments(overrides, max_batch_size=None)
        with initialize_config_dir(str(CONF), version_base="1.3"):
            # Every method and K once is enough: composing takes a while, and seeds are numbers.
            composed += [Cell.from_config(compose("train", list(job))) for job in jobs if job[-1] == "seed=0"]
    assert set(composed) == {cell for cell in study.cells() if cell.seed == 0}


def test_a_tag_belongs_to_every_cell_and_to_the_command():
    settings = {"name": "t", "data": "synthetic", "recipe": "smoke", "tag": "wide", "grid": [{"method": "soft"}]}
    study = Study.from_config(OmegaConf.create(settings))
    assert study.cells() == [Cell("synthetic", "smoke", "soft", None, 0, tag="wide")]
    assert "run.tag=wide" in shlex.split(Commands("t").train(study.cells())[0])


@pytest.mark.parametrize("finished", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("processes", [1, 2, 3, 50])
def test_shares_cover_what_is_missing_once_and_are_about_equal(processes, finished):
    """Seeds were dealt out whether they were finished or not, so that one of two commands could have everything to train."""
    [block] = Study.from_config(
        OmegaConf.create(
            {"name": "t", "data": "a", "recipe": "smoke", "grid": [{"method": ["soft", "sls"], "seed": "range(12)"}]}
        )
    ).blocks
    cells = block.cells()
    done = np.random.default_rng(0).permutation(len(cells))[: round(finished * len(cells))]
    missing = {cell for place, cell in enumerate(cells) if place not in done}
    shares = [missing.intersection(share.cells()) for share in block.shares(processes, missing)]
    assert set.union(*shares) == missing
    assert sum(map(len, shares)) == len(missing)
    assert all(shares)
    assert len(shares) == min(processes, len({cell.seed for cell in missing}))
    assert max(map(len, shares)) - min(map(len, shares)) <= 2  # a seed has two methods


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": []}, "empty grid"),
        ({"grid": [{"seed": "range(2)"}]}, "needs a method"),
        ({"grid": [{"method": ["nope"]}]}, "method must be one of .*soft"),
        ({"grid": [{"method": "../../etc"}]}, "method must be one of"),
        ({"grid": [{"method": "soft", "K": [0]}]}, "K must be a number of votes"),
        ({"grid": [{"method": "soft", "recipe.epochs": [3]}]}, "a grid's axes are"),
        ({"grid": [{"method": "soft", "seed": []}]}, "expected a value, a list of values"),
        ({"name": "../up"}, "study.name must be made of"),
        (
            {"grid": [{"method": "soft", "data": "x"}]},
            r"study.data=synthetic would change nothing: .* a data of its own \(x\)",
        ),
    ],
)
def test_a_grid_that_cannot_be_is_refused(changes, message):
    settings = {"name": "t", "data": "synthetic", "recipe": "smoke", "grid": [{"method": "soft"}], **changes}
    with pytest.raises(InputError, match=message):
        Study.from_config(OmegaConf.create(settings)).cells()
