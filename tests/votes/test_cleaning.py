"""Dirty votes by choice: what each choice does, that nothing happens unasked, that it is counted and said."""

import json

import numpy as np
import pytest
from PIL import Image

from hardlabels.errors import InputError
from hardlabels.score import main as score
from hardlabels.sources.files import files
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import Options, read
from hardlabels.votes.formats.cleaning import CHOICES, last_part

DIRTY = """task,worker,label
https://host/img/1.png?v=2,ann,Cat
https://host/img/1.png?v=2,ann,Cat
https://host/img/1.png?v=2,bob,cat
https://host/img/1.png?v=2,eve,
https://host/img/2.png,ann, cat
https://host/img/2.png,bob,dog
https://host/img/2.png,bob,cat
https://host/img/3.png,eve,NaN
"""


@pytest.fixture
def dirty(tmp_path):
    (tmp_path / "votes.csv").write_text(DIRTY)
    return tmp_path / "votes.csv"


def cleaned(path, *choices, **options):
    return read(path, options=Options(clean=frozenset(choices), **options))


def test_all_at_once(dirty):
    named = cleaned(dirty, "empty", "duplicates", "variants", "urls")
    assert named.items == ["1.png", "2.png"], "an item without any label left is gone"
    assert named.class_names == ("cat", "dog"), "the spelling with the most votes"
    assert named.votes.counts.tolist() == [[2, 0], [2, 1]]
    assert named.annotator_names == ("ann", "bob")
    assert named.cleaned == {"empty": 2, "duplicates": 1, "variants": 2, "urls": 2}
    assert list(named.cleaned) == [name for name in CHOICES if name in named.cleaned]


