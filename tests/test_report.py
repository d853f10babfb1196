"""The report's command: from run folders, or committed records, to a page; and what it says when there is little or nothing."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS
from hardlabels.report import main, report
from hardlabels.runs.cell import Cell
from hardlabels.sources import Source
from hardlabels.votes import Votes


@pytest.fixture
def compose_report(tmp_path, monkeypatch):
    """Compose conf/report.yaml for runs below the test's folder, where relative places are looked for too."""
    from hardlabels.configuration import compose_command

    monkeypatch.chdir(tmp_path)

    def make(*words: str):
        return compose_command("report", [f"outputs={tmp_path}/outputs", *words], lists=("places", "tables", "figures"))

    return make


def write_run(place: Path, cell: Cell, nll: float, **files: object) -> Path:
    """The files of a finished run that a report reads, but for predictions."""
    folder = place / cell.folder
    folder.mkdir(parents=True)
    metrics = dict.fromkeys(METRICS, 0.5) | {"soft_nll": nll, "kl_to_annotator": nll - 0.25}
    views = {"epoch": 3, "full": metrics, "non_unanimous": metrics, "high_disagreement": metrics}
    (folder / "result.json").write_text(json.dumps({"best": views, "last": views}))
    environment = {"code": "abc123", "python": "3.11.2", "device": "cpu", "platform": "Linux", "cpus": 2, "threads": 1}
    (folder / "environment.json").write_text(json.dumps([{**environment, "packages": {"torch": "2.15.0", "wandb": "absent"}}]))
    (folder / "fingerprint.json").write_text(json.dumps({"fingerprint": "f" * 64, "data": "d" * 64}))
    for name, text in files.items():
        (folder / name).write_text(str(text))
    (folder / "done").write_text("")
    return folder


def demo_runs(place: Path, seeds: int = 3) -> None:
    for method, nll in (("soft", 0.60), ("sls", 0.55), ("multipass", 0.54), ("majority", 0.80)):
        for k in (5, None):
            for seed in range(seeds):
                write_run(place, Cell("synthetic", "smoke", method, k, seed), nll + 0.01 * seed * (1 + nll))


def verdicts_of(page: Path, checkpoint: str = "best") -> dict[str, dict]:
    """Claim to what is said of it at a checkpoint."""
    return {verdict["claim"]: verdict[checkpoint] for verdict in json.loads((page.parent / "verdicts.json").read_text())}


def quarter_runs(place: Path, seeds: range) -> None:
    """The primary cells of the study quarter, whole seed by whole seed."""
    few, every = {"soft": 0.6543, "sls": 0.6321, "multipass": 0.6345}, {"soft": 0.6123, "sls": 0.6101, "multipass": 0.6111}
    levels = {(method, 5): nll for method, nll in few.items()} | {(method, None): nll for method, nll in every.items()}
    for (method, k), nll in (levels | {("majority", None): 0.8432}).items():
        for seed in seeds:
            write_run(place, Cell("cifar10h", "quarter", method, k, seed), nll + 0.0001 * (seed % 7) * (1 + nll))


def test_a_study_with_a_least_number_of_seeds_shows_no_number_before_them(compose_report, tmp_path, capsys):
    """Means in a table would be half an analysis: the seeds are counted, and nothing else is shown."""
    quarter_runs(tmp_path / "outputs", range(10, 17))
    page = report(compose_report("study=quarter", "places=[]"))
    sentence = "7 whole seeds; fewer than 8 are not analysed, as was written down beforehand."
    assert sentence in page.read_text()
    assert {path.name for path in page.parent.iterdir()} == {"index.html", "verdicts.json", "primary.md", "primary.csv"}
    shown = [capsys.readouterr().out, *(path.read_text() for path in page.parent.iterdir())]
    for nll in ("0.654", "0.655", "0.632", "0.634", "0.612", "0.843", "−0.022", "-0.022"):  # means, and a difference
        assert not any(nll in text for text in shown)

    quarter_runs(tmp_path / "outputs", range(17, 18))
    page = report(compose_report("study=quarter", "places=[]", "figures=[]"))
    assert (page.parent / "table_2.md").is_file()
    lines = (page.parent / "primary.md").read_text().splitlines()
    assert lines[2].startswith("8 whole seeds: 10, 11, 12, 13, 14, 15, 16, 17.")
    assert sum(line.startswith("| soft NLL |") for line in lines) == 8


