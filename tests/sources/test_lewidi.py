"""LeWiDi 2023: tiny files in the release's format for the mechanics, the real files for the facts."""

import json
import os

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.lewidi import SPLITS, lewidi

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")


def item(text, annotations, annotators, **fields):
    return {"text": text, "annotations": annotations, "annotators": annotators, "soft_label": {"0": 1.0, "1": 0.0}} | fields


def talk(user, **turns):
    return json.dumps({"prev_agent": "Hello.", "prev_user": "hi", "agent": "How are you?", "user": user} | turns)


GOOD = {
    "train": {"1": item("one", "0,1", "Ann2,Ann1"), "2": item("two", "0", "Ann1")},
    "dev": {"1": item("three", "1,1", "Ann3,Ann1")},
    "test": {"1": item("four", "1", "Ann2")},
}


@pytest.fixture
def write(tmp_path):
    """Write the three files of a set; returns the root."""

    def make(documents, title="HS-Brexit"):
        for split, document in documents.items():
            path = tmp_path / "lewidi" / "2023" / title / f"{title}_{split}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return tmp_path

    return make


def test_three_files_are_joined_and_annotators_known_by_name(write):
    source = lewidi(write(GOOD), subset="hs_brexit")
    assert source.name == "lewidi_hs_brexit"
    assert source.inputs.tolist() == [["one"], ["two"], ["three"], ["four"]]
    assert source.class_names == ("0", "1")
    assert source.votes.counts.tolist() == [[1, 1], [1, 0], [0, 2], [0, 1]]
    ann2, ann1, ann3 = 0, 1, 2  # in the order in which they come
    assert source.votes.annotators.tolist() == [ann2, ann1, ann1, ann3, ann1, ann2]
    assert source.labels.tolist() == [0, 0, 1, 1]


def test_conversations_are_joined_and_votes_are_on_their_scale(write):
    documents = {split: {"1": item(talk(split), "-3,1,1", "Ann1,Ann2,Ann3")} for split in SPLITS}
    source = lewidi(write(documents, "ConvAbuse"), subset="ConvAbuse")
    assert source.class_names == ("-3", "-2", "-1", "0", "1")
    assert source.votes.counts.tolist() == [[1, 0, 0, 0, 2]] * 3
    assert source.inputs[1, 0] == "Agent: Hello.\nUser: hi\nAgent: How are you?\nUser: dev"


@pytest.mark.parametrize(
    ("dev", "said"),
    [
        ('{"1": ', "HS-Brexit_dev.json: expected JSON; line 1"),
        ('{"1": {}, "1": {}}', "HS-Brexit_dev.json: expected every key once; '1' comes twice"),
        ({"7": item("x", "0,1", "Ann1")}, "dev.json, item '7': expected a vote an annotator; found 2 votes of 1 annotators"),
        ({"7": item("x", "2", "Ann1")}, "dev.json: expected one of the classes 0, 1; found '2'"),
        ({"7": item("x", "", "")}, "dev.json, item '7': expected 'annotations'"),
        (
            {"7": item(" ", "0", "Ann1"), "8": item(None, "0", "Ann1"), "9": item("x", "0", "Ann1", split="test")},
            "dev.json: expected a 'text' on every item, and the split dev; "
            "item '7' has no text, item '8' has no text, item '9' is of split 'test'",
        ),
    ],
)
def test_refuses_by_item(write, dev, said):
    with pytest.raises(InputError, match=said):
        lewidi(write(GOOD | {"dev": dev}), subset="hs_brexit")


@pytest.mark.parametrize("text", ["hi", "[1]", talk(""), talk("hi", agent=None)])
def test_refuses_what_is_no_conversation(write, text):
    documents = {split: {"1": item(text, "1", "Ann1")} for split in SPLITS}
    with pytest.raises(InputError, match=r"train.json: expected a 'text', JSON of the turns prev_agent, .*; item '1' has "):
        lewidi(write(documents, "ConvAbuse"), subset="convabuse")


