"""Each format by hand-written files: what is read, in which order, under which names; and how formats are told apart."""

import json

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.votes.formats import Options, detect, read
from hardlabels.votes.formats.class_order import order_classes


@pytest.fixture
def file(tmp_path):
    """Write a file, return its path: lines of text, a JSON document, or an array."""

    def write(name, *content):
        path = tmp_path / name
        if path.suffix == ".npy":
            np.save(path, np.array(content[0]))
        elif path.suffix == ".json":
            path.write_text(json.dumps(content[0]))
        else:
            path.write_text("\n".join(json.dumps(line) if isinstance(line, dict) else line for line in content), encoding="utf-8")
        return path

    return write


def ballots(named):
    """{item: sorted (label, annotator) pairs}, all by name."""
    votes, found = named.votes, {}
    for i, item in enumerate(named.items):
        here = slice(votes.offsets[i], votes.offsets[i + 1])
        who = [None] * votes.sizes[i] if votes.annotators is None else [named.annotator_names[a] for a in votes.annotators[here]]
        found[item] = sorted(zip([named.class_names[c] for c in votes.labels[here]], who, strict=True), key=str)
    return found


def test_a_long_table_as_crowd_kit_writes_it(file):
    named = read(file("votes.csv", "task,worker,label", "t1,w1,cat", "t2,w1,dog", "t1,w2,dog", "t1,w3,dog"))
    assert named.format == "long"
    assert named.items == ["t1", "t2"]
    assert named.class_names == ("cat", "dog")
    assert named.annotator_names == ("w1", "w2", "w3")
    assert named.votes.counts.tolist() == [[1, 2], [0, 1]]
    assert ballots(named) == {"t1": [("cat", "w1"), ("dog", "w2"), ("dog", "w3")], "t2": [("dog", "w1")]}


def test_columns_may_come_in_any_order_with_others_between_them(file):
    path = file("votes.csv", 'label,text,worker,"task"', '3,"a, long ""text""\nof two lines",w1,x', "1,,w2,x")
    assert ballots(read(path)) == {"x": [("1", "w2"), ("3", "w1")]}
    assert read(path).class_names == ("1", "2", "3")


def test_columns_are_named_by_the_user_where_their_names_are_not_known(file):
    path = file("votes.csv", "clip,ear,sound", "a,E1,bark", "a,E2,howl")
    named = read(path, options=Options(task="clip", worker="ear", label="sound"))
    assert ballots(named) == {"a": [("bark", "E1"), ("howl", "E2")]}
    with pytest.raises(InputError, match=r"'sounds' \(--label\); the columns are 'clip', 'ear', 'sound'"):
        read(path, options=Options(task="clip", label="sounds"))


def test_a_long_table_without_workers_has_no_annotators(file):
    named = read(file("votes.csv", "item,label", "a,0", "a,1", "b,1"))
    assert named.votes.annotators is None
    assert named.annotator_names is None
    assert named.votes.counts.tolist() == [[1, 1], [0, 1]]


def test_ids_that_are_whole_numbers_come_in_their_order_and_others_as_they_are(file):
    numbered = read(file("a.csv", "task,worker,label", "10,w,0", "9,w,1", "-1,w,1"))
    assert numbered.items == ["-1", "9", "10"]
    assert numbered.votes.labels.tolist() == [1, 1, 0]
    assert read(file("b.csv", "task,worker,label", "t10,w,0", "t9,w,1")).items == ["t10", "t9"]


def test_a_worker_who_votes_twice_has_two_votes(file):
    named = read(file("votes.csv", "task,worker,label", "a,w,0", "a,w,0", "a,w,1"))
    assert named.votes.counts.tolist() == [[2, 1]]
    assert named.votes.annotators.tolist() == [0, 0, 0]


def test_a_wide_table_as_cleanlab_has_it(file):
    named = read(file("votes.csv", ",Ann1,Ann2,Ann3", "0,0.0,,1.0", "1,,1.0,1.0", "2,2.0,nan,"))
    assert named.format == "wide"
    assert named.items == ["0", "1", "2"]
    assert named.class_names == ("0", "1", "2")
    assert ballots(named)["0"] == [("0", "Ann1"), ("1", "Ann3")]
    assert named.votes.counts.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 1]]


