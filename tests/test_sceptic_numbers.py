"""The primary outcomes of every committed report once more by other code, and the checks that a sceptical reader asks for."""

import csv

import numpy as np
import pytest

from tests import change_numbers, image_numbers, pair_numbers, quarter_numbers
from tests.sceptic_numbers import correlation_by_shared_images, interval_over_seeds_and_images, outcomes

QUARTER, IMAGES, PAIR = quarter_numbers.STUDY, image_numbers.STUDY, pair_numbers.STUDY
CHANGE = change_numbers.STUDY
PUBLISHED = [
    (QUARTER, "quarter", "looks/first", range(10, 20)),
    (QUARTER, "quarter", "report", range(10, 22)),
    (IMAGES, "image_head_early", "report/cifar10h_image_head_early", range(20)),
    (IMAGES, "image_head_long", "report/cifar10h_image_head_long", range(20)),
    (IMAGES, "image_head_early", "looks/unseen/cifar10h_image_head_early", range(10, 20)),
    (IMAGES, "image_head_long", "looks/unseen/cifar10h_image_head_long", range(10, 20)),
    (PAIR, "image_pair_early", "report/cifar10h_image_pair_early", range(20, 40)),
    (PAIR, "image_pair_long", "report/cifar10h_image_pair_long", range(20, 40)),
    (CHANGE, "image_pair_long", "report", range(40, 60)),
]
NAMES = ("quantity", "claim", "K", "method", "checkpoint")
NUMBERS = ("difference", "low", "high", "margin", "p", "p_corrected")


@pytest.mark.parametrize(
    ("study", "recipe", "folder", "seeds"), PUBLISHED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_published_outcomes_are_those_of_scipy(study, recipe, folder, seeds):
    rows = list(csv.DictReader((study.folder / folder / "primary.csv").read_text().splitlines()))
    found = outcomes(study, recipe, seeds)
    assert [tuple(row[name] for name in NAMES) for row in rows] == [one.key for one in found]
    for row, one in zip(rows, found, strict=True):
        assert [float(row[name]) for name in NUMBERS] == pytest.approx([getattr(one, name) for name in NUMBERS], rel=1e-6)
        assert (row["status"], row["of_no_matter"]) == (one.status, str(one.of_no_matter)), one.key


def simulated(rng, *, image: float, seeds: int = 10, images: int = 400, evaluated: int = 80) -> np.ndarray:
    """Differences by seed and image, of which a part (an SD) is that of the image, whoever is scored on it; noise has SD 1."""
    losses = image * rng.standard_normal(images) + rng.standard_normal((seeds, images))
    for row in losses:
        row[rng.permutation(images)[evaluated:]] = np.nan
    return losses


@pytest.mark.parametrize("image", [0.0, 1.0, 3.0])
def test_the_correlation_is_that_of_the_images_that_two_seeds_share(image):
    """Two sets of 80 of 400 images share a fifth, so that the correlation is a fifth of the image's part of the variance."""
    rng = np.random.default_rng(1)
    found = [correlation_by_shared_images(simulated(rng, image=image, seeds=60)) for _ in range(100)]
    assert np.mean(found) == pytest.approx(0.2 * image**2 / (1 + image**2), abs=0.01)


def test_seeds_that_differ_as_a_whole_share_no_images():
    """A difference of a whole seed is no part of what two seeds share."""
    rng = np.random.default_rng(2)
    found = [correlation_by_shared_images(simulated(rng, image=1.0) + rng.standard_normal((10, 1))) for _ in range(300)]
    assert 0 < np.mean(found) < 0.01


def test_the_interval_over_seeds_and_images_covers_no_less_than_it_says():
    rng = np.random.default_rng(3)
    ends = [interval_over_seeds_and_images(simulated(rng, image=1.0, images=200, evaluated=40), draws=200) for _ in range(200)]
    assert np.mean([low < 0 < high for low, high in ends]) > 0.93
