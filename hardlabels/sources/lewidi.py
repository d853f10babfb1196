"""Learning With Disagreements: texts with every annotator's vote, as two shared tasks released them.

SemEval-2023 task 11 (Leonardelli et al. 2023) and the third edition at NLPerspectives 2025 (Leonardelli et al. 2025).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.download import data_root
from hardlabels.sources.own_split import part_codes
from hardlabels.sources.source import Source
from hardlabels.sources.texts import choose, find, is_text, refuse, text_source
from hardlabels.votes import Votes
from hardlabels.votes.formats import NamedVotes, Options
from hardlabels.votes.formats import lewidi as format
from hardlabels.votes.formats.codes import Codes
from hardlabels.votes.formats.document import parse, read_json

SPLITS = ("train", "dev", "test")
OFFICIAL = "official"
# The releases are zips, or large repositories: no address of the single files is known.
GET = {
    2023: "data_post-competition.zip of https://github.com/Le-Wi-Di/le-wi-di.github.io; its files go to the paths above",
    2025: "the folder LeWiDi_3-2025 of https://github.com/Le-Wi-Di/le-wi-di.github.io; its files go to the paths above",
}
TURNS = ("prev_agent", "prev_user", "agent", "user")


@dataclass(frozen=True)
class Subset:
    """What is known about one of the sets.

    Args:
        title: the release's name of it, and of its files.
        year: of the edition.
        md5: of train, dev and test.
        classes: in their order.
        ordered: whether they are a scale.
        fields: of the text, where it is an object: the two parts of a pair.
    """

    title: str
    year: int
    md5: tuple[str, str, str]
    classes: tuple[str, ...] = ("0", "1")
    ordered: bool = False
    fields: tuple[str, ...] = ()


SUBSETS = {
    "armis": Subset(
        "ArMIS",
        2023,
        ("f7e0efa85e621225b9fba9adfa98910b", "b37206ff97829158e06bbbfa896d54fa", "73edb51ef01544a438a29833c8742ef5"),
    ),
    "convabuse": Subset(
        "ConvAbuse",
        2023,
        ("301f588bdd90f5f214e6ba513fee7cc8", "732a2554ab5c2acf7079fdf7a3beb741", "4765d37c6888ff7588704c2828537e08"),
        format.SCALES["abusivness detection"],
        ordered=True,
    ),
    "hs_brexit": Subset(
        "HS-Brexit",
        2023,
        ("87224249e00550ca3cfc509bfa9168c5", "db9f8b439119d43f3327e62edbd3cbff", "44fb339dd7e8b20e6d2dd0bf7d5a9e71"),
    ),
    "md_agreement": Subset(
        "MD-Agreement",
        2023,
        ("f5ce113076a0f1caf34edb9f42164273", "221871919a6e953181112ce8731e23dc", "2d004146a56adeeea1c33adbb047ba07"),
    ),
    "paraphrase": Subset(
        "Paraphrase",
        2025,
        ("943bc4c30dac0fa55f96152de0e6c2c5", "2d9d73eea0011c2bbde120a97c6ea5d3", "048849597fe12477e661cabe4dc6840f"),
        format.SCALES["paraphrase detection"],
        ordered=True,
        fields=("Question1", "Question2"),
    ),
    "varierrnli": Subset(
        "VariErrNLI",
        2025,
        ("cba68c3fede3557f0893e7d566b2445d", "bba084d3c53fe58249f772b59b6d09e6", "8dc484ad8cada824c83353e5dae581ac"),
        ("contradiction", "entailment", "neutral"),
        fields=("context", "statement"),
    ),
}


def lewidi(
    root: str | os.PathLike[str] | None = None, *, subset: str = "armis", name: str | None = None, split: str | None = None
) -> Source:
    """Texts, (N, 1), or pairs of texts, (N, 2), of one of the sets, with the votes of the annotators.

    ========================  ====  ======  ===============  ====================================================
    subset                    year   items  votes per item   classes
    ========================  ====  ======  ===============  ====================================================
    armis (ArMIS)             2023     943  3                0, 1: misogyny in Arabic tweets
    convabuse (ConvAbuse)     2023   4,050  2 to 8           -3 .. 1: abuse in a conversation; below 0 is abusive
    hs_brexit (HS-Brexit)     2023   1,120  6                0, 1: hate speech in tweets
    md_agreement              2023  10,753  5                0, 1: offensive tweets
    paraphrase (Paraphrase)   2025     500  4                -5 .. 5: are two questions paraphrases?
    varierrnli (VariErrNLI)   2025     488  1 to 6           contradiction, entailment, neutral
    ========================  ====  ======  ===============  ====================================================

    Train, dev and test are joined in this order: our split follows from the seed, unless the official one is asked for. A text of
    ConvAbuse is JSON of four turns, of which the last is judged; it becomes four lines that begin with who speaks. One text of
    MD-Agreement has an annotator twice; both votes count. An annotator of VariErrNLI may give several labels: each is one vote.
    Offensive content.

    Args:
        root: the folder of the data; None is the variable ``HARDLABELS_DATA``, else the user's cache folder. The files are
            ``lewidi/2023/ArMIS/ArMIS_train.json`` and so on.
        subset: ``armis``, ``convabuse``, ``hs_brexit``, ``md_agreement``, ``paraphrase`` or ``varierrnli``; the official
            spelling, ``HS-Brexit``, will do.
        name: the name of the data set; None for ``lewidi_`` and the subset.
        split: ``official`` trains on train, selects the checkpoint on dev and evaluates test, for every seed; None follows the
            seed.

    Raises:
        InputError: a file that was not found, with where to get it, or an item that cannot be.
    """
    if split not in (None, OFFICIAL):
        raise InputError(f"data.split of LeWiDi must be {OFFICIAL} (its train, dev and test) or null, got {split!r}")
    subset = choose(subset, list(SUBSETS))
    known = SUBSETS[subset]
    titles = [f"lewidi/{known.year}/{known.title}/{known.title}_{part}.json" for part in SPLITS]
    paths = find(data_root(root), dict(zip(titles, known.md5, strict=True)), get=GET[known.year])
    tables = [format.read(path, Options(classes=known.classes)) for path in paths]
    texts: list[tuple[str, ...]] = []
    for path, part, table in zip(paths, SPLITS, tables, strict=True):
        found = read_texts(path, part, talk=subset == "convabuse", fields=known.fields)
        texts += [found[item] for item in table.items]
    sizes = [len(table.items) for table in tables]
    return text_source(
        name or f"lewidi_{subset}",
        texts,
        join(tables),
        tables[0].class_names,
        ids=[f"{part}/{item}" for part, table in zip(SPLITS, tables, strict=True) for item in table.items],
        parts=None if split is None else np.repeat(part_codes(SPLITS, "the official split"), sizes),
        ordered=known.ordered,
    )


def conversation(turns: dict[str, Any]) -> str:
    r"""The four turns of a ConvAbuse text, a line each.

    >>> conversation({"prev_agent": "Hello.", "prev_user": "hi", "agent": "How are you?", "user": "fine"})
    'Agent: Hello.\nUser: hi\nAgent: How are you?\nUser: fine'
    """
    return "\n".join(f"{'Agent' if 'agent' in turn else 'User'}: {turns[turn].strip()}" for turn in TURNS)


def read_texts(path: Path, split: str, *, talk: bool = False, fields: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The text of every item, or its two, by id. The votes have been read before: every item is an object with an id of its own.

    Args:
        path: the file.
        split: of which every item must be.
        talk: whether a text is JSON of four turns.
        fields: of a text that is an object.
    """
    texts: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for key, item in read_json(path).items():
        text, where = item.get("text"), f"item {key!r:.60}"
        if fields and isinstance(text, dict):
            parts = tuple(text.get(field) for field in fields)
        elif talk and is_text(text) and isinstance(turns := _json(text, f"{path}, {where}"), dict):
            parts = (conversation(turns) if all(is_text(turns.get(turn)) for turn in TURNS) else None,)
        else:
            parts = (None if talk or fields else text,)
        if not all(map(is_text, parts)):
            problems.append(f"{where} has {text!r:.60}" if is_text(text) or isinstance(text, dict) else f"{where} has no text")
        elif item.get("split", split) != split:
            problems.append(f"{where} is of split {item['split']!r:.60}")
        else:
            texts[key.strip()] = tuple(str(part).strip() for part in parts)
    form = f", JSON of the turns {', '.join(TURNS)}," if talk else f" with {' and '.join(fields)}" if fields else ""
    refuse(path, f"a 'text'{form} on every item, and the split {split}", problems)
    return texts


def _json(text: str, where: str) -> Any:
    try:
        return parse(text, where)
    except InputError:
        return None  # listed with the other problems


def join(tables: Sequence[NamedVotes]) -> Votes:
    """One table after another; an annotator of several tables is known by name.

    >>> one = NamedVotes(Votes.from_labels([0, 1], [0, 2], 2, annotators=[0, 1]), ["a"], ("0", "1"), ("Ann1", "Ann2"), "lewidi")
    >>> two = NamedVotes(Votes.from_labels([1], [0, 1], 2, annotators=[0]), ["a"], ("0", "1"), ("Ann2",), "lewidi")
    >>> both = join([one, two])
    >>> both.counts.tolist(), both.annotators.tolist()
    ([[1, 1], [0, 1]], [0, 1, 1])
    """
    codes = Codes()
    votes = [table.votes for table in tables]
    who = [codes.take(table.annotator_names or ())[table.votes.annotators] for table in tables]
    sizes = np.concatenate([part.sizes for part in votes])
    return Votes.from_labels(
        np.concatenate([part.labels for part in votes]),
        np.concatenate([[0], np.cumsum(sizes)]),
        votes[0].num_classes,
        annotators=np.concatenate(who),
    )
