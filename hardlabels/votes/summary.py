"""What a table of votes holds, in numbers: how many votes, how much disagreement, how far from chance."""

import math
from dataclasses import dataclass

import numpy as np

from hardlabels.votes.votes_table import Votes, blocks

ONE_HOT_K = (1, 2, 3, 5, 10)
FEW = 25
"""Votes per item that we call few. In the paper hard labels are ahead at K = 5 to 50 votes drawn (none of it significant), and no
different with all of CIFAR-10H's 51: there is no sharp border, and this one is ours."""


@dataclass(frozen=True)
class Spread:
    """Least, median and most of some numbers."""

    least: float
    median: float
    most: float

    def __str__(self) -> str:
        return f"{self.least:g} / {self.median:g} / {self.most:g}"


@dataclass(frozen=True)
class Summary:
    """Everything about a table that one screen can hold; None for what needs votes (or annotators) that are not known.

    Args:
        items: N.
        classes: C.
        votes: V, the sum of all m_i.
        per_item: of the m_i.
        annotators: how many there are.
        per_annotator: votes of one annotator.
        repeats: items on which some annotator voted more than once.
        entropy: mean of H(p_i) over items, in nats.
        normalised_entropy: the same over ln C, 0 .. 1.
        unanimous: the share of items on which all votes agree.
        alpha: :func:`krippendorff_alpha`.
        kappa: :func:`fleiss_kappa`; None where items have different numbers of votes.
        one_hot: by K, :func:`expected_one_hot`.
        class_shares: (C,) mean of p_i over items.
    """

    items: int
    classes: int
    votes: int | None
    per_item: Spread | None
    annotators: int | None
    per_annotator: Spread | None
    repeats: int | None
    entropy: float
    normalised_entropy: float
    unanimous: float
    alpha: float | None
    kappa: float | None
    one_hot: dict[int, float]
    class_shares: np.ndarray


def squares(votes: Votes) -> np.ndarray:
    r"""(N,) :math:`\sum_c n_{ic}^2`: the ordered pairs of votes on an item, a vote with itself included, that agree.

    >>> squares(Votes.from_counts([[2, 1], [0, 4]])).tolist()
    [5, 16]
    """
    total = np.empty(len(votes), dtype=np.int64)
    for items, first, _, count in votes.runs():
        total[items] = np.add.reduceat(count**2, first)
    return total


def class_counts(votes: Votes) -> np.ndarray:
    """(C,) votes of each class.

    >>> class_counts(Votes.from_counts([[2, 1], [0, 4]])).tolist()
    [2, 5]
    """
    return _bincount(votes.labels, votes.num_classes)


def krippendorff_alpha(votes: Votes) -> float:
    r"""Krippendorff's alpha for nominal labels: 1 is full agreement, 0 that of chance. NaN where chance alone would agree.

    .. math:: \alpha = 1 - (n - 1) \frac{\sum_i \frac{m_i^2 - \sum_c n_{ic}^2}{m_i - 1}}{n^2 - \sum_c n_c^2}

    over the n votes on items with at least two.

    >>> krippendorff_alpha(Votes.from_counts([[2, 0], [0, 2], [1, 1]]))
    0.4444444444444444
    """
    sizes = votes.sizes
    paired = sizes >= 2
    if not paired.all():
        if not paired.any():
            return math.nan
        votes, sizes = votes.take(paired), sizes[paired]
    n = int(sizes.sum())
    observed = float(((sizes.astype(float) ** 2 - squares(votes)) / (sizes - 1)).sum())
    expected = float(n) ** 2 - float((class_counts(votes).astype(float) ** 2).sum())
    return 1 - (n - 1) * observed / expected if expected > 0 else math.nan


def fleiss_kappa(votes: Votes) -> float | None:
    r"""Fleiss' kappa, for items with m votes each; None where m differs or is 1. NaN where chance alone would agree.

    .. math:: \kappa = \frac{\bar P - P_e}{1 - P_e}, \quad
        \bar P = \frac1N \sum_i \frac{\sum_c n_{ic}^2 - m}{m (m - 1)}, \quad P_e = \sum_c (n_c / N m)^2

    >>> round(fleiss_kappa(Votes.from_counts([[2, 0], [0, 2], [1, 1]])), 4)
    0.3333
    """
    sizes = votes.sizes
    m = int(sizes[0])
    if m < 2 or np.any(sizes != m):
        return None
    agreement = float(((squares(votes) - m) / (m * (m - 1))).mean())
    chance = float(((class_counts(votes) / len(votes.labels)) ** 2).sum())
    return (agreement - chance) / (1 - chance) if chance < 1 else math.nan


def expected_one_hot(votes: Votes, k: int) -> float:
    r"""The share of items expected to look unanimous when K votes are drawn from p_i: :math:`\frac1N \sum_i \sum_c p_{ic}^K`.

    >>> expected_one_hot(Votes.from_counts([[1, 1], [2, 0]]), 3)
    0.625
    """
    if not votes.has_votes:
        return float((votes.p**k).sum(1).mean())
    total = 0.0
    for items, first, _, count in votes.runs():
        share = count / np.repeat(votes.sizes[items], np.diff(first, append=len(count)))
        total += float((share**k).sum())
    return total / len(votes)


