"""Votes as annotation tools export them: read as they come, each told from the others; and what of them is refused."""

import json

import pytest

from hardlabels.errors import InputError
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import Options, read

# ---- Label Studio ----


def annotation(number, who, *results, **fields):
    """One annotation as Label Studio's JSON has it."""
    return {
        "id": number,
        "completed_by": who,
        "result": list(results),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2024-03-09T22:16:08.728353Z",
        "lead_time": 4.288,
        "task": 1,
        "parent_prediction": None,
    } | fields


def choice(*labels, control="mood", kind="choices", **value):
    return {
        "id": "Dx_aB91ISN",
        "from_name": control,
        "to_name": "text",
        "type": kind,
        "origin": "manual",
        "value": {kind: list(labels), **value},
    }


def task(number, *annotations, **data):
    return {
        "id": number,
        "annotations": list(annotations),
        "predictions": [{"id": 9, "model_version": "m", "result": [choice("angry")]}],
        "drafts": [],
        "data": {"text": f"text {number}", "image": f"/data/upload/3/ab12cd34-{number}.png"} | data,
        "meta": {},
        "inner_id": number,
        "total_annotations": len(annotations),
        "project": 83,
    }


TASKS = [
    task(12, annotation(1, 4, choice("happy")), annotation(2, 5, choice("sad")), annotation(3, 6, choice("happy"))),
    task(7, annotation(4, {"id": 4, "email": "a@b.c"}, choice("sad")), annotation(5, 5, was_cancelled=True)),
    task(9),
]


def test_label_studio_json(tmp_path):
    (tmp_path / "export.json").write_text(json.dumps(TASKS))
    named = read(tmp_path / "export.json")
    assert named.format == "label_studio"
    assert named.items == ["12", "7"], "a task without annotations has no votes"
    assert named.class_names == ("happy", "sad"), "what a model predicted is no vote"
    assert named.votes.counts.tolist() == [[2, 1], [0, 1]]
    assert named.annotator_names == ("4", "5", "6", "a@b.c")
    notes = "; ".join(named.notes)
    assert "answers to 'mood'" in notes
    assert "1 skipped annotations are no votes" in notes
    assert "1 tasks have no annotations" in notes
    by_image = read(tmp_path / "export.json", options=Options(task="image", clean=frozenset({"urls"})))
    assert by_image.items == ["ab12cd34-12.png", "ab12cd34-7.png"]


def test_label_studio_ratings_several_choices_and_questions(tmp_path):
    path = tmp_path / "export.json"
    star = {"from_name": "stars", "type": "rating", "to_name": "text", "value": {"rating": 4}}
    path.write_text(
        json.dumps([task(1, annotation(1, 4, choice("happy", "calm"), star, choice("x", control="why", kind="textarea")))])
    )
    with pytest.raises(InputError, match=r"expected one control for the votes; 'mood', 'stars'\? --label mood says which"):
        read(path)
    moods, stars = (read(path, options=Options(label=control)) for control in ("mood", "stars"))
    assert moods.several
    assert moods.votes.counts.tolist() == [[1, 1]]
    assert (stars.class_names, stars.several) == (("4",), False)


def test_label_studio_json_min(tmp_path):
    path = tmp_path / "min.json"
    entry = {"image": "/data/upload/1/a.png", "created_at": "2024-01-01", "updated_at": "2024-01-01", "lead_time": 2.5}
    rows = [("1", 7, "cat"), ("1", 8, {"choices": ["cat", "dog"]}), ("2", 7, "dog")]
    path.write_text(
        json.dumps([entry | {"id": i, "annotator": who, "annotation_id": 5, "choice": what} for i, who, what in rows])
    )
    named = read(path)
    assert (named.format, named.items, named.annotator_names) == ("label_studio", ["1", "2"], ("7", "8"))
    assert named.votes.counts.tolist() == [[2, 1], [0, 1]]
    assert "recognised as an export of Label Studio" in named.notes[0]


# ---- Prodigy ----

OPTIONS = [{"id": "POS", "text": "positive"}, {"id": "NEU", "text": "neutral"}, {"id": "NEG", "text": "negative"}]


