"""Votes as they are read one by one from a document."""

from array import array
from collections.abc import Sequence

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.codes import Codes, Column
from hardlabels.votes.formats.named import NamedVotes, Options, assemble


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
        self.current, self.empty = -1, 0

    def item(self, task: str) -> None:
        """The votes that follow are on this item, which did not come before."""
        if task.strip() in self.codes["task"]:
            raise InputError(f"{self.where}: expected every item once; {task!r:.60} comes twice")
        self.again(task)

    def again(self, task: str) -> None:
        """The votes that follow are on this item, which may have come before."""
        self.current = self.codes["task"][task.strip()]

    def vote(self, label: str, worker: str | None) -> None:
        """One vote on the last item; an empty label is counted and left out, where the user asked for that."""
        if not label:
            self.empty += 1
            return
        self.columns["task"].append(self.current)
        self.columns["label"].append(self.codes["label"][label])
        self.columns["worker"].append(self.codes["worker"][worker or ""])

    def close(self, format: str, options: Options, notes: Sequence[str]) -> NamedVotes:
        """The table. Items without any vote are left out; where some votes are of nobody, no annotators are known."""
        task, label, worker = (
            Column(np.frombuffer(self.columns[role], dtype=np.int32), list(self.codes[role])) for role in self.codes
        )
        if not len(label.codes):
            raise InputError(f"{self.where}: expected at least one vote, found none")
        if "" in worker.texts and len(worker.texts) > 1:
            nobodys = int((worker.codes == worker.texts.index("")).sum())
            notes = [*notes, f"{nobodys:,} votes do not say whose they are, so the annotators of the others are left out as well"]
        return assemble(
            task.kept(np.ones(len(task.codes), dtype=bool)),
            label,
            None if "" in worker.texts else worker,
            where=self.where,
            format=format,
            options=options,
            sort=False,
            notes=notes,
            cleaned={"empty": self.empty} if "empty" in options.clean else {},
        )
