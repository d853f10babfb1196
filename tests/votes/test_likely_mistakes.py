"""Tables that could be read, but hardly as they were meant: refused, or said, never taken silently."""

import json

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


@pytest.mark.parametrize("lines", [["id,Ann1,Ann2,Ann3", "a,1,NA,2", "b,NA,10,2"], [LONG, "a,w,1", "a,v,NA", "b,w,2", "b,u,10"]])
def test_a_word_for_no_answer_among_numbers_is_refused_until_the_user_names_all(tmp_path, lines):
    """Before, the NA that R writes for no vote was a class, and made words of the numbers: 1, 10, 2."""
    path = table(tmp_path / "v.csv", *lines)
    with pytest.raises(InputError, match=r"labels that are all numbers.*'NA' is none: leave that cell empty .* --classes"):
        read(path)
    assert read(path, options=Options(classes=("1", "2", "10", "NA"))).votes.num_classes == 4


@pytest.mark.parametrize(("labels", "said"), [("0 -1 1", True), ("-1 1 2", True), ("-2 -1 0 1", False), ("0 1", False)])
def test_minus_one_as_the_only_number_below_zero_may_be_no_vote_and_it_is_said(tmp_path, labels, said):
    """Snorkel, and many a matrix of votes, have -1 where a function or a person abstained."""
    notes = " ".join(read(table(tmp_path / "v.csv", LONG, *(f"a,w,{label}" for label in labels.split()))).notes)
    assert ("'-1' is taken as a class" in notes) == said


@pytest.mark.parametrize(
    ("labels", "said"), [("1 5 99", "nobody chose 96 of the classes 1 to 99"), ("1 3", "nobody chose 2, one of")]
)
def test_steps_of_a_scale_that_nobody_chose_are_said(tmp_path, labels, said):
    """A code such as 99 for no answer made a scale of 99 classes without a word."""
    named = read(table(tmp_path / "v.csv", LONG, *(f"a,w,{label}" for label in labels.split())))
    assert said in " ".join(named.notes)
    assert "nobody chose" not in " ".join(read(table(tmp_path / "w.csv", LONG, "a,w,1", "a,w,2")).notes)


def test_votes_of_nobody_cost_the_annotators_of_the_others_and_it_is_said(tmp_path):
    entries = [{"id": "a", "labels": ["x", "y"], "annotators": ["w", None]}, {"id": "b", "labels": ["x"], "annotators": ["w"]}]
    path = table(tmp_path / "v.jsonl", *map(json.dumps, entries))
    assert read(path).annotator_names is None
    assert "1 votes do not say whose they are" in " ".join(read(path).notes)


def test_two_columns_of_one_name_are_a_question(tmp_path):
    path = table(tmp_path / "v.csv", "task,worker,label,Label", "a,w,x,y")
    with pytest.raises(InputError, match="the label: 'label' or 'Label'"):
        read(path)


def test_columns_that_are_not_used_are_said(tmp_path):
    """Class columns beside a gold label: the label is taken, and nobody may think that it was the counts."""
    assert "not used: cat, dog" in read(table(tmp_path / "v.csv", "id,cat,dog,label", "a,3,1,cat", "b,0,4,dog")).notes[0]


def test_a_text_that_begins_with_a_quotation_mark_takes_no_rows_with_it(tmp_path):
    """In tables of tabs such texts are seldom quoted. Before, the rows of b and c were part of the text of a, without a word."""
    rows = ['a\t"Well, he said\tw\tx', "b\tplain\tw\ty", 'c\tand left."\tw\tx', "d\tgone\tw\ty"]
    path = table(tmp_path / "v.tsv", "task\ttext\tworker\tlabel", *rows)
    with pytest.raises(InputError, match=r"one row per line; a cell that ends on line 4 holds tabs: 'Well, he said.*as a whole"):
        read(path)
    rows[0], rows[2] = 'a\t"""Well"", he\nsaid"\tw\tx', 'c\tand "left"\tw\tx'
    assert read(table(path, "task\ttext\tworker\tlabel", *rows)).items == ["a", "b", "c", "d"]


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


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_a_total_is_found_in_numbers_of_any_type(tmp_path, dtype):
    """Twice 160 is 64 in bytes: the total of an array of bytes was a class."""
    counts = np.array([[100, 60], [10, 190]])
    np.save(tmp_path / "v.npy", np.column_stack([counts, counts.sum(1)]).astype(dtype))
    with pytest.raises(InputError, match="column 2 is the sum of the others"):
        read(tmp_path / "v.npy")


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


