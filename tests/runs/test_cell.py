import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,10}", fullmatch=True)
settings = (
    st.dictionaries(st.sampled_from(["hold", "smoothing"]), st.integers() | st.booleans() | st.none()).map(dict.items).map(tuple)
)
tags = st.none() | names


@given(names, names, names, st.none() | st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1), settings, tags)
def test_a_folder_is_its_cells_coordinates_and_back(data, recipe, method, k, seed, settings, tag):
    cell = Cell(data, recipe, method, k, seed, settings, tag)
    assert Cell.from_folder(f"anywhere/{cell.folder}") == cell
    assert Cell.read(data, cell.tagged_recipe, cell.variant, cell.votes, seed) == cell


def test_a_cell_holds_values_and_writes_them_as_folders_have_them():
    cell = Cell.from_folder("outputs/cifar10h/pocket,tag=wide/label_smoothing,smoothing=0.2/K=5/seed=7")
    assert (cell.recipe, cell.tag, cell.method, dict(cell.settings)) == ("pocket", "wide", "label_smoothing", {"smoothing": 0.2})
    assert cell.written() == {
        "data": "cifar10h", "recipe": "pocket,tag=wide", "method": "label_smoothing,smoothing=0.2", "K": 5, "seed": 7,
    }  # fmt: skip
    assert str(cell) == "label_smoothing,smoothing=0.2 K=5 seed=7"


@pytest.mark.parametrize("names", [("smoke", "sls,hold=5"), ("smoke,tag=wide", "sls")])
def test_a_written_name_is_no_name(names):
    """Such a cell would be equal to none that a folder gives."""
    with pytest.raises(InputError, match="by their names alone"):
        Cell("toy", *names, None, 0)


@pytest.mark.parametrize("path", ["toy/smoke/sls,hold/K=5/seed=0", "toy/smoke,wide/sls/K=5/seed=0", "toy/smoke/sls/K=5"])
def test_a_folder_that_no_cell_writes_is_refused(path):
    with pytest.raises(InputError, match="is no run's folder"):
        Cell.from_folder(path)


def test_one_cell_however_a_value_is_typed(make_config):
    typed, quoted = (Cell.from_config(make_config(f"method.hold={value}")) for value in ("5", "'5'"))
    assert typed == quoted
    assert typed.settings == (("hold", 5),)


@pytest.mark.parametrize(
    ("overrides", "folder"),
    [
        ([], "synthetic/smoke,tag=tiny/sls/K=all/seed=0"),
        (["K=5", "seed=7", "method=multipass"], "synthetic/smoke,tag=tiny/multipass/K=5/seed=7"),
        (["method.hold=5"], "synthetic/smoke,tag=tiny/sls,hold=5/K=all/seed=0"),
        (["method.hold=1"], "synthetic/smoke,tag=tiny/sls/K=all/seed=0"),  # the resampling study shares the plain cell
        (["method=deterministic_control"], "synthetic/smoke,tag=tiny/deterministic_control/K=all/seed=0"),
        (
            ["method=label_smoothing", "method.smoothing=0.2"],
            "synthetic/smoke,tag=tiny/label_smoothing,smoothing=0.2/K=all/seed=0",
        ),
        (["run.tag=null"], "synthetic/smoke/sls/K=all/seed=0"),
    ],
)
def test_the_folder_of_a_configuration(make_config, overrides, folder):
    assert str(Cell.from_config(make_config(*overrides)).folder) == folder


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("K=0", "K must be a number of votes of at least 1, or null for all votes, got 0"),
        ("K=-3", "got -3"),
        ("K=2.5", "got 2.5"),
        ("K=five", "got 'five'"),
        ("K=true", "got True"),
        ("seed=-1", "seed must be an integer 0 .. 4294967295, got -1"),
        ("seed=1.5", "got 1.5"),
        ("seed=abc", "got 'abc'"),
        ("seed=null", "got None"),
        ("seed=4294967296", "got 4294967296"),
        ("run.tag='../../x'", "run.tag must be made of letters"),
        ("run.tag='a b'", "run.tag must be made of letters"),
        ("data.name='../x'", "data.name must be made of letters"),
        ("recipe.name='/x'", "recipe.name must be made of letters"),
        ("+method.name='..'", "method.name must be made of letters"),
    ],
)
def test_coordinates_that_make_no_sense_are_refused(make_config, override, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        Cell.from_config(make_config(override))
