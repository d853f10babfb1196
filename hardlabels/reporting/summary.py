"""The summary of a grid: mean ± SD over seeds of the main metrics, as a table and a picture."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from rich.table import Table

from hardlabels.metrics import METRICS
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.reading import read_json

COLUMNS = ("soft_nll", "hard_acc", "ece_eqmass", "ent_corr")  # as in the paper's tables 2 and 3


def read_results(folders: Iterable[Path], checkpoint: str = "best") -> pd.DataFrame:
    """One row for each finished run: its coordinates and the metrics of one checkpoint on the full evaluation split."""
    rows = []
    for folder in folders:
        cell, directory = Cell.from_folder(folder), RunDirectory(folder)
        if directory.is_done():
            metrics = read_json(directory.result, (checkpoint,))[checkpoint]["full"]
            rows.append({"method": cell.method, "K": np.inf if cell.K is None else cell.K, "seed": cell.seed, **metrics})
    return pd.DataFrame(rows, columns=["method", "K", "seed", *METRICS]).astype(dict.fromkeys(METRICS, float))


def prepare_summary(results: pd.DataFrame) -> pd.DataFrame:
    """Mean, sample SD and number of seeds of every metric, for each method and K; methods in the order they came.

    Returns:
        Index (method, K), columns (metric, mean | std | count); K is infinite where all votes are used.
    """
    return results.groupby(["method", "K"], sort=False)[list(METRICS)].agg(["mean", "std", "count"])


def draw_table(summary: pd.DataFrame, title: str) -> Table:
    """The table that ends a grid. The better direction stands in the head, the best mean of each K in bold."""
    table = Table(title=title, title_justify="left", caption="mean ± SD over seeds, best checkpoint", caption_justify="left")
    arrows = {True: " ↑", False: " ↓", None: ""}
    for head in ("method", "K", "n"):
        table.add_column(head, justify="left" if head == "method" else "right", no_wrap=True)
    for name in COLUMNS:
        table.add_column(METRICS[name].label + arrows[METRICS[name].higher_is_better], justify="right")
    for k, group in summary.groupby(level="K", sort=True):
        for method, _ in group.index:
            cells = []
            for name in COLUMNS:
                means = group[(name, "mean")]
                best = means.max() if METRICS[name].higher_is_better else means.min()
                text = format_cell(*group.loc[(method, k), name][["mean", "std"]])
                cells.append(f"[bold]{text}[/bold]" if len(group) > 1 and means[(method, k)] == best else text)
            table.add_row(method, _votes(k), str(int(group.loc[(method, k), ("soft_nll", "count")])), *cells)
        table.add_section()
    return table


def format_cell(mean: float, std: float) -> str:
    """Mean ± SD; the mean alone where one seed leaves no SD.

    >>> format_cell(0.50519, 0.0263), format_cell(0.5, float("nan"))
    ('0.5052 ± 0.0263', '0.5000')
    """
    return f"{mean:.4f}" if np.isnan(std) else f"{mean:.4f} ± {std:.4f}"


def draw_summary(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Soft NLL, calibration and entropy correlation against the number of votes K, one line a method, SD as bars."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - only after the backend is chosen

    names = ("soft_nll", "ece_eqmass", "ent_corr")
    ks = sorted(summary.index.unique("K"))
    methods = list(summary.index.unique("method"))
    figure, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.6), layout="constrained")
    for axis, name in zip(axes, names, strict=True):
        for place, method in enumerate(methods):
            rows = summary.xs(method, level="method")[name].sort_index()
            shift = (place - (len(methods) - 1) / 2) * 0.08  # side by side, so that bars of equal methods stay visible
            x = np.array([ks.index(k) for k in rows.index]) + shift
            axis.errorbar(
                x, rows["mean"], yerr=rows["std"].fillna(0), label=method, marker="o", markersize=4, capsize=2, linewidth=1.2
            )
        axis.set_xticks(range(len(ks)), [_votes(k) for k in ks])
        axis.set_xlim(-0.5, len(ks) - 0.5)
        axis.set(title=METRICS[name].label, xlabel="votes an item, K")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(methods), 5), frameon=False)
    figure.suptitle(title)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _votes(k: float) -> str:
    return "all" if np.isinf(k) else str(int(k))
