"""The votes of a data set: one ragged multiset of labels per item, and what is derived from it."""

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.votes.distances import entropy
from hardlabels.votes.numeric_tables import RowName, finite_matrix, numeric, refuse_rows, row_number, short
from hardlabels.votes.ragged import label_dtype, order_within

MAX_ITEM_VOTES = 10**6  # more is no vote count but something else, such as an id
SUM_OFF = 1e-4  # a sum of probabilities may be off 1 by this much: files round them
MAX_VOTES = 1 << 28  # of a table: a short file of large counts must not fill the memory. Larger ones come as labels
BLOCK_VOTES = 1 << 18  # derived quantities are computed over blocks of items with about this many votes
ENTROPY_DECIMALS = (
    10  # [3, 1, 1] and [1, 3, 1] have one entropy, but their sums differ in the last bit: slices and ranks need ties
)


class Votes:
    """Votes of N items over C classes, as labels and offsets: item i has ``labels[offsets[i]:offsets[i + 1]]``.

    A multiset has no order, so the labels of an item are kept sorted. Build one with :meth:`from_counts`,
    :meth:`from_labels` or, when only distributions are known, :meth:`from_probabilities` (then ``has_votes`` is false and
    methods that need the votes refuse by name). Nothing here loops over items; only ``counts`` and ``p`` form an N x C matrix.

    >>> votes = Votes.from_counts([[2, 1, 0], [0, 0, 4]])
    >>> votes.labels.tolist(), votes.offsets.tolist()
    ([0, 0, 1, 2, 2, 2, 2], [0, 3, 7])
    >>> votes.p.round(3).tolist()
    [[0.667, 0.333, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        labels: np.ndarray | None,
        offsets: np.ndarray | None,
        num_classes: int,
        probabilities: np.ndarray | None,
        annotators: np.ndarray | None = None,
    ):
        """For internal use: trusts its arguments. Use a ``from_`` constructor."""
        self.num_classes = num_classes
        self.annotators = annotators
        """(V,) who gave each vote, aligned with ``labels``; None where that is not known (and after :meth:`subsample`)."""
        self._labels, self._offsets, self._probabilities = labels, offsets, probabilities

    # ---- construction: every check happens here, once ----

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike, *, where: str = "counts", row_name: RowName = row_number) -> "Votes":
        """Votes from an (N, C) matrix of whole, non-negative counts with at least one vote an item.

        Args:
            counts: how many annotators chose each class.
            where: the name that error messages give to this table.
            row_name: the name that they give to its rows.
        """
        table = finite_matrix(counts, where, row_name)
        refuse_rows(table < 0, table, where, "counts of at least 0", row_name)
        refuse_rows(table != np.floor(table), table, where, "whole counts", row_name)
        with np.errstate(over="ignore"):  # infinite then, and refused
            total = table.sum(1)
        refuse_rows((total == 0)[:, None], table, where, "at least one vote an item", row_name)
        limit = f"at most {MAX_ITEM_VOTES:,} votes an item (is a column an id?)"
        refuse_rows((total > MAX_ITEM_VOTES)[:, None], table, where, limit, row_name)
        _refuse_many(float(total.sum()), where)
        n, c = table.shape
        table = table.astype(np.int64)
        labels = np.repeat(np.tile(np.arange(c, dtype=label_dtype(c)), n), table.ravel())
        return cls(labels, np.concatenate([[0], np.cumsum(table.sum(1))]), c, None)

    @classmethod
    def from_labels(
        cls,
        labels: npt.ArrayLike,
        offsets: npt.ArrayLike,
        num_classes: int,
        *,
        annotators: npt.ArrayLike | None = None,
        where: str = "labels",
    ) -> "Votes":
        """Votes from flat labels and offsets (N + 1,): item i voted ``labels[offsets[i]:offsets[i + 1]]``, in any order.

        ``annotators`` (V,) says who gave each vote, by any id.

        >>> Votes.from_labels([2, 0, 1], [0, 2, 3], 3).counts.tolist()
        [[1, 0, 1], [0, 1, 0]]
        """
        flat, given = numeric(labels, 1, where, "a flat list of votes"), numeric(offsets, 1, where, "a flat list of offsets")
        if len(given) < 2 or given[0] != 0 or given[-1] != len(flat) or np.any(given != np.floor(given)):
            raise InputError(f"{where}: offsets must be whole, from 0 to the number of votes, {len(flat)}, got {short(given)}")
        edges = given.astype(np.int64)
        if len(empty := np.flatnonzero(np.diff(edges) < 1)):
            span = f"{edges[empty[0]]} to {edges[empty[0] + 1]}"
            raise InputError(f"{where}: item {empty[0]} has no votes (offsets {span}); at least one an item is needed")
        if len(bad := np.flatnonzero((flat < 0) | (flat >= num_classes) | (flat != np.floor(flat)))):
            vote, item = bad[0], np.searchsorted(edges, bad[0], side="right") - 1
            raise InputError(f"{where}: vote {vote} (item {item}) must be a class 0 .. {num_classes - 1}, got {flat[vote]}")
        who = None if annotators is None else np.asarray(annotators)
        if who is not None and who.shape != flat.shape:
            raise InputError(f"{where}: expected {len(flat)} annotators, one a vote, got shape {who.shape}")
        flat = flat.astype(label_dtype(num_classes))
        if (order := order_within(flat, edges)) is not None:
            flat, who = flat[order], None if who is None else who[order]
        return cls(flat, edges, num_classes, None, who)

    @classmethod
    def from_probabilities(cls, p: npt.ArrayLike, *, where: str = "probabilities", row_name: RowName = row_number) -> "Votes":
        """Distributions without votes behind them, (N, C), rows summing to 1 (within ``SUM_OFF``; then made to).

        >>> Votes.from_probabilities([[0.3, 0.7]]).has_votes
        False
        """
        table = finite_matrix(p, where, row_name)
        refuse_rows(table < 0, table, where, "probabilities of at least 0", row_name)
        total = table.sum(1, keepdims=True)
        refuse_rows(np.abs(total - 1) > SUM_OFF, table, where, "rows that sum to 1", row_name)
        return cls(None, None, table.shape[1], table / total)

    # ---- the table itself ----

    def __len__(self) -> int:
        """The number of items N."""
        return len(self._probabilities) if self._probabilities is not None else len(self.offsets) - 1

    def __repr__(self) -> str:
        kind = f"{len(self.labels)} votes" if self.has_votes else "probabilities"
        return f"Votes({len(self)} items, {self.num_classes} classes, {kind})"

    @property
    def has_votes(self) -> bool:
        """Whether single votes are known, rather than only their distribution."""
        return self._labels is not None

    @property
    def labels(self) -> np.ndarray:
        """(V,) all votes, item after item, sorted within an item."""
        return self._need_votes(self._labels)

    @property
    def offsets(self) -> np.ndarray:
        """(N + 1,) where each item's votes begin and end."""
        return self._need_votes(self._offsets)

    @property
    def sizes(self) -> np.ndarray:
        """(N,) the number of votes m_i of each item."""
        return np.diff(self.offsets)

    # ---- what follows from it ----

    @cached_property
    def counts(self) -> np.ndarray:
        """(N, C) votes per class."""
        items = np.repeat(np.arange(len(self)), self.sizes)
        shape = len(self), self.num_classes
        return np.bincount(items * self.num_classes + self.labels, minlength=math.prod(shape)).reshape(shape)

    @cached_property
    def p(self) -> np.ndarray:
        """(N, C) the share of each class, p_i, in float64."""
        return self._probabilities if self._probabilities is not None else self.counts / self.sizes[:, None]

    @cached_property
    def entropy(self) -> np.ndarray:
        r"""(N,) annotator entropy :math:`H(p_i) = -\sum_c p_{ic} \ln p_{ic}`, in nats; exactly 0 for unanimous items.

        >>> Votes.from_counts([[5, 5], [7, 0]]).entropy.round(4).tolist()
        [0.6931, 0.0]
        """
        if self._probabilities is not None:
            return entropy(self._probabilities).round(ENTROPY_DECIMALS)
        values = np.empty(len(self))
        for items, first, _, count in self.runs():
            share = count / np.repeat(self.sizes[items], np.diff(first, append=len(count)))
            values[items] = np.maximum(-np.add.reduceat(xlogy(share, share), first), 0.0)
        return values.round(ENTROPY_DECIMALS)

    @cached_property
    def majority(self) -> np.ndarray:
        """(N,) the class with most votes; ties go to the lowest class index.

        >>> Votes.from_counts([[1, 3, 3], [2, 0, 0]]).majority.tolist()
        [1, 0]
        """
        if self._probabilities is not None:
            return self._probabilities.argmax(1)
        majority = np.empty(len(self), dtype=np.int64)
        for items, first, label, count in self.runs():
            runs = np.diff(first, append=len(count))
            top = count == np.repeat(np.maximum.reduceat(count, first), runs)
            # Runs of an item are in class order: the first run at the top is the lowest class.
            majority[items] = np.minimum.reduceat(np.where(top, label.astype(np.int64), self.num_classes), first)
        return majority

    # ---- other tables ----

    def take(self, index: npt.ArrayLike) -> "Votes":
        """The table of these items, in this order; an item may come more than once. A boolean mask keeps the items it marks.

        >>> Votes.from_counts([[1, 0], [0, 2], [3, 0]]).take([2, 1]).counts.tolist()
        [[3, 0], [0, 2]]
        """
        wanted = np.asarray(index)
        # By way of arange: offsets has N + 1 entries, so a mask or a negative index would mean something else there.
        items = np.arange(len(self))[wanted if wanted.size else wanted.astype(np.int64)]
        if self._probabilities is not None:
            return Votes(None, None, self.num_classes, self._probabilities[items])
        sizes = self.sizes[items]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        labels, who = np.empty(offsets[-1], dtype=self.labels.dtype), None
        if self.annotators is not None:
            who = np.empty(offsets[-1], dtype=self.annotators.dtype)
        for lo, hi in blocks(offsets):
            here = np.arange(offsets[lo], offsets[hi])
            there = here + np.repeat(self.offsets[items[lo:hi]] - offsets[lo:hi], sizes[lo:hi])
            labels[here] = self.labels[there]
            if who is not None and self.annotators is not None:
                who[here] = self.annotators[there]
        return Votes(labels, offsets, self.num_classes, None, who)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """(N,) one label per item, y_i ~ Categorical(p_i).

        With votes this is one vote picked uniformly, without forming p; with probabilities the inverse of the distribution
        function, scaled by its last value so that rounding can never pick a class of probability 0.
        """
        u = rng.random(len(self))
        if self._probabilities is None:
            return self.labels[self.offsets[:-1] + (u * self.sizes).astype(np.int64)].astype(np.int64)
        cdf = self._cdf
        return (cdf <= (u * cdf[:, -1])[:, None]).sum(1)

    def subsample(self, k: int, seed: int) -> "Votes":
        """K votes per item, counts ~ Multinomial(K, p_i): the sparse-vote sweep. Draws of different K are independent.

        Also turns probabilities into votes.

        >>> thin = Votes.from_counts([[40, 10], [50, 0]]).subsample(5, seed=0)
        >>> thin.counts.sum(1).tolist(), thin.counts[1].tolist()
        ([5, 5], [5, 0])
        """
        if k < 1:
            raise InputError(f"K must be at least 1 vote an item (or null for all votes), got {k}")
        n, rng = len(self), stream(seed, "subsample", k)
        _refuse_many(float(n) * k, f"K={k} for {n} items")
        labels = np.empty((n, k), dtype=label_dtype(self.num_classes))
        for j in range(k):  # K independent draws from p_i are Multinomial(K, p_i)
            labels[:, j] = self.draw(rng)
        labels.sort(axis=1)
        return Votes(labels.ravel(), np.arange(n + 1) * k, self.num_classes, None)

    # ---- machinery ----

    @cached_property
    def _cdf(self) -> np.ndarray:
        return np.cumsum(self.p, axis=1)

    def _need_votes(self, array: np.ndarray | None) -> np.ndarray:
        if array is None:
            raise InputError(
                "these items have probabilities but no votes; K=... (in Python: votes.subsample(K, seed=...)) draws some"
            )
        return array

    def runs(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Blocks of items as runs of equal votes: (items, index of each item's first run, class of a run, its length)."""
        offsets = self.offsets
        for lo, hi in blocks(offsets):
            labels, local = self.labels[offsets[lo] : offsets[hi]], offsets[lo:hi] - offsets[lo]
            starts_run = np.empty(len(labels), dtype=bool)
            np.not_equal(labels[1:], labels[:-1], out=starts_run[1:])
            starts_run[local] = True
            start = np.flatnonzero(starts_run)
            yield slice(lo, hi), np.searchsorted(start, local), labels[start], np.diff(start, append=len(labels))


def blocks(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges lo .. hi of items with about ``BLOCK_VOTES`` votes each: what is computed block by block needs little memory.

    >>> list(blocks(np.array([0, 3, 7])))
    [(0, 2)]
    """
    edges = np.searchsorted(offsets, np.arange(0, offsets[-1], BLOCK_VOTES)).tolist()
    return ((lo, hi) for lo, hi in pairwise([*edges, len(offsets) - 1]) if lo < hi)


def _refuse_many(votes: float, where: str) -> None:
    if votes > MAX_VOTES:
        raise InputError(f"{where}: expected at most {MAX_VOTES:,} votes in all, got {votes:,.0f}")
