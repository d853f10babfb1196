"""Votes and predictions that the scorer must refuse: tables that make no sense, files that bite."""

import io
import os
import pickle
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest

from hardlabels.score import main

Q = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
COUNTS = np.array([[4, 0], [1, 3], [2, 2], [3, 1]])
VOTES, RUN = ("q.npy", "votes"), ("run.npz", "counts.npy")
nan, inf = float("nan"), float("inf")


class Bomb:
    """``os.system('touch canary')`` as soon as it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch canary",)


def npy(array, *, cut=None, more=b""):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()[:cut] + more


def header(text, version=1):
    """An .npy with this text as its header, and 64 bytes behind it."""
    line = text.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(line).to_bytes(2 if version == 1 else 4, "little") + line + bytes(64)


def shape(text, descr="<f8"):
    return header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {text}, }}")


def npz(*members, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def run_npz(**arrays):
    """A run's predictions.npz, with some arrays exchanged."""
    arrays = {"logits": np.log(Q), "p": Q, "index": np.arange(4), **arrays}
    return npz(*((f"{name}.npy", npy(array)) for name, array in arrays.items()))


def bomb():
    """A proper array of 400 MB zeros, in 400 kB."""
    file, zeros = io.BytesIO(), bytes(1 << 20)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("logits.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (25 << 20, 2)})
        for _ in range(400):
            member.write(zeros)
    return file.getvalue()


def encrypted():
    content = bytearray(run_npz())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def duplicates():
    with pytest.warns(UserWarning, match="Duplicate name"):
        return npz(("logits.npy", npy(Q)), ("logits.npy", npy(1 - Q)))


def corrupt():
    content = bytearray(run_npz(logits=np.log(np.linspace(0.1, 0.9, 4000).reshape(-1, 2))))
    content[200:1200] = bytes(1000)
    return bytes(content)


def lying():
    """The archive's directory says 200 bytes; the member unpacks to a megabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(npy(np.zeros((1 << 16, 2)))) + packer.flush()
    content = bytearray(npz(("logits.npy", packed), compression=zipfile.ZIP_STORED))
    for mark, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = content.index(mark)
        content[at + method] = 8
        content[at + size : at + size + 4] = (200).to_bytes(4, "little")
    return bytes(content)


def csv(*lines):
    return "\n".join(lines).encode()


# name: (file name of the hostile one, its content or a function that makes it, arguments, what the message must say)
CASES = {
    # ---- votes as text ----
    "votes: NaN": ("votes.csv", csv("4,0", "1,nan", "2,2", "3,1"), ["finite numbers", "line 2", "nan at class 1"]),
    "votes: infinite": ("votes.csv", csv("4,0", "1,1e999", "2,2", "3,1"), ["finite numbers", "line 2", "inf at class 1"]),
    "votes: negative": ("votes.csv", csv("4,0", "1,3", "-2,2", "3,1"), ["at least 0", "line 3", "-2 at class 0"]),
    "votes: fractional": ("votes.csv", csv("4,0", "1,3", "2.5,2", "3,1"), ["whole counts", "line 3", "[2.5, 2] sums to 4.5"]),
    "votes: an empty row": ("votes.csv", csv("4,0", "1,3", "2,2", "0,0"), ["at least one vote", "line 4", "[0, 0]"]),
    "votes: an empty cell": ("votes.csv", csv("4,0", "1,", "2,2", "3,1"), ["numbers separated by commas", "line 2", "''"]),
    "votes: a word": ("votes.csv", csv("4,0", "1,many", "2,2", "3,1"), ["numbers", "line 2", "'many'"]),
    "votes: a word in the first line": ("votes.csv", csv("4,O", "1,3", "2,2", "3,1"), ["numbers", "line 1", "'O'"]),
    "votes: digits with underscores": ("votes.csv", csv("4,0", "1,3_0", "2,2", "3,1"), ["numbers", "line 2", "'3_0'"]),
    "votes: decimal commas": ("votes.csv", csv('"4,5",0', "1,3"), ["numbers", "line 1", "'4,5'"]),
    "votes: decimal commas among semicolons": ("votes.csv", csv("cat;dog", "0,5;0,5", "1;3"), ["numbers", "line 2", "'0,5'"]),
    "votes: a missing class": ("votes.csv", csv("4,0", "1,3", "2", "3,1"), ["2 numbers a line", "line 3 has 1"]),
    "votes: a class too many": ("votes.csv", csv("4,0", "1,3,1", "2,2"), ["2 numbers a line", "line 2 has 3"]),
    "votes: an escape sequence": ("votes.csv", csv("4,0", "1,\x1b[2J\x1b]0;owned\x07"), ["line 2", "\\x1b[2J"]),
    "votes: a cell of a megabyte": ("votes.csv", csv("4,0", "1," + "9" * 10 + "x" * 10**5), ["numbers", "line 2", "999"]),
    "votes: a field without end": ("votes.csv", csv("4,0", '1,"' + "x" * 200_000), ["votes.csv", "line 2", "field"]),
    "votes: bytes that are no text": ("votes.csv", b"4,0\n1,\xff\xfe3\n", ["UTF-8", "byte 6", "0xff"]),
    "votes: no lines": ("votes.csv", b"", ["at least one item", "(0, 0)"]),
    "votes: a header alone": ("votes.csv", b"cat,dog\n", ["at least one item", "(0, 0)"]),
    "votes: a number that fills the memory": (
        "votes.csv",
        csv("4,0", "1,999999999999999"),
        ["at most 1,000,000 votes", "line 2"],
    ),
    "votes: numbers that overflow": ("votes.csv", csv("4,0", "1e308,1e308"), ["at most 1,000,000 votes", "line 2"]),
    "votes: a table that fills the memory": ("votes.csv", csv(*["1000000,0"] * 300), ["268,435,456 votes in all", "300,000,000"]),
    # ---- names of classes ----
    "names: HTML": ("votes.csv", csv("<script>alert(1)</script>,dog", "4,0"), ["line 1", "without < and >", "class 0"]),
    "names: an escape sequence": ("votes.csv", csv("cat,\x1b[31mdog", "4,0"), ["line 1", "printable", "\\x1b[31mdog"]),
    "names: text that runs backwards": ("votes.csv", csv("cat,\u202egod", "4,0"), ["line 1", "printable", "\\u202egod"]),
    "names: twice the same": ("votes.csv", csv("cat,cat", "4,0"), ["line 1", "every class name once", "class 1", "'cat'"]),
    "names: too long": ("votes.csv", csv("cat," + "d" * 500, "4,0"), ["line 1", "at most 100 characters", "class 1"]),
    "names: fewer than classes": ("votes.csv", csv("cat", "4,0"), ["2 class names in line 1", "found 1"]),
    "names: a column of row numbers": ("votes.csv", csv(",cat,dog", "0,4,0", "0,1,3"), ["every item once", "line 3"]),
    "names: a column of ids": ("votes.csv", csv("id,cat,dog", "7,4,0", "7,1,3"), ["every item once", "line 3"]),
    # ---- votes as arrays ----
    "votes.npy: pickled code": ("votes.npy", lambda: npy(np.array([[Bomb(), 1]], dtype=object)), ["numeric arrays", "pickled"]),
    "votes.npy: a bare pickle": ("votes.npy", lambda: pickle.dumps(Bomb()), ["votes.npy", "numeric arrays", "magic string"]),
    "votes.npy: code in the header": ("votes.npy", header("__import__('os').system('touch canary')"), ["votes.npy", "malformed"]),
    "votes.npy: a header that never ends": ("votes.npy", header("(" * 9000, 2), ["votes.npy", "numeric arrays"]),
    "votes.npy: a header of a megabyte": ("votes.npy", header("{" + " " * 10**6, 2), ["votes.npy", "Header"]),
    "votes.npy: terabytes promised": ("votes.npy", shape("(1000000000000, 2)"), ["16,000,000,000,000 bytes", "found 64"]),
    "votes.npy: a negative shape": ("votes.npy", shape("(-4, -2)"), ["shape (-4, -2)", "found 64"]),
    "votes.npy: numbers of no size": ("votes.npy", shape("(1000000000000000000,)", "|V0"), ["type |V0", "found 64"]),
    "votes.npy: truncated": ("votes.npy", npy(COUNTS, cut=-8), ["64 bytes", "shape (4, 2)", "found 56"]),
    "votes.npy: cut in the header": ("votes.npy", npy(COUNTS, cut=30), ["votes.npy", "EOF"]),
    "votes.npy: bytes behind the end": ("votes.npy", npy(COUNTS, more=b"more"), ["64 bytes", "found 68"]),
    "votes.npy: one dimension": ("votes.npy", npy(COUNTS[:, 0]), ["items x classes", "shape (4,)"]),
    "votes.npy: three dimensions": ("votes.npy", npy(COUNTS[None]), ["items x classes", "shape (1, 4, 2)"]),
    "votes.npy: no classes": ("votes.npy", npy(COUNTS[:, :0]), ["at least one item and one class", "shape (4, 0)"]),
    "votes.npy: words": ("votes.npy", npy(COUNTS.astype(str)), ["numeric matrix", "<U21"]),
    "votes.npy: complex": ("votes.npy", npy(COUNTS + 1j), ["numeric matrix", "complex128"]),
    "votes.npy: fields": ("votes.npy", npy(np.zeros(4, "i4,f4")), ["numeric matrix", "shape (4,)"]),
    "votes.npy: shares that do not sum to 1": ("votes.npy", npy(Q * [[1], [1.01], [1], [1]]), ["sum to 1", "row 1", "0.2525"]),
    "votes.npy: negative shares": ("votes.npy", npy(np.where(Q == 0.5, [-0.5, 1.5], Q)), ["at least 0", "row 2", "class 0"]),
    "votes: other items": ("votes.npy", npy(COUNTS[:3]), ["q.npy", "expected 3 items x 2 classes", "got 4 x 2"]),
    "votes: other classes": ("votes.npy", npy(np.ones((4, 3), int)), ["q.npy", "expected 4 items x 3 classes", "got 4 x 2"]),
    # ---- predictions ----
    "predictions: JSON lines with NaN": ("q.jsonl", csv('{"id": 0, "a": NaN, "b": 1}'), ["line 1", "finite numbers", "NaN"]),
    "predictions: JSON lines, a field missing": (
        "q.jsonl",
        csv('{"id": 0, "a": 0.5, "b": 0.5}', '{"id": 1, "a": 0.5}'),
        ["line 2", "fields of the first line", "'b'"],
    ),
    "predictions: JSON lines, an id missing": ("q.jsonl", csv('{"id": null, "a": 1, "b": 0}'), ["line 1", "'id'", "null"]),
    "predictions: JSON lines, a list": (
        "q.jsonl",
        csv('{"id": 0, "probabilities": [0.5, 0.5]}'),
        ["line 1", "{class: probability} in 'probabilities'", "[0.5, 0.5]"],
    ),
    "predictions: JSON lines, a class twice": (
        "q.jsonl",
        csv('{"id": 0, "a": 1, "probabilities": {"a": 1, "b": 0}}'),
        ["line 1", "'a' once"],
    ),
    "predictions: JSON lines, a word": (
        "q.jsonl",
        csv('{"id": 0, "probabilities": {"a": 1, "b": 0}}', "", '{"id": 1, "probabilities": {"a": 1, "b": "no"}}'),
        ["numbers in column 'b'", "line 3 has 'no'"],
    ),
    "predictions: JSON lines, none": ("q.jsonl", b"", ["at least one item", "an empty file"]),
    "predictions: another ending": ("q.xlsx", b"PK", [".csv, .jsonl, .npy, .npz, .tsv", "'.xlsx'"]),
    "predictions: NaN": ("q.csv", csv("0.5,0.5", "nan,1", "1,0", "1,0"), ["below infinity", "row 1", "nan"]),
    "predictions: infinite": ("q.csv", csv("0.5,0.5", "inf,1", "1,0", "1,0"), ["below infinity", "row 1", "inf"]),
    "predictions: one row off": ("q.csv", csv("0.5,0.5", "0.5,0.9", "1,0", "1,0"), ["sum to 1", "row 1", "[0.5, 0.9]"]),
    "predictions: no logit at all": ("q.csv", csv("5,-5", "-inf,-inf", "1,0", "1,0"), ["finite logit", "row 1"]),
    "predictions.npz: a bomb": ("run.npz", bomb, ["unpacks to at most 100 times", "419,430,528"]),
    "predictions.npz: terabytes promised": (
        "run.npz",
        lambda: npz(("logits.npy", shape("(9999999999, 99)"))),
        ["'logits.npy'", "found 64"],
    ),
    "predictions.npz: a false size": ("run.npz", lying, ["run.npz", "'logits.npy'", "CRC-32"]),
    "predictions.npz: pickled code": (
        "run.npz",
        lambda: npz(("logits.npy", npy(np.array([[Bomb(), 1]], dtype=object)))),
        ["'logits.npy'", "numeric arrays", "pickled"],
    ),
    "predictions.npz: two of one name": ("run.npz", duplicates, ["'logits.npy'", "every array once"]),
    "predictions.npz: no array inside": ("run.npz", lambda: npz(("logits", b"<html>")), ["'logits'", ".npy"]),
    "predictions.npz: a web page inside": ("run.npz", lambda: npz(("logits.npy", b"<html>" * 9)), ["run.npz", "magic string"]),
    "predictions.npz: a path that climbs": (
        "run.npz",
        lambda: npz(("../../canary.npy", npy(Q))),
        ["expected an array 'logits'", "'../../canary'"],
    ),
    "predictions.npz: an escape sequence": (
        "run.npz",
        lambda: npz(("\x1b[2J.npy", npy(Q))),
        ["names that end in .npy", "\\x1b[2J"],
    ),
    "predictions.npz: encrypted": ("run.npz", encrypted, ["run.npz", "encrypted"]),
    "predictions.npz: corrupt": ("run.npz", corrupt, ["run.npz", "numeric arrays"]),
    "predictions.npz: truncated": ("run.npz", lambda: run_npz()[:-30], ["run.npz", "not a zip file"]),
    "predictions.npz: no archive": ("run.npz", b"PK\x03\x04 or so", ["run.npz", "not a zip file"]),
    "predictions.npz: duplicated ids": (
        "run.npz",
        lambda: run_npz(index=np.array([0, 1, 1, 2])),
        ["index", "item once", "row 2 is 1"],
    ),
    "predictions.npz: negative ids": (
        "run.npz",
        lambda: run_npz(index=np.array([0, -1, 1, 2])),
        ["index", "from 0", "row 1 is -1"],
    ),
    "predictions.npz: fractional ids": (
        "run.npz",
        lambda: run_npz(index=np.arange(4) + 0.5),
        ["index", "4 whole numbers", "float64"],
    ),
    "predictions.npz: ids of other items": (
        "run.npz",
        lambda: run_npz(index=np.array([0, 1, 2, 99]), logits=np.log(Q)),
        ["index", "positions in the 5 items", "row 3 is 99"],
    ),
    "predictions.npz: too few ids": ("run.npz", lambda: run_npz(index=np.arange(3)), ["index", "4 whole numbers", "shape (3,)"]),
    # ---- the run's own p ----
    "p: NaN": ("own.npz", lambda: run_npz(p=np.where(Q == 0.5, nan, Q)), ["own.npz, p", "finite", "row 2"]),
    "p: of other items": ("own.npz", lambda: run_npz(p=Q[:2]), ["own.npz, p", "expected 4 x 2", "got 2 x 2"]),
    # ---- no files at all ----
    "a folder": ("votes.csv", None, ["votes.csv", "expected a file", "got a folder"]),
    "a pipe": ("votes.npy", "pipe", ["votes.npy", "expected a file", "pipe"]),
    "another ending": ("votes.xlsx", b"PK", ["votes.xlsx", "votes as .csv, .tsv", "'.xlsx'"]),
    "a name with an escape sequence": ("vo\x1b[2Jtes.txt", b"", ["vo\\x1b[2Jtes.txt", "votes as .csv, .tsv"]),
    "nothing there": ("votes.npy", "nothing", ["votes.npy", "No such file"]),
}


def prepare(folder, name, content):
    """Write the hostile file and its harmless companions; returns the scorer's arguments."""
    np.save(folder / "q.npy", Q)
    np.save(folder / "counts.npy", COUNTS)
    np.save(folder / "five.npy", np.concatenate([COUNTS, [[1, 1]]]))
    content = content() if callable(content) else content
    if content is None:
        (folder / name).mkdir()
    elif content == "pipe":
        os.mkfifo(folder / name)
    elif content != "nothing":
        (folder / name).write_bytes(content)
    if name.startswith("vo"):
        return ["q.npy", name]
    return [name, "five.npy" if name == "run.npz" else "counts.npy"] if name != "own.npz" else [name]


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_file_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys, check_refused):
    name, content, parts = CASES[case]
    arguments = prepare(tmp_path, name, content)
    monkeypatch.chdir(tmp_path)

    def run():
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return stop.value.code, *capsys.readouterr()

    check_refused(run, parts)


