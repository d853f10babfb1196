"""Votes in the order of somebody else's data set, and data sets of Hugging Face as files of votes."""

import json

import pytest

from hardlabels import deliver
from hardlabels.adapters import Delivered
from hardlabels.errors import InputError
from hardlabels.sources.files import files
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import Options, read

datasets = pytest.importorskip("datasets")

VOTES = "task,worker,label\n7,w1,yes\n7,w2,no\n12,w1,yes\nx,w1,no\nx,w2,no\n"


@pytest.fixture
def named(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)
    return read(tmp_path / "votes.csv")


def test_votes_follow_the_rows_of_a_data_set(named):
    data = datasets.Dataset.from_dict({"id": ["x", "12"], "text": ["third", "second"]}).shuffle(seed=1)
    mine = named.aligned(data["id"])
    assert mine.items == list(data["id"])
    expected = {"7": [1, 1], "12": [0, 1], "x": [2, 0]}
    assert mine.votes.counts.tolist() == [expected[name] for name in data["id"]]
    shown = Delivered(data, deliver(mine.votes, "majority", seed=0), ids=mine.items)
    shown.start_epoch(0)
    assert {row["id"]: row["labels"] for row in shown} == {"x": 0, "12": 1}


def test_numbers_are_compared_as_they_are_written(named):
    assert named.aligned([12, 7]).votes.counts.tolist() == [[0, 1], [1, 1]]


def test_annotators_stay_with_their_votes(named):
    mine = named.aligned(["x", "7"])
    assert [mine.annotator_names[who] for who in mine.votes.annotators] == ["w1", "w2", "w2", "w1"], "sorted by class in an item"


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["x", "8", "y"], "such as '7'; 2 of 3 have none: '8', 'y'"),
        (["x", "x", "7"], "expected every id once; 1 come several times: 'x'"),
        ([f"n{i}" for i in range(9)], "9 of 9 have none: 'n0', 'n1', 'n2', 'n3', 'n4' and 4 more"),
    ],
)
def test_what_is_missing_or_twice_is_named(named, ids, message):
    with pytest.raises(InputError) as error:
        named.aligned(ids)
    assert message in str(error.value)


def test_rows_without_ids_cannot_be_aligned(tmp_path):
    (tmp_path / "counts.csv").write_text("1,2\n3,0\n")
    with pytest.raises(InputError, match="rows only"):
        read(tmp_path / "counts.csv").aligned(["0", "1"])


# ---- data sets as files ----

LONG = {"item_id": [7, 7, 9], "annotator": ["a", "b", "a"], "label": [2, 0, 2], "text": ["s", "s", "t"]}
LISTS = {"id": ["p", "q"], "annotations": [[0, 2], [1, 1, 1]], "annotators": [["a", "b"], ["a", "b", "c"]]}
NAMES = ["low", "middle", "high"]


def typed(columns, label, *, many=False):
    data = datasets.Dataset.from_dict(columns)
    feature = datasets.ClassLabel(names=NAMES)
    return data.cast_column(label, datasets.Sequence(feature) if many else feature)


@pytest.fixture(params=["folder", "parquet"])
def save(request, tmp_path):
    """Save a data set in one of two ways; returns its path."""

    def write(data):
        path = tmp_path / ("saved" if request.param == "folder" else "votes.parquet")
        data.save_to_disk(path) if request.param == "folder" else data.to_parquet(path)
        return path

    return write


