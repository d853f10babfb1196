"""Claims: literal records with answers worked out by hand, and the paper's own statements from the paper's own numbers."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from scipy.stats import wilcoxon

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.reporting.claims import CLAIMS, Design, Rules, designs, judge
from hardlabels.reporting.claims.claim import STATUSES, Claim
from hardlabels.reporting.claims.kinds import Better, Same, Trend
from hardlabels.reporting.published import published
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import COLUMNS, PAIR_COLUMNS, Records
from hardlabels.runs.study import Study

settings = OmegaConf.load(CONF / "report.yaml")
RULES = Rules(settings.alpha, dict(settings.margins), dict(settings.thresholds))


def make_design(values: dict, pairs: dict | None = None, cells: list[Cell] | None = None) -> Design:
    """{(method, K, name[, slice]): [value of seed 0, 1, ...]}, {(probe, name, a, b, K[, slice]): {(seed a, seed b): value}}."""
    rows, known = [], {}
    for (method, k, name, *part), numbers in values.items():
        for seed, value in enumerate(numbers):
            known[Cell("d", "r", method, None if np.isinf(k) else int(k), seed)] = Path("somewhere")
            rows.append(("", "d", "r", method, float(k), seed, part[0] if part else "full", "best", name, value))
    found = []
    for (probe, name, a, b, k, *part), numbers in (pairs or {}).items():
        for (seed_a, seed_b), value in numbers.items():
            found.append((probe, "d", "r", a, b, float(k), float(k), seed_a, seed_b, part[0] if part else "full", name, value))
    table, pair_table = pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(found, columns=PAIR_COLUMNS)
    asked = tuple(cells or known)
    return Design(Records(table, pair_table, known, [], [cell for cell in asked if cell not in known]), asked)


def verdict(test, design, rules=RULES):
    return judge(Claim("c", "t", "says", "where", "published", "main", test), design, rules, study="main", words=["outputs=o"])


def steps(mean: float, seeds: int, spread: float = 0.001) -> list[float]:
    return [mean + spread * (seed - (seeds - 1) / 2) for seed in range(seeds)]


ALL = np.inf


# ---- better ----


def test_five_of_five_seeds_support_a_single_comparison_with_the_p_of_scipy():
    soft, sls = [0.59, 0.58, 0.60, 0.57, 0.595], [0.56, 0.54, 0.55, 0.55, 0.585]
    found = verdict(
        Better(("soft_nll",), ("sls",), ("soft",)), make_design({("sls", ALL, "soft_nll"): sls, ("soft", ALL, "soft_nll"): soft})
    )
    assert found.status == "supported"
    assert found.p == wilcoxon(sls, soft, alternative="less", method="exact").pvalue == 0.03125
    assert (found.n, found.least_p, found.needed) == (5, 0.03125, 5)
    assert "0.5570 against 0.5870" in found.sentence
    assert "5 of 5 seeds" in found.sentence
    (row,) = found.rows
    assert (row.agreeing, row.n, row.of) == (5, 5, 5)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4])
def test_never_supported_on_fewer_seeds_than_the_test_needs(seeds):
    design = make_design({("sls", ALL, "soft_nll"): steps(0.1, seeds), ("soft", ALL, "soft_nll"): steps(0.9, seeds)})
    found = verdict(Better(("soft_nll",), ("sls",), ("soft",)), design)
    assert found.status == "inconclusive"
    assert found.p == 2.0**-seeds
    assert f"With n = {seeds} the least attainable p is {2.0**-seeds:.3g}: 5 seeds are needed." in found.sentence


@pytest.mark.parametrize(("seeds", "status"), [(7, "inconclusive"), (8, "supported")])
def test_twelve_comparisons_need_eight_seeds(seeds, status):
    cells = {("soft", k, "soft_nll"): steps(0.9, seeds, 0.01) for k in (5, 10, 25, 50)}
    for method in ("sls", "multipass", "deterministic_control"):
        cells |= {(method, k, "soft_nll"): steps(0.1, seeds) for k in (5, 10, 25, 50)}
    found = verdict(CLAIMS["hard-beats-soft"].test, make_design(cells))
    assert (found.status, found.needed, found.n) == (status, 8, seeds)
    assert found.p == pytest.approx(12 * 2.0**-seeds)
    assert found.least_p == pytest.approx(12 * 2.0**-seeds)


def test_contradicted_is_evidence_the_other_way_and_not_a_large_p():
    better = Better(("soft_nll",), ("sls",), ("soft",))
    worse = make_design({("sls", ALL, "soft_nll"): steps(0.9, 5, 0.002), ("soft", ALL, "soft_nll"): steps(0.1, 5)})
    assert verdict(better, worse).status == "contradicted"
    undecided = make_design({("sls", ALL, "soft_nll"): [1, 2, 3, 4, 5.0], ("soft", ALL, "soft_nll"): [2, 1, 4, 3, 4.5]})
    found = verdict(better, undecided)
    assert found.status == "inconclusive"
    assert found.p > 0.4


def test_one_cell_on_the_wrong_side_contradicts_a_claim_about_all_cells():
    seeds = 6  # two comparisons need six seeds: 2 / 64
    design = make_design(
        {
            ("soft", 5, "soft_nll"): steps(0.5, seeds), ("soft", 10, "soft_nll"): steps(0.5, seeds),
            ("sls", 5, "soft_nll"): steps(0.4, seeds, 0.002), ("sls", 10, "soft_nll"): steps(0.6, seeds, 0.002),
        }
    )  # fmt: skip
    found = verdict(Better(("soft_nll",), ("sls",), ("soft",), "few"), design)
    assert found.status == "contradicted"
    assert found.sentence.startswith("1 of 2 comparisons have the claimed sign")


def test_a_single_vote_compares_nothing_and_equal_means_have_no_sign():
    seeds, test = 6, Better(("soft_nll",), ("sls",), ("soft",), "few")
    equal = {(method, 1, "soft_nll"): steps(0.7, seeds) for method in ("sls", "soft")}
    gain = {("soft", 5, "soft_nll"): steps(0.5, seeds), ("sls", 5, "soft_nll"): steps(0.4, seeds, 0.002)}
    assert verdict(test, make_design(equal | gain)).status == verdict(test, make_design(gain)).status == "supported"
    tied = {(method, k, "soft_nll"): steps(0.5, seeds) for method in ("sls", "soft") for k in (5, 10)}
    assert verdict(test, make_design(tied)).sentence.startswith("0 of 2 comparisons have the claimed sign")


def test_better_by_at_least_a_threshold_is_more_than_better():
    test = Better(("soft_nll",), ("sls",), ("shuffled_sls",), by="destroyed_nll")
    design = make_design({("sls", ALL, "soft_nll"): steps(0.5, 5), ("shuffled_sls", ALL, "soft_nll"): steps(2.3, 5, 0.01)})
    assert verdict(test, design).status == "supported"
    near = make_design({("sls", ALL, "soft_nll"): steps(0.5, 5), ("shuffled_sls", ALL, "soft_nll"): steps(1.2, 5, 0.01)})
    assert verdict(test, near).status == "contradicted"  # worse, but by 0.7 and not by 1 nat


def test_missing_runs_leave_every_claim_open_and_name_the_command():
    cells = [Cell("d", "r", method, None, seed) for method in ("sls", "soft") for seed in range(6)]
    design = make_design({("sls", ALL, "soft_nll"): steps(0.1, 6), ("soft", ALL, "soft_nll"): steps(0.9, 5)}, cells=cells)
    found = verdict(Better(("soft_nll",), ("sls",), ("soft",)), design)
    assert found.status == "inconclusive"
    assert found.n == 5
    assert found.missing == ("soft NLL, sls − soft: 1 of 6",)
    assert found.commands == ("python -m hardlabels.reproduce study=main outputs=o",)


def test_missing_probes_name_the_probe_and_not_the_training():
    design = make_design({("sls", ALL, "soft_nll"): steps(0.1, 6), ("soft", ALL, "soft_nll"): steps(0.9, 6)})
    found = verdict(CLAIMS["flatter-basins"].test, design)
    assert found.status == "not run"
    assert found.commands == ("python -m hardlabels.diagnose study=main outputs=o probe=hessian",)


def test_a_method_that_the_study_lacks_keeps_a_claim_about_it_open():
    seeds = 10
    cells = {
        (method, 5, "soft_nll"): steps(mean, seeds, 0.001 * mean)
        for method, mean in [("soft", 0.9), ("sls", 0.1), ("multipass", 0.1)]
    }
    found = verdict(CLAIMS["hard-beats-soft"].test, make_design(cells))
    assert found.status == "inconclusive"
    assert "The study has no deterministic_control" in found.sentence
    assert "Holm keeps 2 of 2" in found.sentence


def test_a_claim_of_another_study_is_not_run_here_and_names_that_study():
    design = make_design({("soft", ALL, "soft_nll"): [0.5]})
    found = judge(CLAIMS["hard-beats-soft"], design, RULES, study="main")
    assert (found.status, found.elsewhere) == ("not run", True)
    assert found.commands == ("python -m hardlabels.reproduce study=sparse",)


def test_a_claim_about_a_probe_that_the_study_does_not_run_belongs_to_another_study():
    design = make_design({("sls", ALL, "soft_nll"): [0.1], ("soft", ALL, "soft_nll"): [0.9]})
    found = judge(CLAIMS["flatter-basins"], design, RULES, study="demo", probes=["cka"])
    assert (found.elsewhere, found.sentence) == (True, "This study has no probe hessian.")
    assert not judge(CLAIMS["flatter-basins"], design, RULES, study="demo", probes=["hessian"]).elsewhere


# ---- the same ----


def test_equality_is_supported_by_small_differences_and_not_by_noise():
    same = Same(("soft_nll",), ("sls",), ("soft",))  # margin 0.012
    soft = [0.50, 0.52, 0.51, 0.53, 0.49]
    near = [value + shift for value, shift in zip(soft, [0.002, -0.001, 0.003, 0.001, -0.002], strict=True)]
    noisy = [value + shift for value, shift in zip(soft, [0.03, -0.03, 0.025, -0.02, 0.001], strict=True)]
    far = [value + shift for value, shift in zip(soft, [0.03, 0.05, 0.04, 0.06, 0.035], strict=True)]
    found = {
        name: verdict(same, make_design({("sls", ALL, "soft_nll"): values, ("soft", ALL, "soft_nll"): soft}))
        for name, values in {"near": near, "noisy": noisy, "far": far}.items()
    }
    assert {name: one.status for name, one in found.items()} == {
        "near": "supported", "noisy": "inconclusive", "far": "contradicted",
    }  # fmt: skip
    assert found["near"].p == 0.03125
    assert found["near"].rows[0].agreeing == 5
    four = make_design({("sls", ALL, "soft_nll"): soft[:4], ("soft", ALL, "soft_nll"): soft[:4]})
    assert verdict(same, four).status == "inconclusive"


def test_equality_needs_all_of_its_metrics():
    values = {("soft", ALL, "soft_nll"): [0.5] * 5, ("sls", ALL, "soft_nll"): [0.5001] * 5}
    values |= {("soft", ALL, "hard_acc"): [0.8] * 5, ("sls", ALL, "hard_acc"): [0.801, 0.79, 0.80, 0.83, 0.78]}
    found = verdict(Same(("soft_nll", "hard_acc"), ("sls",), ("soft",)), make_design(values))
    assert found.status == "inconclusive"
    assert found.sentence.startswith("1 of 2 comparisons are within their margin at 0.05")


# ---- trends ----


def test_a_trend_needs_order_at_every_step_when_it_is_strict():
    test = CLAIMS["stale-labels-hurt"].test
    means = published()["figures"]["fig4_resampling"]["soft_nll"]
    methods = ("sls", "sls,hold=5", "sls,hold=10", "sls,hold=50")
    paper = make_design({(m, ALL, "soft_nll"): steps(mean, 5) for m, mean in zip(methods, means, strict=True)})
    found = verdict(test, paper)
    assert (found.status, found.p, found.n) == ("supported", 0.03125, 5)
    assert "0.5027 → 0.5458 → 0.6054 → 0.6689" in found.sentence
    swapped = make_design(
        {(m, ALL, "soft_nll"): steps(mean, 5) for m, mean in zip(methods, [0.50, 0.61, 0.55, 0.67], strict=True)}
    )
    bent = verdict(test, swapped)
    assert bent.status == "inconclusive"
    assert "not in order at every step" in bent.sentence
    falling = make_design({(m, ALL, "soft_nll"): steps(-mean, 5) for m, mean in zip(methods, means, strict=True)})
    assert verdict(test, falling).status == "contradicted"


def test_a_gain_that_shrinks_with_k_is_a_falling_trend():
    gains = {5: 0.05, 10: 0.03, 25: 0.02, 50: 0.01}
    values = {("soft", k, "soft_nll"): steps(0.5, 5) for k in gains} | {
        ("sls", k, "soft_nll"): steps(0.5 - g, 5) for k, g in gains.items()
    }
    assert verdict(Trend("soft_nll", ("sls",), rising=False, than="soft"), make_design(values)).status == "supported"
    assert verdict(Trend("soft_nll", ("sls",), rising=True, than="soft"), make_design(values)).status == "contradicted"


# ---- pairs of runs ----


def test_pairs_across_seeds_count_once_and_share_no_run():
    seeds = range(10)
    pairs = {}
    for method, level in (("sls", 0.92), ("soft", 0.88)):
        pairs["cka", "cka", method, method, ALL] = {(a, b): level + 0.001 * a + 0.0001 * b for a in seeds for b in seeds if a < b}
    cells = {(method, ALL, "soft_nll"): [0.5] * 10 for method in ("sls", "soft")}
    found = verdict(CLAIMS["representations-alike"].test, make_design(cells, pairs))
    assert (found.status, found.n, found.p) == ("supported", 5, 0.03125)  # 45 pairs, 5 of them without a common run
    assert found.rows[0].left == pytest.approx(np.mean([0.92 + 0.001 * a + 0.0001 * (a + 1) for a in (0, 2, 4, 6, 8)]))


def test_a_barrier_is_a_pair_of_one_seed_against_a_threshold():
    cells = {(method, ALL, "soft_nll"): [0.5] * 5 for method in ("sls", "soft")}
    high = {("barrier", "barrier_interpolated_bn", "soft", "sls", ALL): {(s, s): 2.0 + 0.1 * s for s in range(5)}}  # either order
    found = verdict(CLAIMS["separate-basins"].test, make_design(cells, high))
    assert (found.status, found.n) == ("supported", 5)
    assert "2.2000 against 0.1000" in found.sentence
    low = {("barrier", "barrier_interpolated_bn", "sls", "soft", ALL): {(s, s): 0.01 * s for s in range(5)}}
    assert verdict(CLAIMS["separate-basins"].test, make_design(cells, low)).status == "contradicted"


def test_the_sign_of_correlations_is_tested_over_seeds():
    cells = {
        (method, k, "soft_nll"): [0.5] * 8 for method in ("soft", "sls", "multipass", "deterministic_control") for k in (5, 10)
    }
    pairs = {
        ("sparse_target", "js_spearman", method, "soft", k): {(s, s): 0.05 + 0.01 * s for s in range(8)}
        for method in ("sls", "multipass", "deterministic_control") for k in (5, 10)
    }  # fmt: skip
    found = verdict(CLAIMS["farther-gains-more"].test, make_design(cells, pairs))
    assert (found.status, found.needed, found.p) == ("supported", 7, 6 / 256)


# ---- the paper, by its own numbers ----

WRONG_RANK = {0.031: None, 0.063: 1, 0.094: 2}
"""With five seeds p = 1/32, 2/32, 3/32 when no rank, the first or the second has the wrong sign."""


def published_sweep() -> dict:
    """Five seeds whose means are table 1's, with differences that give its p."""
    table, values = published()["table1_sparse_soft_nll"], {}
    for place, k in enumerate(table["K"]):
        soft = table["soft"]["nll"][place]
        values["soft", k, "soft_nll"] = steps(soft, 5)
        for method in ("sls", "multipass", "deterministic_control"):
            wrong, gain = WRONG_RANK[table[method]["p"][place]], soft - table[method]["nll"][place]
            shape = np.array([(-1 if rank == wrong else 1) * rank for rank in range(1, 6)])
            gains = shape * 5 * gain / shape.sum()
            values[method, k, "soft_nll"] = [value - g for value, g in zip(steps(soft, 5), gains, strict=True)]
    return values


