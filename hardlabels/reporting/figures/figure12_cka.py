"""Figure 12: do runs of different seeds arrange items alike?"""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.across import means, means_of_few_votes, prepare_across, strips
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.records import Records

PROBE = "cka"
ESTIMATORS = {"cka": "linear CKA", "cka_debiased": "debiased"}


def prepare_cka(records: Records) -> pd.DataFrame:
    """One row for each estimator and pair of runs: kind of pair, estimator, value; all votes, all shared items."""
    parts = [prepare_across(records, PROBE, name, ("full",)).assign(estimator=name) for name in ESTIMATORS]
    return pd.concat(parts, ignore_index=True)


@styled
def draw_cka(numbers: pd.DataFrame) -> Canvas:
    """One panel per estimator, one dot per pair of runs."""
    figure, axes = canvas(1, len(ESTIMATORS), height=3.7, sharey=True)
    for axis, (name, word) in zip(axes[0], ESTIMATORS.items(), strict=True):
        strips(axis, numbers[numbers["estimator"] == name])
        axis.set_title(word)
    axes[0, 0].set_ylabel("CKA of penultimate features")
    return figure


def cka(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_cka(records)
    sheet.uses(PROBE)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
        sheet.entry("soft_nll", "soft")
    plain = numbers[numbers["estimator"] == "cka"]
    caption = (
        "Linear CKA of penultimate features between runs of different seeds (unless it says same seed), on the items that "
        f"neither trained on; {BOTH}, all votes, {len(plain)} pairs: a dot each, lines are means. The plain estimator "
        "grows with the ratio of features to items; the debiased one does not. Pairs share runs and are not independent."
    )
    if numbers.empty:
        sheet.lack(PROBE)
        return Figure("12", "Representation similarity", caption, sheet.notes())
    notes = [f"{ESTIMATORS[name]}: {line}" for name in ESTIMATORS for line in means(numbers[numbers["estimator"] == name])]
    notes += [
        f"{word}, {line}" for name, word in ESTIMATORS.items() for line in means_of_few_votes(records, PROBE, name, ("full",))
    ]
    if sheet.group.published:
        paper = published()["figures"]["fig12_cka"]["within_method"]
        notes.append("Published: " + ", ".join(f"{method} {value}" for method, value in paper.items()) + ".")
    return Figure("12", "Representation similarity", caption, [*notes, *sheet.notes()], lambda: draw_cka(numbers))
