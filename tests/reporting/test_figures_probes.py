"""Figures of what probes saved: literal files in, exact numbers out, and the same numbers on the canvas."""

from itertools import product

import numpy as np
import pytest

from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.figures.across import PairKind
from hardlabels.reporting.figures.figure2_js_diagnostic import draw_js_diagnostic, prepare_js_diagnostic
from hardlabels.reporting.figures.figure5_l1_diagnostic import prepare_l1_diagnostic
from hardlabels.reporting.figures.figure6_high_slice_diagnostic import prepare_high_slice_diagnostic
from hardlabels.reporting.figures.figure7_gradient_variance import draw_gradient_variance, prepare_gradient_variance
from hardlabels.reporting.figures.figure8_dynamics import draw_dynamics, prepare_dynamics
from hardlabels.reporting.figures.figure9_gradcam import draw_gradcam, prepare_gradcam
from hardlabels.reporting.figures.figure11_barrier import draw_barrier, prepare_barrier
from hardlabels.reporting.figures.figure12_cka import draw_cka, prepare_cka
from hardlabels.reporting.figures.figure_s6_score_histograms import draw_score_histograms, prepare_score_histograms
from hardlabels.reporting.figures.figure_s7_roc import FPR, draw_roc, prepare_roc


def bins(distance, improvement):
    return {
        "upper": distance,
        "n": [1] * len(distance),
        "distance": distance,
        "improvement": improvement,
        "se": [0.0] * len(distance),
    }


# ---- figures 2, 5 and 6 ----


@pytest.fixture
def sparse(outputs):
    for method in ("soft", "sls"):
        for seed in (0, 1):
            outputs.run(method, 5, seed)
    one = {
        "full/js_bins": bins([0.0, 0.2, 0.4], [0.0, 0.1, 0.3]),
        "full/js_spearman": 0.05,
        "full/js_spearman_given_entropy": 0.01,
    }
    two = {"full/js_bins": bins([0.2, 0.6], [0.3, 0.5]), "full/js_spearman": 0.16, "full/l1_bins": bins([1.0], [0.7]),
           "high_disagreement/js_bins": bins([0.5], [0.9])}  # fmt: skip
    outputs.pairs("sparse_target", [(("sls", 5, 0), ("soft", 5, 0), one), (("sls", 5, 1), ("soft", 5, 1), two),
                                    (("sls", 5, 7), ("soft", 5, 7), two)])  # fmt: skip
    return outputs.records()


def test_bins_of_seeds_are_matched_from_the_far_end(sparse):
    numbers = prepare_js_diagnostic(sparse)
    rows = numbers.bins.sort_values("place")
    assert rows["place"].tolist() == [1, 2, 3]
    assert rows["distance"].tolist() == pytest.approx([0.5, 0.2, 0.0])  # (0.4 + 0.6) / 2, (0.2 + 0.2) / 2, seed 0 alone
    assert rows["improvement"].tolist() == pytest.approx([0.4, 0.2, 0.0])
    assert rows["sd"].tolist() == pytest.approx([0.2 / np.sqrt(2), 0.2 / np.sqrt(2), 0.0])
    assert rows["n"].tolist() == [2, 2, 1]  # a pair whose runs are not there does not count
    assert numbers.spearman["value"].tolist() == [0.05, 0.16]


def test_the_improvement_is_drawn_from_near_to_far(sparse):
    canvas = draw_js_diagnostic(prepare_js_diagnostic(sparse))
    (line,) = [bars[0] for bars in canvas.axes[0].containers]
    assert line.get_xdata().tolist() == pytest.approx([0.0, 0.2, 0.5])
    assert line.get_ydata().tolist() == pytest.approx([0.0, 0.2, 0.4])
    assert canvas.axes[0].get_title() == "K = 5"
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["sls"]


