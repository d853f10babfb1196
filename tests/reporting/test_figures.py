"""Prepared numbers against literal records, and drawings against prepared numbers."""

import numpy as np
import pytest

from hardlabels.reporting.figures import FIGURES, Figure, figure1_sparse_sweep, figure4_resampling, figure10_brier, style
from hardlabels.reporting.figures.figure3_reliability import MESH, draw_reliability, prepare_reliability, smooth_accuracy

ALL = float("inf")


def lines(canvas, axis=0):
    """Label to (x, y) of the drawn lines and error bars of one panel."""
    found = {line.get_label(): line.get_data() for line in canvas.axes[axis].lines}
    for bars in canvas.axes[axis].containers:
        if hasattr(bars, "has_yerr"):
            found[bars.get_label()] = bars[0].get_data()
    return found


def legend_of(canvas):
    legends = [*canvas.legends, *(axis.get_legend() for axis in canvas.axes if axis.get_legend())]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_every_figure_of_the_paper_is_found_in_order():
    assert list(FIGURES)[:12] == [str(number) for number in range(1, 13)]
    assert {"S1", "S2", "S3", "S4", "S5", "S6", "S7"} <= set(FIGURES)


@pytest.mark.parametrize("number", FIGURES)
def test_without_runs_nothing_is_drawn_and_the_notes_say_what_to_run(number, literal):
    figure = FIGURES[number](literal({}))
    assert isinstance(figure, Figure)
    assert (figure.number, figure.draw) == (number, None)
    assert any("python -m hardlabels.train -m data=cifar10h recipe=paper" in note for note in figure.notes)


@pytest.mark.parametrize("number", FIGURES)
def test_runs_without_files_or_probes_do_not_stop_a_figure(number, literal):
    figure = FIGURES[number](literal({("sls", ALL, "soft_nll"): [0.5, np.nan], ("soft", 5, "soft_nll"): [0.6]}, data="toy"))
    assert figure.notes or figure.draw
    if figure.draw:
        figure.draw().canvas.draw()


def test_every_method_has_a_colour_of_its_own():
    assert len(set(style.COLOURS.values())) == len(style.COLOURS) == len(style.METHODS)
    assert len(set(style.MARKS.values())) == len(style.MARKS)
    assert style.colour("sls,hold=5") == style.colour("sls")


def test_drawing_leaves_matplotlib_s_settings_alone(literal):
    import matplotlib

    before = dict(matplotlib.rcParams)
    FIGURES["1"](literal({("sls", 5, "soft_nll"): [0.5]}, data="toy")).draw()
    assert dict(matplotlib.rcParams) == before


# ---- figure 1 ----


def test_the_sweep_has_mean_sd_and_n_by_k(literal):
    records = literal(
        {
            ("soft", 5, "soft_nll"): [0.5, 0.7],
            ("soft", ALL, "soft_nll"): [0.4],
            ("sls", 5, "soft_nll"): [0.4, 0.6, np.nan],
            ("sls", 10, "soft_nll"): [0.3, 0.5],
            ("majority", ALL, "soft_nll"): [9.0],
        }
    )
    numbers = figure1_sparse_sweep.prepare_sparse_sweep(records)
    rows = numbers.set_index(["method", "K"])
    assert rows.loc[("sls", 5.0), ["mean", "sd", "n"]].tolist() == pytest.approx([0.5, 0.2 / np.sqrt(2), 2])
    assert rows.loc[("soft", ALL), ["mean", "sd", "n"]].tolist() == [0.4, 0.0, 1]
    assert rows.loc[("sls", 10.0), "published"] == 0.5485
    assert np.isnan(rows.loc[("soft", ALL), "published"])
    assert "majority" not in set(numbers["method"])  # it has no line
    canvas = figure1_sparse_sweep.draw_sparse_sweep(numbers)
    assert lines(canvas)["sls"][1].tolist() == pytest.approx([0.5, 0.4])
    assert legend_of(canvas) == ["soft", "sls"]
    assert [text.get_text() for text in canvas.axes[0].get_xticklabels()] == ["5", "10", "all"]


def test_the_sweep_says_which_cells_are_missing(literal):
    figure = FIGURES["1"](literal({(m, k, "soft_nll"): [0.5] for m in ("soft", "sls", "multipass") for k in (5, 10, 25, 50)}))
    assert any("method=deterministic_control K=5,10,25,50 seed=0" in note for note in figure.notes)


# ---- figure 3 ----


