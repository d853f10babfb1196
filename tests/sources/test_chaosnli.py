"""ChaosNLI: tiny files in the release's format for the mechanics, the real files for the facts."""

import json
import os

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources import chaosnli as module
from hardlabels.sources.chaosnli import chaosnli

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")


def pair(uid, counter, **example):
    return {
        "uid": uid,
        "label_counter": counter,
        "example": {"uid": uid, "premise": "It rains.", "hypothesis": "I am wet."} | example,
    }


def story(uid, counter):
    told = {"obs1": "It rained.", "hyp1": "I ran.", "hyp2": "I slept.", "obs2": "I am wet."}
    return {"uid": uid, "label_counter": counter, "example": {"uid": uid, **told}}


@pytest.fixture
def write(tmp_path):
    """Write lines (dicts, or texts as they are) as the file of a subset; returns the root."""

    def make(*lines, subset="snli"):
        path = tmp_path / "root" / module.FILES[subset][0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", encoding="utf-8")
        return tmp_path / "root"

    return make


def test_pairs_with_classes_that_nobody_chose(write):
    root = write(pair("a", {"n": 70, "e": 30}), pair("b", {"c": 100}, premise=" Is it dry? ", hypothesis="Très."))
    source = chaosnli(root)
    assert source.name == "chaosnli_snli"
    assert source.class_names == ("entailment", "neutral", "contradiction")
    assert source.votes.counts.tolist() == [[30, 70, 0], [0, 0, 100]]
    assert source.labels.tolist() == [1, 2]
    assert source.inputs.tolist() == [["It rains.", "I am wet."], ["Is it dry?", "Très."]]
    assert source.has_texts


def test_stories_are_told_with_each_hypothesis(write):
    root = write(story("a", {"1": 3, "2": 97}), story("b", {"2": 100}), subset="alphanli")
    source = chaosnli(root, subset="alphanli", name="mine")
    assert source.name == "mine"
    assert source.class_names == ("hypothesis 1", "hypothesis 2")
    assert source.votes.counts.tolist() == [[3, 97], [0, 100]]
    assert source.inputs[0].tolist() == ["It rained. I ran. I am wet.", "It rained. I slept. I am wet."]


GOOD = pair("a", {"e": 1})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([GOOD, "{"], "snli.jsonl, line 2: expected JSON"),
        ([GOOD, pair("a", {"e": 1})], "line 2: expected every uid once, and line 1 has it too"),
        ([GOOD, pair("b", {"1": 1})], "expected one of the classes e, n, c; found '1'"),
        ([GOOD, pair("b", {})], "line 2: expected 'label_counter' with at least one vote"),
        ([GOOD, {"uid": "b", "label_counter": {"e": 1}}], r"line 2 \(b\) has no premise and hypothesis$"),
        (
            [pair("a", {"e": 1}, premise=" "), GOOD | {"uid": "b"}, pair("c", {"e": 1}, hypothesis=5)],
            r"line 1 \(a\) has no premise, line 2 \(b\) has the example of 'a', line 3 \(c\) has no hypothesis",
        ),
    ],
)
def test_refuses_by_line(write, lines, said):
    with pytest.raises(InputError, match=said):
        chaosnli(write(*lines))


def test_refuses_a_subset_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"data\.subset must be one of snli, mnli, alphanli, got 'anli'"):
        chaosnli(tmp_path, subset="anli")


def test_a_download_is_held_to_its_md5_and_a_file_that_is_there_is_said(write, tmp_path, monkeypatch, capsys):
    served = (write(GOOD) / module.FILES["snli"][0]).parent
    with pytest.raises(InputError) as caught:
        chaosnli(tmp_path / "new", url=served.as_uri())
    message = str(caught.value)
    file, md5 = module.FILES["snli"]
    for expected in (
        str(tmp_path / "new" / file),
        md5,
        "served other content",
        "data.root=FOLDER",
        "github.com/easonnie/ChaosNLI",
    ):
        assert expected in message
    assert not (tmp_path / "new").exists()
    first = chaosnli(tmp_path / "root")
    said = capsys.readouterr().out
    assert "is not the release's file" in said
    own = said.split("(md5 ")[1].split()[0]
    monkeypatch.setitem(module.FILES, "snli", (file, own))
    assert chaosnli(tmp_path / "new", url=served.as_uri()).fingerprint == first.fingerprint
    assert "release" not in capsys.readouterr().out


@real_data
@pytest.mark.parametrize(("subset", "items", "classes"), [("snli", 1514, 3), ("mnli", 1599, 3), ("alphanli", 1532, 2)])
def test_the_real_data_is_what_the_release_says(subset, items, classes, capsys):
    source = chaosnli(subset=subset, url="")  # no address: everything has to be under HARDLABELS_DATA
    assert "release" not in capsys.readouterr().out
    assert source.inputs.shape == (items, 2)
    assert source.votes.counts.shape == (items, classes)
    assert np.all(source.votes.sizes == 100)
    assert chaosnli(subset=subset, url="").fingerprint == source.fingerprint


@real_data
def test_known_items():
    snli, alphanli = chaosnli(url=""), chaosnli(subset="alphanli", url="")
    assert snli.inputs[0, 1] == "Two kids at a ballgame wash their hands."
    assert snli.inputs[0, 0].startswith("Two young children in blue jerseys, one with the number 9")
    assert snli.votes.counts[0].tolist() == [30, 70, 0]
    assert alphanli.inputs[1].tolist() == [
        "Sandy lived in New York. It stormed in New York. Sandy was prepared.",
        "Sandy lived in New York. She partied all night. Sandy was prepared.",
    ]
    assert alphanli.votes.counts[1].tolist() == [98, 2]
