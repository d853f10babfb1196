"""The second paper's figures: entropies, loss curves, and single items with and without their pictures."""

import numpy as np
import pytest

from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.figures.examples import Examples, Item, draw_examples
from hardlabels.reporting.figures.figure_s1_consensus import prepare_consensus
from hardlabels.reporting.figures.figure_s2_paired_predictions import prepare_paired_predictions
from hardlabels.reporting.figures.figure_s3_entropy_shares import draw_entropy_shares, prepare_entropy_shares
from hardlabels.reporting.figures.figure_s4_validation_loss import draw_validation_loss, prepare_validation_loss
from hardlabels.reporting.figures.figure_s5_disputed_items import draw_disputed_items, prepare_disputed_items
from hardlabels.sources.synthetic import synthetic

P = np.array([[1.0, 0.0], [0.75, 0.25], [0.5, 0.5], [0.6, 0.4]])


@pytest.fixture
def two(outputs):
    """Soft predicts p but for the unanimous item, majority is sure of class 0."""
    for seed in (0, 1):
        soft = np.log(np.maximum(P, 1e-3))
        losses = [{"epoch": 0, "evaluate/soft_nll": 1.0 + seed}, {"epoch": 1, "evaluate/soft_nll": 0.5}]
        outputs.run("soft", None, seed, logits=soft, p=P, index=[4, 5, 6, 7], history=losses)
        sure = np.log([[0.9, 0.1]] * 4)
        outputs.run(
            "majority", None, seed, logits=sure, p=P, index=[4, 5, 6, 7], history=[{"epoch": 0, "evaluate/soft_nll": 2.0}]
        )
    return outputs


def test_items_go_from_consensus_to_disagreement(two):
    numbers = prepare_consensus(two.records())
    assert [item.position for item in numbers.items] == [4, 5, 6]  # item 7 is nearest to no step
    assert [item.entropy for item in numbers.items] == sorted(item.entropy for item in numbers.items)
    assert numbers.classes == ["0", "1"]
    assert all(item.picture is None and not item.predictions for item in numbers.items)


def test_paired_predictions_share_their_answer_and_differ_in_kl(two):
    numbers = prepare_paired_predictions(two.records())
    assert [str(cell) for cell in numbers.cells] == ["soft K=all seed=0", "majority K=all seed=0"]
    positions = [item.position for item in numbers.items]
    assert 4 not in positions  # unanimous
    for item in numbers.items:
        assert item.kl("soft") == pytest.approx(0.0, abs=1e-9)
        q = np.array([0.9, 0.1])
        assert item.kl("majority") == pytest.approx(float(np.sum(item.p * np.log(item.p / q))))
    gaps = [item.kl("majority") - item.kl("soft") for item in numbers.items]
    assert gaps == sorted(gaps)


def test_disputed_items_are_the_most_undecided_of_all(two):
    numbers = prepare_disputed_items(two.records())
    assert [item.position for item in numbers.items] == [6]
    canvas = draw_disputed_items(numbers)
    shown = [axis for axis in canvas.axes if axis.get_visible()]
    assert len(shown) == 1  # no picture without the data
    widths = [patch.get_width() for patch in shown[0].patches]
    assert widths == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.9, 0.1])
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["annotators", "soft", "majority"]
    notes = FIGURES["S5"](two.records()).notes
    assert any("the data are not on this machine" in note for note in notes)


def test_an_item_may_be_a_text():
    pictures = ["Is this a question, or is it a statement that only looks like one?", np.zeros((4, 4, 1), np.uint8), None]
    items = [Item(place, P[1], 0.5, {"soft": P[2]}, picture) for place, picture in enumerate(pictures)]
    canvas = draw_examples(Examples(items, ["no", "yes"], []), lambda item: str(item.position))
    canvas.canvas.draw()
    assert "question" in canvas.axes[0].texts[0].get_text()
    assert len(canvas.axes[1].images) == 1


def test_pictures_are_those_of_the_data(outputs):
    source = synthetic(items=40, classes=3, size=12, annotators=9)
    index = np.arange(10, 40)
    for method in ("soft", "majority"):
        path = outputs.run(method, None, 0, logits=np.zeros((30, 3)), p=source.votes.p[index], index=index)
        outputs.use(path, items=40, classes=3, size=12, annotators=9)
    numbers = prepare_disputed_items(outputs.records())
    assert len(numbers.items) == 3  # a tenth of 30
    for item in numbers.items:
        np.testing.assert_array_equal(item.picture, source.inputs[item.position])
        np.testing.assert_array_equal(item.p, source.votes.p[item.position])
    assert numbers.classes == list(source.class_names)
    canvas = draw_disputed_items(numbers)
    canvas.canvas.draw()
    assert sum(len(axis.images) for axis in canvas.axes) == 3


def test_entropies_are_divided_by_ln_c(two):
    numbers = prepare_entropy_shares(two.records())
    assert list(numbers.shares) == ["annotators", "soft", "majority"]
    for share in numbers.shares.values():
        assert share.sum() == pytest.approx(1)
    assert numbers.shares["annotators"][0] == 0.25  # one item of four is unanimous
    assert numbers.shares["annotators"][-1] == 0.5  # 1 and 0.971
    binary = -(0.9 * np.log2(0.9) + 0.1 * np.log2(0.1))
    assert numbers.means["majority"] == pytest.approx(binary)
    assert numbers.seeds == {"soft": 2, "majority": 2}
    canvas = draw_entropy_shares(numbers)
    assert [axis.get_title() for axis in canvas.axes] == ["annotators", "soft", "majority"]
    assert canvas.axes[1].patches[0].get_data().values.tolist() == numbers.shares["soft"].tolist()


def test_validation_loss_keeps_the_epochs_that_all_runs_have(two):
    numbers = prepare_validation_loss(two.records())
    assert numbers.epochs.tolist() == [0]
    assert numbers.curves["soft"].tolist() == [[1.0], [2.0]]
    canvas = draw_validation_loss(numbers)
    soft = next(line for line in canvas.axes[0].lines if line.get_label() == "soft")
    assert soft.get_ydata().tolist() == [1.5]
    canvas.canvas.draw()


def test_one_method_alone_is_no_pair(outputs):
    outputs.run("soft", None, 0, logits=np.log(np.full((4, 2), 0.5)), p=P)
    figure = FIGURES["S5"](outputs.records())
    assert figure.draw is None
    assert any("method=majority K=null" in note for note in figure.notes)
    assert FIGURES["S1"](outputs.records()).draw is not None
