"""The committed reports are what today's code makes of the committed records."""

import csv
import json
import os
import re
from pathlib import Path

import pytest

from hardlabels.configuration import compose_command
from hardlabels.report import report
from hardlabels.reporting.tables.target_intervals import NEEDS_DATA

ROOT = Path(__file__).parents[2]
REPORTS = {
    "pocket": "pocket",
    "quarter": "quarter",
    "images": "images",
    "image_pair": "image_pair",
    "image_change": "image_change",
    "text_finetune": "finetune",
}
"""Study to the folder of its records in ``results``."""

INTERVAL = re.compile(r"; votes [\d.−-]+ to [\d.−-]+")


def comparable(table: str) -> str:
    """A table; without its intervals over votes where there are no data to make them from."""
    if os.environ.get("HARDLABELS_DATA"):
        return table
    return INTERVAL.sub("", table.replace(f"- {NEEDS_DATA}\n", ""))


def in_words(verdict: dict) -> dict:
    """A verdict without its numbers for machines, whose last digits another processor may have otherwise."""
    words = ("verdict", "status", "sentence", "missing", "commands", "test", "direction", "margin")
    return {at: {name: verdict[at][name] for name in words} for at in ("best", "last")} | {"claim": verdict["claim"]}


def statuses(file: Path) -> list[dict[str, str]]:
    """What was decided of each primary outcome."""
    columns = ("quantity", "claim", "K", "method", "checkpoint", "n", "shown", "of_no_matter", "status")
    return [{name: row[name] for name in columns} for row in csv.DictReader(file.read_text().splitlines())]


@pytest.mark.parametrize("study", REPORTS)
def test_the_committed_report_is_what_the_code_makes_of_the_records(study, tmp_path, monkeypatch):
    """Made anew by ``python -m hardlabels.report study=NAME folder=results/NAME/report``."""
    monkeypatch.chdir(ROOT)
    words = [f"study={study}", "figures=[]", f"outputs={tmp_path}/outputs", f"folder={tmp_path}/report"]
    made = report(compose_command("report", [*words, "processes=1"], lists=("figures",)), words).parent
    committed = ROOT / "results" / REPORTS[study] / "report"
    tables = sorted(path.relative_to(committed) for path in committed.rglob("*.md"))
    assert tables == sorted(path.relative_to(made) for path in made.rglob("*.md"))
    other = [str(path) for path in tables if comparable((committed / path).read_text()) != comparable((made / path).read_text())]
    assert other == []
    for file in committed.rglob("primary.csv"):
        assert statuses(file) == statuses(made / file.relative_to(committed))
    if study in ("pocket", "quarter"):  # those of the others are not committed: results/.gitignore
        verdicts = [json.loads((folder / "verdicts.json").read_text()) for folder in (committed, made)]
        assert [in_words(one) for one in verdicts[0]] == [in_words(one) for one in verdicts[1]]
