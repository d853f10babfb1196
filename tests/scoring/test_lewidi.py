"""Submissions to LeWiDi 2025: read, written, scored as its organisers do; and what is none."""

import ast
import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hardlabels.errors import InputError
from hardlabels.score import main
from hardlabels.scoring.lewidi import label_shares, multilabel_manhattan, read_submission, write_submission
from hardlabels.votes.formats import read

PAIRS = {"text": {"Question1": "a", "Question2": "b"}, "annotation task": "paraphrase detection", "split": "test"}
PARAPHRASE = {
    "7": PAIRS | {"annotators": "Ann1,Ann2", "annotations": {"Ann1": "-3", "Ann2": "4"}},
    "3": PAIRS | {"annotators": "Ann1,Ann2", "annotations": {"Ann1": "5", "Ann2": "5"}},
}
NLI = {"annotation task": "natural language inference", "split": "test", "text": {"context": "a", "statement": "b"}}
SOFT = {"contradiction": {"0": 1.0, "1": 0.0}, "entailment": {"0": 0.5, "1": 0.5}, "neutral": {"0": 0.0, "1": 1.0}}
VARIERR = {
    "1": NLI
    | {"annotators": "Ann1,Ann1,Ann2", "annotations": {"Ann1": "entailment,neutral", "Ann2": "neutral"}, "soft_label": SOFT},
    "2": NLI | {"annotators": "Ann2", "annotations": {"Ann2": "contradiction"}, "soft_label": SOFT},
}
real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "par.json").write_text(json.dumps(PARAPHRASE))
    (tmp_path / "ven.json").write_text(json.dumps(VARIERR))
    return tmp_path


def run_json(capsys, *arguments):
    main([*map(str, arguments), "--json", "--resamples", "5"])
    return json.loads(capsys.readouterr().out)


def test_a_submission_is_scored_by_id_with_both_baselines(folder, capsys):
    rows = {"3": np.eye(11)[10], "7": np.full(11, 1 / 11)}
    (folder / "q.tsv").write_text("".join(f"{name}\t{row.tolist()}\n" for name, row in rows.items()))
    report = run_json(capsys, "q.tsv", "par.json")
    assert report["classes_are_ordered"]
    assert report["predictions"][0]["items_matched_by"] == "id"
    p = np.zeros((2, 11))
    p[0, [2, 9]], p[1, 10] = 0.5, 1.0
    scale = np.arange(11)
    expected = {
        "uniform": np.full((2, 11), 1 / 11),
        "most frequent": np.eye(11)[[10, 10]],
        "model": np.stack([rows["7"], rows["3"]]),
    }
    entry = report["slices"]["full"]
    found = {**entry["baselines"], "model": {name: cell["value"] for name, cell in entry["models"][0].items()}}
    for name, q in expected.items():
        distance = np.mean([stats.wasserstein_distance(scale, scale, *pair) for pair in zip(q, p, strict=True)])
        assert found[name]["wasserstein"] == pytest.approx(distance)
        assert found[name]["manhattan"] == pytest.approx(np.abs(q - p).sum(1).mean())
    assert found["most frequent"]["soft_nll"] is None, "infinite"


def test_several_labels_are_shares_of_annotators(folder, capsys):
    votes = read(folder / "ven.json")
    assert votes.several
    assert not votes.ordered
    assert label_shares(votes.votes).tolist() == [[0.0, 0.5, 1.0], [1.0, 0.0, 0.0]]
    (folder / "q.tsv").write_text("1\t[[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]\n2\t[[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]\n")
    report = run_json(capsys, "q.tsv", "ven.json")
    # per label |0.75 - 0.5| + |0.25 - 0.5| and so on: item 1 (0 + 0.5 + 1) / 3, item 2 1 / 3
    assert any("multi-label Manhattan distance 0.41667" in note for note in report["notes"])


