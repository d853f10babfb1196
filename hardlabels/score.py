"""Score finished predictions against votes, without training: ``python -m hardlabels.score predictions.npy votes.csv``."""

import argparse
import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.console import console, one_line_for_mistakes, say
from hardlabels.errors import InputError, printable
from hardlabels.metrics.baselines import constants
from hardlabels.metrics.bootstrap import LEVEL, SCORES, assess
from hardlabels.randomness import stream
from hardlabels.scoring import lewidi
from hardlabels.scoring.join import Joined, check_same_items, check_same_p, join, own_votes, with_votes, without_positions
from hardlabels.scoring.output import as_json, captions, draw_table, finite
from hardlabels.scoring.predictions import read_predictions
from hardlabels.stopping import ends_with_its_reader
from hardlabels.votes import Votes, slice_masks
from hardlabels.votes.arguments import add_arguments, votes_options
from hardlabels.votes.formats import NamedVotes, read

MAX_RESAMPLES = 100_000  # their scores are kept in memory


def read_files(args: argparse.Namespace) -> tuple[NamedVotes, list[Joined]]:
    """The votes, and the predictions of one or two models, of the same items."""
    paths = [args.predictions] + ([args.other] if args.other else [])
    if args.votes is None:
        runs = without_positions([read_predictions(path) for path in paths])
        votes = own_votes(runs[0])
        models = [join(run, votes, f"{paths[0]}, p", args.kind) for run in runs]
        models[0] = replace(models[0], items="row by row, as in its own p", classes="column by column, as in its own p")
    else:
        files = [args.predictions, args.votes, *paths[1:]]
        command = f"python -m hardlabels.score {' '.join(shlex.quote(str(file)) for file in files)}"
        votes = read(args.votes, args.format, votes_options(args, command))
        classes = votes.class_names if votes.has_class_names else ()
        read_model = partial(read_predictions, id_column=args.id, task=args.task, classes=classes, items=len(votes.items))
        found = [read_model(path) for path in paths]
        if args.extra == "ignore":
            pairs = [with_votes(predictions, votes) for predictions in found]
            found, left_out = [predictions for predictions, _ in pairs], [number for _, number in pairs]
            said = [f"{path}: {number:,} items without votes are left out" for path, number in zip(paths, left_out, strict=True)]
            votes = replace(votes, notes=(*votes.notes, *said))
        models = [join(predictions, votes, str(args.votes), args.kind) for predictions in found]
    if len(models) > 1:
        check_same_items(models[0], models[1], votes)
        if args.votes is None:
            check_same_p(models[0], models[1])
    return votes, models


def describe(args: argparse.Namespace, named: NamedVotes, models: list[Joined]) -> dict[str, Any]:
    """What was read, and how the files were matched."""
    votes = named.votes
    return {
        "predictions": [
            {
                "file": str(model.path),
                "understood_as": model.understood,
                "items_matched_by": model.items_by,
                "items": model.items,
                "classes_matched_by": model.classes_by,
                "classes": model.classes,
                "columns_left_out": list(model.left_out),
            }
            for model in models
        ],
        "votes": str(args.votes) if args.votes else None,
        "votes_are": "counts" if votes.has_votes else "probabilities",
        "votes_read_as": named.format,
        "votes_notes": list(named.notes),
        "items": len(models[0].places),
        "classes": votes.num_classes,
        "classes_are_ordered": args.ordered or named.ordered,
        "class_names": list(named.class_names) if named.has_class_names else None,
        "bootstrap": {"level": LEVEL, "seed": args.seed, "resamples": args.resamples},
        "notes": captions(args.resamples, votes=votes.has_votes, versus=len(models) > 1),
        "slices": {},
    }


def announce(report: dict[str, Any], where: str, votes: int | None) -> None:
    """The same on the terminal, above the tables."""
    size = f"{report['items']} items x {report['classes']} classes"
    for model in report["predictions"]:
        say(printable(f"{model['file']}: {size}, understood as {model['understood_as']}"))
        say(printable(f"  items: {model['items']}"))
        say(printable(f"  classes: {model['classes']}"))
        if model["columns_left_out"]:
            say(printable(f"  columns left out: {', '.join(map(repr, model['columns_left_out'])):.300}"))
    number = f", {votes} votes" if votes is not None else ""
    notes = f"read as {report['votes_read_as']} ({'; '.join(report['votes_notes'])})"
    say(printable(f"{where}: {report['votes_are']}{number}, {notes}"))


