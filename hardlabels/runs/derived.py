"""Numbers that ``result.json`` may lack, computed from predictions: ``soft_nll_t``, ``ece_votes``, ``prior``, ``oracle``.

What ``result.json`` says is not computed again. A run that is published without its predictions has these numbers in
``derived.json`` instead. Two things are less than a run itself would say:

- ``prior`` is the class shares of the training votes. Older records do not have them; the shares of the evaluation items stand
  for them, which flatters the prior a little (they are the best constant prediction on exactly these items).
- The slice of the most disputed items is defined by the whole data set. The number of its evaluation items is recorded, and they
  are those of highest entropy, so that the slice is found again without the data.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import entr

from hardlabels.metrics import score
from hardlabels.metrics.baselines import oracle
from hardlabels.metrics.temperature import cross_fitted, fit_temperature
from hardlabels.runs.quantity import REFERENCES, Quantity
from hardlabels.votes import SLICES
from hardlabels.votes.arrays import read_arrays

DERIVED = "derived.json"
"""Beside ``result.json``, in the records of a run that is published without its predictions."""

LOGITS = {"best": "logits", "last": "logits_last"}
DECIMALS = 10  # of an entropy: permuted votes are equally disputed, but their sums differ in the last digit

References = dict[str, dict[str, dict[str, float]]]
"""Prior or oracle to slice to metric to value."""

Number = tuple[str, str, str, float]
"""Slice, checkpoint, name and value; what has no checkpoint stands with ``best``."""


def derived_numbers(result: dict[str, Any], predictions: Path) -> Iterator[Number]:
    """The numbers that ``result.json`` lacks.

    Args:
        result: its content.
        predictions: ``predictions.npz``; where there is none, they are read from ``derived.json`` beside it, if that is there.
    """
    if not predictions.is_file():
        yield from _read(predictions.with_name(DERIVED))
        return
    lacking = [name for name in ("soft_nll_t", "ece_votes") if name not in result["last"].get("full", {})]
    references = [name for name in REFERENCES if name not in result]
    if not (references or lacking):
        return
    saved = read_arrays(predictions)
    p = saved["p"].astype(np.float64)
    slices = evaluation_slices(p, result.get("items", {}))
    for checkpoint, key in LOGITS.items():
        for name in lacking:
            logits = _tempered(saved, key, p) if name == "soft_nll_t" else saved[key]
            metric = "soft_nll" if name == "soft_nll_t" else name
            for part, inside in slices.items():
                yield part, checkpoint, name, score(logits[inside], p[inside], [metric])[metric]
    found = _without_network(p.tobytes(), p.shape, tuple(result.get("items", {}).items())) if references and len(p) else {}
    for name in references:
        for part, metrics in found.get(name, {}).items():
            yield from ((part, "best", Quantity(metric, name).column, value) for metric, value in metrics.items())


def derived_file(result: dict[str, Any], predictions: Path) -> bytes:
    """The content of ``derived.json``: what :func:`derived_numbers` gives, by checkpoint, slice and name.

    Args:
        result: content of ``result.json``.
        predictions: ``predictions.npz``, or where it would be.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part, checkpoint, name, value in derived_numbers(result, predictions):
        found.setdefault(checkpoint, {}).setdefault(part, {})[name] = value
    return (json.dumps(found, indent=1) + "\n").encode()


def _read(file: Path) -> Iterator[Number]:
    saved = json.loads(file.read_text()) if file.is_file() else {}
    for checkpoint, parts in saved.items():
        for part, numbers in parts.items():
            yield from ((part, checkpoint, name, value) for name, value in numbers.items())


@lru_cache(maxsize=32)
def _without_network(content: bytes, shape: tuple[int, ...], items: tuple[tuple[str, int], ...]) -> References:
    """Every metric of the class shares and of the annotators' own distributions; all methods of a seed share them.

    Args:
        content: bytes of p, since an array is no key.
        shape: of p.
        items: slice and the number of its items.
    """
    p = np.frombuffer(content).reshape(shape)
    slices = evaluation_slices(p, dict(items))
    with np.errstate(divide="ignore"):  # a class without votes has probability 0
        shares = np.broadcast_to(np.log(p.mean(0)), p.shape)
    prior = {name: score(shares[inside], p[inside]) for name, inside in slices.items()}
    return {"prior": prior, "oracle": oracle(p, slices)}


def _tempered(saved: dict[str, np.ndarray], key: str, p: np.ndarray) -> np.ndarray:
    """(N, C) logits over the temperature of the selection items, or of the other half where there are none."""
    logits = saved[key].astype(np.float64)
    if f"select_temperature_{key}" in saved:  # compact records keep what comes of the selection items, not these
        return logits / float(saved[f"select_temperature_{key}"])
    if f"select_{key}" in saved:
        return logits / fit_temperature(saved[f"select_{key}"], saved["select_p"])
    return cross_fitted(logits, p, saved["index"])


def evaluation_slices(p: np.ndarray, items: dict[str, int]) -> dict[str, np.ndarray]:
    """Slice to the rows of p in it; those whose recorded number of items does not fit are left out.

    Args:
        p: (N, C) annotator probabilities of the evaluation items.
        items: slice to the number of its items, as ``result.json`` records it.

    >>> p = np.array([[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [1.0, 0.0]])
    >>> {name: rows.tolist() for name, rows in evaluation_slices(p, {"non_unanimous": 2, "high_disagreement": 1}).items()}
    {'full': [0, 1, 2, 3], 'non_unanimous': [1, 2], 'high_disagreement': [2]}
    """
    entropy = entr(p).sum(1).round(DECIMALS)
    disputed = np.flatnonzero(entropy > 0)
    found = {"full": np.arange(len(p)), "non_unanimous": disputed}
    n = items.get("high_disagreement")
    if n is not None and n <= len(disputed):
        most = np.argsort(-entropy, kind="stable")[:n]
        if n in (0, len(p)) or np.partition(-entropy, n)[n] > -entropy[most].min():  # a tie over the edge is no threshold
            found["high_disagreement"] = np.sort(most)
    return {name: found[name] for name in SLICES if name in found and items.get(name, len(found[name])) == len(found[name])}
