"""Score finished predictions against votes, without training: ``python -m hardlabels.score predictions.npy votes.csv``."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from scipy.special import log_softmax

from hardlabels.console import complain, console, say
from hardlabels.errors import InputError
from hardlabels.metrics.bootstrap import LEVEL, RECOMPUTED, SCORES, TESTED, Assessment, Interval, assess
from hardlabels.randomness import stream
from hardlabels.votes import Votes, slice_masks
from hardlabels.votes.arrays import read_arrays
from hardlabels.votes.formats import read

MAX_RESAMPLES = 100_000  # their scores are kept in memory

# ---- reading ----


@dataclass(frozen=True)
class Predictions:
    """(N, C) log-probabilities, what the file was taken for, and what a run's ``predictions.npz`` knows besides."""

    log_q: np.ndarray
    understood: str
    p: np.ndarray | None = None
    index: np.ndarray | None = None


def read_predictions(path: Path, kind: str | None = None) -> Predictions:
    """Predictions of any kind as log-probabilities.

    Args:
        path: ``.npy`` or ``.csv`` of probabilities or logits, or a run's ``predictions.npz``.
        kind: ``"logits"`` or ``"probabilities"``; None decides by content.
    """
    arrays = read_arrays(path)
    if path.suffix == ".npz" and "logits" not in arrays:
        found = ", ".join(map(repr, arrays))[:200] or "none"
        raise InputError(f"{path}: expected an array 'logits', as in a run's predictions.npz; found {found}")
    table = arrays.get("logits", arrays.get(""))
    if table is None or table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iufb":
        found = "nothing" if table is None else f"shape {table.shape}, type {table.dtype}"
        raise InputError(f"{path}: expected a numeric matrix of items x classes, got {found}")
    log_q, understood = to_log_q(table.astype(np.float64), "logits" if "logits" in arrays else kind, str(path))
    if (index := arrays.get("index")) is not None:
        check_index(index, len(table), f"{path}, index")
    return Predictions(log_q, understood, arrays.get("p"), index)


def check_index(index: np.ndarray, items: int, where: str) -> None:
    """Refuse positions of items that are not whole, not one an item, negative, or twice the same.

    >>> check_index(np.array([4, 2]), 2, "index")
    """
    if index.shape != (items,) or index.dtype.kind not in "iu":
        raise InputError(f"{where}: expected {items} whole numbers, one an item, got shape {index.shape}, type {index.dtype}")
    _, first = np.unique(index, return_index=True)
    bad = index < 0
    bad[np.setdiff1d(np.arange(items), first)] = True
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{where}: expected every item once, by its position from 0; row {row} is {index[row]}")


def to_log_q(table: np.ndarray, kind: str | None, where: str) -> tuple[np.ndarray, str]:
    """Log-probabilities, and whether the table was taken for logits or probabilities.

    Rows that are >= 0 and sum to 1 within 1e-3 are probabilities. A table in which only most rows are is refused: a broken row
    must not turn the whole file into logits.

    >>> to_log_q(np.array([[0.5, 0.5]]), None, "q.npy")[1], to_log_q(np.array([[2.0, -1.0]]), None, "q.npy")[1]
    ('probabilities', 'logits')
    """
    _refuse(np.isnan(table).any(1) | (table == np.inf).any(1), table, where, "numbers below infinity")
    with np.errstate(over="ignore"):  # of huge logits
        proper = (table >= 0).all(1) & (np.abs(table.sum(1) - 1) <= 1e-3)
    if kind is None and 0.5 < proper.mean() < 1:
        expected = "rows that all sum to 1, or none (--logits or --probabilities tells what they are)"
        _refuse(~proper, table, where, expected)
    kind = kind or ("probabilities" if proper.all() else "logits")
    if kind == "logits":
        _refuse((table == -np.inf).all(1), table, where, "a finite logit in every row")
        return log_softmax(table, axis=1), kind
    _refuse(~proper, table, where, "probabilities of at least 0 that sum to 1 within 0.001")
    with np.errstate(divide="ignore"):  # a probability of 0
        return np.log(table / table.sum(1, keepdims=True)), kind