def chosen(item, who, *accept, answer="accept", **fields):
    """One line of ``prodigy db-out`` of a recipe with the interface choice."""
    return {
        "text": f"text {item}",
        "meta": {"source": "forum", "doc": f"doc-{item}"},
        "_input_hash": item,
        "_task_hash": -item,
        "_is_binary": False,
        "options": OPTIONS,
        "_view_id": "choice",
        "accept": list(accept),
        "config": {"choice_style": "single"},
        "answer": answer,
        "_timestamp": 1714567890,
        "_annotator_id": f"reviews-{who}",
        "_session_id": f"reviews-{who}",
    } | fields


def write_lines(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_prodigy_choices(tmp_path):
    lines = [
        chosen(-101, "ann", "POS"),
        chosen(202, "ann", "NEG"),
        chosen(-101, "bob", "NEG"),
        chosen(202, "bob", answer="ignore"),
    ]
    named = read(write_lines(tmp_path / "db.jsonl", *lines, chosen(202, "eve", "POS", answer="reject")))
    assert named.format == "prodigy"
    assert named.items == ["-101", "202"]
    assert named.class_names == ("POS", "NEU", "NEG"), "the options, in their order, chosen or not"
    assert named.votes.counts.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert named.annotator_names == ("reviews-ann", "reviews-bob")
    assert named.notes[1:] == ("1 ignored lines are no votes", "1 lines whose choice was rejected are no votes")
    by_doc = read(tmp_path / "db.jsonl", options=Options(task="doc"))
    assert by_doc.items == ["doc--101", "doc-202"]


def test_prodigy_questions(tmp_path):
    def line(item, who, answer, label="TOXIC"):
        return {"text": "t", "label": label, "_input_hash": item, "_task_hash": 1, "answer": answer, "_session_id": who}

    lines = [line(1, "a", "accept"), line(1, "b", "reject"), line(2, None, "reject"), line(2, "b", "ignore")]
    named = read(write_lines(tmp_path / "db.jsonl", *lines))
    assert named.class_names == ("not TOXIC", "TOXIC")
    assert named.votes.counts.tolist() == [[1, 1], [1, 0]]
    assert named.annotator_names is None, "a session without a name"
    several = write_lines(tmp_path / "s.jsonl", line(1, "a", "accept", "A"), line(1, "b", "accept", "B"))
    assert read(several).votes.counts.tolist() == [[1, 1]]
    write_lines(tmp_path / "s.jsonl", line(1, "a", "accept", "A"), line(1, "b", "reject", "B"))
    with pytest.raises(InputError, match=r"line 2: .*'B' is rejected, which is a vote for none of them"):
        read(tmp_path / "s.jsonl")


# ---- MTurk ----

BATCH = '"HITId","HITTypeId","Title","Reward","AssignmentId","WorkerId","AssignmentStatus","WorkTimeInSeconds","Input.image_url",'


def batch(path, answers, *rows):
    lines = [BATCH + ",".join(f'"{name}"' for name in answers)]
    for worker, status, url, *cells in rows:
        escaped = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        lines.append(f'"3X","3T","Label, please","$0.05","3A","{worker}","{status}","12","{url}",{escaped}')
    path.write_text("\n".join(lines) + "\n")
    return path


URL = "https://bucket.s3.amazonaws.com/img/{}.jpg"


def test_mturk_with_a_column_of_true_and_false_per_class(tmp_path):
    rows = [
        ("W1", "Approved", URL.format(1), "true", "false"),
        ("W2", "Submitted", URL.format(1), "false", "true"),
        ("W1", "Rejected", URL.format(2), "false", "true"),
        ("W3", "Approved", URL.format(2), "true", "false"),
    ]
    path = batch(tmp_path / "Batch_1_batch_results.csv", ["Answer.animal.cat", "Answer.animal.dog"], *rows)
    named = read(path)
    assert named.format == "mturk"
    assert named.items == [URL.format(1), URL.format(2)]
    assert named.class_names == ("cat", "dog")
    assert named.votes.counts.tolist() == [[1, 1], [1, 1]]
    assert "(--clean rejected leaves them out)" in named.notes[0]
    clean = read(path, options=Options(clean=frozenset({"rejected", "urls"})))
    assert clean.items == ["1.jpg", "2.jpg"]
    assert clean.votes.counts.tolist() == [[1, 1], [1, 0]]
    assert clean.cleaned == {"rejected": 1, "urls": 2}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ('[{"category":{"label":"cat"}}]', '[{"category":{"label":"dog"}}]'),
        ('[{"animal":{"cat":true,"dog":false}}]', '[{"animal":{"cat":false,"dog":true}}]'),
        ('[{"animal":"cat"}]', '{"animal":"dog"}'),
    ],
)
def test_mturk_with_answers_as_json(tmp_path, one, two):
    path = batch(tmp_path / "b.csv", ["Answer.taskAnswers"], ("W1", "Approved", "u1", one), ("W2", "Approved", "u1", two))
    named = read(path)
    assert (named.format, named.items, named.class_names) == ("mturk", ["u1"], ("cat", "dog"))
    assert named.votes.counts.tolist() == [[1, 1]]


