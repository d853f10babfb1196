"""Claims: which comparisons they take, and the paper's own statements from the paper's own numbers."""

import json
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from scipy.stats import wilcoxon

from hardlabels.configuration import CONF
from hardlabels.reporting.claims import CLAIMS, designs, judge
from hardlabels.reporting.claims.kinds import Better, Same
from hardlabels.reporting.claims.quantities import ACCURACY, NLL
from hardlabels.reporting.claims.status import STATUSES
from hardlabels.reporting.claims.trend import Trend
from hardlabels.reporting.published import published
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import COLUMNS, PAIR_COLUMNS, Records
from hardlabels.runs.studies.study import Study

ALL = np.inf
HARD = ("sls", "multipass", "deterministic_control")


def steps(mean: float, seeds: int, spread: float = 0.001) -> list[float]:
    return [mean + spread * (seed - (seeds - 1) / 2) for seed in range(seeds)]


# ---- better ----


def test_five_of_five_seeds_support_a_single_comparison_with_the_p_of_scipy(make_design, find):
    soft, sls = [0.59, 0.58, 0.60, 0.57, 0.595], [0.56, 0.54, 0.55, 0.55, 0.585]
    design = make_design({("sls", ALL, "soft_nll"): sls, ("soft", ALL, "soft_nll"): soft}, own=True)
    found = find(Better((NLL,), ("sls",), ("soft",)), design)
    assert found.status == "supported"
    assert found.p == wilcoxon(sls, soft, alternative="less", method="exact").pvalue == 0.03125
    assert (found.n, found.least_p, found.needed) == (5, 0.03125, 5)
    assert "0.5570 against 0.5870, mean difference −0.0300, Hodges-Lehmann −0.0" in found.sentence
    assert "5 of 5 seeds" in found.sentence
    (row,) = found.rows
    assert (row.agreeing, row.n, row.of) == (5, 5, 5)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4])
@pytest.mark.parametrize("own", [True, False])
def test_never_supported_on_fewer_seeds_than_the_test_needs(make_design, find, seeds, own):
    values = {("sls", ALL, "soft_nll"): steps(0.1, seeds), ("soft", ALL, "soft_nll"): steps(0.9, seeds)}
    found = find(Better((NLL,), ("sls",), ("soft",)), make_design(values, own=own))
    assert found.status == "inconclusive"
    assert found.rows[0].p == 2.0**-seeds
    assert f"With n = {seeds} the least attainable p is {2.0**-seeds:.3g}: 5 seeds are needed." in found.sentence


def test_contradicted_is_evidence_the_other_way_and_not_a_large_p(make_design, find):
    better = Better((NLL,), ("sls",), ("soft",))
    worse = make_design({("sls", ALL, "soft_nll"): steps(0.9, 5, 0.002), ("soft", ALL, "soft_nll"): steps(0.1, 5)})
    assert find(better, worse).status == "contradicted"
    undecided = make_design({("sls", ALL, "soft_nll"): [1, 2, 3, 4, 5.0], ("soft", ALL, "soft_nll"): [2, 1, 4, 3, 4.5]})
    found = find(better, undecided)
    assert found.status == "inconclusive"
    assert found.p > 0.4


def test_a_single_vote_compares_nothing_and_equal_means_have_no_sign(make_design, find):
    seeds, test = 6, Better((NLL,), ("sls",), ("soft",), "few")
    equal = {(method, 1, "soft_nll"): steps(0.7, seeds) for method in ("sls", "soft")}
    gain = {("soft", 5, "soft_nll"): steps(0.5, seeds), ("sls", 5, "soft_nll"): steps(0.4, seeds, 0.002)}
    assert find(test, make_design(equal | gain)).status == find(test, make_design(gain)).status == "supported"
    tied = {(method, k, "soft_nll"): steps(0.5, seeds) for method in ("sls", "soft") for k in (5, 10)}
    assert find(test, make_design(tied)).sentence.startswith("0 of 2 comparisons have the claimed sign")


