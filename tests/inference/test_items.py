"""New items from files, as the network was trained on them; what cannot be is named with its place."""

import json
import os
import sys

import numpy as np
import pytest
import torch

from hardlabels.errors import InputError
from hardlabels.inference import prepare
from hardlabels.inference.items import BLOCK, check_paths, stream_items
from hardlabels.inference.prepare import Preparation
from hardlabels.learning.encoders.image_encoder import ImageEncoder
from hardlabels.learning.encoders.preprocess import Preprocessing

ONE = Preparation("texts", (1,), "vectors", (), (), None)
PAIR = Preparation("texts", (2,), "vectors", (), (), None)
ROW = Preparation("vectors", (2,), "vectors", (0.0, 0.0), (1.0, 1.0), None)


def read(path, content, preparation, text=None):
    path.write_text(content, encoding="utf-8")
    blocks = list(stream_items([path], preparation, text))
    return [name for block in blocks for name in block.ids], [item.tolist() for block in blocks for item in block.items]


def test_texts_come_by_the_names_of_their_columns(tmp_path):
    csv = tmp_path / "new.csv"
    assert read(csv, "id,source,text\n7,web,It rains.\n8,app, Yes \n", ONE) == (["7", "8"], [["It rains."], ["Yes"]])
    assert read(csv, "id,whatever\n7,It rains.\n", ONE) == (["7"], [["It rains."]])
    assert read(csv, "id,a,b\n7,x,It rains.\n", ONE, ["b"]) == (["7"], [["It rains."]])
    assert read(csv, "id,hypothesis,premise\n7,no,It rains.\n", PAIR) == (["7"], [["It rains.", "no"]])
    lines = [json.dumps({"id": 7, "text": "It rains.", "more": 1}), "", json.dumps({"id": "8", "text": "Yes"})]
    assert read(tmp_path / "new.jsonl", "\n".join(lines), ONE) == (["7", "8"], [["It rains."], ["Yes"]])


def test_features_come_with_and_without_a_header(tmp_path):
    csv = tmp_path / "new.csv"
    assert read(csv, "id,0,1\na,1,2\n", ROW) == (["a"], [[1, 2]])
    assert read(csv, "a,1,2\nb,3,4\n", ROW) == (["a", "b"], [[1, 2], [3, 4]])


def test_blocks_have_at_most_so_many_items(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("id,text\n" + "".join(f"{i},text {i}\n" for i in range(2 * BLOCK + 1)))
    assert [len(block.ids) for block in stream_items([path], ONE)] == [BLOCK, BLOCK, 1]


@pytest.mark.parametrize(
    ("name", "content", "preparation", "said"),
    [
        (
            "new.csv",
            "id,a,b\n1,x,y\n",
            ONE,
            r"expected one column of text, as in training; got a, b \(--text COLUMN says which\)",
        ),
        ("new.csv", "id,text\n1,x\n", PAIR, "expected the two columns of a pair, as in training; got text"),
        ("new.csv", "id,text\n1,x\n2, \n", ONE, "row 2: expected a text, got"),
        ("new.csv", "id,text\n1,x,y\n", ONE, "expected 2 cells per line"),
        ("new.csv", "id,text,text\n1,x,y\n", ONE, "expected every column once"),
        ("new.jsonl", "[1]\n", ONE, "line 1: expected an object with an id and a text"),
        ("new.jsonl", '{"text": "x"}\n', ONE, "line 1: expected an object with an id and a text"),
        ("new.jsonl", '{"id": 1, "text": null}\n', ONE, "line 1: expected a text"),
        ("new.jsonl", '{"id": 1,\n', ONE, "line 1: expected JSON"),
        ("new.txt", "hello", ONE, "this network takes texts: expected a .csv or .jsonl, got '.txt'"),
        ("new.csv", "id,0,1\na,1,x\n", ROW, "line 2: expected finite numbers"),
        ("new.csv", "id,0,1\na,1,1e99\n", ROW, "line 2: expected finite numbers"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(tmp_path, name, content, preparation, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path / name, content, preparation)


@pytest.mark.parametrize(
    ("preparation", "items"),
    [(ROW, np.zeros((3, 4), dtype=np.float32)), (ROW, np.zeros((3, 2))), (ONE, np.array([["a", "b"]], dtype=object))],
)
def test_items_of_another_shape_or_type_are_refused(preparation, items):
    with pytest.raises(InputError, match=r"as this network was trained on; got shape"):
        preparation.check(items)


@pytest.mark.parametrize("change", [{"items": "sounds"}, {"shape": [0]}, {"shape": "2"}, {"takes": "waves"}, {"mean": "none"}])
def test_a_checkpoint_that_says_something_else_is_refused(tmp_path, change):
    carried = {"items": "vectors", "shape": [2], "takes": "vectors", "mean": [0.0, 0.0], "std": [1.0, 1.0], "encoder": None}
    assert Preparation.from_checkpoint(carried, {}, tmp_path) == ROW
    with pytest.raises(InputError, match="expected how items are prepared"):
        Preparation.from_checkpoint({**carried, **change}, {}, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, names of files are text")
def test_a_frozen_encoder_computes_on_the_device_that_is_asked_for(monkeypatch):
    """It is nearly all of the work of a prediction. The device "meta" has no numbers to give back, and says so."""
    encoder = ImageEncoder(
        "mean",
        torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()),
        Preprocessing(4, 4, (0.0,) * 3, (1.0,) * 3),
        3,
        "none",
    )
    monkeypatch.setattr(prepare, "frozen_encoder", lambda *_: (encoder, encoder.digest))
    preparation = Preparation("images", (4, 4, 3), "vectors", (0.0,) * 3, (1.0,) * 3, {"name": "mean"})
    images = np.full((2, 4, 4, 3), 255, dtype=np.uint8)
    assert preparation.apply(images).ravel().tolist() == [1.0] * 6
    with pytest.raises(NotImplementedError, match="meta"):
        preparation.apply(images, "meta")


def test_a_name_that_is_no_text_is_refused_before_any_work(tmp_path):
    """It would be the id in a file of predictions, which cannot be written."""
    (tmp_path / os.fsdecode(b"caf\xe9.png")).write_bytes(b"")
    with pytest.raises(InputError, match=r"expected names of images in UTF-8, as they become ids; found 'caf\\udce9.png'"):
        check_paths([tmp_path], "images")