def run(args: argparse.Namespace) -> None:
    """Read, score every slice, print."""
    if not 2 <= args.resamples <= MAX_RESAMPLES:
        raise InputError(f"--resamples must be 2 .. {MAX_RESAMPLES}, got {args.resamples}")
    stream(args.seed, "bootstrap items")  # refuses a bad seed now, not after the first lines
    named, models = read_files(args)
    places = models[0].places
    votes = named.votes.take(places)
    report = describe(args, named, models)
    report["notes"] += multilabel_notes(models, votes)
    ordered = report["classes_are_ordered"]
    if args.submission:
        items = [named.items[place] for place in places]
        lewidi.write_submission(args.submission, items, np.exp(models[0].log_q), several=named.several)
        report["notes"].append(f"written as a submission to LeWiDi 2025: {args.submission}")
    if not args.json:
        announce(report, str(args.votes or args.predictions), len(votes.labels) if votes.has_votes else None)
    for name, mask in slice_masks(named.votes).items():  # defined by all items with votes, predicted or not
        mask = mask[places]
        part, n = votes.take(mask), int(mask.sum())
        results = [assess(model.log_q[mask], part, seed=args.seed, resamples=args.resamples, ordered=ordered) for model in models]
        baselines = score_constants(named.votes.p, part.p, list(results[0].values))
        entry = report["slices"][name] = {
            "items": n,
            "models": [as_json(result) for result in results],
            "baselines": {baseline: {key: finite(value) for key, value in of.items()} for baseline, of in baselines.items()},
        }
        titles = [f"{model.path}, {name}: {n} items" for model in models]
        tables = [
            draw_table(result, title, votes=part.has_votes, baselines=baselines)
            for result, title in zip(results, titles, strict=True)
        ]
        if len(results) > 1:
            difference = results[0] - results[1]
            entry["first_minus_second"] = as_json(difference, versus=True)
            title = f"{models[0].path} - {models[1].path}, {name}: {n} items"
            tables.append(draw_table(difference, title, votes=part.has_votes, versus=True))
        if not args.json:
            console.print(*tables)
    if args.json:
        print(json.dumps(report, indent=2, allow_nan=False))
    else:
        say(printable("\n".join(report["notes"])))


def score_constants(all_p: np.ndarray, p: np.ndarray, names: list[str]) -> dict[str, dict[str, float]]:
    """What predictions that are the same for every item score, by their name; NaN where there are no items.

    Args:
        all_p: (N, C) annotator probabilities of the whole file: they say which class is the most frequent.
        p: (n, C) those of the items to score.
        names: of scores.
    """
    with np.errstate(divide="ignore"):  # a probability of 0
        rows = {name: np.broadcast_to(np.log(q), p.shape) for name, q in constants(all_p).items()}
    return {name: {key: SCORES[key].function(log_q, p) if len(p) else math.nan for key in names} for name, log_q in rows.items()}


def multilabel_notes(models: list[Joined], votes: Votes) -> list[str]:
    """The distance by which LeWiDi 2025 ranks submissions with several labels per annotator, of each such file."""
    found = [(model.path, model.shares) for model in models if model.shares is not None]
    if not found or votes.annotators is None:
        return []
    true = lewidi.label_shares(votes)
    return [f"{path}: multi-label Manhattan distance {lewidi.multilabel_manhattan(shares, true):.5f}" for path, shares in found]


@ends_with_its_reader()
def main(arguments: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="hardlabels score",
        description="Score predictions that you have against the annotators' votes, with intervals. Nothing is trained.",
    )
    parser.add_argument(
        "predictions",
        type=Path,
        help=".csv or .jsonl as `hardlabels predict` writes it, .npy or .csv of probabilities or logits, one column per class "
        "(a csv may name classes and ids), a run's .npz, or a submission to LeWiDi 2025, .tsv",
    )
    parser.add_argument("votes", type=Path, nargs="?", help="any file that `hardlabels votes` reads; a run's .npz has its own")
    parser.add_argument("other", type=Path, nargs="?", help="a second model's predictions of the same items: paired comparison")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--logits", dest="kind", action="store_const", const="logits", help="predictions are logits")
    kind.add_argument("--probabilities", dest="kind", action="store_const", const="probabilities", help="they are probabilities")
    parser.add_argument("--id", metavar="COLUMN", help="of predictions as a table: the item's id, where its name does not say so")
    parser.add_argument(
        "--extra", choices=("error", "ignore"), default="error", help="predictions of items without votes (error)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--resamples", type=int, default=1000, help="of the bootstrap (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    parser.add_argument(
        "--submission", type=Path, metavar="FILE.tsv", help="also write the predictions as LeWiDi 2025 wants them"
    )
    add_arguments(parser)
    args = parser.parse_args(arguments)
    if args.votes and args.votes.suffix == ".npz" and not args.other:
        args.votes, args.other = None, args.votes  # two runs' predictions, each with its own p
    with one_line_for_mistakes():
        run(args)


if __name__ == "__main__":
    main()