def test_not_found_says_where_to_get_it(write):
    root = write({"train": GOOD["train"]})
    with pytest.raises(InputError) as caught:
        lewidi(root, subset="hs_brexit")
    message = str(caught.value)
    for expected in (
        "HS-Brexit_dev.json",
        "HS-Brexit_test.json",
        "no address",
        "data.root=FOLDER",
        "data_post-competition.zip of https",
    ):
        assert expected in message
    assert "HS-Brexit_train.json" not in message
    with pytest.raises(
        InputError, match=r"data\.subset must be one of armis, .*, md_agreement, paraphrase, varierrnli, got 'csc'"
    ):
        lewidi(root, subset="csc")


@real_data
@pytest.mark.parametrize(
    ("subset", "items", "fewest", "most", "total"),
    [
        ("ArMIS", 657 + 141 + 145, 3, 3, [1666, 1163]),
        ("ConvAbuse", 2398 + 812 + 840, 2, 8, [275, 886, 784, 647, 9576]),
        ("HS-Brexit", 784 + 168 + 168, 6, 6, [5851, 869]),
        ("MD-Agreement", 6592 + 1104 + 3057, 5, 5, [35427, 18338]),
    ],
)
def test_the_real_data_is_what_the_task_says(subset, items, fewest, most, total, capsys):
    source = lewidi(subset=subset)
    assert "release" not in capsys.readouterr().out
    assert source.inputs.shape == (items, 1)
    assert (source.votes.sizes.min(), source.votes.sizes.max()) == (fewest, most)
    assert source.votes.counts.sum(0).tolist() == total
    assert len(set(source.inputs[:, 0])) == items  # no text is in two splits
    assert lewidi(subset=subset).fingerprint == source.fingerprint


@real_data
def test_known_items():
    talks, tweets = lewidi(subset="convabuse"), lewidi(subset="md_agreement")
    expected = "Agent: Please go on.\nUser: well, i have a eatproblem\nAgent: Can you elaborate on that?\nUser: yes"
    assert talks.inputs[0, 0] == expected
    assert talks.votes.counts[0].tolist() == [0, 0, 0, 0, 3]
    assert tweets.inputs[0, 0] == "<user> <user> No way Jose!!"
    assert len(np.unique(tweets.votes.annotators)) == 819


PAIR = {"annotation task": "natural language inference", "text": {"context": "It rains.", "statement": "It is wet."}}


def test_pairs_of_2025_and_the_official_parts(write, tmp_path):
    documents = {
        split: {str(i): PAIR | {"annotators": "Ann1,Ann1", "annotations": {"Ann1": "neutral,entailment"}} for i in range(n)}
        for n, split in enumerate(SPLITS, start=1)
    }
    (write(documents, "VariErrNLI") / "lewidi" / "2023").rename(tmp_path / "lewidi" / "2025")
    source = lewidi(tmp_path, subset="VariErrNLI")
    assert source.inputs.tolist() == [["It rains.", "It is wet."]] * 6
    assert source.class_names == ("contradiction", "entailment", "neutral")
    assert source.votes.counts.tolist() == [[0, 1, 1]] * 6
    assert source.parts is None, "the split follows from the seed, unless the official one is asked for"
    assert lewidi(tmp_path, subset="VariErrNLI", split="official").parts.tolist() == [0, 1, 1, 2, 2, 2]
    assert not source.ordered
    broken = documents | {"dev": {"0": documents["dev"]["0"] | {"text": {"context": "It rains."}}}}
    (tmp_path / "lewidi" / "2025" / "VariErrNLI" / "VariErrNLI_dev.json").write_text(json.dumps(broken["dev"]))
    with pytest.raises(InputError, match=r"VariErrNLI_dev\.json: expected a 'text' with context and statement on every item"):
        lewidi(tmp_path, subset="varierrnli")


@real_data
@pytest.mark.parametrize(("subset", "parts", "votes"), [("paraphrase", (400, 50, 50), 2000), ("varierrnli", (388, 50, 50), 1891)])
def test_the_files_of_2025(subset, parts, votes):
    source = lewidi(subset=subset, split="official")
    assert tuple(np.bincount(source.parts)) == parts
    assert source.inputs.shape == (sum(parts), 2)
    assert source.votes.sizes.sum() == votes
    assert source.ordered == (subset == "paraphrase")