def test_a_wide_table_of_words_needs_no_ids(file):
    named = read(file("votes.csv", "Mia,Leo", "cat,dog", ",cat"))
    assert named.format == "wide"
    assert ballots(named) == {"0": [("cat", "Mia"), ("dog", "Leo")], "1": [("cat", "Leo")]}


@pytest.mark.parametrize("name", ["votes.npy", "votes.csv"])
def test_whole_numbers_are_counts(file, name):
    named = read(file("votes.npy", [[2, 1], [0, 4]]) if name == "votes.npy" else file(name, "2,1", "0,4"))
    assert named.format == "counts"
    assert named.votes.counts.tolist() == [[2, 1], [0, 4]]
    assert named.class_names == ("0", "1")


def test_counts_with_class_names_and_ids(file):
    named = read(file("votes.csv", "task,cat,dog", "a.png,2,1", "b.png,0,4"))
    assert (named.format, named.items, named.class_names) == ("counts", ["a.png", "b.png"], ("cat", "dog"))
    assert read(file("names.csv", "cat,dog", "2,1")).class_names == ("cat", "dog")


def test_rows_that_sum_to_one_are_probabilities(file):
    named = read(file("votes.csv", "cat,dog", "0.25,0.75", "1,0"))
    assert named.format == "probs"
    assert not named.votes.has_votes
    assert named.votes.p.tolist() == [[0.25, 0.75], [1, 0]]


def test_probabilities_of_half_precision_are_read(tmp_path):
    """A teacher's softmax as float16: rounding moves the sums of most rows by more than other files may be off."""
    q = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    np.save(tmp_path / "q.npy", q.astype(np.float16))
    assert np.abs(read(tmp_path / "q.npy").votes.p - q).max() < 1e-3
    np.save(tmp_path / "q.npy", (0.99 * q).astype(np.float16))
    with pytest.raises(InputError, match="neither counts nor probabilities"):
        read(tmp_path / "q.npy")


def test_one_hot_rows_are_ambiguous_and_it_says_so(file):
    path = file("votes.csv", "cat,dog", "0,1", "1,0")
    named = read(path)
    assert named.votes.has_votes
    assert named.votes.sizes.tolist() == [1, 1]
    assert "may be probabilities (--format probs)" in named.notes[0]
    assert not read(path, "probs").votes.has_votes


def test_lists_of_words_by_item_are_votes_of_somebody(file):
    named = read(file("votes.json", {"5": ["yes", "no", "yes"], "1": ["no"]}))
    assert (named.items, named.class_names, named.annotator_names) == (["5", "1"], ("no", "yes"), None)
    assert named.votes.counts.tolist() == [[1, 2], [1, 0]]


def test_answers_json_as_peerannot_has_it(file):
    named = read(file("answers.json", {"5": {"w1": 2, "w2": 0}, "1": {"w2": 2}}))
    assert named.format == "answers"
    assert named.items == ["5", "1"]  # the order of the file
    assert ballots(named) == {"5": [("0", "w2"), ("2", "w1")], "1": [("2", "w2")]}
    assert named.class_names == ("0", "1", "2")


def test_lewidi_of_2023_has_lists_with_commas(file):
    item = {"annotations": "0,1,1", "annotators": "Ann1,Ann2,Ann3", "soft_label": {"0": 0.33, "1": 0.67}}
    named = read(file("HS.json", {"1": item}))
    assert named.format == "lewidi"
    assert ballots(named) == {"1": [("0", "Ann1"), ("1", "Ann2"), ("1", "Ann3")]}


def test_lewidi_of_2025_has_an_object_and_an_annotator_may_give_several_labels(file):
    item = {"annotations": {"Ann1": "neutral,entailment", "Ann3": "neutral"}, "annotators": "Ann1,Ann1,Ann3"}
    named = read(file("VariErr.json", {"x": item | {"soft_label": {"contradiction": {}, "entailment": {}, "neutral": {}}}}))
    assert named.class_names == ("contradiction", "entailment", "neutral")
    assert ballots(named) == {"x": [("entailment", "Ann1"), ("neutral", "Ann1"), ("neutral", "Ann3")]}
    assert "each is one vote" in named.notes[1]


