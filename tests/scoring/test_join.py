"""Predictions and votes that come in another order, under other names, or without any: the right number, or a word about it."""

import csv
import io
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.score import main
from hardlabels.scoring.join import match_ids
from hardlabels.scoring.log_q import to_log_q

CLASSES = ("borderline", "fine", "toxic")
IDS = [f"d{i:03d}" for i in range(12)]
rng = stream(0, "test of joins")
P = rng.dirichlet(np.ones(3), size=12).round(4)
P[:, 2] = 1 - P[:, :2].sum(1)
COUNTS = rng.multinomial(5, P)
SOFT_NLL = float(-(COUNTS / 5 * np.log(P)).sum(1).mean())  # what every proper way of writing these files must give


def text(rows, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def predictions(order=range(12), columns=(0, 1, 2), ids=IDS, names=CLASSES, id_name="id"):
    """A csv of the predictions P, in this order of rows and columns."""
    header = ([id_name] if ids else []) + [names[c] for c in columns]
    return text([header, *([*([ids[i]] if ids else []), *(repr(float(P[i, c])) for c in columns)] for i in order)])


def beside(content, name, cells, first=False):
    """The csv with one more column."""
    rows = zip(content.splitlines(), [name, *map(str, cells)], strict=True)
    return "\n".join(f"{cell},{row}" if first else f"{row},{cell}" for row, cell in rows)


def long_votes(ids=IDS, names=CLASSES):
    rows = [(ids[i], f"w{k}", names[c]) for i in range(12) for k, c in enumerate(np.repeat(range(3), COUNTS[i]))]
    return text([("task", "worker", "label"), *rows])


def count_votes(ids=IDS, names=CLASSES, columns=(0, 1, 2)):
    header = (["task"] if ids else []) + [names[c] for c in columns] if names else []
    rows = [[*([ids[i]] if ids else []), *(COUNTS[i, c] for c in columns)] for i in range(12)]
    return text([header, *rows] if header else rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text(long_votes())
    (tmp_path / "nameless.csv").write_text(count_votes(ids=None, names=None))
    np.save("votes.npy", COUNTS)
    np.save("q.npy", P)
    return tmp_path


@pytest.fixture
def score(folder, capsys):
    """Write the predictions, score them, return the report."""

    def run(content, *arguments, votes="votes.csv"):
        name = "q.npy"
        if content is not None:
            (folder / (name := "q.csv")).write_bytes(content.encode() if isinstance(content, str) else content)
        main([name, votes, *arguments, "--json", "--resamples", "5"])
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def refused(score, capsys):
    """The one line with which predictions are refused."""

    def run(content, *arguments, votes="votes.csv"):
        with pytest.raises(SystemExit, match="2"):
            score(content, *arguments, votes=votes)
        out, err = capsys.readouterr()
        assert not out
        assert len(err.strip().splitlines()) == 1
        return err

    return run


def soft_nll(report, model=0):
    return report["slices"]["full"]["models"][model]["soft_nll"]["value"]


# ---- the same scores, however they are written ----


ACCIDENTS = ["drop", "twice", "swap ids", "swap names", "name", "id", "lost", "column", "swap columns"]


@st.composite
def mutated(draw):
    """A named file of predictions after some accidents: (rows of cells, the first of them the names)."""
    rows = [line.split(",") for line in predictions(draw(st.permutations(range(12))), draw(st.permutations(range(3)))).split()]
    for _ in range(draw(st.integers(1, 3))):
        accident = draw(st.sampled_from(ACCIDENTS))
        i, j = draw(st.integers(1, len(rows) - 1)), draw(st.integers(1, len(rows) - 1))
        c, d = draw(st.integers(1, len(rows[0]) - 1)), draw(st.integers(1, len(rows[0]) - 1))
        if accident == "drop" and len(rows) > 3:
            del rows[i]
        elif accident == "twice":
            rows.append(rows[i])
        elif accident == "swap ids":
            rows[i], rows[j] = [rows[j][0], *rows[i][1:]], [rows[i][0], *rows[j][1:]]
        elif accident == "swap names":
            rows[0] = [*rows[0]]
            rows[0][c], rows[0][d] = rows[0][d], rows[0][c]
        elif accident == "name":
            rows[0] = [*rows[0][:c], draw(st.sampled_from(["Toxic", "spam", "toxic", "text", "prediction"])), *rows[0][c + 1 :]]
        elif accident == "id":
            rows[i] = [draw(st.sampled_from(["x", "D001", "d001", "1", "d1"])), *rows[i][1:]]
        elif accident == "lost":
            rows[i] = [*rows[i][:c], draw(st.sampled_from(["", "nan", "?", "0.9999"])), *rows[i][c + 1 :]]
        elif accident == "column":
            name, cell = draw(st.sampled_from([("text", "hi"), ("prediction", "2"), ("loss", "0.1"), ("spam", "0.0")]))
            rows = [[*row, name if row is rows[0] else cell] for row in rows]
        elif accident == "swap columns":
            rows = [[*row] for row in rows]
            for row in rows:
                row[c], row[d] = row[d], row[c]
    return rows


def understood(rows):
    """Soft NLL of a file read by name and id alone; None where it is not one of these classes and items."""
    names, items = rows[0], {}
    if len(set(names)) < len(names) or not set(CLASSES) <= set(names):
        return None
    for row in rows[1:]:
        cells = dict(zip(names, row, strict=True))
        try:
            q = np.array([float(cells[name]) for name in CLASSES])
        except ValueError:
            return None
        if cells["id"] not in IDS or cells["id"] in items or not abs(q.sum() - 1) <= 1e-3:
            return None
        items[cells["id"]] = -(COUNTS[IDS.index(cells["id"])] / 5 * np.log(q)).sum()
    return np.mean([*items.values()])


@settings(derandomize=True, deadline=None, max_examples=300)
@given(rows=mutated())
def test_a_damaged_file_gives_its_own_number_or_none(rows, tmp_path_factory):
    """By a reader of a few lines: what it cannot read must be refused, what is scored must be what it reads."""
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "votes.csv").write_text(long_votes())
    (folder / "q.csv").write_text(text(rows))
    expected, found = understood(rows), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", found.append)
        with suppress(SystemExit):
            main([str(folder / "q.csv"), str(folder / "votes.csv"), "--json", "--resamples", "2"])
    extra = [name for place, name in enumerate(rows[0]) if name not in (*CLASSES, "id") and rows[1][place] != "hi"]
    if expected is None:
        assert not found
    elif not extra:  # a column of further numbers may be refused
        assert soft_nll(json.loads(found[0])) == pytest.approx(expected)


def test_classes_are_matched_by_name_and_not_by_place(score):
    """Once 2.61 instead of 0.70, without a word: columns in the order toxic, borderline, fine."""
    for columns in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        report = score(predictions(columns=columns))
        assert soft_nll(report) == pytest.approx(SOFT_NLL, rel=1e-12)
        assert report["predictions"][0]["classes_matched_by"] == "name"
    assert report["class_names"] == list(CLASSES)


def test_rows_are_joined_by_id(score):
    order = [3, 1, 0, 2, 11, 10, 9, 4, 5, 6, 8, 7]
    report = score(predictions(order))
    assert soft_nll(report) == pytest.approx(SOFT_NLL, rel=1e-12)
    assert report["predictions"][0]["items_matched_by"] == "id"
    assert report["predictions"][0]["items"] == "joined by id: all 12 items"


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    rows=st.permutations(range(12)),
    columns=st.permutations(range(3)),
    votes_columns=st.permutations(range(3)),
    names=st.sampled_from([CLASSES, ("1", "2", "10"), ("-1", "0", "1"), ("a,b", 'x "y"', " z "), ("No", "no", "maybe")]),
    ids=st.sampled_from([IDS, [str(i) for i in range(12)], [f"{i:03d}" for i in range(12)], [f'{i}, "x"' for i in range(12)]]),
)
def test_any_permutation_of_rows_and_columns_gives_identical_scores(rows, columns, votes_columns, names, ids, tmp_path_factory):
    """Identical to the last bit, bootstrap intervals included: all that follows the join is in the order of the votes."""
    folder = tmp_path_factory.mktemp("permuted")
    (folder / "votes.csv").write_text(count_votes(ids, names, votes_columns))
    found = []
    for order, places in ((range(12), range(3)), (rows, columns)):
        (folder / "q.csv").write_text(predictions(order, places, ids, names))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("builtins.print", found.append)
            main([str(folder / "q.csv"), str(folder / "votes.csv"), "--json", "--resamples", "3"])
    assert found[0] == found[1]
    assert soft_nll(json.loads(found[0])) == pytest.approx(SOFT_NLL, rel=1e-12)


