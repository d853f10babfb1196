r"""Tables as files: Markdown, CSV and LaTeX.

Names of methods, classes and files come from people. Each format escapes them in its own way.
"""

import csv
import io
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from hardlabels.reporting.claims.status import EPOCHS
from hardlabels.reporting.drawing import file_number
from hardlabels.reporting.number_formats import decimal, mean_and_sd, p_value
from hardlabels.reporting.tables import Entry, Table
from hardlabels.reporting.tables.references import REFERENCES
from hardlabels.reporting.tables.table import Line
from hardlabels.runs.writing import write_text

OTHERS_EPOCH = "other seeds' epoch"
"""How a cell says what the mean is at the epochs that the other seeds' curves choose."""

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "±": r"$\pm$", "−": "$-$", "–": "--", "→": r"$\rightarrow$", "↓": r"$\downarrow$", "↑": r"$\uparrow$", "λ": r"$\lambda$",
    "≤": r"$\le$", "≥": r"$\ge$", "∞": r"$\infty$", "×": r"$\times$", "…": r"\ldots{}", "\n": " ",
}  # fmt: skip


# ---- one cell ----


@dataclass(frozen=True)
class CellText:
    """The parts of a cell, for any format.

    Attributes:
        value: mean ± SD, or what is said in place of it.
        under: what stands below it: n, p, interval over votes, the value without the luck of selection.
        published: the paper's number.
    """

    value: str
    under: tuple[str, ...]
    published: str


def cell_text(entry: Entry | None, with_n: bool = True) -> CellText:
    """An entry in words. ``votes`` is the interval over votes, which is about the target and not about seeds.

    >>> cell_text(Entry(0.5052, 0.0263, 10, 0.5052, 0.0263, p=0.6953, target_interval=(0.501, 0.509)))
    CellText(value='0.5052 ± 0.0263', under=('n = 10', 'p = 0.695', 'votes 0.5010 to 0.5090'), published='0.5052 ± 0.0263')
    >>> cell_text(None)
    CellText(value='', under=(), published='')
    """
    if entry is None:
        return CellText("", (), "")
    under = []
    if entry.mean is not None:
        under += [f"n = {entry.n}"] if entry.n and with_n else []
        tests = [f"p = {p_value(entry.p)}"] if entry.p is not None else []
        tests += [f"Holm {p_value(entry.p_adjusted)}"] if entry.p_adjusted is not None else []
        under += [", ".join(tests)] if tests else []
        if entry.target_interval is not None:
            low, high = entry.target_interval
            under.append(f"votes {decimal(low, like=entry.mean)} to {decimal(high, like=entry.mean)}")
        if entry.unselected is not None:
            under.append(f"{OTHERS_EPOCH} {decimal(entry.unselected, like=entry.mean)}")
    value = entry.text or "" if entry.mean is None else mean_and_sd(entry.mean, entry.sd)
    return CellText(value, tuple(under), "" if entry.published is None else mean_and_sd(entry.published, entry.published_sd))


# ---- tables ----


def to_markdown(table: Table) -> str:
    """GitHub's tables; the best cell is bold, what is below a number stands behind it in brackets."""

    def text(entry: Entry | None) -> str:
        parts = cell_text(entry)
        value = f"**{parts.value}**" if entry is not None and entry.best and parts.value else parts.value
        paper = [f"published {parts.published}"] if parts.published else []
        behind = "; ".join([*parts.under, *paper])
        return markdown(f"{value} ({behind})" if behind and value else value or behind)

    lines = [f"## {markdown(f'Table {table.number}. {table.title}')}", "", markdown(table.caption), ""]
    lines.append("| " + " | ".join(["", *map(markdown, table.columns)]) + " |")
    lines.append("| --- |" + " ---: |" * len(table.columns))
    for line in table.lines():
        cells = [text(line.cells.get(column)) for column in table.columns]
        lines.append("| " + " | ".join([markdown(row_heading(line)), *cells]) + " |")
    return "\n".join([*lines, "", *(f"- {markdown(note)}" for note in table.notes)]).rstrip() + "\n"


