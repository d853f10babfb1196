import json

import numpy as np
import pytest

from hardlabels.metrics import METRICS
from hardlabels.reporting.grid_summary import draw_summary, draw_table, prepare_summary, read_results
from hardlabels.runs.directory import RunDirectory


@pytest.fixture
def folders(tmp_path):
    """Six runs with hand-made results, one of them unfinished."""
    values = {
        ("soft", "K=5"): [0.5, 0.7], ("sls", "K=5"): [0.4, 0.5], ("soft", "K=all"): [0.3],
        ("sls,hold=5", "K=all"): [0.2],
    }  # fmt: skip
    paths = []
    for (method, k), scores in values.items():
        for seed, value in enumerate(scores):
            directory = RunDirectory(tmp_path / "data" / "recipe" / method / k / f"seed={seed}")
            metrics = dict.fromkeys(METRICS, value) | {"ent_corr": float("nan")}
            directory.finish({"best": {"epoch": 0, "full": metrics}})
            paths.append(directory.path)
    paths[1].joinpath("done").unlink()
    return paths


def test_mean_and_sample_sd_over_finished_seeds(folders):
    results = read_results(folders)
    assert len(results) == 5
    summary = prepare_summary(results)
    assert summary.loc[("sls", 5), ("soft_nll", "mean")] == pytest.approx(0.45)
    assert summary.loc[("sls", 5), ("soft_nll", "std")] == pytest.approx(np.std([0.4, 0.5], ddof=1))
    assert summary.loc[("soft", 5), ("soft_nll", "count")] == 1
    assert np.isnan(summary.loc[("soft", np.inf), ("ent_corr", "mean")])
    assert json.loads((folders[0] / "result.json").read_text())["best"]["full"]["ent_corr"] is None


def test_the_best_of_each_k_is_bold_in_its_own_direction(folders):
    table = draw_table(prepare_summary(read_results(folders)), "title")
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["method"] == ["soft", "sls", "soft", "sls,hold=5"]
    assert columns["K"] == ["5", "5", "all", "all"]
    assert columns["soft NLL ↓"] == ["0.5000", "[bold]0.4500 ± 0.0707[/bold]", "0.3000", "[bold]0.2000[/bold]"]
    assert columns["accuracy ↑"] == ["[bold]0.5000[/bold]", "0.4500 ± 0.0707", "[bold]0.3000[/bold]", "0.2000"]


def test_the_last_epoch_stands_beside_the_selected_one(folders):
    summary = prepare_summary(read_results(folders))
    table = draw_table(summary, "title", last=summary + 1)
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["last soft NLL ↓"] == ["1.5000", "1.4500 ± 1.0707", "1.3000", "1.2000"]
    assert "last soft NLL: at the last epoch" in str(table.caption)


def test_scores_above_ten_keep_the_decimals_in_which_methods_differ(folders):
    summary = prepare_summary(read_results(folders))
    table = draw_table(summary, "title", last=summary + 12)
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["last soft NLL ↓"] == ["12.500", "12.450 ± 12.071", "12.300", "12.200"]


def test_the_picture_is_drawn(folders, tmp_path):
    draw_summary(prepare_summary(read_results(folders)), "title", tmp_path / "summary.png")
    assert (tmp_path / "summary.png").stat().st_size > 10_000
