"""The rules of a verdict, each on a study made by hand whose answer is known; scipy and statsmodels as a second opinion."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from hardlabels.errors import InputError
from hardlabels.reporting.claims import CLAIMS, Rules, Shares, judge
from hardlabels.reporting.claims.claim import Comparison, Row
from hardlabels.reporting.claims.design import PAPER_RATIO
from hardlabels.reporting.claims.judge import match_by_match
from hardlabels.reporting.claims.kinds import Better, Same
from hardlabels.reporting.claims.measure import measure
from hardlabels.reporting.claims.quantities import ACCURACY, ECE, LAMBDA_MAX, NLL, NLL_T
from hardlabels.reporting.claims.rules import Margin
from hardlabels.reporting.claims.sentences import reasons
from hardlabels.reporting.claims.trend import Trend
from hardlabels.runs.quantity import Quantity
from hardlabels.statistics.power import Criterion, smallest_effect, smallest_margin

ALL = np.inf
WOBBLE = np.array([-0.002, 0.001, 0.0005, 0.003, -0.001, 0.0015, -0.0025, 0.002])
"""A difference that changes its sign from seed to seed."""


def plain(mean: float, seeds: int = 8) -> list[float]:
    """Seeds from a mean on."""
    return (mean + 0.01 * np.arange(seeds)).tolist()


def around(mean: float, moved: float = 0.0, seeds: int = 8) -> list[float]:
    """A second method on the same seeds: moved, with a wobble of its own."""
    return (np.array(plain(mean, seeds)) + moved + WOBBLE[:seeds]).tolist()


def a_study(moved: float, *, name: str = "soft_nll", k: float = ALL, prior: float | None = 2.3, seeds: int = 8) -> dict:
    """SLS differs from soft labels by ``moved``; majority labels are worse by 0.5, so that the margin is 0.05."""
    values = {
        ("soft", k, name): plain(0.5, seeds), ("sls", k, name): around(0.5, moved, seeds),
        ("soft", ALL, name): plain(0.5, seeds), ("majority", ALL, name): plain(1.0, seeds),
    }  # fmt: skip
    return values if prior is None else values | {("soft", k, "prior/soft_nll"): [prior] * seeds}


PARITY, BETTER = Same((NLL,), ("sls",), ("soft",)), Better((NLL,), ("sls",), ("soft",))


# ---- studies with a known answer ----


def test_a_study_in_which_parity_is_true(make_design, find):
    found = find(PARITY, make_design(a_study(0.0)))
    assert found.status == "supported"
    (row,) = found.rows
    assert row.margin == pytest.approx(0.05)
    assert row.margin_why == "10 % of majority − soft in soft NLL, 0.5"
    assert row.inside


@pytest.mark.parametrize("moved", [0.1, -0.1])
def test_a_study_in_which_parity_is_false(make_design, find, moved):
    found = find(PARITY, make_design(a_study(moved)))
    assert found.status == "contradicted"
    assert "By the same rule against the claim: soft NLL, sls − soft." in found.sentence


def test_a_study_without_signal_tests_nothing(make_design, find, rules):
    for moved in (0.0, 0.1, -0.1):
        design = make_design(a_study(moved, prior=0.52))  # soft labels have 0.535 on average
        for test in (PARITY, BETTER):
            found = find(test, design)
            assert found.status == "not testable"
            assert "soft labels do not beat the class shares at K = all (soft NLL 0.5350 against 0.5200)" in found.sentence
    assert find(PARITY, make_design(a_study(0.0, prior=0.54))).status == "supported"
    assert (
        find(PARITY, make_design(a_study(0.0, prior=None))).status == "supported"
    )  # nothing is known: nothing is held against it


def test_the_floor_is_one_of_each_number_of_votes(make_design, find):
    values = a_study(-0.2, k=5, prior=0.2) | a_study(-0.2, k=10, prior=2.3)
    assert find(Better((NLL,), ("sls",), ("soft",), "few"), make_design(values)).status == "not testable"
    worse = a_study(-0.2, k=5, prior=0.2) | a_study(0.2, k=10, prior=2.3)  # where there is signal it points the other way
    assert find(Better((NLL,), ("sls",), ("soft",), "few"), make_design(worse)).status == "contradicted"


def test_the_floor_is_one_of_each_checkpoint(make_design, find):
    late = {("soft", ALL, "soft_nll"): plain(2.6), ("sls", ALL, "soft_nll"): around(2.6, -0.2)}
    design = make_design(a_study(-0.2), last=late)
    assert find(BETTER, design).status == "supported"
    assert find(BETTER, design, "last").status == "not testable"


def test_differences_that_are_pure_temperature(make_design, rules):
    """SLS and majority labels differ from soft labels in soft NLL, and by nothing that matters after one temperature."""
    values = {(method, k, "soft_nll"): around(mean) for k in (5, ALL) for method, mean in (("sls", 0.4), ("multipass", 0.4))}
    values |= {("soft", k, "soft_nll"): plain(0.5) for k in (5, ALL)} | {("majority", ALL, "soft_nll"): plain(1.0)}
    values |= {(method, k, "soft_nll_t"): around(0.4) for k in (5, ALL) for method in ("sls", "multipass", "majority")}
    values |= {("soft", k, "soft_nll_t"): plain(0.4) for k in (5, ALL)}
    design = make_design(values)
    found = {name: judge(CLAIMS[name], design, rules, study="quarter") for name in ("more-than-scale", "soft-buys-calibration")}
    assert found["more-than-scale"].status("last") == "no difference"
    assert found["more-than-scale"].word("last") == "no difference that matters"
    assert found["soft-buys-calibration"].status("last") == "supported"
    assert found["soft-buys-calibration"].at["last"].rows[0].margin == pytest.approx(0.05)  # a tenth of the gap before it
    beats = judge(replace(CLAIMS["hard-beats-soft"], test=Better((NLL,), ("sls",), ("soft",), "few")), design, rules, study="s")
    assert (beats.status("best"), beats.at["best"].tempered.status) == ("supported", "no difference")
    assert "After one temperature: no difference that matters" in beats.at["best"].sentence


# ---- inside the margin ----


@pytest.mark.parametrize("moved", [0.01, -0.01, 0.0])
def test_a_difference_inside_the_margin_is_neither_supported_nor_contradicted(make_design, find, moved):
    found = find(BETTER, make_design(a_study(moved)))
    assert found.status == "no difference"
    if moved:  # every seed has the same sign: by the tests alone it would count
        assert min(found.rows[0].decides, found.rows[0].against) <= 0.05


def test_without_a_margin_every_difference_counts(make_design, find):
    values = {key: numbers for key, numbers in a_study(0.01).items() if key[0] != "majority"}
    assert find(BETTER, make_design(values)).status == "contradicted"
    assert find(BETTER, make_design(values)).rows[0].margin is None


def test_one_comparison_that_matters_is_not_made_up_for_by_one_that_does_not(make_design, find):
    test = Better((NLL,), ("sls",), ("soft",), "few")
    values = a_study(-0.01, k=5) | a_study(-0.2, k=10)
    assert find(test, make_design(values)).status == "no difference"  # of two, one lies inside
    assert find(test, make_design(a_study(-0.01, k=5) | a_study(0.2, k=10))).status == "contradicted"


# ---- margins ----


@pytest.mark.parametrize(("majority", "why"), [(None, "no majority labels"), (0.4, "not better than majority")])
def test_parity_without_a_scale_is_not_testable(make_design, find, majority, why):
    values = {key: numbers for key, numbers in a_study(0.0).items() if key[0] != "majority"}
    if majority is not None:
        values["majority", ALL, "soft_nll"] = plain(majority)
    found = find(PARITY, make_design(values))
    assert found.status == "not testable"
    assert why in found.sentence


def test_what_each_metric_of_a_match_shows_is_said_although_one_of_them_cannot_be_tested(make_design, find):
    """Majority labels have the better ECE, so that it has no margin and makes the verdict; soft NLL is shown all the same."""
    both = Same((NLL, ECE), ("sls",), ("soft",))
    ece = {("soft", ALL, "ece_eqmass"): plain(0.3), ("sls", ALL, "ece_eqmass"): plain(0.3)}
    worse = {("majority", ALL, "ece_eqmass"): plain(0.1)}
    design = make_design(a_study(0.0) | ece | worse)
    found = find(both, design)
    assert found.status == "not testable"
    lead = match_by_match(found, 0.05)
    assert lead.startswith("Shown to lie within the margin: soft NLL. Not testable: ECE")
    assert ", since soft labels are not better than majority labels in ECE" in lead
    assert match_by_match(find(PARITY, design), 0.05) == ""  # a single comparison has its own sentence
    far = find(both, make_design(a_study(0.2) | ece | worse))
    assert far.status == "contradicted"
    assert match_by_match(far, 0.05).startswith("Shown to lie outside the margin: soft NLL.")


def test_another_metric_can_still_contradict_a_parity_without_a_scale(make_design, find):
    values = {key: numbers for key, numbers in a_study(0.0).items() if key[0] != "majority"}
    values |= {("soft", ALL, "hard_acc"): plain(0.8), ("sls", ALL, "hard_acc"): around(0.5)}
    both = Same((NLL, ACCURACY), ("sls",), ("soft",))
    assert find(both, make_design(values)).status == "contradicted"


def test_margins_are_those_of_the_checkpoint_and_the_slice(make_design, rules):
    values = a_study(0.0) | {
        (method, ALL, "soft_nll", "high_disagreement"): plain(mean) for method, mean in (("soft", 0.8), ("majority", 1.0))
    }
    design = make_design(values, last={("majority", ALL, "soft_nll"): plain(1.5)})
    margins = [rules.margin(NLL, design.at(c), ALL).value for c in ("best", "last")]
    assert margins == pytest.approx([0.05, 0.1])
    assert rules.margin(NLL.on("high_disagreement"), design, ALL).value == pytest.approx(0.02)


def test_what_a_change_of_seed_does_is_the_scale_of_accuracy_and_probes(make_design, rules):
    values = {("soft", k, name): [1.0, 2.0, 3.0] for k in (5, ALL) for name in ("hard_acc", "hessian/lambda_max")}
    design = make_design(values | {("soft", 5, "hard_acc"): [1.0, 3.0, 5.0]})
    assert rules.margin(ACCURACY, design, ALL).value == 0.5
    assert rules.margin(ACCURACY, design, 5.0).value == 1.0
    assert rules.margin(LAMBDA_MAX, design, ALL).value == 0.5


def test_the_papers_own_regime_has_the_published_margins(make_design, rules):
    own = make_design(a_study(0.0), own=True)
    assert rules.margin(NLL, own, ALL).value == rules.margin(NLL_T, own, ALL).value == 0.012
    ratio = Quantity("sampled_ratio", "gradient_variance")
    assert rules.margin(ratio, own, ALL).value == rules.margin(ratio, make_design(a_study(0.0)), ALL).value == 0.05


# ---- both tests ----


def test_both_tests_must_reject_outside_of_the_papers_own_regime(make_design, find):
    """Five of five seeds agree, so Wilcoxon rejects; but they differ widely, and the corrected t-test does not."""
    differences = np.array([-0.002, -0.03, -0.001, -0.04, -0.003])
    soft = np.array(plain(0.5, 5))
    values = {("soft", ALL, "soft_nll"): soft.tolist(), ("sls", ALL, "soft_nll"): (soft + differences).tolist()}
    elsewhere, own = (find(BETTER, make_design(values, own=own)) for own in (False, True))
    (row,) = elsewhere.rows
    assert row.p == wilcoxon(differences, alternative="less", method="exact").pvalue
    error = differences.std(ddof=1) * np.sqrt(1 / 5 + PAPER_RATIO)
    assert row.p_corrected == pytest.approx(student.cdf(differences.mean() / error, 4))
    assert row.p <= 0.05 < row.p_corrected
    assert (elsewhere.status, own.status) == ("inconclusive", "supported")
    assert (elsewhere.p, own.p) == (row.p_corrected, row.p)
    half = student.ppf(0.95, 4) * error
    assert (row.corrected_low, row.corrected_high) == pytest.approx((differences.mean() - half, differences.mean() + half))
    against = dict(values)
    against["sls", ALL, "soft_nll"] = (soft - differences).tolist()
    statuses = [find(BETTER, make_design(against, own=own)).status for own in (False, True)]
    assert statuses == ["inconclusive", "contradicted"]


# ---- one claim of many comparisons ----


def many(moved: dict[int, float], seeds: int) -> dict:
    values = {("soft", k, "soft_nll"): plain(0.5, seeds) for k in moved}
    return values | {("sls", k, "soft_nll"): around(0.5, shift, seeds) for k, shift in moved.items()}


TWELVE = dict.fromkeys(range(2, 14), -0.1)


def test_a_claim_that_needs_all_of_twelve_comparisons_needs_no_correction(make_design, find):
    found = find(Better((NLL,), ("sls",), ("soft",), "few"), make_design(many(TWELVE, 5)))
    assert (found.status, found.needed, found.p, found.least_p) == ("supported", 5, 2.0**-5, 2.0**-5)


@pytest.mark.parametrize(("seeds", "status"), [(5, "inconclusive"), (7, "inconclusive"), (8, "contradicted")])
def test_one_of_twelve_contradicts_after_holm_only(make_design, find, seeds, status):
    found = find(Better((NLL,), ("sls",), ("soft",), "few"), make_design(many(TWELVE | {13: 0.1}, seeds)))
    assert found.status == status  # 12 / 2^7 > 0.05 > 12 / 2^8
    expected = multipletests([1.0 if row.left < row.right else 2.0**-seeds for row in found.rows], method="holm")[1]
    assert [row.against for row in found.rows] == pytest.approx(expected.tolist())


# ---- words ----


@pytest.mark.parametrize(
    ("moved", "own_word", "elsewhere_word"),
    [(-0.2, "supported", "carries over"), (0.2, "contradicted", "does not carry over"), (None, "inconclusive", "undecided")],
)
def test_a_papers_claim_carries_over_or_not_where_it_is_tested_elsewhere(make_design, rules, moved, own_word, elsewhere_word):
    values = a_study(moved or 0.0)
    if moved is None:
        values["sls", ALL, "soft_nll"] = (np.array(plain(0.5)) + np.array([1, -1] * 4)).tolist()
    claim = replace(CLAIMS["hard-beats-soft"], test=BETTER)
    words = {own: judge(claim, make_design(values, own=own), rules, study="s").word("best") for own in (True, False)}
    assert words == {True: own_word, False: elsewhere_word}
    ours = judge(replace(claim, ours=True), make_design(values), rules, study="s")
    assert ours.word("best") == own_word  # what we claim ourselves we claim everywhere


def test_the_two_checkpoints_are_judged_apart(make_design, rules):
    design = make_design(a_study(-0.2), last={("sls", ALL, "soft_nll"): around(0.5, 0.2)})
    found = judge(replace(CLAIMS["hard-beats-soft"], test=BETTER), design, rules, study="s")
    assert (found.status("best"), found.status("last")) == ("supported", "contradicted")


def test_what_was_measured_at_the_selected_epoch_only_is_not_run_at_the_last(make_design, rules):
    design = make_design({(method, ALL, "soft_nll"): plain(0.5) for method in ("sls", "soft")})
    table = design.records.table
    rows = [
        ("", "d", "r", m, ALL, s, "full", "best", "hessian/lambda_max", v + s)
        for m, v in (("sls", 9), ("soft", 99))
        for s in range(8)
    ]
    for row in rows:
        table.loc[len(table)] = row
    found = judge(replace(CLAIMS["flatter-basins"], test=Better((LAMBDA_MAX,), ("sls",), ("soft",))), design, rules, study="s")
    assert (found.status("best"), found.status("last")) == ("supported", "not run")
    assert found.at["last"].sentence == "Not measured at the last epoch."


# ---- power ----


def test_what_could_have_been_seen_is_said_of_every_open_verdict(make_design, find, rules):
    noise = np.array([0.05, -0.06, 0.02, -0.03, 0.04, -0.01, 0.03, -0.05])
    soft = np.array(plain(0.5))
    values = {("soft", ALL, "soft_nll"): soft.tolist(), ("sls", ALL, "soft_nll"): (soft + noise).tolist()}
    found = find(BETTER, make_design(values), effect={NLL: 0.1})
    assert found.status == "inconclusive"
    expected = smallest_effect(noise, Criterion(PAPER_RATIO, alpha=0.05, two_sided=False), target=0.8)
    assert found.rows[0].detectable == pytest.approx(expected)
    assert f"could have shown (80 % power): soft NLL {expected:.4f}." in found.sentence
    assert f"The published difference in soft NLL, 0.1000, would take {found.rows[0].seeds_for_effect} seeds." in found.sentence
    decided = find(BETTER, make_design(a_study(-0.2)), effect={NLL: 0.1})
    assert decided.rows[0].detectable is None
    assert "power" not in decided.sentence


def test_the_published_difference_of_a_slice_is_held_against_that_slice(make_design, find):
    """The same spread on two slices; the published difference of one is a tenth of the other's."""
    noise, soft = np.array([5, -6, 2, -3, 4, -1, 3, -5.0]), np.arange(100.0, 108.0)
    parts = ("full", "high_disagreement")
    values = {("soft", ALL, "hessian/lambda_max", part): soft.tolist() for part in parts}
    values |= {("sls", ALL, "hessian/lambda_max", part): (soft + noise).tolist() for part in parts}
    quantities = tuple(LAMBDA_MAX.on(part) for part in parts)
    effects = dict(zip(quantities, (50.0, 0.5), strict=True))
    found = find(Better(quantities, ("sls",), ("soft",)), make_design(values), effect=effects)
    assert found.status == "inconclusive"
    assert [row.seeds_for_effect for row in found.rows] == [5, None]
    assert [row.out_of_reach for row in found.rows] == [False, True]
    assert "largest Hessian eigenvalue, 50.00, would take 5 seeds." in found.sentence
    assert "(high disagreement), 0.5000, would take more items, not more seeds on the same ones." in found.sentence


