"""What tables say about what is not there."""

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.metrics import score
from hardlabels.reporting.tables import TABLES, Entry, Table, target_intervals
from hardlabels.reporting.tables.saved import source_at_hand
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.studies.commands import Commands
from hardlabels.sources.synthetic import synthetic
from hardlabels.statistics.target import vote_intervals

ALL = float("inf")


def test_every_table_of_the_paper_is_found_in_order():
    assert list(TABLES)[:9] == [str(number) for number in range(1, 10)]
    assert all(name.startswith("S") for name in list(TABLES)[9:])


@pytest.mark.parametrize("number", TABLES)
def test_without_runs_a_table_shows_the_paper_and_says_what_to_run(number, literal):
    table = TABLES[number](literal({}))
    assert isinstance(table, Table)
    assert table.number == number
    assert {entry.text for entry in table.cells.values()} == {"missing"}
    assert any("python -m hardlabels.train -m data=cifar10h recipe=paper" in note for note in table.notes)
    assert set(table.cells) <= {(row, column) for row in table.rows for column in table.columns}
    assert table.frame().shape == (len(table.rows), len(table.columns))
    if number in "46789":
        assert any("python -m hardlabels.diagnose study=" in note for note in table.notes)
    if number in "123456789":
        assert any(entry.published is not None for entry in table.cells.values())


@pytest.mark.parametrize("number", TABLES)
def test_one_seed_of_one_method_is_enough_for_a_table(number, literal):
    names = ("soft_nll", "kl_to_annotator", "hard_acc")
    table = TABLES[number](
        literal({("sls", 5, name): [0.5] for name in names} | {("sls", ALL, name): [0.5] for name in names}, data="toy")
    )
    assert all(entry.published is None for entry in table.cells.values())
    assert table.frame().shape == (len(table.rows), len(table.columns))


def test_a_missing_cell_names_the_command_that_fills_it(literal):
    values = {(m, k, "soft_nll"): [0.5] * 3 for m in ("soft", "sls") for k in (5, 10, 25, 50) if (m, k) != ("sls", 5)}
    table = TABLES["1"](literal(values, recipe="pocket"))
    assert table.cells["sls", "K = 5"].text == "missing"
    (note,) = [note for note in table.notes if note.startswith("Missing")]
    assert "python -m hardlabels.train -m data=cifar10h recipe=pocket method=sls K=5 'seed=range(3)'" in note
    assert "method=multipass,deterministic_control K=5,10,25,50 'seed=range(3)'" in note


def test_the_study_says_which_seeds_are_missing(literal):
    missing = [Cell("cifar10h", "paper", "sls", None, seed) for seed in (3, 4)]
    table = TABLES["2"](literal({("sls", ALL, "soft_nll"): [0.5] * 3, ("soft", ALL, "soft_nll"): [0.5] * 3}, missing=missing))
    assert any("method=sls K=null seed=3,4" in note for note in table.notes)


def test_seeds_that_only_one_method_has_are_left_out_of_the_test_and_counted(literal):
    values = {("soft", ALL, "soft_nll"): [0.5, 0.6, 0.7, 0.8], ("sls", ALL, "soft_nll"): {0: 0.4, 1: 0.4, 7: 9.0}}
    table = TABLES["2"](literal(values, data="toy"))
    sls = table.cells["sls", "soft NLL ↓"]
    assert (sls.n, sls.paired, sls.p) == (3, 2, 0.5)
    assert "sls against soft, K = all: paired on the 2 seeds that both have (sls has 3, soft has 4)." in table.notes


def test_a_diverged_run_is_left_out_and_named(literal):
    table = TABLES["2"](literal({("sls", ALL, "soft_nll"): [0.5, np.nan, 0.7], ("sls", ALL, "hard_acc"): [0.8] * 3}, data="toy"))
    assert (table.cells["sls", "soft NLL ↓"].mean, table.cells["sls", "soft NLL ↓"].n) == (pytest.approx(0.6), 2)
    assert "1 of 3 runs of sls, K = all, have no finite soft_nll and are left out." in table.notes


def test_a_probe_that_was_not_run_is_named_with_its_study(literal):
    table = TABLES["7"](literal({("sls", ALL, "soft_nll"): [0.5]}, study="family"))
    assert any("python -m hardlabels.diagnose study=family probe=ood" in note for note in table.notes)


