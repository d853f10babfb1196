"""Columns of long tables that other people named: which are recognised, and what is said where they are not."""

import re
import shlex

import pytest

from hardlabels.errors import InputError
from hardlabels.votes.__main__ import main
from hardlabels.votes.formats import Options, read
from hardlabels.votes.formats.columns import find_columns

# platform: (columns as its export has them, the three that hold item, annotator and vote)
EXPORTS = {
    "MTurk": (
        "HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments,AssignmentId,WorkerId,AssignmentStatus,"
        "AcceptTime,WorkTimeInSeconds,Input.image_url,Answer.label,Approve,Reject",
        ("Input.image_url", "WorkerId", "Answer.label"),
    ),
    "MTurk without an input": ("HITId,AssignmentId,WorkerId,Answer.label", ("HITId", "WorkerId", "Answer.label")),
    "Toloka": (
        "INPUT:image,OUTPUT:result,GOLDEN:result,HINT:text,ASSIGNMENT:link,ASSIGNMENT:assignment_id,ASSIGNMENT:worker_id,"
        "ASSIGNMENT:status,ASSIGNMENT:started",
        ("INPUT:image", "ASSIGNMENT:worker_id", "OUTPUT:result"),
    ),
    "Label Studio": (
        "annotation_id,annotator,choice,created_at,id,image,lead_time,updated_at",
        ("id", "annotator", "choice"),
    ),
    "Prodigy": ("text,_input_hash,_task_hash,accept,_session_id,_annotator_id", ("_input_hash", "_annotator_id", "accept")),
    "Appen": (
        "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,category,url",
        ("_unit_id", "_worker_id", "category"),
    ),
    "Scale": ("task_id,worker_id,response,created_at", ("task_id", "worker_id", "response")),
    "a script": ("doc_id,annotator,judgement", ("doc_id", "annotator", "judgement")),
    "a spreadsheet": ("Item ID,Rater,Answer", ("Item ID", "Rater", "Answer")),
    "POPQUORN": ("instance_id,user_id,text,offensiveness", ("instance_id", "user_id", "offensiveness")),
}


def table(path, header, **cells):
    """Two items with two votes each; every other column has the same word on all lines."""
    names = header.split(",")
    rows = [("x", "w1", "cat"), ("x", "w2", "dog"), ("y", "w1", "dog"), ("y", "w2", "dog")]
    roles = cells["roles"]
    lines = [",".join(dict(zip(roles, row, strict=True)).get(name, "same") for name in names) for row in rows]
    path.write_text("\n".join([header, *lines]))
    return path


@pytest.mark.parametrize("case", EXPORTS)
def test_the_columns_of_common_exports_are_recognised_and_it_is_said(case, tmp_path, capsys):
    header, roles = EXPORTS[case]
    named = read(table(tmp_path / "votes.csv", header, roles=roles))
    assert named.format == "long"
    assert (named.items, named.class_names, named.annotator_names) == (["x", "y"], ("cat", "dog"), ("w1", "w2"))
    assert named.votes.counts.tolist() == [[1, 1], [0, 2]]
    main([str(tmp_path / "votes.csv")])
    said = " ".join(capsys.readouterr().out.split())
    assert all(f"column {name!r}" in said for name in roles)
    assert f"recognised as an export of {case.split()[0]}" in said or "recognised by common names" in said
    assert ("rejected answers count as well" in said) == ("tatus" in header)


def test_crowd_kits_own_names_and_named_columns_need_no_remark(tmp_path):
    note = read(table(tmp_path / "a.csv", "task,worker,label", roles=("task", "worker", "label"))).notes[0]
    assert note == "task = column 'task', worker = column 'worker', label = column 'label'"
    options = Options(task="Input.a", worker="WorkerId", label="Answer.b")
    columns = find_columns(["Input.a", "Input.b", "WorkerId", "Answer.a", "Answer.b"], options, tmp_path / "b.csv")
    plain = "task = column 'Input.a', worker = column 'WorkerId', label = column 'Answer.b'"
    assert columns.note == f"{plain}; not used: Input.b, Answer.a"


# name: (header, what the message must say, the columns that the proposed command has)
UNCLEAR = {
    "names of their own": ("clip,ear,sound", ["'clip', 'ear', 'sound'"], "--task COLUMN --worker COLUMN --label COLUMN"),
    "no votes": ("doc_id,annotator,verdict", ["a column of votes"], "--task doc_id --worker annotator --label COLUMN"),
    "two items": ("doc_id,text_id,annotator,label", ["'doc_id' or 'text_id'?"], "--task doc_id --worker annotator --label label"),
    "two answers": ("Input.url,WorkerId,Answer.a,Answer.b", ["'Answer.a' or 'Answer.b'?"], "--task Input.url --worker WorkerId"),
    "two inputs": ("Input.url,Input.id,WorkerId,Answer.a", ["'Input.url' or 'Input.id'?"], "--worker WorkerId --label Answer.a"),
    "two annotators": ("item,rater,user,label", ["'rater' or 'user'?"], "--task item --worker rater --label label"),
    "Prodigy's accept or reject": (
        "_input_hash,_annotator_id,label,answer",
        ["'label' or 'answer'?"],
        "--task _input_hash --worker _annotator_id --label label",
    ),
    "spaces": ("clip no,ear,my answer,x", ["'clip no'"], "--task COLUMN"),
}