def test_one_row_a_vote_with_the_names_of_its_classes(save, capsys):
    path = save(typed(LONG, "label"))
    named = read(path)
    assert named.format == ("datasets" if path.is_dir() else "long")
    assert (named.items, named.class_names, named.annotator_names) == (["7", "9"], tuple(NAMES), ("a", "b"))
    assert named.votes.counts.tolist() == [[1, 0, 1], [0, 0, 1]]
    main([str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["votes"] == 3


def test_one_row_an_item_with_lists(save):
    named = read(save(typed(LISTS, "annotations", many=True)))
    assert (named.items, named.class_names, named.annotator_names) == (["p", "q"], tuple(NAMES), ("a", "b", "c"))
    assert named.votes.counts.tolist() == [[1, 0, 1], [0, 3, 0]]
    assert "one row per item" in named.notes[0]


def test_names_of_classes_as_older_versions_wrote_them_of_lists(tmp_path):
    """Before version 4 a list of labels was described by a list of one; its names were lost, and classes that nobody chose."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    features = {"annotations": [{"names": NAMES, "_type": "ClassLabel"}], "id": {"dtype": "string", "_type": "Value"}}
    kept = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    table = pa.table({"id": ["p", "q"], "annotations": [[0, 0], [1, 0]]}).replace_schema_metadata(kept)
    parquet.write_table(table, tmp_path / "votes.parquet")
    named = read(tmp_path / "votes.parquet")
    assert named.class_names == tuple(NAMES)
    assert named.votes.counts.tolist() == [[2, 0, 0], [1, 1, 0]]


def test_lists_of_words_without_ids(save):
    named = read(save(datasets.Dataset.from_dict({"text": ["s", "t"], "votes": [["yes", "no"], ["no"]]})))
    assert not named.has_ids
    assert named.items == ["0", "1"]
    assert named.votes.counts.tolist() == [[1, 1], [1, 0]]
    assert named.annotator_names is None


BAD = {
    "no label": (typed(LONG | {"label": [2, -1, 0]}, "label"), {}, "a label in column 'label'; row 1 has none"),
    "no votes": (datasets.Dataset.from_dict({"id": ["a", "b"], "votes": [["x"], []]}), {}, "row 1: expected at least one vote"),
    "an id twice": (datasets.Dataset.from_dict({"id": ["a", "a"], "votes": [["x"], ["y"]]}), {}, "every item once; 'a'"),
    "no id": (datasets.Dataset.from_dict({"id": ["a", None], "votes": [["x"], ["y"]]}), {}, "row 1: expected an id"),
    "fewer annotators": (
        datasets.Dataset.from_dict({"id": ["a"], "votes": [["x", "y"]], "annotators": [["w"]]}),
        {},
        "an annotator for each of 2 votes, found 1",
    ),
    "probabilities": (datasets.Dataset.from_dict({"id": ["a"], "labels": [[0.25, 0.75]]}), {}, "look like probabilities"),
    "two lists": (datasets.Dataset.from_dict({"id": ["a"], "labels": [["x"]], "votes": [["y"]]}), {}, "'labels' or 'votes'?"),
    "no such list": (
        datasets.Dataset.from_dict({"id": ["a"], "votes": [["x"]]}),
        {"worker": "who"},
        "a column 'who' with a list",
    ),
    "nothing known": (datasets.Dataset.from_dict({"clip": ["a"], "sound": ["x"]}), {}, "the columns are 'clip', 'sound'"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_data_set_that_cannot_be(case, tmp_path):
    data, options, message = BAD[case]
    data.save_to_disk(tmp_path / "saved")
    with pytest.raises(InputError) as error:
        read(tmp_path / "saved", options=Options(**options))
    assert message in str(error.value)


def test_a_dictionary_of_data_sets_asks_for_one(tmp_path):
    data = typed(LONG, "label")
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(tmp_path / "both")
    with pytest.raises(InputError, match=r"Give one of .*both/train, .*both/test"):
        read(tmp_path / "both")
    assert len(read(tmp_path / "both" / "train").votes.labels) == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: next(folder.glob("*.arrow")).write_bytes(b"no arrow"), "expected a data set as datasets saves it"),
        (lambda folder: next(folder.glob("*.arrow")).unlink(), "expected a data set as datasets saves it"),
        (lambda folder: (folder / "state.json").write_text("{"), "expected JSON"),
        (lambda folder: (folder / "state.json").write_text('{"_data_files": [{"filename": "../x"}]}'), "files in this folder"),
        (lambda folder: (folder / "state.json").write_text('{"_data_files": []}'), "files in this folder"),
        (lambda folder: (folder / "state.json").unlink(), "expected votes as .csv"),
    ],
)
def test_a_damaged_folder_is_one_line(tmp_path, damage, message):
    folder = tmp_path / "saved"
    typed(LONG, "label").save_to_disk(folder)
    damage(folder)
    with pytest.raises(InputError) as error:
        read(folder)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_the_texts_of_a_saved_data_set_are_read_by_the_line_that_its_refusal_names(tmp_path, monkeypatch):
    """Votes are read from such a folder, so people give it for the items too; before, 'expected images, found none'."""
    monkeypatch.chdir(tmp_path)
    data = datasets.Dataset.from_dict({"id": ["a", "b"], "text": ["x y", "z"], "labels": [["yes", "no"], ["no", "no"]]})
    data.save_to_disk("saved")
    with pytest.raises(InputError, match=r"saved: expected images .* texts are read as JSON lines") as refused:
        files("saved", "saved")
    eval(str(refused.value).rpartition(": ")[2])
    assert files("saved", "items.jsonl").inputs.tolist() == [["x y"], ["z"]]
