"""ChaosNLI: JSON lines with ``uid`` and ``label_counter``, which leaves out the classes that nobody chose."""

from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.class_order import order_classes
from hardlabels.votes.formats.document import need_dict, read_lines
from hardlabels.votes.formats.named import NamedVotes, Options, check_ids
from hardlabels.votes.votes_table import Votes

ORDERS = (("e", "n", "c"), ("1", "2"))
"""The order of ``label_dist`` and ``label_count`` in the release: entailment, neutral, contradiction; hypothesis 1, 2."""


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of a ChaosNLI file, items in the order of the file and named by their uid."""
    places: dict[str, int] = {}
    counters: list[dict[str, int]] = []
    orders: list[Any] = []
    for number, line in read_lines(path):
        where = f"{path}, line {number}"
        entry = need_dict(line, "an object with 'uid' and 'label_counter'", where)
        uid = str(entry.get("uid", "")).strip()
        if not uid or uid in places:
            expected = f"every uid once, and line {places[uid]} has it too" if uid else "a 'uid'"
            raise InputError(f"{where}: expected {expected}; found {uid!r:.60}")
        places[uid] = number
        counter = need_dict(entry.get("label_counter"), "'label_counter' with at least one vote", where)
        for label, count in counter.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise InputError(f"{where}: expected whole counts in 'label_counter'; {label!r:.60} has {count!r:.60}")
        counters.append(counter)
        orders.append(entry.get("label_count"))
    if not counters:
        raise InputError(f"{path}: expected at least one line, got an empty file")
    check_ids(list(places), "item", str(path))
    labels = [*dict.fromkeys(label for counter in counters for label in counter)]
    known = next((order for order in ORDERS if set(labels) <= set(order)), None)
    names, _ = order_classes(labels, str(path), options.classes or known)
    counts = np.array([[min(counter.get(name, 0), 10**9) for name in names] for counter in counters])
    votes = Votes.from_counts(counts, where=str(path))
    if names == known:
        for (uid, number), row, given in zip(places.items(), counts.tolist(), orders, strict=True):
            if given is not None and given != row:
                where = f"{path}, line {number} ({uid:.60})"
                raise InputError(f"{where}: expected 'label_count' to be {row}, as 'label_counter' says; found {given!r:.60}")
    return NamedVotes(votes, list(places), names, None, "chaosnli", ("label_counter; classes that it leaves out have 0 votes",))