def test_the_published_sweep_gives_the_published_statements():
    facts = published()["table1_sparse_soft_nll"]["facts"]
    design = make_design(published_sweep())
    found = judge(CLAIMS["hard-beats-soft"], design, RULES, study="sparse")
    better, unanimous = facts["cells_better_than_soft"], facts["cells_all_five_seeds_agree"]
    assert f"{better} of 12 comparisons have the claimed sign, {unanimous} with all seeds agreeing" in found.sentence
    assert f"Holm keeps {facts['cells_surviving_holm']} of 12" in found.sentence
    assert found.status == "inconclusive"
    assert min(row.p for row in found.rows) == 0.03125
    assert (found.n, found.least_p, found.needed) == (5, 0.375, 8)
    table = published()["table1_sparse_soft_nll"]
    for row in found.rows:  # every mean and every p of the table
        method, k = row.label.split(", ")[1].split(" − ")[0], int(row.label.split("K = ")[1])
        place = table["K"].index(k)
        assert row.left == pytest.approx(table[method]["nll"][place])
        assert round(row.p + 1e-9, 3) == table[method]["p"][place]


def test_the_published_gain_is_not_largest_at_few_votes():
    found = judge(CLAIMS["gain-fades-with-votes"], make_design(published_sweep()), RULES, study="sparse")
    sls = next(row for row in found.rows if "gain of sls" in row.label)
    assert sls.note == "0.0261 → 0.0300 → 0.0219 → 0.0337"
    assert found.status == "inconclusive"


