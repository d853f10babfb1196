"""The soft labels that participants of LeWiDi 2025 hand in, and the distance that ranks those of several labels per annotator.

A submission (``Paraphrase_test_soft.tsv``) has a line per item: its id, a tab, and a list of probabilities, one per class. Where
annotators may give several labels (VariErrNLI), the list has a pair ``[share without, share with]`` per label: the shares of the
annotators who did not, and who did, give that label.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes import Votes
from hardlabels.votes.formats.document import parse, read_text
from hardlabels.votes.numeric_tables import finite_matrix, refuse_rows
from hardlabels.votes.votes_table import blocks
from hardlabels.whole_files import whole_file

ENDING = ".tsv"


def read_submission(path: Path) -> tuple[list[str], np.ndarray, bool]:
    """The ids of a submission, its (N, C) numbers, and whether these are shares of annotators who may give several labels.

    Probabilities come as they are written. Of pairs, the second is taken: the share of the annotators who gave the label.
    """
    ids: list[str] = []
    rows: list[list[float]] = []
    paired: set[bool] = set()
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        name, tab, content = line.partition("\t")
        values: Any = parse(content, where) if tab else None
        pairs = isinstance(values, list) and bool(values) and all(isinstance(value, list) for value in values)
        numbers: Any = [_second(value, where) for value in values] if pairs else values
        if not isinstance(numbers, list) or not numbers or not all(map(_is_number, numbers)):
            raise InputError(f"{where}: expected an id, a tab and a list of numbers, as LeWiDi 2025 wants it; found {line!r:.60}")
        if rows and len(numbers) != len(rows[0]):
            raise InputError(f"{where}: expected {len(rows[0])} numbers, as before; found {len(numbers)}")
        ids.append(name.strip())
        rows.append(numbers)
        paired.add(pairs)
    if len(paired) != 1:
        found = "both" if paired else "an empty file"
        raise InputError(f"{path}: expected lines of an id and a list of numbers, or of pairs of numbers; found {found}")
    return ids, finite_matrix(rows, str(path)), paired == {True}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _second(pair: list[Any], where: str) -> float:
    if len(pair) != 2 or not all(map(_is_number, pair)) or abs(sum(pair) - 1) > 1e-3 or min(pair) < 0:
        raise InputError(f"{where}: expected pairs of a share without and a share with the label, of sum 1; found {pair!r:.60}")
    return pair[1]


def submission_lines(ids: Sequence[str], q: np.ndarray, *, several: bool) -> list[str]:
    r"""The lines of a submission.

    Args:
        ids: of the items.
        q: (N, C) predicted probabilities.
        several: write a pair for each label. The probability of a label then stands for the share of the annotators who give it;
            that somebody may give two is not predicted by a distribution over labels.

    >>> [submission_lines(["7"], np.array([[0.25, 0.75]]), several=several) for several in (False, True)]
    [['7\t[0.25, 0.75]'], ['7\t[[0.75, 0.25], [0.25, 0.75]]']]
    """
    rows = [[[1 - share, share] for share in row] if several else row for row in q.tolist()]
    return [f"{name}\t{row}" for name, row in zip(ids, rows, strict=True)]


def write_submission(path: Path, ids: Sequence[str], q: np.ndarray, *, several: bool) -> None:
    """Write a submission, whole or not at all."""
    check_submission(path)
    text = "\n".join(submission_lines(ids, q, several=several)) + "\n"
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise InputError(f"--submission: cannot write {path}: {error.strerror or error}") from error


def check_submission(path: Path) -> None:
    """Refuse a path that cannot become a submission."""
    if path.suffix != ENDING:
        raise InputError(f"--submission: expected a file {ENDING}, got {str(path)!r:.200}")
    if not path.parent.is_dir():
        raise InputError(f"--submission: expected an existing folder for {path.name}, got {str(path.parent)!r:.200}")


def label_shares(votes: Votes) -> np.ndarray:
    """(N, C) the share of each item's annotators who gave each label; rows sum to more than 1 where some gave several.

    >>> votes = Votes.from_labels([0, 1, 1], [0, 3], 2, annotators=["Ann1", "Ann1", "Ann2"])
    >>> label_shares(votes).tolist()
    [[0.5, 1.0]]
    """
    if votes.annotators is None:
        raise InputError("the share of annotators who gave a label needs to know who voted")
    who = np.unique(votes.annotators, return_inverse=True)[1]
    shares = np.empty((len(votes), votes.num_classes))
    for lo, hi in blocks(votes.offsets):
        here = slice(votes.offsets[lo], votes.offsets[hi])
        item = np.repeat(np.arange(hi - lo), votes.sizes[lo:hi])
        given = np.unique(np.stack([item, who[here], votes.labels[here]]), axis=1)  # one label of one annotator counts once
        people = np.unique(given[:2], axis=1)[0]
        counts = np.zeros((hi - lo, votes.num_classes))
        np.add.at(counts, (given[0], given[2]), 1)
        shares[lo:hi] = counts / np.bincount(people, minlength=hi - lo)[:, None]
    return shares


def multilabel_manhattan(predicted: np.ndarray, shares: np.ndarray) -> float:
    r"""LeWiDi 2025's distance where annotators may give several labels, in [0, 2]; 0 for the annotators' own shares.

    Each label is a question of its own with the answers yes and no, so that its Manhattan distance is
    :math:`2 |\hat s_{ic} - s_{ic}|`; the mean is over labels, then over items.

    Args:
        predicted: (N, C) predicted shares of the annotators who give each label, in [0, 1].
        shares: (N, C) what :func:`label_shares` gives.

    >>> multilabel_manhattan(np.array([[0.5, 0.5]]), np.array([[0.5, 1.0]]))
    0.5
    """
    refuse_rows((predicted < 0) | (predicted > 1), predicted, "predicted shares", "shares from 0 to 1")
    return float(2 * np.abs(predicted - shares).mean())