def test_l1_and_the_high_slice_have_figures_of_their_own(sparse):
    assert prepare_l1_diagnostic(sparse).bins["improvement"].tolist() == [0.7]
    assert prepare_high_slice_diagnostic(sparse).bins["improvement"].tolist() == [0.9]
    for number in ("2", "5", "6"):
        figure = FIGURES[number](sparse)
        figure.draw().canvas.draw()
    assert (
        "sls, K = 5: per-seed Spearman of error and gain +0.050 to +0.160, mean +0.105 (n = 2); given annotator entropy +0.010."
        in (FIGURES["2"](sparse).notes)
    )


# ---- figure 7 ----


def test_gradient_variance_shows_the_items_of_one_run_and_the_correlation_of_all(outputs):
    arrays = {"item_entropy": np.array([0.0, 0.5]), "item_variance": np.array([0.0, 2.0]), "item_position": np.array([3, 4])}
    for method, seed, value in (("soft", 0, 0.9), ("sls", 0, 0.94), ("sls", 1, 0.95)):
        outputs.run(method, None, seed, probes={"gradient_variance": {"full/spearman": value, "high_disagreement/spearman": 0.1}},
                    arrays={"gradient_variance": arrays} if (method, seed) != ("sls", 0) else None)  # fmt: skip
    numbers = prepare_gradient_variance(outputs.records())
    assert numbers.spearman.values.tolist() == [["sls", 0, 0.94], ["sls", 1, 0.95], ["soft", 0, 0.9]]
    assert str(numbers.run) == "sls K=all seed=1"
    canvas = draw_gradient_variance(numbers)
    assert canvas.axes[0].lines[0].get_ydata().tolist() == [0.0, 2.0]
    assert [text.get_text() for text in canvas.axes[1].get_xticklabels()] == ["soft", "sls"]
    assert "mean 0.930, 0.900 to 0.950 over 3 runs" in FIGURES["7"](outputs.records()).notes[0]


# ---- figure 8 ----


def test_dynamics_pairs_the_epochs_of_one_seed(outputs):
    def probe(curve, near, best):
        return {
            "dynamics": {
                "full/curve": curve,
                "full/near_best_epoch": near,
                "full/best_epoch": best,
                "monitor": "evaluate/soft_nll",
            }
        }

    outputs.run("soft", None, 0, probes=probe([3.0, 2.0, 1.0], 40, 90))
    outputs.run("soft", None, 1, probes=probe([3.0, 2.0, None], 60, 100))
    outputs.run("sls", None, 0, probes=probe([3.0, 1.0], 10, 50))
    outputs.run("sls", None, 5, probes=probe([3.0, 1.0, 1.0], 0, 0))
    numbers = prepare_dynamics(outputs.records())
    assert numbers.earlier["near_best_epoch"].tolist() == [30.0]  # seed 0 alone has both
    assert numbers.earlier["best_epoch"].tolist() == [40.0]
    np.testing.assert_array_equal(numbers.curves["sls"], [[3.0, 1.0, np.nan], [3.0, 1.0, 1.0]])
    canvas = draw_dynamics(numbers)
    soft = next(line for line in canvas.axes[0].lines if line.get_label() == "soft")
    assert soft.get_ydata().tolist() == [3.0, 2.0, 1.0]
    notes = FIGURES["8"](outputs.records()).notes
    assert "best: sls 40.0 epochs earlier than soft on average over 1 paired seeds." in notes


def test_dynamics_of_one_method_alone_is_drawn(outputs):
    outputs.run("soft", None, 0, probes={"dynamics": {"full/curve": [2.0, 1.0], "full/near_best_epoch": 1, "full/best_epoch": 1}})
    figure = FIGURES["8"](outputs.records())
    assert not any("earlier" in note for note in figure.notes)
    figure.draw().canvas.draw()


# ---- figures 9 and 12 ----