# ---- controls ----


@pytest.mark.parametrize(("shuffled", "status"), [(2.29, "supported"), (1.9, "contradicted")])
def test_shuffling_destroys_where_at_most_a_tenth_of_the_gain_remains(make_design, rules, shuffled, status):
    values = {("soft", ALL, "soft_nll"): plain(0.5), ("shuffled_sls", ALL, "soft_nll"): plain(shuffled)}
    values["soft", ALL, "prior/soft_nll"] = [2.3 + 0.01 * seed for seed in range(8)]
    found = judge(CLAIMS["match-destroyed"], make_design(values), rules, study="family").at["best"]
    assert found.status == status
    assert (found.rows[0].left, found.rows[0].right) == pytest.approx((2.3 - shuffled, 0.1 * 1.8))


@pytest.mark.parametrize(("accuracy", "status"), [(0.05, "supported"), (0.1, "supported"), (0.3, "contradicted")])
def test_shuffled_accuracy_is_held_against_the_most_frequent_class(make_design, rules, accuracy, status):
    values = {("soft", ALL, "hard_acc"): plain(0.5), ("shuffled_sls", ALL, "hard_acc"): (accuracy + WOBBLE).tolist()}
    values["soft", ALL, "prior/hard_acc"] = [0.1] * 8
    found = judge(CLAIMS["match-destroyed-accuracy"], make_design(values), rules, study="family").at["best"]
    assert found.status == status