@pytest.mark.parametrize("name", ["par", "ven"])
def test_what_is_written_is_read_again(folder, capsys, name):
    size, rng = {"par": 11, "ven": 3}[name], np.random.default_rng(0)
    q = rng.dirichlet(np.ones(size), size=2)
    np.save(folder / "q.npy", q)
    run_json(capsys, "q.npy", f"{name}.json", "--submission", "out.tsv")
    ids, table, several = read_submission(folder / "out.tsv")
    assert ids == list({"par": PARAPHRASE, "ven": VARIERR}[name])
    assert table == pytest.approx(q)
    assert several == (name == "ven")
    # What the organisers' own script does: split at the tab, evaluate the list.
    for line in (folder / "out.tsv").read_text().splitlines():
        values = ast.literal_eval(line.split("\t")[1])
        assert np.sum(values) == pytest.approx(3 if several else 1)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


BAD = {
    "empty": ("", "an empty file"),
    "no tab": ("7 [0.5, 0.5]\n", "line 1: expected an id, a tab and a list of numbers"),
    "no list": ("7\t0.5\n", "line 1: expected an id, a tab"),
    "words": ('7\t["a"]\n', "line 1: expected an id, a tab"),
    "true": ("7\t[true, false]\n", "line 1: expected an id, a tab"),
    "nothing in it": ("7\t[]\n", "line 1: expected an id, a tab"),
    "other lengths": ("7\t[0.5, 0.5]\n3\t[1.0]\n", "line 2: expected 2 numbers"),
    "both forms": ("7\t[0.5, 0.5]\n3\t[[0.5, 0.5], [1.0, 0.0]]\n", "found both"),
    "a pair of three": ("7\t[[0.5, 0.25, 0.25]]\n", "pairs of a share without"),
    "a pair of no sum": ("7\t[[0.5, 0.6]]\n", "of sum 1"),
    "below 0": ("7\t[[1.5, -0.5]]\n", "of sum 1"),
    "no JSON": ("7\t[0.5, np.float64(0.5)]\n", "expected JSON"),
    "NaN": ("7\t[NaN, 1.0]\n", "finite numbers"),
    "no share at all": ("1\t[[1, 0], [1, 0], [1, 0]]\n", "a share above 0"),
    "an id twice": (f"7\t{[1 / 11] * 11}\n7\t{[1 / 11] * 11}\n", "every item once"),
    "another item": (f"8\t{[1 / 11] * 11}\n", "1 of 1 ids have none"),
    "fewer classes": ("7\t[0.5, 0.5]\n3\t[0.5, 0.5]\n", "11 classes"),
    "no distribution": (f"7\t{[0.2] * 11}\n3\t{[0.2] * 11}\n", "sum"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_submission_is_one_line_and_code_2(folder, capsys, case):
    content, message = BAD[case]
    (folder / "q.tsv").write_text(content)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(SystemExit) as stop:
        main(["q.tsv", "ven.json" if "1\t" in content[:2] else "par.json", "--submission", "out.tsv", "--probabilities"])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert not out.strip()
    assert len(err.strip().splitlines()) == 1, err
    assert message in err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_where_a_submission_cannot_go(folder):
    for path, message in (("out.csv", r"a file \.tsv"), ("no/out.tsv", "an existing folder")):
        with pytest.raises(InputError, match=message):
            write_submission(folder / path, ["7"], np.ones((1, 1)), several=False)


@real_data
def test_the_release_own_soft_labels_have_distance_0():
    root = Path(os.environ["HARDLABELS_DATA"]) / "lewidi" / "2025"
    for name in ("Paraphrase", "VariErrNLI"):
        path = root / name / f"{name}_test.json"
        votes, document = read(path), json.loads(path.read_text(encoding="utf-8"))
        soft = [entry["soft_label"] for entry in document.values()]
        if name == "Paraphrase":
            assert votes.ordered
            assert votes.votes.p == pytest.approx(np.array([[row[c] for c in votes.class_names] for row in soft]), abs=0.006)
        else:
            released = np.array([[row[c]["1"] for c in votes.class_names] for row in soft])
            assert multilabel_manhattan(released, label_shares(votes.votes)) == pytest.approx(0, abs=0.01)