def test_published_means_put_every_baseline_on_the_wrong_side():
    table, columns = published()["table2_main"], published()["table2_main"]["columns"]
    values = {
        (method, ALL, name): steps(table[method][columns.index(name)][0], 10, 1e-5 * (1 + place))
        for place, method in enumerate(("sls", "soft", "majority", "label_smoothing", "mixup")) for name in columns
    }  # fmt: skip
    brier = published()["table5_proper_scores"]
    values |= {
        (m, ALL, "soft_brier"): steps(brier[m][1][0], 10, 1e-6 * i)
        for i, m in enumerate(("sls", "soft", "majority", "label_smoothing", "mixup"), 1)
    }
    design = make_design(values)
    status = {name: judge(CLAIMS[name], design, RULES, study="main").status for name in CLAIMS}
    expected = (
        "baselines-worse",
        "mixup-accuracy",
        "mixup-miscalibrated",
        "full-parity",
        "brier-parity",
        "soft-higher-entropy-correlation",
    )
    assert {name: status[name] for name in expected} == dict.fromkeys(expected, "supported")
    assert status["soft-same-accuracy"] == "contradicted"  # by 0.0117 on CIFAR-10H: the second paper averages over three tasks


def test_the_published_hessian_has_flatter_basins():
    table, values = published()["table4_hessian"], {}
    for method, row in (("sls", "sls_main"), ("soft", "soft")):
        for place, (name, part) in enumerate((n, s) for s in ("full", "high_disagreement") for n in ("lambda_max", "trace")):
            values[method, ALL, f"hessian/{name}", part] = steps(table[row][place][0], 10, 1.0)
    found = judge(CLAIMS["flatter-basins"], make_design(values), RULES, study="main")
    assert (found.status, len(found.rows)) == ("supported", 4)
    assert found.p == pytest.approx(4 / 1024)


