"""How large the published differences are, from the paper's own tables: what a study would have to be able to see."""

import itertools
from collections.abc import Iterable
from typing import Any

from hardlabels.reporting.published import published, published_row


def least_gap(section: str, rows: Iterable[str | int], others: Iterable[str | int], column: int) -> float:
    """The smallest difference between two rows of a published table, over all pairs.

    >>> round(least_gap("table2_main", ["sls", "soft"], ["majority", "label_smoothing"], 0), 4)  # 0.6263 - 0.5096
    0.1167
    """
    pairs = itertools.product(rows, others)
    means = ((published_row(section, a, column)[0], published_row(section, b, column)[0]) for a, b in pairs)
    return min(abs(a - b) for a, b in means if a is not None and b is not None)


def least_gap_in_rows(section: str, rows: Iterable[str | int], columns: Iterable[int], others: Iterable[int]) -> float:
    """The smallest difference between two columns of a published table, over these rows and all pairs of columns.

    >>> round(least_gap_in_rows("table8_cifar100_auroc", ["energy"], [0], [1]), 4)  # 0.8185 - 0.8096
    0.0089
    """
    columns, others = list(columns), list(others)
    found = []
    for row in rows:
        for a, b in itertools.product(columns, others):
            one, other = published_row(section, row, a)[0], published_row(section, row, b)[0]
            found += [abs(one - other)] if one is not None and other is not None else []
    return min(found)


def least_sparse_gain(methods: Iterable[str]) -> float:
    """The smallest gain over soft labels in table 1, over these methods and all K.

    >>> round(least_sparse_gain(["sls", "multipass", "deterministic_control"]), 4)  # multipass at K = 5
    0.0211
    """
    table: Any = published()["table1_sparse_soft_nll"]
    soft = table["soft"]["nll"]
    return min(s - m for method in methods for s, m in zip(soft, table[method]["nll"], strict=True))


def figure(name: str) -> Any:
    """The numbers of a published figure."""
    return published()["figures"][name]
