"""The numbers of one run: scores, what only its predictions give, and what probes measured."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hardlabels.runs.derived import derived_numbers
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.quantity import REFERENCES, Quantity, read_probed
from hardlabels.runs.training.divergence import DivergenceError, why_failed

Row = tuple[str, str, str, float | None]  # slice, checkpoint, name, value


def run_rows(directory: RunDirectory) -> Iterator[Row]:
    """The numbers of one run: those of ``result.json``, those that only its predictions give, then those of its probes.

    Raises:
        DivergenceError: when the run diverged.
        OSError, ValueError, KeyError, TypeError, AttributeError: when a file is not what it should be.
    """
    result = json.loads(directory.result.read_text())
    if (failure := why_failed(result)) is not None:
        raise DivergenceError(failure)
    scores: list[Row] = []
    for checkpoint in ("best", "last"):
        yield "full", checkpoint, "epoch", result[checkpoint]["epoch"]
        for view, metrics in result[checkpoint].items():
            if view != "epoch":
                scores += [(view, checkpoint, name, value) for name, value in metrics.items()]
    for reference in REFERENCES:
        for view, metrics in result.get(reference, {}).items():
            yield from ((view, "best", Quantity(name, reference).column, value) for name, value in metrics.items())
    scores += derived_numbers(result, directory.predictions)
    yield from (*scores, *_tempered_kl(scores))
    for file in sorted(directory.path.glob("diagnostics/*.json")):
        saved = json.loads(file.read_text())
        probe, checkpoint = measured_by(saved, file)
        yield from (
            (view, checkpoint, Quantity(name, probe).column, value) for view, name, value in probed_numbers(saved["values"])
        )


def _tempered_kl(scores: Iterable[Row]) -> Iterator[Row]:
    """KL after one temperature: soft NLL after it, less the annotators' entropy, by which soft NLL and KL differ."""
    known = {row[:3]: row[3] for row in scores}
    for (view, checkpoint, name), tempered in known.items():
        nll, kl = (known.get((view, checkpoint, other)) for other in ("soft_nll", "kl_to_annotator"))
        if name == "soft_nll_t" and tempered is not None and nll is not None and kl is not None:
            yield view, checkpoint, "kl_to_annotator_t", tempered - nll + kl


def measured_by(saved: dict[str, Any], file: Path) -> tuple[str, str]:
    """Name of the probe that wrote a file, and the checkpoint: the best one where there is none, or where the file is older."""
    return saved.get("probe", file.stem), saved.get("settings", {}).get("checkpoint", "best")


def probed_numbers(values: dict[str, Any]) -> Iterator[tuple[str, str, float | None]]:
    """(slice, name, value) of what a probe measured; texts, lists and answers by yes or no are left out.

    >>> list(probed_numbers({"trace": 2.5, "converged": True, "non_unanimous/trace": None}))
    [('full', 'trace', 2.5), ('non_unanimous', 'trace', None)]
    """
    for key, value in values.items():
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            name, view = read_probed(key)
            yield view, name, value
