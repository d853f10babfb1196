"""Predict new items with a trained run: ``python -m hardlabels.predict RUN NEW... --out predictions.csv``."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from hardlabels.console import bars, one_line_for_mistakes, say, stop_bars
from hardlabels.errors import InputError
from hardlabels.stopping import ends_with_its_reader

DESCRIPTION = """Predict new items with a trained run.

RUN is a run's folder (outputs/mine/image_head/soft/K=all/seed=0), or the folder above it (.../soft/K=all) for the mean over its
seeds. NEW is what the run was trained on: a folder of images (or single images), a .csv or .jsonl of texts, a .csv or .npy of
features. The run's folder is all that is needed, and a frozen encoder's weights where these came from a file. Any number of
items: they are read and written block by block."""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="hardlabels predict", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's folder, or the folder of its seeds")
    parser.add_argument("new", type=Path, nargs="+", metavar="NEW", help="a folder of images, a table of texts or of features")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=".csv or .jsonl: ids, probabilities, entropy")
    add_network_arguments(parser)
    parser.add_argument("--text", nargs="+", metavar="COLUMN", help="the column of the text, or the two of a pair")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, ... (default: a GPU where there is one)")
    return parser


def add_network_arguments(parser: argparse.ArgumentParser) -> None:
    """Which network of a run: of which epoch, and at which temperature."""
    parser.add_argument(
        "--checkpoint",
        choices=("best", "last"),
        default="best",
        help="the network of the selected epoch (best) or of the last one (default: best)",
    )
    parser.add_argument(
        "--calibrated",
        action="store_true",
        help="correct the confidence by the temperature that was fitted when the run was trained",
    )
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FILE",
        help="the weights of a frozen encoder that came from a file (model.weights=FILE), where it is no longer there",
    )


def predict(args: argparse.Namespace) -> int:
    """Read, predict, write; returns the number of items. What is wrong with the arguments is found before torch is loaded."""
    from hardlabels.inference.prediction_files import Predicted, check_output, write_predictions  # noqa: PLC0415 - scipy and torch

    check_output(args.out)
    missing = [path for path in (args.run, *args.new) if not path.exists()]
    if missing:
        raise InputError(f"{missing[0]} is not there (looked in {Path.cwd()})")
    from hardlabels.inference.items import check_paths, stream_items  # noqa: PLC0415
    from hardlabels.inference.model import Predictor  # noqa: PLC0415
    from hardlabels.learning.devices import usable_device  # noqa: PLC0415

    device = usable_device(args.device, "--device")
    predictor = Predictor.open(args.run, args.checkpoint, calibrated=args.calibrated, device=device, weights=args.weights)
    if args.text and predictor.preparation.items != "texts":
        raise InputError(f"--text {' '.join(args.text)}: this network takes {predictor.kind}, which have no column of text")
    check_paths(args.new, predictor.preparation.items)
    task = bars().add_task("predicting", total=None, note="")

    def blocks() -> Iterator[Predicted]:
        for block in stream_items(args.new, predictor.preparation, args.text):
            yield Predicted(block.ids, predictor(block.items))
            bars().update(task, advance=len(block.ids))

    try:
        count = write_predictions(args.out, blocks(), predictor.class_names)
    finally:
        bars().remove_task(task)
    runs = "one network" if len(predictor.models) == 1 else f"the mean of {len(predictor.models)} networks"
    scale = ", calibrated" if args.calibrated else ""
    say(f"{count:,} {predictor.kind}, {len(predictor.class_names)} classes, {runs} ({args.checkpoint}{scale}): {args.out}")
    return count


@ends_with_its_reader()
def main(argv: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input."""
    args = arguments().parse_args(argv)
    try:
        with one_line_for_mistakes():
            predict(args)
    finally:
        stop_bars()


if __name__ == "__main__":
    main()
