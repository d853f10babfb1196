"""Published files, with the numbers that are known of them. They need HARDLABELS_DATA."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from hardlabels.votes.formats import read

DATA = Path(os.environ.get("HARDLABELS_DATA", "/nowhere"))


def need(path):
    if not (DATA / path).is_file():
        pytest.skip(f"HARDLABELS_DATA has no {path}")
    return DATA / path


@pytest.mark.parametrize(("name", "items", "classes"), [("snli", 1514, "enc"), ("mnli_m", 1599, "enc"), ("alphanli", 1532, "12")])
def test_chaosnli_has_a_hundred_votes_an_item_and_its_own_entropy(name, items, classes):
    path = need(f"chaosnli/chaosNLI_{name}.jsonl")
    named = read(path)
    published = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(named.votes) == items
    assert named.class_names == tuple(classes)
    assert set(named.votes.sizes.tolist()) == {100}
    assert named.items == [line["uid"] for line in published]
    np.testing.assert_allclose(named.votes.p, [line["label_dist"] for line in published], atol=1e-12)
    bits = named.votes.entropy / np.log(2)
    np.testing.assert_allclose(bits, [line["entropy"] for line in published], atol=1e-9)


def test_popquorn_is_a_long_table_by_its_own_column_names():
    named = read(need("popquorn/offensiveness/raw_data.csv"))
    assert named.format == "long"
    assert (len(named.votes), len(named.votes.labels), len(named.annotator_names)) == (1500, 13_036, 262)
    assert named.class_names == ("1", "2", "3", "4", "5")
    assert named.votes.counts.sum(0).tolist() == [7516, 2190, 1590, 1039, 701]
    assert named.items == sorted(named.items, key=int)
    assert len(np.unique(named.votes.annotators)) == 262


LEWIDI = {
    "ArMIS": ((657, 141, 145), (3, 3)),
    "ConvAbuse": ((2398, 812, 840), (2, 8)),
    "HS-Brexit": ((784, 168, 168), (6, 6)),
    "MD-Agreement": ((6592, 1104, 3057), (5, 5)),
}


@pytest.mark.parametrize("name", LEWIDI)
def test_lewidi_of_2023_has_its_votes_and_they_are_its_soft_labels(name):
    items, (least, most) = LEWIDI[name]
    for split, n in zip(("train", "dev", "test"), items, strict=True):
        path = need(f"lewidi/2023/{name}/{name}_{split}.json")
        named, published = read(path), json.loads(path.read_text())
        assert len(named.votes) == n
        assert least <= named.votes.sizes.min() <= named.votes.sizes.max() <= most
        scale = ("-3", "-2", "-1", "0", "1") if name == "ConvAbuse" else ("0", "1")
        assert named.class_names == scale
        # ConvAbuse: below zero is abusive, which its soft labels call 1.
        positive = named.votes.p[:, :3].sum(1) if name == "ConvAbuse" else named.votes.p[:, 1]
        np.testing.assert_allclose(positive, [item["soft_label"]["1"] for item in published.values()], atol=0.0051)
        first = next(iter(published.values()))
        who = [named.annotator_names[a] for a in named.votes.take([0]).annotators]
        assert sorted(who) == sorted(first["annotators"].split(","))


@pytest.mark.parametrize(("split", "n", "votes"), [("train", 400, 1600), ("dev", 50, 200), ("test", 50, 200)])
def test_paraphrase_is_a_scale_of_eleven_steps_and_four_annotators(split, n, votes):
    path = need(f"lewidi/2025/Paraphrase/Paraphrase_{split}.json")
    named, published = read(path), json.loads(path.read_text())
    assert (len(named.votes), len(named.votes.labels), len(named.annotator_names)) == (n, votes, 4)
    assert named.class_names == tuple(map(str, range(-5, 6)))
    soft = [[item["soft_label"][name] for name in named.class_names] for item in published.values()]
    np.testing.assert_allclose(named.votes.p, soft, atol=0.0051)


@pytest.mark.parametrize(("split", "n"), [("train", 388), ("dev", 50), ("test", 50)])
def test_varierr_counts_every_label_of_an_annotator(split, n):
    path = need(f"lewidi/2025/VariErrNLI/VariErrNLI_{split}.json")
    named, published = read(path), json.loads(path.read_text())
    assert (len(named.votes), len(named.annotator_names)) == (n, 4)
    assert named.class_names == ("contradiction", "entailment", "neutral")
    for row, item in zip(named.votes.counts.tolist(), published.values(), strict=True):
        given = ",".join(item["annotations"].values()).split(",")
        assert row == [given.count(name) for name in named.class_names]


def test_cifar10s_is_the_mean_of_its_annotators():
    path = need("cifar-10s/cifar10s_t2clamp_redist10.json")
    named, published = read(path), json.loads(path.read_text())
    assert named.votes.p.shape == (1000, 10)
    assert "6,723 distributions, 6 to 11 an item" in named.notes[0]
    means = [[sum(column) / len(column) for column in zip(*rows, strict=True)] for rows in published.values()]
    np.testing.assert_allclose(named.votes.p, means, atol=1e-9)
    counts = need("cifar-10h/cifar10h-counts.npy")  # other people's labels of the same images
    agree = read(counts).votes.majority[np.array(named.items, dtype=int)] == named.votes.majority
    assert agree.mean() > 0.9


def test_cifar10h_is_counts_and_its_probabilities_are_the_same():
    counts, probs = read(need("cifar-10h/cifar10h-counts.npy")), read(need("cifar-10h/cifar10h-probs.npy"))
    assert (counts.format, probs.format) == ("counts", "probs")
    assert (len(counts.votes), len(counts.votes.labels)) == (10_000, 511_000)
    np.testing.assert_allclose(counts.votes.p, probs.votes.p, atol=1e-12)