# ---- the catalogue ----


@lru_cache
def a_study(name: str) -> tuple[Study, list[Cell]]:
    study = Study.from_config(OmegaConf.load(CONF / "study" / f"{name}.yaml"))
    return study, study.cells()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)
def test_every_claim_can_be_answered_by_the_study_it_names(claim):
    study, cells = a_study(claim.study)
    empty = Records(pd.DataFrame(columns=COLUMNS), pd.DataFrame(columns=PAIR_COLUMNS), {}, [], cells)
    (design,) = designs(empty, cells).values()
    found = judge(claim, design, RULES, study=claim.study)
    assert claim.test.absent(design) == []
    assert (found.status, found.elsewhere) == ("not run", False)
    assert found.commands == (f"python -m hardlabels.reproduce study={claim.study}",)
    probes = {c.quantity.split("/")[0] for c in claim.test.comparisons(design, RULES) if "/" in c.quantity}
    assert probes <= set(study.probes)
    assert all(found.how[key] for key in ("test", "direction", "margin"))
    assert claim.says.strip(" .")
    assert claim.where


def test_kl_is_no_separate_evidence_in_the_main_papers_claims():
    names = {c.name for c in CLAIMS.values() if "kl_to_annotator" in getattr(c.test, "quantities", ())}
    assert names == {"soft-lower-kl", "soft-mirrors-disputed"}


