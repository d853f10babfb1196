"""The summary of a grid: mean ± SD over seeds of the main metrics, as a table and a picture."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from rich.table import Table

from hardlabels.metrics import METRICS
from hardlabels.metrics.prior import PRIOR
from hardlabels.reporting.number_formats import score_and_sd
from hardlabels.reporting.tables.wording import ARROWS, heading
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.reading import read_json
from hardlabels.runs.spelling import write_votes
from hardlabels.runs.training.notices import doubts

COLUMNS = ("soft_nll", "hard_acc", "ece_eqmass", "ent_corr")  # as in the paper's tables 2 and 3
LAST = "last soft NLL"


def read_results(folders: Iterable[Path], checkpoint: str = "best") -> pd.DataFrame:
    """One row for each finished run: its coordinates and the metrics of one checkpoint on the full evaluation split."""
    found = [(cell, result[checkpoint]) for cell, result in _results(folders, (checkpoint,))]
    return _table((cell.variant, cell, entry["full"]) for cell, entry in found)


def read_priors(folders: Iterable[Path]) -> pd.DataFrame:
    """The same for the class shares of the training votes, under the name ``prior``: once a K and seed, whatever the method."""
    found = {(cell.K, cell.seed): (cell, result[PRIOR]) for cell, result in _results(folders) if PRIOR in result}
    return _table((PRIOR, cell, prior["full"]) for cell, prior in found.values())


def read_doubts(folders: Iterable[Path]) -> dict[str, list[Cell]]:
    """Signs that a network learned nothing, each with the finished runs that have it."""
    found: dict[str, list[Cell]] = {}
    for cell, result in _results(folders, ("best", "last")):
        for doubt in doubts(result):
            found.setdefault(doubt, []).append(cell)
    return found


def _results(folders: Iterable[Path], keys: Sequence[str] = ()) -> Iterator[tuple[Cell, dict[str, Any]]]:
    for folder in folders:
        if RunDirectory(folder).has_result():
            yield Cell.from_folder(folder), read_json(RunDirectory(folder).result, keys)


def _table(runs: Iterable[tuple[str, Cell, dict[str, float]]]) -> pd.DataFrame:
    rows = [{"method": method, "K": cell.votes, "seed": cell.seed, **metrics} for method, cell, metrics in runs]
    return pd.DataFrame(rows, columns=["method", "K", "seed", *METRICS]).astype(dict.fromkeys(METRICS, float))


def prepare_summary(results: pd.DataFrame) -> pd.DataFrame:
    """Mean, sample SD and number of seeds of every metric, for each method and K; methods in the order they came.

    Returns:
        Index (method, K), columns (metric, mean | std | count); K is infinite where all votes are used.
    """
    return results.groupby(["method", "K"], sort=False)[list(METRICS)].agg(["mean", "std", "count"])


def draw_table(summary: pd.DataFrame, title: str, priors: pd.DataFrame | None = None, last: pd.DataFrame | None = None) -> Table:
    """The table that ends a grid. The better direction stands in the head, the best mean of each K in bold.

    Args:
        summary: of the runs, at the selected epoch.
        title: above the table.
        priors: the summary of their priors: a last row of each K, which takes no part in what is best.
        last: the summary of the runs at the last epoch, whose soft NLL gets a column.
    """
    caption = "mean ± SD over seeds, selected epoch" + (f"; {LAST}: at the last epoch" if last is not None else "")
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for head in ("method", "K", "n"):
        table.add_column(head, justify="left" if head == "method" else "right", no_wrap=True)
    for name in COLUMNS:
        table.add_column(heading(name), justify="right")
    if last is not None:
        table.add_column(LAST + ARROWS[METRICS["soft_nll"].higher_is_better], justify="right")
    for k, group in summary.groupby(level="K", sort=True):
        for method, _ in group.index:
            cells = []
            for name in COLUMNS:
                means = group[(name, "mean")]
                best = means.max() if METRICS[name].higher_is_better else means.min()
                text = score_and_sd(*group.loc[(method, k), name][["mean", "std"]])
                cells.append(f"[bold]{text}[/bold]" if len(group) > 1 and means[(method, k)] == best else text)
            if last is not None:
                cells.append(score_and_sd(*last.loc[(method, k), "soft_nll"][["mean", "std"]]))
            table.add_row(method, write_votes(k), str(int(group.loc[(method, k), ("soft_nll", "count")])), *cells)
        if priors is not None and (PRIOR, k) in priors.index:
            prior = priors.loc[(PRIOR, k)]
            cells = [score_and_sd(*prior[name][["mean", "std"]]) for name in COLUMNS]
            table.add_row(PRIOR, write_votes(k), str(int(prior[("soft_nll", "count")])), *cells, style="dim")
        table.add_section()
    return table


def draw_summary(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Soft NLL, calibration and entropy correlation against the number of votes K: one line per method, SD over seeds as bars."""
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
        axis.set_xticks(range(len(ks)), [write_votes(k) for k in ks])
        axis.set_xlim(-0.5, len(ks) - 0.5)
        axis.set(title=METRICS[name].label, xlabel="votes per item, K")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(methods), 5), frameon=False)
    figure.suptitle(title)
    figure.savefig(path, dpi=130)
    plt.close(figure)