def test_a_study_becomes_a_page_tables_and_verdicts(compose_report, tmp_path, capsys, monkeypatch):
    demo_runs(tmp_path / "outputs")
    monkeypatch.setenv("COLUMNS", "150")
    page = report(compose_report("study=demo", "figures=[1]", "tables=[1,2,5]"), ["study=demo", f"outputs={tmp_path}/outputs"])
    assert page == tmp_path / "outputs/studies/demo/report/index.html"
    out = capsys.readouterr().out
    assert "hard-beats-soft" in out
    assert "3 of at least 5" in out.replace("\n", "")  # no test of three seeds can show anything
    assert f"report: {page}" in out.replace("\n", "")
    text = page.read_text()
    for words in ("Demonstration on built-in data", "24 of 24 runs", "abc123", "dddddddddddddddd", "2.15.0", "0.2500 nat"):
        assert words in text
    assert "All 24 runs of the study are finished." in text
    assert "</b> Not decided: soft NLL. Not testable: " in text  # a match of several metrics begins with each of them
    assert "claims that were tested, 0 are shown to hold and 0 to fail at the selected epoch, 0 and 0 at the last epoch;" in out
    files = {path.name for path in page.parent.iterdir()}
    assert {"table_1.md", "table_1.csv", "table_1.tex", "figure_1.svg", "figure_1.png", "verdicts.json"} <= files
    found = verdicts_of(page)["hard-beats-soft"]
    assert (found["status"], found["n"], found["p"], found["needed"]) == (
        "inconclusive",
        3,
        0.125,
        5,
    )  # both are needed: 1 / 2^3 each
    assert found["sentence"].startswith("2 of 2 comparisons have the claimed sign, 2 with all seeds agreeing")
    assert {verdict["status"] for verdict in verdicts_of(page).values()} <= {
        "inconclusive",
        "not testable",
        "not run",
    }  # three seeds support nothing


def test_committed_records_are_enough(compose_report, tmp_path):
    demo_runs(tmp_path / "results/pocket")
    page = report(compose_report("study=demo", "figures=[]", "tables=[1]"))
    assert verdicts_of(page)["hard-beats-soft"]["n"] == 3
    again = page.read_text()
    shutil.copytree(tmp_path / "results/pocket/synthetic", tmp_path / "outputs/synthetic")
    assert (
        report(compose_report("study=demo", "figures=[]", "tables=[1]", "places=[]")).read_text().split("This report")[0]
        == again.split("This report")[0]
    )


def test_nothing_finished_is_refused_and_an_earlier_page_stays(compose_report, tmp_path):
    write_run(tmp_path / "outputs", Cell("synthetic", "smoke", "soft", 5, 0), 0.5)
    page = report(compose_report("study=demo", "figures=[]", "tables=[1]"))
    before = {path: path.read_bytes() for path in page.parent.iterdir()}
    folder = tmp_path / "outputs" / Cell("synthetic", "smoke", "soft", 5, 0).folder
    (folder / "done").unlink()
    (folder / "error.txt").write_text("RuntimeError: stopped\n")
    with pytest.raises(
        InputError, match=r"no finished run of study 'demo' in .*\n.*\nfirst: python -m hardlabels.train"
    ) as error:
        report(compose_report("study=demo", "figures=[]", "tables=[1]"))
    assert "seed=0: not finished: RuntimeError: stopped" in str(error.value)
    assert {path: path.read_bytes() for path in page.parent.iterdir()} == before