def test_gradcam_has_a_dot_a_pair_and_the_maps_of_two_seeds(outputs):
    for method in ("soft", "sls"):
        for seed in (0, 1, 2):
            outputs.run(method, None, seed)
    pairs = [((m, None, a), (m, None, b), {"full/correlation": v, "high_disagreement/correlation": None})
             for m, v in (("sls", 0.9), ("soft", 0.8)) for a, b in ((0, 1), (0, 2))]  # fmt: skip
    maps = {
        "example_image": np.zeros((2, 4, 4, 3), np.uint8),
        "example_map_a": np.ones((2, 2, 2)),
        "example_map_b": np.ones((2, 2, 2)),
    }
    outputs.pairs("gradcam", pairs, arrays=(("sls", None, 0), ("sls", None, 1), maps))
    numbers = prepare_gradcam(outputs.records())
    assert numbers.stability.groupby("kind", sort=False)["value"].apply(list).to_dict() == {
        PairKind("soft", "soft"): [0.8, 0.8],
        PairKind("sls", "sls"): [0.9, 0.9],
    }
    assert set(numbers.stability["slice"]) == {"full"}
    assert list(numbers.examples) == ["sls"]
    canvas = draw_gradcam(numbers)
    assert sum(len(axis.images) for axis in canvas.axes) == 2 * 2 * 2  # 2 images x 2 seeds, each with its map laid over it
    assert "sls, full: mean 0.900, 0.900 to 0.900, 2 pairs." in FIGURES["9"](outputs.records()).notes


def test_cka_tells_pairs_within_a_method_from_pairs_between(outputs):
    for method in ("soft", "sls"):
        for seed in (0, 1):
            outputs.run(method, None, seed)
    same = {"full/cka": 0.7, "full/cka_debiased": 0.6}
    outputs.pairs("cka", [(("sls", None, 0), ("sls", None, 1), {"full/cka": 0.92, "full/cka_debiased": 0.9}),
                          (("soft", None, 0), ("soft", None, 1), {"full/cka": 0.88}),
                          (("sls", None, 0), ("soft", None, 0), same), (("sls", None, 0), ("soft", None, 1), same)])  # fmt: skip
    numbers = prepare_cka(outputs.records())
    plain = numbers[numbers["estimator"] == "cka"]
    assert dict(zip(plain["kind"], plain["value"], strict=True)) == {
        PairKind("soft", "soft"): 0.88,
        PairKind("sls", "sls"): 0.92,
        PairKind("sls", "soft"): 0.7,
        PairKind("sls", "soft", same_seed=True): 0.7,
    }
    canvas = draw_cka(numbers)
    assert [text.get_text() for text in canvas.axes[0].get_xticklabels()] == [
        "soft",
        "sls",
        "sls – soft",
        "sls – soft, same seed",
    ]


# ---- figure 11 ----


def test_barriers_are_shown_with_and_without_stale_statistics(outputs):
    for method in ("soft", "sls"):
        for seed in (0, 1):
            outputs.run(method, None, seed, logits=np.zeros((3, 10)), p=np.full((3, 10), 0.1))
    stale = {"full/soft_nll_interpolated_bn": [1.0, 3.0, 1.0], "full/barrier_interpolated_bn": 2.0}
    fresh = {"full/soft_nll_reestimated_bn": [1.0, 1.5, 1.0]}
    values = [{"alpha": [0.0, 0.5, 1.0], **stale, **fresh, "full/barrier_reestimated_bn": height} for height in (0.5, 0.7)]
    outputs.pairs("barrier", [(("sls", None, s), ("soft", None, s), v) for s, v in enumerate(values)])
    numbers = prepare_barrier(outputs.records())
    assert numbers.heights["reestimated_bn", PairKind("sls", "soft")].tolist() == [0.5, 0.7]
    assert numbers.curves["interpolated_bn", PairKind("sls", "soft")].tolist() == [[1.0, 3.0, 1.0]] * 2
    assert numbers.chance == pytest.approx(np.log(10))
    canvas = draw_barrier(numbers)
    bold = next(line for line in canvas.axes[0].lines if line.get_label().startswith("sls – soft"))
    assert bold.get_ydata().tolist() == [1.0, 3.0, 1.0]
    notes = FIGURES["11"](outputs.records()).notes
    assert "sls – soft, BN statistics re-estimated: mean barrier 0.600, 0.500 to 0.700, 2 pairs." in notes


