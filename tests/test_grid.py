"""What a multirun adds to Hydra's: every cell's configuration, composed once for all that differ in K and seed only."""

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.grid import checked_cells
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.identity import training_config
from hardlabels.runs.settings.jobs import ComposedOnce, product_of


def test_a_kept_composition_is_hydras_own():
    cells = [
        ["data=synthetic", "recipe=smoke", "method=sls", "method.hold=5", "K=5", "seed=0"],
        ["data=synthetic", "recipe=smoke", "method=sls", "method.hold=5", "K=null", "seed=3"],
        ["data=synthetic", "recipe=smoke", "method=soft", "K=5", "seed=0"],
    ]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("train", [], run_mode=RunMode.MULTIRUN)
        composed = []

        class Counted:
            def load_sweep_config(self, master_config, sweep_overrides):
                composed.append(sweep_overrides)
                return loader.load_sweep_config(master_config, sweep_overrides)

        kept = ComposedOnce(Counted()).load_sweep_config
        for overrides in [*cells, *cells]:  # twice: one cell's numbers must not stay for the next
            ours, hydras = kept(master, overrides), loader.load_sweep_config(master, overrides)
            assert list(ours.hydra.overrides.task) == list(hydras.hydra.overrides.task) == overrides
            for config in (ours, hydras):
                OmegaConf.set_readonly(config.hydra, False)
                config.hydra.job.override_dirname = ""  # holds K and seed; nothing of ours reads it
            assert ours == hydras
    assert len(composed) == 2


def expanded(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("train", list(overrides), run_mode=RunMode.MULTIRUN)
        jobs = product_of(OverridesParser.create(config_loader=loader).parse_overrides(list(overrides)))
        return checked_cells(jobs, master, ComposedOnce(loader))


def test_cells_that_differ_in_k_and_seed_are_checked_once(monkeypatch, tmp_path):
    """A grid of thousands of cells starts in seconds."""
    checked = []
    monkeypatch.setattr("hardlabels.grid.check_config", lambda cfg: checked.append((cfg.method.name, cfg.K, cfg.seed)))
    cells = expanded("data=synthetic", "method=sls,soft", "K=null,1,2,5", "seed=range(50)", f"outputs={tmp_path}")
    assert checked == [("sls", None, 0), ("soft", None, 0)]
    assert len(cells) == 400
    assert all(tmp_path / cell.folder == folder for folder, cell in cells.items())
    assert {(cell.method, cell.K, cell.seed) for cell in cells.values()} == {
        (method, k, seed) for method in ("sls", "soft") for k in (None, 1, 2, 5) for seed in range(50)
    }


def test_settings_that_follow_k_are_those_of_each_cell(tmp_path, make_config, tiny):
    """A folder is held against the configuration of its own cell, not against that of the first one."""
    overrides = [*tiny, "recipe.width=${K}", f"outputs={tmp_path}"]
    for k in (2, 5):
        cfg = make_config(f"K={k}", f"recipe.width={k}", f"outputs={tmp_path}")
        directory = RunDirectory(tmp_path / Cell.from_config(cfg).folder)
        directory.start(cfg, training_config(cfg), "data", {})
    assert len(expanded(*overrides, "K=2,5")) == 2
    with pytest.raises(InputError, match=r"recipe.width: 5 there, 6 now"):
        expanded(*[word for word in overrides if "width" not in word], "recipe.width=6", "K=5")