@pytest.mark.parametrize(
    "words", [["study=main"], ["study=main", "study.data=synthetic", "study.recipe=smoke"], ["study=quarter"]]
)
def test_runs_outside_of_the_study_are_named_with_a_command_that_reports_them(
    compose_report, tmp_path, monkeypatch, capsys, words
):
    """As after README's first commands: runs with K = 5, some with a setting of their own, where the study wants other ones."""
    for cell in (
        *(Cell("synthetic", "smoke", method, 5, seed) for method in ("soft", "sls") for seed in range(3)),
        Cell("synthetic", "smoke", "sls", 5, 1, (("hold", 5),)),
        Cell("synthetic", "smoke", "majority", None, 40),
    ):
        write_run(tmp_path / "outputs", cell, 0.5 + 0.01 * cell.seed)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        report(compose_report(*words))
    said = str(error.value)
    assert (
        "there are 8 finished runs of synthetic with recipe smoke: majority with all votes; sls, sls,hold=5, soft with K = 5"
        in said
    )
    assert not (tmp_path / "outputs/studies").exists()
    [line] = [line for line in said.splitlines() if "; for these: " in line]
    command = shlex.split(line.partition("; for these: ")[2])
    assert command[:3] == ["python", "-m", "hardlabels.report"]
    monkeypatch.setattr(sys, "argv", ["hardlabels.report", *command[3:], "figures=[]", "tables=[1]"])
    main()
    assert "synthetic, smoke: 8 of 8 runs" in capsys.readouterr().out


def test_finished_runs_beyond_the_first_groups_are_not_called_unfinished(compose_report, tmp_path):
    for tag in "abcde":
        write_run(tmp_path / "outputs", Cell("synthetic", "smoke", "soft", 5, 0, tag=tag), 0.5)
    stopped = write_run(tmp_path / "outputs", Cell("synthetic", "smoke", "soft", 5, 0, tag="f"), 0.5)
    (stopped / "done").unlink()
    with pytest.raises(InputError) as error:
        report(compose_report("study=demo"))
    *_, fifth, sixth, _ = str(error.value).splitlines()
    assert fifth == "there are finished runs of synthetic with recipe smoke,tag=e as well"
    assert sixth == "there are runs, unfinished or in an archive, of synthetic with recipe smoke,tag=f"


def test_what_is_unfinished_or_broken_is_listed_with_its_reason(compose_report, tmp_path):
    demo_runs(tmp_path / "outputs")
    broken = tmp_path / "outputs" / Cell("synthetic", "smoke", "sls", 5, 1).folder
    (broken / "result.json").write_text("{")
    stopped = tmp_path / "outputs" / Cell("synthetic", "smoke", "soft", 5, 2).folder
    (stopped / "done").unlink()
    (stopped / "error.txt").write_text("RuntimeError: <script>alert(1)</script>\n")
    shutil.rmtree(tmp_path / "outputs" / Cell("synthetic", "smoke", "majority", 5, 0).folder)
    page = report(compose_report("study=demo", "figures=[]", "tables=[1]"))
    text = page.read_text()
    assert "21 of 24 runs" in text
    assert "unreadable: JSONDecodeError" in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text
    assert "majority, K = 5: seed 0" in text
    found = verdicts_of(page)["hard-beats-soft"]
    assert (found["status"], found["n"]) == ("inconclusive", 1)
    assert found["commands"] == ["python -m hardlabels.reproduce study=demo"]
    assert "Incomplete" in found["sentence"]


def test_several_recipes_are_judged_apart(compose_report, tmp_path):
    for recipe in ("smoke", "pocket"):
        for method, nll in (("soft", 0.6), ("sls", 0.5 if recipe == "smoke" else 0.7)):
            for seed in range(5):
                write_run(tmp_path / "outputs", Cell("synthetic", recipe, method, None, seed), nll + 0.001 * seed * (1 + nll))
    grid = "study.grid=[{method: [soft, sls], K: [null], seed: [0, 1, 2, 3, 4]}]"
    page = report(compose_report("study=demo", "study.recipe=[smoke,pocket]", grid, "figures=[]", "tables=[2]"))
    found = json.loads((page.parent / "verdicts.json").read_text())
    parity = {
        verdict["recipe"]: verdict["best"]["comparisons"][0]["left"] for verdict in found if verdict["claim"] == "full-parity"
    }
    assert parity == pytest.approx({"smoke": 0.503, "pocket": 0.7034})
    assert {path.name for path in page.parent.glob("*/table_2.md")} == {"table_2.md"}
    assert len(list(page.parent.glob("*/table_2.md"))) == 2


