"""The arguments by which commands are told what a file of votes is."""

import argparse

from hardlabels.votes.formats import FORMATS, Options, Wording
from hardlabels.votes.formats.cleaning import CHOICES, check_choices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a command the options of a votes file: ``--format``, the columns of a long table, ``--classes``, ``--ordered``."""
    group = parser.add_argument_group("the file of votes")
    group.add_argument("--format", choices=list(FORMATS), help="the format of the file, where its ending and content do not tell")
    group.add_argument("--task", metavar="COLUMN", help="the column with the item (in a table with one vote per row)")
    group.add_argument("--worker", metavar="COLUMN", help="the column with the annotator (likewise)")
    group.add_argument("--label", metavar="COLUMN", help="the column with the vote (likewise)")
    group.add_argument("--classes", metavar="A,B,...", help="all classes, in their order (default: those in the file)")
    group.add_argument(
        "--clean",
        metavar="A,B,...",
        help=f"repair votes before they are read, in the named ways: {', '.join(CHOICES)} (default: none)",
    )
    group.add_argument("--ordered", action="store_true", help="the classes are a scale, in their order (ratings from 1 to 5)")


def votes_options(args: argparse.Namespace, command: str) -> Options:
    """What the user said about the votes file; ``command`` is what a message proposes to repeat with more options.

    >>> parser = argparse.ArgumentParser(); add_arguments(parser)
    >>> votes_options(parser.parse_args(["--task", "doc", "--classes", "no, yes"]), "").classes
    ('no', 'yes')
    """
    classes = tuple(name.strip() for name in args.classes.split(",")) if args.classes else None
    return Options(
        task=args.task,
        worker=args.worker,
        label=args.label,
        classes=classes,
        ordered=args.ordered,
        clean=check_choices(args.clean.split(",") if args.clean else (), "--clean"),
        wording=Wording(command),
    )
