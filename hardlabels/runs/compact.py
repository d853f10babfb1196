"""Records in fewer bytes: what is drawn has fewer digits, logits are rounded, and of example pictures one set is kept."""

import csv
import io
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from hardlabels.metrics.collection import EVERY_METRIC
from hardlabels.metrics.temperature import fit_temperature
from hardlabels.runs.quantity import VIEWS, history_column
from hardlabels.runs.spelling import read_pair_array

DIGITS = 5
"""Significant digits of ``history.csv`` in compact records and archives.

Its curves are drawn, and read at the epochs that other seeds choose; scores and tests are those of ``result.json``."""

UNDRAWN = frozenset(
    history_column(part, metric, view)
    for part, view, metric in product(("select", "evaluate"), VIEWS, EVERY_METRIC)
    if metric != "soft_nll"
)
"""Columns of ``history.csv`` that no report draws: the metrics beside soft NLL."""

STEP = 1 / 128
"""Compact records have logits in steps of this size."""


def rounded(table: str, digits: int, wanted: Callable[[Sequence[str]], Collection[str]] = list) -> str:
    r"""A table of numbers with so many significant digits, and of its columns those that are wanted.

    >>> rounded("epoch,loss\n0,0.12345678\n10,\n", 4)
    'epoch,loss\n0,0.1235\n10,\n'
    """
    header, *rows = csv.reader(io.StringIO(table))
    names = wanted(header)
    kept = [at for at, name in enumerate(header) if name in names]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([header[at] for at in kept])
    writer.writerows([f"{float(row[at]):.{digits}g}" if row[at] else "" for at in kept] for row in rows)
    return out.getvalue()


def reported(columns: Sequence[str]) -> list[str]:
    """The columns of ``history.csv`` that a report reads.

    Of the metrics of the evaluation and the selection items it draws soft NLL. Where the epoch was selected on the evaluation
    items, it reads the others too, to say what they are at epochs that other seeds' curves choose
    (:mod:`hardlabels.reporting.selection`).

    >>> reported(["epoch", "train/loss", "select/soft_nll", "evaluate/soft_nll", "evaluate/hard_acc"])
    ['epoch', 'train/loss', 'select/soft_nll', 'evaluate/soft_nll']
    >>> reported(["epoch", "evaluate/soft_nll", "evaluate/hard_acc"])
    ['epoch', 'evaluate/soft_nll', 'evaluate/hard_acc']
    """
    if history_column("select", "soft_nll") not in columns:
        return list(columns)
    return [column for column in columns if column not in UNDRAWN]


def compact_predictions(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a report reads of ``predictions.npz``, in a third of the bytes.

    Adding a number to all logits of an item changes no probability, so the last class has logit 0. The others are rounded to
    multiples of ``STEP`` and kept as float16, which holds these exactly up to 16. Soft NLL and all smooth scores keep their
    first four decimals; what counts items (accuracy, bins) may change by an item or two whose largest logits nearly tie
    (``tests/test_publish.py``). The scores in ``result.json`` are those of the exact logits. Logits that float16 cannot hold
    stay as they are. Of the selection items only the temperature that was fitted on them stays, one per checkpoint.

    >>> arrays = {"logits": np.array([[2.0, 1.0001, 1.0]]), "p": np.array([[0.5, 0.5, 0.0]])}
    >>> compact_predictions(arrays)["logits"].tolist()
    [[1.0, 0.0, 0.0]]
    """
    kept: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.startswith("select_logits"):
            checkpoint = name.removeprefix("select_")
            kept[f"select_temperature_{checkpoint}"] = np.array(fit_temperature(array, arrays["select_p"]))
        elif name.startswith("logits") and np.abs(array).max(initial=0) <= np.finfo(np.float16).max / 2:
            relative = array.astype(np.float64) - array[:, -1:].astype(np.float64)
            kept[name] = (np.round(relative / STEP) * STEP + 0.0).astype(np.float16)  # no minus before a 0
        elif name not in ("select_p", "select_index"):
            kept[name] = array
    return kept


def with_short_lists(content: bytes) -> bytes:
    """A probe's JSON with numbers inside of lists to ``DIGITS`` significant digits: lists are drawn. Single numbers stay exact.

    >>> with_short_lists(b'{"spearman": 0.123456789, "bins": {"distance": [0.123456789, null, 7]}}')
    b'{"spearman":0.123456789,"bins":{"distance":[0.12346,null,7]}}'
    """

    def short(value: Any, listed: bool) -> Any:
        if isinstance(value, dict):
            return {name: short(entry, listed) for name, entry in value.items()}
        if isinstance(value, list):
            return [short(entry, not isinstance(entry, dict)) for entry in value]  # a list of objects is one of pairs of runs
        return float(f"{value:.{DIGITS}g}") if listed and isinstance(value, float) else value

    return json.dumps(short(json.loads(content), False), separators=(",", ":")).encode()


def compact_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a probe saved beside its numbers, as float16: these arrays are drawn, never computed with or printed.

    Arrays that float16 cannot hold to three digits stay as they are.

    >>> {name: array.dtype.name for name, array in compact_arrays({"a": np.array([0.5, 2.0]), "b": np.array([1e9])}).items()}
    {'a': 'float16', 'b': 'float64'}
    """

    def fits(array: np.ndarray) -> bool:
        with np.errstate(over="ignore", under="ignore"):
            return array.dtype.kind == "f" and np.allclose(array.astype(np.float16), array, rtol=1e-3, atol=1e-6, equal_nan=True)

    return {name: array.astype(np.float16) if fits(array) else array for name, array in arrays.items()}


def example_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the first pair of seeds of every two cells that differ from it in their seeds only, as float16.

    A picture shows one pair of seeds, and each has copies of the images that it shows.

    >>> first, second = (f"d/r/sls/K=5/seed=0|d/r/sls/K=5/seed={seed}|map" for seed in (1, 2))
    >>> list(example_arrays({second: np.ones(2), first: np.ones(2)})) == [first]
    True
    """
    first: dict[tuple[PurePosixPath, PurePosixPath], tuple[str, str]] = {}
    kept = {}
    for text in sorted(arrays):
        a, b, _ = read_pair_array(text)
        if first.setdefault((PurePosixPath(a).parent, PurePosixPath(b).parent), (a, b)) == (a, b):
            kept[text] = arrays[text]
    return compact_arrays(kept)