def test_a_class_that_only_a_soft_label_names_is_a_class(file):
    item = {"annotations": {"Ann1": "-2"}, "annotators": "Ann1", "soft_label": {str(k): 0 for k in range(-5, 6)}}
    named = read(file("Paraphrase.json", {"x": item}))
    assert named.class_names == tuple(map(str, range(-5, 6)))
    assert named.votes.labels.tolist() == [3]


def test_chaosnli_leaves_out_classes_without_votes(file):
    lines = [
        {"uid": "a", "label_counter": {"n": 70, "e": 30}},
        {"uid": "b", "label_counter": {"c": 100}, "label_count": [0, 0, 100]},
    ]
    named = read(file("snli.jsonl", *lines))
    assert (named.items, named.class_names) == (["a", "b"], ("e", "n", "c"))
    assert named.votes.counts.tolist() == [[30, 70, 0], [0, 0, 100]]
    alpha = read(file("alphanli.jsonl", {"uid": "a", "label_counter": {"2": 4}}))
    assert (alpha.class_names, alpha.votes.counts.tolist()) == (("1", "2"), [[0, 4]])


def test_distributions_of_annotators_are_averaged_each_with_the_same_weight(file):
    named = read(file("cifar10s.json", {"7": [[0.5, 0.5], [1, 0], [0, 1]], "3": [[0.25, 0.75]]}))
    assert named.items == ["7", "3"]
    assert named.votes.p.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert not named.votes.has_votes
    assert "the mean of 4 distributions, 1 to 3 an item" in named.notes[0]


def test_whole_labels_are_a_scale_with_the_steps_that_nobody_chose():
    assert order_classes(["5", "1", "1.0"], "x")[0] == ("1", "2", "3", "4", "5")
    assert order_classes(["5", "1", "1.0"], "x")[1].tolist() == [4, 0, 0]
    assert order_classes(["-3", "1"], "x")[0] == ("-3", "-2", "-1", "0", "1")
    assert order_classes(["7", "4000"], "x")[0] == ("7", "4000")  # codes, not a scale
    assert order_classes(["10", "9", "x"], "x")[0] == ("10", "9", "x")  # words in alphabetical order
    assert order_classes(["0.5", "0.25"], "x")[0] == ("0.25", "0.5")


def test_the_user_may_name_all_classes_in_order(file):
    path = file("votes.csv", "task,worker,label", "a,w1,dog", "a,w2,cat")
    named = read(path, options=Options(classes=("fox", "dog", "cat")))
    assert named.class_names == ("fox", "dog", "cat")
    assert named.votes.counts.tolist() == [[0, 1, 1]]
    with pytest.raises(InputError, match=r"line 3 has 'cat'"):
        read(path, options=Options(classes=("fox", "dog")))
    counts = read(file("counts.csv", "dog,cat", "1,2"), options=Options(classes=("cat", "dog")))
    assert counts.votes.counts.tolist() == [[2, 1]]


# a whole number in each cell is ambiguous: which reading, and which words decide it
@pytest.mark.parametrize(
    ("lines", "format"),
    [
        (["task,a,b", "x,0,1"], "matrix"),
        (["task/worker,a,b", "x,0,1"], "wide"),
        (["task,Ann1,Ann2", "x,0,1"], "wide"),
        (["task,worker_1,worker_2", "x,0,1"], "wide"),
        (["task,a,b", "x,0,"], "wide"),
        (["task,a,b", "x,yes,no"], "wide"),
        (["a,b", "yes,"], "wide"),
        (["a,b", "0,1"], "matrix"),
        (["0,1", "3,4"], "matrix"),
        (["task,0,1", "x,3,4"], "matrix"),
        (["task,label", "x,3"], "long"),
        (["instance_id,user_id,text,offensiveness", "1,2,hi,1.0"], "long"),
    ],
)
def test_formats_are_told_apart_by_fixed_rules(file, lines, format):
    path = file("votes.csv", *lines)
    assert detect(path, Options()) == format


