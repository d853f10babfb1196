import json

import pytest

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
