"""Table 5: further proper scores. KL is soft NLL less its floor: the same evidence, shown once more."""

import numpy as np

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import better_direction
from hardlabels.reporting.published import published_metric
from hardlabels.reporting.tables.references import with_references
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import TEMPERED, heading, over_seeds
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

SECTION = "table5_proper_scores"
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")
COLUMNS = {
    "soft NLL − H(p) = KL ↓": "kl_to_annotator",
    heading("kl_to_annotator_t"): "kl_to_annotator_t",
    heading("soft_brier"): "soft_brier",
}


def proper_scores(records: Records) -> Table:
    """KL to the annotators, as soft NLL minus the entropy floor, and the soft Brier score."""
    sheet = Sheet(records, "main", seeds=10)
    methods = sheet.methods(METHODS, ALL)
    cells: Cells = {}
    for column, metric in COLUMNS.items():
        for method in methods:
            entry = sheet.entry(metric, method, published=published_metric(SECTION, method, metric))
            cells[method, column] = sheet.with_interval(entry, metric, method)
        mark_best(cells, [(method, column) for method in methods], better_direction(Quantity(metric)))
    caption = (
        f"All votes, {BOTH}, all evaluation items, {over_seeds(cells)}; ↓ lower is better. No test: "
        f"KL has that of soft NLL in table 2. {TEMPERED}"
    )
    notes = ["KL is soft NLL minus its floor, the annotators' entropy H(p): not counted as separate evidence.", *sheet.notes()]
    floor = entropy_floor(sheet, methods)
    if floor is not None:
        notes[0] += f" The floor is {floor:.4f} nat here (mean over seeds)."
    table = Table("5", "Proper scores", caption, methods, list(COLUMNS), cells, notes)
    return with_references(table, records, {column: (metric, ALL) for column, metric in COLUMNS.items()})


def entropy_floor(sheet: Sheet, methods: list[str]) -> float | None:
    """H(p) of the evaluation items, mean over seeds: what soft NLL and KL of one run differ by; None without such runs."""
    floors: dict[int, float] = {}
    for method in methods:
        kl = sheet.values("kl_to_annotator", method)
        floors |= {seed: value - kl[seed] for seed, value in sheet.values("soft_nll", method).items() if seed in kl}
    return float(np.mean(list(floors.values()))) if floors else None