def test_a_table_that_two_formats_fit_is_refused_until_the_user_decides(file):
    path = file("votes.csv", "a,b", "0,1", "1,")
    with pytest.raises(InputError, match=r"--format wide.*line 3 has ''"):
        read(path)
    assert read(path, "wide").votes.counts.tolist() == [[1, 1], [0, 1]]


def test_take_keeps_annotators_beside_their_votes(file):
    votes = read(file("votes.csv", "task,worker,label", "0,a,1", "0,b,0", "1,c,1", "2,b,1", "2,a,0")).votes
    taken = votes.take([2, 0])
    assert list(zip(taken.labels.tolist(), taken.annotators.tolist(), strict=True)) == [(0, 0), (1, 1), (0, 1), (1, 0)]
    assert votes.subsample(3, 0).annotators is None


def test_parquet_without_pyarrow_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "votes.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"needs pyarrow: pip install pyarrow, or save the table as \.csv"):
        read(tmp_path / "votes.parquet")


def test_lists_of_one_length_in_parquet_are_lists(tmp_path):
    """``datasets`` writes ``Sequence(..., length=3)`` so, and numpy's arrays of three votes per item become them."""
    pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    from pyarrow import parquet

    labels = pa.array([[0, 2, 2], [1, 1, 1]], pa.list_(pa.int64(), 3))
    parquet.write_table(pa.table({"id": ["p", "q"], "labels": labels}), tmp_path / "votes.parquet")
    assert read(tmp_path / "votes.parquet").votes.counts.tolist() == [[1, 0, 2], [0, 3, 0]]


@pytest.mark.parametrize("kind", ["binary", "large_binary"])
def test_bytes_in_parquet_are_text(tmp_path, kind):
    """As programs write them that do not say so: Spark by default, or a pandas column of bytes."""
    pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    from pyarrow import parquet

    binary, texts = getattr(pa, kind)(), ["é".encode(), b"b"]
    lists = pa.array([[one] for one in texts], pa.list_(binary))
    for name, labels in {"label": pa.array(texts, binary), "labels": lists}.items():
        parquet.write_table(pa.table({"id": pa.array([b"p", b"q"], binary), name: labels}), tmp_path / "votes.parquet")
        named = read(tmp_path / "votes.parquet")
        assert (named.items, named.class_names) == (["p", "q"], ("b", "é"))
    parquet.write_table(pa.table({"id": ["p"], "label": pa.array([b"\xff"], binary)}), tmp_path / "votes.parquet")
    with pytest.raises(InputError, match="UTF8"):
        read(tmp_path / "votes.parquet")


def test_parquet_is_read_as_the_csv_is(tmp_path, file):
    pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    from pyarrow import parquet

    columns = {"label": [1.0, 0.0, 2.0], "task": [7, 7, 3], "worker": ["u", "v", "u"], "text": ["", "a", "b"]}
    parquet.write_table(pa.table(columns), tmp_path / "votes.parquet")
    named = read(tmp_path / "votes.parquet")
    same = read(file("votes.csv", "label,task,worker", "1.0,7,u", "0.0,7,v", "2.0,3,u"))
    assert named.items == same.items == ["3", "7"]
    assert ballots(named) == ballots(same)
    parquet.write_table(pa.table(columns | {"label": [1.0, None, 2.0]}), tmp_path / "votes.parquet")
    with pytest.raises(InputError, match="row 1 has none"):
        read(tmp_path / "votes.parquet")
    (tmp_path / "votes.parquet").write_bytes(b"PAR1 or so")
    with pytest.raises(InputError, match="expected a parquet file"):
        read(tmp_path / "votes.parquet")


def test_a_line_of_class_numbers_is_an_item_and_says_so(tmp_path):
    (tmp_path / "v.csv").write_text("1,2,3\n4,1,1\n")
    named = read(tmp_path / "v.csv")
    assert len(named.votes) == 2
    assert "reads like numbers of classes" in named.notes[-1]
    (tmp_path / "w.csv").write_text("3,1,2\n4,1,1\n")
    assert len(read(tmp_path / "w.csv").notes) == 1