def row_heading(line: Line) -> str:
    """The heading of a line: that of its row, and at the last epoch that word.

    >>> row_heading(Line("sls", "best", {})), row_heading(Line("sls", "last", {})), row_heading(Line("prior", None, {}))
    ('sls', 'sls, last epoch', 'prior')
    """
    return f"{line.row}, {EPOCHS[line.checkpoint]}" if line.checkpoint == "last" else line.row


def markdown(text: str) -> str:
    """Text that a cell of GitHub's tables shows as it is."""
    for char in ("&", "<", ">"):
        text = text.replace(char, {"&": "&amp;", "<": "&lt;", ">": "&gt;"}[char])
    return text.replace("|", "\\|").replace("[", "\\[").replace("`", "\\`").replace("\n", " ")


def to_csv(table: Table) -> str:
    """One line per cell and checkpoint, every field of its entry; an interval is two columns."""
    plain = [field.name for field in fields(Entry) if field.name != "target_interval"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "row", "column", "checkpoint", *plain, "target_low", "target_high"])
    for checkpoint, cells in (("best", table.cells), ("last", table.last)):
        for (row, column), entry in cells.items():
            found = asdict(entry)
            values = ["" if found[name] is None else found[name] for name in plain]
            where = "" if row in REFERENCES else checkpoint
            writer.writerow([table.number, row, column, where, *values, *(entry.target_interval or ("", ""))])
    return text.getvalue()


def to_latex(table: Table) -> str:
    r"""A ``table`` environment for ``\usepackage{booktabs}``; p in brackets, the best cell bold.

    >>> print(to_latex(Table("1", "T", "A & B", ["a_b"], ["x"], {("a_b", "x"): Entry(1.0, 0.5, 2, best=True)}, [])))
    % needs \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{T. A \& B}
      \label{tab:1}
      \begin{tabular}{lr}
        \toprule
         & x \\
        \midrule
        a\_b & \textbf{1.0000 $\pm$ 0.5000} \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """

    def text(entry: Entry | None) -> str:
        value = latex(cell_text(entry).value)
        if entry is None or entry.mean is None:
            return value
        return (rf"\textbf{{{value}}}" if entry.best else value) + (f" ({p_value(entry.p)})" if entry.p is not None else "")

    rows = [
        f"    {' & '.join([latex(row_heading(line)), *(text(line.cells.get(column)) for column in table.columns)])} \\\\"
        for line in table.lines()
    ]
    notes = [f"  \\par\\footnotesize {latex(note)}" for note in table.notes]
    lines = [
        r"% needs \usepackage{booktabs}", r"\begin{table}", r"  \centering",
        rf"  \caption{{{latex(f'{table.title}. {table.caption}')}}}", rf"  \label{{tab:{table.number}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(table.columns)}}}", r"    \toprule",
        f"    {' & '.join(['', *map(latex, table.columns)])} \\\\", r"    \midrule",
        *rows, r"    \bottomrule", r"  \end{tabular}", *notes, r"\end{table}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def latex(text: str) -> str:
    r"""Text with everything that LaTeX would act on written out.

    >>> latex("50 % of sls,hold=5 & C_1 ± 2")
    '50 \\% of sls,hold=5 \\& C\\_1 $\\pm$ 2'
    """
    return "".join(_LATEX.get(char, char) for char in text)


def write_table(table: Table, folder: Path) -> list[Path]:
    """``table_<number>.md``, ``.csv`` and ``.tex``."""
    paths = []
    for suffix, convert in (("md", to_markdown), ("csv", to_csv), ("tex", to_latex)):
        paths.append(folder / f"table_{file_number(table.number)}.{suffix}")
        write_text(paths[-1], convert(table))
    return paths
