"""Files of votes that must be refused: exit code 2, one line that says where, what was expected and what was found."""

import io
import json
import os
import pickle

import numpy as np
import pytest

from hardlabels.votes.__main__ import main


class Bomb:
    """``os.system('touch canary')`` as soon as it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch canary",)


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def lines(*texts):
    return "\n".join(texts).encode()


def as_json(document):
    return json.dumps(document).encode()


LONG = "task,worker,label"
WIDE = "task/worker,Ann1,Ann2"
LEWIDI = {"annotations": "0,1", "annotators": "Ann1,Ann2"}

# name: (file name, content, further arguments, what the message must say)
CASES = {
    # ---- long ----
    "long: no label": ("v.csv", lines(LONG, "a,w,1", "b,w,", "c,w,1"), [], ["a label in column 'label'", "line 3 has none"]),
    "long: no task": ("v.csv", lines(LONG, "a,w,1", "", ",w,1"), [], ["a task in column 'task'", "line 4 has none"]),
    "long: no worker": ("v.csv", lines(LONG, "a,w,1", "b,NaN,1"), [], ["a worker in column 'worker'", "line 3 has none"]),
    "long: a cell too many": ("v.csv", lines(LONG, "a,w,1", "b,w,1,2"), [], ["3 cells per line", "line 3 has 4"]),
    "long: a cell missing": ("v.csv", lines(LONG, "a,w", "b,w,1"), [], ["3 cells per line", "line 2 has 2"]),
    "long: a header alone": ("v.csv", lines(LONG), [], ["at least one vote", "without lines"]),
    "long: the line after a text of two": ("v.csv", lines(LONG + ",text", 'a,w,1,"x', 'y"', "b,w,,z"), [], ["line 4 has none"]),
    "long: votes without a name": ("v.csv", lines("task,worker,score", "a,w,1"), [], ["--label", "'score'"]),
    "long: two columns of votes": ("v.csv", lines("task,answer,vote", "a,1,1"), [], ["'answer' or 'vote'", "--label"]),
    "long: a column twice": ("v.csv", lines("task,worker,label,label", "a,w,1,2"), [], ["every column once", "'label'"]),
    "long: no such column": ("v.csv", lines(LONG, "a,w,1"), ["--task", "item"], ["'item' (--task)", "'task', 'worker'"]),
    "long: no columns of that kind": ("v.csv", lines("x,y", "1,2"), ["--format", "long"], ["task, worker and label", "'x', 'y'"]),
    "long: an unknown class": ("v.csv", lines(LONG, "a,w,1", "b,w,7"), ["--classes", "0,1"], ["classes 0, 1", "line 3", "'7'"]),
    "long: a class twice": ("v.csv", lines(LONG, "a,w,1"), ["--classes", "1,1"], ["every class name once"]),
    "long: free text as labels": (
        "v.csv",
        lines(LONG, *(f"a,w,word {i}" for i in range(10_001))),
        [],
        ["at most 10,000 different labels", "free text"],
    ),
    "long: an escape sequence in a label": ("v.csv", lines(LONG, "a,w,\x1b[2J"), [], ["printable", "\\x1b[2J"]),
    "long: an escape sequence in an id": ("v.csv", lines(LONG, "\x1b[2J,w,1"), [], ["id of an item", "\\x1b[2J"]),
    "long: a label of HTML": ("v.csv", lines(LONG, "a,w,<b>x</b>"), [], ["without < and >"]),
    "long: an id of a megabyte": ("v.csv", lines(LONG, "a" * 10**5 + ",w,1"), [], ["1 to 500 printable characters"]),
    "long: a field without end": ("v.csv", lines(LONG, 'a,w,"' + "x" * 200_000), [], ["separated by commas", "field"]),
    "long: bytes that are no text": ("v.csv", LONG.encode() + b"\na,w,\xff\n", [], ["UTF-8", "0xff"]),
    # ---- wide ----
    "wide: an item without votes": ("v.csv", lines(WIDE, "a,0,1", "b,,"), [], ["at least one vote", "line 3 has none"]),
    "wide: an item twice": ("v.csv", lines(WIDE, "a,0,1", "a,1,"), [], ["every item once", "line 3", "'a'"]),
    "wide: an item without an id": ("v.csv", lines(WIDE, "a,0,1", ",1,"), [], ["an id in every line", "line 3"]),
    "wide: an annotator twice": ("v.csv", lines("task/worker,A,A", "a,0,1"), [], ["every annotator once", "'A'"]),
    "wide: no annotators": ("v.csv", lines("task/worker", "a"), [], ["a column per annotator"]),
    "wide: no items": ("v.csv", lines(WIDE), [], ["at least one item"]),
    "wide: a cell too many": ("v.csv", lines(WIDE, "a,0,1,2"), [], ["3 cells per line", "line 2 has 4"]),
    "wide: an empty file": ("v.csv", b"", ["--format", "wide"], ["names of the annotators", "empty file"]),
    "wide or counts": ("v.csv", lines("a,b", "0,1", "1,"), [], ["line 3 has ''", "--format"]),
    "words among numbers": ("v.csv", lines("task,a,b", "x,1,2", "y,1,many"), [], ["line 3 has 'many'", "--format"]),
    "holes among shares": ("v.csv", lines("task,a,b", "x,0.5,0.5", "y,1.0,"), [], ["line 3 has ''", "--format"]),
    # ---- counts and probabilities ----
    "counts: an empty cell": ("v.csv", lines("4,0", "1,"), [], ["numbers separated by commas", "line 2", "''"]),
    "counts: negative": ("v.csv", lines("task,a,b", "x,1,2", "y,-1,2"), [], ["at least 0", "line 3", "-1 at class 0"]),
    "counts: no votes": ("v.csv", lines("task,a,b", "x,0,0"), [], ["at least one vote an item", "line 2"]),
    "counts: fractions": ("v.csv", lines("1.5,2", "1,2"), [], ["line 1 is neither", "[1.5, 2] sums to 3.5"]),
    "counts: fractions by force": ("v.csv", lines("a,b", "1,2", "1.5,2"), ["--format", "counts"], ["whole counts", "line 3"]),
    "probs: some rows are off": (
        "v.csv",
        lines("item,cat,dog", "a,0.33,0.33", "b,0.2,0.8"),
        [],
        ["line 2 is neither counts nor probabilities: [0.33, 0.33] sums to 0.66"],
    ),
    "probs: all rows are off": ("v.csv", lines("a,b", "0.3,0.3", "", "0.2,0.2"), [], ["line 2 is neither", "(2 such rows)"]),
    "probs: rows of counts among them": ("v.csv", lines("a,b", "2,1", "0.5,0.5"), [], ["whole counts", "line 3"]),
    "probs: off in an array": ("v.npy", npy(np.array([[0.5, 0.5], [0.3, 0.3]])), [], ["row 1 is neither", "sums to 0.6"]),
    "counts: an item twice": ("v.csv", lines("task,a,b", "x,1,2", "x,1,2"), [], ["every item once", "line 3", "again"]),
    "counts: an id without text": ("v.csv", lines("task,a,b", ",1,2"), [], ["id of an item", "''"]),
    "counts: other classes": ("v.csv", lines("a,b", "1,2"), ["--classes", "a,c"], ["line 1 has 'b'"]),
    "counts: fewer classes": ("v.npy", npy(np.ones((2, 3))), ["--classes", "a,b"], ["expected 2 classes", "(2, 3)"]),
    "probs: a row off": ("v.csv", lines("0.5,0.5", "0.5,0.4", "0.2,0.8"), [], ["sum to 1", "line 2 is neither", "sums to 0.9"]),
    "probs: by force": ("v.csv", lines("3,1", "1,3"), ["--format", "probs"], ["sum to 1", "line 1"]),
    "npy: pickled code": ("v.npy", lambda: npy(np.array([[Bomb(), 1]], dtype=object)), [], ["pickled"]),
    "npy: a bare pickle": ("v.npy", lambda: pickle.dumps(Bomb()), [], ["numeric arrays"]),
    "npy: one dimension": ("v.npy", npy(np.arange(3)), [], ["items x classes", "(3,)"]),
    "npy: words": ("v.npy", npy(np.array([["a", "b"]])), [], ["items x classes", "<U1"]),
    "npy: as a long table": ("v.npy", npy(np.ones((2, 2))), ["--format", "long"], ["a long table as .csv or .tsv or .parquet"]),
    # ---- JSON ----
    "json: broken": ("v.json", b'{"a": {"w": 1},\n "b" {}}', [], ["expected JSON", "line 2, column 6"]),
    "json: a key twice": ("v.json", b'{"a": {"w": 1, "w": 0}}', [], ["every key once", "'w'"]),
    "json: NaN": ("v.json", b'{"a": {"w": NaN}}', [], ["finite numbers", "NaN"]),
    "json: a million brackets": ("v.json", b"[" * 10**6, [], ["JSON of ordinary depth"]),
    "json: a number of 10,000 digits": ("v.json", b'{"a": {"w": ' + b"9" * 10_000 + b"}}", [], ["ordinary depth and size"]),
    "json: bytes that are no text": ("v.json", b'{"\xff": 1}', [], ["UTF-8", "byte 2 is 0xff"]),
    "json: an empty object": ("v.json", b"{}", [], ["answers", "LeWiDi", "found none of them"]),
    "json: a list": ("v.json", b"[1, 2]", [], ["found none of them"]),
    "json: a list of records": ("v.json", as_json([{"id": "a", "labels": ["x"]}]), [], ["to_json('v.jsonl', orient="]),
    "answers: an empty list": ("v.json", as_json({"a": ["x"], "b": []}), [], ["task 'b'", "at least one vote"]),
    "answers: no votes": ("v.json", as_json({"a": {"w": 1}, "b": {}}), [], ["task 'b'", "at least one vote"]),
    "answers: no label": ("v.json", as_json({"a": {"w": 1}, "b": {"w": None}}), [], ["task 'b', worker 'w'", "null"]),
    "answers: true": ("v.json", as_json({"a": {"w": True}}), [], ["a word or a number", "true"]),
    "answers: a list": ("v.json", as_json({"a": {"w": 1}, "b": {"w": [1, 2]}}), [], ["task 'b', worker 'w'", "[1, 2]"]),
    "answers: an item twice": ("v.json", as_json({"a": {"w": 1}, "a ": {"w": 1}}), [], ["every item once", "'a '"]),
    "lewidi: votes of nobody": ("v.json", as_json({"1": LEWIDI | {"annotators": "Ann1"}}), [], ["item '1'", "2 votes of 1"]),
    "lewidi: an empty vote": ("v.json", as_json({"1": LEWIDI | {"annotations": "0,"}}), [], ["item '1'", "word or a number"]),
    "lewidi: a test set": ("v.json", as_json({"1": LEWIDI, "2": LEWIDI | {"annotations": ""}}), [], ["item '2'", "without them"]),
    "lewidi: other annotators": ("v.json", as_json({"1": LEWIDI | {"annotations": {"X": "0"}}}), [], ["'Ann1,Ann2'", "'X'"]),
    "lewidi: an item of another kind": ("v.json", as_json({"1": LEWIDI, "2": [1]}), [], ["item '2'", "[1]"]),
    "chaosnli: no counter": ("v.jsonl", lines('{"uid": "a"}'), [], ["the columns are 'uid'", "'label_counter'"]),
    "chaosnli: an empty counter": (
        "v.jsonl",
        lines('{"uid": "a", "label_counter": null}'),
        [],
        ["line 1", "'label_counter'", "null"],
    ),
    "chaosnli: no uid": ("v.jsonl", lines("", '{"label_counter": {"e": 1}}'), [], ["line 2", "a 'uid'"]),
    "chaosnli: a uid twice": (
        "v.jsonl",
        lines(*['{"uid": "a", "label_counter": {"e": 1}}'] * 2),
        [],
        ["line 2", "line 1 has it"],
    ),
    "chaosnli: half a vote": (
        "v.jsonl",
        lines('{"uid": "a", "label_counter": {"e": 0.5}}'),
        [],
        ["line 1", "whole counts", "0.5"],
    ),
    "chaosnli: no votes": ("v.jsonl", lines('{"uid": "a", "label_counter": {"e": 0}}'), [], ["at least one vote", "row 0"]),
    "chaosnli: counts that differ": (
        "v.jsonl",
        lines('{"uid": "a", "label_counter": {"e": 1}, "label_count": [0, 1, 0]}'),
        [],
        ["line 1 (a)", "[1, 0, 0]", "[0, 1, 0]"],
    ),
    "chaosnli: a number that fills the memory": (
        "v.jsonl",
        lines('{"uid": "a", "label_counter": {"e": 999999999999999999999999}}'),
        [],
        ["at most 1,000,000 votes"],
    ),
    "chaosnli: broken": ("v.jsonl", lines('{"uid": "a", "label_counter": {"e": 1}}', '{"uid"'), [], ["line 2", "expected JSON"]),
    "chaosnli: an empty file": ("v.jsonl", b"", [], ["at least one line"]),
    "cifar10s: as elicited": ("v.json", as_json({"0": [{"Most Probable Class": "Cat"}]}), [], ["redist10.json", "as elicited"]),
    "cifar10s: a sum of 0.9": ("v.json", as_json({"0": [[1, 0], [0.5, 0.4]]}), [], ["item '0'", "sum to 1", "row 1"]),
    "cifar10s: ragged": ("v.json", as_json({"0": [[1, 0], [1, 0, 0]]}), [], ["item '0'", "[2, 3]"]),
    "cifar10s: other classes": ("v.json", as_json({"0": [[1, 0]], "1": [[1, 0, 0]]}), [], ["item '1'", "expected 2 classes"]),
    "cifar10s: words": ("v.json", as_json({"0": [["a", "b"]]}), [], ["item '0'", "list of probabilities"]),
    # ---- no such files ----
    "a folder": ("v.csv", None, [], ["expected a file", "a folder"]),
    "a pipe": ("v.csv", "pipe", [], ["expected a file", "pipe"]),
    "nothing there": ("v.csv", "nothing", [], ["No such file"]),
    "another ending": ("v.xlsx", b"PK", [], [".csv, .tsv, .npy, .parquet, .json, .jsonl", "'.xlsx'"]),
    # ---- what is asked for ----
    "to: wide of counts": ("v.csv", lines("1,2", "2,1"), ["--to", "wide", "out.csv"], ["not known who voted"]),
    "to: wide of a vote twice": (
        "v.csv",
        lines(LONG, "a,w,0", "b,w,1", "b,w,0"),
        ["--to", "wide", "out.csv"],
        ["'w' voted twice on 'b'"],
    ),
    "to: counts of probabilities": ("v.csv", lines("0.5,0.5"), ["--to", "counts", "out.csv"], ["only probabilities are known"]),
    "to: another kind": ("v.csv", lines("1,2"), ["--to", "xml", "out.xml"], ["long, wide, counts, probs", "'xml'"]),
    "to: another ending": ("v.csv", lines("1,2"), ["--to", "counts", "out.txt"], [".csv or .npy", "'out.txt'"]),
    "to: the file itself": ("v.csv", lines("1,2"), ["--to", "counts", "v.csv"], ["another file than the one that is read"]),
    "to: no such folder": ("v.csv", lines("1,2"), ["--to", "counts", "no/out.csv"], ["cannot write no/out.csv"]),
    "picture: another ending": ("v.csv", lines("1,2"), ["--picture", "out.exe"], [".png, .pdf, .svg", "'out.exe'"]),
    "picture: no such folder": ("v.csv", lines("1,2"), ["--picture", "no/out.png"], ["an existing folder", "'no'"]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_that_cannot_be_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys):
    name, content, arguments, parts = CASES[case]
    monkeypatch.chdir(tmp_path)
    content = content() if callable(content) else content
    if content is None:
        (tmp_path / name).mkdir()
    elif content == "pipe":
        os.mkfifo(tmp_path / name)
    elif content != "nothing":
        (tmp_path / name).write_bytes(content)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(SystemExit) as stop:
        main([name, *arguments])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert not out.strip()
    assert err.startswith("error: ")
    assert len(err.strip().splitlines()) == 1, err
    assert len(err) < 2000
    assert all(char.isprintable() or char == "\n" for char in err), ascii(err)
    assert all(part in err for part in parts), f"expected {parts}, got: {err}"
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "something was written"


def test_what_only_looks_hostile_is_read(tmp_path, capsys):
    """A byte order mark, Windows' line ends, blank lines, quotes, spaces around cells, names that rich would take for markup."""
    path = tmp_path / "v.csv"
    path.write_bytes('\ufefftask, worker ,label\r\n\r\n"a, b", w ,"[red]x"\r\n "a, b" ,w2, [red]x \r\n'.encode())
    main([str(path)])
    out, err = capsys.readouterr()
    assert "[red]x: 100.0%" in out
    assert not err