def test_few_votes_all_votes_or_each(make_design, find):
    values = {(method, k, "soft_nll"): steps(mean, 5) for k in (1, 5, 10, ALL) for method, mean in (("sls", 0.4), ("soft", 0.5))}
    counts = {
        votes: len(find(Better((NLL,), ("sls",), ("soft",), votes), make_design(values)).rows) for votes in ("few", "all", "each")
    }
    assert counts == {"few": 2, "all": 1, "each": 3}


def test_missing_runs_leave_every_claim_open_and_name_the_command(make_design, find):
    cells = [(method, None, seed) for method in ("sls", "soft") for seed in range(6)]
    for sls in (0.1, 1.7):  # for and against
        values = {("sls", ALL, "soft_nll"): steps(sls, 6, 0.002), ("soft", ALL, "soft_nll"): steps(0.9, 5)}
        found = find(Better((NLL,), ("sls",), ("soft",)), make_design(values, cells=cells))
        assert found.status == "inconclusive"
        assert found.n == 5
        assert found.missing == ("soft NLL, sls − soft: 1 of 6",)
        assert found.commands == ("python -m hardlabels.reproduce study=main outputs=o",)
        assert "Incomplete" in found.sentence


def test_missing_probes_name_the_probe_and_not_the_training(make_design, find):
    design = make_design({("sls", ALL, "soft_nll"): steps(0.1, 6), ("soft", ALL, "soft_nll"): steps(0.9, 6)})
    found = find(CLAIMS["flatter-basins"].test, design)
    assert found.status == "not run"
    assert found.commands == ("python -m hardlabels.diagnose study=main outputs=o probe=hessian",)


def test_a_method_that_the_study_lacks_keeps_a_claim_about_it_open(make_design, find):
    means = [("soft", 0.9), ("sls", 0.1), ("multipass", 0.1)]
    cells = {(method, 5, "soft_nll"): steps(mean, 10, 0.001 * mean) for method, mean in means}
    found = find(CLAIMS["hard-beats-soft"].test, make_design(cells))
    assert found.status == "inconclusive"
    assert "The study has no deterministic_control" in found.sentence
    assert "2 of 2 are shown" in found.sentence


def test_a_claim_of_another_study_is_not_run_here_and_names_that_study(make_design, rules):
    found = judge(CLAIMS["hard-beats-soft"], make_design({("soft", ALL, "soft_nll"): [0.5]}), rules, study="main")
    assert (found.status("best"), found.status("last"), found.elsewhere) == ("not run", "not run", True)
    assert found.commands == ("python -m hardlabels.reproduce study=sparse study.data=d study.recipe=r",)


def test_a_claim_about_a_probe_that_the_study_does_not_run_belongs_to_another_study(make_design, rules):
    design = make_design({("sls", ALL, "soft_nll"): [0.1], ("soft", ALL, "soft_nll"): [0.9]})
    found = judge(CLAIMS["flatter-basins"], design, rules, study="demo", probes=["cka"])
    assert (found.elsewhere, found.at["best"].sentence) == (True, "This study has no probe hessian.")
    assert not judge(CLAIMS["flatter-basins"], design, rules, study="demo", probes=["hessian"]).elsewhere


# ---- the same ----


def test_equality_is_supported_by_small_differences_and_not_by_noise(make_design, find):
    same = Same((NLL,), ("sls",), ("soft",))  # margin 0.012 in the paper's own regime
    soft = [0.50, 0.52, 0.51, 0.53, 0.49, 0.515]  # five seeds could support it, but not contradict it: 2 / 2^5 > 0.05
    shifts = {
        "near": [0.002, -0.001, 0.003, 0.001, -0.002, 0.0015],
        "noisy": [0.03, -0.03, 0.025, -0.02, 0.001, -0.004],
        "far": [0.03, 0.05, 0.04, 0.06, 0.035, 0.045],
    }
    found = {}
    for name, shift in shifts.items():
        sls = [value + moved for value, moved in zip(soft, shift, strict=True)]
        found[name] = find(same, make_design({("sls", ALL, "soft_nll"): sls, ("soft", ALL, "soft_nll"): soft}, own=True))
    statuses = {name: one.status for name, one in found.items()}
    assert statuses == {"near": "supported", "noisy": "inconclusive", "far": "contradicted"}
    assert found["near"].p == 2.0**-6
    assert found["near"].rows[0].agreeing == 6
    four = make_design({("sls", ALL, "soft_nll"): soft[:4], ("soft", ALL, "soft_nll"): soft[:4]}, own=True)
    assert find(same, four).status == "inconclusive"


