"""A report as an artifact, read back from what W&B wrote offline."""

import base64
import hashlib
import json

import pytest

from hardlabels.errors import InputError
from hardlabels.reporting.artifact import log_report, report_files


@pytest.fixture
def report(tmp_path):
    """A folder as hardlabels.report leaves it, and things beside it that are none of W&B's business."""
    folder = tmp_path / "studies/main/report"
    files = {
        "index.html": "<p>page</p>",
        "verdicts.json": "[]",
        "table_2.md": "| a |",
        "table_2.csv": "a\n1\n",
        "figure_3.svg": "<svg/>",
        "cifar10h_pocket/figure_3.png": "picture",
    }
    for name, text in {**files, ".index.html.7.part": "half", "notes.bin": "x"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder, files


def test_the_artifact_has_every_file_of_the_report_with_its_content(report, written, capsys):
    folder, files = report
    place = log_report(folder, "main", project="hardlabels", mode="online")
    assert "no login found, so the report is written offline" in capsys.readouterr().out
    assert place.parent == folder.parent / "wandb"  # beside the report, not in it

    [run] = written(folder.parent)
    assert (run.run.run_id, run.run.job_type, run.run.run_group) == ("report-main", "report", "main")
    [artifact] = run.of("artifact")
    assert (artifact.name, artifact.type) == ("report-main", "report")
    assert json.loads(artifact.metadata) == {"study": "main", "files": len(files)}
    entries = {entry.path: entry for entry in artifact.manifest.contents}
    assert set(entries) == set(files)
    for name, text in files.items():
        assert entries[name].size == len(text)
        assert entries[name].digest == base64.b64encode(hashlib.md5(text.encode()).digest()).decode()


def test_a_folder_without_a_report_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no report: expected index.html"):
        report_files(tmp_path)


def test_a_failure_of_wandb_leaves_the_report(report, monkeypatch, capfd):
    import wandb

    def fail(*arguments, **settings):
        raise wandb.errors.CommError("nobody there")

    monkeypatch.setattr(wandb, "init", fail)
    folder, files = report
    assert log_report(folder, "main", project="hardlabels", mode="offline") is None
    assert "W&B failed, the report is not there (CommError: nobody there)" in capfd.readouterr().err
    assert {name: (folder / name).read_text() for name in files} == files
