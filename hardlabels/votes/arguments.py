"""The arguments by which commands are told what a file of votes is."""

import argparse

from hardlabels.votes.formats import FORMATS, Options, Wording
from hardlabels.votes.formats.cleaning import CHOICES, check_choices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a command the options of a votes file: ``--format``, the columns of a long table, ``--classes``, ``--ordered``."""
    group = parser.add_argument_group("the file of votes")
    group.add_argument("--format", choices=list(FORMATS), help="what the file is; otherwise ending and content decide")
    group.add_argument("--task", metavar="COLUMN", help="of a long table: the item")
    group.add_argument("--worker", metavar="COLUMN", help="of a long table: the annotator")
    group.add_argument("--label", metavar="COLUMN", help="of a long table: the vote")
    group.add_argument("--classes", metavar="A,B,...", help="all classes in their order; otherwise those in the file")
    group.add_argument("--clean", metavar="A,B,...", help=f"put votes right: {', '.join(CHOICES)}; nothing is unless asked for")
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
