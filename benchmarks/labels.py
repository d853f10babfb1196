"""The labels of an epoch, as the data grow."""

import tracemalloc
from collections.abc import Callable

import numpy as np

from benchmarks.ratio import Row, seconds
from hardlabels.delivery import Delivery
from hardlabels.delivery.majority import Majority
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.randomness import stream
from hardlabels.votes import Votes


def ragged_votes(items: int, classes: int) -> Votes:
    """5 to 15 votes per item, 10 on average, most of them for one class."""
    rng = stream(0, "benchmark votes")
    sizes = rng.integers(5, 16, items)
    labels = np.repeat(rng.integers(0, classes, items), sizes)
    stray = rng.random(len(labels)) < 0.3
    labels[stray] = rng.integers(0, classes, stray.sum())
    return Votes.from_labels(labels, np.concatenate([[0], np.cumsum(sizes)]), classes)


def _fresh(votes: Votes) -> Votes:
    """The same votes without anything cached."""
    return Votes.from_labels(votes.labels, votes.offsets, votes.num_classes)


def _median_seconds(work: Callable[[], object], repeats: int) -> float:
    return float(np.median([seconds(work) for _ in range(repeats)]))


def growth(method: type[Delivery], name: str) -> Row:
    """The exponent b of time = a N^b over N = 10^4, 10^5, 10^6, set-up and ten epochs together."""
    sizes = [10**4, 10**5, 10**6]
    tables = [ragged_votes(n, 10) for n in sizes]

    def ten_epochs(votes: Votes) -> None:
        delivery = method(votes, 0)
        for epoch in range(10):
            delivery(epoch)

    exponents = []
    for _ in range(3):
        times = [_median_seconds(lambda votes=votes: ten_epochs(votes), 3) for votes in tables]
        exponents.append(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]))
    return Row(f"growth exponent of {name} labels, N = 10^4 to 10^6", exponents, 1.05, at_most=True)


def against_a_loop(method: type[Delivery], name: str, items: int = 2000) -> Row:
    """A loop of ``numpy.random.choice``, one call an item, against ours; both per item, ours at N = 10^6."""
    votes, small = ragged_votes(10**6, 10), ragged_votes(items, 10)
    delivery, p = method(votes, 0), small.p

    def loop() -> None:
        for row in p:
            np.random.choice(10, p=row)

    ratios = [(seconds(loop) / items) / (seconds(lambda: delivery(0)) / 10**6) for _ in range(5)]
    return Row(f"numpy.random.choice per item / {name} labels", ratios, 200, at_most=False)


def imagenet_scale() -> list[Row]:
    """Labels at the size of ImageNet, 1,280,000 items with 1,000 classes: never an N x C matrix, which would be 10 GB."""
    votes = ragged_votes(1_280_000, 1000)
    size = votes.labels.nbytes + votes.offsets.nbytes
    rows = []
    for method, name in ((SLS, "SLS"), (Multipass, "multipass"), (Majority, "majority")):
        ratios = []
        for _ in range(3):
            delivery = method(_fresh(votes), 0)
            ratios.append(seconds(lambda d=delivery: d(0)) / seconds(lambda: votes.labels.sum(dtype=np.int64)))
        rows.append(Row(f"{name} epoch at 1.28 M x 1,000 / one pass over the votes", ratios, 100, at_most=True))
        table = _fresh(votes)
        tracemalloc.start()
        method(table, 0)(0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(Row(f"{name} at 1.28 M x 1,000, peak memory / the votes' bytes", [peak / size], 4, at_most=True))
    return rows
