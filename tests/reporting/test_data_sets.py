"""What several data sets say together: table S4, figures S8 and S9, the matrix of verdicts."""

import csv
import io
import re

import numpy as np
import pytest

from hardlabels.reporting.claims import CLAIMS, Verdict
from hardlabels.reporting.claims.claim import Finding
from hardlabels.reporting.claims.status import STATUSES
from hardlabels.reporting.data_sets import FIGURES_OVER_DATA, TABLES_OVER_DATA
from hardlabels.reporting.data_sets.figure_s8_differences import draw_differences, prepare_differences
from hardlabels.reporting.data_sets.figure_s9_few_votes import draw_few_votes, prepare_few_votes
from hardlabels.reporting.tables import TABLES
from hardlabels.reporting.verdicts_by_data import matrix_lines, to_csv, to_markdown, verdict_matrix

ALL = float("inf")
KL, CORRELATION, ACCURACY = "KL to annotators ↓", "entropy correlation ↑", "accuracy ↑"


@pytest.fixture
def group(literal):
    """Records of one data set: KL, correlation and accuracy of soft and majority labels, the same for two seeds."""

    def make(data, kl, correlation, accuracy=(0.8, 0.8)):
        both = {"kl_to_annotator": kl, "ent_corr": correlation, "hard_acc": accuracy}
        cells = {(m, ALL, name): [pair[i]] * 2 for name, pair in both.items() for i, m in enumerate(("soft", "majority"))}
        return literal(cells, data=data, recipe="short")

    return make


def test_changes_are_averaged_within_a_corpus_first(group):
    groups = {
        "chaosnli_snli": group("chaosnli_snli", (0.5, 1.0), (0.6, 0.4)),  # −50 %, +50 %
        "chaosnli_mnli": group("chaosnli_mnli", (0.9, 1.0), (0.4, 0.4)),  # −10 %, 0
        "popquorn": group("popquorn", (0.4, 0.5), (0.3, 0.2), (0.7, 0.75)),  # −20 %, +50 %
    }
    table = TABLES_OVER_DATA["S4"](groups)
    assert table.rows == [*groups, "mean over corpora"]
    mean = {column: entry for (row, column), entry in table.cells.items() if row == "mean over corpora"}
    kl, correlation, accuracy = mean[f"{KL}, change"], mean[f"{CORRELATION}, change"], mean[f"{ACCURACY}, difference"]
    assert (kl.mean, kl.published) == (pytest.approx(-(0.3 + 0.2) / 2), -0.32)
    assert (correlation.mean, correlation.published) == (pytest.approx((0.25 + 0.5) / 2), 0.61)
    assert (accuracy.mean, accuracy.published) == (pytest.approx(-0.05 / 2), None)
    assert table.cells["popquorn", f"{ACCURACY}, difference"].mean == pytest.approx(-0.05)
    assert table.cells["popquorn", f"{KL}, change"].published is None
    assert all(key in table.cells for key in ((row, column) for row in groups for column in table.columns))


def test_rows_are_those_of_table_s1(group):
    records = group("popquorn", (0.4, 0.5), (0.3, 0.2))
    own, over = TABLES["S1"](records), TABLES_OVER_DATA["S4"]({"popquorn": records, "toy": group("toy", (1, 2), (1, 2))})
    for method in ("soft", "majority"):
        assert over.cells["popquorn", f"{KL}, {method}"] == own.cells[method, KL]
    assert over.cells["popquorn", f"{KL}, change"] == own.cells["change, soft over majority", KL]


def test_a_data_set_without_runs_is_missing_and_leaves_the_mean_to_the_others(group, literal):
    table = TABLES_OVER_DATA["S4"]({"popquorn": group("popquorn", (0.4, 0.5), (0.3, 0.2)), "toy": literal({}, data="toy")})
    assert table.cells["toy", f"{KL}, soft"].text == "missing"
    assert table.cells["mean over corpora", f"{KL}, change"].mean == pytest.approx(-0.2)
    assert any(note.startswith("toy: Missing") for note in table.notes)


def test_nothing_at_all_is_no_fault(literal):
    groups = {"a": literal({}), "b": literal({})}
    assert {entry.mean for entry in TABLES_OVER_DATA["S4"](groups).cells.values()} == {None}
    for figure in FIGURES_OVER_DATA.values():
        made = figure(groups)
        assert made.draw is None
        assert made.notes[0].endswith("yet: a, b.")


