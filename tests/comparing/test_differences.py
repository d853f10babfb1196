"""What a difference is worth: right errors on simulated studies, right answers on made-up runs."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hardlabels.comparing.answer import find_answer
from hardlabels.comparing.differences import (
    Difference,
    TTest,
    all_pairs,
    fixed_split_test,
    items_needed,
    seeds_needed,
    share_of_items,
)
from hardlabels.comparing.disagreement import most_disputed
from hardlabels.comparing.measure import METRICS, Measured, SeedRun
from hardlabels.comparing.page import Page, render
from hardlabels.comparing.plan import plan_training
from hardlabels.comparing.sentences import calibration, paragraph, short_answer
from hardlabels.errors import InputError
from hardlabels.metrics import score
from hardlabels.metrics.prior import class_shares, score_prior
from hardlabels.reporting.limit import limit_sentences
from hardlabels.sources.synthetic import synthetic
from hardlabels.votes import Votes


@pytest.fixture(scope="module")
def source():
    return synthetic(items=200, classes=3, size=12, annotators=9)


def made_up(source, method, sharpness, noise, seeds=5):
    """Runs that predict the truth, too sharp or too flat, with some noise."""
    runs = []
    for seed in range(seeds):
        split = source.split(seed=seed, protocol="three_way")
        rng = np.random.default_rng([seed, len(method)])
        arrays = {}
        for head, index in (("", split.evaluate), ("select_", split.select)):
            logits = sharpness * np.log(source.truth[index] + 0.02) + noise * rng.normal(size=(len(index), 3))
            arrays |= {f"{head}logits": logits, f"{head}index": index, f"{head}p": source.votes.p[index]}
        scores = score(arrays["logits"], arrays["p"], METRICS)
        prior = score_prior(class_shares(source.votes.p[split.train]), arrays["p"])
        runs.append(SeedRun(Path(f"out/{method}/K=all/seed={seed}"), seed, scores, prior, (3, 9), arrays))
    return Measured(method, tuple(runs))


def test_a_method_that_is_better_is_found_and_suggested(source):
    answer = find_answer([made_up(source, "soft", 1, 0.1), made_up(source, "majority", 6, 0.1)], source)
    assert (answer.suggested, answer.worse, answer.level) == ("soft", ["majority"], ["soft"])
    assert answer.would_take is None
    assert answer.limit.floor < answer.best.mean("soft_nll") < answer.prior
    assert answer.votes["majority"].low > 0
    text = paragraph(answer, "toy")
    assert "majority is worse by" in text
    assert "So use soft" in text
    assert short_answer(answer) == "Use soft: it is better than majority."


def test_methods_that_are_alike_are_called_so_and_the_simplest_is_suggested(source):
    measured = [made_up(source, "sls", 1, 0.30), made_up(source, "soft", 1, 0.31), made_up(source, "majority", 6, 0.1)]
    answer = find_answer(measured, source)
    assert answer.suggested == "soft"
    assert set(answer.level) == {"soft", "sls"}
    assert "was resolved with 5 seeds and 200 items" in paragraph(answer, "toy")


def test_the_first_line_is_right_for_two_that_are_worse_and_for_methods_without_an_order(source):
    worse = [made_up(source, name, sharpness, 0.1) for name, sharpness in (("majority", 6), ("label_smoothing", 7))]
    alike = [made_up(source, "sls", 1, 0.30), made_up(source, "soft", 1, 0.31)]
    assert "majority and label_smoothing are worse." in short_answer(find_answer([*alike, *worse], source))
    assert "cannot be told apart, and majority is worse." in short_answer(find_answer([*alike, worse[0]], source))
    unordered = find_answer([replace(alike[0], method="mixup"), replace(alike[1], method="dawid_skene")], source)
    assert unordered.suggested == unordered.best.method
    assert f"Use {unordered.suggested}, the one with the lowest soft NLL: no difference" in short_answer(unordered)
    assert "the one with the lowest soft NLL of them" in paragraph(unordered, "toy")


@pytest.mark.parametrize("annotators", [4, 50])
def test_the_way_that_is_left_is_measured_to_what_the_true_distributions_score(annotators):
    """Of few votes the entropy is far below what anybody can reach, and it is said so; of many it hardly is."""
    few = synthetic(items=2000, classes=3, size=12, annotators=annotators)
    answer = find_answer([made_up(few, "soft", 1, 0.5), made_up(few, "majority", 6, 0.1)], few)
    index = answer.best.runs[0].predictions["index"]
    drawn_from = 0.95 * few.truth + 0.05 / 3  # votes are drawn from this: annotators err now and then
    of_the_truth = -(few.votes.p[index] * np.log(drawn_from[index])).sum(1).mean()
    assert abs(answer.limit.reachable - of_the_truth) < 0.6 * (of_the_truth - answer.limit.floor)
    assert answer.limit.floor < answer.limit.reachable < answer.best.mean("soft_nll")
    text = paragraph(answer, "toy")
    way = (answer.prior - answer.best.mean("soft_nll")) / (answer.prior - answer.limit.reachable)
    assert f"about {way:.0%} of the way to {answer.limit.reachable:.3f}" in text
    assert limit_sentences(answer.limit) in text
    assert f"with about {annotators} votes per item" in text
    assert (answer.limit.reachable - answer.limit.floor > 0.05) == (annotators == 4)


def test_where_nothing_can_be_said_about_the_way_that_is_left_nothing_is(source):
    single = replace(source, votes=source.votes.subsample(1, seed=0))
    answer = find_answer([made_up(single, "soft", 1, 0.5), made_up(single, "majority", 6, 0.1)], single)
    assert answer.limit.reachable is None
    text = paragraph(answer, "toy")
    assert "With a single vote per item, nobody can tell" in text
    assert "of the way" not in text
    known = replace(source, votes=Votes.from_probabilities(source.truth))
    answer = find_answer([made_up(known, "soft", 1, 0.5), made_up(known, "majority", 6, 0.1)], known)
    assert answer.limit.reachable == answer.limit.floor
    assert f"No prediction can go below {answer.limit.floor:.3f} nat, the entropy of these votes." in paragraph(answer, "toy")


def test_a_network_that_learned_nothing_is_no_answer(source):
    measured = [made_up(source, name, 0, noise) for name, noise in (("soft", 1.0), ("majority", 1.2))]
    answer = find_answer(measured, source)
    assert answer.suggested is None
    assert "not better than the class shares" in paragraph(answer, "toy")
    assert short_answer(answer).startswith("No method learned")


def test_too_sharp_a_network_is_said_to_be_so(source):
    sharp = find_answer([made_up(source, "soft", 6, 0.1), made_up(source, "majority", 7, 0.1)], source)
    assert "surer than it should be" in calibration(sharp)
    assert "One temperature (predict --calibrated) helps" in calibration(sharp)


def test_a_network_that_predicts_the_votes_is_called_calibrated_although_it_is_right_more_often(source):
    answer = find_answer([made_up(source, "soft", 1, 0.05), made_up(source, "majority", 6, 0.1)], source)
    assert "its confidence is about right" in calibration(answer)


def test_a_given_split_has_the_noise_of_its_items(source):
    """2,000 studies without any difference: the test rejects in at most 5 % of them, although items vary more than seeds."""
    rng, m, n, studies = np.random.default_rng(0), 40, 5, 2000
    rejected = 0
    for _ in range(studies):
        items = rng.normal(0, 1, m)  # the same items for all seeds
        table = items + rng.normal(0, 0.3, (n, 1)) + rng.normal(0, 0.5, (n, m))
        rejected += fixed_split_test(table.mean(0), table.mean(1)).p < 0.05
    assert stats.binomtest(rejected, studies, 0.05, alternative="greater").pvalue > 1e-3


def test_an_answer_on_a_given_split_knows_its_items(source):
    split = source.split(seed=0, protocol="three_way")
    parts = np.zeros(len(source), dtype=np.int64)
    parts[split.select], parts[split.evaluate] = 1, 2
    own = replace(source, parts=parts)
    answer = find_answer([made_up(own, "soft", 1, 0.1), made_up(own, "majority", 6, 0.1)], own)
    assert answer.given
    assert answer.worse == ["majority"]
    assert "your own split" in paragraph(answer, "toy")
    [found] = answer.differences
    both = [measured.runs for measured in (answer.best, answer.methods[1])]
    items = np.mean([a.item_nll - b.item_nll for a, b in zip(*both, strict=True)], axis=0)
    assert found.ratio == pytest.approx(items.var(ddof=1) / len(items) / found.sd**2), "which no number of seeds takes away"
    by_hand = answer.prior - answer.best.mean("soft_nll")
    assert answer.gain.mean == pytest.approx(by_hand)
    assert answer.gain.interval[0] < by_hand < answer.gain.interval[1]


def test_what_it_would_take_grows_with_the_noise_and_shrinks_with_the_difference(source):
    pairs = all_pairs([made_up(source, "soft", 1, 0.3), made_up(source, "sls", 1.1, 0.32)], given=False, ratio=2 / 7)
    found = pairs[0]
    needed = items_needed(found, 200, 1)
    assert needed is None or needed >= 200
    assert seeds_needed(found, 1) is None or seeds_needed(found, 1) >= 2


@pytest.mark.parametrize(("of_seeds", "of_items"), [(0.3, 0.0), (0.3, 0.6), (0.1, 2.0)])
def test_the_seeds_that_it_would_take_on_a_given_split_know_the_noise_of_its_items(of_seeds, of_items):
    """More seeds do not change the items: where these are what is noisy, no number of seeds helps. Before, 4 seeds sufficed."""
    rng, m, effect, n = np.random.default_rng(1), 60, 0.25, 5
    error = np.sqrt(of_items**2 / m + of_seeds**2 / n)
    ratio = share_of_items(error, of_seeds, n)
    assert ratio == pytest.approx(of_items**2 / m / of_seeds**2)
    needed = seeds_needed(Difference("a", "b", TTest(effect, error, 0.5, 4), n, 0.5, of_seeds, ratio), 1)
    seeds = needed or 200
    found = 0
    for _ in range(400):
        items = effect + rng.normal(0, of_items, m)
        table = items + rng.normal(0, of_seeds, (seeds, 1)) + np.zeros((seeds, m))
        found += fixed_split_test(table.mean(0), table.mean(1)).p < 0.05
    assert (found / 400 >= 0.75) == (needed is not None)


@pytest.mark.parametrize("kind", ["images", "texts", "vectors"])
@pytest.mark.parametrize("items", [14, 46, 300, 5000, 200_000])
def test_a_plan_has_enough_steps(kind, items):
    plan = plan_training(kind, items)
    steps = -(-items // plan.batch_size)
    assert steps >= min(10, items // 4)
    assert 20 <= plan.epochs <= 60
    assert steps * plan.epochs >= min(600, 60 * steps)


def test_tokens_are_nothing_to_compare():
    with pytest.raises(InputError, match="compare takes images, texts or vectors, got tokens"):
        plan_training("tokens", 100)


def test_the_most_disputed_items_are_those_farthest_from_the_votes(source):
    measured = made_up(source, "soft", 1, 0.1)
    wrong = measured.runs[0].predictions
    wrong["logits"][4] = 9 * (1 - source.votes.p[wrong["index"][4]])
    items = most_disputed(measured, source, 3)
    assert items[0].name == f"item {wrong['index'][4]}"
    assert items[0].picture.startswith("data:image/png;base64,")
    assert items[0].distance >= items[1].distance >= items[2].distance


def test_a_page_escapes_what_people_wrote(source):
    answer = find_answer([made_up(source, "soft", 1, 0.1), made_up(source, "majority", 6, 0.1)], source)
    evil = "<script>alert(1)</script>"
    words = {
        "name": evil,
        "short": evil,
        "paragraph": evil,
        "shown": evil,
        "doubts": [evil],
        "facts": [(evil, evil)],
        "items": [],
    }
    html = render(Page(answer=answer, pictures=[(evil, evil, "data:,")], commands=[(evil, evil)], **words))
    assert "<script>" not in html
    assert "http" not in html.replace("http-equiv", "")


def rendered(answer):
    words = {"name": "toy", "short": "", "paragraph": "", "shown": "soft", "doubts": [], "facts": [], "items": [], "commands": []}
    return render(Page(answer=answer, pictures=[], **words))


def test_both_intervals_of_a_difference_are_in_one_order_and_of_one_sign(source):
    """Soft labels are better, so every number about soft minus majority is negative: of new items, and of other votes."""
    answer = find_answer([made_up(source, "soft", 1, 0.1), made_up(source, "majority", 6, 0.1)], source)
    html = rendered(answer)
    [row] = re.findall(r"<td>soft − majority</td><td>(\S+)</td><td>(\S+) to (\S+)</td>", html)
    [votes] = re.findall(r"between (\S+) and (\S+) for soft − majority", html)
    numbers = [float(text.replace("−", "-")) for text in (*row, *votes)]
    assert max(numbers) < 0
    assert numbers[1] < numbers[0] < numbers[2]
    assert numbers[3] < numbers[0] < numbers[4]


def test_a_difference_of_nothing_has_no_sign(source):
    soft = made_up(source, "soft", 1, 0.1)
    html = rendered(find_answer([soft, replace(soft, method="sls")], source))
    assert "<td>soft − sls</td><td>0.0000</td><td>0.0000 to 0.0000</td>" in html
    assert not re.search(r"[-−+]0\.0000", html)


def test_an_answer_without_pairs_that_differ_has_no_least_difference():
    empty = Difference("a", "b", TTest(0.0, 0.0, 1.0, 4), seeds=5, adjusted=1.0, sd=0.0, ratio=0.2)
    assert seeds_needed(empty, 1) is None
    assert items_needed(empty, 100, 1) is None
