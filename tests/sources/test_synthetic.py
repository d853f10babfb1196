"""Synthetic data: deterministic, its votes follow the stated law, its images carry the stated truth."""

import numpy as np
import pytest
from scipy.stats import chisquare

from hardlabels.errors import InputError
from hardlabels.sources.synthetic import patterns, synthetic


def test_same_arguments_same_data_and_another_seed_other_data():
    assert synthetic(items=50, seed=3).fingerprint == synthetic(items=50, seed=3).fingerprint
    one, other = synthetic(items=50, seed=3), synthetic(items=50, seed=4)
    assert not np.array_equal(one.inputs, other.inputs)
    assert not np.array_equal(one.truth, other.truth)
    assert not np.array_equal(one.votes.counts, other.votes.counts)


def test_annotators_and_skill_leave_images_and_truth_alone():
    many, few = synthetic(items=50), synthetic(items=50, annotators=5, skill=0.3)
    assert np.array_equal(many.inputs, few.inputs)
    assert np.array_equal(many.truth, few.truth)
    assert np.all(few.votes.sizes == 5)


@pytest.mark.parametrize("size", [12, 16, 32])
@pytest.mark.parametrize("classes", [2, 6, 11])
def test_shapes_and_statistics(size, classes):
    source = synthetic(items=200, classes=classes, size=size)
    assert source.inputs.shape == (200, size, size, 3)
    assert source.inputs.dtype == np.uint8
    assert source.labels.dtype == np.int64
    assert len(source.class_names) == classes
    np.testing.assert_allclose(source.inputs.mean((0, 1, 2)) / 255, source.mean, atol=1e-4)
    np.testing.assert_allclose(source.inputs.std((0, 1, 2)) / 255, source.std, atol=1e-4)


def test_truth_is_two_candidates_with_the_label_ahead():
    source = synthetic(items=3000, ambiguous=0.4)
    np.testing.assert_allclose(source.truth.sum(1), 1, atol=1e-12)
    assert np.array_equal(source.labels, source.truth.argmax(1))
    certain = source.truth.max(1) == 1
    assert abs(certain.mean() - 0.6) < 4 * np.sqrt(0.4 * 0.6 / 3000)
    assert np.all((source.truth[~certain] > 0).sum(1) == 2)
    assert source.truth.max(1).min() > 0.5
    assert np.ptp(np.bincount(source.labels)) <= 1  # balanced


def test_ambiguous_is_a_share_from_none_to_all():
    assert np.all(synthetic(items=100, ambiguous=0.0).truth.max(1) == 1)
    assert np.all(synthetic(items=100, ambiguous=1.0).truth.max(1) < 1)


@pytest.mark.parametrize("skill", [0.0, 0.7, 0.95])
def test_votes_follow_the_annotators_law(skill):
    """Chi-square per item over 400 votes; under the law the p values are uniform, so few are small."""
    source = synthetic(items=500, annotators=400, skill=skill)
    law = skill * source.truth + (1 - skill) / source.votes.num_classes
    pvalues = chisquare(source.votes.counts, law * 400, axis=1).pvalue
    assert 0.4 < pvalues.mean() < 0.6
    assert (pvalues < 0.01).mean() < 0.04
    # One table for all items: a law with the wrong skill, or the wrong class, is far out.
    assert chisquare(source.votes.counts.sum(0), law.sum(0) * 400).pvalue > 1e-3


def test_perfect_annotators_only_name_what_is_there():
    source = synthetic(items=300, skill=1.0)
    assert np.all(source.votes.counts[source.truth == 0] == 0)


def energies(source) -> np.ndarray:
    """(N, C) how much of each class's pattern is in an image, whatever its phase: the matched filter."""
    images = source.inputs.reshape(len(source), -1) / 255 - 0.5
    waves = patterns(source.votes.num_classes, source.inputs.shape[1]).reshape(2, source.votes.num_classes, -1)
    waves = waves / np.linalg.norm(waves, axis=-1, keepdims=True)
    return np.hypot(*(images @ phase.T for phase in waves))


@pytest.mark.parametrize("size", [16, 32])
def test_images_show_the_truth(size):
    source = synthetic(items=1000, size=size)
    found = energies(source)
    certain = source.truth.max(1) == 1
    assert np.mean(found.argmax(1)[certain] == source.labels[certain]) > 0.99
    # Where two classes are blended, the stronger one is mostly seen as such, and the weaker one is seen too.
    doubtful = ~certain
    assert 0.85 < np.mean(found.argmax(1)[doubtful] == source.labels[doubtful]) < 1.0
    assert np.corrcoef(found[doubtful].ravel(), source.truth[doubtful].ravel())[0, 1] > 0.9


def test_no_fixed_pixel_tells_the_class():
    """Phases are random, so class means are grey: a linear model on pixels fails where a convolution succeeds."""
    source = synthetic(items=3000)
    means = np.stack([source.inputs[source.labels == c].mean(0) for c in range(6)])
    assert np.abs(means - 127.5).max() < 20


def test_a_horizontal_flip_keeps_the_class():
    """The recipes flip images: a flipped class must not look like another one."""
    source = synthetic(items=600, ambiguous=0.0, noise=0.0)
    images = source.inputs[:, :, ::-1].reshape(600, -1) / 255.0 - 0.5
    both = np.stack([patterns(6, 16), patterns(6, 16)[..., ::-1, :]])
    flat = both.reshape(2, 2, 6, -1) / np.linalg.norm(both.reshape(2, 2, 6, -1), axis=-1, keepdims=True)
    found = np.hypot(*(np.einsum("nd,mcd->nmc", images, flat[:, phase]) for phase in (0, 1))).max(1)
    assert np.array_equal(found.argmax(1), source.labels)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("items", 0),
        ("items", 10.5),
        ("classes", 1),
        ("size", 4),
        ("annotators", 0),
        ("skill", 1.1),
        ("skill", float("nan")),
        ("ambiguous", -0.1),
        ("noise", -1.0),
    ],
)
def test_refuses_nonsense_by_name(argument, value):
    with pytest.raises(InputError, match=f"synthetic data: {argument} must be .*, got {value}"):
        synthetic(**{argument: value})


def test_refuses_a_negative_seed():
    with pytest.raises(InputError, match="seed"):
        synthetic(items=5, seed=-1)