def refused(capsys, arguments):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    out, err = capsys.readouterr()
    assert not out
    assert len(err.strip().splitlines()) == 1
    return err


@pytest.mark.parametrize("case", UNCLEAR)
def test_unclear_columns_are_listed_with_the_command_that_names_them(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    header, parts, options = UNCLEAR[case]
    names = header.split(",")
    path = table(tmp_path / "my votes.csv", header, roles=(names[0], names[1], names[-1]))
    message = refused(capsys, [path.name])
    assert all(part in message for part in [*parts, *map(repr, names), "python -m hardlabels.votes 'my votes.csv'", options]), (
        message
    )
    # The command that it proposes is one: with the right columns in it, it works.
    command = shlex.split(re.search(r"python -m hardlabels\.votes ('my votes\.csv' .*?)(?:\. One column| *\n|$)", message)[1])
    words = iter([names[0], names[1], names[-1]])
    given = [command[0]]
    for option in ("--task", "--worker", "--label"):
        assert option in command
        given += [option, next(words)]
    main([*given, "--json"])
    assert '"long"' in capsys.readouterr().out


def test_a_proposed_command_can_be_pasted_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "v.csv", "my item,rater id,my vote,user", roles=("my item", "rater id", "my vote"))
    message = refused(capsys, ["v.csv", "--task", "my item", "--label", "my vote"])
    assert "'rater id' or 'user'?" in message
    main(shlex.split(message.split("hardlabels.votes ")[1]))
    assert "worker = column 'rater id'" in capsys.readouterr().out


def test_a_long_table_is_no_wide_table_because_it_has_only_words(tmp_path):
    """Three columns of words, none of which is in two of them: once three annotators who never agree, now a question."""
    (tmp_path / "v.csv").write_text("clip,ear,sound\na,E1,bark\na,E2,howl\nb,E1,bark\n")
    with pytest.raises(InputError, match=r"--task COLUMN .*--format wide"):
        read(tmp_path / "v.csv")
    assert read(tmp_path / "v.csv", "wide").votes.sizes.tolist() == [3, 3, 3]
    (tmp_path / "v.csv").write_text("Mia,Leo,Ida\ncat,dog,\n,dog,fox\n")
    with pytest.raises(InputError, match="--format wide"):
        read(tmp_path / "v.csv")
    (tmp_path / "v.csv").write_text("Mia,Leo,Ida\ncat,dog,\n,cat,fox\n")
    assert read(tmp_path / "v.csv").format == "wide"


@pytest.mark.parametrize("rows", [["7,0,1", "7,1,1", "8,0,0"], ["7,a,x", "7,b,y", "8,a,x"]], ids=["numbers", "words"])
def test_items_that_come_twice_may_be_lines_of_votes(tmp_path, rows):
    (tmp_path / "v.csv").write_text("\n".join(["doc_id,who,verdict", *rows]))
    with pytest.raises(
        InputError, match=r"every item once; line 3 .*one vote, .*'who', 'verdict'.*--task doc_id --worker COLUMN"
    ):
        read(tmp_path / "v.csv")


def test_training_words_its_own_settings(tmp_path):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from hardlabels.sources.files import files

    (tmp_path / "items").mkdir()
    path = tmp_path / "my votes.csv"
    table(path, "INPUT:a,INPUT:b (x),who,OUTPUT:r", roles=("INPUT:a", "who", "OUTPUT:r"))
    with pytest.raises(InputError) as error:
        files(str(path), tmp_path / "items", label="OUTPUT:r", worker="INPUT:b (x)")
    message = str(error.value)
    assert "--" not in message
    words = shlex.split(message.split("This names them: ")[1])
    assert words[:4] == ["python", "-m", "hardlabels.train", "data=files"]
    parsed = {one.key_or_group: one.value() for one in OverridesParser.create().parse_overrides(words[4:])}
    parsed = {key: str(value).strip('"') for key, value in parsed.items()}
    assert parsed["data.votes"] == str(path)
    assert (parsed["data.task"], parsed["data.worker"], parsed["data.label"]) == ("INPUT:a", "INPUT:b (x)", "OUTPUT:r")
    with pytest.raises(InputError, match=r"expected a column 'x' \(data\.label\); the columns are"):
        files(str(path), tmp_path / "items", label="x")


def test_json_lines_of_something_else_are_refused(tmp_path):
    (tmp_path / "v.jsonl").write_text('{"id": 1, "colour": "A"}\n')
    with pytest.raises(InputError, match=r"ChaosNLI.*the columns are 'id', 'colour'. This names them: .*--task id"):
        read(tmp_path / "v.jsonl")
    (tmp_path / "v.jsonl").write_text("[1, 2]\n")
    with pytest.raises(InputError, match="line 1 has no fields"):
        read(tmp_path / "v.jsonl")


@pytest.mark.parametrize("mark", ["\t", "|"])
def test_other_separators_are_named(tmp_path, mark):
    (tmp_path / "v.csv").write_text(f"task{mark}worker{mark}label\na{mark}w{mark}1\n")
    with pytest.raises(InputError, match=r"expected cells separated by commas; .* separates those of the first line"):
        read(tmp_path / "v.csv")
