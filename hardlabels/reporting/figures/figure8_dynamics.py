"""Figure 8: how fast do SLS and soft labels learn?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, loss_limits, mean_and_bar, places, strip, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import run_values
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.quantity import write_probed
from hardlabels.runs.records import Records

PROBE = "dynamics"
METHODS = ("soft", "sls")
MILESTONES = {"near_best_epoch": "first within 5 %", "best_epoch": "best"}


@dataclass(frozen=True)
class Dynamics:
    """Numbers of the figure.

    Attributes:
        curves: method to (seeds, epochs) soft NLL by epoch; shorter histories end in NaN.
        epochs: method, seed, near_best_epoch, best_epoch.
        earlier: milestone to (n,) epochs by which SLS is earlier than soft labels, on the seeds that both have.
    """

    curves: dict[str, np.ndarray]
    epochs: pd.DataFrame
    earlier: dict[str, np.ndarray]


def prepare_dynamics(records: Records) -> Dynamics:
    """Loss curves and milestones of SLS and soft labels, all votes."""
    curves: dict[str, list[list[float]]] = {}
    rows = []
    for cell in sorted(records.folders, key=lambda c: (method_key(c.variant), c.seed)):
        if cell.variant not in METHODS or cell.K is not None:
            continue
        values = run_values(records.folders[cell], PROBE)
        found, epochs_of = values.get(write_probed("curve")), [values.get(write_probed(name)) for name in MILESTONES]
        if found and None not in epochs_of:
            curve = [float("nan") if value is None else value for value in found]
            curves.setdefault(cell.variant, []).append(curve)
            rows.append((cell.variant, cell.seed, *epochs_of))
    epochs = pd.DataFrame(rows, columns=["method", "seed", *MILESTONES])
    wide = {name: epochs.pivot(index="seed", columns="method", values=name) for name in MILESTONES}
    both = set(METHODS) <= set(epochs["method"])
    earlier = {name: (w["soft"] - w["sls"]).dropna().to_numpy(float) if both else np.zeros(0) for name, w in wide.items()}
    return Dynamics({method: _stack(found) for method, found in curves.items()}, epochs, earlier)


@styled
def draw_dynamics(numbers: Dynamics) -> Canvas:
    """Left, soft NLL by epoch, mean and SD over seeds; right, the epochs of the milestones, one dot per seed."""
    figure, axes = canvas(1, 2, height=3.2, width_ratios=[1.5, 1])
    left, right = axes[0]
    for method, curves in numbers.curves.items():
        epoch, mean = np.arange(curves.shape[1]), np.array([mean_and_bar(column)[0] for column in curves.T])
        left.plot(epoch, mean, color=colour(method), label=label(method))
        sd = np.array([mean_and_bar(column)[1] for column in curves.T])
        if len(curves) > 1:
            left.fill_between(epoch, mean - sd, mean + sd, color=colour(method), alpha=0.2, linewidth=0)
    left.set(xlabel="epoch", ylabel="soft NLL ↓")
    loss_limits(left, numbers.curves.values())
    left.legend(frameon=False)
    for place, name in enumerate(MILESTONES):
        for shift, method in zip((-0.2, 0.2), METHODS, strict=True):
            found = numbers.epochs.loc[numbers.epochs["method"] == method, name].to_list()
            strip(right, found, place + shift, method, spread=0.1)
    places(right, MILESTONES.values())
    right.set(ylabel="epoch")
    right.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def dynamics(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_dynamics(records)
    for method in METHODS:
        sheet.entry("soft_nll", method)
        sheet.entry(f"{PROBE}/best_epoch", method)
    counts = {method: len(curves) for method, curves in numbers.curves.items()}
    n = ", ".join(f"{method} {count}" for method, count in counts.items()) or "none"
    caption = (
        f"Soft NLL of the items that select the checkpoint, by epoch, all votes; mean and SD over seeds (n = {n}). Right: first "
        "epoch within 5 % of the best value, and epoch of the best; a dot a seed, lines are means. Epochs count "
        "from 0; the first may be off the scale."
    )
    notes = []
    paper = published()["figures"]["fig8_dynamics"]
    beside = {"near_best_epoch": paper["sls_earlier_to_95pct_of_best"], "best_epoch": paper["sls_earlier_best_epoch"]}
    for name, word in MILESTONES.items():
        gap = numbers.earlier[name]
        if len(gap):
            also = f"; published {beside[name]} earlier" if sheet.group.published else ""
            way = "earlier" if gap.mean() >= 0 else "later"
            times = f"{abs(gap.mean()):.1f} epochs {way} than soft"
            notes.append(f"{word}: sls {times} on average over {len(gap)} paired seeds{also}.")
    draw = (lambda: draw_dynamics(numbers)) if numbers.curves else None
    return Figure("8", "Training dynamics", caption, [*notes, *sheet.notes()], draw, timeless="curves over all epochs")


def _stack(curves: list[list[float]]) -> np.ndarray:
    longest = max(map(len, curves))
    return np.array([[*curve, *[np.nan] * (longest - len(curve))] for curve in curves], dtype=float)
