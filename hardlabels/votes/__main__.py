"""What is in a file of votes, which method will do, and the same votes in another format: ``python -m hardlabels.votes FILE``."""

import argparse
import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from hardlabels.console import console, one_line_for_mistakes, say
from hardlabels.errors import InputError, printable
from hardlabels.stopping import ends_with_its_reader
from hardlabels.votes.arguments import add_arguments, votes_options
from hardlabels.votes.formats import NamedVotes, read
from hardlabels.votes.formats.cleaning import CHOICES
from hardlabels.votes.picture import check_picture, draw_picture
from hardlabels.votes.summary import Summary, advise, summarise
from hardlabels.votes.write import ENDINGS, write

MOST_NAMES = 12

DESCRIPTION = (
    "Say what is in a file of votes (items, classes, annotators, agreement) and which method of training will do; "
    "with --to, write the same votes in another format."
)


def as_json(path: Path, named: NamedVotes, summary: Summary) -> dict[str, Any]:
    """The summary as plain numbers; null for what cannot be told."""
    delivery, why = advise(summary)
    return {
        "file": str(path),
        "format": named.format,
        "notes": list(named.notes),
        "cleaned": dict(named.cleaned),
        "items": summary.items,
        "ordered": named.ordered,
        "classes": dict(zip(named.class_names, summary.class_shares.tolist(), strict=True)),
        "votes": summary.votes,
        "votes_per_item": vars(summary.per_item) if summary.per_item else None,
        "annotators": summary.annotators,
        "votes_per_annotator": vars(summary.per_annotator) if summary.per_annotator else None,
        "items_with_repeated_annotators": summary.repeats,
        "entropy": {"nats": summary.entropy, "normalised": summary.normalised_entropy},
        "unanimous": summary.unanimous,
        "krippendorff_alpha": _finite(summary.alpha),
        "fleiss_kappa": _finite(summary.kappa),
        "expected_one_hot": {str(k): share for k, share in summary.one_hot.items()},
        "favours": {"delivery": delivery, "why": why},
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def rows(named: NamedVotes, summary: Summary) -> list[tuple[str, str]]:
    """The lines of the table on the terminal."""
    names = ", ".join(
        f"{name}: {share:.1%}" for name, share in zip(named.class_names[:MOST_NAMES], summary.class_shares, strict=False)
    )
    more = f", and {summary.classes - MOST_NAMES} more" if summary.classes > MOST_NAMES else ""
    lines = [("items", f"{summary.items:,}")]
    if summary.votes is None:
        lines.append(("votes", "not known: probabilities only"))
    else:
        lines += [("votes", f"{summary.votes:,}"), ("votes per item (least / median / most)", str(summary.per_item))]
    lines += [
        ("classes", f"{summary.classes}{', a scale' if named.ordered else ''}"),
        ("mean share over items", printable(names) + more),
    ]
    if summary.annotators is None:
        lines.append(("annotators", "not known"))
    else:
        lines.append(("annotators", f"{summary.annotators:,}, with {summary.per_annotator} votes"))
    if summary.repeats:
        lines.append(("items with a vote twice of one annotator", f"{summary.repeats:,}: each counts"))
    lines += [
        ("mean entropy", f"{summary.entropy:.4f} nats, {summary.normalised_entropy:.1%} of ln {summary.classes}"),
        ("unanimous items", f"{summary.unanimous:.1%}"),
    ]
    if summary.votes is not None:
        lines += [
            ("Krippendorff's alpha (nominal)", _agreement(summary.alpha)),
            (
                "Fleiss' kappa",
                "– (needs as many votes on every item, 2 or more)" if summary.kappa is None else _agreement(summary.kappa),
            ),
        ]
    lines += [(f"cleaned of {name}", f"{number:,} ({CHOICES[name]})") for name, number in named.cleaned.items()]
    shares = ", ".join(f"{k}: {share:.1%}" for k, share in summary.one_hot.items())
    lines.append(("items that look unanimous with K votes", f"K = {shares}"))
    return lines


def _agreement(value: float | None) -> str:
    return (
        "–"
        if value is None
        else "undefined (no two votes on an item, or one class only)"
        if math.isnan(value)
        else f"{value:.4f}"
    )


def run(args: argparse.Namespace) -> None:
    """Read, convert, draw, print."""
    options = votes_options(args, f"python -m hardlabels.votes {shlex.quote(str(args.file))}")
    named = read(args.file, args.format, options)
    summary = summarise(named.votes)
    if args.picture:
        check_picture(args.picture)  # before anything is written
    if args.to:
        kind, out = args.to[0], Path(args.to[1])
        if kind not in ENDINGS:
            raise InputError(f"--to: expected {', '.join(ENDINGS)}, got {kind!r:.60}")
        if out.exists() and out.samefile(args.file):
            raise InputError(f"--to {kind}: expected another file than the one that is read, got {str(out)!r:.200}")
        write(named, kind, out)
    if args.picture:
        draw_picture(named, args.picture)
    if args.json:
        print(json.dumps(as_json(args.file, named, summary), indent=2, allow_nan=False))
        return
    say(f"{printable(str(args.file))}: read as {named.format} ({printable('; '.join(named.notes))})")
    table = Table(show_header=False)
    for line in rows(named, summary):
        table.add_row(*map(Text, line))  # names are no markup
    console.print(table)
    delivery, why = advise(summary)
    say(f"a simple choice is method={delivery}: {why}" if delivery != "any" else f"any method will do: {why}")
    if args.to:
        say(f"written as {args.to[0]}: {printable(args.to[1])}")
    if args.picture:
        say(f"picture: {printable(str(args.picture))}")


@ends_with_its_reader()
def main(arguments: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input."""
    parser = argparse.ArgumentParser(prog="hardlabels votes", description=DESCRIPTION)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help=".csv, .tsv, .npy, .parquet, .json or .jsonl, or a folder that datasets saved"
    )
    add_arguments(parser)
    parser.add_argument(
        "--picture", type=Path, metavar="PATH", help="draw entropy, votes per item and class shares (.png, .pdf, .svg)"
    )
    parser.add_argument("--to", nargs=2, metavar=("KIND", "OUT"), help=f"write the votes as {', '.join(ENDINGS)}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    with one_line_for_mistakes():
        run(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
