"""What no prediction can go below, in words: with few votes per item that is not what the best prediction would have."""

import numpy as np

from hardlabels.reporting.tables.saved import predictions_of, source_at_hand
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.statistics import Limit, limit_of

HARDLY = 0.001
"""Nat by which few votes may lower the entropy before it is worth a sentence."""
FEW = 10
"""Votes per item below which the corrected entropy is itself too low."""
ENTROPY, REACHABLE = "entropy of the votes at hand", "that entropy, corrected for few votes"


def few_votes_matter(limit: Limit) -> bool:
    """Whether the votes at hand look more agreed than their annotators are, since items have few of them.

    >>> few_votes_matter(Limit(0.5, 0.7, 4.0)), few_votes_matter(Limit(0.5, 0.5004, 900.0)), few_votes_matter(Limit(0.5, 0.5))
    (True, False, False)
    """
    return limit.votes is not None and limit.reachable is not None and limit.reachable - limit.floor > HARDLY


def limit_sentences(limit: Limit, digits: int = 3) -> str:
    """The limit in one or two sentences.

    >>> print(limit_sentences(Limit(0.5, 0.5), 2))
    No prediction can go below 0.50 nat, the entropy of these votes.
    >>> print(limit_sentences(Limit(0.5, 0.7, 4.5), 2))  # doctest: +NORMALIZE_WHITESPACE
    No prediction can go below 0.50 nat, the entropy of these votes, and none can come near: with about 4.5 votes per item that is
    too low by about 0.20, if not more, so that even the annotators' true distributions would have about 0.70.
    """
    if limit.reachable is None and limit.votes is not None:
        return "With a single vote per item, nobody can tell what the best possible prediction would have."
    least = f"No prediction can go below {limit.floor:.{digits}f} nat, the entropy of these votes"
    if limit.reachable is None or limit.votes is None or not few_votes_matter(limit):
        return f"{least}."
    votes, low_by = f"{limit.votes:.1f}".removesuffix(".0"), limit.reachable - limit.floor
    more = ", if not more" if limit.votes < FEW else ""
    return (
        f"{least}, and none can come near: with about {votes} votes per item that is too low by about {low_by:.{digits}f}{more}, "
        f"so that even the annotators' true distributions would have about {limit.reachable:.{digits}f}."
    )


def limit_of_runs(records: Records) -> Limit | None:
    """The least soft NLL: mean over runs of soft NLL minus KL; and without the bias of few votes, where the votes are here."""
    rows = records.seen
    rows = rows[rows["slice"] == "full"]
    nll, kl = (rows.loc[rows["name"] == name, "value"].dropna() for name in ("soft_nll", "kl_to_annotator"))
    if not len(nll) or len(nll) != len(kl):
        return None
    floor = float(nll.mean() - kl.mean())
    items: dict[int, np.ndarray] = {}  # of one seed all runs have the same, and some are published without their predictions
    for cell, path in records.folders.items():
        if cell.seed not in items and (saved := predictions_of(FinishedRun(path))) is not None:
            items[cell.seed] = saved["index"]
    source = source_at_hand(FinishedRun(next(iter(records.folders.values())))) if items else None
    return Limit(floor) if source is None else limit_of(source.votes, list(items.values()))._replace(floor=floor)