def _refuse(bad: np.ndarray, table: np.ndarray, where: str, expected: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        shown = ", ".join(f"{value:.6g}" for value in table[row, :12]) + (", ..." if table.shape[1] > 12 else "")
        raise InputError(f"{where}: expected {expected}; row {row} is [{shown}]")


def read_votes(path: Path) -> Votes:
    """Votes in any format of ``hardlabels.votes.formats``; of a plain table, items x classes, ``Votes`` checks every row.

    A plain table is counts where every entry is whole or most rows do not sum to 1, and probabilities otherwise.
    """
    if path.suffix in (".csv", ".json", ".jsonl", ".parquet"):
        return read(path).votes
    arrays = read_arrays(path)
    if "" not in arrays:
        raise InputError(f"{path}: expected votes as .npy or .csv of items x classes, got an .npz")
    table = arrays[""]
    shares = table.ndim == 2 and table.size and table.dtype.kind == "f" and (table != np.floor(table)).any()
    with np.errstate(over="ignore", invalid="ignore"):  # of what Votes refuses
        if shares and (np.abs(table.sum(1) - 1) <= 1e-3).mean() > 0.5:
            return Votes.from_probabilities(table, where=str(path))
    return Votes.from_counts(table, where=str(path))


def match(path: Path, predictions: Predictions, votes_path: Path | None) -> tuple[Votes, dict[str, np.ndarray]]:
    """The votes of the predicted items, in their order, and the masks of the slices over them.

    With a run's predictions, the votes may be those of the whole data set: ``index`` picks the items, after the slices were
    defined by all of them.
    """
    if votes_path is not None:
        votes, where = read_votes(votes_path), str(votes_path)
    elif predictions.p is not None:
        votes, where = Votes.from_probabilities(predictions.p, where=f"{path}, p"), f"{path}, p"
    else:
        raise InputError(f"{path}: votes are needed beside it (only a run's predictions.npz holds its own)")
    masks, index = slice_masks(votes), predictions.index
    if votes_path is not None and index is not None and (len(votes) != len(index) or index.max() < len(votes)):
        if index.max() >= len(votes):
            row = int((index >= len(votes)).argmax())
            raise InputError(f"{path}, index: expected positions in the {len(votes)} items of {where}; row {row} is {index[row]}")
        votes, masks = votes.take(index), {name: mask[index] for name, mask in masks.items()}
    if (found := predictions.log_q.shape) != (wanted := (len(votes), votes.num_classes)):
        raise InputError(f"{path}: expected {wanted[0]} items x {wanted[1]} classes as in {where}, got {found[0]} x {found[1]}")
    return votes, masks


# ---- output ----


def as_json(result: Assessment, versus: bool = False) -> dict[str, Any]:
    """One slice as plain numbers; null for what cannot be told (or is infinite, as soft NLL is at q = 0 under a vote)."""
    entries: dict[str, Any] = {}
    for name in SCORES:
        entries[name] = {"difference" if versus else "value": _finite(result.values[name])}
        for over in ("items", "votes"):
            entries[name][over] = {end: _finite(number) for end, number in result.interval(name, over)._asdict().items()}
        if versus and name in TESTED:
            entries[name]["wilcoxon_p"] = _finite(result.p_value(name))
    return entries


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def draw_table(result: Assessment, title: str, *, votes: bool, versus: bool = False) -> Table:
    """One slice as a table."""
    table = Table(title=title, title_justify="left")
    table.add_column("score", no_wrap=True)
    heads = [
        "first - second" if versus else "value",
        "95 % over items",
        *(["95 % over votes", "bias of few votes"] if votes else []),
    ]
    for head in heads + (["Wilcoxon p"] if versus else []):
        table.add_column(head, justify="right", no_wrap=True)
    sign = "+" if versus else ""
    for name, spec in SCORES.items():
        arrow = {True: " ↑", False: " ↓", None: ""}[spec.higher_is_better]
        row = [spec.label + arrow, f"{result.values[name]:{sign}.4f}", _range(result.interval(name, "items"), sign)]
        if votes:
            over_votes = result.interval(name, "votes")
            row += [_range(over_votes, sign), "" if math.isnan(over_votes.bias) else f"{over_votes.bias:+.4f}"]
        if versus:
            row.append((f"{result.p_value(name):.3g}" if result.p_value(name) else "< 1e-300") if name in TESTED else "")
        table.add_row(*row)
    return table


def _range(ends: Interval, sign: str) -> str:
    return "–" if math.isnan(ends.low) else f"{ends.low:{sign}.4f} .. {ends.high:{sign}.4f}"


def captions(resamples: int, *, votes: bool, versus: bool) -> list[str]:
    """What the intervals and the test are over."""
    again = min(resamples, RECOMPUTED)
    lines = [
        f"over items: bootstrap of {resamples} resamples ({again} for ECE, entropy correlation and the parts of Brier): other "
        "items of this kind, this model; not over training seeds. On few items ECE, reliability and their intervals lie high.",
    ]
    if votes:
        lines.append(
            f"over votes: {again} redraws of each item's votes: other annotators, these items. Bias: what a redraw adds to the "
            "score on average, about what the score owes to having few votes; it is not subtracted."
        )
    else:
        lines.append("over votes: none, as only probabilities are known, not counts.")
    if versus:
        lines.append(
            "first - second: both on the same items and resamples (paired). Wilcoxon: two-sided signed-rank test over items, not "
            "over seeds; with many items a small difference is significant, and another seed may reverse it."
        )
    return lines


# ---- the command ----


def run(args: argparse.Namespace) -> None:
    """Read, score every slice, print."""
    if not 2 <= args.resamples <= MAX_RESAMPLES:
        raise InputError(f"--resamples must be 2 .. {MAX_RESAMPLES}, got {args.resamples}")
    stream(args.seed, "bootstrap items")  # refuses a bad seed now, not after the first lines
    paths = [args.predictions] + ([args.other] if args.other else [])
    models = [read_predictions(path, args.kind) for path in paths]
    votes, masks = match(paths[0], models[0], args.votes)
    for path, model in zip(paths[1:], models[1:], strict=True):
        if model.log_q.shape != models[0].log_q.shape:
            raise InputError(f"{path}: expected shape {models[0].log_q.shape} as in {paths[0]}, got {model.log_q.shape}")
        if not (model.index is None or models[0].index is None or np.array_equal(model.index, models[0].index)):
            raise InputError(f"{path}: expected the items of {paths[0]}, but the two 'index' arrays differ")

    report: dict[str, Any] = {
        "predictions": [
            {"file": str(path), "understood_as": model.understood} for path, model in zip(paths, models, strict=True)
        ],
        "votes": str(args.votes) if args.votes else None,
        "votes_are": "counts" if votes.has_votes else "probabilities",
        "items": len(votes),
        "classes": votes.num_classes,
        "bootstrap": {"level": LEVEL, "seed": args.seed, "resamples": args.resamples},
        "notes": captions(args.resamples, votes=votes.has_votes, versus=len(models) > 1),
        "slices": {},
    }
    if not args.json:
        for path, model in zip(paths, models, strict=True):
            say(f"{path}: {len(votes)} items x {votes.num_classes} classes, understood as {model.understood}")
        say(f"{args.votes or paths[0]}: {report['votes_are']}" + (f", {len(votes.labels)} votes" if votes.has_votes else ""))
    for name, mask in masks.items():
        part, n = votes.take(mask), int(mask.sum())
        results = [assess(model.log_q[mask], part, seed=args.seed, resamples=args.resamples) for model in models]
        entry = report["slices"][name] = {"items": n, "models": [as_json(result) for result in results]}
        titles = [f"{path}, {name}: {n} items" for path in paths]
        tables = [draw_table(result, title, votes=part.has_votes) for result, title in zip(results, titles, strict=True)]
        if len(results) > 1:
            difference = results[0] - results[1]
            entry["first_minus_second"] = as_json(difference, versus=True)
            title = f"{paths[0]} - {paths[1]}, {name}: {n} items"
            tables.append(draw_table(difference, title, votes=part.has_votes, versus=True))
        if not args.json:
            console.print(*tables)
    if args.json:
        print(json.dumps(report, indent=2, allow_nan=False))
    else:
        say("\n".join(report["notes"]))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m hardlabels.score", description=__doc__)
    parser.add_argument("predictions", type=Path, help=".npy or .csv (N x C probabilities or logits), or a run's predictions.npz")
    parser.add_argument(
        "votes", type=Path, nargs="?", help="N x C counts or probabilities, or any format of hardlabels.votes; .npz has its own p"
    )
    parser.add_argument("other", type=Path, nargs="?", help="a second model's predictions of the same items: paired comparison")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--logits", dest="kind", action="store_const", const="logits", help="predictions are logits")
    kind.add_argument("--probabilities", dest="kind", action="store_const", const="probabilities", help="they are probabilities")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--resamples", type=int, default=1000, help="of the bootstrap (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    args = parser.parse_args(arguments)
    if args.votes and args.votes.suffix == ".npz" and not args.other:
        args.votes, args.other = None, args.votes  # two runs' predictions, each with its own p
    try:
        run(args)
    except InputError as error:
        complain(f"error: {error}")
        sys.exit(2)


if __name__ == "__main__":
    main()
