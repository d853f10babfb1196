"""A trained run is a product: its folder alone predicts, and predicts what it predicted when it was trained."""

import contextlib
import json
import shutil
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.special import softmax

from hardlabels import score
from hardlabels.inference import Predictor
from hardlabels.inference.items import BLOCK, stream_items
from hardlabels.inference.prediction_files import Predicted, write_predictions
from hardlabels.predict import main
from hardlabels.scoring.predictions import read_predictions
from hardlabels.votes import entropy


def predicted(*words):
    main([str(word) for word in words])
    return pd.read_csv(words[words.index("--out") + 1]).set_index("id")


def test_the_folder_alone_predicts_what_the_run_did(rows, trained, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(rows / "seed=0", moved)
    saved = np.load(moved / "predictions.npz")
    assert saved["class_names"].tolist() == ["class 0", "class 1", "class 2"]
    assert saved["ids"].tolist() == [f"item_{i}" for i in saved["index"]]
    table = predicted(moved, trained / "features.csv", "--out", tmp_path / "p.csv")
    assert list(table) == ["predicted", "class 0", "class 1", "class 2", "entropy", "expected_disagreement"]
    q = table.loc[saved["ids"], saved["class_names"]].to_numpy()
    np.testing.assert_allclose(q, softmax(saved["logits"].astype(float), 1), atol=2e-6)
    np.testing.assert_allclose(table.loc[saved["ids"], "entropy"], entropy(q), atol=1e-5)
    np.testing.assert_allclose(table.loc[saved["ids"], "expected_disagreement"], 1 - (q**2).sum(1), atol=1e-5)
    assert (table["predicted"] == table[saved["class_names"]].idxmax(axis=1)).all()
    last = predicted(moved, trained / "features.csv", "--out", tmp_path / "p.csv", "--checkpoint", "last")
    expected = softmax(saved["logits_last"].astype(float), 1)
    np.testing.assert_allclose(last.loc[saved["ids"], saved["class_names"]].to_numpy(), expected, atol=2e-6)


def test_images_are_prepared_as_in_training(pictures, trained, tmp_path):
    saved = np.load(pictures / "predictions.npz")
    table = predicted(pictures, trained / "images", "--out", tmp_path / "p.csv")
    q = table.loc[[f"{name}.png" for name in saved["ids"]], saved["class_names"]].to_numpy()
    np.testing.assert_allclose(q, softmax(saved["logits"].astype(float), 1), atol=1e-5)
    one = predicted(pictures, trained / "images/item_3.png", "--out", tmp_path / "one.csv")
    np.testing.assert_allclose(one["class 1"], table.loc["item_3.png", "class 1"], atol=1e-5)


def test_the_folder_above_is_the_mean_over_seeds(rows, trained, tmp_path):
    tables = [
        predicted(folder, trained / "features.npy", "--out", tmp_path / "p.csv")
        for folder in (rows / "seed=0", rows / "seed=1", rows)
    ]
    mean = (tables[0]["class 2"] + tables[1]["class 2"]) / 2
    np.testing.assert_allclose(tables[2]["class 2"], mean, atol=2e-6)
    assert tables[2].index.tolist() == list(range(60))  # an .npy has row numbers


def test_calibrated_divides_by_the_temperature_of_the_checkpoint(rows, trained):
    plain, calibrated = (Predictor.open(rows / "seed=0", calibrated=flag) for flag in (False, True))
    items = np.load(trained / "features.npy")
    temperature = plain.models[0].temperature
    expected = softmax(np.log(plain(items)) / temperature, 1)
    np.testing.assert_allclose(calibrated(items), expected, atol=1e-9)


def test_json_lines_say_the_same_and_score_reads_the_table(rows, trained, tmp_path):
    table = predicted(rows, trained / "features.csv", "--out", tmp_path / "p.csv")
    main([str(rows), str(trained / "features.csv"), "--out", str(tmp_path / "p.jsonl")])
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == table.index.tolist()
    np.testing.assert_allclose([line["probabilities"]["class 0"] for line in lines], table["class 0"], atol=1e-5)
    read = read_predictions(tmp_path / "p.csv", classes=["class 0", "class 1", "class 2"], items=60)
    assert read.ids == table.index.tolist()
    np.testing.assert_allclose(read.table, table[["class 0", "class 1", "class 2"]])


@pytest.mark.parametrize("file", ["p.csv", "p.jsonl"])
@pytest.mark.parametrize("classes", [["class 0", "class 1", "class 2"], ["0", "1", "2"], ["entropy", "cat", "dog"]])
def test_what_predict_writes_is_scored_by_id_whatever_the_classes_are_called(tmp_path, capsys, classes, file):
    q = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    write_predictions(tmp_path / file, [Predicted([f"i{i}" for i in range(20)], q)], classes)
    votes = [f"i{i},w{j},{classes[i % 3]}" for i in range(20) for j in range(2)]
    (tmp_path / "votes.csv").write_text("\n".join(["task,worker,label", *votes]))
    with contextlib.suppress(SystemExit):
        score.main([str(tmp_path / file), str(tmp_path / "votes.csv"), "--json"])
    values = json.loads(capsys.readouterr().out)
    assert values["predictions"][0]["items_matched_by"] == "id"
    assert values["predictions"][0]["classes_matched_by"] == "name"
    expected = -np.log(q[np.arange(20), np.arange(20) % 3]).mean()
    assert any(abs(value - expected) < 1e-4 for value in numbers_in(values)), values


def test_both_formats_hold_the_same_numbers_also_very_small_ones(tmp_path):
    q = np.array([[1 - 3e-9, 3e-9], [0.123456789, 0.876543211]])
    for file in ("p.csv", "p.jsonl"):
        write_predictions(tmp_path / file, [Predicted(["a", "b"], q)], ["cat", "dog"])
    lines, table = (read_predictions(tmp_path / file, classes=["cat", "dog"], items=2) for file in ("p.jsonl", "p.csv"))
    np.testing.assert_array_equal(lines.table, table.table)
    np.testing.assert_allclose(table.table, q, rtol=1e-5)
    assert (lines.ids, lines.names, lines.texts) == (table.ids, table.names, table.texts) == (["a", "b"], ["cat", "dog"], {})


def numbers_in(found):
    """All numbers of a document."""
    if isinstance(found, dict | list):
        return [n for part in (found.values() if isinstance(found, dict) else found) for n in numbers_in(part)]
    return [found] if isinstance(found, float) else []


def test_items_come_in_blocks_however_many_there_are(rows, tmp_path):
    preparation = Predictor.open(rows / "seed=0").preparation
    many = np.lib.format.open_memmap(tmp_path / "many.npy", mode="w+", dtype=np.float32, shape=(200_000, 7))
    many.flush()
    first = next(blocks := stream_items([tmp_path / "many.npy"], preparation))
    assert len(first.ids) == BLOCK
    assert sum(len(block.ids) for block in blocks) == 200_000 - BLOCK


def test_memory_does_not_grow_with_the_number_of_items(rows, tmp_path):
    predictor, peaks = Predictor.open(rows / "seed=0"), {}
    for blocks in (3, 30):
        np.save(tmp_path / "new.npy", np.zeros((blocks * BLOCK, 7), dtype=np.float32))
        tracemalloc.start()
        some = stream_items([tmp_path / "new.npy"], predictor.preparation)
        made = (Predicted(block.ids, predictor(block.items)) for block in some)
        assert write_predictions(tmp_path / "p.csv", made, predictor.class_names) == blocks * BLOCK
        peaks[blocks] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[30] < 1.2 * peaks[3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{rows}/seed=7", "{here}/features.csv"], "seed=7 is not there"),
        (["{here}", "{here}/features.csv"], "expected a run's folder"),
        (["{rows}", "{here}/nothing.csv"], "nothing.csv is not there"),
        (["{rows}", "{here}/images"], "this network takes feature vectors: expected a .csv or .npy, got a folder"),
        (["{pictures}", "{here}/features.csv"], "this network takes images: expected a folder of them, or an image"),
        (["{pictures}", "{tmp}/empty"], "expected images"),
        (["{pictures}", "{tmp}/broken"], "broken/a.png: expected an image"),
        (["{rows}", "{tmp}/narrow.csv"], "expected an id and 7 numbers, as in training; line 1 has 3 cells"),
        (["{rows}", "{tmp}/words.csv"], "line 3: expected finite numbers"),
        (["{rows}", "{tmp}/narrow.npy"], "expected rows of 7 numbers, as in training; got shape (2, 3)"),
        (["{rows}", "{tmp}/nan.npy"], "nan.npy, row 1: expected finite numbers"),
        (["{rows}", "{tmp}/pickle.npy"], "expected a numeric matrix"),
        (["{rows}", "{here}/features.csv", "--out", "{tmp}/p.xlsx"], "expected a file .csv or .jsonl, got '.xlsx'"),
        (["{rows}", "{here}/features.csv", "--checkpoint", "last", "--calibrated"], "has no temperature"),
        (["{rows}", "{here}/features.csv", "--device", "abacus"], "--device must be a device that torch can use here (auto, cpu"),
        (["{rows}", "{here}/features.csv", "--device", "meta"], "--device must be a device that torch can use here (auto, cpu"),
        (["{rows}", "{here}/features.csv", "--text", "body"], "--text body: this network takes feature vectors, which have no"),
        (["{pictures}", "{tmp}/one/new", "{tmp}/two/new"], "one/new both have an image of the id 'new/a.png'"),
        (["{tmp}/old", "{here}/features.csv"], "is of an earlier version"),
        (["{tmp}/damaged", "{here}/features.csv"], "is no checkpoint of ours, or damaged"),
        (["{tmp}/unfinished", "{here}/features.csv"], "this run is not finished"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(rows, pictures, trained, tmp_path, capsys, words, said):
    import torch

    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "broken/b.png")
    (tmp_path / "broken/a.png").write_text("no image")
    for folder in ("one/new", "two/new"):
        (tmp_path / folder).mkdir(parents=True)
        Image.new("RGB", (9, 9)).save(tmp_path / folder / "a.png")
    (tmp_path / "narrow.csv").write_text("id,a,b\nx,1,2\n")
    (tmp_path / "words.csv").write_text("id,1,2,3,4,5,6,7\nx,1,2,3,4,5,6,7\ny,1,2,3,4,5,6,seven\n")
    np.save(tmp_path / "narrow.npy", np.zeros((2, 3)))
    np.save(tmp_path / "nan.npy", np.array([[0.0] * 7, [np.nan] * 7]))
    np.save(tmp_path / "pickle.npy", np.array([{}], dtype=object))
    for name in ("old", "damaged", "unfinished"):
        shutil.copytree(rows / "seed=0", tmp_path / name)
    torch.save({"network": {"fc.bias": torch.zeros(3)}, "epoch": 1}, tmp_path / "old/best.ckpt")
    (tmp_path / "damaged/best.ckpt").write_bytes(b"PK damaged")
    (tmp_path / "unfinished/done").unlink()
    places = {"rows": rows, "pictures": pictures, "here": trained, "tmp": tmp_path}
    words = [word.format(**places) for word in words]
    out = [] if "--out" in words else ["--out", str(tmp_path / "p.csv")]
    with pytest.raises(SystemExit) as stop:
        main([*words, *out])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert said in error.replace("\n", " ")
    assert error.startswith("error: ")
    assert not (tmp_path / "p.csv").exists()
