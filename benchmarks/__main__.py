"""Run all comparisons, or those named, and print one table: ``make bench``.

``--record`` keeps what was measured in ``benchmarks/measured.json`` and writes the table of ``docs/speed.md`` from it. Those that
are named replace their rows there and leave the others, each with the commit that it was measured at.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import curvature, encoding, formats, heads, images, labels, record, report, startup, training
from benchmarks.ratio import Row, seconds
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.runs.environment import code_version

COMPARISONS: dict[str, Callable[[], Row | list[Row]]] = {
    "epoch": training.epoch_against_bare_loop,
    "conventional": training.conventional_against_epoch,
    "batches": training.batches_against_dataloader,
    "share": training.share_beside_training,
    "text_head": lambda: heads.run_against_bare_loop(heads.TEXTS),
    "image_head": lambda: heads.run_against_bare_loop(heads.IMAGES),
    "runs_a_minute": lambda: heads.runs_a_minute(heads.IMAGES),
    "encoding": encoding.processes_against_threads,
    "grid": startup.grid_against_the_limit,
    "help": startup.help_against_lightning,
    "image_folder": images.batches_against_image_folder,
    "image_memory": images.memory_from_disk,
    "sls_growth": lambda: labels.growth(SLS, "SLS"),
    "multipass_growth": lambda: labels.growth(Multipass, "multipass"),
    "sls_loop": lambda: labels.against_a_loop(SLS, "SLS"),
    "multipass_loop": lambda: labels.against_a_loop(Multipass, "multipass"),
    "imagenet": labels.imagenet_scale,
    "csv": formats.long_csv,
    "polars": formats.long_csv_against_polars,
    "hessian": lambda: list(curvature.rows()),
    "report": report.report_against_the_limit,
}
"""In the order of the table."""


def measure(keys: list[str], measured: dict[str, Any], keep: Callable[[dict[str, Any]], None]) -> None:
    """Make these comparisons, one after the other; one that fails is noted and the next one begins.

    Args:
        keys: of ``COMPARISONS``.
        measured: what was measured before; these comparisons replace theirs.
        keep: is given all that was measured so far, after each comparison.
    """
    for key in keys:
        rows: list[Row] = []
        failed = {}

        def compare(key: str = key, rows: list[Row] = rows) -> None:
            made = COMPARISONS[key]()
            rows.extend(made if isinstance(made, list) else [made])

        def guarded(compare: Callable[[], None] = compare, failed: dict[str, str] = failed) -> None:
            try:
                compare()
            except Exception as error:
                failed["error"] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]

        took = seconds(guarded)
        entries = [record.entry(row, code_version()) for row in rows]
        others = measured["comparisons"] | {key: {"seconds": took, "rows": entries, **failed}}
        measured["comparisons"] = {name: others[name] for name in COMPARISONS if name in others}
        measured["where"] = record.machine()
        measured["minutes"] = sum(one["seconds"] for one in measured["comparisons"].values()) / 60
        keep(measured)


def main() -> None:
    """The table on the terminal, and in the files that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="COMPARISON", help=f"one of {', '.join(COMPARISONS)}; all, where none is named"
    )
    parser.add_argument("--json", type=Path, help="also write what was measured to this file")
    parser.add_argument("--record", action="store_true", help="write benchmarks/measured.json and the table of docs/speed.md")
    arguments = parser.parse_args()
    if unknown := [key for key in arguments.only if key not in COMPARISONS]:
        parser.error(f"expected one of {', '.join(COMPARISONS)}, got {', '.join(unknown)}")
    measured: dict[str, Any] = {"comparisons": {}}
    if arguments.only and arguments.record and record.MEASURED.is_file():
        measured = json.loads(record.MEASURED.read_text())

    def keep(measured: dict[str, Any]) -> None:
        if arguments.json:
            record.write(measured, arguments.json)
        if arguments.record:
            record.write(measured, record.MEASURED)
            record.PAGE.write_text(record.with_table(record.PAGE.read_text(), measured))

    measure(arguments.only or list(COMPARISONS), measured, keep)
    Console(width=150).print(Markdown(record.table(measured)))


if __name__ == "__main__":
    main()
