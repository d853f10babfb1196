"""Items and votes find each other by the ids that people gave them, never by pandas' row numbers."""

import json

import numpy as np
import pandas as pd
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.features import parse_features
from hardlabels.sources.files import files

N = 8
ORDER = [3, 1, 0, 2, 7, 5, 6, 4]
"""The ids in the order of the rows: a join by row number gives every item but 1, 5 and 6 another one's content."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with votes.csv, on the items 0 to 7."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{item},w{worker},{'ab'[item % 2]}" for item in range(N) for worker in range(2)]
    (tmp_path / "votes.csv").write_text("\n".join(["task,worker,label", *rows]))
    return tmp_path


def items(**columns):
    return pd.DataFrame({"id": ORDER, **columns})


def test_json_lines_are_found_by_id_although_pandas_numbered_the_rows(here):
    """Before, the field ``index`` came first and was taken, so that item 0 had the text of item 3."""
    frame = items(text=[f"text of {item}" for item in ORDER]).reset_index()
    frame.to_json("texts.jsonl", orient="records", lines=True)
    source = files("votes.csv", "texts.jsonl")
    assert dict(zip(source.ids, source.inputs[:, 0], strict=True)) == {str(item): f"text of {item}" for item in range(N)}


@pytest.mark.parametrize("kind", ["texts", "features"])
@pytest.mark.parametrize("index", [None, "index", "Unnamed: 0"])
def test_a_table_whose_first_column_is_row_numbers_is_refused_where_it_has_ids(here, kind, index):
    """Before, row numbers were the ids, and the ids of a table of features one of its features."""
    content = {"text": [f"text of {item}" for item in ORDER]} if kind == "texts" else {"x": [item + 0.5 for item in ORDER]}
    items(**content).to_csv("items.csv", index_label=index)
    with pytest.raises(InputError, match=r"'id' reads like the ids\. Leave the row numbers out \(pandas: index=False\)"):
        files("votes.csv", "items.csv")
    items(**content).to_csv("items.csv", index=False)
    assert files("votes.csv", "items.csv").ids == tuple(map(str, range(N)))


def test_row_numbers_are_ids_where_there_are_no_others(here):
    pd.DataFrame({"text": [f"text of {item}" for item in range(N)]}).to_csv("texts.csv")
    assert files("votes.csv", "texts.csv").inputs[3, 0] == "text of 3"


@pytest.mark.parametrize("name", ["id", "image_id", "Doc ID", "index"])
def test_numbered_features_below_a_name_for_ids_have_a_line_of_names(here, name):
    """Before, the line ``image_id,0,1,2`` was an item with the features 0, 1 and 2."""
    ids, features = parse_features(f"{name},0,1,2\na,0.5,1,2\n", here / "x.csv")
    assert (ids, features.tolist()) == (["a"], [[0.5, 1.0, 2.0]])


def test_numbered_features_below_another_word_are_a_question(here):
    for first in ("0,1,2", "1,2,3"):
        with pytest.raises(
            InputError, match=rf"line 1: expected an id and its numbers, or the names .*'clip' before {first[0]}, "
        ):
            parse_features(f"clip,{first}\na,0.5,1,2\n", here / "x.csv")
    assert parse_features("clip,0,1\na,0.5,1\n", here / "x.csv")[0] == ["clip", "a"]
    assert parse_features("7,0,1,2\n8,0.5,1,2\n", here / "x.csv")[0] == ["7", "8"]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_votes_say_about_an_item_goes_to_the_item_that_they_are_on(here, ending):
    """Before, a group was looked up by the first field that might be an id, and votes were read by the one that was named."""
    np.save("features.npy", np.arange(2 * N, dtype=np.float32).reshape(N, 2))
    frame = pd.DataFrame(
        {"id": range(N), "item_id": ORDER, "labels": [["a", "b"]] * N, "user": [f"u{item // 2}" for item in ORDER]}
    )
    if ending == "jsonl":
        frame.to_json("v.jsonl", orient="records", lines=True)
    else:
        pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
        frame.to_parquet("v.parquet")
    source = files(f"v.{ending}", "features.npy", task="item_id", group="user")
    assert source.ids == tuple(map(str, ORDER))
    assert [source.groups[source.ids.index(str(item))] for item in (0, 2, 4, 6)] == [
        source.groups[source.ids.index(str(item))] for item in (1, 3, 5, 7)
    ]
    assert len(set(source.groups.tolist())) == 4


def test_the_field_of_ids_is_the_same_for_the_text_and_for_its_group(here):
    lines = [{"key": item + 100, "id": item, "text": f"text of {item}", "user": f"u{item // 2}"} for item in ORDER]
    (here / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert files("votes.csv", "texts.jsonl", group="user").groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