def test_mturk_asks_which_question(tmp_path):
    answers = '[{"animal":"cat","colour":"red"}]'
    path = batch(tmp_path / "b.csv", ["Answer.taskAnswers"], ("W1", "Approved", "u1", answers))
    with pytest.raises(InputError, match=r"'animal', 'colour'\? --label animal says which"):
        read(path)
    assert read(path, options=Options(label="colour")).class_names == ("red",)


# ---- Toloka ----

TOLOKA = ["INPUT:image", "OUTPUT:result", "GOLDEN:result", "HINT:text", "ASSIGNMENT:link", "ASSIGNMENT:assignment_id"]
TOLOKA += ["ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:started"]


def test_toloka_has_tabs_and_blank_lines_between_suites(tmp_path):
    path = tmp_path / "assignments_from_pool_1.tsv"
    rows = [("a.png", "cat", "w1", "APPROVED"), ("b.png", "dog", "w1", "APPROVED"), ("a.png", "dog, big", "w2", "REJECTED")]
    lines = [[image, label, "", "", "http://x", "0001", who, status, "2024-01-01"] for image, label, who, status in rows]
    path.write_text("\n\n".join(["\t".join(TOLOKA), *map("\t".join, lines)]) + "\n")
    named = read(path)
    assert named.format == "long"
    assert "an export of Toloka" in named.notes[0]
    assert (named.items, named.class_names) == (["a.png", "b.png"], ("cat", "dog", "dog, big"))
    clean = read(path, options=Options(clean=frozenset({"rejected"})))
    assert clean.class_names == ("cat", "dog")
    assert clean.cleaned == {"rejected": 1}
    path.rename(tmp_path / "votes.csv")
    with pytest.raises(InputError, match=r"Call it \.tsv"):
        read(tmp_path / "votes.csv")


# ---- Argilla ----


def record(name, *responses, question="mood", **others):
    """One row as Argilla's ``records.to_datasets()`` has it; a question that nobody answered has no value there."""
    columns = {f"{question}.responses{end}": None for end in ("", ".users", ".status")}
    if responses:
        columns = dict(zip(columns, map(list, zip(*responses, strict=True)), strict=True))
    return {"id": name, "status": "completed", "text": f"text {name}", **columns, f"{question}.suggestion": "calm", **others}


RECORDS = [
    record("r2", ("good", "u1", "submitted"), ("bad", "u2", "discarded"), ("good", "u3", "submitted")),
    record("r1", ("bad", "u2", "submitted"), ("good", "u1", "draft")),
    record("r3"),
    record("r4", (None, "u1", "discarded")),
]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("label", [None, "mood", "mood.responses"])
def test_argilla_counts_what_was_submitted(tmp_path, ending, label):
    """Once the user had named the columns, drafts and discarded responses were votes like others."""
    path = tmp_path / f"records.{ending}"
    if ending == "jsonl":
        path.write_text("\n".join(map(json.dumps, RECORDS)))
    else:
        pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(RECORDS), path)
    named = read(path, options=Options(label=label))
    assert (named.items, named.class_names, named.annotator_names) == (["r2", "r1"], ("bad", "good"), ("u1", "u3", "u2"))
    assert named.votes.counts.tolist() == [[0, 2], [1, 0]]
    assert "an export of Argilla: answers to 'mood'" in named.notes[0]
    assert named.notes[1:] == (
        "3 responses are drafts or were discarded and are no votes",
        "2 records have no response that was submitted and are left out",
    )