def test_notes_have_the_few_votes_that_no_picture_shows(outputs):
    gradients = {"gradient_variance": {"full/spearman": 0.5}}
    for method, k, seed in product(("soft", "sls"), (None, 5), (0, 1)):
        outputs.run(method, k, seed, probes=gradients)
    for probe, values in (
        ("cka", {"full/cka": 0.9}),
        ("gradcam", {"full/correlation": 0.9}),
        ("barrier", {"alpha": [0.0, 1.0], "full/soft_nll_interpolated_bn": [1.0, 1.0], "full/barrier_interpolated_bn": 0.9}),
    ):
        outputs.pairs(probe, [(("sls", k, 0), ("sls", k, 1), values) for k in (None, 5)])
    notes = {number: FIGURES[number](outputs.records()).notes for number in ("7", "9", "11", "12")}
    assert "K = 5, not drawn: mean 0.500, 0.500 to 0.500 over 4 runs." in notes["7"]
    assert "K = 5, not drawn: sls, full: mean 0.900, 0.900 to 0.900, 1 pairs." in notes["9"]
    bn = "BN statistics interpolated"
    assert f"K = 5, not drawn: sls – sls, {bn}: mean barrier 0.900, 0.900 to 0.900, 1 pairs." in notes["11"]
    assert "linear CKA, K = 5, not drawn: sls, full: mean 0.900, 0.900 to 0.900, 1 pairs." in notes["12"]


# ---- outliers ----


@pytest.fixture
def outliers(outputs):
    def arrays(tpr):
        named = {"histogram_edges": [0.0, 1.0, 2.0], "histogram_in": [3, 1], "histogram_out": [0, 2]}
        named |= {"roc_fpr": [0.0, 0.5, 1.0], "roc_tpr": [0.0, tpr, 1.0]}
        keys = [f"{name}/{detector}" for name in ("svhn", "cifar100") for detector in ("knn", "energy")]
        return {"ood": {f"{key}/{name}": np.array(array) for key in keys for name, array in named.items()}}

    for seed, tpr in ((0, 0.6), (1, 1.0)):
        outputs.run("sls", None, seed, probes={"ood": {"svhn/energy/auroc": 0.9}}, arrays=arrays(tpr))
    outputs.run("soft", None, 0, probes={"ood": {}}, arrays=arrays(0.5))
    return outputs.records()


def test_histograms_are_shares_of_one_run(outliers):
    numbers = prepare_score_histograms(outliers)
    assert str(numbers.run) == "sls K=all seed=0"
    assert list(numbers.panels) == [("svhn", "energy"), ("svhn", "knn"), ("cifar100", "energy"), ("cifar100", "knn")]
    _, inside, outside = numbers.panels["svhn", "energy"]
    assert (inside.tolist(), outside.tolist()) == ([0.75, 0.25], [0.0, 1.0])
    assert numbers.auroc["svhn", "energy"] == 0.9
    canvas = draw_score_histograms(numbers)
    assert canvas.axes[0].get_title() == "svhn, energy: 0.900"
    assert canvas.axes[0].patches[1].get_data().values.tolist() == [0.0, 1.0]


def test_roc_curves_are_averaged_at_each_false_positive_rate(outliers):
    numbers = prepare_roc(outliers)
    middle = FPR.tolist().index(0.5)
    assert numbers["svhn", "knn"]["sls"][:, middle].tolist() == [0.6, 1.0]
    canvas = draw_roc(numbers)
    sls = next(line for line in canvas.axes[0].lines if line.get_label() == "sls")
    assert sls.get_ydata()[middle] == pytest.approx(0.8)
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["soft", "sls"]


def test_a_damaged_probe_file_is_as_good_as_none(outputs):
    path = outputs.run("sls", None, 0, probes={"dynamics": {"full/curve": [1.0]}})
    records = outputs.records()
    (path / "diagnostics" / "dynamics.json").write_text("{")
    (path / "diagnostics" / "ood.npz").write_bytes(b"no archive")
    assert FIGURES["8"](records).draw is None
    assert FIGURES["S7"](records).draw is None
