"""What a comparison says before and after it has trained: lines on the terminal, the page, the numbers for programs."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardlabels.comparing.answer import Answer, find_answer
from hardlabels.comparing.differences import TTest
from hardlabels.comparing.disagreement import most_disputed
from hardlabels.comparing.measure import METRICS, read_runs
from hardlabels.comparing.page import Page, render
from hardlabels.comparing.pictures import as_address, draw_calibration, draw_scores
from hardlabels.comparing.run import Prepared
from hardlabels.comparing.sentences import calibration, paragraph, short_answer
from hardlabels.console import say
from hardlabels.errors import printable
from hardlabels.runs.writing import write_json, write_text

ABOVE = "Where annotators disagree, a network that predicts their shares lies above the diagonal."


def announce(prepared: Prepared) -> None:
    """Say on the terminal what was read, what is doubtful about it, and what will be trained."""
    summary, source, recipe = prepared.summary, prepared.source, prepared.cfg.recipe
    votes = f"{summary.votes:,} votes" if summary.votes is not None else "probabilities without votes"
    classes = f"{summary.classes} classes ({', '.join(source.class_names):.200})"
    say(printable(f"{source.name}: {len(source):,} {source.kind}, {votes}, {classes}"))
    say(f"{summary.unanimous:.0%} of the items are unanimous; mean entropy {summary.entropy:.3f} nat")
    for doubt in prepared.doubts:
        say(f"note: {doubt}")
    own = {"recipe", "recipe.batch_size", "recipe.epochs"} & set(prepared.request.settings)
    training = f"recipe {recipe.name}, batches of {recipe.batch_size}, {recipe.epochs} epochs"
    chosen = "" if own else " (chosen for this much data)"
    say(f"training {', '.join(prepared.methods)} with {prepared.request.seeds} seeds each: {training}{chosen}")


def write_report(prepared: Prepared, words: Sequence[str]) -> tuple[Answer, Path]:
    """The answer of finished runs, and its page."""
    measured = read_runs(prepared.folders)
    answer = find_answer(measured, prepared.source)
    shown = next(m for m in answer.methods if m.method == (answer.suggested or answer.best.method))
    calibrated = calibration(answer)
    pictures = [
        ("Every run", "A dot is a seed, a line their mean.", as_address(draw_scores(answer))),
        (
            "Reliability",
            f"{calibrated} The picture: how often the first choice is the majority's, given its probability. {ABOVE}",
            as_address(draw_calibration(answer)),
        ),
    ]
    page = Page(
        name=prepared.source.name,
        short=short_answer(answer),
        paragraph=paragraph(answer, prepared.source.name),
        answer=answer,
        pictures=pictures,
        items=most_disputed(shown, prepared.source),
        shown=shown.method,
        facts=facts(prepared),
        doubts=prepared.doubts,
        commands=commands(prepared, shown.runs[0].path, words),
    )
    path = prepared.place / "index.html"
    write_text(path, render(page))
    write_json(prepared.place / "answer.json", numbers(answer, page.short))
    return answer, path


def facts(prepared: Prepared) -> list[tuple[str, str]]:
    """What the page says about the votes, the split and the runs: (heading, text) pairs."""
    summary, source = prepared.summary, prepared.source
    split = "your own" if source.parts is not None else "70 % train, 10 % select, 20 % evaluate, drawn by the seed"
    split += "" if source.groups is None else f"; {len(set(source.groups.tolist())):,} groups stay together"
    alpha = "" if summary.alpha is None else f"; Krippendorff's alpha {summary.alpha:.2f}"
    per_item = (
        "probabilities only"
        if summary.per_item is None
        else f"{summary.votes:,}; per item {summary.per_item} (least / median / most)"
    )
    return [
        ("items", f"{len(source):,} {source.kind}, {summary.classes} classes: {', '.join(source.class_names)[:400]}"),
        ("votes", f"{per_item}; unanimous {summary.unanimous:.0%}{alpha}"),
        ("split", split),
        (
            "training",
            " ".join(f"{name}={value}" for name, value in prepared.words.items() if name.startswith(("recipe", "model"))),
        ),
        ("encoder", str(prepared.cfg.model.get("encoder", "none: the features are your own"))),
        ("content", source.fingerprint[:16]),
    ]


def commands(prepared: Prepared, best: Path, words: Sequence[str]) -> list[tuple[str, str]]:
    """The commands that a person may want next, each with what it does."""
    new = {"images": "new_images/", "texts": "new_texts.csv", "vectors": "new_features.npy"}[prepared.source.kind]
    return [
        ("Predict new items with one network,", f"hardlabels predict {shlex.quote(str(best))} {new} --out predictions.csv"),
        ("or with the mean over its seeds.", f"hardlabels predict {shlex.quote(str(best.parent))} {new} --out predictions.csv"),
        ("Use it in another program.", f"hardlabels export {shlex.quote(str(best))} --to onnx"),
        ("This comparison again.", " ".join(["hardlabels compare", *map(shlex.quote, words)])),
    ]


def numbers(answer: Answer, short: str) -> dict[str, Any]:
    """The answer for programs."""
    return {
        "answer": short,
        "suggested": answer.suggested,
        "level": answer.level,
        "worse": answer.worse,
        "prior": answer.prior,
        "floor": answer.limit.floor,
        "reachable": answer.limit.reachable,
        "votes_per_item": answer.limit.votes,
        "gain": _tested(answer.gain),
        "items": dict(zip(("all", "train", "select", "evaluate"), answer.items, strict=True)),
        "methods": {
            m.method: {name: {str(seed): value for seed, value in m.values(name).items()} for name in METRICS}
            for m in answer.methods
        },
        "differences": [
            {"a": found.a, "b": found.b, **_tested(found.test), "adjusted": found.adjusted, "resolved": found.resolved}
            for found in answer.differences
        ],
        "votes": {name: vars(found) for name, found in answer.votes.items()},
    }


def _tested(test: TTest) -> dict[str, Any]:
    return {**test._asdict(), "interval": test.interval}