WRITTEN = {
    "a byte order mark": "\ufeff" + predictions(),
    "Windows' line ends": predictions().replace("\n", "\r\n"),
    "blank lines": predictions().replace("\n", "\n\n") + "\n ,,,\n",
    "quotes": text([[f' "{c}"' if "," in c else c for c in row.split(",")] for row in predictions().splitlines()]),
    "spaces": predictions().replace(",", " , "),
    "prefixes": predictions(names=[f"p_{name}" for name in CLASSES]),
    "another name of the ids": predictions(id_name="doc_id"),
    "ids in the last column": "\n".join(",".join([*row.split(",")[1:], row.split(",")[0]]) for row in predictions().split()),
    "no first line": predictions().split("\n", 1)[1],
    "logits": text(
        [["id", *CLASSES], *([name, *(np.log(P[i]) + 3 * i - 5).tolist()] for i, name in enumerate(IDS))],
    ),
    "a text beside": beside(beside(predictions(range(11, -1, -1)), "text", ['"some, text"'] * 12), "prediction", ["fine"] * 12),
    "pandas' row numbers beside ids": "\n".join(
        f"{'' if i == 0 else i - 1},{row}" for i, row in enumerate(predictions().split())
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_the_same_predictions_written_in_other_ways(case, score):
    report = score(WRITTEN[case])
    assert soft_nll(report) == pytest.approx(SOFT_NLL, rel=1e-9)
    entry = report["predictions"][0]
    assert entry["items_matched_by"] == "id"
    assert entry["classes_matched_by"] == ("order" if case == "no first line" else "name")
    expected = {"a text beside": ["text", "prediction"], "pandas' row numbers beside ids": [""]}
    assert entry["columns_left_out"] == expected.get(case, [])


def test_a_column_of_ids_may_be_named(score, refused):
    content = predictions(range(11, -1, -1), id_name="url")
    assert "column 'url' holds ids of votes.csv: --id url joins by it" in refused(content)
    assert soft_nll(score(content, "--id", "url")) == pytest.approx(SOFT_NLL)
    assert "expected a column 'urls' (--id); the first line is 'url'" in refused(content, "--id", "urls")
    two = beside(predictions(), "doc_id", ["x"] * 12)
    assert "'id' or 'doc_id'? --id COLUMN says which" in refused(two)
    assert soft_nll(score(two, "--id", "id")) == pytest.approx(SOFT_NLL)


def test_options_of_the_votes_work_here_too(folder, score, refused):
    (folder / "votes.csv").write_text(long_votes().replace("task,worker,label", "clip,ear,sound"))
    message = refused(predictions())
    assert "python -m hardlabels.score q.csv votes.csv --task COLUMN --worker COLUMN --label COLUMN" in message
    columns = ["--task", "clip", "--worker", "ear", "--label", "sound"]
    order = list(range(11, -1, -1))
    assert soft_nll(score(predictions(order, id_name="clip"), *columns)) == pytest.approx(SOFT_NLL)
    assert "expected votes as .csv" not in refused(predictions(), "--format", "wide")


def test_a_class_that_nobody_chose_is_named_by_the_user(folder, score, refused):
    (folder / "votes.csv").write_text("task,worker,label\n" + "".join(f"{name},w,{'fine'}\n" for name in IDS))
    assert "'borderline', 'toxic' is none of them; --classes" in refused(predictions())
    report = score(predictions(columns=(2, 1, 0)), "--classes", "toxic,fine,borderline")
    assert soft_nll(report) == pytest.approx(-np.log(P[:, 1]).mean())


# ---- ids ----


def test_some_of_the_items_are_scored_and_it_is_said(score, folder):
    chosen = [7, 2, 5]
    report = score(predictions(chosen))
    expected = -(COUNTS[chosen] / 5 * np.log(P[chosen])).sum(1).mean()
    assert soft_nll(report) == pytest.approx(expected)
    assert report["predictions"][0]["items"] == "joined by id: 3 of the 12 items of votes.csv are predicted"
    assert report["items"] == 3


NUMBERED = {
    "leading zeros lost": ([f"{i:03d}" for i in range(12)], [str(i) for i in range(12)]),
    "leading zeros kept in the votes only": ([str(i) for i in range(12)], [f"{i:03d}" for i in range(12)]),
    "floats in one file": ([f"{i}.0" for i in range(12)], [str(i) for i in range(12)]),
    "floats of 15 digits": ([f"{10**14 + i}.0" for i in range(12)], [str(10**14 + i) for i in range(12)]),
}


@pytest.mark.parametrize("case", NUMBERED)
def test_ids_that_are_the_same_number_are_the_same_id(case, folder, score):
    ours, theirs = NUMBERED[case]
    (folder / "votes.csv").write_text(long_votes(ids=theirs))
    report = score(predictions([5, 3, 11, 0, 1, 2, 4, 6, 7, 8, 10, 9], ids=ours))
    assert soft_nll(report) == pytest.approx(SOFT_NLL)
    assert "ids as numbers" in report["predictions"][0]["items"]


def test_ids_that_lost_digits_are_refused(folder, refused):
    """2^53 and beyond: neighbours become the same float."""
    (folder / "votes.csv").write_text(long_votes(ids=[str(2**60 + i) for i in range(12)]))
    assert "12 of 12 ids have none" in refused(predictions(ids=[f"{float(2**60 + 256 * i):.1f}" for i in range(12)]))


def test_ids_of_the_annotation_tool_are_no_ids_of_mine_and_the_way_out_is_named(folder, score, refused):
    """As training says it of the same file; before, only --extra ignore was named, which leaves nothing."""
    choice = {"type": "choices", "from_name": "c", "to_name": "t"}
    export = [
        {
            "id": 1000 + i,
            "data": {"ref": name},
            "annotations": [
                {"id": i, "completed_by": 1, "result": [choice | {"value": {"choices": [CLASSES[COUNTS[i].argmax()]]}}]}
            ],
        }
        for i, name in enumerate(IDS)
    ]
    (folder / "export.json").write_text(json.dumps(export))
    assert "The ids of the votes are the tool's own: --task ref takes yours" in refused(predictions(), votes="export.json")
    with_all = ["--classes", ",".join(CLASSES)]
    assert score(predictions(), "--task", "ref", *with_all, votes="export.json")["slices"]["full"]["items"] == len(IDS)


IDS_REFUSED = {
    "unknown": (predictions(ids=[*IDS[:10], "x1", "x2"]), ["2 of 12 ids have none: 'x1', 'x2'", "such as 'd000'"]),
    "twice": (predictions([0, 1, 2, 1]), ["every item once; 'd001' has row 1 and row 3"]),
    "upper case": (predictions(ids=[name.upper() for name in IDS]), ["'D000'", "such as 'd000'"]),
    "row numbers": (predictions(ids=[str(i) for i in range(12)], id_name=""), ["12 of 12 ids have none: '0', '1'"]),
    "empty": (predictions(ids=[*IDS[:11], ""]), ["the id of an item as 1 to 500 printable characters, got ''"]),
    "an escape sequence": (predictions(ids=[*IDS[:11], "\x1b[2J"]), ["printable"]),
}


@pytest.mark.parametrize("case", IDS_REFUSED)
def test_ids_that_cannot_be_joined_are_named(case, refused):
    content, parts = IDS_REFUSED[case]
    message = refused(content)
    assert all(part in message for part in parts), message


def test_the_same_number_twice_is_no_id(folder, refused):
    """007 and 7 may be two items or one: in the votes half of the votes would be lost, in the predictions 7.0 could be either."""
    ids = ["7", "007", *(f"x{i}" for i in range(10))]
    assert "'7' and '007' are the same number" in refused(predictions(ids=ids))
    (folder / "votes.csv").write_text(long_votes(ids=ids))
    assert "'7' and '007' are the same number" in refused(predictions(ids=["7.0", "8", *ids[2:]]))


# ---- where only one side has ids or names, or neither ----


def test_row_by_row_is_said(score, refused):
    entry = score(None)["predictions"][0]
    assert (entry["items_matched_by"], entry["classes_matched_by"]) == ("row", "order")
    assert "q.npy has no ids: row i is taken for item i of votes.csv, the first for 'd000', the last for 'd011'" in entry["items"]
    assert entry["classes"] == "q.npy has no names of classes: its columns are taken for borderline, fine, toxic, in this order"
    entry = score(None, votes="votes.npy")["predictions"][0]
    assert entry["items"] == "neither file has ids: row i is taken for item i of votes.npy"
    assert entry["classes"] == "neither file has names of classes: column c is taken for class c"
    entry = score(predictions(), votes="votes.npy")["predictions"][0]
    assert entry["items"] == "votes.npy has no ids to join those of q.csv by: row i is taken for item i of votes.npy"
    assert entry["classes"].startswith("votes.npy has no names of classes: its columns are taken for borderline, fine, toxic")
    for votes in ("votes.npy", "nameless.csv"):
        assert "expected 12 items x 3 classes" in refused(predictions(range(11)), votes=votes)


def test_the_terminal_says_it_too(folder, capsys):
    main(["q.npy", "votes.csv", "--resamples", "5"])
    said = " ".join(capsys.readouterr().out.split())
    assert "items: q.npy has no ids: row i is taken for item i of votes.csv" in said
    assert "classes: q.npy has no names of classes: its columns are taken for borderline, fine, toxic, in this order" in said
    assert "votes.csv: counts, 60 votes, read as long (task = column 'task'" in said


MOVED = {
    "rows": (predictions([1, 0, *range(2, 12)], ids=[str(i) for i in range(12)]), "rows in order of their ids"),
    "columns": (predictions(columns=(2, 0, 1), names=("0", "1", "2")), "classes in order of number"),
    "columns from 1": (predictions(columns=(2, 0, 1), names=("1", "2", "3"), ids=None), "classes in order of number"),
}


@pytest.mark.parametrize("case", MOVED)
def test_numbers_out_of_order_are_not_taken_by_place(case, refused):
    content, expected = MOVED[case]
    assert expected in refused(content, votes="votes.npy")


def test_votes_whose_numbered_classes_are_moved_need_names_on_the_other_side(folder, score, refused):
    (folder / "votes.csv").write_text(count_votes(names=("1", "2", "10"), columns=(2, 0, 1)))
    assert "classes in order of number" in refused(None)
    assert soft_nll(score(predictions(names=("1", "2", "10")))) == pytest.approx(SOFT_NLL)


# ---- names of classes ----

NAMES_REFUSED = {
    "another class": (
        predictions(names=("borderline", "fine", "spam")),
        ["no column is named 'toxic'", "'spam' is none of them"],
    ),
    "upper case": (predictions(names=("Borderline", "Fine", "Toxic")), ["upper and lower case differ"]),
    "a class missing": (predictions(columns=(0, 1)), ["no column is named 'toxic'"]),
    "a class too many": (
        beside(predictions(), "spam", [0.1] * 12),
        ["'spam' is none of them", "--classes"],
    ),
    "a prediction as a number": (
        beside(predictions(), "prediction", [2] * 12),
        ["'prediction' is none of them", "must be left out"],
    ),
    "two columns a class": (
        "\n".join(
            ",".join([row, *(f"p_{name}" if i == 0 else "0.5" for name in CLASSES)])
            for i, row in enumerate(predictions().split())
        ),
        ["'borderline' or 'p_borderline'?"],
    ),
    "a class twice": (predictions(names=("fine", "fine", "toxic")), ["every column once; 'fine' comes twice"]),
    "a number that is none": (predictions().replace(repr(float(P[3, 1])), "many"), ["column 'fine'; line 5 has 'many'"]),
    "a lost number": (predictions().replace(repr(float(P[3, 1])), ""), ["column 'fine'; line 5 has ''"]),
    "a decimal comma": (predictions().replace(repr(float(P[3, 1])), '"0,5"'), ["column 'fine'; line 5 has '0,5'"]),
    "tabs": (predictions().replace(",", "\t"), ["separated by commas"]),
    "text alone": ("id,text\n" + "".join(f"{name},hi\n" for name in IDS), ["a column of numbers for each class"]),
}


@pytest.mark.parametrize("case", NAMES_REFUSED)
def test_other_classes_are_refused_and_the_difference_is_named(case, refused):
    content, parts = NAMES_REFUSED[case]
    message = refused(content)
    assert all(part in message for part in parts), message


def test_class_names_that_are_numbers(folder, score, refused):
    """1, 2, 10: neither the order of text nor that of the columns; 1.0 is 1, as pandas writes a column with a hole."""
    (folder / "votes.csv").write_text(count_votes(names=("1", "2", "10")))
    for names in (("1", "2", "10"), ("1.0", "2.0", "10.0"), ("01", "02", "10")):
        assert soft_nll(score(predictions(columns=(2, 0, 1), names=names))) == pytest.approx(SOFT_NLL)
    assert "different names" in refused(predictions(names=("1", "1.0", "10")))


def test_a_first_line_of_numbers_is_names_where_the_lines_below_are_the_items(folder, score, refused):
    """As ``DataFrame(q).to_csv(index=False)`` writes it."""
    names = ("0", "1", "2")
    (folder / "votes.csv").write_text(count_votes(ids=None, names=None))
    assert soft_nll(score(predictions(ids=None, names=names))) == pytest.approx(SOFT_NLL)
    (folder / "votes.csv").write_text(count_votes(names=("2", "0", "1")))
    assert soft_nll(score(predictions(ids=None, names=("2", "0", "1"), columns=(1, 2, 0)))) == pytest.approx(SOFT_NLL)
    assert "line 1 reads like names of classes: 0, 1, 2" in refused(predictions(range(11), ids=None, names=names))
    assert "expected 12 items x 3 classes" in refused(predictions(range(10), ids=None, names=("5", "-7", "9")))


def test_two_numbers_in_the_first_line_may_be_an_item(folder, score, refused):
    """0,1 is a sure prediction, or the names of two classes and an item that was lost: the lines and the points tell."""
    np.save("votes.npy", np.array([[0, 4], [1, 3], [2, 2]]))
    expected = -(0 + np.log([0.25, 0.75]) @ [1 / 4, 3 / 4] + np.log(0.5)) / 3
    assert "line 1 reads like names of classes: 0, 1" in refused("0,1\n0.25,0.75\n0.5,0.5\n", votes="votes.npy")
    assert soft_nll(score("0.0,1.0\n0.25,0.75\n0.5,0.5\n", votes="votes.npy")) == pytest.approx(expected)
    assert soft_nll(score("0,1\n0.0,1.0\n0.25,0.75\n0.5,0.5\n", votes="votes.npy")) == pytest.approx(expected)


# ---- logits or probabilities ----

UNCLEAR = {
    "percentages": 100 * P,
    "rounded": np.column_stack([P[:, :2].round(1), P[:, 2].round(1) + 0.01]),
    "independent scores": P * 0.7,
    "counts": COUNTS + 1,
    "ids before two classes": np.column_stack([np.arange(12), P[:, 0], 1 - P[:, 0]]),
    "negated": -P,
    "negated percentages": -100 * P,
    "from -1 to 1": 2 * P - 1,
    "centred": P - 1 / 3,
    "logarithms of base 2": np.log2(0.9 * P + 0.1 / 3),
    "logarithms of base 10": np.log10(0.9 * P + 0.1 / 3),
    "log-odds": np.log((0.9 * P + 0.1 / 3) / (1 - 0.9 * P - 0.1 / 3)),
    "logits, then probabilities": np.vstack([np.log(P[:6] + 0.1) + np.arange(6)[:, None], P[6:]]),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_neither_is_not_taken_for_logits(case, folder, refused):
    np.save("q.npy", UNCLEAR[case])
    message = refused(None)
    assert ("first looks like ids" if case.startswith("ids") else "--logits or --probabilities") in message, message


@pytest.mark.parametrize(
    "logits",
    [
        np.log(0.9 * P + 0.1 / 3),
        np.log(0.9 * P + 0.1 / 3) - 5 * np.arange(12)[:, None],
        5 * (P - P.mean(1, keepdims=True)),
        np.tile(np.log([[0.5, 0.3, 0.2]]), (12, 1)),
        1e300 * (P - 0.5) * np.arange(1, 13)[:, None],
        np.where(P < 0.1, -np.inf, np.log(P + 0.1)),
    ],
    ids=["log-probabilities", "shifted", "centred", "the same for every item", "huge", "some impossible"],
)
@pytest.mark.filterwarnings("error")
def test_what_may_be_logits_is_taken_for_logits(logits):
    log_q, understood = to_log_q(logits, None, "q.npy")
    assert understood == "logits"
    np.testing.assert_allclose(log_q, log_softmax(logits, axis=1))


def test_what_is_unclear_can_be_said(folder, score, refused):
    np.save("q.npy", P * 4)
    scores = 4 * P - np.log(np.exp(4 * P).sum(1, keepdims=True))
    assert soft_nll(score(None, "--logits")) == pytest.approx(-(COUNTS / 5 * scores).sum(1).mean())
    assert "sum to 1 within 0.001" in refused(None, "--probabilities")


# ---- two models ----


def test_two_models_are_joined_in_the_same_way(folder, capsys):
    other = np.full((12, 3), 1 / 3)
    (folder / "a.csv").write_text(predictions(range(11, -1, -1), (2, 0, 1)))
    rows = [
        ["doc", "fine", "toxic", "borderline"],
        *([name, *map(repr, row)] for name, row in zip(IDS, other.tolist(), strict=True)),
    ]
    (folder / "b.csv").write_text(text(rows))
    main(["a.csv", "votes.csv", "b.csv", "--json", "--resamples", "5"])
    report = json.loads(capsys.readouterr().out)
    full = report["slices"]["full"]
    assert full["first_minus_second"]["soft_nll"]["difference"] == pytest.approx(SOFT_NLL - np.log(3))
    assert [entry["items_matched_by"] for entry in report["predictions"]] == ["id", "id"]


def test_two_models_of_other_items_are_refused(folder, capsys):
    (folder / "a.csv").write_text(predictions([0, 1, 2, 3]))
    (folder / "b.csv").write_text(predictions([0, 1, 2, 4]))
    with pytest.raises(SystemExit, match="2"):
        main(["a.csv", "votes.csv", "b.csv"])
    assert "b.csv: expected the items of a.csv; 1 are missing: 'd003'" in capsys.readouterr().err


# ---- a run's predictions ----


def run_file(path, order=range(12), columns=(0, 1, 2), **arrays):
    order, columns = list(order), list(columns)
    q, p = np.log(P)[order][:, columns], (COUNTS / 5)[order][:, columns]
    np.savez(path, **({"logits": q, "p": p, "index": np.array(order)} | arrays))


def test_a_run_with_ids_and_class_names_is_joined_by_them(folder, capsys):
    order, columns = [7, 2, 5, 0], [2, 0, 1]
    named = {"ids": np.array(IDS)[order], "class_names": np.array(CLASSES)[columns]}
    run_file("run.npz", order, columns, **named)
    main(["run.npz", "votes.csv", "--json", "--resamples", "5"])
    report = json.loads(capsys.readouterr().out)
    assert soft_nll(report) == pytest.approx(-(COUNTS[order] / 5 * np.log(P[order])).sum(1).mean())
    assert report["predictions"][0]["items"] == "joined by id: 4 of the 12 items of votes.csv are predicted"
    assert report["predictions"][0]["classes_matched_by"] == "name"
    # Another run of the same items, in another order of both, and without votes beside them.
    run_file("other.npz", order[::-1], ids=np.array(IDS)[order[::-1]], class_names=np.array(CLASSES))
    main(["run.npz", "other.npz", "--json", "--resamples", "5"])
    assert json.loads(capsys.readouterr().out)["slices"]["full"]["first_minus_second"]["soft_nll"]["difference"] == 0


def test_runs_without_ids_are_joined_by_index_in_any_order(folder, capsys):
    run_file("run.npz", [7, 2, 5, 0])
    run_file("other.npz", [0, 5, 7, 2])
    for votes in ([], ["votes.csv"]):
        main(["run.npz", *votes, "other.npz", "--json", "--resamples", "5"])
        report = json.loads(capsys.readouterr().out)
        assert report["slices"]["full"]["first_minus_second"]["soft_nll"]["difference"] == 0
    assert report["predictions"][0]["items"] == "joined by 'index', the position among the 12 items of votes.csv"


def test_two_runs_with_another_p_are_no_pair(folder, capsys):
    """The second would be scored against the first one's annotators."""
    run_file("run.npz")
    run_file("other.npz", p=(COUNTS / 5)[::-1])
    with pytest.raises(SystemExit, match="2"):
        main(["run.npz", "other.npz"])
    assert "other.npz, p: expected that of run.npz" in capsys.readouterr().err


def test_votes_that_are_not_those_of_the_run_are_said(folder, capsys):
    run_file("run.npz", index=np.roll(np.arange(12), 1))
    main(["run.npz", "votes.npy", "--json", "--resamples", "5"])
    assert "the votes differ from the p of the run itself" in json.loads(capsys.readouterr().out)["predictions"][0]["items"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"ids": np.array(IDS[:5])}, "ids: expected 12 texts, one for each, got shape (5,)"),
        ({"ids": np.array([IDS[0]] * 12)}, "'d000' has row 0 and row 1"),
        ({"ids": np.arange(12) / 2}, "type float64"),
        ({"ids": np.array(IDS, dtype=object)}, "pickled"),
        ({"class_names": np.array(["a", "b"])}, "class_names: expected 3 texts"),
        ({"class_names": np.array(["a", "b", "b"])}, "every class name once"),
        ({"class_names": np.array(["fine", "toxic", "spam"])}, "'spam' is none of them"),
    ],
)
def test_names_of_a_run_that_cannot_be_are_refused(arrays, message, folder, capsys):
    run_file("run.npz", **arrays)
    with pytest.raises(SystemExit, match="2"):
        main(["run.npz", "votes.csv"])
    assert message in capsys.readouterr().err


