"""Built-in images that are ambiguous by construction, with the true distribution of each and simulated annotators.

Needs no files, and is a pure function of its arguments. Because the truth is known, a model can be held against it, not only
against the votes.
"""

from numbers import Integral, Real

import numpy as np

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.sources.source import Source
from hardlabels.votes import Votes
from hardlabels.votes.votes_table import MAX_ITEM_VOTES

MAX_BYTES = 1 << 30  # of images: a mistyped number must not fill the memory
CONTRAST = 0.3  # swing of a pure pattern around grey, of the full range: leaves room for the noise before pixels saturate


def patterns(classes: int, size: int) -> np.ndarray:
    r"""One coloured grating a class, in two phases: cos g and sin g of :math:`g_c = 2\pi f_c (x\cos\theta_c + y\sin\theta_c)`.

    Any phase is a combination of the two, :math:`\cos(g + \phi) = \cos\phi \cos g - \sin\phi \sin g`, so that whole data sets of
    images are one matrix product. Classes differ in orientation, frequency and colour. Orientations stay within 0 .. 90 degrees:
    a horizontal flip, which the recipes use, then never turns a class into another.

    Returns:
        (2, classes, size, size, 3) float64 in [-1, 1]: phase, class, row, column, channel.

    >>> patterns(classes=6, size=16).shape
    (2, 6, 16, 16, 3)
    """
    c = np.arange(classes)
    theta = np.pi / 2 * c / (classes - 1)
    # 2, 3 or 4 stripes an image: neighbours in orientation differ in frequency, and 16 pixels still resolve all of them.
    frequency = 2.0 + c % 3
    y, x = np.mgrid[:size, :size] / size
    direction = np.stack([np.cos(theta), np.sin(theta)]) * frequency
    g = 2 * np.pi * np.einsum("dc,dyx->cyx", direction, np.stack([x, y]))
    # How far each channel swings: pale hues around the colour circle, so that colour alone does not give the class away.
    colour = 0.6 + 0.4 * np.cos(2 * np.pi * (c[:, None] / classes - np.arange(3) / 3))
    return np.stack([np.cos(g), np.sin(g)])[..., None] * colour[:, None, None]


def true_distributions(items: int, classes: int, ambiguous: float, rng: np.random.Generator) -> np.ndarray:
    r"""Two candidate classes :math:`a \neq b` an item: :math:`\lambda` on a, :math:`1 - \lambda` on b.

    :math:`\lambda` is uniform over (1/2, 1) for a share ``ambiguous`` of the items, and 1 for the rest. So a is always the
    likeliest class; all classes come equally often as a (to within one item), which keeps small splits stratified.

    Returns:
        (items, classes) float64, rows sum to 1.

    >>> true_distributions(4, 3, ambiguous=0.0, rng=stream(0, "doctest")).sum(0).max()  # certain: one-hot rows, balanced
    np.float64(2.0)
    """
    a = rng.permutation(np.arange(items) % classes)
    b = (a + rng.integers(1, classes, items)) % classes
    doubtful = rng.random(items) < ambiguous
    lam = np.where(doubtful, 1 - rng.random(items) / 2, 1.0)
    truth = np.zeros((items, classes))
    truth[np.arange(items), a] = lam
    truth[np.arange(items), b] = 1 - lam
    return truth


def render(truth: np.ndarray, size: int, noise: float, *, phases: np.random.Generator, pixels: np.random.Generator) -> np.ndarray:
    r"""Images that show each class as far as it is likely: :math:`\tfrac12 + s\sum_c p_{ic}\cos(g_c + \phi_{ic})` plus noise.

    Args:
        truth: (N, C) the share of each class in the image.
        size: pixels a side.
        noise: standard deviation of a pixel's noise, of the full range 0 .. 1.
        phases: draws the phase of each pattern in each image, so that no single pixel tells the class.
        pixels: draws the noise.

    Returns:
        (N, size, size, 3) uint8.
    """
    n, c = truth.shape
    phi = phases.uniform(0, 2 * np.pi, (n, c))
    weights = np.concatenate([truth * np.cos(phi), -truth * np.sin(phi)], axis=1)
    images = pixels.standard_normal((n, 3 * size * size))
    images *= noise
    images += 0.5 + CONTRAST * (weights @ patterns(c, size).reshape(2 * c, -1))
    return np.rint(images.clip(0, 1) * 255).astype(np.uint8).reshape(n, size, size, 3)