def test_a_spelling_is_chosen_by_its_votes_or_by_the_user(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,1,not sure\na,2,Not_Sure\na,3,Not_Sure\nb,1,yes\n")
    assert cleaned(path, "variants").class_names == ("Not_Sure", "yes")
    by_user = cleaned(path, "variants", classes=("no", "yes", "NOT SURE"))
    assert by_user.class_names == ("no", "yes", "NOT SURE")
    assert by_user.votes.counts.tolist() == [[0, 0, 3], [0, 1, 0]]
    assert by_user.cleaned == {"variants": 3}
    with pytest.raises(InputError, match="expected one of the classes no, yes"):
        cleaned(path, "variants", classes=("no", "yes"))


def test_a_second_opinion_is_no_duplicate(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,w,x\na,w,y\na,w,x\nb,w,x\na,v,x\n")
    named = cleaned(path, "duplicates")
    assert named.votes.counts.tolist() == [[2, 1], [1, 0]]
    assert named.cleaned == {"duplicates": 1}


def test_clean_votes_stay_as_they_are_and_it_is_said(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\n10,w,x\n9,v,y\n")
    plain, asked = read(path), cleaned(path, "empty", "duplicates", "variants", "urls")
    assert plain.cleaned == {}
    assert asked.cleaned == dict.fromkeys(("empty", "duplicates", "variants", "urls"), 0)
    assert (asked.items, asked.class_names, asked.annotator_names) == (plain.items, plain.class_names, plain.annotator_names)
    assert np.array_equal(asked.votes.labels, plain.votes.labels)
    assert np.array_equal(asked.votes.annotators, plain.votes.annotators)


def test_empty_votes_of_other_formats(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"a": {"w": "x", "v": None}, "b": {"w": ""}}))
    named = cleaned(tmp_path / "a.json", "empty")
    assert (named.items, named.votes.counts.tolist(), named.cleaned) == (["a"], [[1]], {"empty": 2})
    (tmp_path / "w.csv").write_text("task/worker,A,B\na,x,\nb,,\nc,y,x\n")
    named = cleaned(tmp_path / "w.csv", "empty")
    assert (named.items, named.votes.counts.tolist(), named.cleaned) == (["a", "c"], [[1, 0], [1, 1]], {"empty": 1})
    (tmp_path / "l.jsonl").write_text('{"id": "a", "labels": ["x"]}\n{"id": "b", "labels": []}\n{"id": "c"}\n')
    named = cleaned(tmp_path / "l.jsonl", "empty")
    assert (named.items, named.votes.counts.tolist(), named.cleaned) == (["a"], [[1]], {"empty": 2})


def test_the_summary_says_what_was_done(dirty, capsys):
    main([str(dirty), "--clean", "empty,duplicates,variants,urls", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["cleaned"] == {"empty": 2, "duplicates": 1, "variants": 2, "urls": 2}
    main([str(dirty), "--clean", "empty, variants"])
    out = " ".join(capsys.readouterr().out.split())
    assert "cleaned of empty" in out
    assert "2 (votes without a label are skipped)" in out


def test_score_takes_the_same_words(dirty, tmp_path, capsys):
    (tmp_path / "q.csv").write_text("id,cat,dog\n2.png,0.7,0.3\n1.png,0.9,0.1\n")
    arguments = [str(tmp_path / "q.csv"), str(dirty), "--json", "--resamples", "2"]
    score([*arguments, "--clean", "empty,duplicates,variants,urls"])
    report = json.loads(capsys.readouterr().out)
    assert report["predictions"][0]["items_matched_by"] == "id"
    assert any("cleaned of duplicates: 1" in note for note in report["votes_notes"])
    with pytest.raises(SystemExit):
        score([*arguments, "--clean", "empty,variants"])
    assert "--clean urls" in capsys.readouterr().err


def test_predictions_of_items_that_cleaning_left_out(dirty, tmp_path, capsys):
    (tmp_path / "q.csv").write_text("id,cat,dog\n3.png,0.5,0.5\n2.png,0.7,0.3\n1.png,0.9,0.1\n")
    arguments = [str(tmp_path / "q.csv"), str(dirty), "--json", "--resamples", "2", "--clean", "empty,variants,urls"]
    with pytest.raises(SystemExit):
        score(arguments)
    assert "1 of 3 ids have none: '3.png'. --extra ignore leaves items without votes out" in capsys.readouterr().err
    score([*arguments, "--extra", "ignore"])
    report = json.loads(capsys.readouterr().out)
    assert report["items"] == 2
    assert any("q.csv: 1 items without votes are left out" in note for note in report["votes_notes"])
    (tmp_path / "q.csv").write_text("id,cat,dog\n8.png,0.5,0.5\n9.png,0.7,0.3\n")
    with pytest.raises(SystemExit):
        score([*arguments, "--extra", "ignore"])
    assert "none is among its ids" in capsys.readouterr().err


def test_training_takes_the_same_words_and_votes_without_items(dirty, tmp_path, capsys):
    (tmp_path / "features.csv").write_text("id,a,b\n1.png,0.5,1\n7.png,1,0\n")
    with pytest.raises(InputError) as error:
        files(dirty, tmp_path / "features.csv", clean=["empty", "variants"])
    assert "data.clean=urls takes the last part of an id; data.missing=ignore leaves their votes out" in str(error.value)
    with pytest.raises(InputError, match=r"line 5 has none.*data\.clean=empty"):
        files(dirty, tmp_path / "features.csv")
    choices = ["empty", "duplicates", "variants", "urls"]
    source = files(dirty, tmp_path / "features.csv", clean=choices, missing="ignore", extra="ignore", classes=["cat", "dog"])
    assert source.votes.counts.tolist() == [[2, 0]]
    assert source.inputs.tolist() == [[0.5, 1.0]]
    said = " ".join(capsys.readouterr().out.split())
    assert "cleaned of empty: 2" in said
    assert "1 of 2 items are not in" in said
    with pytest.raises(InputError, match=r"data\.missing must be error or ignore, got 'drop'"):
        files(dirty, tmp_path / "features.csv", missing="drop")
    with pytest.raises(InputError, match=r"data\.clean: expected some of empty, .*; got 'dust'"):
        files(dirty, tmp_path / "features.csv", clean="dust")
    (tmp_path / "features.csv").write_text("id,a\n8.png,1\n9.png,1\n")
    with pytest.raises(InputError, match="none is there"):
        files(dirty, tmp_path / "features.csv", clean=choices, missing="ignore", extra="ignore")


@pytest.fixture
def photos(tmp_path):
    """cat.png and dog.png, which were uploaded to Label Studio and annotated there, and shown by Prodigy."""
    (tmp_path / "photos").mkdir()
    for name, colour in (("cat", "red"), ("dog", "blue")):
        Image.new("RGB", (9, 12), colour).save(tmp_path / f"photos/{name}.png")
    result = {"from_name": "animal", "type": "choices", "value": {"choices": ["wild"]}}
    other = result | {"value": {"choices": ["tame"]}}
    tasks = [
        {"id": 71 + i, "data": {"photo": f"/data/upload/3/ab12cd3{i}-{name}.png"}, "annotations": [{"id": i, "result": [found]}]}
        for i, (name, found) in enumerate([("cat", result), ("dog", other)])
    ]
    (tmp_path / "project.json").write_text(json.dumps(tasks))
    lines = [
        {"image": "data:...", "meta": {"file": f"{name}.png"}, "_input_hash": i, "accept": [label], "answer": "accept"}
        for i, (name, label) in enumerate([("cat", "wild"), ("dog", "tame")])
    ]
    (tmp_path / "db.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_ids_that_a_tool_made_up_lead_to_the_users_own_step_by_step(photos):
    export, folder = photos / "project.json", photos / "photos"
    with pytest.raises(InputError, match=r"these ids are the tool's own, and data\.task=photo takes yours"):
        files(export, folder)
    with pytest.raises(InputError, match=r"data\.clean=uploads takes the name before the upload of an id"):
        files(export, folder, task="photo")
    source = files(export, folder, task="photo", clean="uploads")
    assert source.ids == ("cat.png", "dog.png")
    assert source.votes.counts.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match=r"data\.task=file or data\.task=image takes yours"):
        files(photos / "db.jsonl", folder)
    assert files(photos / "db.jsonl", folder, task="file").ids == ("cat.png", "dog.png")


def test_uploads_of_one_name_are_refused(photos):
    tasks = json.loads((photos / "project.json").read_text())
    tasks[1]["data"]["photo"] = "/data/upload/3/ff12cd34-cat.png"
    (photos / "project.json").write_text(json.dumps(tasks))
    with pytest.raises(InputError, match="expected ids that differ in their last part, to clean them of uploads"):
        files(photos / "project.json", photos / "photos", task="photo", clean="uploads")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("s3://bucket/a/b c.png", "b c.png"),
        ("gs://bucket/x.png", "x.png"),
        ("https://host/x%20y.png#top", "x y.png"),
        ("https://host/folder/", "folder"),
        ("https://host", "https://host"),
        ("/data/upload/1/3f-cat.png", "3f-cat.png"),
        ("/data/local-files/?d=a/b/cat.png", "cat.png"),
        ("folder/cat.png", "cat.png"),
        ("C:\\photos\\cat.png", "cat.png"),
        ("cat.png", "cat.png"),
        ("7", "7"),
        ("/", "/"),
        ("http://[broken/x.png", "http://[broken/x.png"),
    ],
)
def test_the_last_part_of_an_id(name, part):
    assert last_part(name) == part
