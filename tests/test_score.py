"""``python -m hardlabels.score``: hand-checked values, the law of its intervals, its errors."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import wilcoxon

from hardlabels.metrics import METRICS, bootstrap, score
from hardlabels.metrics.bootstrap import SCORES, assess, interval, item_scores, other_votes, signed_rank_p
from hardlabels.randomness import stream
from hardlabels.score import main
from hardlabels.votes import Votes, slice_masks

Q = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
COUNTS = np.array([[4, 0], [1, 3], [2, 2], [3, 1]])
HALF = np.array([[0, 0], [0, 0.5], [0, 0], [0, 0]])


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "q.npy", Q)
    np.save(tmp_path / "counts.npy", COUNTS)
    (tmp_path / "counts.csv").write_text("cat,dog\n" + "\n".join(",".join(map(str, row)) for row in COUNTS))
    return tmp_path


def simulated(n=60, classes=4, votes=7, seed=0):
    rng = stream(seed, "test score")
    truth = rng.dirichlet(np.full(classes, 0.8), size=n)
    log_q = log_softmax(np.log(truth) + rng.normal(size=truth.shape), axis=1)
    return log_q, Votes.from_counts(rng.multinomial(votes, truth)), truth


def run_json(capsys, *arguments):
    main([*map(str, arguments), "--json", "--resamples", "20"])
    return json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


# ---- values ----


@pytest.mark.parametrize("votes", ["counts.npy", "counts.csv"])
def test_a_small_example_by_hand(files, capsys, votes):
    report = run_json(capsys, files / "q.npy", files / votes)
    assert report["predictions"][0]["understood_as"] == "probabilities"
    assert report["votes_are"] == "counts"
    assert [report["slices"][name]["items"] for name in ("full", "non_unanimous", "high_disagreement")] == [4, 3, 1]
    values = {name: entry["value"] for name, entry in report["slices"]["full"]["models"][0].items()}
    quarter = 0.25 * np.log(4) + 0.75 * np.log(4 / 3)  # H(1/4, 3/4)
    assert values["soft_nll"] == pytest.approx((np.log(4 / 3) + 2 * quarter + np.log(2)) / 4)
    assert values["floor"] == pytest.approx((2 * quarter + np.log(2)) / 4)
    assert values["kl_to_annotator"] == pytest.approx(np.log(4 / 3) / 4)
    assert values["soft_brier"] == pytest.approx(2 / 16 / 4)
    assert values["total_variation"] == pytest.approx(0.25 / 4)
    assert values["hard_acc"] == 1
    assert values["ece_eqmass"] == pytest.approx((0.25 * 3 + 0.5) / 4)
    assert list(values) == [name for name in SCORES if name != "wasserstein"], "nobody said that cats and dogs are a scale"


def test_values_are_those_of_the_metrics():
    log_q, votes, _ = simulated()
    values = assess(log_q, votes, seed=0, resamples=2).values
    assert {name: values[name] for name in METRICS} == pytest.approx(score(log_q, votes.p), rel=1e-12)


def test_terms_and_sets_are_the_scores():
    log_q, votes, _ = simulated()
    terms = item_scores(log_q, votes.p, ordered=True)
    parts = {name: of_items.mean() for name, of_items in terms.items()} | bootstrap.set_scores(log_q, votes.p)
    assert set(parts) == set(SCORES)
    assert parts == pytest.approx({name: spec.function(log_q, votes.p) for name, spec in SCORES.items()}, rel=1e-12)


def test_logits_and_probabilities_score_alike(files, capsys):
    np.save(files / "logits.npy", np.log(Q) + np.arange(4)[:, None])
    as_logits, as_q = (run_json(capsys, files / name, files / "counts.npy") for name in ("logits.npy", "q.npy"))
    assert as_logits["predictions"][0]["understood_as"] == "logits"
    values = [report["slices"]["full"]["models"][0]["soft_nll"]["value"] for report in (as_logits, as_q)]
    assert values[0] == pytest.approx(values[1])
    forced = run_json(capsys, files / "q.npy", files / "counts.npy", "--logits")
    assert forced["predictions"][0]["understood_as"] == "logits"
    assert forced["slices"]["full"]["models"][0]["soft_nll"]["value"] != pytest.approx(values[0])


def test_a_probability_of_zero_is_infinite_nll_and_strict_json(files, capsys):
    np.save(files / "sure.npy", np.eye(2)[[0, 1, 0, 0]])
    entry = run_json(capsys, files / "sure.npy", files / "counts.npy")["slices"]["full"]["models"][0]
    assert entry["soft_nll"]["value"] is None
    assert entry["soft_nll"]["items"] == {"low": None, "high": None, "bias": None}
    assert entry["soft_brier"]["value"] == pytest.approx((0 + 2 / 16 + 0.5 + 2 / 16) / 4)


# ---- resampling ----


def test_resampling_against_a_plain_loop():
    log_q, votes, _ = simulated(n=30)
    by_items = bootstrap.resample_items(log_q, votes.p, rng=stream(1, "items"), resamples=12, ordered=True)
    by_votes = bootstrap.resample_votes(log_q, votes, rng=stream(1, "votes"), resamples=12, ordered=True)
    items, other = stream(1, "items"), stream(1, "votes")
    for r in range(12):
        index, p = items.integers(30, size=30), other_votes(votes, other)
        for name, spec in SCORES.items():
            assert by_items[name][r] == pytest.approx(spec.function(log_q[index], votes.p[index]), abs=1e-12), name
            assert by_votes[name][r] == pytest.approx(spec.function(log_q, p), abs=1e-12), name


def test_other_votes_keep_their_number_and_follow_p():
    votes = Votes.from_counts([[3, 1, 0], [0, 7, 0], [1, 1, 8]])
    rng = stream(0, "law")
    shares = np.stack([other_votes(votes, rng) for _ in range(4000)])
    assert np.allclose((shares * votes.sizes[:, None]) % 1, 0)
    assert np.allclose(shares.sum(2), 1)
    assert (shares[:, votes.p == 0] == 0).all()
    expected = np.sqrt(votes.p * (1 - votes.p) / votes.sizes[:, None])
    assert np.allclose(shares.mean(0), votes.p, atol=4 * expected.max() / np.sqrt(4000))
    assert np.allclose(shares.std(0), expected, rtol=0.06)


def test_the_value_lies_in_its_interval_even_where_resampling_is_biased():
    log_q, votes, _ = simulated(n=400)
    result = assess(log_q, votes, seed=0, resamples=100)
    assert result.interval("kl_to_annotator", "votes").bias > 0.05  # few votes look like disagreement with the model
    for name, value in result.values.items():
        for over in ("items", "votes"):
            low, high, _ = result.interval(name, over)
            assert low <= value <= high, (name, over)


def test_the_interval_over_items_covers_the_population():
    """95 % intervals of 400 samples: between 91 % and 98 % hold the mean over a population of 20,000 items."""
    log_q, votes, _ = simulated(n=20000)
    terms = item_scores(log_q, votes.p)
    rng = stream(0, "coverage items")
    for name in ("soft_nll", "total_variation"):
        held = 0
        for _ in range(400):
            sample = rng.choice(terms[name], 80)
            weights = rng.multinomial(80, np.full(80, 1 / 80), size=300)
            low, high, _ = interval(sample.mean(), weights @ sample / 80)
            held += low <= terms[name].mean() <= high
        assert 0.91 <= held / 400 <= 0.98, name


def test_the_interval_over_votes_covers_the_annotators(monkeypatch):
    """What infinitely many votes would give: soft NLL as it is, Brier less its bias; 150 sets of 30 votes an item."""
    monkeypatch.setattr("hardlabels.metrics.bootstrap.set_scores", lambda log_q, p: {})
    rng = stream(0, "coverage votes")
    truth = rng.dirichlet(np.full(3, 3.0), size=40)
    log_q = log_softmax(np.log(truth) + 0.5 * rng.normal(size=truth.shape), axis=1)
    target, held = item_scores(log_q, truth), {"soft_nll": 0, "soft_brier": 0}
    for _ in range(150):
        votes = Votes.from_counts(rng.multinomial(30, truth))
        draws, now = bootstrap.resample_votes(log_q, votes, rng=rng, resamples=200), item_scores(log_q, votes.p)
        for name in held:
            low, high, bias = interval(now[name].mean(), draws[name])
            shift = bias if name == "soft_brier" else 0.0
            held[name] += low - shift <= target[name].mean() <= high - shift
    assert all(0.90 <= count / 150 <= 0.99 for count in held.values()), held


def test_draws_depend_on_the_seed_alone():
    log_q, votes, _ = simulated()
    one, again, other = (assess(log_q, votes, seed=seed, resamples=20, ordered=True) for seed in (0, 0, 1))
    assert all(np.array_equal(one.by_items[name], again.by_items[name]) for name in SCORES)
    assert not np.array_equal(one.by_items["soft_nll"], other.by_items["soft_nll"])


# ---- comparison ----


def test_a_comparison_is_paired():
    log_q, votes, truth = simulated(n=300)
    difference = assess(np.log(truth), votes, seed=0, resamples=200) - assess(log_q, votes, seed=0, resamples=200)
    terms = item_scores(np.log(truth), votes.p)["soft_nll"] - item_scores(log_q, votes.p)["soft_nll"]
    assert difference.values["soft_nll"] == pytest.approx(terms.mean())
    low, high, _ = difference.interval("soft_nll", "items")
    assert low == pytest.approx(terms.mean() - 1.96 * terms.std() / np.sqrt(300), abs=0.25 * terms.std() / np.sqrt(300))
    assert high < 0
    assert difference.p_value("soft_nll") == pytest.approx(wilcoxon(terms).pvalue)
    assert difference.values["floor"] == 0


def test_a_model_against_itself_and_tests_that_cannot_be_made():
    log_q, votes, _ = simulated()
    result = assess(log_q, votes, seed=0, resamples=20)
    assert (result - result).p_value("soft_brier") == 1
    assert (result - result).interval("ece_eqmass", "items") == (0, 0, 0)
    assert np.isnan(signed_rank_p(np.array([np.inf, 1.0])))
    assert np.isnan(signed_rank_p(np.zeros(0)))


def test_the_table_has_no_nan_and_no_sign_of_nothing(files, capsys):
    main([str(files / "q.npy"), str(files / "counts.npy"), str(files / "q.npy"), "--resamples", "20"])
    out = capsys.readouterr().out
    assert not {"nan", "+nan"} & set(out.split())
    assert "+0.0000" not in out
    assert "-0.0000" not in out
    assert "entropy correlation" in out


def test_the_command_compares_two_files(files, capsys):
    np.save(files / "flat.npy", np.full((4, 2), 0.5))
    full = run_json(capsys, files / "q.npy", files / "counts.npy", files / "flat.npy")["slices"]["full"]
    first, second = (model["soft_brier"]["value"] for model in full["models"])
    assert full["first_minus_second"]["soft_brier"]["difference"] == pytest.approx(first - second)
    assert 0 < full["first_minus_second"]["soft_brier"]["wilcoxon_p"] <= 1
    main([*map(str, (files / "q.npy", files / "counts.npy", files / "flat.npy")), "--resamples", "20"])
    text = " ".join(capsys.readouterr().out.split())
    assert "understood as probabilities" in text
    assert "Wilcoxon: two-sided signed-rank test over items, not over seeds" in text


# ---- a run's predictions ----


def test_the_predictions_of_a_run_bring_their_own_p_or_pick_from_all_votes(tmp_path, capsys):
    log_q, votes, _ = simulated(n=50)
    index = np.array([40, 3, 17, 8, 22])
    arrays = {"logits": log_q[index], "logits_last": log_q[index], "p": votes.p[index], "index": index}
    np.savez(tmp_path / "predictions.npz", **arrays)
    np.save(tmp_path / "all.npy", votes.counts)
    own = run_json(capsys, tmp_path / "predictions.npz")
    assert own["votes_are"] == "probabilities"
    assert own["slices"]["full"]["models"][0]["soft_nll"]["votes"]["low"] is None
    picked = run_json(capsys, tmp_path / "predictions.npz", tmp_path / "all.npy")
    assert picked["votes_are"] == "counts"
    values = [report["slices"]["full"]["models"][0]["soft_nll"]["value"] for report in (own, picked)]
    assert values[0] == pytest.approx(values[1])
    masks = slice_masks(votes)  # of the data set, not of the five items
    assert [part["items"] for part in picked["slices"].values()] == [int(mask[index].sum()) for mask in masks.values()]
    np.savez(tmp_path / "other.npz", **arrays)
    both = run_json(capsys, tmp_path / "predictions.npz", tmp_path / "other.npz")
    assert both["slices"]["full"]["first_minus_second"]["soft_nll"]["difference"] == 0
    np.savez(tmp_path / "other.npz", **{**arrays, "index": index + 1})
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "predictions.npz"), str(tmp_path / "other.npz")])


# ---- errors ----

BROKEN = {
    "one dimension": (Q[:, 0], COUNTS, "expected a numeric matrix of items x classes"),
    "NaN": (np.where(Q == 0.5, np.nan, Q), COUNTS, "row 2 is [nan, nan]"),
    "items": (Q[:3], COUNTS, "expected 4 items x 2 classes"),
    "classes": (np.full((4, 3), 1 / 3), COUNTS, "got 4 x 3"),
    "one broken row": (Q + HALF, COUNTS, "--logits or --probabilities tells what they are); row 1 is [0.25, 1.25]"),
    "negative votes": (Q, -COUNTS, "counts of at least 0"),
    "votes with NaN": (Q, np.where(COUNTS == 3, np.nan, COUNTS), "finite numbers; row 1"),
    "an item without votes": (Q, COUNTS * [[1], [1], [0], [1]], "row 2"),
    "half a vote": (Q, COUNTS + HALF, "row 1 is neither counts nor probabilities: [1, 3.5] sums to 4.5"),
    "pickled": (Q, np.array([[{}, 1]], dtype=object), "expected plain numeric arrays"),
    "words": (np.array([["a", "b"]]), COUNTS, "expected a numeric matrix"),
}


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1, err
    return err


@pytest.mark.parametrize(("q", "counts", "message"), BROKEN.values(), ids=BROKEN)
def test_bad_arrays_are_one_line_and_code_2(tmp_path, capsys, q, counts, message):
    np.save(tmp_path / "q.npy", q)
    np.save(tmp_path / "votes.npy", counts)
    line = refused(capsys, tmp_path / "q.npy", tmp_path / "votes.npy")
    assert message in line
    assert str(tmp_path) in line


def test_bad_files_are_one_line_and_code_2(files, capsys):
    assert "No such file" in refused(capsys, files / "missing.npy", files / "counts.npy")
    assert "votes are needed" in refused(capsys, files / "q.npy")
    assert "'.txt'" in refused(capsys, files / "q.txt", files / "counts.npy")
    (files / "bad.csv").write_text("a,b\n1,2\n3,x\n")
    assert "line 3" in refused(capsys, files / "q.npy", files / "bad.csv")
    (files / "ragged.csv").write_text("1,2\n3\n")
    assert "expected 2 numbers a line; line 2 has 1" in refused(capsys, files / "q.npy", files / "ragged.csv")
    (files / "empty.csv").write_text("")
    assert "at least one item" in refused(capsys, files / "q.npy", files / "empty.csv")
    for name in ("empty.npy", "empty.npz"):
        (files / name).write_bytes(b"")
        assert name in refused(capsys, files / name, files / "counts.npy")
    assert "--resamples" in refused(capsys, files / "q.npy", files / "counts.npy", "--resamples", "0")
    assert "seed" in refused(capsys, files / "q.npy", files / "counts.npy", "--seed", "-1")
    assert "sum to 1" in refused(capsys, files / "counts.npy", files / "counts.npy", "--probabilities")


# ---- start-up ----


def test_it_needs_no_training_library(files):
    code = (
        "import sys; from hardlabels.score import main; main(sys.argv[1:])\n"
        "heavy = {'torch', 'lightning', 'hydra', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    arguments = [str(files / "q.npy"), str(files / "counts.csv"), "--resamples", "5"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "KL to annotators" in done.stdout


@pytest.mark.parametrize("kind", ["long", "wide", "counts", "probs"])
def test_what_the_votes_command_writes_can_be_scored(tmp_path, capsys, kind):
    from hardlabels.votes.formats import read
    from hardlabels.votes.write import write

    (tmp_path / "votes.csv").write_text(
        "task,worker,label\n" + "\n".join(f"{t},w{w},{(t * w) % 3}" for t in range(9) for w in range(4))
    )
    named = read(tmp_path / "votes.csv")
    write(named, kind, tmp_path / "again.csv")
    np.save(tmp_path / "q.npy", np.full((9, 3), 1 / 3))
    main([str(tmp_path / "q.npy"), str(tmp_path / "again.csv"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert "1.0986" in str(found)  # ln 3, whatever was voted
