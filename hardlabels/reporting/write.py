r"""Tables as Markdown, CSV and LaTeX, figures as SVG and PNG: files that leave the report.

Names of methods, classes and files come from people. Each format escapes them in its own way.
"""

import base64
import csv
import io
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

from hardlabels.errors import InputError
from hardlabels.reporting.tables import Entry, Table
from hardlabels.runs.files import write_atomically, write_text

if TYPE_CHECKING:  # figures are many modules, and none is needed to write one
    from hardlabels.reporting.figures import Figure

DOTS_PER_INCH = 160
LARGE_SVG = 400_000
"""Bytes above which a page embeds the PNG: a scatter of thousands of points."""

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
        under: what stands below it: n, p, interval over votes.
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
        tests = [f"p = {_p(entry.p)}"] if entry.p is not None else []
        tests += [f"Holm {_p(entry.p_adjusted)}"] if entry.p_adjusted is not None else []
        under += [", ".join(tests)] if tests else []
        if entry.target_interval is not None:
            low, high = entry.target_interval
            under.append(f"votes {_number(low, like=entry.mean)} to {_number(high, like=entry.mean)}")
    value = entry.text or "" if entry.mean is None else _with_sd(entry.mean, entry.sd)
    return CellText(value, tuple(under), "" if entry.published is None else _with_sd(entry.published, entry.published_sd))


def _with_sd(mean: float, sd: float | None) -> str:
    return _number(mean) if sd is None or sd != sd else f"{_number(mean)} ± {_number(sd, like=mean)}"


def _number(value: float, like: float | None = None) -> str:
    """Four decimals below 10, one above; an SD has those of its mean."""
    return f"{value:.{4 if abs(value if like is None else like) < 10 else 1}f}".replace("-", "−")


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


# ---- tables ----


def to_markdown(table: Table) -> str:
    """GitHub's tables; the best cell is bold, what is below a number stands behind it in brackets."""

    def text(row: str, column: str) -> str:
        entry = table.cells.get((row, column))
        parts = cell_text(entry)
        value = f"**{parts.value}**" if entry is not None and entry.best and parts.value else parts.value
        paper = [f"published {parts.published}"] if parts.published else []
        behind = "; ".join([*parts.under, *paper])
        return markdown(f"{value} ({behind})" if behind and value else value or behind)

    lines = [f"## {markdown(f'Table {table.number}. {table.title}')}", "", markdown(table.caption), ""]
    lines.append("| " + " | ".join(["", *map(markdown, table.columns)]) + " |")
    lines.append("| --- |" + " ---: |" * len(table.columns))
    lines += ["| " + " | ".join([markdown(row), *(text(row, column) for column in table.columns)]) + " |" for row in table.rows]
    return "\n".join([*lines, "", *(f"- {markdown(note)}" for note in table.notes)]).rstrip() + "\n"


def markdown(text: str) -> str:
    """Text that a cell of GitHub's tables shows as it is."""
    for char in ("&", "<", ">"):
        text = text.replace(char, {"&": "&amp;", "<": "&lt;", ">": "&gt;"}[char])
    return text.replace("|", "\\|").replace("[", "\\[").replace("`", "\\`").replace("\n", " ")


def to_csv(table: Table) -> str:
    """One line a cell, every field of its entry; an interval is two columns."""
    plain = [field.name for field in fields(Entry) if field.name != "target_interval"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "row", "column", *plain, "target_low", "target_high"])
    for (row, column), entry in table.cells.items():
        values = asdict(entry)
        interval = entry.target_interval or ("", "")
        writer.writerow([table.number, row, column, *("" if values[name] is None else values[name] for name in plain), *interval])
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

    def text(row: str, column: str) -> str:
        entry = table.cells.get((row, column))
        value = latex(cell_text(entry).value)
        if entry is None or entry.mean is None:
            return value
        return (rf"\textbf{{{value}}}" if entry.best else value) + (f" ({_p(entry.p)})" if entry.p is not None else "")

    rows = [f"    {' & '.join([latex(row), *(text(row, column) for column in table.columns)])} \\\\" for row in table.rows]
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
        paths.append(folder / f"table_{_plain_name(table.number)}.{suffix}")
        write_text(paths[-1], convert(table))
    return paths


# ---- figures ----


@dataclass(frozen=True)
class Drawing:
    """A figure, drawn once.

    Attributes:
        figure: what it shows.
        svg: as a file's bytes.
        png: likewise.
        width: in inches.
    """

    figure: "Figure"
    svg: bytes
    png: bytes
    width: float

    @property
    def address(self) -> str:
        """The picture as an address for ``<img>``, where no script can run: the SVG, or the PNG where that one is large."""
        kind, content = ("svg+xml", self.svg) if len(self.svg) <= LARGE_SVG else ("png", self.png)
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def draw(figure: "Figure") -> Drawing | None:
    """Draw a figure; None where it has nothing to show."""
    if figure.draw is None:
        return None
    picture = figure.draw()
    svg, png = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": f"figure {figure.number}", "svg.fonttype": "path"}):
        picture.savefig(svg, format="svg", metadata={"Date": None}, facecolor="white")
        picture.set_layout_engine("none")  # laid out by now; doing it again is half of the time
        picture.savefig(png, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None}, facecolor="white")
    return Drawing(figure, svg.getvalue(), png.getvalue(), float(picture.get_figwidth()))


def write_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    """``figure_<number>.svg`` and ``.png``."""
    paths = []
    for suffix, content in (("svg", drawing.svg), ("png", drawing.png)):
        paths.append(folder / f"figure_{_plain_name(drawing.figure.number)}.{suffix}")
        write_atomically(paths[-1], lambda file, content=content: file.write(content))  # type: ignore[misc]
    return paths


def _plain_name(number: str) -> str:
    if not number.isalnum():
        raise InputError(f"the number of a table or figure must be letters and digits, got {number!r}")
    return number
