import json

import pytest

from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.writing import write_atomically, write_json, write_text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "result.json"
    write_text(path, "old")

    def half(file):
        file.write(b"ne")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_json_is_strict(tmp_path):
    write_json(tmp_path / "a" / "x.json", {"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": "ü"}})
    text = (tmp_path / "a" / "x.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail) == {"a": None, "b": [1.5, None], "c": {"d": "ü"}}


def test_a_history_that_grows_is_the_file_that_all_rows_at_once_give(tmp_path):
    """A run hands in the lines that it has written before; a column that comes later is in every row."""
    rows = [{"epoch": 0, "loss": 0.1 + 0.2}, {"epoch": 1, "loss": float("nan")}, {"epoch": 2, "loss": 1e-9, "late": 0.5}]
    grown, whole, lines = RunDirectory(tmp_path / "grown"), RunDirectory(tmp_path / "whole"), []
    for count in (1, 2, 3):
        grown.write_history(rows[:count], lines)
        whole.write_history(rows[:count])
        assert grown.history.read_bytes() == whole.history.read_bytes()
    assert whole.history.read_text() == "epoch,loss,late\n0,0.30000000000000004,\n1,nan,\n2,1e-09,0.5\n"