@pytest.mark.parametrize("row", [("60%", "40%"), ("0,6", "0,4"), ("3/5", "2/5"), ("1,204", "17"), ("60 %", "")], ids=ascii)
@pytest.mark.parametrize("with_ids", [False, True], ids=["no ids", "ids"])
def test_numbers_in_another_writing_are_no_votes_of_annotators(tmp_path, row, with_ids):
    """Before, '60%' and '40%' were two classes, which two annotators by the names of cat and dog had chosen."""
    cells = ",".join(f'"{cell}"' for cell in row)
    path = table(
        tmp_path / "v.csv", "id,cat,dog" if with_ids else "cat,dog", *([f"a,{cells}", f"b,{cells}"] if with_ids else [cells])
    )
    with pytest.raises(InputError, match=rf"a decimal point .* line 2 has '{row[0]}' .*--format wide"):
        read(path)
    assert row[0] in read(path, "wide").class_names


def test_words_beside_numbers_in_another_writing_are_votes(tmp_path):
    path = table(tmp_path / "v.csv", "id,Mia,Leo", "a,50 %,never", "b,never,50 %")
    assert read(path).class_names == ("50 %", "never")


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


# ---- objects of objects ----


def document(path, content):
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    "content",
    [{"a": {"cat": 3, "dog": 1}, "b": {"dog": 4}}, {"a": {"cat": 0.6, "dog": 0.4}, "b": {"cat": 1.0, "dog": 0.0}}],
    ids=["counts", "shares"],
)
def test_counts_by_class_are_no_answers_of_workers(tmp_path, content):
    """Before, the worker 'cat' had given item a the label 3."""
    path = document(tmp_path / "v.json", content)
    with pytest.raises(InputError, match=r"'cat', 'dog' may be classes.* --format answers\. JSON lines are read: .*\"counts\""):
        read(path)
    with pytest.raises(InputError, match="may be classes"):
        read(path, options=Options(classes=("cat", "dog")))
    assert read(path, "answers").annotator_names == ("cat", "dog")


@pytest.mark.parametrize("worker", ["7", "w7", "worker_7", "Rater 7"])
def test_answers_of_workers_may_be_numbers(tmp_path, worker):
    assert read(document(tmp_path / "v.json", {"a": {worker: 1}, "b": {worker: 0}})).votes.counts.tolist() == [[0, 1], [1, 0]]


def test_answers_of_people_may_be_numbers_where_the_classes_are_named(tmp_path):
    path = document(tmp_path / "v.json", {"a": {"Mia": 1, "Leo": 0}})
    assert read(path, options=Options(classes=("0", "1"))).annotator_names == ("Mia", "Leo")


@pytest.mark.parametrize("orient", ["columns", "index", "records"])
def test_a_table_that_pandas_wrote_as_json_is_no_answers(tmp_path, orient):
    """Before, 'task' was an item, on which the workers '0' and '1' had voted for the classes 'a' and 'b'."""
    rows = [{"task": "a", "worker": "w", "label": "x"}, {"task": "b", "worker": "w", "label": "y"}]
    columns = {name: {str(i): row[name] for i, row in enumerate(rows)} for name in rows[0]}
    content = {"columns": columns, "index": {str(i): row for i, row in enumerate(rows)}, "records": rows}[orient]
    expected = "a table with the columns 'task', 'worker', 'label'.*JSON lines"
    if orient == "records":
        expected = "a list of other objects is read as JSON lines"
    with pytest.raises(InputError, match=expected):
        read(document(tmp_path / "v.json", content))


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