def two_data_sets(place: Path) -> list[str]:
    for data, gap in (("chaosnli_snli", 0.2), ("popquorn", 0.1)):
        for method, nll in (("soft", 0.6), ("sls", 0.55), ("majority", 0.6 + gap)):
            for k in (5, None):
                for seed in range(5):
                    write_run(place, Cell(data, "smoke", method, k, seed), nll + 0.001 * seed * (1 + nll))
    grid = "study.grid=[{method: [soft, sls, majority], K: [5, null], seed: [0, 1, 2, 3, 4]}]"
    return ["study=demo", "study.data=[chaosnli_snli,popquorn]", grid]


def test_several_data_sets_stand_side_by_side(compose_report, tmp_path, capsys):
    words = two_data_sets(tmp_path / "outputs")
    page = report(compose_report(*words, "tables=[S1,S4]", "figures=[S4,S8,S9,12]"), words)
    assert page.parent.name == "report_chaosnli_snli+popquorn"
    names = {path.name for path in page.parent.iterdir()}
    assert {"table_S4.md", "figure_S8.svg", "figure_S9.png", "verdicts_by_data.md", "verdicts_by_data.csv"} <= names
    assert {"chaosnli_snli_smoke", "popquorn_smoke"} <= names
    text = page.read_text()
    assert "mean over corpora" in text
    assert "does not carry over" in text
    out = capsys.readouterr().out
    assert "soft-lower-kl" in out.split("Verdicts over data sets")[1]
    # A grid of one's own stays in the commands, quoted as a shell needs it.
    assert "python -m hardlabels.diagnose study=demo &#39;study.data=[chaosnli_snli,popquorn]&#39; &#39;study.grid=[{" in text
    lines = [line for verdict in verdicts_of(page).values() for line in verdict["commands"] if "study=demo" in line]
    assert all("'study.grid=[{method:" in line for line in lines)


def test_one_data_set_has_no_comparison_of_data_sets(compose_report, tmp_path, capsys):
    demo_runs(tmp_path / "outputs", seeds=1)
    page = report(compose_report("study=demo", "figures=[]", "tables=[1,S4]"))
    assert not list(page.parent.glob("verdicts_by_data.*"))
    assert "Over data sets" not in page.read_text()
    assert "table S4: it compares data sets, and this report has one" in capsys.readouterr().err


@pytest.mark.parametrize("texts", [False, True])
def test_texts_are_not_asked_for_what_only_images_have(compose_report, tmp_path, monkeypatch, texts):
    demo_runs(tmp_path / "outputs", seeds=1)
    votes = Votes.from_counts([[2, 1], [0, 3]])
    source = Source("toy", np.array([["a"], ["b"]], dtype=object), votes, votes.majority, ("x", "y"), mean=(), std=())
    monkeypatch.setattr("hardlabels.reporting.make.source_at_hand", lambda run: source if texts else None)
    page = report(compose_report("study=demo", "study.probes=[dynamics,gradcam,ood]", "tables=[7]", "figures=[9]"))
    lines = [line for verdict in verdicts_of(page).values() for line in verdict["commands"]]
    asked = "probe=ood" in page.read_text() or any("gradcam" in line for line in lines)
    assert asked != texts
    assert {verdict["status"] for verdict in verdicts_of(page).values()} <= {"inconclusive", "not run", "not testable"}


