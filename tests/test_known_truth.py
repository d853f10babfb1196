"""The study of ``make demo`` on fewer seeds: verdicts are reached, and they are right, since the true distributions are known."""

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from scipy.special import xlogy

from hardlabels.configuration import CONF, compose_command
from hardlabels.report import read_rules
from hardlabels.reporting.answer import answer
from hardlabels.reporting.claims import CLAIMS, designs, judge
from hardlabels.reporting.explorer import prepare_explorer
from hardlabels.reporting.primary import PrimaryResult
from hardlabels.runs.records import read_records
from hardlabels.runs.studies.study import Study
from hardlabels.sources import load
from hardlabels.statistics import Limit

SEEDS = 6
SMALL = ["data=synthetic_vectors", "recipe=demo", "recipe.epochs=8", "run.tag=few", "trainer.accelerator=cpu"]


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    """Three methods x all votes x six seeds: 18 runs of a fraction of a second."""
    from hardlabels.train import train

    outputs = tmp_path_factory.mktemp("outputs")
    for method in ("soft", "sls", "majority"):
        for seed in range(SEEDS):
            with initialize_config_dir(str(CONF), version_base="1.3"):
                cfg = compose("train", [*SMALL, f"method={method}", f"seed={seed}", f"outputs={outputs}"])
            train(cfg)
    settings = OmegaConf.load(CONF / "study/known_truth.yaml")
    settings.tag, settings.grid = "few", [{"method": ["soft", "sls", "majority"], "K": [None], "seed": f"range({SEEDS})"}]
    study = Study.from_config(settings)
    [found] = designs(read_records([outputs], study), study.cells()).values()
    return found


def gap_to_truth(design, method: str) -> np.ndarray:
    """By how much a method is farther from the true distributions than soft labels, by seed, in nat."""
    rows = design.records.table
    rows = rows[(rows["slice"] == "truth") & (rows["name"] == "soft_nll") & (rows["checkpoint"] == "best")]
    by_seed = {name: group.set_index("seed")["value"] for name, group in rows.groupby("method")}
    return (by_seed[method] - by_seed["soft"]).to_numpy()


def test_verdicts_are_reached_and_agree_with_the_truth(design):
    rules = read_rules(compose_command("report", ["study=known_truth"]))
    verdict = judge(CLAIMS["soft-lower-kl"], design, rules, study="known_truth", probes=[])
    assert verdict.status("best") == verdict.status("last") == "supported"
    [row] = verdict.at["best"].rows
    assert len(row.differences) == SEEDS
    assert (gap_to_truth(design, "majority") > 0).all()
    assert abs(gap_to_truth(design, "sls").mean()) < gap_to_truth(design, "majority").mean() / 2


def test_the_answer_begins_with_what_was_written_down_beforehand(design):
    """Means of differences are no tests: whoever reads the first line only reads what was decided."""
    decided = PrimaryResult("soft NLL", (0, 1), 2, 0.9, claims=("sls better than soft, K = 5: inconclusive as a whole.",))
    first = answer(design.records, (), None, decided).sentences[0]
    assert first == "Written down before the first run: sls better than soft, K = 5: inconclusive as a whole."
    assert answer(design.records, (), None).sentences[0].startswith("With all votes: ")


def test_the_answer_says_it_in_words(design):
    found = answer(design.records, (), Limit(0.5, 0.7, 4.0))
    assert list(found.points) == ["best", "last"]
    for points in found.points.values():
        assert {point.method for point in points} == {"soft", "sls", "majority"}
        assert all(point.low <= point.mean <= point.high and point.n == SEEDS for point in points)
    text = " ".join(found.sentences)
    seeds = f"({SEEDS} of {SEEDS} seeds)"
    lost = f"{-gap(design):.4f} nat above soft labels at the selected epoch {seeds}"
    assert (
        f"With all votes, majority labels are {lost} and {-gap(design, 'last'):.4f} nat above at the last epoch {seeds}" in text
    )
    assert "soft labels are closest" in text or "sls labels are closest" in text
    assert text.count("labels are closest") == 1  # both epochs agree, and share one sentence
    assert "majority labels farthest" in text
    assert "No prediction can go below 0.5000 nat, the entropy of these votes, and none can come near" in text


def gap(design, checkpoint: str = "best") -> float:
    """Mean soft NLL of soft minus that of majority labels."""
    soft, majority = (design.records.values("soft_nll", method=m, checkpoint=checkpoint) for m in ("soft", "majority"))
    return float((soft - majority).mean())


def test_items_show_votes_beside_predictions(design):
    items = prepare_explorer(design.records)
    assert items is not None
    assert items.methods == ("soft", "sls", "majority")
    assert len(items.positions) == len(items.votes) > 250
    losses = {method: -xlogy(items.votes, q).sum(1) for method, q in items.predictions.items()}
    np.testing.assert_allclose(items.gains["majority"], losses["soft"] - losses["majority"], atol=1e-6)
    assert "<" not in items.as_json()


def test_built_in_vectors_vote_by_the_truth():
    source = load("synthetic_vectors", items=400, annotators=2000)
    assert source.truth is not None
    assert np.abs(source.votes.p - source.truth).max() < 0.06  # five standard deviations of a share of 2,000 votes
    assert load("synthetic_vectors", items=400, annotators=2000).fingerprint == source.fingerprint
