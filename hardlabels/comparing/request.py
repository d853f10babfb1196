"""What was asked for: the files, the methods, the seeds, and settings of ``hardlabels.train``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hardlabels.comparing.plan import METHODS
from hardlabels.errors import InputError

SETTING = re.compile(r"[+~]*[A-Za-z_][\w./@-]*=.*", re.DOTALL)
PLAIN = re.compile(r"[\w.:/%@+-]+", re.ASCII)  # what Hydra takes without quotes
SEEDS, MOST_SEEDS = 5, 1000
OURS = ("seeds", "method")
LISTS = ("data.clean", "data.text")
"""Settings whose value may be several words: with commas, as for the other commands, or in Hydra's brackets."""
REFUSED = {
    "seed": "seeds=N trains the seeds 0 .. N - 1 of every method",
    "K": "every method is trained on all votes of the training items",
}


@dataclass(frozen=True)
class Request:
    """A comparison.

    Attributes:
        settings: of ``hardlabels.train``, by name, as Hydra reads their values.
        methods: to compare.
        seeds: runs of each method.
        given: the names of the settings that the user gave.
    """

    settings: dict[str, str]
    methods: tuple[str, ...] = METHODS
    seeds: int = SEEDS
    given: frozenset[str] = field(default_factory=frozenset)

    @property
    def chose_methods(self) -> bool:
        """Whether the user named them."""
        return "method" in self.given


def read_request(words: Sequence[str]) -> Request:
    """The request of a command line: VOTES ITEMS, then settings as name=value; or data=NAME in place of the two files.

    >>> read_request(["votes.csv", "images/", "seeds=3"]).settings
    {'data': 'files', 'data.votes': 'votes.csv', 'data.items': 'images/', 'data.name': 'votes'}
    >>> read_request(["data=popquorn", "method=soft,majority"]).methods
    ('soft', 'majority')
    """
    paths: list[str] = []
    settings: dict[str, str] = {}
    for word in words:
        if word.startswith("-"):
            raise InputError(f"unknown option {word!r:.60}: settings are given as name=value, --help says which")
        if SETTING.fullmatch(word) and not Path(word).exists():
            name, _, value = word.partition("=")
            if name in settings:
                both = f" (several values are {name}={settings[name]},{value})" if name in LISTS else ""
                raise InputError(
                    f"{name} is given twice, {settings[name]!r:.60} and {value!r:.60}: expected every setting once{both}"
                )
            settings[name] = value
        else:
            paths.append(word)
    for name in settings:
        if name.lstrip("+~") in REFUSED:
            raise InputError(f"{name}={settings[name]} is no setting of compare: {REFUSED[name.lstrip('+~')]}")
    files: dict[str, str] = {}
    if len(paths) == 2:
        votes = Path(paths[0])
        files = {
            "data": "files",
            "data.votes": hydra_value(paths[0]),
            "data.items": hydra_value(paths[1]),
            "data.name": name_of(votes),
        }
    elif paths or "data" not in settings:
        listed = ", ".join(paths) or "none"
        twice = f"; where {paths[0]:.200} has the texts as well, give it twice" if len(paths) == 1 else ""
        raise InputError(f"expected two files, VOTES and ITEMS (or data=NAME in place of them), got {listed:.200}{twice}")
    methods = tuple(dict.fromkeys(settings.get("method", ",".join(METHODS)).split(",")))
    if len(methods) < 2:
        raise InputError(
            f"method must name at least two methods to compare, such as method=soft,majority; got {methods[0]!r:.60}"
        )
    others = {name: _list(value) if name in LISTS else value for name, value in settings.items() if name not in OURS}
    return Request({**files, **others}, methods, _seeds(settings.get("seeds", str(SEEDS))), frozenset(settings))


def name_of(votes: Path) -> str:
    """A name for the data set, and for its folder in ``outputs``: that of the file of votes, in letters that a folder takes.

    >>> name_of(Path("crowd labels (v2).csv"))
    'crowd-labels-v2'
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", votes.stem).strip("-.")[:60] or "mine"


def hydra_value(value: str) -> str:
    r"""A text as Hydra reads it: in quotes where it has characters that mean something to Hydra.

    >>> hydra_value("my votes.csv"), hydra_value("votes.csv")
    ('"my votes.csv"', 'votes.csv')
    """
    if PLAIN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _list(value: str) -> str:
    """Several words as Hydra reads them.

    >>> _list("empty,urls"), _list("empty"), _list("[empty,urls]")
    ('[empty,urls]', 'empty', '[empty,urls]')
    """
    return f"[{value}]" if "," in value and not value.startswith("[") else value


def _seeds(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= MOST_SEEDS:
        raise InputError(f"seeds must be a whole number 2 .. {MOST_SEEDS}, got {text!r:.60}")
    return int(text)
