"""POPQUORN: a tiny table with the columns of the release for the mechanics, the real file for the facts."""

import csv
import os

import pytest

from hardlabels.errors import InputError
from hardlabels.sources import popquorn as module
from hardlabels.sources.popquorn import popquorn

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")
HEADER = ("instance_id", "user_id", "text", "offensiveness", "gender")
LINES = [
    ("10", "0", "Two\nlines, and a comma", "1.0", "Man"),
    ("9", "0", "You!", "5.0", "Man"),
    ("9", "7", "You!", "5.0", "Woman"),
    ("10", "7", "Two\nlines, and a comma", "3.0", "Woman"),
]


@pytest.fixture
def write(tmp_path):
    def make(lines, header=HEADER):
        path = tmp_path / module.FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *lines])
        return tmp_path

    return make


def test_a_line_a_vote_becomes_a_text_an_item(write):
    source = popquorn(write(LINES))
    assert source.inputs.tolist() == [["You!"], ["Two\nlines, and a comma"]]  # by number of the id
    assert source.class_names == ("1", "2", "3", "4", "5")
    assert source.votes.counts.tolist() == [[0, 0, 0, 0, 2], [1, 0, 1, 0, 0]]
    assert source.labels.tolist() == [4, 0]
    assert source.votes.annotators.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("9", "8", "You!", "6.0", "Man"), "expected one of the classes 1, 2, 3, 4, 5; line 8 has '6.0'"),
        (("9", "8", "You!", "", "Man"), "expected a label in column 'offensiveness'; line 8 has none"),
        (("9", "8", " ", "1.0", "Man"), r"line 8 \(item 9\) has no text"),
        (("9", "8", "Me!", "1.0", "Man"), r"line 8 \(item 9\) has another text than the lines before"),
        (("9", "7", "You!", "1.0", "Man"), r"line 8 \(item 9\) is a second vote of annotator 7"),
        (("9", "8", "You!"), "expected 5 cells per line, as in the first; line 8 has 3"),
    ],
)
def test_refuses_by_line(write, wrong, said):
    """The header and two lines of two lines each come before: the fifth vote is on line 8."""
    with pytest.raises(InputError, match=said):
        popquorn(write([*LINES, wrong]))


def test_many_problems_are_one_error(write):
    lines = [("9", str(i), "" if i else "You!", "1.0", "Man") for i in range(13)]
    with pytest.raises(InputError, match=r"line 3 \(item 9\) has no text, line 4 .* and 2 more$"):
        popquorn(write(lines))


@pytest.mark.parametrize("lacking", ["instance_id", "user_id", "text", "offensiveness"])
def test_refuses_a_table_without_a_column(write, lacking):
    place = HEADER.index(lacking)
    rows = [tuple(cell for i, cell in enumerate(row) if i != place) for row in (HEADER, *LINES)]
    with pytest.raises(InputError, match=f"expected a column '{lacking}'"):
        popquorn(write(rows[1:], header=rows[0]))


def test_not_found_says_where_to_get_it(tmp_path):
    with pytest.raises(InputError, match=r"raw_data.csv \(md5 [\s\S]*github.com/Jiaxin-Pei/Potato-Prolific-Dataset$"):
        popquorn(tmp_path, url="http://127.0.0.1:1/")


@real_data
def test_the_real_data_is_what_the_paper_says():
    source = popquorn(url="")  # no address: everything has to be under HARDLABELS_DATA
    votes = source.votes
    assert source.inputs.shape == (1500, 1)
    assert len(votes.labels) == 13_036
    assert len(set(votes.annotators.tolist())) == 262
    assert (votes.sizes.min(), votes.sizes.max()) == (5, 10)
    assert votes.counts.sum(0).tolist() == [7516, 2190, 1590, 1039, 701]
    assert source.inputs[530, 0] == "I think a lot of Dethklok songs use drop C, would defo recommend"  # ids are 0 .. 1499
    assert popquorn(url="").fingerprint == source.fingerprint
