"""The second paper's figures: entropies, loss curves, and single items with and without their pictures."""

import itertools

import numpy as np
import pytest

from hardlabels.reporting.figures import FIGURES, examples
from hardlabels.reporting.figures.figure_s1_consensus import prepare_consensus
from hardlabels.reporting.figures.figure_s2_paired_predictions import prepare_paired_predictions
from hardlabels.reporting.figures.figure_s3_entropy_shares import draw_entropy_shares, prepare_entropy_shares
from hardlabels.reporting.figures.figure_s4_validation_loss import draw_validation_loss, prepare_validation_loss
from hardlabels.reporting.figures.figure_s5_disputed_items import draw_disputed_items, prepare_disputed_items
from hardlabels.reporting.figures.shown_texts import fit
from hardlabels.sources import Source
from hardlabels.sources.synthetic import synthetic
from hardlabels.votes import Votes

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


PREMISE = "A premise that goes on: " + "it costs $5 or $7, and more, " * 30
HYPOTHESIS = "SHORT BUT WIDE, WITH A SIGN THAT NO FONT HAS \U0010fffd AND_A_WORD_WITHOUT_ANY_PLACE_TO_BREAK_IT_" + "W" * 90
NAMES = ("entailment", "neutral", "a contradiction with a long name")


def text_source(parts: int) -> Source:
    """Twelve items of texts that are hard to fit."""
    texts = np.array([[PREMISE, HYPOTHESIS][:parts] for _ in range(12)], dtype=object)
    votes = Votes.from_counts([[12 - i, i, 1] for i in range(12)])
    return Source("toy", texts, votes, votes.majority, NAMES, mean=(), std=())


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("number", ["S1", "S2", "S5"])
def test_texts_stay_in_their_place(outputs, monkeypatch, number, parts):
    source = text_source(parts)
    for method, sure in (("soft", 1.0), ("majority", 3.0)):
        outputs.run(method, None, 0, logits=sure * np.log(source.votes.p + 1e-3), p=source.votes.p)
    monkeypatch.setattr(examples, "source_at_hand", lambda run: source)
    figure = FIGURES[number](outputs.records())
    assert not any("not on this machine" in note for note in figure.notes)
    canvas = figure.draw()
    canvas.draw_without_rendering()  # lays it out
    lefts, rights = canvas.axes[::2], canvas.axes[1::2]
    for left, right in zip(lefts, rights, strict=True):
        boxes = [text.get_window_extent() for text in left.texts]
        assert len(boxes) == parts
        assert boxes[0].y1 <= left.bbox.y1  # below its title
        assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))
        names = [name.get_window_extent().x0 for name in right.get_yticklabels()]
        assert max(box.x1 for box in boxes) < min(names)
        assert min(names) > 0
    bottoms = [min(text.get_window_extent().y0 for text in left.texts) for left in lefts]
    titles = [left.bbox.y1 + 12 for left in lefts[1:]]
    assert all(bottom > title for bottom, title in zip(bottoms, titles, strict=False))
    shown = " ".join(text.get_text() for text in lefts[0].texts)
    assert "it costs $5 or $7" in shown.replace("\n", " ")  # no formula
    assert "…" in shown


def test_a_text_is_cut_where_it_does_not_fit():
    lines = fit(PREMISE, 150, 3).split("\n")
    assert len(lines) == 3
    assert lines[-1].endswith(" …")
    assert fit("short", 150, 3) == "short"
    assert fit(" ", 150, 3) == ""


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