def test_differences_are_paired_by_seed(literal):
    soft, sls = [0.5, 0.6, 0.7, 0.9, 0.4, 0.8], dict(enumerate([0.4, 0.4, 0.4, 0.5, 0.3, 0.6, 9.0]))
    records = literal({("soft", ALL, "soft_nll"): soft, ("sls", ALL, "soft_nll"): sls, ("sls", 5, "soft_nll"): soft}, data="a")
    alone = literal({("sls", ALL, "soft_nll"): soft}, data="b")
    numbers = prepare_differences({"a": records, "b": alone})
    (row,) = numbers.itertuples(index=False)
    assert (row.data, row.method, row.n) == ("a", "sls", 6)  # seed 6 has no soft run
    differences = np.array(soft) - [0.4, 0.4, 0.4, 0.5, 0.3, 0.6]
    assert (row.low, row.high) == (pytest.approx(-differences.max()), pytest.approx(-differences.min()))  # the range: n = 6
    canvas = draw_differences(numbers)
    canvas.draw_without_rendering()
    assert [axis.get_title() for axis in canvas.axes] == ["a"]
    figure = FIGURES_OVER_DATA["S8"]({"a": records, "b": alone})
    assert any("yet: b." in note for note in figure.notes)


def test_few_votes_have_a_panel_a_data_set_and_a_t_interval(literal):
    cells = {("soft", 5, "soft_nll"): [0.6, 0.7, 0.8], ("soft", ALL, "soft_nll"): [0.5], ("sls", 5, "soft_nll"): [0.6]}
    groups = {name: literal(cells, data=name) for name in ("a", "b")}
    groups["c"] = literal({("soft", ALL, "soft_nll"): [0.5]}, data="c")
    numbers = prepare_few_votes(groups)
    assert set(numbers["data"]) == {"a", "b"}
    halves = {(row.method, row.K): row.half for row in numbers[numbers["data"] == "a"].itertuples()}
    assert halves["soft", 5.0] == pytest.approx(4.302652729911275 * 0.1 / np.sqrt(3))  # t of 2 degrees, from a table
    assert halves["soft", ALL] == halves["sls", 5.0] == 0
    canvas = draw_few_votes(numbers)
    canvas.draw_without_rendering()
    assert [axis.get_title() for axis in canvas.axes] == ["a", "b"]


# ---- verdicts ----


def verdicts(last: str = "", **statuses: str) -> list[Verdict]:
    found = []
    for name, claim in CLAIMS.items():
        best = Finding(statuses.get(name.replace("-", "_"), "not run"), "")
        late = Finding(last, "") if last and best.status != "not run" else best
        found.append(Verdict(claim, {"best": best, "last": late}, own_regime=False))
    return found


@pytest.fixture
def matrix():
    return verdict_matrix(
        {
            "one_|_two": verdicts(hard_beats_soft="supported", full_parity="inconclusive"),
            "three": verdicts(hard_beats_soft="contradicted"),
            "four": verdicts(hard_beats_soft="supported", last="no difference"),
        }
    )


def test_the_matrix_has_the_claims_that_somebody_tested(matrix):
    assert [claim.name for claim, _ in matrix.rows] == ["hard-beats-soft", "full-parity"]
    assert [matrix.count_word(row) for _, row in matrix.rows] == ["2 ✓ 1 ✗ / 1 ✓ 1 ✗ 1 ≈", "1 ? / 1 ?"]
    assert [sum(matrix.counts(row, "last").values()) for _, row in matrix.rows] == [3, 3]


def test_the_matrix_is_written_whole(matrix):
    rows = list(csv.reader(io.StringIO(to_csv(matrix))))
    assert rows[0] == ["claim", "checkpoint", "says", "one_|_two", "three", "four", *(f"n {status}" for status in STATUSES)]
    assert rows[1][3:] == ["carries over", "does not carry over", "carries over", "2", "1", "0", "0", "0", "0"]
    assert rows[2][3:] == ["carries over", "does not carry over", "no difference that matters", "1", "1", "1", "0", "0", "0"]
    lines = [line for line in to_markdown(matrix).splitlines() if line.startswith("|")]
    assert len({len(re.split(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert lines[2].endswith("| ✓ / ✓ | ✗ / ✗ | ✓ / ≈ | 2 ✓ 1 ✗ / 1 ✓ 1 ✗ 1 ≈ |")
    assert matrix_lines(matrix).row_count == 2
