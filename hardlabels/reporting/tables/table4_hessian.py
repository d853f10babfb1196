"""Table 4: curvature of the loss at the trained networks."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.published import published_row
from hardlabels.reporting.tables.references import NO_WEIGHTS
from hardlabels.reporting.tables.saved import run_settings, run_values
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import over_seeds
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

SECTION = "table4_hessian"
METHODS = ("soft", "sls", "multipass", "deterministic_control", "shuffled_sls")
ABLATION = ("multipass", "deterministic_control", "shuffled_sls")
COLUMNS = {
    "λ_max, full": ("hessian/lambda_max", "full"),
    "trace, full": ("hessian/trace", "full"),
    "λ_max, high": ("hessian/lambda_max", "high_disagreement"),
    "trace, high": ("hessian/trace", "high_disagreement"),
}
NORM = "hessian/weight_norm"


def hessian(records: Records) -> Table:
    """Largest eigenvalue and trace of the Hessian by method, on all evaluation items and on the high-disagreement slice."""
    sheet = Sheet(records, "main", seeds=10)
    methods = sheet.methods(METHODS, ALL)
    ablation = sorted({seed for method in ABLATION for seed in sheet.values("hessian/lambda_max", method)})
    # The paper has SLS twice: its 10 main seeds, and the 5 seeds of the family.
    rows: dict[str, tuple[str, str, list[int] | None]] = {
        method: (method, "sls_main" if method == "sls" else method, None) for method in methods
    }
    if sheet.group.published and "sls" in methods:
        rows["sls (family's seeds)"] = ("sls", "sls_ablation", ablation)
    cells: Cells = {}
    for place, (column, (name, view)) in enumerate(COLUMNS.items()):
        for row, (method, section_row, seeds) in rows.items():
            entry = sheet.entry(name, method, slice=view, published=published_row(SECTION, section_row, place), seeds=seeds)
            cells[row, column] = entry
        mark_best(cells, [(method, column) for method in methods], higher=False)
    columns = list(COLUMNS)
    if (records.table["name"] == NORM).any():
        columns.append("weight norm")
        cells |= {(row, "weight norm"): sheet.entry(NORM, method, seeds=seeds) for row, (method, _, seeds) in rows.items()}
    caption = (
        f"Hessian of the soft cross-entropy, {BOTH}, eval mode, BN frozen, all votes; full: all evaluation items, "
        f"high: the high-disagreement slice; {over_seeds(cells)}. Lower is flatter; no test."
    )
    notes = [
        "Flatness depends on the scale of the weights: read it beside their norm.",
        NO_WEIGHTS,
        *estimator_notes(records),
        *sheet.notes(),
    ]
    return Table("4", "Hessian geometry", caption, list(rows), columns, cells, notes)


def estimator_notes(records: Records) -> list[str]:
    """How the numbers were found, in the probe's own words: sign convention, estimators, tolerances, products used."""
    lines: dict[str, None] = {}
    for path in records.folders.values():
        values, settings = (read(path, "hessian", records.checkpoint) for read in (run_values, run_settings))
        if "estimators" in values:
            limits = ", ".join(f"{name} {settings[name]}" for name in ("tolerance", "trace_tolerance") if name in settings)
            lines[f"{values['estimators']}; {limits or 'tolerances not recorded'}. {values.get('sign_convention', '')}."] = None
    used = records.seen[records.seen["name"].isin(["hessian/lambda_products", "hessian/trace_products"])]
    if len(used):
        mean = used.groupby("name")["value"].mean()
        lines[f"Products of the Hessian with a vector, mean: {', '.join(f'{n} {v:.0f}' for n, v in mean.items())}."] = None
    return list(lines)