# ---- settings ----


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margins": {"soft_nll": 0}}, r"margins\.soft_nll must be a number above 0, got 0"),
        ({"thresholds": {"barrier": None}}, r"thresholds\.barrier must be a number, got None"),
        ({"shares": Shares(gap=-1)}, r"shares\.gap must be a number above 0, got -1"),
        ({"alpha": 0.7}, r"alpha must lie between 0 and 0\.5, got 0\.7"),
        ({"power": 1.0}, r"power must lie between alpha and 1, got 1\.0"),
    ],
)
def test_rules_that_are_none_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Rules(**settings)


def test_an_unknown_threshold_is_refused():
    with pytest.raises(InputError, match=r"thresholds\.other must be a number, got None"):
        Rules().threshold("other")


# ---- what a hostile referee asked ----


def test_parity_that_holds_is_contradicted_at_its_level_however_small_the_margin():
    """All 256 signs of eight differences are equally likely under parity; beyond either end of a tiny margin counts."""
    sizes = np.array([0.011, 0.023, 0.031, 0.047, 0.053, 0.067, 0.071, 0.089])
    wrong = 0
    for signs in itertools.product((-1, 1), repeat=8):
        left = dict(enumerate(sizes * signs))
        row = measure(
            Comparison("c", NLL, "equal", left, dict.fromkeys(left, 0.0), tuple(left), (ALL,), margin=Margin(1e-9, "tiny")),
            alpha=0.05,
            ratio=0.0,
            both=False,
        )
        wrong += row.against <= 0.05
        assert row.against == pytest.approx(wilcoxon(sizes * signs, method="exact").pvalue)  # two-sided
    assert 0 < wrong / 256 <= 0.05


