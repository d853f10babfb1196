"""Tables of texts: told from features by their columns, matched to votes by id, and every bad line named."""

import json

import numpy as np
import pandas as pd
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.files import files
from hardlabels.sources.sentences import COLUMNS, read_texts

TEXTS = ["Yes, it is.", 'She said "no".', "two\nlines", "12", " ünïcödé, 猫 "]
N = len(TEXTS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with votes.csv on the items a0 .. a4."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"a{i}", worker, "no" if (i + worker) % 3 else "yes") for i in range(N) for worker in range(3)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("votes.csv", index=False)
    return tmp_path


def table(**columns):
    """A table of the items, last first: its order is not that of the votes."""
    return pd.DataFrame({"id": [f"a{i}" for i in range(N)], **columns})[::-1]


@pytest.mark.parametrize("columns", COLUMNS, ids=" ".join)
def test_columns_that_are_named_so_are_texts_in_the_order_of_their_pair(here, columns):
    given = {name: [f"{text} {name}" for text in TEXTS] for name in columns}
    table(**dict(reversed(given.items())), votes=3).to_csv("texts.csv", index=False)
    source = files("votes.csv", "texts.csv", name="mine")
    assert (source.kind, source.mean, source.std) == ("texts", (), ())
    assert source.inputs.tolist() == [[f"{text} {name}".strip() for name in columns] for text in TEXTS]
    assert source.votes.counts[:, 1].tolist() == [1, 1, 1, 1, 1]  # yes, by the item's own votes
    assert np.array_equal(source.labels, source.votes.majority)


def test_json_lines_are_the_same_texts(here, capsys):
    frame = table(premise=TEXTS, hypothesis=TEXTS[::-1])
    frame.to_csv("texts.csv", index=False)
    frame[["hypothesis", "id", "premise"]].to_json("texts.jsonl", orient="records", lines=True)
    csv, lines = files("votes.csv", "texts.csv"), files("votes.csv", "texts.jsonl")
    assert (
        csv.inputs.tolist() == lines.inputs.tolist() == [[a.strip(), b.strip()] for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    )
    assert csv.fingerprint == lines.fingerprint
    assert "not used" not in capsys.readouterr().out


def test_a_table_of_votes_with_the_text_in_each_line_is_both_files(here, capsys):
    """The commonest export of all: before, ids that came again were refused with no way out."""
    votes = pd.read_csv("votes.csv")
    votes.assign(text=[TEXTS[int(item[1:])] for item in votes["task"]]).to_csv("both.csv", index=False)
    table(text=TEXTS).to_csv("texts.csv", index=False)
    assert files("both.csv", "both.csv").fingerprint == files("votes.csv", "texts.csv").fingerprint
    votes.assign(text=range(len(votes))).astype(str).to_csv("both.csv", index=False)
    with pytest.raises(InputError, match="line 3 has the id 'a0' again, with another text"):
        read_texts(here / "both.csv", "text")


def test_the_fingerprint_is_of_the_texts_their_order_in_a_pair_and_the_votes(here):
    frame = table(premise=TEXTS, hypothesis=TEXTS[::-1])
    frame.to_csv("texts.csv", index=False)
    plain = files("votes.csv", "texts.csv").fingerprint
    frame.sample(frac=1, random_state=0).to_csv("elsewhere.csv", index=False)
    assert files("votes.csv", "elsewhere.csv", name="other").fingerprint == plain
    assert files("votes.csv", "texts.csv", text=["hypothesis", "premise"]).fingerprint != plain
    assert files("votes.csv", "texts.csv", text="premise").fingerprint != plain
    frame.replace("12", "13").to_csv("texts.csv", index=False)
    assert files("votes.csv", "texts.csv").fingerprint != plain


def test_what_is_no_text_stays_features(here):
    """Numbers below a name of a text may be either: they stay features, as they were, until data.text says otherwise."""
    table(text=range(N)).to_csv("numbers.csv", index=False)
    assert files("votes.csv", "numbers.csv").inputs.tolist() == [[i] for i in range(N)]
    assert files("votes.csv", "numbers.csv", text="text").inputs.tolist() == [[str(i)] for i in range(N)]
    table(height=range(N), weight=range(N)).to_csv("features.csv", index=False)
    assert files("votes.csv", "features.csv").kind == "vectors"
    table(height=["1.5", "1.6", "l.7", "1.8", "1.9"]).to_csv("slip.csv", index=False)
    with pytest.raises(InputError, match=r"slip.csv, line 4, column 'height': expected a finite number .* got 'l.7'; where"):
        files("votes.csv", "slip.csv")


def test_a_lonely_column_needs_no_name_and_others_are_named_by_data_text(here, capsys):
    words = [f"word {i}" for i in range(N)]
    table(prompt=words).to_csv("one.csv", index=False)
    assert files("votes.csv", "one.csv").inputs[:, 0].tolist() == words
    table(prompt=words, reply=words[::-1], author="me").to_csv("three.csv", index=False)
    with pytest.raises(
        InputError, match=r"line 2, column 'prompt': .* got 'word 4'; where it is text, data.text names its column"
    ):
        files("votes.csv", "three.csv")
    pairs = files("votes.csv", "three.csv", text=["reply", "prompt"])
    assert pairs.inputs.tolist() == [list(pair) for pair in zip(words[::-1], words, strict=True)]
    assert "not used" not in capsys.readouterr().out
    table(text=words, author="me").to_csv("two.csv", index=False)
    assert files("votes.csv", "two.csv").inputs[:, 0].tolist() == words
    assert "two.csv: the text is text; not used: author (data.text chooses)" in capsys.readouterr().out


def test_rows_without_ids_and_items_without_votes_are_as_for_features(here):
    table(text=TEXTS).to_csv("texts.csv", index=False)
    np.save("probs.npy", np.full((N, 2), 0.5))
    assert files("probs.npy", "texts.csv").inputs[:, 0].tolist() == [text.strip() for text in TEXTS[::-1]]
    pd.concat([table(text=TEXTS), pd.DataFrame({"id": ["new"], "text": ["unseen"]})]).to_csv("more.csv", index=False)
    with pytest.raises(InputError, match=r"1 of 6 items have no votes .*: new"):
        files("votes.csv", "more.csv")
    assert files("votes.csv", "more.csv", extra="ignore").fingerprint == files("votes.csv", "texts.csv").fingerprint
    table(text=TEXTS)[1:].to_csv("less.csv", index=False)
    with pytest.raises(InputError, match=r"1 of 5 items with votes are not in less.csv .*: a4"):
        files("votes.csv", "less.csv")


@pytest.mark.parametrize(
    ("content", "text", "said"),
    [
        ("id,text\na,yes\nb, \nc,\n", None, r"line 3 \(item b\) has no text in text, line 4 \(item c\) has no text"),
        ('id,premise,hypothesis\na,"two\nlines",\n', None, r"line 3 \(item a\) has no text in hypothesis"),
        ("id,text\na,yes\n,no\n", None, "line 3 has no id"),
        ("id,text\na,yes\na,no\n", None, "line 3 has the id 'a' again"),
        ("id,text\na,yes, or no\n", None, "expected 2 cells per line, as in the first; line 2 has 3"),
        ("id,text,sentence\na,x,y\n", None, "got text or sentence: data.text says which"),
        ("id,text,text\na,x,y\n", "text", "expected every column once; 'text' comes twice"),
        ("id,prompt\na,x\n", "promt", "data.text names promt; the columns are prompt besides the id, 'id'"),
        ("id,text\na,x\n", "id", "data.text names id; the columns are text besides the id"),
        (
            "id,a,b,c\na,x,y,z\n",
            ["a", "b", "c"],
            "data.text must be the column of the text, or the two of a .* got a, b, c",
        ),
        ("id,a\na,x\n", ["a", "a"], "data.text must be .* got a, a"),
        ("id,a\na,x\n", [], "data.text must be .* got none"),
        ("id,text\n", "text", "expected at least one line of an id and a text, got none"),
        ("", "text", "data.text names text; the columns are"),
    ],
)
def test_the_bad_line_of_a_csv_is_named(here, content, text, said):
    path = here / "texts.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=f"(?s)texts.csv.*{said}|{said}.*texts.csv"):
        read_texts(path, text)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"id": "a", "text": "yes"}, {"id": "b"}], r"line 2 \(item b\) has no text in text"),
        ([{"id": "a", "text": 5}], r"line 1 \(item a\) has no text"),
        ([{"id": 1, "text": "x"}, {"id": "1", "text": "y"}], "line 2 has the id '1' again"),
        ([{"id": None, "text": "x"}], "line 1 has no id"),
        ([{"sentiment": "a", "text": "x"}], "expected objects with the item's id in a field 'id', got sentiment, text"),
        ([{"id": "a", "prompt": "x", "reply": "y"}], "expected a field 'text', .* got prompt, reply: data.text says which"),
        ([["a", "x"]], "line 1: expected an object with an id and a text"),
        ([], "expected objects with the item's id in a field 'id', got none"),
    ],
)
def test_the_bad_line_of_json_is_named(here, lines, said):
    path = here / "texts.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=f"(?s)texts.jsonl.*{said}"):
        read_texts(path)


def test_data_text_is_for_tables_of_texts(here):
    np.save("rows.npy", np.zeros((N, 2)))
    (here / "images").mkdir()
    for items in ("rows.npy", "images"):
        with pytest.raises(InputError, match=f"data.text must be the column .* in a .csv or .jsonl; got text for {items}"):
            files("votes.csv", items, text="text")