def test_equality_needs_all_of_its_metrics(make_design, find):
    values = {("soft", ALL, "soft_nll"): [0.5] * 5, ("sls", ALL, "soft_nll"): [0.5001] * 5}
    values |= {("soft", ALL, "hard_acc"): [0.8] * 5, ("sls", ALL, "hard_acc"): [0.801, 0.79, 0.80, 0.83, 0.78]}
    found = find(Same((NLL, ACCURACY), ("sls",), ("soft",)), make_design(values, own=True))
    assert found.status == "inconclusive"
    assert found.sentence.startswith("1 of 2 comparisons are shown to lie within their margin")


# ---- trends ----


def test_a_trend_needs_order_at_every_step_when_it_is_strict(make_design, find):
    test = CLAIMS["stale-labels-hurt"].test
    means = published()["figures"]["fig4_resampling"]["soft_nll"]
    methods = ("sls", "sls,hold=5", "sls,hold=10", "sls,hold=50")

    def along(values):
        return make_design({(m, ALL, "soft_nll"): steps(mean, 5) for m, mean in zip(methods, values, strict=True)})

    found = find(test, along(means))
    assert (found.status, found.p, found.n) == ("supported", 0.03125, 5)
    assert found.rows[0].note == "means 0.5027 → 0.5458 → 0.6054 → 0.6689"
    bent = find(test, along([0.50, 0.61, 0.55, 0.67]))
    assert bent.status == "inconclusive"
    assert "not in order at every step" in bent.sentence
    assert find(test, along([-mean for mean in means])).status == "contradicted"


def test_a_gain_that_shrinks_with_k_is_a_falling_trend(make_design, find):
    gains = {5: 0.05, 10: 0.03, 25: 0.02, 50: 0.01}
    values = {("soft", k, "soft_nll"): steps(0.5, 5) for k in gains}
    values |= {("sls", k, "soft_nll"): steps(0.5 - gain, 5) for k, gain in gains.items()}
    assert find(Trend(NLL, ("sls",), rising=False, than="soft"), make_design(values)).status == "supported"
    assert find(Trend(NLL, ("sls",), rising=True, than="soft"), make_design(values)).status == "contradicted"


# ---- pairs of runs ----


def test_pairs_across_seeds_count_once_and_share_no_run(make_design, find):
    seeds = range(10)
    pairs = {}
    for method, level in (("sls", 0.92), ("soft", 0.88)):
        pairs["cka", "cka", method, method, ALL] = {(a, b): level + 0.001 * a + 0.0001 * b for a in seeds for b in seeds if a < b}
    cells = {(method, ALL, "soft_nll"): [0.5] * 10 for method in ("sls", "soft")}
    found = find(CLAIMS["representations-alike"].test, make_design(cells, pairs))
    assert (found.status, found.n, found.p) == ("supported", 5, 0.03125)  # 45 pairs, 5 of them without a common run
    assert found.rows[0].left == pytest.approx(np.mean([0.92 + 0.001 * a + 0.0001 * (a + 1) for a in (0, 2, 4, 6, 8)]))


def test_pairs_of_seeds_are_named_as_what_they_are(make_design, find):
    pairs = {
        ("cka", "cka", method, method, ALL): {(0, 1): 0.9, (2, 3): 0.8 + 0.01 * i} for i, method in enumerate(("soft", "sls"))
    }
    design = make_design({(method, ALL, "soft_nll"): [0.5] * 4 for method in ("sls", "soft")}, pairs)
    found = find(CLAIMS["representations-alike"].test, design)
    assert (found.n, found.unit) == (2, "disjoint pairs of seeds")
    assert found.rows[0].label == "linear CKA, sls across seeds − soft across seeds"
    assert "5 disjoint pairs of seeds are needed" in found.sentence