@pytest.mark.parametrize("case", ["votes.npy: pickled code", "predictions.npz: a bomb", "votes: an escape sequence"])
def test_the_same_in_a_process_of_its_own(case, tmp_path, check_refused):
    name, content, parts = CASES[case]
    arguments = prepare(tmp_path, name, content)

    def run():
        command = [sys.executable, "-m", "hardlabels.score", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    check_refused(run, parts)


@pytest.mark.parametrize(("option", "value"), [("--resamples", "1000000000000"), ("--resamples", "1"), ("--seed", "-1")])
def test_options_that_cannot_be(option, value, tmp_path, monkeypatch, capsys, check_refused):
    arguments = [*prepare(tmp_path, "votes.npy", npy(COUNTS)), option, value]
    monkeypatch.chdir(tmp_path)

    def run():
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return stop.value.code, *capsys.readouterr()

    check_refused(run, [option.strip("-"), value])


def test_what_only_looks_hostile_is_scored(tmp_path, monkeypatch, capsys):
    """Names with an ampersand, numbers in quotes, a byte order mark, blank lines, an archive that packs well."""
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path, "votes.csv", '\ufeff"cats & dogs", "tea, coffee"\n"4",0\n\n1,3\n2,2\n3,1\n'.encode())
    main(["q.npy", "votes.csv", "--resamples", "2", "--json"])
    sparse = np.zeros((20_000, 10))
    sparse[:, 0] = 1
    content = npz(("logits.npy", npy(sparse)), ("p.npy", npy(sparse)))
    assert len(content) * 100 < 2 * sparse.nbytes  # packed more than 100 times, and small
    (tmp_path / "own.npz").write_bytes(content)
    main(["own.npz", "--resamples", "2", "--json"])
    assert capsys.readouterr().err == ""