def class_shares(votes: Votes) -> np.ndarray:
    """(C,) the mean of p_i: every item has the same weight, however many votes it has.

    >>> class_shares(Votes.from_counts([[1, 1], [4, 0]])).tolist()
    [0.75, 0.25]
    """
    if not votes.has_votes:
        return votes.p.mean(0)
    total = np.zeros(votes.num_classes)
    for items, first, label, count in votes.runs():
        share = count / np.repeat(votes.sizes[items], np.diff(first, append=len(count)))
        total += np.bincount(label, share, minlength=votes.num_classes)
    return total / len(votes)


def repeated_items(votes: Votes) -> int:
    """Items on which some annotator voted more than once.

    >>> repeated_items(Votes.from_labels([0, 1, 0], [0, 2, 3], 2, annotators=[7, 7, 7]))
    1
    """
    if votes.annotators is None:
        return 0
    total, offsets = 0, votes.offsets
    for lo, hi in blocks(offsets):
        who = np.unique(votes.annotators[offsets[lo] : offsets[hi]], return_inverse=True)[1].astype(np.int64)
        item = np.repeat(np.arange(hi - lo), np.diff(offsets[lo : hi + 1]))
        pairs = np.sort(item * (who.max() + 1) + who)
        total += len(np.unique(pairs[1:][pairs[1:] == pairs[:-1]] // (who.max() + 1)))
    return total


def summarise(votes: Votes) -> Summary:
    """All of the above, without an N x C matrix where there are votes."""
    known, who = votes.has_votes, votes.annotators
    each = None
    if who is not None:
        each = (
            _bincount(who, int(who.max()) + 1)
            if who.dtype.kind in "iu" and who.min() >= 0
            else np.unique(who, return_counts=True)[1]
        )
        each = each[each > 0]
    entropy = float(votes.entropy.mean())
    return Summary(
        items=len(votes),
        classes=votes.num_classes,
        votes=len(votes.labels) if known else None,
        per_item=_spread(votes.sizes) if known else None,
        annotators=len(each) if each is not None else None,
        per_annotator=_spread(each) if each is not None else None,
        repeats=repeated_items(votes) if who is not None else None,
        entropy=entropy,
        # Entropies are rounded, and ln 2 in ten decimals is a little more than ln 2.
        normalised_entropy=min(entropy / math.log(votes.num_classes), 1.0) if votes.num_classes > 1 else 0.0,
        unanimous=float((votes.entropy == 0).mean()),
        alpha=krippendorff_alpha(votes) if known else None,
        kappa=fleiss_kappa(votes) if known else None,
        one_hot={k: expected_one_hot(votes, k) for k in ONE_HOT_K},
        class_shares=class_shares(votes),
    )


def _spread(values: np.ndarray) -> Spread:
    return Spread(float(values.min()), float(np.median(values)), float(values.max()))


def _bincount(values: np.ndarray, length: int, block: int = 1 << 20) -> np.ndarray:
    """``np.bincount`` by blocks: it would make 8 bytes of every one."""
    total = np.zeros(length, dtype=np.int64)
    for start in range(0, len(values), block):
        total += np.bincount(values[start : start + block], minlength=length)
    return total


FOUND = (
    "This repository found no difference that matters on texts, a lead of the hard labels that is too small to be sure of in a "
    "ResNet, and a clear one only where a network went on training until it had memorised few votes. `hardlabels compare` "
    "measures it on your items."
)
"""What README.md says about hard labels that change (sls, multipass) against soft labels, in short."""
MAJORITY = "Do not take majority: it loses what annotators disagree on."


def advise(summary: Summary) -> tuple[str, str]:
    """The simplest delivery that will do (``any`` where they are all the same), and what is known about the choice.

    >>> advise(summarise(Votes.from_counts([[2, 1], [1, 2]])))[0]
    'soft'
    """
    if summary.unanimous >= 0.99:
        return "any", (
            f"{summary.unanimous:.1%} of the items are unanimous: soft labels, hard labels that change and the majority are then "
            "the same target, so no method can differ by much. With few votes per item, unanimity may only be a lack of votes."
        )
    if summary.votes is None or summary.per_item is None:
        return "soft", (
            "soft, sls and stratified_sls will do, and soft is the simplest: it uses the probabilities themselves. There are no "
            "votes to show one by one, so multipass cannot be used. sls draws labels independently; the labels of stratified_sls "
            f"follow the probabilities as closely as whole numbers allow. {MAJORITY} {FOUND}"
        )
    median = f"a median of {summary.per_item.median:g} votes per item"
    if summary.per_item.median <= FEW:
        paper = (
            f"With few votes (here {median}) the paper saw hard labels that change ahead of soft labels, not significantly "
            "(CIFAR-10H, K = 5 to 50 votes, 5 seeds)."
        )
    else:
        paper = f"With many votes (here {median}) soft, sls and multipass match in the paper (CIFAR-10H, about 51 votes)."
    return "soft", f"soft, sls and multipass will do, and soft is the simplest. {MAJORITY} {paper} {FOUND}"
