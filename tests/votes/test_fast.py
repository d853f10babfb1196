"""The fast reader of large tables: the same votes, or the same error, as the careful one, whatever the table."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.votes.formats import Options, fast, read

ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"])
CELL = st.one_of(
    st.sampled_from(["a", "b", "c", "7", "07", "10", "cat", "dog", "x y"]),
    st.sampled_from(["", "NaN", " a", "a ", '"a"', '"a,b"', "é", "ß", "\u2028", "\x0b", "'", "#1", "\ufeff", "1.0"]),
    st.text(max_size=4),
)


@st.composite
def tables(draw):
    """A long table as text: mostly plain, with everything that a csv can hold now and then."""
    mark = draw(st.sampled_from([",", "\t"]))
    names = draw(st.permutations(["task", "worker", "label"])) + draw(st.sampled_from([[], ["text"]]))
    plain = draw(st.booleans())
    cell = st.sampled_from(["a", "b", "7", "10", "cat", "x y", "é"]) if plain else CELL
    width = st.just(len(names)) if plain else st.sampled_from([len(names)] * 9 + [len(names) - 1, len(names) + 1])
    rows = [draw(st.lists(cell, min_size=n, max_size=n)) for n in draw(st.lists(width, max_size=12))]
    end = "\n" if plain else draw(ENDS)
    body = end.join(mark.join(row) for row in [names, *rows])
    start = "" if plain else draw(st.sampled_from(["", "", "\n", " ", "\ufeff"]))
    return mark, start + body + draw(st.sampled_from(["", "\n"]))


def outcome(path, options):
    """Everything about the votes of a file, or what is wrong with it."""
    try:
        named = read(path, "long", options)
    except InputError as error:
        return str(error)
    votes = named.votes
    arrays = [None if array is None else array.tolist() for array in (votes.labels, votes.offsets, votes.annotators)]
    return arrays, named.items, named.class_names, named.annotator_names, named.notes, named.cleaned


@given(tables(), st.sampled_from([frozenset(), frozenset({"empty", "duplicates", "variants"})]))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((",", "task,worker,label\na,w,x\nb,w\n"), frozenset())
@example((",", "task,worker,label\na,w,x\nb,w,x,y\n"), frozenset())
@example((",", "task,worker,label\na,w,x\nb,w\nc,w,x,y\n"), frozenset())
@example((",", "task,worker,label\n"), frozenset())
@example((",", "task,worker,label\nb,w,x\na,w,y\nb,v,x"), frozenset())
@example((",", "task,worker,label\r\nb,w,x\r\na,w,y\r\n"), frozenset())
@example((",", "task,worker,label\na,w,\nb,w,x\n"), frozenset({"empty"}))
def test_both_readers_agree_on_every_table(tmp_path, monkeypatch, table, clean):
    mark, text = table
    path = tmp_path / ("votes.tsv" if mark == "\t" else "votes.csv")
    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    options = Options(clean=clean)
    careful = outcome(path, options)
    monkeypatch.setattr(fast, "LEAST_BYTES", 0)
    assert outcome(path, options) == careful
    monkeypatch.undo()


def large(path, rows=2000, **changes):
    rng = np.random.default_rng(0)
    lines = [
        f"item_{i},worker_{w},class_{c}" for i, w, c in zip(*(rng.integers(n, size=rows) for n in (300, 40, 5)), strict=True)
    ]
    for row, line in changes.get("lines", {}).items():
        lines[row] = line
    path.write_bytes("\n".join(["task,worker,label", *lines, ""]).encode() + changes.get("tail", b""))
    return path


@pytest.fixture
def always(monkeypatch):
    """The fast reader for files of every size; returns the calls that it answered."""
    answered, original = [], fast.read_columns

    def spy(table, places):
        columns = original(table, places)
        answered.append(columns is not None)
        return columns

    monkeypatch.setattr(fast, "LEAST_BYTES", 0)
    monkeypatch.setattr(fast, "read_columns", spy)
    return answered


def test_plain_files_are_read_by_polars(tmp_path, always):
    pytest.importorskip("polars")
    named = read(large(tmp_path / "votes.csv"))
    assert always == [True]
    assert len(named.votes.labels) == 2000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lines": {1500: "item_1,worker_1"}}, "line 1502 has 2"),
        ({"lines": {1500: "item_1,worker_1,a,b"}}, "line 1502 has 4"),
        ({"lines": {1500: "item_1,,a"}}, "a worker in column 'worker'; line 1502 has none"),
        ({"lines": {1999: "item_1,w,NaN"}}, "line 2001 has none. --clean empty"),
        ({"tail": b"item_1,w,\xff\n"}, "UTF-8; byte"),
        ({"lines": {7: "item_1,w,<b>"}}, "without < and >"),
    ],
)
def test_the_careful_reader_names_the_bad_line_of_what_the_fast_one_refused(tmp_path, always, changes, message):
    with pytest.raises(InputError) as error:
        read(large(tmp_path / "votes.csv", **changes))
    assert message in str(error.value)
    assert always == ["<" in message]


def test_it_works_without_polars(tmp_path, always, monkeypatch):
    path = large(tmp_path / "votes.csv")
    expected = outcome(path, Options())
    monkeypatch.setitem(sys.modules, "polars", None)
    assert outcome(path, Options()) == expected
    assert always[-1] is False


def test_a_file_is_read_in_chunks_whatever_their_edges(tmp_path, always, monkeypatch):
    path = large(tmp_path / "votes.csv")
    expected = outcome(path, Options())
    for chunk in (7, 64, 1000):
        monkeypatch.setattr(fast, "CHUNK", chunk)
        assert outcome(path, Options()) == expected
    blank = tmp_path / "blank.csv"
    blank.write_bytes(path.read_bytes().replace(b"\n", b"\n\n", 5))
    for chunk in (1, 7, 1000):
        monkeypatch.setattr(fast, "CHUNK", chunk)
        assert outcome(blank, Options()) == expected