def test_argilla_with_several_labels_and_several_questions(tmp_path):
    path = tmp_path / "records.jsonl"
    rows = [record(f"r{i}", (["good", "calm"], "u1", "submitted"), (["bad"], "u2", "submitted")) for i in range(2)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert read(path).votes.counts.tolist() == [[1, 1, 1], [1, 1, 1]]
    rows = [row | record(row["id"], (3, "u1", "submitted"), question="stars") for row in rows]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"one question of Argilla .*'mood', 'stars'\? --label mood says which"):
        read(path)
    assert read(path, options=Options(label="stars")).votes.counts.tolist() == [[1], [1]]
    path.write_text("\n".join(json.dumps(row | {"mine": ["x", "y"]}) for row in rows))
    assert read(path, options=Options(label="mine")).class_names == ("x", "y"), "another column, which the user names"


# ---- what is refused ----

WRONG = {
    "argilla: a status short": (
        "v.jsonl",
        json.dumps(record("r1", ("good", "u1", "submitted")) | {"mood.responses.status": []}),
        [],
        ["line 1", "as many responses as users and statuses", "1, 1 and 0"],
    ),
    "label studio: no tasks": ("v.json", "[]", [], ["found none of them"]),
    "label studio: no answers of a kind": (
        "v.json",
        json.dumps([task(1, annotation(1, 4, choice("box", kind="rectanglelabels")))]),
        [],
        ["choices, rating"],
    ),
    "label studio: an answer about a part": (
        "v.json",
        json.dumps([task(1, annotation(1, 4, choice("a", x=1, y=2)))]),
        [],
        ["whole item", "'mood'"],
    ),
    "label studio: nothing chosen": (
        "v.json",
        json.dumps([*TASKS, task(3, annotation(8, 4))]),
        [],
        ["task 3, annotation 8", "--clean empty"],
    ),
    "label studio: no such control": ("v.json", json.dumps(TASKS), ["--label", "size"], ["'size'", "found 'mood'"]),
    "label studio: no such field": ("v.json", json.dumps(TASKS), ["--task", "url"], ["task 0", "'url'", "'text', 'image'"]),
    "label studio: a task twice": ("v.json", json.dumps([TASKS[0], TASKS[0]]), [], ["every item once", "'12'"]),
    "label studio: annotations of another kind": ("v.json", json.dumps([TASKS[0], task(2) | {"annotations": 3}]), [], ["task 1"]),
    "label studio: a result of another kind": (
        "v.json",
        json.dumps([task(1, annotation(1, 4) | {"result": {"a": 1}})]),
        [],
        ["task 0", "'result'"],
    ),
    "label studio: no object": ("v.json", json.dumps([TASKS[0], 5]), [], ["task 1", "an object"]),
    "label studio: min without an answer": (
        "v.json",
        json.dumps([{"id": 1, "annotator": 2, "annotation_id": 3, "text": "x"}]),
        [],
        ["a column of votes", "--label"],
    ),
    "prodigy: another answer": (
        "v.jsonl",
        json.dumps(chosen(1, "a", "POS", answer="yes")),
        [],
        ["line 1", "accept, reject, ignore"],
    ),
    "prodigy: nothing chosen": ("v.jsonl", json.dumps(chosen(1, "a")), [], ["line 1", "--clean empty"]),
    "prodigy: choices of another kind": (
        "v.jsonl",
        json.dumps(chosen(1, "a") | {"accept": "POS"}),
        [],
        ["as a list in 'accept'"],
    ),
    "prodigy: options of another kind": ("v.jsonl", json.dumps(chosen(1, "a", "POS", options=["POS"])), [], ["'options'"]),
    "prodigy: no such field": ("v.jsonl", json.dumps(chosen(1, "a", "POS")), ["--task", "url"], ["'url' (--task)", "'text'"]),
    "prodigy: only ignored": ("v.jsonl", json.dumps(chosen(1, "a", answer="ignore")), [], ["at least one vote"]),
    "prodigy: two interfaces": (
        "v.jsonl",
        json.dumps(chosen(1, "a", "POS")) + "\n" + json.dumps({"_input_hash": 1, "label": "A", "answer": "accept"}),
        [],
        ["found both"],
    ),
    "prodigy: an empty file by force": ("v.jsonl", "", ["--format", "prodigy"], ["an empty file"]),
    "tsv: another number of cells": ("v.tsv", "task\tworker\tlabel\na\tw\n", [], ["3 cells per line", "line 2 has 2"]),
    "tsv: commas": ("v.tsv", "task,worker,label\na,w,x\n", [], ["separated by tabs", "Call it .csv"]),
    "mturk: broken JSON": (
        "v.csv",
        BATCH + '"Answer.taskAnswers"\n"h","t","T","r","a","W","Approved","1","u","[{"\n',
        [],
        ["answer 1", "expected JSON"],
    ),
    "mturk: answers of another kind": (
        "v.csv",
        BATCH + '"Answer.taskAnswers"\n"h","t","T","r","a","W","Approved","1","u","[1]"\n',
        [],
        ["answer 1", "as a JSON object"],
    ),
    "mturk: nothing marked": (
        "v.csv",
        BATCH + '"Answer.a.x","Answer.a.y"\n"h","t","T","r","a","W","Approved","1","u","false","false"\n',
        [],
        ["answer 1", "--clean empty"],
    ),
    "mturk: two inputs": (
        "v.csv",
        '"WorkerId","Input.a","Input.b","Answer.a.x","Answer.a.y"\n"W","1","2","true","false"\n',
        [],
        ["'Input.a' or 'Input.b'?"],
    ),
    "label studio: several labels in a cell": (
        "v.csv",
        'annotation_id,annotator,choice,id\n1,4,"{""choices"": [""a"", ""b""]}",7\n',
        [],
        ["one label a vote", "line 2", "as JSON is read"],
    ),
    "clean: an unknown choice": (
        "v.csv",
        "task,worker,label\na,w,x\n",
        ["--clean", "dust"],
        ["--clean", "empty, rejected", "'dust'"],
    ),
    "clean: rejected without a status": ("v.csv", "task,worker,label\na,w,x\n", ["--clean", "rejected"], ["MTurk or Toloka"]),
    "clean: duplicates of nobody": ("v.csv", "task,label\na,x\na,x\n", ["--clean", "duplicates"], ["needs to know who voted"]),
    "clean: counts": ("v.csv", "1,2\n3,4\n", ["--clean", "empty"], ["needs single votes", "Only ids"]),
    "clean: two files of one name": (
        "v.csv",
        "task,worker,label\nx/1.png,w,a\ny/1.png,w,b\n",
        ["--clean", "urls"],
        ["'x/1.png' and 'y/1.png'"],
    ),
    "clean: nothing left": ("v.csv", "task,worker,label\na,w,\nb,w,NaN\n", ["--clean", "empty"], ["leaves none"]),
    "empty: its way out is named": ("v.csv", "task,worker,label\na,w,\n", [], ["line 2 has none", "--clean empty"]),
    "variants: their way out is named": ("v.csv", "task,worker,label\na,w,Cat\na,v,cat\n", [], ["--clean variants"]),
    "variants: of a named class": (
        "v.csv",
        "task,worker,label\na,w,Cat\n",
        ["--classes", "cat,dog"],
        ["line 2 has 'Cat'", "--clean variants"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_export_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys):
    name, content, arguments, parts = WRONG[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(SystemExit) as stop:
        main([name, *arguments, "--to", "long", "out.csv"])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert not out.strip()
    assert len(err.strip().splitlines()) == 1, err
    assert len(err) < 2000
    assert all(part in err for part in parts), f"expected {parts}, got: {err}"
    assert [path.name for path in tmp_path.iterdir()] == [name], "something was written"