def test_a_barrier_is_a_pair_of_one_seed_against_a_threshold(make_design, find):
    cells = {(method, ALL, "soft_nll"): [0.5] * 5 for method in ("sls", "soft")}
    high = {("barrier", "barrier_interpolated_bn", "soft", "sls", ALL): {(s, s): 2.0 + 0.1 * s for s in range(5)}}  # either order
    found = find(CLAIMS["separate-basins"].test, make_design(cells, high))
    assert (found.status, found.n) == ("supported", 5)
    assert "2.2000 against 0.1000" in found.sentence
    low = {("barrier", "barrier_interpolated_bn", "sls", "soft", ALL): {(s, s): 0.01 * s for s in range(5)}}
    assert find(CLAIMS["separate-basins"].test, make_design(cells, low)).status == "contradicted"


@pytest.mark.parametrize("probe", ["sparse_target_train", "sparse_target"])
def test_the_gain_by_distance_is_judged_on_the_items_that_were_trained_on(make_design, find, probe):
    cells = {(method, k, "soft_nll"): [0.5] * 8 for method in ("soft", *HARD) for k in (5, 10)}
    sides = {"sparse_target": -0.2, "sparse_target_train": 0.05}  # evaluation items point the other way
    measured = [name for name in sides if name <= probe]
    pairs = {
        (name, "js_spearman", method, "soft", k): {(s, s): sides[name] + 0.01 * s for s in range(8)}
        for name in measured for method in HARD for k in (5, 10)
    }  # fmt: skip
    found = find(CLAIMS["farther-gains-more"].test, make_design(cells, pairs))
    assert found.status == ("supported" if probe == "sparse_target_train" else "contradicted")
    assert {row.quantity for row in found.rows} == {f"{probe}/js_spearman"}
    caveats = ["reflect their entropy" in row.note for row in found.rows]
    assert all(caveats) if probe == "sparse_target" else not any(caveats)


# ---- the paper, by its own numbers ----

WRONG_RANK = {0.031: None, 0.063: 1, 0.094: 2}
"""With five seeds p = 1/32, 2/32, 3/32 when no rank, the first or the second has the wrong sign."""


def published_sweep() -> dict:
    """Five seeds whose means are table 1's, with differences that give its p."""
    table, values = published()["table1_sparse_soft_nll"], {}
    for place, k in enumerate(table["K"]):
        soft = table["soft"]["nll"][place]
        values["soft", k, "soft_nll"] = steps(soft, 5)
        for method in HARD:
            wrong, gain = WRONG_RANK[table[method]["p"][place]], soft - table[method]["nll"][place]
            shape = np.array([(-1 if rank == wrong else 1) * rank for rank in range(1, 6)])
            gains = shape * 5 * gain / shape.sum()
            values[method, k, "soft_nll"] = [value - g for value, g in zip(steps(soft, 5), gains, strict=True)]
    return values


def test_the_published_sweep_gives_the_published_statements(make_design, rules):
    facts = published()["table1_sparse_soft_nll"]["facts"]
    verdict = judge(CLAIMS["hard-beats-soft"], make_design(published_sweep(), own=True), rules, study="sparse")
    found = verdict.at["best"]
    better, unanimous = facts["cells_better_than_soft"], facts["cells_all_five_seeds_agree"]
    assert f"{better} of 12 comparisons have the claimed sign, {unanimous} with all seeds agreeing" in found.sentence
    assert f"{unanimous} of 12 are shown" in found.sentence  # each by itself; the claim needs all of them
    assert (found.status, verdict.word("best")) == ("inconclusive", "inconclusive")
    assert min(row.p for row in found.rows) == 0.03125
    assert (found.n, found.least_p, found.needed) == (5, 0.03125, 5)
    assert "The published difference in soft NLL, 0.0211, would take" in found.sentence
    table = published()["table1_sparse_soft_nll"]
    for row in found.rows:  # every mean and every p of the table
        method, k = row.label.split(", ")[1].split(" − ")[0], int(row.label.split("K = ")[1])
        place = table["K"].index(k)
        assert row.left == pytest.approx(table[method]["nll"][place])
        assert round(row.p + 1e-9, 3) == table[method]["p"][place]


