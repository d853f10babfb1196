"""Predictions as a table: ids, probabilities by class name, what the network is unsure about. Written as they come."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from hardlabels.errors import InputError
from hardlabels.runs.writing import write_atomically
from hardlabels.scoring.cells import OWN, PROBABILITIES, own_columns
from hardlabels.votes.distances import entropy

ENDINGS = (".csv", ".jsonl")


class Predicted(NamedTuple):
    """Some items' predictions."""

    ids: Sequence[str]
    probabilities: np.ndarray  # (n, C)


def expected_disagreement(q: np.ndarray) -> np.ndarray:
    r"""(n,) the probability that two annotators who vote as the network predicts disagree: :math:`1 - \sum_c q_c^2`.

    >>> expected_disagreement(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.0, 0.5]
    """
    return 1 - np.square(q).sum(1)


def check_output(path: Path) -> None:
    """Refuse, before any work, a file that could not be written in the end."""
    if path.suffix not in ENDINGS:
        raise InputError(f"--out {path}: expected a file {' or '.join(ENDINGS)}, got {path.suffix or 'no ending'!r}")
    if path.is_dir():
        raise InputError(f"--out {path}: expected a file, got a folder")


def write_predictions(path: Path, blocks: Iterable[Predicted], class_names: Sequence[str]) -> int:
    """Write all blocks, whole or not at all; memory holds one of them. Returns the number of items.

    A ``.csv`` has a line for each item: id, predicted class, a column for each class, entropy (nat), expected disagreement. A
    ``.jsonl`` has the same by name. ``python -m hardlabels.score`` reads both.
    """
    count = 0
    own = own_columns(class_names)
    columns = [own[0], own[1], *class_names, *own[2:]]

    def write(file: BinaryIO) -> None:
        nonlocal count
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(text, lineterminator="\n")
        if path.suffix == ".csv":
            table.writerow(columns)
        for block in blocks:
            q = block.probabilities
            top = [class_names[place] for place in q.argmax(1)]
            numbers = np.column_stack([q, entropy(q), expected_disagreement(q)])
            for name, best, row in zip(block.ids, top, numbers.tolist(), strict=True):
                # Six digits, not six decimals: a probability of 1e-7 that became 0 would make a vote for that class impossible.
                digits = [f"{value:.6g}" for value in row]
                if path.suffix == ".csv":
                    table.writerow([name, best, *digits])
                else:
                    shares = {c: float(value) for c, value in zip(class_names, digits, strict=False)}
                    rest = {OWN[2]: float(digits[-2]), OWN[3]: float(digits[-1])}
                    text.write(json.dumps({OWN[0]: name, OWN[1]: best, PROBABILITIES: shares, **rest}) + "\n")
            count += len(q)
        text.flush()
        text.detach()

    write_atomically(path, write)
    return count
