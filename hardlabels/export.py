"""Export a trained run for other runtimes: ``python -m hardlabels.export RUN --to onnx``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from hardlabels.console import one_line_for_mistakes, say
from hardlabels.errors import InputError
from hardlabels.predict import add_network_arguments
from hardlabels.stopping import ends_with_its_reader

FORMATS = ("onnx", "torchscript", "safetensors")


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="hardlabels export",
        description="Write a trained network for other runtimes. The file is run once, and must predict as the network does.",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's folder: outputs/mine/image_head/soft/K=all/seed=0")
    parser.add_argument(
        "--to", choices=FORMATS, required=True, help="onnx and torchscript: items to probabilities; or the weights"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="default: model.onnx, model.pt, model.safetensors in the run's folder"
    )
    add_network_arguments(parser)
    return parser


def run(args: argparse.Namespace) -> Path:
    """Open, write, check; returns the file."""
    if not args.run.is_dir():
        raise InputError(f"{args.run}: expected a run's folder, found {'a file' if args.run.is_file() else 'nothing'}")
    from hardlabels.inference.export import ENDINGS, export  # noqa: PLC0415 - torch takes seconds
    from hardlabels.inference.model import open_model  # noqa: PLC0415

    path = args.out or args.run / f"model{ENDINGS[args.to]}"
    if path.suffix != ENDINGS[args.to] or path.is_dir():
        raise InputError(f"--out {path}: expected a file that ends in {ENDINGS[args.to]}")
    model = open_model(args.run, args.checkpoint, weights=args.weights)
    difference = export(model, args.to, path, calibrated=args.calibrated)
    checked = f"within {difference:.1g} of our own probabilities"
    say(f"{path}: {len(model.class_names)} classes, {args.checkpoint} checkpoint; {checked}")
    return path


@ends_with_its_reader()
def main(argv: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input."""
    args = arguments().parse_args(argv)
    with one_line_for_mistakes():
        run(args)


if __name__ == "__main__":
    main()
