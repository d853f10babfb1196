"""Written and read again: nothing that a format can hold is lost. And a long table of 10^5 votes in little memory."""

import csv
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.votes import Votes
from hardlabels.votes.formats import Options, read
from hardlabels.votes.formats.class_order import number_of
from hardlabels.votes.formats.named import NamedVotes
from hardlabels.votes.formats.text_tables import TextTable
from hardlabels.votes.write import write

law = settings(derandomize=True, deadline=None, max_examples=60)
# Ids may hold commas, quotes, dots; not what is stripped, missing by convention, or no text.
text = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=6)
names = text.filter(lambda name: name.lower() not in ("nan", "<na>") and not set(name) & set("<>"))
words = names.filter(lambda name: number_of(name) is None)  # as a class, "1.0" would become "1"


@st.composite
def tables(draw):
    """Votes with ids of every kind; each annotator at most once on an item, each item with a vote, each class with one."""
    unique = {"unique": True}
    classes = draw(
        st.one_of(st.lists(words, min_size=1, max_size=4, **unique), st.integers(1, 4).map(lambda c: [str(k) for k in range(c)]))
    )
    items = draw(st.lists(names, min_size=1, max_size=5, **unique))
    people = draw(st.lists(names, min_size=1, max_size=4, **unique))
    rows = [
        draw(st.lists(st.one_of(st.none(), st.sampled_from(classes)), min_size=len(people), max_size=len(people))) for _ in items
    ]
    for i, row in enumerate(rows):  # at least one vote an item
        if all(label is None for label in row):
            row[0] = classes[i % len(classes)]
    return items, people, rows


def ballots(named, annotators=True):
    """{item: sorted votes} by name."""
    votes, found = named.votes, {}
    for i, item in enumerate(named.items):
        here = slice(votes.offsets[i], votes.offsets[i + 1])
        labels = [named.class_names[c] for c in votes.labels[here]]
        who = [named.annotator_names[a] for a in votes.annotators[here]] if annotators else [""] * len(labels)
        found[item] = sorted(zip(labels, who, strict=True))
    return found


def wide_file(folder, case):
    items, people, rows = case
    path = folder / "given.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task/worker", *people])
        writer.writerows([item, *(label or "" for label in row)] for item, row in zip(items, rows, strict=True))
    return path


