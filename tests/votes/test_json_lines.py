"""JSON lines of votes: the same rows as parquet and csv, and what could mean two things."""

import json
from pathlib import Path

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.files import files
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import Options, read

LISTS = [
    {"id": "p", "text": "It rains.", "labels": ["pos", "neg", "pos"], "annotators": ["a", "b", "c"]},
    {"id": "q", "text": "It shines.", "labels": ["neg"], "annotators": ["b"]},
    {"id": "r", "text": "It is.", "labels": ["pos", "pos"], "annotators": ["c", "a"]},
]
LONG = [
    {"id": line["id"], "text": line["text"], "annotator": who, "label": label}
    for line in LISTS
    for who, label in zip(line["annotators"], line["labels"], strict=True)
]
COUNTS = [{"id": line["id"], "counts": {label: line["labels"].count(label) for label in line["labels"]}} for line in LISTS]
FIELDS = [
    {"id": line["id"], "text": line["text"], "neg": line["labels"].count("neg"), "pos": line["labels"].count("pos")}
    for line in LISTS
]


def write(path, entries):
    path.write_text("\n".join(map(json.dumps, entries)) + "\n\n")
    return path


@pytest.mark.parametrize("entries", [LISTS, LONG, COUNTS, FIELDS], ids=["lists", "long", "counts", "fields"])
def test_each_shape_gives_the_same_votes(tmp_path, entries):
    named = read(write(tmp_path / "v.jsonl", entries))
    assert (named.items, named.class_names, named.has_ids) == (["p", "q", "r"], ("neg", "pos"), True)
    assert named.votes.counts.tolist() == [[1, 2], [1, 0], [0, 2]]
    assert named.annotator_names == (("a", "b", "c") if entries in (LISTS, LONG) else None)


@pytest.mark.parametrize("entries", [LISTS, LONG], ids=["lists", "long"])
def test_rows_are_read_as_those_of_parquet(tmp_path, entries):
    pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(entries), tmp_path / "v.parquet")
    lines, table = read(write(tmp_path / "v.jsonl", entries)), read(tmp_path / "v.parquet")
    assert lines.votes.labels.tolist() == table.votes.labels.tolist()
    assert lines.votes.annotators.tolist() == table.votes.annotators.tolist()
    assert (lines.items, lines.class_names, lines.annotator_names, lines.notes, lines.format) == (
        *(table.items, table.class_names, table.annotator_names, table.notes, table.format),
    )


def test_lists_say_which_fields_are_not_used(tmp_path):
    """A list of confidences or of who withdrew beside the votes: nobody may think that it counted."""
    lines = [line | {"confidence": [0.5] * len(line["labels"])} for line in LISTS]
    assert read(write(tmp_path / "v.jsonl", lines)).notes[0].endswith("; not used: text, confidence")


@pytest.mark.parametrize("field", ["counts", "votes", "label_counts", "labels", "distribution", "Probabilities"])
def test_an_object_of_classes_has_many_names(tmp_path, field):
    entries = [{"uid": 7, field: {"b": 0.25, "a": 0.75}}, {"uid": 8, field: {"b": 1}}]
    named = read(write(tmp_path / "v.jsonl", entries))
    assert (named.format, named.items, named.class_names) == ("probs", ["7", "8"], ("a", "b"))
    np.testing.assert_allclose(named.votes.p, [[0.75, 0.25], [0, 1]])


def test_in_an_object_every_name_is_a_class(tmp_path):
    """Beside other columns of a csv, n and y are more likely a number of votes and a gold label."""
    named = read(write(tmp_path / "v.jsonl", [{"id": "p", "votes": {"y": 2, "n": 1}}, {"id": "q", "votes": {"y": 3}}]))
    assert (named.class_names, named.votes.counts.tolist()) == (("n", "y"), [[1, 2], [0, 3]])


def test_whole_number_classes_are_a_scale_and_classes_can_be_named(tmp_path):
    path = write(tmp_path / "v.jsonl", [{"id": "p", "counts": {"1": 2, "4": 1}}])
    assert read(path).class_names == ("1", "2", "3", "4")
    assert read(path, options=Options(classes=("4", "1"))).votes.counts.tolist() == [[1, 2]]


def test_fields_can_be_named(tmp_path):
    entries = [{"nr": "x1", "judgements of people": ["a", "b"]}, {"nr": "x2", "judgements of people": ["b"]}]
    named = read(write(tmp_path / "v.jsonl", entries), options=Options(task="nr", label="judgements of people"))
    assert (named.items, named.votes.counts.tolist()) == (["x1", "x2"], [[1, 1], [0, 1]])
    entries = [{"nr": "x1", "what they said": {"a": 2, "b": 1}}]
    named = read(write(tmp_path / "v.jsonl", entries), options=Options(task="nr", label="what they said"))
    assert (named.items, named.votes.counts.tolist()) == (["x1"], [[2, 1]])


def test_a_format_decides_between_votes_and_counts(tmp_path):
    path = write(tmp_path / "v.jsonl", [{"id": "p", "label": "b", "counts": {"a": 2, "b": 3}}])
    with pytest.raises(InputError, match=r"'label' may hold votes, 'counts' counts: --format long or --format counts says which"):
        read(path)
    assert read(path, "long").votes.counts.tolist() == [[1]]
    assert read(path, "counts").votes.counts.tolist() == [[2, 3]]