def vote(truth: np.ndarray, annotators: int, skill: float, rng: np.random.Generator) -> np.ndarray:
    r"""Counts of ``annotators`` votes per item, each from :math:`\text{skill} \cdot p_i + (1 - \text{skill}) / C`.

    An annotator sees the item as it is with probability ``skill``, and else guesses among all classes.

    >>> vote(np.array([[1.0, 0.0], [0.0, 1.0]]), annotators=7, skill=1.0, rng=stream(0, "doctest")).tolist()
    [[7, 0], [0, 7]]
    """
    return rng.multinomial(annotators, skill * truth + (1 - skill) / truth.shape[1])


def synthetic(
    items: int = 2000,
    classes: int = 6,
    size: int = 16,
    annotators: int = 50,
    skill: float = 0.95,
    ambiguous: float = 0.5,
    noise: float = 0.12,
    seed: int = 0,
    *,
    name: str = "synthetic",
) -> Source:
    """Images of blended gratings, the true distribution of each, and the votes of simulated annotators.

    Items, phases, pixel noise and votes have a stream each: more annotators or less skill leave the images as they are.
    ``truth`` is the distribution of the image. Votes come from a flatter one when ``skill`` is below 1 (see :func:`vote`), and
    that is what a perfect learner of the votes would predict.

    Args:
        items: the number of images N.
        classes: the number of classes C, at least 2.
        size: pixels a side, at least 12: three for the finest stripe and its gap.
        annotators: votes per item.
        skill: in [0, 1]: 1 votes from the truth, 0 guesses.
        ambiguous: in [0, 1]: the share of images that show two classes.
        noise: standard deviation of the pixel noise, of the full range 0 .. 1.
        seed: of the data, not of a run: runs with different seeds train on the same data.
        name: the name of the data set.

    >>> source = synthetic(items=30)
    >>> source.inputs.shape, source.votes, source.truth.shape
    ((30, 16, 16, 3), Votes(30 items, 6 classes, 1500 votes), (30, 6))
    """
    least = {"items": (items, 1), "classes": (classes, 2), "size": (size, 12), "annotators": (annotators, 1)}
    for argument, (number, bound) in least.items():
        if isinstance(number, bool) or not isinstance(number, Integral) or number < bound:
            raise InputError(f"synthetic data: {argument} must be a whole number of at least {bound}, got {number!r}")
    for argument, share in (("skill", skill), ("ambiguous", ambiguous), ("noise", noise)):
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:
            raise InputError(f"synthetic data: {argument} must be a number in 0 .. 1, got {share!r}")
    if max(items * max(3 * size**2, classes), classes * size**2) > MAX_BYTES or annotators > MAX_ITEM_VOTES:
        raise InputError(
            f"synthetic data: expected at most {MAX_BYTES:,} bytes of images, {MAX_ITEM_VOTES:,} annotators; got {items:,} items "
            f"of {size:,} x {size:,} pixels, {classes:,} classes, {annotators:,} annotators"
        )

    truth = true_distributions(items, classes, ambiguous, stream(seed, "synthetic items"))
    phases, pixels = stream(seed, "synthetic phases"), stream(seed, "synthetic pixels")
    inputs = render(truth, size, noise, phases=phases, pixels=pixels)
    return Source(
        name=name,
        inputs=inputs,
        votes=Votes.from_counts(vote(truth, annotators, skill, stream(seed, "synthetic votes")), where="synthetic votes"),
        labels=truth.argmax(1),
        class_names=tuple(f"pattern {c}" for c in range(classes)),
        mean=tuple((inputs.mean((0, 1, 2)) / 255).round(4).tolist()),
        std=tuple((inputs.std((0, 1, 2)) / 255).round(4).tolist()),
        truth=truth,
        crop_padding=size // 8,
        flip=True,
    )