def test_smooth_accuracy_is_a_kernel_regression_reflected_at_both_ends():
    rng = np.random.default_rng(0)
    confidence, correct, weight = MESH[rng.integers(201, size=60)], rng.integers(2, size=60), rng.integers(3, size=60)
    accuracy, items = smooth_accuracy(confidence, correct.astype(float), weight.astype(float), 0.07)
    for t in (0, 37, 120, 200):
        kernel = [sum(np.exp(-(((MESH[t] - image) / 0.07) ** 2) / 2) for image in (f, -f, 2 - f)) for f in confidence]
        assert items[t] == pytest.approx(np.dot(weight, kernel))
        assert accuracy[t] == pytest.approx(np.dot(weight * correct, kernel) / np.dot(weight, kernel))


def test_an_item_between_two_mesh_points_is_divided_between_them():
    between, ends = (
        smooth_accuracy(np.array(f), np.ones(len(f)), np.full(len(f), w), 0.05)[1]
        for f, w in (([0.5025], 2.0), ([0.5, 0.505], 1.0))
    )
    np.testing.assert_allclose(between, ends, atol=1e-12)


def test_reliability_pools_seeds_and_has_a_band(outputs):
    rng = np.random.default_rng(1)
    for seed in range(2):
        top = rng.uniform(0.5, 1, 400)
        right = rng.random(400) < top  # calibrated
        logits = np.log(np.stack([top, 1 - top], 1))
        outputs.run(
            "sls",
            None,
            seed,
            logits=logits,
            p=np.where(right[:, None], [1.0, 0.0], [0.0, 1.0]),
            index=np.arange(400) + 100 * seed,
        )
    (curve,) = prepare_reliability(outputs.records())
    assert (curve.method, curve.seeds, curve.items) == ("sls", 2, 800)
    shown = np.isfinite(curve.accuracy)
    assert MESH[shown].min() >= 0.5
    assert np.abs(curve.accuracy - MESH)[shown].mean() < 0.06
    assert ((curve.low <= curve.accuracy) & (curve.accuracy <= curve.high))[shown].all()
    assert ((curve.low <= MESH) & (curve.high >= MESH))[shown].mean() > 0.5
    assert curve.density.sum() == pytest.approx(1)
    (again,) = prepare_reliability(outputs.records())
    np.testing.assert_array_equal(curve.high, again.high)
    canvas = draw_reliability([curve])
    np.testing.assert_array_equal(lines(canvas)["sls"][1], curve.accuracy)
    assert legend_of(canvas) == ["calibrated", "sls"]


def test_a_diverged_run_has_no_reliability(outputs):
    outputs.run("sls", None, 0, logits=np.full((3, 2), np.nan), p=np.full((3, 2), 0.5))
    assert prepare_reliability(outputs.records()) == []


# ---- figures 4 and 10 ----


def test_resampling_is_ordered_by_the_epochs_held(literal):
    values = {("sls,hold=10", ALL, "soft_nll"): [0.7], ("sls", ALL, "soft_nll"): [0.5, 0.6], ("soft", ALL, "soft_nll"): [0.52]}
    numbers = figure4_resampling.prepare_resampling(literal(values))
    assert numbers["hold"].tolist() == [0, 1, 10]
    assert numbers["mean"].tolist() == pytest.approx([0.52, 0.55, 0.7])
    assert numbers["published"].tolist()[1:] == [0.5027, 0.6054]
    canvas = figure4_resampling.draw_resampling(numbers)
    assert lines(canvas)["sls"][1].tolist() == pytest.approx([0.55, 0.7])
    assert lines(canvas)["soft"][1] == pytest.approx([0.52, 0.52])
    assert set(legend_of(canvas)) == {"sls", "sls, published", "soft"}
    figure = FIGURES["4"](literal(values))
    assert any("method=sls method.hold=5 K=null" in note for note in figure.notes)


def test_sls_alone_is_no_resampling_figure(literal):
    assert FIGURES["4"](literal({("sls", ALL, "soft_nll"): [0.5]}, data="toy")).draw is None


def test_the_brier_parts_are_means_over_seeds(literal):
    values = {(m, ALL, f"brier_{part}"): [v, v + 0.2] for m, v in (("soft", 0.1), ("sls", 0.3))
              for part in ("reliability", "resolution", "uncertainty")}  # fmt: skip
    numbers = figure10_brier.prepare_brier(literal(values))
    assert numbers.groupby("method")["mean"].first().to_dict() == pytest.approx({"soft": 0.2, "sls": 0.4})
    assert numbers["n"].tolist() == [2] * 6
    canvas = figure10_brier.draw_brier(numbers)
    assert [axis.get_title() for axis in canvas.axes] == ["Brier reliability ↓", "Brier resolution ↑", "Brier uncertainty"]
    assert [bars[0].get_ydata()[0] for bars in canvas.axes[1].containers] == pytest.approx([0.2, 0.4])