@law
@given(case=tables())
def test_long_wide_and_counts_hold_the_same_votes(case, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trip")
    named = read(wide_file(folder, case))
    expected = {
        item: sorted((label, who) for label, who in zip(row, case[1], strict=True) if label is not None)
        for item, row in zip(case[0], case[2], strict=True)
    }
    assert ballots(named) == expected
    for kind in ("long", "wide", "counts"):
        write(named, kind, folder / f"{kind}.csv")
    options = Options(classes=named.class_names)
    for kind in ("long", "wide"):
        again = read(folder / f"{kind}.csv", options=options)
        assert again.format == kind
        assert ballots(again) == ballots(named)
        assert again.class_names == named.class_names
        if kind == "wide":
            assert again.items == named.items
    counts = read(folder / "counts.csv", "counts")
    assert counts.items == named.items
    assert counts.class_names == named.class_names
    assert counts.votes.counts.tolist() == named.votes.counts.tolist()
    write(counts, "long", folder / "anonymous.csv")
    anonymous = read(folder / "anonymous.csv", options=options)
    assert anonymous.votes.annotators is None
    assert ballots(anonymous, annotators=False) == ballots(named, annotators=False)


@law
@given(case=tables(), ending=st.sampled_from([".csv", ".npy"]))
def test_probabilities_and_counts_come_back_to_the_last_bit(case, ending, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trip")
    named = read(wide_file(folder, case))
    write(named, "counts", folder / f"counts{ending}")
    write(named, "probs", folder / f"probs{ending}")
    counts, probs = read(folder / f"counts{ending}", "counts"), read(folder / f"probs{ending}", "probs")
    assert counts.votes.counts.tolist() == named.votes.counts.tolist()
    np.testing.assert_allclose(probs.votes.p, named.votes.p, rtol=1e-15, atol=0)
    assert not probs.votes.has_votes
    write(probs, "probs", folder / f"again{ending}")
    np.testing.assert_allclose(read(folder / f"again{ending}", "probs").votes.p, probs.votes.p, rtol=1e-15, atol=0)
    if ending == ".csv":
        assert probs.items == counts.items == named.items
        assert probs.class_names == named.class_names


def test_answers_and_lewidi_become_long_and_stay_what_they_are(tmp_path):
    (tmp_path / "answers.json").write_text('{"a": {"w1": "x", "w2": "y"}, "b": {"w2": "y"}}')
    (tmp_path / "lewidi.json").write_text(
        '{"a": {"annotations": "x,y", "annotators": "w1,w2"}, "b": {"annotations": {"w2": "y"}, "annotators": "w2"}}'
    )
    expected = {"a": [("x", "w1"), ("y", "w2")], "b": [("y", "w2")]}
    for source in ("answers", "lewidi"):
        for kind in ("long", "wide"):
            write(read(tmp_path / f"{source}.json"), kind, tmp_path / "out.csv")
            assert ballots(read(tmp_path / "out.csv")) == expected


def test_long_parquet_holds_what_long_csv_holds(tmp_path):
    pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    (tmp_path / "answers.json").write_text('{"a": {"w1": "x", "w2": "y"}, "b": {"w2": "y"}}')
    named = read(tmp_path / "answers.json")
    write(named, "long", tmp_path / "out.parquet")
    assert ballots(read(tmp_path / "out.parquet")) == ballots(named)


def test_a_failed_write_leaves_the_old_file_and_no_part_of_a_new_one(tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("old")
    named = NamedVotes(Votes.from_counts([[1, 2]]), ["a"], ("x", "y"), None, "counts")

    def rows(named):
        yield ["task"]
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(write.__globals__["ROWS"], "counts", rows)
    with pytest.raises(ValueError, match=r"cannot write .*out\.csv: No space left on device"):
        write(named, "counts", tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


def test_a_hundred_thousand_votes_are_read_within_the_memory_of_a_few_files(tmp_path):
    """What Python allocates, over the file's bytes. benchmarks/formats.py goes to 10 million, with the whole process."""
    rng, n, m = stream(0, "test of scale"), 10_000, 10
    counts = rng.multinomial(m, [0.7, 0.2, 0.1], size=n)
    votes = Votes.from_counts(counts)
    votes.annotators = np.tile(np.arange(m, dtype=np.int32), n)
    people = tuple(f"annotator_{a}" for a in range(m))
    written = NamedVotes(votes, [f"item_{i}" for i in range(n)], ("class_0", "class_1", "class_2"), people, "long")
    path = tmp_path / "votes.csv"
    write(written, "long", path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *np.array(lines[1:])[rng.permutation(n * m)]]))  # in any order
    tracemalloc.start()
    named = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * path.stat().st_size
    back = np.argsort([int(item.removeprefix("item_")) for item in named.items])
    again = named.votes.take(back)
    assert np.array_equal(again.counts, counts)
    assert np.array_equal(np.bincount(named.votes.annotators), np.full(m, n))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(content=st.text(st.sampled_from('ab,,\n\n" \r\x0b'), max_size=40), chunk=st.integers(1, 12), quotes=st.booleans())
def test_lines_that_are_cut_at_once_are_the_rows_of_csv(content, chunk, quotes, tmp_path_factory):
    """Plain lines are not read by csv; wherever the first quote, blank line or space comes, nothing else may change."""
    path = tmp_path_factory.mktemp("text") / "v.csv"
    path.write_text("x,y\n" + (content if quotes else content.replace('"', "")), encoding="utf-8", newline="")

    def outcome(columns):
        try:
            return [row for block in columns() for row in zip(*block, strict=True)]
        except InputError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardlabels.votes.formats.text_tables.CHUNK", chunk)
        table = TextTable(path)
        by_csv = outcome(lambda: (zip(*rows, strict=True) for rows in table.blocks()))
        assert outcome(lambda: table.columns([0, 1])) == by_csv
