"""``python -m hardlabels.votes``: what it prints, writes and draws, without torch."""

import json
import subprocess
import sys

import numpy as np
import pytest

from hardlabels.score import main as score
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import read
from hardlabels.votes.picture import prepare_picture


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\n" + "\n".join(["a,w1,cat", "a,w2,cat", "a,w3,dog", "b,w1,dog", "b,w2,dog", "b,w3,dog"]))
    return path


def test_it_prints_what_is_in_the_file(votes, capsys):
    main([str(votes)])
    out = " ".join(capsys.readouterr().out.split())
    for part in (
        "read as long (task = column 'task', worker = column 'worker', label = column 'label')",
        "3 / 3 / 3",
        "cat: 33.3%, dog: 66.7%",
        "3, with 2 / 2 / 2 votes",
        "0.3183 nats, 45.9% of ln 2",
        "50.0%",
        "0.3750",  # alpha: 1 - 5 (4/2) / (36 - 20)
        "0.2500",  # kappa: (2/3 - 5/9) / (4/9)
        "K = 1: 100.0%, 2: 77.8%, 3: 66.7%, 5: 56.8%, 10: 50.9%",
        "a simple choice is method=soft: soft, sls and multipass will do, and soft is the simplest. Do not take majority",
        "With few votes (here a median of 3 votes per item) the paper saw hard labels that change ahead",
    ):
        assert part in out


def test_shares_are_said_to_be_means_over_items(tmp_path, capsys):
    """Of 3 votes 1 is cat, but an item with one vote counts as much as one with two."""
    (tmp_path / "votes.csv").write_text("task,worker,label\na,w1,cat\na,w2,dog\nb,w1,dog\n")
    main([str(tmp_path / "votes.csv")])
    [line] = [line for line in capsys.readouterr().out.splitlines() if "cat: 25.0%, dog: 75.0%" in line]
    assert "mean share over items" in line


def test_json_has_the_same_numbers(votes, capsys):
    main([str(votes), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["items"], found["votes"], found["annotators"], found["format"]) == (2, 6, 3, "long")
    assert found["krippendorff_alpha"] == pytest.approx(0.375)
    assert found["fleiss_kappa"] == pytest.approx(0.25)
    assert found["classes"] == pytest.approx({"cat": 1 / 3, "dog": 2 / 3})
    assert found["expected_one_hot"]["2"] == pytest.approx(7 / 9)
    assert found["favours"]["delivery"] == "soft"


def test_what_cannot_be_told_is_null_in_json_and_said_on_the_terminal(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("cat,dog\n0,1\n1,0\n")
    main([str(tmp_path / "one.csv"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["krippendorff_alpha"] is None
    assert found["annotators"] is None
    main([str(tmp_path / "one.csv")])
    out = capsys.readouterr().out
    assert "may be probabilities (--format probs)" in out
    assert "undefined (no two votes on an item" in out


@pytest.mark.parametrize("kind", ["long", "wide", "counts", "probs"])
def test_it_converts(votes, kind, tmp_path, capsys):
    out = tmp_path / f"{kind}.csv"
    main([str(votes), "--to", kind, str(out)])
    assert f"written as {kind}" in capsys.readouterr().out
    again = read(out)
    assert again.format == kind
    assert again.items == ["a", "b"]
    assert again.class_names == ("cat", "dog")
    np.testing.assert_allclose(again.votes.p, [[2 / 3, 1 / 3], [0, 1]])
    expected = {
        "long": "task,worker,label\na,w1,cat\n",
        "wide": "task/worker,w1,w2,w3\na,cat,cat,dog\nb,dog,dog,dog\n",
        "counts": "task/class,cat,dog\na,2,1\nb,0,3\n",
        "probs": "task/class,cat,dog\na,0.6666666666666666,0.3333333333333333\nb,0.0,1.0\n",
    }
    assert out.read_text().startswith(expected[kind])


def test_columns_classes_and_format_can_be_named(tmp_path, capsys):
    (tmp_path / "v.csv").write_text("clip,ear,sound\n1,E,bark\n1,F,howl\n")
    columns = ["--task", "clip", "--worker", "ear", "--label", "sound"]
    main([str(tmp_path / "v.csv"), *columns, "--classes", "meow,howl,bark", "--json"])
    assert list(json.loads(capsys.readouterr().out)["classes"]) == ["meow", "howl", "bark"]


def test_it_draws_a_picture_of_the_numbers_it_prepared(votes, tmp_path, capsys):
    main([str(votes), "--picture", str(tmp_path / "votes.png")])
    assert (tmp_path / "votes.png").read_bytes().startswith(b"\x89PNG")
    numbers = prepare_picture(read(votes))
    edges, heights = numbers["entropy"]
    assert heights.sum() == 2
    assert heights[0] == 1  # the unanimous item
    assert heights[np.searchsorted(edges, 0.918, side="right") - 1] == 1  # H(1/3) / ln 2
    bins, sizes = numbers["sizes"]
    assert sizes[np.searchsorted(bins, 3) - 1] == 2
    assert numbers["classes"] == [("cat", pytest.approx(1 / 3)), ("dog", pytest.approx(2 / 3))]


def test_a_picture_of_probabilities_has_no_votes_to_count(tmp_path):
    (tmp_path / "p.csv").write_text("c$t,d$g\n0.25,0.75\n0.5,0.5\n")
    main([str(tmp_path / "p.csv"), "--picture", str(tmp_path / "p.svg")])
    assert prepare_picture(read(tmp_path / "p.csv"))["sizes"] is None
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_it_needs_neither_torch_nor_pandas_nor_matplotlib(votes, tmp_path):
    code = (
        "import sys; from hardlabels.votes.__main__ import main; main(sys.argv[1:]); "
        "print([name for name in ('torch', 'pandas', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(votes), "--json"], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_it_is_a_command(votes):
    done = subprocess.run([sys.executable, "-m", "hardlabels.votes", str(votes)], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "a simple choice is method=soft" in done.stdout
    done = subprocess.run([sys.executable, "-m", "hardlabels.votes", "no.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no.csv: expected a file")


@pytest.mark.parametrize("kind", ["long", "wide"])
def test_the_scorer_takes_votes_in_these_formats(votes, kind, tmp_path, capsys):
    np.save(tmp_path / "q.npy", np.array([[0.5, 0.5], [0.25, 0.75]]))
    np.save(tmp_path / "counts.npy", np.array([[2, 1], [0, 3]]))
    main([str(votes), "--to", kind, str(tmp_path / "out.csv"), "--json"])
    capsys.readouterr()
    slices = []
    for file in ("counts.npy", "out.csv"):
        score([str(tmp_path / "q.npy"), str(tmp_path / file), "--json", "--resamples", "2"])
        slices.append(json.loads(capsys.readouterr().out)["slices"])
    assert slices[0] == slices[1]
