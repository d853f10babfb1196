"""ChaosNLI: 100 votes on each of 4,645 pairs of sentences (Nie, Zhou and Bansal 2020)."""

import os
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.sources.attributes import codes_of
from hardlabels.sources.download import data_root
from hardlabels.sources.source import Source
from hardlabels.sources.texts import choose, find, is_text, refuse, text_source
from hardlabels.votes.formats import Options
from hardlabels.votes.formats import chaosnli as format
from hardlabels.votes.formats.document import read_lines

FILES = {
    "snli": ("chaosnli/chaosNLI_snli.jsonl", "0853ccf216d6a2600966d74ac80e1b2c"),
    "mnli": ("chaosnli/chaosNLI_mnli_m.jsonl", "7e3f695ec25ecdd15fa29a9e167aee7b"),
    "alphanli": ("chaosnli/chaosNLI_alphanli.jsonl", "3852a43908af785c77c18fc9598b3f48"),
}
"""The names of the release, and the md5 sums of the copy of it at ``URL``: the authors publish none."""

# The authors' own archive is a zip at Dropbox. This copy of it is pinned to a commit.
URL = (
    "https://raw.githubusercontent.com/jsbaan/calibration-on-disagreement-data/"
    "990e81cacadac5d0268160d1c02bad19d4ddb9a3/data/chaosNLI_v1.0"
)
GET = "chaosNLI_v1.0.zip, linked at https://github.com/easonnie/ChaosNLI; its .jsonl files go to chaosnli/"

INFERENCE, STORY = ("premise", "hypothesis"), ("obs1", "hyp1", "hyp2", "obs2")
GROUP = "premise"
CLASS_NAMES = {"e": "entailment", "n": "neutral", "c": "contradiction", "1": "hypothesis 1", "2": "hypothesis 2"}


def chaosnli(
    root: str | os.PathLike[str] | None = None,
    *,
    subset: str = "snli",
    name: str | None = None,
    group: str | None = None,
    url: str = URL,
    timeout: float = 30.0,
) -> Source:
    """Pairs of texts, (N, 2), with 100 votes each: 1,514 of SNLI, 1,599 of MNLI, or 1,532 of alphaNLI.

    SNLI and MNLI: premise and hypothesis; entailment, neutral or contradiction? alphaNLI: what happened between two observations,
    hypothesis 1 or 2? Its parts are the two stories, "obs1 hyp1 obs2" and "obs1 hyp2 obs2", so that, as in the other subsets, the
    label is in how the parts compare.

    Args:
        root: the folder of the data; None is the variable ``HARDLABELS_DATA``, else the user's cache folder. What is not there
            is downloaded to it.
        subset: ``snli``, ``mnli`` or ``alphanli``.
        name: the name of the data set; None for ``chaosnli_`` and the subset.
        group: ``premise`` keeps the pairs of one premise on one side of a split: 474 of SNLI's 1,514 pairs, and 467 of MNLI's
            1,599, share theirs with another one. (alphaNLI: the stories of one beginning, 194 of 1,532.) None divides them.
        url: of the folder that serves the files; downloads are held to their md5.
        timeout: seconds without an answer after which the address has failed.

    Raises:
        InputError: nothing found and nothing downloaded, or a line that cannot be.
    """
    if group not in (None, GROUP):
        raise InputError(f"data.group of ChaosNLI must be {GROUP} or null, got {group!r}")
    subset = choose(subset, list(FILES))
    file, md5 = FILES[subset]
    (path,) = find(data_root(root), {file: md5}, url=url, get=GET, timeout=timeout)
    nli, story = format.ORDERS
    table = format.read(path, Options(classes=story if subset == "alphanli" else nli))
    texts = read_texts(path, STORY if subset == "alphanli" else INFERENCE)
    pairs = [stories(*texts[uid]) if subset == "alphanli" else texts[uid] for uid in table.items]
    first = codes_of([texts[uid][0] for uid in table.items])  # the premise, or the first observation
    class_names = [CLASS_NAMES[label] for label in table.class_names]
    groups = None if group is None else first
    return text_source(name or f"chaosnli_{subset}", pairs, table.votes, class_names, ids=table.items, groups=groups)


def stories(obs1: str, hyp1: str, hyp2: str, obs2: str) -> tuple[str, str]:
    """The story with each hypothesis in its place.

    >>> stories("It rained.", "I ran.", "I slept.", "I am wet.")
    ('It rained. I ran. I am wet.', 'It rained. I slept. I am wet.')
    """
    return f"{obs1} {hyp1} {obs2}", f"{obs1} {hyp2} {obs2}"


def read_texts(path: Path, fields: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """These fields of every line's ``example``, by uid. The votes have been read before: every line has a uid of its own."""
    texts: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for number, entry in read_lines(path):
        uid, example = str(entry["uid"]).strip(), entry.get("example")
        found = example if isinstance(example, dict) else {}
        lacking = [field for field in fields if not is_text(found.get(field))]
        if lacking:
            problems.append(f"line {number} ({uid:.60}) has no {' and '.join(lacking)}")
        elif str(found.get("uid", uid)).strip() != uid:
            problems.append(f"line {number} ({uid:.60}) has the example of {found['uid']!r:.60}")
        else:
            texts[uid] = tuple(found[field].strip() for field in fields)
    refuse(path, f"an 'example' with the texts {', '.join(fields)}, and the line's own uid", problems)
    return texts
