"""What older records lack, computed from their predictions: the answers are known, or those of the run's own files."""

import json

import numpy as np
import pytest
from scipy.special import log_softmax

from hardlabels.metrics import score
from hardlabels.runs.cell import Cell
from hardlabels.runs.derived import derived_numbers, evaluation_slices
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.records import read_records
from hardlabels.votes import Votes
from hardlabels.votes.slices import slice_masks


@pytest.fixture
def p():
    return np.random.default_rng(0).dirichlet(np.ones(4), 200)


def write_run(place, method, seed, logits, p, result=None, **arrays):
    directory = RunDirectory(place / Cell("toy", "short", method, None, seed).folder)
    directory.path.mkdir(parents=True)
    directory.write_predictions(logits=logits, logits_last=2 * logits, index=np.arange(len(p)), p=p, **arrays)
    full = {"soft_nll": score(logits, p)["soft_nll"]}
    items = {"full": len(p), "non_unanimous": len(p), "high_disagreement": 20}
    directory.finish({"best": {"epoch": 0, "full": full}, "last": {"epoch": 1, "full": full}, "items": items, **(result or {})})
    return directory


def numbers(directory):
    found = derived_numbers(json.loads(directory.result.read_text()), directory.predictions)
    return {(part, checkpoint, name): value for part, checkpoint, name, value in found}


def test_differences_of_scale_alone_are_gone_after_a_temperature(tmp_path, p):
    """Two methods whose logits differ by a factor only: soft NLL differs, soft_nll_t does not."""
    logits = np.log(p) + np.random.default_rng(1).normal(0, 0.5, p.shape)
    sharp, plain = (write_run(tmp_path, method, 0, factor * logits, p) for method, factor in (("majority", 5.0), ("soft", 1.0)))
    a, b = numbers(sharp), numbers(plain)
    for part in ("full", "non_unanimous", "high_disagreement"):
        for checkpoint in ("best", "last"):  # the last epoch's logits are twice as large: again the same
            assert a[part, checkpoint, "soft_nll_t"] == pytest.approx(b[part, "best", "soft_nll_t"], rel=1e-6)
    assert score(5 * logits, p)["soft_nll"] > score(logits, p)["soft_nll"] + 0.5
    records = read_records([tmp_path])
    gap = [records.values("soft_nll_t", method=m)[0] for m in ("majority", "soft")]
    assert gap[0] == pytest.approx(gap[1], rel=1e-6)


def test_the_temperature_is_that_of_the_selection_items_where_there_are_some(tmp_path, p):
    select_p = np.random.default_rng(2).dirichlet(np.ones(4), 50)
    arrays = {"select_logits": 3 * np.log(select_p), "select_logits_last": np.log(select_p), "select_p": select_p}
    found = numbers(write_run(tmp_path, "soft", 0, np.log(p), p, select_index=np.arange(50), **arrays))
    assert found["full", "best", "soft_nll_t"] == pytest.approx(score(np.log(p) / 3, p)["soft_nll"])
    assert found["full", "last", "soft_nll_t"] == pytest.approx(score(2 * np.log(p), p)["soft_nll"])


def test_the_floor_and_the_ceiling(tmp_path, p):
    found = numbers(write_run(tmp_path, "soft", 0, np.zeros_like(p), p))
    assert found["full", "best", "oracle/soft_nll"] == pytest.approx(-(p * np.log(p)).sum(1).mean())
    assert found["full", "best", "oracle/ece_votes"] == pytest.approx(0, abs=1e-12)
    shares = p.mean(0)
    assert found["full", "best", "prior/soft_nll"] == pytest.approx(-(p @ np.log(shares)).mean())
    assert found["full", "best", "prior/hard_acc"] == pytest.approx((p.argmax(1) == shares.argmax()).mean())


def test_what_a_run_says_itself_is_not_computed_again(tmp_path, p):
    full = {"soft_nll": 1.0, "soft_nll_t": 7.0, "ece_votes": 8.0}
    said = {
        "best": {"epoch": 0, "full": full},
        "last": {"epoch": 1, "full": full},
        "prior": {"full": {"soft_nll": 9.0}},
        "oracle": {},
    }
    directory = write_run(tmp_path, "soft", 0, np.log(p), p, result=said)
    assert numbers(directory) == {}
    records = read_records([tmp_path])
    assert [records.values(name, method="soft")[0] for name in ("soft_nll_t", "ece_votes", "prior/soft_nll")] == [7.0, 8.0, 9.0]
    assert records.at("last").values("prior/soft_nll", method="soft")[0] == 9.0  # it has no checkpoint


def test_the_disputed_slice_is_found_again_without_the_data():
    rng = np.random.default_rng(3)
    votes = Votes.from_counts(rng.multinomial(20, [0.7, 0.2, 0.1], size=300))
    evaluate = np.sort(rng.permutation(300)[:90])
    masks = {name: mask[evaluate] for name, mask in slice_masks(votes).items()}
    items = {name: int(mask.sum()) for name, mask in masks.items()}
    found = evaluation_slices(votes.p[evaluate].astype(np.float64), items)
    assert {name: rows.tolist() for name, rows in found.items()} == {n: np.flatnonzero(m).tolist() for n, m in masks.items()}


def test_a_run_without_predictions_keeps_what_it_has(tmp_path, p):
    directory = write_run(tmp_path, "soft", 0, np.log(p), p)
    directory.predictions.unlink()
    assert numbers(directory) == {}
    assert len(read_records([tmp_path]).values("soft_nll", method="soft")) == 1


def test_what_was_kept_is_given_back_to_the_bit_and_read_again_when_predictions_change(tmp_path, p):
    directory = write_run(tmp_path, "soft", 0, np.log(p), p)
    first, kept = (read_records([tmp_path]).values("soft_nll_t", method="soft")[0] for _ in range(2))
    assert first == kept
    logits = log_softmax(np.random.default_rng(4).normal(size=p.shape), axis=1)
    directory.write_predictions(logits=logits, logits_last=logits, index=np.arange(len(p)), p=p)
    assert read_records([tmp_path]).values("soft_nll_t", method="soft")[0] != first
