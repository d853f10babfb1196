"""What a table is: headings, cells that say what was measured and what was published, and what is missing."""

from dataclasses import dataclass, field, replace

import pandas as pd

from hardlabels.reporting.number_formats import mean_and_sd, p_value

MISSING = "missing"


@dataclass(frozen=True)
class Entry:
    """One cell. Numbers over seeds, at one checkpoint.

    Attributes:
        mean: over seeds; None where nothing was measured.
        sd: the sample's, over seeds; None for one seed.
        n: seeds.
        published: the paper's mean, where it is about the same data.
        published_sd: the paper's SD.
        p: of the paired test that the table's caption names.
        text: said in place of a number, such as ``missing``.
        best: whether it is the best of its column (or row, where methods are columns).
        target_interval: 95 % bootstrap interval of the mean over votes: the target is an estimate too. Not comparable with sd.
        p_adjusted: p after Holm, where the table is a family of tests.
        agreeing: seeds whose difference has the claimed sign.
        paired: seeds that the test was made on.
        published_p: the paper's p.
        unselected: the mean at the epochs that the other seeds' curves choose, where the run chose its own on the very items that
            it is scored on: how much of the mean is luck with them. None where it did not, and at the last epoch.
    """

    mean: float | None = None
    sd: float | None = None
    n: int = 0
    published: float | None = None
    published_sd: float | None = None
    p: float | None = None
    text: str | None = None
    best: bool = False
    target_interval: tuple[float, float] | None = None
    p_adjusted: float | None = None
    agreeing: int | None = None
    paired: int | None = None
    published_p: float | None = None
    unselected: float | None = None

    def __str__(self) -> str:
        """All of it in one line.

        >>> print(Entry(0.5052, 0.0263, 10, 0.51, p=0.6953, paired=10))
        0.5052 ± 0.0263, n = 10, p = 0.695; published 0.5100
        >>> print(Entry(text="missing", published=0.51))
        missing; published 0.5100
        """
        parts = [self.text or ""] if self.mean is None else [mean_and_sd(self.mean, self.sd), f"n = {self.n}"]
        if self.p is not None:
            parts.append(f"p = {p_value(self.p)}")
        paper = "" if self.published is None else f"; published {mean_and_sd(self.published, self.published_sd)}"
        return ", ".join(part for part in parts if part) + paper


@dataclass(frozen=True)
class Line:
    """One line of a table.

    Attributes:
        row: the heading of its row.
        checkpoint: ``best`` or ``last``; None where the row has one line.
        cells: column to entry.
    """

    row: str
    checkpoint: str | None
    cells: dict[str, Entry]


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        number: the paper's, "1" .. "9"; "S1" .. for others.
        title: a few words.
        caption: checkpoint, slice, n, test, and what the arrows mean.
        rows: headings, in order.
        columns: headings, in order.
        cells: (row, column) to entry, at the selected epoch; what is not there is blank.
        notes: what is missing, with the command that fills it, and what a reader must know.
        last: (row, column) to the entry at the last epoch. A row that is about no network (``prior``, ``oracle``) has none.
    """

    number: str
    title: str
    caption: str
    rows: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Entry]
    notes: list[str] = field(default_factory=list)
    last: dict[tuple[str, str], Entry] = field(default_factory=dict)

    def lines(self) -> list[Line]:
        """What is written below the headings, from above to below: each row at the selected epoch, then at the last one.

        >>> best, last = {("sls", "x"): Entry(1.0), ("prior", "x"): Entry(2.0)}, {("sls", "x"): Entry(3.0)}
        >>> table = Table("0", "", "", ["sls", "prior"], ["x"], best, last=last)
        >>> [(line.row, line.checkpoint, line.cells["x"].mean) for line in table.lines()]
        [('sls', 'best', 1.0), ('sls', 'last', 3.0), ('prior', None, 2.0)]
        """
        found = []
        for row in self.rows:
            two = any((row, column) in self.last for column in self.columns)
            for checkpoint, cells in ((("best" if two else None), self.cells), *([("last", self.last)] if two else [])):
                entries = {column: cells[row, column] for column in self.columns if (row, column) in cells}
                found.append(Line(row, checkpoint, entries))
        return found

    def frame(self) -> pd.DataFrame:
        """The cells as text, rows x columns.

        >>> Table("0", "", "", ["sls"], ["soft NLL", "p"], {("sls", "soft NLL"): Entry(0.5, None, 1)}).frame().loc["sls"].tolist()
        ['0.5000, n = 1', '']
        """
        texts = [[str(self.cells.get((row, column), "")) for column in self.columns] for row in self.rows]
        return pd.DataFrame(texts, index=self.rows, columns=self.columns)


Cells = dict[tuple[str, str], Entry]


def mark_best(cells: Cells, among: list[tuple[str, str]], higher: bool | None) -> None:
    """Set ``best`` of the best measured means among these cells; ties share it. A cell without rivals is no best.

    Args:
        cells: changed in place.
        among: which of them compete.
        higher: the better direction; None: there is none.

    >>> cells = {("a", "x"): Entry(1.0), ("b", "x"): Entry(2.0), ("c", "x"): Entry(text="missing")}
    >>> mark_best(cells, list(cells), higher=False)
    >>> [entry.best for entry in cells.values()]
    [True, False, False]
    """
    means = {key: entry.mean for key in among if (entry := cells.get(key)) is not None and entry.mean is not None}
    if higher is None or len(means) < 2:
        return
    top = max(means.values()) if higher else min(means.values())
    for key, mean in means.items():
        cells[key] = replace(cells[key], best=mean == top)
