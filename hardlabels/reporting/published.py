"""The paper's own numbers, to stand beside ours: ``published.yaml``, transcribed number by number."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

PUBLISHED_DATA = "cifar10h"
"""The data set that the published numbers are about; beside other data they would say nothing."""

PUBLISHED_RECIPE = "paper"
"""The recipe that repeats the published training. With the data above it is the paper's own regime."""


@lru_cache(maxsize=1)
def published() -> dict[str, Any]:
    """All of ``published.yaml``: section to content. Pairs are [mean, across-seed SD].

    >>> published()["table2_main"]["soft"][0]
    [0.5096, 0.0233]
    """
    content: Any = OmegaConf.to_container(OmegaConf.load(Path(__file__).with_name("published.yaml")))
    return content


def published_row(section: str, row: str | int, column: int) -> tuple[float | None, float | None]:
    """Mean and SD of one cell of a published table; (None, None) where the paper has no such cell, or no SD.

    >>> published_row("table2_main", "sls", 0), published_row("table9_cifar100_family_auroc", "knn", 3)
    ((0.5052, 0.0263), (0.8019, None))
    >>> published_row("table2_main", "sls,hold=5", 0)
    (None, None)
    """
    values = published()[section].get(row)
    if not isinstance(values, list) or not 0 <= column < len(values):
        return None, None
    value = values[column]
    return (value[0], value[1]) if isinstance(value, list) else (value, None)


def published_metric(section: str, row: str, metric: str) -> tuple[float | None, float | None]:
    """Mean and SD of a metric in a published table; (None, None) where the paper does not have it.

    >>> published_metric("table2_main", "sls", "ent_corr"), published_metric("table2_main", "sls", "ece_votes")
    ((0.3946, 0.0192), (None, None))
    """
    columns = published()[section]["columns"]
    return published_row(section, row, columns.index(metric)) if metric in columns else (None, None)
