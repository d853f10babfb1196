"""The launcher presets as they compose, where no cluster is needed."""

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from hardlabels.configuration import CONF

NEEDS = {"slurm": "hydra_plugins.hydra_submitit_launcher", "ray": "hydra_plugins.hydra_ray_launcher"}


def preset(name: str, *overrides: str) -> dict:
    pytest.importorskip(NEEDS[name], reason=f"the launcher's plugin is not installed: pip install 'hardlabels[{name}]'")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        cfg = compose("train", [f"hydra/launcher={name}", "outputs=/shared/outputs", *overrides], return_hydra_config=True)
    OmegaConf.update(cfg, "hydra.job.num", 0)
    return OmegaConf.to_container(cfg.hydra.launcher, resolve=True)


def test_slurm_jobs_may_be_requeued_and_log_beside_the_runs():
    launcher = preset("slurm", "hydra.launcher.partition=gpu", "hydra.launcher.array_parallelism=8")
    assert launcher["_target_"].endswith("SlurmLauncher")
    assert (launcher["partition"], launcher["gpus_per_node"], launcher["array_parallelism"]) == ("gpu", 1, 8)
    assert launcher["additional_parameters"] == {"requeue": True}
    assert launcher["max_num_timeout"] > 0
    assert launcher["submitit_folder"].startswith("/shared/outputs/.sweeps/")


def test_a_ray_run_has_as_many_threads_as_cores():
    launcher = preset("ray", "hydra.launcher.ray.remote.num_cpus=3", "hydra.launcher.ray.remote.num_gpus=0.25")
    assert launcher["ray"]["remote"]["runtime_env"]["env_vars"] == {"OMP_NUM_THREADS": "3"}  # text: Ray refuses a number
    assert launcher["ray"]["remote"]["num_gpus"] == 0.25


def test_an_address_is_all_that_a_ray_cluster_needs():
    """Ray refuses resources beside an address, and the plugin would add a size of the object store where the key is missing."""
    init = preset("ray", "hydra.launcher.ray.init.address=head:6379")["ray"]["init"]
    assert init["address"] == "head:6379"
    assert {init[key] for key in ("num_cpus", "num_gpus", "object_store_memory")} == {None}