def test_paths_are_joined_with_the_names_of_files():
    places, how = match_ids(["test/12", "train/7"], ["7", "12", "13"], ("q.csv", "votes.csv"))
    assert places.tolist() == [1, 0]
    assert how == ", by the last part of its ids ('test/12' is '12')"
    with pytest.raises(InputError, match="2 of 2 ids have none"):  # which of the two is it?
        match_ids(["test/12", "train/12"], ["7", "12"], ("q.csv", "votes.csv"))
    with pytest.raises(InputError, match="--clean urls takes the last part of the votes' ids"):
        match_ids(["12", "9"], ["img/12", "img/9"], ("q.csv", "votes.csv"))


@pytest.mark.parametrize(
    ("ids", "known"),
    [
        (["cat.png", "dog.JPG"], ["dog", "cat", "fox"]),
        (["cat", "dog"], ["dog.jpeg", "cat.png", "fox.png"]),
        (["cat.png", "dog.png"], ["dog.jpg", "cat.jpg"]),
        (["pets/cat.png", "pets/dog.png"], ["dog", "cat"]),
        (["pets/cat.png", "pets/dog.png"], ["pets/dog", "pets/cat"]),
    ],
)
def test_images_are_joined_with_and_without_their_ending(ids, known):
    places, how = match_ids(ids, known, ("q.csv", "votes.csv"))
    assert places.tolist() == [1, 0]
    assert how.startswith(f", without the endings of images ('{ids[0]}' is '{known[1]}'")


def test_an_ending_is_no_reason_to_take_one_item_for_another():
    with pytest.raises(InputError, match="but two ids of a file would be the same"):
        match_ids(["cat.png", "cat.jpg"], ["cat", "dog"], ("q.csv", "votes.csv"))
    with pytest.raises(InputError, match="2 of 2 ids have none"):  # no images: what is after the dot is part of the name
        match_ids(["v1.2", "v1.3"], ["v1", "v2"], ("q.csv", "votes.csv"))
