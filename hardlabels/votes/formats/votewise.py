"""Votes as they are read one by one from a document."""

from array import array
from collections.abc import Sequence

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import Codes, Column, NamedVotes, Options, assemble


class Ballot:
    """Collects items and their votes, in the order of the file.

    >>> ballot = Ballot("answers.json")
    >>> ballot.item("a"); ballot.vote("yes", "Ann1"); ballot.vote("no", "Ann2")
    >>> ballot.close("answers", Options(), []).votes.counts.tolist()
    [[1, 1]]
    """

    def __init__(self, where: str):
        self.where = where
        self.codes = {role: Codes() for role in ("task", "label", "worker")}
        self.columns = {role: array("i") for role in self.codes}

    def item(self, task: str) -> None:
        """The votes that follow are on this item, which did not come before."""
        if task.strip() in self.codes["task"]:
            raise InputError(f"{self.where}: expected every item once; {task!r:.60} comes twice")
        self.codes["task"].take([task.strip()])

    def vote(self, label: str, worker: str) -> None:
        """One vote on the last item."""
        self.columns["task"].append(len(self.codes["task"]) - 1)
        self.columns["label"].append(self.codes["label"][label])
        self.columns["worker"].append(self.codes["worker"][worker])

    def close(self, format: str, options: Options, notes: Sequence[str]) -> NamedVotes:
        """The table. Every item has at least one vote by then."""
        task, label, worker = (
            Column(np.frombuffer(self.columns[role], dtype=np.int32), list(self.codes[role])) for role in self.codes
        )
        return assemble(task, label, worker, where=self.where, format=format, options=options, sort=False, notes=notes)