def test_a_probe_that_some_runs_have_says_how_many(literal):
    values = {("sls", ALL, "soft_nll"): [0.5] * 3, ("sls", ALL, "hessian/lambda_max"): [9.0]}
    notes = TABLES["4"](literal(values, data="toy")).notes
    assert any("hessian of sls K=all (1 of 3 runs have it), sls K=all." in note for note in notes)


def test_several_data_sets_or_recipes_are_refused(literal):
    one = literal({("sls", ALL, "soft_nll"): [0.5]}, missing=[Cell("toy", "paper", "sls", None, 0)])
    with pytest.raises(InputError, match="one data set and one recipe, got cifar10h/paper, toy/paper"):
        TABLES["2"](one)


def test_published_numbers_stand_beside_their_own_data_only(literal):
    values = {("sls", ALL, "soft_nll"): [0.5]}
    assert TABLES["2"](literal(values)).cells["sls", "soft NLL ↓"].published == 0.5052
    assert TABLES["2"](literal(values, data="toy")).cells["sls", "soft NLL ↓"].published is None


def test_methods_that_the_paper_does_not_have_are_shown(literal):
    table = TABLES["2"](literal({("sls,hold=5", ALL, "soft_nll"): [0.5], ("brand_new", ALL, "soft_nll"): [0.4]}, data="toy"))
    assert table.rows == ["sls,hold=5", "brand_new"]


def test_commands_group_what_makes_a_product():
    cells = [Cell("synthetic", "smoke", method, k, seed) for method in ("a", "b") for k in (5, None) for seed in (0, 1)]
    cells += [Cell("synthetic", "smoke", "a", 10, 0)]
    lines = Commands("s").train(cells)
    assert sorted(lines) == [
        "python -m hardlabels.train -m data=synthetic recipe=smoke method=a K=10 seed=0",
        "python -m hardlabels.train -m data=synthetic recipe=smoke method=a,b K=5,null seed=0,1",
    ]
    probe = Commands("unheard_of").probe(["cka"], "synthetic", "smoke")
    assert probe == "python -m hardlabels.diagnose study=unheard_of probe=cka"


def test_an_entry_without_a_number_says_so():
    assert str(Entry(text="missing")) == "missing"
    assert str(Entry(mean=1633.94, sd=50.61, n=5)) == "1633.9 ± 50.6, n = 5"


def test_intervals_over_votes_stand_beside_the_sd_where_the_data_are_at_hand(outputs, monkeypatch):
    monkeypatch.setattr(target_intervals, "RESAMPLES", 40)
    settings, index = {"items": 60, "classes": 3, "size": 12, "annotators": 9}, np.arange(20, 60)
    source = synthetic(**settings)
    p = source.votes.p[index]
    logits = np.log(p + 0.1)
    path = outputs.run("sls", None, 0, score(logits, p), logits=logits, p=p, index=index)
    outputs.use(path, **settings)
    records = outputs.records()
    table = TABLES["2"](records)
    nll, accuracy = table.cells["sls", "soft NLL ↓"], table.cells["sls", "accuracy ↑"]
    expected = vote_intervals([(logits, index)], source.votes, ["soft_nll"], seed=0, resamples=40)["soft_nll"]
    assert nll.target_interval == (expected.low, expected.high)
    assert expected.low < nll.mean < expected.high
    assert accuracy.target_interval is None
    config = path / "config.yaml"
    config.write_text(config.read_text().replace('"annotators": 9', '"annotators": 8'))  # not what it was trained on
    target_intervals.forget()
    moved = TABLES["2"](records)
    assert moved.cells["sls", "soft NLL ↓"].target_interval is None
    assert target_intervals.NEEDS_DATA in moved.notes


def test_a_report_never_downloads(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDLABELS_DATA", str(tmp_path))

    def refuse(*arguments, **words):
        raise AssertionError("a report must not go to the network")

    monkeypatch.setattr("socket.create_connection", refuse)
    folder = tmp_path / "cifar10h" / "paper" / "sls" / "K=all" / "seed=0"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(
        "data: {_target_: hardlabels.sources.cifar10h.cifar10h, url: 'https://x/y.tgz', mirrors: ['http://z/y.tgz'],"
        " votes_url: 'https://x/v.npy'}\n"
    )
    assert source_at_hand(FinishedRun(folder)) is None
