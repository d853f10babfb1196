"""JSON lines of predictions give the cells of the csv of the same predictions."""

import json

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.inference.prediction_files import Predicted, write_predictions
from hardlabels.scoring.cells import cells_of
from hardlabels.scoring.predictions import read_predictions


def lines(path, *entries):
    path.write_text("\n".join(map(json.dumps, entries)))
    return cells_of(path)


@pytest.mark.parametrize(("classes", "other"), [(["cat", "dog"], "entropy"), (["entropy", "dog"], "entropy_")])
def test_an_object_of_classes_becomes_their_columns(tmp_path, classes, other):
    """A column beside them gets another name where a class has its name, as ``predict`` writes it in a csv."""
    shares = dict(zip(classes, (0.25, 0.75), strict=True))
    entry = {"id": 7, "predicted": "dog", "probabilities": shares, "entropy": 0.5, "expected_disagreement": 0.375}
    header = ",".join(["id", "predicted", *classes, other, "expected_disagreement"])
    (tmp_path / "q.csv").write_text(f"{header}\n7,dog,0.25,0.75,0.5,0.375\n")
    found, table = lines(tmp_path / "q.jsonl", entry), cells_of(tmp_path / "q.csv")
    assert found.first == table.first
    assert dict(found.rows) == {row: list(cells) for row, cells in table.rows.items()}


def test_fields_of_the_line_may_be_the_classes_in_any_order(tmp_path):
    found = lines(tmp_path / "q.jsonl", {"id": "a", "cat": 1, "dog": 0}, {"dog": 0.5, "cat": 0.5, "id": "b"})
    assert found.first == ["id", "cat", "dog"]
    assert [*found.rows.values()] == [["a", "1", "0"], ["b", "0.5", "0.5"]]
    assert found.named


def test_rows_know_their_lines(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"id": 1, "a": 1}\n\n{"id": 2, "a": 1}\n')
    found = cells_of(tmp_path / "q.jsonl")
    assert [found.line(row) for row in found.rows] == [1, 3]


@pytest.mark.parametrize("value", [None, True, [1], {"x": 1}], ids=repr)
def test_a_cell_is_a_number_or_a_text(tmp_path, value):
    with pytest.raises(InputError, match="line 1: expected a number or a text in 'a'"):
        lines(tmp_path / "q.jsonl", {"id": 1, "a": value})


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_predictions_of_classes_that_are_named_as_our_columns_are_read_back(tmp_path, ending):
    classes, path = ("id", "id_", "entropy", "entropy_"), tmp_path / f"q{ending}"
    write_predictions(path, [Predicted(["a", "b"], np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]))], classes)
    found = read_predictions(path, classes=classes)
    assert (found.ids, found.names, found.texts) == (["a", "b"], [*classes], {})
    np.testing.assert_allclose(found.table[0], [0.1, 0.2, 0.3, 0.4])
