import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,10}", fullmatch=True)


@given(names, names, names, st.none() | st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_folder_is_its_cells_coordinates_and_back(data, recipe, method, k, seed):
    cell = Cell(data, recipe, method, k, seed)
    assert Cell.from_folder(f"anywhere/{cell.folder}") == cell


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
