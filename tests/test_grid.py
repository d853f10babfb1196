"""What a multirun adds to Hydra's: every cell's configuration, composed once for all that differ in K and seed only."""

from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.grid import compose_once


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

        def compose(master_config, sweep_overrides):
            composed.append(sweep_overrides)
            return loader.load_sweep_config(master_config, sweep_overrides)

        kept = compose_once(compose, OverridesParser.create(config_loader=loader))
        for overrides in [*cells, *cells]:  # twice: one cell's numbers must not stay for the next
            ours, hydras = kept(master, overrides), loader.load_sweep_config(master, overrides)
            assert list(ours.hydra.overrides.task) == list(hydras.hydra.overrides.task) == overrides
            for config in (ours, hydras):
                OmegaConf.set_readonly(config.hydra, False)
                config.hydra.job.override_dirname = ""  # holds K and seed; nothing of ours reads it
            assert ours == hydras
    assert len(composed) == 2