def test_after_one_temperature_a_papers_claim_has_the_same_words_as_before_it(make_design, rules):
    values = a_study(-0.2)
    values |= {(m, ALL, "soft_nll_t"): around(0.5, 0.2 if m == "sls" else 0.0) for m in ("sls", "soft", "majority")}
    claim = replace(CLAIMS["hard-beats-soft"], test=BETTER)
    elsewhere, own = (judge(claim, make_design(values, own=own), rules, study="s").at["best"] for own in (False, True))
    assert "After one temperature: does not carry over (" in elsewhere.sentence
    assert "After one temperature: contradicted (" in own.sentence


def test_a_difference_that_does_not_matter_is_not_named_among_those_against_a_claim():
    row = Row("one", "soft_nll", "less", 8, n=8, against=0.001)
    (sentence,) = reasons(
        "contradicted", [row, replace(row, label="other", inside=True)], absent=(), missing=False, ordered=True, alpha=0.05
    )
    assert sentence == "By the same rule against the claim: one."


def test_the_power_of_a_trend_is_in_units_of_its_correlation_and_not_of_its_quantity(make_design, find):
    noise = np.random.default_rng(0).normal(0, 0.05, (4, 8))
    steps = list(enumerate((2, 5, 10, 25)))
    values = {(m, k, "soft_nll"): (0.5 + noise[i] * (m == "sls")).tolist() for m in ("sls", "soft") for i, k in steps}
    found = find(Trend(NLL, ("sls",), rising=False, than="soft"), make_design(values), effect={NLL: 0.1})
    assert found.status == "inconclusive"
    assert "could have shown (80 % power): Spearman correlation of the gain in soft NLL and its place" in found.sentence
    assert "The published difference" not in found.sentence  # nats are no correlations


def test_an_open_equality_says_the_margin_that_it_could_have_shown(make_design, find):
    noise, soft = np.array([0.05, -0.06, 0.02, -0.03, 0.04, -0.01, 0.03, -0.05]), np.array(plain(0.5))
    values = {("soft", ALL, "soft_nll"): soft.tolist(), ("sls", ALL, "soft_nll"): (soft + noise).tolist()}
    values["majority", ALL, "soft_nll"] = (soft + 0.1).tolist()
    found = find(Same((NLL,), ("sls",), ("soft",)), make_design(values))
    assert found.status == "inconclusive"
    expected = smallest_margin(noise, Criterion(PAPER_RATIO, alpha=0.05, two_sided=False), target=0.8)
    assert f"could have shown equality where there is no difference (80 % power): soft NLL {expected:.4f}." in found.sentence