def test_texts_and_votes_may_be_in_one_file(tmp_path):
    """What ``train data=files`` and ``compare`` read: the texts are found where the votes are."""
    path = write(tmp_path / "v.jsonl", LISTS)
    source = files(path, path)
    assert source.inputs.ravel().tolist() == ["It rains.", "It shines.", "It is."]
    assert source.votes.counts.tolist() == [[1, 2], [1, 0], [0, 2]]
    assert files(write(tmp_path / "w.jsonl", FIELDS), path).votes.counts.tolist() == source.votes.counts.tolist()


REFUSED = {
    "two lists": ([{"id": 1, "labels": ["x"], "votes": ["y"]}], "'labels' or 'votes'"),
    "two objects": ([{"id": 1, "counts": {"x": 1}, "votes": {"y": 1}}], "'counts' or 'votes'"),
    "two ids": ([{"id": 1, "item": 2, "counts": {"x": 1}}], "'id' or 'item'"),
    "lists and a word": ([{"id": 1, "labels": ["x"]}, {"id": 2, "labels": "y"}], "line 2: expected a list in column 'labels'"),
    "an empty list": ([{"id": 1, "labels": ["x"]}, {"id": 2, "labels": []}], "none. --clean empty skips items without votes"),
    "a list without an id": ([{"id": 1, "labels": ["x"]}, {"labels": ["x"]}], "line 2: expected an id"),
    "shares in a list": ([{"id": 1, "labels": [0.5, 0.5]}], "line 1: expected single votes in a list; these look like prob"),
    "objects in a list": ([{"id": 1, "labels": [{"who": "a", "label": "x"}]}], "line 1: expected a label as a word or a number"),
    "no label": ([{"id": 1, "label": "x"}, {"id": 2}], "a label in column 'label'; line 2 has none"),
    "an object once": ([{"id": 1, "label": "x"}, {"id": 2, "label": ["x", "y"]}], "line 1: expected a list in column 'label'"),
    "words by annotator": ([{"id": 1, "labels": {"Ann": "x"}}], "line 1: expected {class: count} in 'labels'; 'Ann' has 'x'"),
    "numbers by annotator": ([{"id": 1, "labels": {"w1": 0, "w2": 3}}], "'w1', 'w2' read like annotators"),
    "fields by annotator": ([{"id": 1, "ann1": 1, "ann2": 0}, {"id": 2, "ann1": 1, "ann2": 1}], "'ann1', 'ann2' read like"),
    "no counts": ([{"id": 1, "counts": {"x": 1}}, {"id": 2, "counts": {}}], "line 2: expected an object of counts per class"),
    "half a vote": ([{"id": 1, "counts": {"x": 1, "y": 2}}, {"id": 2, "counts": {"x": 1.5}}], "line 2 is neither counts nor"),
    "an item twice": ([{"id": 1, "counts": {"x": 1}}, {"id": "1", "counts": {"x": 1}}], "line 2: expected every item once, and"),
    "a field missing": ([{"id": 1, "x": 1, "y": 2}, {"id": 2, "x": 1}], "line 2: expected a number in 'y'"),
    "a total": ([{"id": 1, "x": 1, "y": 2, "total": 3}, {"id": 2, "x": 1, "y": 0, "total": 1}], "the sum of the others"),
    "two spellings": ([{"id": 1, "counts": {"Cat": 1}}, {"id": 2, "counts": {"cat": 1}}], "'Cat' and 'cat' may be one"),
    "one number": ([{"id": 1, "text": "It rains.", "score": 3}], "expected JSON lines with a list of votes per item"),
    "a field twice": ([{"id": 1, "x": 1, "y": 2}, {"id": 2, "x": 1, " x": 5, "y": 2}], "line 2: expected every field once"),
    "a huge number": ([{"id": 1, "x": 1, "y": 10**400}], "expected finite numbers; line 1 is [1, inf]"),
    "a huge count": ([{"id": 1, "counts": {"x": 1}}, {"id": 2, "counts": {"x": 10**400}}], "line 2 is [inf]"),
    "an object as id": ([{"id": {"nr": 1}, "labels": ["x"]}], "line 1: expected words or numbers in column 'id'"),
    "lists as people": ([{"id": 1, "labels": ["x"], "annotators": [["a"]]}], "numbers in column 'annotators'; found ['a']"),
    "no object": ([{"id": 1, "labels": ["x"]}, ["x"]], "line 2: expected an object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_mean_two_things_is_one_line(tmp_path, capsys, case):
    entries, said = REFUSED[case]
    with pytest.raises(SystemExit) as stop:
        main([str(write(tmp_path / "v.jsonl", entries))])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_many_lists_are_read_a_few_times_not_once_per_line(tmp_path, monkeypatch):
    path = write(tmp_path / "v.jsonl", [{"id": number, "labels": ["x", "y"]} for number in range(50)])
    opened, read_text = [], Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, **how: opened.append(self) or read_text(self, **how))
    assert len(read(path).items) == 50
    assert len(opened) < 10
