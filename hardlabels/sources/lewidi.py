"""Learning With Disagreements, SemEval-2023 task 11: four sets of texts with every annotator's vote (Leonardelli et al. 2023)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.download import data_root
from hardlabels.sources.source import Source
from hardlabels.sources.texts import choose, find, is_text, refuse, text_source
from hardlabels.votes import Votes
from hardlabels.votes.formats import NamedVotes, Options
from hardlabels.votes.formats import lewidi as format
from hardlabels.votes.formats.document import parse, read_json
from hardlabels.votes.formats.named import Codes

SUBSETS = {"armis": "ArMIS", "convabuse": "ConvAbuse", "hs_brexit": "HS-Brexit", "md_agreement": "MD-Agreement"}
MD5 = {
    "armis": ("f7e0efa85e621225b9fba9adfa98910b", "b37206ff97829158e06bbbfa896d54fa", "73edb51ef01544a438a29833c8742ef5"),
    "convabuse": ("301f588bdd90f5f214e6ba513fee7cc8", "732a2554ab5c2acf7079fdf7a3beb741", "4765d37c6888ff7588704c2828537e08"),
    "hs_brexit": ("87224249e00550ca3cfc509bfa9168c5", "db9f8b439119d43f3327e62edbd3cbff", "44fb339dd7e8b20e6d2dd0bf7d5a9e71"),
    "md_agreement": ("f5ce113076a0f1caf34edb9f42164273", "221871919a6e953181112ce8731e23dc", "2d004146a56adeeea1c33adbb047ba07"),
}
SPLITS = ("train", "dev", "test")
# The release is a zip, which is not read here: no address of the single files is known.
GET = "data_post-competition.zip of https://github.com/Le-Wi-Di/le-wi-di.github.io; its files go to the paths above"

BINARY, SEVERITY = ("0", "1"), format.SCALES["abusivness detection"]
TURNS = ("prev_agent", "prev_user", "agent", "user")


def lewidi(root: str | os.PathLike[str] | None = None, *, subset: str = "armis", name: str | None = None) -> Source:
    """Texts, (N, 1), of one of the four sets, with the votes of the annotators.

    ========================  ======  ===============  ====================================================
    subset                     texts  votes on a text  classes
    ========================  ======  ===============  ====================================================
    armis (ArMIS)                943  3                0, 1: misogyny in Arabic tweets
    convabuse (ConvAbuse)      4,050  2 to 8           -3 .. 1: abuse in a conversation; below 0 is abusive
    hs_brexit (HS-Brexit)      1,120  6                0, 1: hate speech in tweets
    md_agreement              10,753  5                0, 1: offensive tweets
    ========================  ======  ===============  ====================================================

    Train, dev and test are joined in this order: our split follows from the seed. A text of ConvAbuse is JSON of four turns, of
    which the last is judged; it becomes four lines that begin with who speaks. One text of MD-Agreement has an annotator twice;
    both votes count. Offensive content.

    Args:
        root: the folder of the data; None is the variable ``HARDLABELS_DATA``, else the user's cache folder. The files are
            ``lewidi/2023/ArMIS/ArMIS_train.json`` and so on.
        subset: ``armis``, ``convabuse``, ``hs_brexit`` or ``md_agreement``; the official spelling, ``HS-Brexit``, will do.
        name: the name of the data set; None for ``lewidi_`` and the subset.

    Raises:
        InputError: a file that was not found, with where to get it, or an item that cannot be.
    """
    subset = choose(subset, list(SUBSETS))
    title = SUBSETS[subset]
    files = {f"lewidi/2023/{title}/{title}_{split}.json": md5 for split, md5 in zip(SPLITS, MD5[subset], strict=True)}
    paths = find(data_root(root), files, get=GET)
    options = Options(classes=SEVERITY if subset == "convabuse" else BINARY)
    tables = [format.read(path, options) for path in paths]
    texts: list[tuple[str, ...]] = []
    for path, split, table in zip(paths, SPLITS, tables, strict=True):
        found = read_texts(path, split, talk=subset == "convabuse")
        texts += [(found[item],) for item in table.items]
    return text_source(name or f"lewidi_{subset}", texts, join(tables), tables[0].class_names)


def conversation(turns: dict[str, Any]) -> str:
    r"""The four turns of a ConvAbuse text, a line each.

    >>> conversation({"prev_agent": "Hello.", "prev_user": "hi", "agent": "How are you?", "user": "fine"})
    'Agent: Hello.\nUser: hi\nAgent: How are you?\nUser: fine'
    """
    return "\n".join(f"{'Agent' if 'agent' in turn else 'User'}: {turns[turn].strip()}" for turn in TURNS)


def read_texts(path: Path, split: str, *, talk: bool) -> dict[str, str]:
    """The text of every item, by id. The votes have been read before: every item is an object with an id of its own."""
    texts: dict[str, str] = {}
    problems: list[str] = []
    for key, item in read_json(path).items():
        text, where = item.get("text"), f"item {key!r:.60}"
        if not is_text(text):
            problems.append(f"{where} has no text")
        elif item.get("split", split) != split:
            problems.append(f"{where} is of split {item['split']!r:.60}")
        elif not talk:
            texts[key.strip()] = text.strip()
        elif isinstance(turns := _json(text, f"{path}, {where}"), dict) and all(is_text(turns.get(turn)) for turn in TURNS):
            texts[key.strip()] = conversation(turns)
        else:
            problems.append(f"{where} has {text!r:.60}")
    turns_of = f", JSON of the turns {', '.join(TURNS)}," if talk else ""
    refuse(path, f"a 'text'{turns_of} on every item, and the split {split}", problems)
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