def test_a_verdict_is_plain_enough_for_json():
    found = verdict(
        Better(("soft_nll",), ("sls",), ("soft",)),
        make_design({("sls", ALL, "soft_nll"): [0.1], ("soft", ALL, "soft_nll"): [0.2]}),
    )
    assert found.status in STATUSES
    assert json.loads(json.dumps(found.plain()))["status"] == "inconclusive"


def test_pairs_of_seeds_are_named_as_what_they_are():
    pairs = {
        ("cka", "cka", method, method, ALL): {(0, 1): 0.9, (2, 3): 0.8 + 0.01 * i} for i, method in enumerate(("soft", "sls"))
    }
    design = make_design({(method, ALL, "soft_nll"): [0.5] * 4 for method in ("sls", "soft")}, pairs)
    found = verdict(CLAIMS["representations-alike"].test, design)
    assert (found.n, found.unit) == (2, "disjoint pairs of seeds")
    assert "5 disjoint pairs of seeds are needed" in found.sentence


def test_a_margin_that_is_no_margin_is_refused():
    with pytest.raises(InputError, match=r"margins\.soft_nll must be a number above 0, got 0"):
        Rules(margins={"soft_nll": 0}).margin("soft_nll")
    with pytest.raises(InputError, match=r"margins\.other"):
        Rules().margin("other")
