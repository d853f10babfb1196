"""Run all comparisons and print one table; ``--json FILE`` writes it too: ``make bench``."""

import argparse
import json
import os
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import formats, heads, images, labels, report, startup, training
from benchmarks.ratio import Row, seconds
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.runs.environment import code_version


def all_rows() -> list[Row]:
    """In the order of the table."""
    return [
        training.epoch_against_bare_loop(),
        training.conventional_against_epoch(),
        training.batches_against_dataloader(),
        images.batches_against_image_folder(),
        images.memory_from_disk(),
        labels.growth(SLS, "SLS"),
        labels.growth(Multipass, "multipass"),
        labels.against_a_loop(SLS, "SLS"),
        labels.against_a_loop(Multipass, "multipass"),
        *labels.imagenet_scale(),
        *formats.long_csv(),
        formats.long_csv_against_polars(),
        startup.help_against_lightning(),
        training.share_beside_training(),
        heads.run_against_bare_loop(heads.TEXTS),
        heads.run_against_bare_loop(heads.IMAGES),
        heads.runs_a_minute(heads.IMAGES),
        report.report_against_the_limit(),
    ]


def main() -> None:
    """The table on the terminal, and as JSON where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    rows: list[Row] = []
    total = seconds(lambda: rows.extend(all_rows()))

    where = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, commit {code_version()}"
    table = Table(title=f"ratios, measured side by side ({where}; {total / 60:.1f} min)", title_justify="left")
    for head in ("comparison", "median", "min .. max", "n", "goal", ""):
        table.add_column(head, justify="left" if head == "comparison" else "right")
    for row in rows:
        spread = f"{min(row.ratios):.3g} .. {max(row.ratios):.3g}"
        goal = f"{'≤' if row.at_most else '≥'} {row.goal:g}"
        table.add_row(row.name, f"{row.median:.3g}", spread, str(len(row.ratios)), goal, "met" if row.met else "missed")
    Console(width=130).print(table)
    if arguments.json:
        entries = [{**vars(row), "median": row.median, "met": row.met} for row in rows]
        arguments.json.write_text(json.dumps({"where": where, "minutes": total / 60, "rows": entries}, indent=2) + "\n")


if __name__ == "__main__":
    main()