def test_the_published_gain_is_not_largest_at_few_votes(make_design, rules):
    found = judge(CLAIMS["gain-fades-with-votes"], make_design(published_sweep(), own=True), rules, study="sparse").at["best"]
    sls = next(row for row in found.rows if "gain of sls" in row.label)
    assert sls.note == "means 0.0261 → 0.0300 → 0.0219 → 0.0337"
    assert found.status == "inconclusive"


def test_published_means_put_every_baseline_on_the_wrong_side(make_design, rules):
    table, columns = published()["table2_main"], published()["table2_main"]["columns"]
    methods = ("sls", "soft", "majority", "label_smoothing", "mixup")
    values = {
        (method, ALL, name): steps(table[method][columns.index(name)][0], 10, 1e-5 * (1 + place))
        for place, method in enumerate(methods) for name in columns
    }  # fmt: skip
    brier = published()["table5_proper_scores"]
    values |= {(m, ALL, "soft_brier"): steps(brier[m][1][0], 10, 1e-6 * i) for i, m in enumerate(methods, 1)}
    design = make_design(values, own=True)
    status = {name: judge(CLAIMS[name], design, rules, study="main").status("best") for name in CLAIMS}
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


def test_the_published_hessian_has_flatter_basins(make_design, rules):
    table, values = published()["table4_hessian"], {}
    for method, row in (("sls", "sls_main"), ("soft", "soft")):
        for place, (name, part) in enumerate((n, s) for s in ("full", "high_disagreement") for n in ("lambda_max", "trace")):
            values[method, ALL, f"hessian/{name}", part] = steps(table[row][place][0], 10, 1.0)
    found = judge(CLAIMS["flatter-basins"], make_design(values, own=True), rules, study="main").at["best"]
    assert (found.status, len(found.rows)) == ("supported", 4)
    assert found.p == 1 / 1024  # all four are needed: no correction
    effects = CLAIMS["flatter-basins"].effect
    assert effects[Quantity("trace", "hessian", "high_disagreement")] == pytest.approx(10779.6 - 3496.8)


# ---- the catalogue ----


@lru_cache
def a_study(name: str) -> tuple[Study, list[Cell]]:
    study = Study.from_config(OmegaConf.load(CONF / "study" / f"{name}.yaml"))
    return study, study.cells()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)
def test_every_claim_can_be_answered_by_the_study_it_names(claim, rules):
    study, cells = a_study(claim.study)
    empty = Records(pd.DataFrame(columns=COLUMNS), pd.DataFrame(columns=PAIR_COLUMNS), {}, [], cells)
    (design,) = designs(empty, cells).values()
    verdict = judge(claim, design, rules, study=claim.study)
    assert claim.test.absent(design) == []
    assert not verdict.elsewhere
    assert verdict.commands == (f"python -m hardlabels.reproduce study={claim.study}",)
    assert set(claim.test.probes) <= set(study.probes)
    assert all(effect > 0 for effect in claim.effect.values())
    for found in verdict.at.values():
        assert found.status == "not run"
        assert all(found.how[key] for key in ("test", "direction", "margin"))
    assert claim.says.strip(" .")
    assert claim.where
    assert claim.ours == (claim.where == "ours")


def test_kl_is_no_separate_evidence_in_the_main_papers_claims():
    quantities = {c.name: getattr(c.test, "quantities", ()) for c in CLAIMS.values()}
    names = {name for name, found in quantities.items() if "kl_to_annotator" in {quantity.name for quantity in found}}
    assert names == {"soft-lower-kl", "soft-mirrors-disputed"}


def test_a_verdict_is_plain_enough_for_json(make_design, rules):
    values = {("sls", 5, "soft_nll"): [0.1], ("soft", 5, "soft_nll"): [0.2], ("multipass", 5, "soft_nll"): [0.2]}
    values |= {(*key[:2], "soft_nll_t"): numbers for key, numbers in values.items()}
    found = judge(CLAIMS["hard-beats-soft"], make_design(values), rules, study="sparse")
    assert found.status("best") in STATUSES
    plain = json.loads(json.dumps(found.plain()))
    assert plain["best"]["status"] == plain["last"]["status"] == "inconclusive"
    assert plain["best"]["verdict"] == "undecided"
    assert plain["best"]["tempered"]["comparisons"][0]["quantity"] == "soft_nll_t"
