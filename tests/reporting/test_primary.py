"""The primary analysis, against the words of results/quarter/README.md computed by scipy and statsmodels."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from omegaconf import OmegaConf
from scipy.stats import t as student
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.reporting.claims import CLAIMS, judge
from hardlabels.reporting.claims.kinds import Same
from hardlabels.reporting.claims.quantities import NLL
from hardlabels.reporting.primary import analyse, too_few, whole_seeds, whole_seeds_only
from hardlabels.reporting.primary_plan import Family, Primary
from hardlabels.reporting.primary_table import BESIDE_CLAIMS, write_primary

ALL = np.inf
QUARTER = Primary.from_config(OmegaConf.load(CONF / "study" / "quarter.yaml"))
FAMILY = [(method, checkpoint) for method in ("sls", "multipass") for checkpoint in ("best", "last")]


def a_study(shift: dict, seeds: int = 9, majority: float = 1.0) -> tuple[dict, dict]:
    """Soft NLL at both checkpoints; {(method, K, checkpoint): mean difference to soft labels}, with a spread of its own."""
    found = {}
    for checkpoint, level in (("best", 0.5), ("last", 0.7)):
        rng = np.random.default_rng(len(checkpoint) + seeds)
        base = {k: level + rng.normal(0, 0.02, seeds) for k in (5, ALL)}
        values = {("soft", k, "soft_nll"): base[k].tolist() for k in (5, ALL)}
        values["majority", ALL, "soft_nll"] = (base[ALL] + majority).tolist()
        for method in ("sls", "multipass"):
            for k in (5, ALL):
                noise = rng.normal(shift.get((method, k, checkpoint), 0.0), 0.01, seeds)
                values[method, k, "soft_nll"] = (base[k] + noise).tolist()
        found[checkpoint] = values
    return found["best"], found["last"]


def test_the_study_names_its_eight_outcomes():
    both = ("sls", "multipass")
    assert QUARTER.families == (Family(5.0, "better", NLL, both), Family(ALL, "same", NLL, both))
    assert (QUARTER.quantity, QUARTER.against, QUARTER.least_seeds) == (NLL, "soft", 8)
    assert Primary.from_config(OmegaConf.load(CONF / "study" / "main.yaml")) is None


def test_the_numbers_are_those_of_scipy_and_statsmodels(make_design, rules):
    best, last = a_study({("sls", 5, "best"): -0.05, ("sls", 5, "last"): -0.02, ("multipass", 5, "best"): -0.03})
    design = make_design(best, last=last)
    ratio = design.ratio
    found = analyse(QUARTER, design, rules)
    assert len(found.outcomes) == 8
    for k, word in ((5, "5"), (ALL, "all")):
        mine = [outcome for outcome in found.outcomes if word == outcome.K]
        values = {"best": best, "last": last}
        d = [np.subtract(values[c][m, k, "soft_nll"], values[c]["soft", k, "soft_nll"]) for m, c in FAMILY]
        exact = multipletests([wilcoxon(x, method="exact").pvalue for x in d], method="holm")[1]
        errors = [x.std(ddof=1) * np.sqrt(1 / 9 + ratio) for x in d]
        t = [2 * student.sf(abs(x.mean() / error), 8) for x, error in zip(d, errors, strict=True)]
        corrected = multipletests(t, method="holm")[1]
        assert [outcome.p for outcome in mine] == pytest.approx(exact.tolist())
        assert [outcome.p_corrected for outcome in mine] == pytest.approx(corrected.tolist())
        assert [outcome.difference for outcome in mine] == pytest.approx([x.mean() for x in d])
        half = [student.ppf(0.95, 8) * error for error in errors]
        assert [outcome.high for outcome in mine] == pytest.approx([x.mean() + h for x, h in zip(d, half, strict=True)])
        assert [outcome.shown for outcome in mine] == [
            bool(p <= 0.05 and q <= 0.05) for p, q in zip(exact, corrected, strict=True)
        ]
        for outcome, (_, checkpoint) in zip(mine, FAMILY, strict=True):
            gap = np.mean(
                np.subtract(values[checkpoint]["majority", ALL, "soft_nll"], values[checkpoint]["soft", ALL, "soft_nll"])
            )
            assert outcome.margin == pytest.approx(0.1 * gap)


def statuses(found, votes: str) -> list[str]:
    return [outcome.status for outcome in found.outcomes if votes == outcome.K]


@pytest.mark.parametrize(
    ("shift", "majority", "few", "full"),
    [
        (-0.3, 1.0, "supported", "contradicted"),
        (0.3, 1.0, "contradicted", "contradicted"),
        (0.0, 1.0, "inconclusive", "supported"),  # of no matter
        (-0.03, 1.0, "inconclusive", "supported"),  # shown, but of no matter
        (-0.03, 0.01, "supported", "contradicted"),  # the same difference where the scale is smaller
        (0.0, 0.01, "inconclusive", "inconclusive"),
        (0.0, -0.1, "inconclusive", "not testable"),  # soft labels are worse than majority labels
        (-0.3, -0.1, "supported", "not testable"),
    ],
)
def test_statuses_are_those_of_the_words(make_design, rules, shift, majority, few, full):
    best, last = a_study({(m, k, c): shift for m, c in FAMILY for k in (5, ALL)}, majority=majority)
    found = analyse(QUARTER, make_design(best, last=last), rules)
    assert statuses(found, "5") == [few] * 4
    assert statuses(found, "all") == [full] * 4
    assert all((outcome.detectable is not None) == (outcome.status == "inconclusive") for outcome in found.outcomes)


def test_a_claim_as_a_whole_needs_both_methods_at_both_checkpoints(make_design, rules):
    shift = {(m, k, c): -0.3 for m, c in FAMILY for k in (5,)} | {("multipass", 5, "last"): 0.0}
    best, last = a_study(shift)
    found = analyse(QUARTER, make_design(best, last=last), rules)
    assert statuses(found, "5") == ["supported", "supported", "supported", "inconclusive"]
    assert found.claims[0] == "sls, multipass better than soft, K = 5: inconclusive as a whole (3 supported, 1 inconclusive)."


def test_a_family_may_have_methods_and_a_quantity_of_its_own_with_the_margin_of_soft_nll(make_design, rules):
    """Majority labels far behind before a temperature, and level after it: worse and the same, each by its own numbers."""
    block = OmegaConf.to_container(OmegaConf.load(CONF / "study" / "quarter.yaml"))["primary"]
    block["families"] = [
        {"K": None, "claim": "worse", "methods": ["majority"]},
        {"K": None, "claim": "same", "quantity": "soft_nll_t", "methods": ["majority"]},
        {"K": None, "claim": "better", "quantity": "soft_nll_t"},
        {"K": None, "claim": "worse", "quantity": "soft_nll_t"},
    ]
    views = a_study({(m, ALL, c): -0.3 for m, c in FAMILY})
    rng = np.random.default_rng(0)
    for view in views:
        view.update({(m, k, "soft_nll_t"): list(values) for (m, k, _), values in view.items()})
        tempered = np.array(view["soft", ALL, "soft_nll"]) + rng.normal(0, 0.01, 9)
        view["majority", ALL, "soft_nll_t"] = tempered.tolist()
    found = analyse(Primary.from_config(OmegaConf.create({"primary": block})), make_design(views[0], last=views[1]), rules)
    said = ["supported"] * 2 + ["supported"] * 2 + ["supported"] * 4 + ["contradicted"] * 4
    assert [outcome.status for outcome in found.outcomes] == said
    assert [outcome.margin for outcome in found.outcomes] == pytest.approx([0.1] * 12)
    assert found.claims[1].startswith("majority the same as soft in soft NLL after one temperature, K = all: supported")


def test_a_family_may_have_a_method_of_its_own_to_compare_with_and_a_study_its_own_share(make_design, rules):
    """SLS is 0.3 below soft labels and so are majority labels, with few votes: alike, though both differ from soft labels."""
    block = OmegaConf.to_container(OmegaConf.load(CONF / "study" / "quarter.yaml"))["primary"]
    block["share"] = 0.025
    block["families"] = [
        {"K": 5, "claim": "better", "methods": ["majority"]},
        {"K": 5, "claim": "same", "methods": ["sls"], "against": "majority"},
    ]
    views = a_study({("sls", 5, c): -0.3 for c in ("best", "last")})
    for view in views:
        values = np.array(view["sls", 5, "soft_nll"])
        view["majority", 5, "soft_nll"] = (values + np.linspace(-0.002, 0.002, len(values))).tolist()
    primary = Primary.from_config(OmegaConf.create({"primary": block}))
    assert ("majority", 5) in primary.cells
    found = analyse(primary, make_design(views[0], last=views[1]), rules)
    assert [outcome.method for outcome in found.outcomes] == ["majority"] * 2 + ["sls − majority"] * 2
    assert [outcome.difference for outcome in found.outcomes] == pytest.approx([-0.3, -0.3, 0, 0], abs=0.01)
    assert {outcome.status for outcome in found.outcomes} == {"supported"}
    assert [outcome.margin for outcome in found.outcomes] == pytest.approx([0.025] * 4)
    assert found.claims[1] == "sls the same as majority, K = 5: supported as a whole (2 supported)."


@pytest.mark.parametrize("share", [0, 1, "a tenth"])
def test_a_share_of_the_gap_is_a_number_between_0_and_1(share):
    block = OmegaConf.to_container(OmegaConf.load(CONF / "study" / "quarter.yaml"))["primary"]
    with pytest.raises(InputError, match=r"study.primary.share must be a number between 0 and 1"):
        Primary.from_config(OmegaConf.create({"primary": {**block, "share": share}}))


def test_fewer_than_eight_whole_seeds_are_not_analysed(make_design, rules, tmp_path):
    best, last = a_study({(m, 5, c): -0.3 for m, c in FAMILY}, seeds=9)
    best["multipass", ALL, "soft_nll"] = best["multipass", ALL, "soft_nll"][:7]  # two seeds are not whole
    last["multipass", ALL, "soft_nll"] = last["multipass", ALL, "soft_nll"][:7]
    design = make_design(best, last=last)
    found = analyse(QUARTER, design, rules)
    assert found.refused
    assert found.outcomes == ()
    assert found.sentence == "7 whole seeds; fewer than 8 are not analysed, as was written down beforehand."
    write_primary(found, tmp_path)
    assert "0.3" not in (tmp_path / "primary.md").read_text()
    verdict = too_few(judge(CLAIMS["more-than-scale"], design, rules, study="quarter"), found)
    assert {finding.status for finding in verdict.at.values()} == {"not run"}
    assert not any(finding.rows for finding in verdict.at.values())


def test_what_is_whole_is_judged_and_the_rest_is_not_missed(make_design, rules):
    best, last = a_study({(m, 5, c): -0.3 for m, c in FAMILY}, seeds=9)
    cells = [(m, k, s) for m in ("soft", "sls", "multipass") for k in (5, None) for s in range(12)]
    cells += [("majority", None, s) for s in range(12)]
    design = make_design(best, last=last, cells=cells)
    assert whole_seeds(QUARTER, design) == tuple(range(9))
    claim = replace(CLAIMS["family-alike"], test=Same((NLL,), ("multipass",), ("sls",)))
    assert judge(claim, design, rules, study="quarter").at["best"].missing
    assert not judge(claim, whole_seeds_only(design, QUARTER), rules, study="quarter").at["best"].missing


def test_the_table_is_written_for_people_and_for_machines(make_design, rules, tmp_path):
    best, last = a_study({(m, k, c): -0.3 for m, c in FAMILY for k in (5, ALL)})
    found = analyse(QUARTER, make_design(best, last=last), rules)
    write_primary(found, tmp_path)
    text = (tmp_path / "primary.md").read_text()
    assert len([line for line in text.splitlines() if " | better | 5 | " in line]) == 4
    assert "contradicted, below 0" in text
    rows = list(csv.DictReader(io.StringIO((tmp_path / "primary.csv").read_text())))
    assert [row["status"] for row in rows] == ["supported"] * 4 + ["contradicted"] * 4


def test_what_a_status_would_be_with_the_margin_at_the_ends_of_its_own_interval_is_said(make_design, rules, tmp_path):
    """Methods differ by 0.02, and majority labels by 0.4 on average: the margin of 0.04 holds that, its lower end does not."""
    views = a_study({(m, ALL, c): 0.02 for m, c in FAMILY}, majority=0.4)
    steady = analyse(QUARTER, make_design(views[0], last=views[1]), rules)
    assert steady.sensitivity.endswith("no status changes.")
    apart = np.array([0.8, 0.0, 0.6, 0.2, 0.5, 0.3, 0.44, 0.36, 0.4])
    for view in views:
        view["majority", ALL, "soft_nll"] = (np.array(view["soft", ALL, "soft_nll"]) + apart).tolist()
    design = make_design(views[0], last=views[1])
    found = analyse(QUARTER, design, rules)
    half = student.ppf(0.95, 8) * apart.std(ddof=1) * np.sqrt(1 / 9 + design.ratio)
    assert found.margins[0][1].ends == pytest.approx((0.1 * (apart.mean() - half), 0.1 * (apart.mean() + half)))
    full = [outcome for outcome in found.outcomes if outcome.K == "all"]
    for outcome in full:
        assert (outcome.status, outcome.status_narrow, outcome.status_wide) == ("supported", "contradicted", "supported")
        assert outcome.high < outcome.margin
    assert [o.status for o in found.outcomes] == [o.status for o in steady.outcomes]  # it is said, and decides nothing
    first = "soft NLL, same, K = all, sls, selected epoch: contradicted with the smaller margin"
    assert f"4 of 8 statuses would be others: {first};" in found.sensitivity
    write_primary(found, tmp_path)
    assert found.sensitivity in (tmp_path / "primary.md").read_text()


def test_where_the_primary_outcome_and_the_claim_may_differ_the_page_says_which_to_trust(make_design, rules, tmp_path):
    """Majority labels end 0.13 behind after a temperature; the margin is 0.1: they differ, but not demonstrably by more."""
    views = a_study({}, majority=1.0)
    behind = 0.13 + np.array([-0.08, 0.08, -0.06, 0.06, -0.04, 0.04, -0.02, 0.02, 0.0])
    for view in views:
        view.update({("soft", k, "soft_nll_t"): view["soft", k, "soft_nll"] for k in (5, ALL)})
        view["majority", ALL, "soft_nll_t"] = (np.array(view["soft", ALL, "soft_nll"]) + behind).tolist()
    block = OmegaConf.to_container(OmegaConf.load(CONF / "study" / "quarter.yaml"))["primary"]
    block["families"] = [{"K": None, "claim": "same", "quantity": "soft_nll_t", "methods": ["majority"]}]
    design = make_design(views[0], last=views[1])
    found = analyse(Primary.from_config(OmegaConf.create({"primary": block})), design, rules)
    verdict = judge(CLAIMS["soft-buys-calibration"], design, rules, study="quarter")
    assert {outcome.status for outcome in found.outcomes} == {"contradicted"}
    assert verdict.status("last") == "inconclusive"
    write_primary(found, tmp_path)
    assert BESIDE_CLAIMS in (tmp_path / "primary.md").read_text()


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"quantity": "soft_nll"}, "study.primary must have quantity, methods"),
        (
            {
                "quantity": "soft_nll",
                "methods": ["sls"],
                "against": "soft",
                "families": [{"K": 5, "claim": "nicer"}],
                "least_seeds": 8,
            },
            "study.primary.families: expected",
        ),
    ],
)
def test_a_block_that_is_none_is_refused(block, message):
    with pytest.raises(InputError, match=message):
        Primary.from_config(OmegaConf.create({"primary": block}))
