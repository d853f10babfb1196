"""Each table from literal records, against answers worked out by hand."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from hardlabels.reporting.published import published
from hardlabels.reporting.tables import TABLES

ALL = float("inf")


def test_table_1_tests_hard_delivery_against_soft_and_corrects_over_its_cells(literal):
    table = TABLES["1"](
        literal(
            {
                ("soft", 5, "soft_nll"): [1.0, 1.1, 1.2, 1.3, 1.4],
                ("sls", 5, "soft_nll"): [0.9, 0.9, 0.9, 0.9, 0.9],  # better by 0.1, 0.2, 0.3, 0.4, 0.5: p = 1/32
                ("multipass", 5, "soft_nll"): [1.1, 0.9, 0.9, 0.9, 0.9],  # the smallest difference is against it: p = 2/32
                ("majority", 5, "soft_nll"): [2.0, 2.0, 2.0, 2.0, 2.0],
            },
            data="toy",
        )
    )
    assert table.rows == ["soft", "sls", "multipass", "majority"]
    assert table.columns == ["K = 5"]
    soft, sls, multipass = (table.cells[method, "K = 5"] for method in ("soft", "sls", "multipass"))
    assert (soft.mean, soft.n, soft.p) == (pytest.approx(1.2), 5, None)
    assert soft.sd == pytest.approx(np.std([1.0, 1.1, 1.2, 1.3, 1.4], ddof=1))
    assert (sls.p, sls.p_adjusted, sls.agreeing, sls.paired) == (1 / 32, 2 / 32, 5, 5)
    assert (multipass.p, multipass.p_adjusted, multipass.agreeing) == (2 / 32, 2 / 32, 4)
    assert table.cells["majority", "K = 5"].p is None
    assert [method for method in table.rows if table.cells[method, "K = 5"].best] == ["sls"]
    assert "Better than soft in 2 of 2 cells; all seeds agree in 1; Holm-adjusted p at most 0.05 in 0." in table.notes
    assert any("can reject from 6 paired seeds on; here n = 5" in note for note in table.notes)


def test_table_1_has_the_p_values_of_scipy(literal):
    rng = np.random.default_rng(0)
    soft, sls = rng.normal(size=7).tolist(), rng.normal(-0.5, size=7).tolist()
    table = TABLES["1"](literal({("soft", 10, "soft_nll"): soft, ("sls", 10, "soft_nll"): sls}, data="toy"))
    reference = wilcoxon(sls, soft, alternative="less", method="exact").pvalue
    assert table.cells["sls", "K = 10"].p == pytest.approx(reference)


def test_table_1_of_the_published_means_says_12_of_12(literal):
    paper = published()["table1_sparse_soft_nll"]
    shifts = [-0.02, -0.01, 0.0, 0.01, 0.02]
    values = {
        (method, k, "soft_nll"): [mean + shift for shift in shifts]
        for method in ("soft", "sls", "multipass", "deterministic_control")
        for k, mean in zip(paper["K"], paper[method]["nll"], strict=True)
    }
    table = TABLES["1"](literal(values))
    assert len(table.cells) == 16
    for (method, column), entry in table.cells.items():
        assert entry.mean == pytest.approx(entry.published), (method, column)
        assert (entry.n, entry.published_p is None) == (5, method == "soft")
    assert table.notes[0] == "Better than soft in 12 of 12 cells; all seeds agree in 12; Holm-adjusted p at most 0.05 in 0."
    assert "over 12 one-sided tests at 0.05 can reject from 8 paired seeds on; here n = 5" in table.notes[1]
    assert not any(note.startswith("Missing") for note in table.notes)
    assert table.cells["sls", "K = 25"].published_p == 0.063
    best = {column: row for (row, column), entry in table.cells.items() if entry.best}
    assert best == {"K = 5": "deterministic_control", "K = 10": "multipass", "K = 25": "deterministic_control",
                    "K = 50": "deterministic_control"}  # fmt: skip


def test_all_votes_are_context_in_table_1_and_no_part_of_the_family(literal):
    values = {(m, k, "soft_nll"): [1.0, 2.0, 3.0] for m in ("soft", "sls") for k in (5, ALL)}
    table = TABLES["1"](literal(values, data="toy"))
    assert table.columns == ["K = 5", "K = all"]
    assert table.cells["sls", "K = all"].p is None
    assert table.cells["sls", "K = 5"].p == 1.0
    alone = TABLES["1"](literal({("sls", ALL, "soft_nll"): [1.0]}))
    assert alone.columns == ["K = 5", "K = 10", "K = 25", "K = 50"]
    assert all(entry.mean is None for entry in alone.cells.values())


def test_table_2_tests_sls_against_soft_on_both_sides(literal):
    names = ("soft_nll", "hard_acc", "ece_eqmass", "ent_corr")
    values = {("soft", ALL, name): [0.4, 0.5, 0.6] for name in names}
    values |= {("sls", ALL, name): [0.3, 0.3, 0.3] for name in names} | {("majority", ALL, name): [0.9] for name in names}
    table = TABLES["2"](literal(values, data="toy"))
    assert table.columns == [
        "soft NLL ↓", "soft NLL after one temperature ↓", "accuracy ↑", "ECE (equal mass) ↓", "ECE against votes ↓",
        "entropy correlation ↑",
    ]  # fmt: skip
    assert table.rows == ["soft", "sls", "majority"]
    sls = table.cells["sls", "soft NLL ↓"]
    assert (sls.p, sls.agreeing, sls.published) == (0.25, 3, None)  # all of one sign: 2 / 2^3
    assert {column: row for (row, column), entry in table.cells.items() if entry.best} == {
        "soft NLL ↓": "sls", "accuracy ↑": "majority", "ECE (equal mass) ↓": "sls", "entropy correlation ↑": "majority",
    }  # fmt: skip
    assert table.cells["majority", "accuracy ↑"].sd is None
    assert "n = 1 to 3 seeds" in table.caption


def test_table_3_tests_multipass_and_shuffled_against_sls(literal):
    values = {
        ("soft", ALL, "soft_nll"): [0.5] * 5,
        ("sls", ALL, "soft_nll"): [0.51, 0.52, 0.53, 0.54, 0.55],
        ("multipass", ALL, "soft_nll"): [0.50, 0.54, 0.50, 0.58, 0.50],  # -1, +2, -3, +4, -5: W+ = 6, two-sided p = 26/32
        ("shuffled_sls", ALL, "soft_nll"): [2.3] * 5,
        ("majority", ALL, "soft_nll"): [0.7] * 5,
    }
    table = TABLES["3"](literal(values))
    multipass, shuffled = table.cells["multipass", "soft NLL ↓"], table.cells["shuffled_sls", "soft NLL ↓"]
    reference = wilcoxon(values["multipass", ALL, "soft_nll"], values["sls", ALL, "soft_nll"], method="exact").pvalue
    assert multipass.p == pytest.approx(reference) == pytest.approx(26 / 32)
    assert shuffled.p == 0.0625 == shuffled.published_p
    assert multipass.published_p == 0.4375
    assert table.rows == ["soft", "sls", "multipass", "deterministic_control", "shuffled_sls"]
    assert table.cells["deterministic_control", "accuracy ↑"].text == "missing"


def test_table_4_has_sls_on_the_family_s_seeds_beside_all_of_them(literal):
    values = {
        ("sls", ALL, "hessian/lambda_max"): [100.0, 110.0, 130.0, 140.0],
        ("multipass", ALL, "hessian/lambda_max"): [90.0, 96.0],
    }
    values |= {("sls", ALL, "hessian/lambda_max", "high_disagreement"): [300.0, 310.0, 330.0, 340.0]}
    table = TABLES["4"](literal(values))
    assert table.cells["sls", "λ_max, full"].mean == 120.0
    assert table.cells["sls", "λ_max, full"].published == 104.9
    family = table.cells["sls (family's seeds)", "λ_max, full"]
    assert (family.mean, family.n, family.published) == (105.0, 2, 107.8)
    assert table.cells["sls (family's seeds)", "λ_max, high"].mean == 305.0
    assert table.cells["multipass", "λ_max, full"].best
    assert table.cells["soft", "trace, high"].text == "missing"
    assert any("python -m hardlabels.diagnose study=main probe=hessian" in note for note in table.notes)


def test_table_4_shows_the_weight_norm_where_it_was_measured(literal):
    values = {("sls", ALL, "hessian/lambda_max"): [100.0], ("sls", ALL, "hessian/weight_norm"): [40.0]}
    table = TABLES["4"](literal(values, data="toy"))
    assert table.rows == ["sls"]
    assert table.cells["sls", "weight norm"].mean == 40.0


def test_table_4_says_how_the_numbers_were_found(outputs):
    values = {
        "estimators": "Lanczos",
        "sign_convention": "upwards is positive",
        "full/lambda_max": 5.0,
        "full/lambda_products": 30,
    }
    path = outputs.run("sls", None, 0, probes={"hessian": values})
    file = path / "diagnostics" / "hessian.json"
    file.write_text(file.read_text().replace('"values"', '"settings": {"tolerance": 0.02}, "values"'))
    notes = TABLES["4"](outputs.records()).notes
    assert "Lanczos; tolerance 0.02. upwards is positive." in notes
    assert "Products of the Hessian with a vector, mean: hessian/lambda_products 30." in notes


def test_table_5_shows_kl_as_soft_nll_less_its_floor(literal):
    values = {
        ("sls", ALL, "soft_nll"): [0.50, 0.52], ("sls", ALL, "kl_to_annotator"): [0.35, 0.36],
        ("soft", ALL, "soft_nll"): [0.51, 0.53], ("soft", ALL, "kl_to_annotator"): [0.36, 0.37],
        ("sls", ALL, "soft_brier"): [0.15, 0.16], ("soft", ALL, "soft_brier"): [0.14, 0.15],
    }  # fmt: skip
    table = TABLES["5"](literal(values))
    assert table.columns == ["soft NLL − H(p) = KL ↓", "KL after one temperature ↓", "soft Brier ↓"]
    kl = table.cells["sls", "soft NLL − H(p) = KL ↓"]
    assert (kl.mean, kl.published, kl.p) == (pytest.approx(0.355), 0.3515, None)  # no test: it would be table 2's once more
    assert "not counted as separate evidence. The floor is 0.1550 nat here" in table.notes[0]


def test_table_6_is_the_largest_eigenvalue_by_k(literal):
    values = {
        ("sls", 5, "hessian/lambda_max"): [114.0, 116.0], ("soft", 5, "hessian/lambda_max"): [240.0, 242.0],
        ("sls", 5, "hessian/lambda_max", "high_disagreement"): [470.0, 490.0], ("sls", 25, "hessian/lambda_max"): [97.0],
    }  # fmt: skip
    table = TABLES["6"](literal(values))
    assert table.rows == ["K = 5", "K = 10", "K = 25", "K = 50"]
    assert table.columns == ["sls, full", "soft, full", "sls, high", "soft, high"]
    assert (table.cells["K = 5", "sls, full"].mean, table.cells["K = 5", "sls, full"].published) == (115.0, 114.0)
    assert table.cells["K = 5", "sls, high"].mean == 480.0
    assert table.cells["K = 5", "sls, full"].best
    assert not table.cells["K = 5", "sls, high"].best  # without a rival
    assert (table.cells["K = 25", "soft, full"].text, table.cells["K = 25", "soft, full"].published) == ("missing", 267.1)


def test_tables_7_and_9_have_a_row_a_detector_and_a_column_a_method(literal):
    values = {(m, ALL, f"ood/{s}/{d}/auroc"): [a, a + 0.02] for m, a in (("soft", 0.8), ("sls", 0.9))
              for s in ("svhn", "cifar100") for d in ("energy", "knn")}  # fmt: skip
    far, near = TABLES["7"](literal(values)), TABLES["9"](literal(values))
    assert far.rows == ["energy", "msp", "odin", "entropy", "logit_margin", "knn"]
    assert near.rows == ["energy", "msp", "knn"]
    assert far.columns == near.columns == ["soft", "sls", "multipass", "deterministic_control"]
    energy = far.cells["energy", "sls"]
    assert (energy.mean, energy.published, energy.published_sd, energy.best) == (pytest.approx(0.91), 0.8788, 0.0261, True)
    assert (near.cells["knn", "soft"].mean, near.cells["knn", "soft"].published) == (pytest.approx(0.81), 0.8009)
    assert all(entry.p is None for entry in far.cells.values())


def test_tables_of_outliers_have_rows_of_the_few_votes_that_were_measured(literal):
    """With the methods that were measured; nothing is said to be missing of a K that the paper does not have."""
    names = [f"ood/{images}/{detector}/auroc" for images in ("svhn", "cifar100") for detector in ("energy", "knn")]
    values = {(m, ALL, name): [a, a + 0.02] for m, a in (("soft", 0.8), ("sls", 0.9)) for name in names}
    few = {(m, 5.0, name): [a, a + 0.01] for m, a in (("soft", 0.6), ("sls", 0.7)) for name in names}
    before, after = ({number: TABLES[number](literal(v)) for number in ("7", "8", "9", "S3")} for v in (values, values | few))
    for number, table in after.items():
        rows = before[number].rows
        assert table.rows[: len(rows)] == rows
        assert {row.rpartition(", ")[2] for row in table.rows[len(rows) :]} == {"K = 5"}
        assert {key: entry for key, entry in table.cells.items() if key[0] in rows} == before[number].cells
        assert table.notes == before[number].notes
        assert ("all votes, " in before[number].caption, "where a row names a K" in table.caption) == (True, True)
    assert after["7"].rows[-2:] == ["energy, K = 5", "knn, K = 5"]
    energy = after["8"].cells["energy, K = 5", "sls"]
    assert (energy.mean, energy.published, energy.p, energy.best) == (pytest.approx(0.705), None, 0.25, True)
    assert after["S3"].cells["svhn, knn, K = 5", "soft, AUROC ↑"].mean == pytest.approx(0.605)
    assert ("energy, K = 5", "multipass") not in after["7"].cells


def test_a_method_that_was_measured_with_few_votes_alone_has_a_column(literal):
    values = {("stratified_sls", 5.0, "ood/svhn/knn/auroc"): [0.7], ("soft", ALL, "ood/svhn/knn/auroc"): [0.6]}
    table = TABLES["7"](literal(values))
    assert table.cells["knn, K = 5", "stratified_sls"].mean == 0.7
    assert ("knn", "stratified_sls") not in table.cells
    assert not any("stratified_sls" in note for note in table.notes)


def test_table_8_tests_one_sided_that_sls_is_higher(literal):
    values = {
        ("sls", ALL, "ood/cifar100/energy/auroc"): [0.81, 0.82, 0.83, 0.84, 0.85],
        ("soft", ALL, "ood/cifar100/energy/auroc"): [0.80, 0.80, 0.80, 0.80, 0.80],
    }
    table = TABLES["8"](literal(values))
    sls = table.cells["energy", "sls"]
    assert (sls.p, sls.agreeing, sls.published, sls.published_p) == (1 / 32, 5, 0.8185, 0.0186)
    assert table.cells["energy", "soft"].p is None
    other_way = TABLES["8"](literal({(m, *rest): v for (_, *rest), v, m in
                                     zip(values, values.values(), ("soft", "sls"), strict=True)}))  # fmt: skip
    assert other_way.cells["energy", "sls"].p == 1.0


def test_table_s3_has_every_measure_of_every_set(literal):
    values = {
        (m, ALL, f"ood/noise/knn/{name}"): [v] for m, v in (("soft", 0.2), ("sls", 0.3)) for name in ("auroc", "aupr", "fpr95")
    }
    table = TABLES["S3"](literal(values, data="toy"))
    assert table.rows == ["noise, knn"]
    assert {column for (_, column), entry in table.cells.items() if entry.best} == {
        "sls, AUROC ↑",
        "sls, AUPR ↑",
        "soft, FPR95 ↓",
    }


def test_the_published_p_of_table_8_are_one_sided():
    for p in (row[2] for name, row in published()["table8_cifar100_auroc"].items() if name != "columns"):
        assert round(round(p * 1024) / 1024, 4) == p  # ten seeds: multiples of 1/1024
    assert [round(p * 1024) % 2 for p in (0.0186, 0.0654)] == [1, 1]  # a two-sided p is an even one


def test_table_s1_is_the_second_paper_s_comparison(literal):
    values = {("soft", ALL, "kl_to_annotator"): [0.2, 0.3, 0.4], ("majority", ALL, "kl_to_annotator"): [0.5, 0.6, 0.7]}
    table = TABLES["S1"](literal(values))
    change = table.cells["change, soft over majority", "KL to annotators ↓"]
    assert (change.mean, change.published, change.p) == (pytest.approx(-0.5), -0.32, 0.25)
    assert table.cells["change, soft over majority", "accuracy ↑"].text == "missing"


def test_table_s2_is_about_the_slices(literal):
    values = {("sls", ALL, "ent_corr", "non_unanimous"): [0.3, 0.5], ("soft", ALL, "ent_corr", "non_unanimous"): [0.2, 0.2]}
    table = TABLES["S2"](literal(values, data="toy"))
    assert table.cells["sls", "entropy correlation ↑, non-unanimous"].mean == 0.4
    assert table.cells["sls", "entropy correlation ↑, non-unanimous"].best