def test_a_real_run_is_reported_with_its_interval_over_votes(compose_report, make_config, run_cell):
    for method in ("soft", "sls"):
        run_cell(make_config(f"method={method}", "seed=0"))
    grid = "study.grid=[{method: [soft, sls], K: [null], seed: 0}]"
    page = report(compose_report("study=demo", "+study.tag=tiny", grid, "figures=[3]", "tables=[2]"))
    text = page.read_text()
    assert "2 of 2 runs" in text
    assert "votes 0." in text or "votes 1." in text
    assert (page.parent / "figure_3.svg").is_file()


def test_a_table_that_fails_is_told_and_costs_nothing_else(compose_report, tmp_path, monkeypatch, capsys):
    from hardlabels.reporting import tables

    def fails(records):
        raise RuntimeError("<b>no</b>")

    demo_runs(tmp_path / "outputs", seeds=1)
    monkeypatch.setitem(tables.TABLES, "2", fails)
    page = report(compose_report("study=demo", "figures=[]", "tables=[1,2]"))
    assert "table 2: RuntimeError: &lt;b&gt;no&lt;/b&gt;" in page.read_text()
    assert "table 2: RuntimeError" in capsys.readouterr().err
    assert (page.parent / "table_1.md").is_file()


def test_an_earlier_report_leaves_no_table_behind(compose_report, tmp_path):
    demo_runs(tmp_path / "outputs", seeds=1)
    page = report(compose_report("study=demo", "figures=[]", "tables=[1,2]"))
    (page.parent / "notes.md").write_text("mine")
    report(compose_report("study=demo", "figures=[]", "tables=[1]"))
    assert {path.name for path in page.parent.glob("*.md")} == {"table_1.md", "notes.md"}


def test_commands_keep_the_overrides_that_chose_the_runs(compose_report, tmp_path):
    write_run(tmp_path / "outputs", Cell("synthetic", "pocket", "soft", 5, 0, tag="tiny"), 0.5)
    words = ["study=demo", "+study.tag=tiny", "study.recipe=pocket", "figures=[]"]
    page = report(compose_report(*words), words)
    assert verdicts_of(page)["full-parity"]["commands"] == [
        "python -m hardlabels.reproduce study=demo +study.tag=tiny study.recipe=pocket"
    ]


@pytest.mark.parametrize("own", [False, True])
def test_commands_name_the_folder_of_runs_only_where_it_has_runs_of_the_study(compose_report, tmp_path, own):
    """A report of committed records is often made with an empty folder; its tables are committed in turn."""
    demo_runs(tmp_path / "results/pocket", seeds=2)
    if own:
        write_run(tmp_path / "outputs", Cell("synthetic", "smoke", "soft", 5, 2), 0.5)
    words = ["study=demo", f"outputs={tmp_path}/outputs", f"folder={tmp_path}/report", "figures=[]"]
    page = report(compose_report(*words), words)
    written = [page.parent / "verdicts.json", *page.parent.glob("table_*.md")]
    commands = [text for path in written if "python -m hardlabels." in (text := path.read_text())]
    assert commands
    assert all((f"outputs={tmp_path}/outputs" in text) == own for text in commands)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["study=nothing"], "study"),
        (
            ["study=demo", "outputs=nowhere", "places=[]"],
            "no finished run of study 'demo' in nowhere; first: python -m hardlabels.train",
        ),
        (["study=demo", "outputs=.", "tables=[99]"], "tables must be among 1, 2"),
        (["study=demo", "outputs=.", "margins.soft_nll=-1"], "margins.soft_nll must be a number above 0, got -1"),
        (["study=demo", "outputs=.", "thresholds.barrier=null"], "thresholds.barrier must be a number, got None"),
        (["study=demo", "outputs=.", "folder=file"], "the report cannot be written to file"),
        (["study=demo", "outputs=.", "alpha=2"], "alpha must lie between 0 and 0.5, got 2"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    write_run(tmp_path, Cell("synthetic", "smoke", "soft", 5, 0), 0.5)
    monkeypatch.setattr(sys, "argv", ["hardlabels.report", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
