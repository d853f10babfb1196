"""Tables that could be read, but hardly as they were meant: refused, or said, never taken silently."""

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.files import files
from hardlabels.votes.formats import Options, read
from hardlabels.votes.write import write

LONG = "task,worker,label"


def table(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


# ---- one class, one item, written in two ways ----


@pytest.mark.parametrize(
    "pair",
    [("Toxic", "toxic"), ("true", "True"), ("caf\u00e9", "cafe\u0301"), ("very bad", "very  bad"), ("not-ok", "not_ok")],
    ids=ascii,
)
def test_a_class_in_two_spellings_is_refused_until_the_user_names_all(tmp_path, pair):
    """Before, 'Toxic' and 'toxic' were two classes: every metric was of another task."""
    path = table(tmp_path / "v.csv", LONG, f"a,w1,{pair[0]}", f"a,w2,{pair[1]}", "b,w1,x")
    with pytest.raises(InputError, match=r"every class in one spelling; .* may be one\. .* --classes"):
        read(path)
    assert read(path, options=Options(classes=(*pair, "x"))).votes.counts.tolist() == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("pair", [("A", "A-"), ("1", "-1"), ("c", "c++"), ("0", "00.5")], ids=ascii)
def test_classes_that_differ_in_a_sign_at_the_end_are_two(tmp_path, pair):
    path = table(tmp_path / "v.csv", LONG, f"a,w1,{pair[0]}", f"a,w2,{pair[1]}")
    assert set(pair) <= set(read(path).class_names)


@pytest.mark.parametrize("pair", [("7", "7.0"), ("7", "007"), ("-7", "-7.0")])
@pytest.mark.parametrize("role", ["item", "annotator"])
def test_an_id_in_two_spellings_is_refused(tmp_path, pair, role):
    """Before, an item of which half of the votes went through floats was two items, with half of the votes each."""
    rows = [f"{name},w{i},x" if role == "item" else f"a{i},{name},x" for i, name in enumerate(pair)]
    path = table(tmp_path / "v.csv", LONG, *rows, "9,v,y")
    with pytest.raises(InputError, match=f"id of every {role} in one spelling; '{pair[0]}' and '{pair[1]}' are the same number"):
        read(path)


def test_ids_of_one_spelling_are_left_as_they_are(tmp_path):
    path = table(tmp_path / "v.csv", LONG, "007,w,x", "1.0,w,x", "2.5,w,y")
    assert read(path).items == ["007", "1.0", "2.5"]


@pytest.mark.parametrize("label", ["NA", "N/A", "None", "null", "?"])
def test_a_label_that_may_mean_no_vote_is_a_class_and_it_is_said(tmp_path, label):
    named = read(table(tmp_path / "v.csv", LONG, f"a,w1,{label}", "a,w2,yes"))
    assert label in named.class_names
    assert f"'{label}' is taken as a class" in " ".join(named.notes)


def test_two_columns_of_one_name_are_a_question(tmp_path):
    path = table(tmp_path / "v.csv", "task,worker,label,Label", "a,w,x,y")
    with pytest.raises(InputError, match="the label: 'label' or 'Label'"):
        read(path)


def test_columns_that_are_not_used_are_said(tmp_path):
    """Class columns beside a gold label: the label is taken, and nobody may think that it was the counts."""
    assert "not used: cat, dog" in read(table(tmp_path / "v.csv", "id,cat,dog,label", "a,3,1,cat", "b,0,4,dog")).notes[0]


# ---- columns that are no votes ----


COUNTS = np.array([[3, 1, 0], [0, 4, 1], [2, 2, 3], [1, 0, 0], [0, 1, 5], [2, 0, 0], [0, 1, 1], [3, 0, 2]])
OTHER = {
    "row numbers": (np.arange(8), 0, "clip", "'clip' reads like row numbers or ids"),
    "ids that go up": (np.array([4, 17, 18, 40, 41, 90, 91, 1000]), 0, "clip", "'clip' reads like row numbers or ids"),
    "a total": (COUNTS.sum(1), 3, "everything", "'everything' is the sum of the others"),
    "a gold label": (COUNTS.argmax(1), 3, "Gold_Label", "'Gold_Label' is named as something else"),
    "the number of votes": (COUNTS.sum(1) + 1, 0, "n_votes", "'n_votes' is named as something else"),
}


@pytest.mark.parametrize("with_ids", [False, True], ids=["no ids", "ids"])
@pytest.mark.parametrize("case", OTHER)
def test_a_column_that_is_no_class_is_refused_until_the_user_decides(tmp_path, case, with_ids):
    """Before, row numbers were the votes of a class of their own."""
    numbers, place, name, message = OTHER[case]
    names = np.insert(np.array(["cat", "dog", "fox"], dtype=object), place, name)
    rows = np.insert(COUNTS, place, numbers, axis=1).astype(str)
    lines = [",".join(["id"] * with_ids + list(names))]
    lines += [",".join([f"x{i}"] * with_ids + list(row)) for i, row in enumerate(rows)]
    path = table(tmp_path / "v.csv", *lines)
    with pytest.raises(InputError, match=f"a column for each class; column {message}.*--format counts"):
        read(path)
    assert read(path, "counts").votes.num_classes == 4
    assert read(path, options=Options(classes=tuple(names))).votes.num_classes == 4


def test_an_array_with_a_column_of_ids_is_refused_too(tmp_path):
    np.save(tmp_path / "v.npy", np.column_stack([np.arange(8), COUNTS]))
    with pytest.raises(InputError, match="column 0 reads like row numbers or ids"):
        read(tmp_path / "v.npy")
    np.save(tmp_path / "v.npy", COUNTS)
    assert read(tmp_path / "v.npy").votes.counts.tolist() == COUNTS.tolist()


def test_counts_that_happen_to_go_up_are_read_back_where_the_file_says_what_it_is(tmp_path):
    """What the votes command writes is counts by its first cell."""
    np.save(tmp_path / "v.npy", np.column_stack([np.arange(8), COUNTS]))
    named = read(tmp_path / "v.npy", "counts")
    write(named, "counts", tmp_path / "w.csv")
    assert read(tmp_path / "w.csv").votes.counts.tolist() == named.votes.counts.tolist()


@pytest.mark.parametrize("format", [None, "wide"])
def test_ids_under_an_unknown_name_are_no_annotator(tmp_path, format):
    """Before, every id was a class, which one annotator had chosen once."""
    rows = [f"t{i},{'yes' if i % 2 else 'no'},no" for i in range(6)]
    path = table(tmp_path / "v.csv", "tweet_number,Mia,Leo", *rows)
    with pytest.raises(InputError, match=r"nothing in 'tweet_number' is in any other column: ids, .* Call it 'id'"):
        read(path, format)
    assert read(table(tmp_path / "v.csv", "id,Mia,Leo", *rows)).votes.num_classes == 2


@pytest.mark.parametrize("format", [None, "wide"])
def test_the_texts_beside_the_votes_are_no_annotator(tmp_path, format):
    """Before, every text was a class, and ``compare`` trained on them."""
    rows = [f"t{i},text {i},{'yes' if i % 2 else 'no'},no" for i in range(6)]
    named = read(table(tmp_path / "v.csv", "id,text,Mia,Leo", *rows), format)
    assert (named.class_names, named.annotator_names) == (("no", "yes"), ("Mia", "Leo"))
    assert "not used: text" in named.notes
    with pytest.raises(InputError, match=r"nothing in 'source' is in any other column.* Call it 'text', or leave it out"):
        read(
            table(tmp_path / "v.csv", "id,source,Mia,Leo", *(row.replace("text ", "web").replace("web5", "web4") for row in rows))
        )
    with pytest.raises(InputError, match="line 7 has a text alone"):
        read(table(tmp_path / "v.csv", "id,text,Mia,Leo", *rows[:5], "t5,text 5,,"), format)
    cleaned = read(tmp_path / "v.csv", format, Options(clean=frozenset(["empty"])))
    assert (len(cleaned.items), cleaned.cleaned) == (5, {"empty": 1})


def test_annotators_who_never_agree_are_read_where_the_file_says_that_they_are_annotators(tmp_path):
    rows = [f"t{i},yes,no" for i in range(6)]
    for header in ("task/worker,Mia,Leo", "id,Ann1,Ann2"):
        assert read(table(tmp_path / "v.csv", header, *rows)).votes.counts.tolist() == [[1, 1]] * 6


@pytest.mark.parametrize("header", ["id,label", "id,text,votes"])
def test_lists_in_the_cells_of_a_csv_are_no_classes(tmp_path, header):
    """What pandas writes for a column of lists: before, each combination was a class."""
    rows = [f"t{i},{f'text {i},' * header.count('text')}\"['yes', 'no', 'yes']\"" for i in range(6)]
    with pytest.raises(InputError, match=r"one class in a cell .lists of votes are read from JSON lines and parquet"):
        read(table(tmp_path / "v.csv", header, *rows))


def test_percentages_and_a_hundred_votes_look_alike_and_it_is_said(tmp_path):
    path = table(tmp_path / "v.csv", "cat,dog", "50,50", "30,70")
    assert "or percentages" in read(path).notes[0]


# ---- training says what it read ----


def test_training_says_how_the_votes_were_understood(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.eye(3, dtype=np.float32))
    lines = ["9,w1,cat", "10,w1,dog", "11,w2,NA", "9,w1,cat"]
    files(table(tmp_path / "v.csv", LONG, *lines), tmp_path / "x.npy")
    said = " ".join(capsys.readouterr().out.split())
    assert "4 votes on 3 items, classes NA, cat, dog; read as long" in said
    assert "'NA' is taken as a class" in said
    assert "1 items have several votes of one annotator: each counts" in said
    assert "has no ids: row 0 is taken for '9', row 2 for '11'" in said


def test_training_says_where_no_item_has_two_votes(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.eye(2, dtype=np.float32))
    files(table(tmp_path / "v.csv", "id,text,label", "a,hi,cat", "b,ho,dog"), tmp_path / "x.npy")
    assert "one vote per item" in " ".join(capsys.readouterr().out.split())
