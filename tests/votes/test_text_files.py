"""Tables as Excel writes them: semicolons, a byte order mark, Windows line ends; and the encodings that are refused."""

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.features import read_features
from hardlabels.sources.sentences import read_texts
from hardlabels.votes.formats import Options, fast, read

LONG = "Kommentar-ID,Annotator,Label", "k1,Änne,grün", "k1,Bob,rot", "k2,Änne,rot"
WIDE = "id,text,Änne,Bob", "k1,ein Text,grün,rot", "k2,zwei Texte,,rot"
COUNTS = "id,grün,rot", "k1,1,1", "k2,0,1"
TABLES = {"long": LONG, "wide": WIDE, "counts": COUNTS, "counts without ids": [line.split(",", 1)[1] for line in COUNTS]}


def excel(*lines):
    return "\r\n".join([*lines, ""]).replace(",", ";").encode("utf-8-sig")


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_from_a_european_excel_is_read_as_the_one_with_commas(tmp_path, kind):
    """Before, it was refused: 'Save it with commas', which that Excel cannot do."""
    options = Options(task="Kommentar-ID") if kind == "long" else Options()
    (tmp_path / "commas.csv").write_text("\n".join(TABLES[kind]) + "\n")
    (tmp_path / "excel.csv").write_bytes(excel(*TABLES[kind]))
    theirs, ours = (read(tmp_path / name, options=options) for name in ("excel.csv", "commas.csv"))
    assert theirs.votes.counts.tolist() == ours.votes.counts.tolist() == [[1, 1], [0, 1]]
    assert (theirs.items, theirs.class_names, theirs.annotator_names) == (ours.items, ours.class_names, ours.annotator_names)


def test_large_tables_with_semicolons_are_read_by_polars_too(tmp_path, monkeypatch):
    monkeypatch.setattr(fast, "LEAST_BYTES", 0)
    (tmp_path / "v.csv").write_text("task;worker;label\na;w;x, y\na;v;z\nb;w;z\n")
    named = read(tmp_path / "v.csv")
    assert (named.class_names, named.votes.counts.tolist()) == (("x, y", "z"), [[1, 1], [0, 1]])


def test_items_may_have_semicolons_too(tmp_path):
    (tmp_path / "x.csv").write_bytes(excel("id,height,weight", "k1,1.5,70", "k2,1.75,80"))
    ids, features = read_features(tmp_path / "x.csv")
    assert (ids, features.tolist()) == (["k1", "k2"], [[1.5, 70.0], [1.75, 80.0]])
    (tmp_path / "t.csv").write_bytes(b"id;text\nk1;yes, it is\n")
    ids, texts = read_texts(tmp_path / "t.csv")
    assert (ids, texts.tolist()) == (["k1"], [["yes, it is"]])


def test_a_semicolon_inside_of_a_name_separates_nothing(tmp_path):
    (tmp_path / "v.csv").write_text("task,a;b,c\nx,1,2\n")
    assert read(tmp_path / "v.csv").class_names == ("a;b", "c")


@pytest.mark.parametrize(
    ("name", "content"), {"v.csv": "id,annotator,label\ni,Zoë,ja\n", "v.json": '{"i": {"Zoë": "ja"}}'}.items()
)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_refused_with_the_way_out(tmp_path, name, content, encoding):
    (tmp_path / name).write_bytes(content.encode(encoding))
    with pytest.raises(InputError, match=r"expected text in UTF-8; byte \d+ is 0x[\da-f]{2}.*Save it as UTF-8") as refused:
        read(tmp_path / name)
    assert ("UTF-16" in str(refused.value)) == (encoding == "utf-16")


def test_the_byte_that_is_named_is_counted_from_the_start_of_the_file(tmp_path):
    """Files are decoded in pieces, and an error in the second one knows its place in that piece only."""
    start = b"task,worker,label\n" + b"a,w,x\n" * 50_000
    (tmp_path / "v.csv").write_bytes(start + b"\xe9,w,x\n")
    with pytest.raises(InputError, match=f"byte {len(start)} is 0xe9"):
        read(tmp_path / "v.csv")
    np.testing.assert_equal(len(start), 300_018)
