"""Tables as files: nothing lost, everything escaped."""

import csv
import io

import pytest

from hardlabels.errors import InputError
from hardlabels.reporting.table_files import latex, to_csv, to_latex, to_markdown, write_table
from hardlabels.reporting.tables import Entry, Table

EVIL = 'a|b<script>alert(1)</script>&_%$\\{"x"}'


@pytest.fixture
def table() -> Table:
    cells = {
        ("soft", "NLL ↓"): Entry(0.5096, 0.0233, 10, 0.51, 0.02, target_interval=(0.505, 0.514)),
        ("sls", "NLL ↓"): Entry(0.5052, 0.0263, 10, best=True, p=0.6953),
        ("sls", EVIL): Entry(text="missing", published=0.5),
    }
    last = {("sls", "NLL ↓"): Entry(0.6, 0.03, 10, best=True)}
    return Table("2", "Main", "All votes.", ["soft", "sls"], ["NLL ↓", EVIL], cells, ["A note | with bars."], last)


def test_markdown_has_one_line_a_row_and_as_many_cells_everywhere(table):
    lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert len(lines) == 5
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert "**0.5052 ± 0.0263** (n = 10; p = 0.695)" in lines[3]
    assert lines[4].startswith("| sls, last epoch | **0.6000 ± 0.0300** (n = 10) |")
    assert "0.5096 ± 0.0233 (n = 10; votes 0.5050 to 0.5140; published 0.5100 ± 0.0200)" in lines[2]
    assert "<script>" not in to_markdown(table)


def test_csv_gives_every_field_of_every_cell_back(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [(row["row"], row["column"]) for row in rows] == [*table.cells, *table.last]
    assert [row["checkpoint"] for row in rows] == ["best", "best", "best", "last"]
    assert [float(row["mean"]) for row in rows[:2]] == [0.5096, 0.5052]
    assert (rows[0]["target_low"], rows[0]["target_high"], rows[0]["published_sd"]) == ("0.505", "0.514", "0.02")
    assert (rows[1]["best"], rows[1]["p"], rows[2]["mean"], rows[2]["text"]) == ("True", "0.6953", "", "missing")


def test_latex_has_a_cell_for_each_column_and_no_bare_special_character(table):
    text = to_latex(table)
    body = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert [line.replace("\\&", "").count("&") for line in body] == [2, 2, 2, 2]
    assert r"\textbf{0.5052 $\pm$ 0.0263} (0.695)" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert r"script\textgreater{}alert(1)" in text


@pytest.mark.parametrize("char", list("&%$#_{}~^\\"))
def test_every_character_that_latex_acts_on_is_written_out(char):
    assert latex(char) != char
    assert latex(f"a{char}b").startswith("a\\")


def test_a_table_is_three_files(table, tmp_path):
    assert [path.name for path in write_table(table, tmp_path)] == ["table_2.md", "table_2.csv", "table_2.tex"]
    assert all(path.stat().st_size for path in tmp_path.iterdir())
    with pytest.raises(InputError, match="letters and digits"):
        write_table(Table("../x", "", "", [], [], {}, []), tmp_path)
