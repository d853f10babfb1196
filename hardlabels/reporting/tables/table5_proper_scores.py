"""Table 5: further proper scores. KL is soft NLL less its floor: the same evidence, shown once more."""

import numpy as np

from hardlabels.metrics import METRICS
from hardlabels.reporting.published import published_row
from hardlabels.reporting.tables.sheet import Sheet, heading, over_seeds
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.runs.records import Records

SECTION = "table5_proper_scores"
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")
COLUMNS = {"soft NLL − H(p) = KL ↓": "kl_to_annotator", heading("soft_brier"): "soft_brier"}


def proper_scores(records: Records) -> Table:
    """KL to the annotators, as soft NLL minus the entropy floor, and the soft Brier score."""
    sheet = Sheet(records, "main", seeds=10)
    methods = sheet.methods(METHODS, float("inf"))
    cells: Cells = {}
    for place, (column, metric) in enumerate(COLUMNS.items()):
        for method in methods:
            entry = sheet.entry(metric, method, published=published_row(SECTION, method, place))
            cells[method, column] = sheet.with_interval(entry, metric, method)
        mark_best(cells, [(method, column) for method in methods], METRICS[metric].higher_is_better)
    caption = (
        f"All votes, best checkpoint, all evaluation items, {over_seeds(cells)}; ↓ lower is better. No test: "
        "KL has that of soft NLL in table 2."
    )
    notes = ["KL is soft NLL minus its floor, the annotators' entropy H(p): not counted as separate evidence.", *sheet.notes()]
    floor = entropy_floor(sheet, methods)
    if floor is not None:
        notes[0] += f" The floor is {floor:.4f} nat here (mean over seeds)."
    return Table("5", "Proper scores", caption, methods, list(COLUMNS), cells, notes)


def entropy_floor(sheet: Sheet, methods: list[str]) -> float | None:
    """H(p) of the evaluation items, mean over seeds: what soft NLL and KL of one run differ by; None without such runs."""
    floors: dict[int, float] = {}
    for method in methods:
        kl = sheet.values("kl_to_annotator", method)
        floors |= {seed: value - kl[seed] for seed, value in sheet.values("soft_nll", method).items() if seed in kl}
    return float(np.mean(list(floors.values()))) if floors else None
