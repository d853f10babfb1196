"""The answer as one paragraph, for somebody who has not read the paper."""

import numpy as np
from scipy.special import softmax

from hardlabels.comparing.answer import SIMPLEST, Answer
from hardlabels.comparing.measure import PRIMARY
from hardlabels.reporting.limit import limit_sentences
from hardlabels.reporting.meanings import meaning

ABOUT = 0.03
"""Mean confidence and mean share of the votes that are this close are called equal."""


def paragraph(answer: Answer, name: str) -> str:
    """Everything that matters, in a few sentences."""
    return " ".join([_question(answer, name), _learned(answer), *_differences(answer), _advice(answer)])


def short_answer(answer: Answer) -> str:
    """The first line: which delivery to use."""
    if answer.suggested is None:
        return "No method learned to predict the votes: none is better than the class shares."
    if len(answer.level) == 1:
        return f"Use {answer.suggested}: it is better than {_listed(answer.worse)}."
    if answer.worse:
        are = "is" if len(answer.worse) == 1 else "are"
        return f"Use {answer.suggested}: {_listed(answer.level)} cannot be told apart, and {_listed(answer.worse)} {are} worse."
    return f"Use {answer.suggested}, {_why(answer)}: no difference between {_listed(answer.level)} was resolved."


def calibration(answer: Answer) -> str:
    """Whether the suggested (else the best) network's confidence can be believed: is it the share of votes that it predicts?

    Not whether its first choice is the majority's: where annotators disagree, a network that predicts their shares exactly is
    less sure than it is often right.
    """
    measured = next(m for m in answer.methods if m.method == (answer.suggested or answer.best.method))
    confidence, votes, agreed = [], [], []
    for run in measured.runs:
        q, p = softmax(run.predictions["logits"].astype(np.float64), axis=1), run.predictions["p"]
        first = q.argmax(1)
        confidence.append(q.max(1).mean())
        votes.append(np.take_along_axis(p, first[:, None], 1).mean())
        agreed.append((first == p.argmax(1)).mean())
    sure, share = float(np.mean(confidence)), float(np.mean(votes))
    verdict = "its confidence is about right"
    if abs(sure - share) >= ABOUT:
        verdict = f"it is {'surer' if sure > share else 'less sure'} than it should be"
    text = (
        f"{measured.method} gives its first choice a probability of {sure:.2f} on average, and {share:.2f} of the votes are for "
        f"that choice: {verdict}. It is the annotators' first choice, too, in {np.mean(agreed):.0%} of the items."
    )
    after = float(np.mean([run.after_temperature for run in measured.runs]))
    if np.isfinite(after):
        before = measured.mean(PRIMARY)
        helps = "helps" if after < before - 0.002 else "does not help" if after > before - 0.0005 else "hardly matters"
        text += f" One temperature (predict --calibrated) {helps}: soft NLL {before:.3f} without it, {after:.3f} with it."
    return text


def _question(answer: Answer, name: str) -> str:
    n, train, select, evaluate = answer.items
    split = "your own split" if answer.given else f"{answer.seeds} random splits"
    methods = _listed([measured.method for measured in answer.methods])
    return (
        f"On {name} ({n:,} items; {split}: {train:,} to train on, {select:,} to select the epoch, {evaluate:,} to evaluate) "
        f"networks were trained with {methods}, {answer.seeds} seeds each, and asked how well they predict the votes of items "
        f"that they have not seen. The measure is the soft NLL, in nat: lower is better, and {answer.prior:.3f} is what always "
        f"predicting the class shares gives. {limit_sentences(answer.limit)}"
    )


def _learned(answer: Answer) -> str:
    best, gain = answer.best, answer.gain
    if not answer.learned:
        return (
            f"The best method, {best.method}, has {best.mean(PRIMARY):.3f}, which is not better than the class shares beyond "
            f"chance (gain {gain.mean:.3f}, 95 % interval {gain.interval[0]:.3f} to {gain.interval[1]:.3f})."
        )
    reach = 0.0 if answer.limit.reachable is None else answer.prior - answer.limit.reachable
    share = f", about {min(gain.mean / reach, 1):.0%} of the way to {answer.limit.reachable:.3f}" if reach > 0 else ""
    return f"The best, {best.method}, has {best.mean(PRIMARY):.3f}: {gain.mean:.3f} below the class shares{share}."


def _differences(answer: Answer) -> list[str]:
    lines = []
    for other in answer.methods[1:]:
        if other.method in answer.worse:
            found = answer.against_best(other.method)
            low, high = sorted(abs(end) for end in found.test.interval)
            text = f"{other.method} is worse by {abs(found.mean):.3f} (95 % interval {low:.3f} to {high:.3f})"
            if (votes := answer.votes.get(other.method)) is not None:
                text += f"; with other votes on the same items it would be {votes.low:.3f} to {votes.high:.3f}"
            lines.append(f"{text}.")
    return lines


def _advice(answer: Answer) -> str:
    n = answer.items[0]
    if answer.suggested is None:
        return "More items, more votes on each, or another encoder are needed before a choice of the delivery can matter."
    would = answer.would_take
    if would is None:
        return f"So use {answer.suggested}: {meaning(answer.suggested)}."
    other, seeds, items = would
    largest = abs(answer.against_best(other).mean)
    level = _listed(answer.level)
    text = f"No difference between {level} was resolved with {answer.seeds} seeds and {n:,} items: the largest is {largest:.4f}"
    if answer.gain.mean > 0:
        text += f" ({largest / answer.gain.mean:.0%} of the gain over the class shares)"
    ways = [f"about {seeds} seeds"] if seeds is not None and seeds > answer.seeds else []
    ways += [f"about {items:,} items"] if items is not None and items > n else []
    text += f", and to see one of that size would take {' or '.join(ways)}." if ways else ", too small to be worth looking for."
    return f"{text} So use {answer.suggested}, {_why(answer)} of them: {meaning(answer.suggested)}."


def _why(answer: Answer) -> str:
    """Why this one of several that cannot be told apart."""
    return "the simplest" if answer.suggested in SIMPLEST else "the one with the lowest soft NLL"


def _listed(names: list[str]) -> str:
    """Names in a sentence.

    >>> _listed(["a", "b", "c"]), _listed(["a"])
    ('a, b and c', 'a')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
