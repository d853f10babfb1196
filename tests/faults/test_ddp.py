"""Two processes with gloo train what one process trains: the same labels, the same batches, the same numbers."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from hardlabels.learning.batches import Batches
from hardlabels.learning.batchnorm import GlobalBatchNorm2d, synchronised


def train(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hardlabels.train", *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


def history(folder: Path) -> list[dict[str, float]]:
    with (folder / "history.csv").open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


# 33 items a batch: odd shares; 96 training items leave a last batch of 30; 25 evaluation items are odd too.
ODD = ["recipe.batch_size=33", "data.items=125", "trainer.accelerator=cpu"]
TWO = ["trainer.devices=2", "trainer.strategy=ddp"]


@pytest.mark.parametrize("methods", ["sls,mixup"])
def test_two_processes_inside_a_multirun_train_what_one_process_trains(tmp_path, tiny, methods):
    for name, devices in (("one", []), ("two", TWO)):
        train("-m", *tiny, *ODD, *devices, f"outputs={tmp_path / name}", f"method={methods}")
    for one in sorted((tmp_path / "one").glob("*/*/*/*/*")):
        two = tmp_path / "two" / one.relative_to(tmp_path / "one")
        assert (two / "done").is_file()
        assert [json.loads((folder / "environment.json").read_text())[0]["processes"] for folder in (one, two)] == [1, 2]
        for a, b in zip(history(one), history(two), strict=True):
            assert a.keys() == b.keys()
            np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=2e-3, atol=2e-4, err_msg=str(one))
        # Every evaluation item exactly once.
        counts = [json.loads((folder / "result.json").read_text())["items"] for folder in (one, two)]
        assert counts[0] == counts[1]
        with np.load(one / "predictions.npz") as a, np.load(two / "predictions.npz") as b:
            np.testing.assert_array_equal(a["index"], b["index"])
            np.testing.assert_allclose(a["logits_last"], b["logits_last"], rtol=1e-2, atol=1e-3)


def test_two_processes_train_a_pretrained_encoder_after_its_head(tmp_path, tiny, make_config, run_cell):
    """In the first epoch the encoder has no gradients, and no process waits for them; in the second both train the same one."""
    timm = pytest.importorskip("timm", reason="needs pip install 'hardlabels[images]'")
    torch.manual_seed(0)
    torch.save(timm.create_model("test_resnet").state_dict(), tmp_path / "weights.pt")
    encoder = ["model.encoder=test_resnet", f"model.weights={tmp_path / 'weights.pt'}", "model.head_epochs=1"]
    settings = [*(word for word in tiny if not word.startswith("recipe=")), *ODD, "recipe=image_finetune", *encoder]
    settings += ["recipe.epochs=2", "recipe.optimizer.lr=0.01"]
    train(*settings, *TWO, f"outputs={tmp_path / 'two'}")
    run_cell(make_config(*settings, f"outputs={tmp_path / 'one'}"))
    ([one], [two]) = (list((tmp_path / name).glob("*/*/*/*/*")) for name in ("one", "two"))
    for a, b in zip(history(one), history(two), strict=True):
        np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=2e-3, atol=2e-4)
    ours, theirs = (torch.load(run / "last.ckpt", weights_only=True)["state_dict"] for run in (two, one))
    start = timm.create_model("test_resnet")
    start.load_state_dict(torch.load(tmp_path / "weights.pt"))
    [name] = (name for name in theirs if name.endswith("body.conv1.0.weight"))
    assert (theirs[name] - start.state_dict()["conv1.0.weight"]).abs().max() > 0.005  # it was trained
    torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-3)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_layers_that_do_more_than_normalise_are_left_whole(device):
    """timm's ``BatchNormAct2d`` holds the activation, which torch's own conversion would drop without a word."""
    layers = pytest.importorskip("timm.layers", reason="needs pip install 'hardlabels[images]'")
    network = synchronised(nn.Sequential(layers.BatchNormAct2d(3), nn.Sequential(nn.BatchNorm2d(3))).eval(), torch.device(device))
    assert type(network[0]) is layers.BatchNormAct2d
    assert type(network[1][0]) is (nn.SyncBatchNorm if device == "cuda" else GlobalBatchNorm2d)
    assert not network[1][0].training


def test_on_gpus_layers_of_all_dimensions_are_synchronised():
    """A network of one's own may have them. Nothing is computed, so the test needs no GPU."""
    network = synchronised(nn.Sequential(nn.BatchNorm1d(3), nn.BatchNorm2d(3), nn.BatchNorm3d(3)), torch.device("cuda"))
    assert [type(layer) for layer in network] == [nn.SyncBatchNorm] * 3


@pytest.mark.parametrize("world", [2, 3, 5])
@pytest.mark.parametrize("whole", [False, True])
def test_the_shares_of_all_processes_are_the_batches_of_one(world, whole):
    """Batches of 4 over 5 processes: some shares are empty, none is lost, none comes twice."""
    alone = [batch.position.tolist() for batch in Batches("train", 11, 4, epoch=lambda: 3, seed=7)]
    shares = [
        list(Batches("train", 11, 4, epoch=lambda: 3, seed=7, rank=rank, world=world, whole=whole)) for rank in range(world)
    ]
    for step, batch in enumerate(alone):
        parts = [share[step].position[share[step].share].tolist() for share in shares]
        assert [item for part in parts for item in part] == batch
        assert {share[step].total for share in shares} == {len(batch)}


def test_synchronising_keeps_parameters_and_state_names():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Sequential(nn.BatchNorm2d(4)))
    parameters, names = list(network.parameters()), list(network.state_dict())
    same = synchronised(network, torch.device("cpu"))
    assert isinstance(same[1], GlobalBatchNorm2d)
    assert isinstance(same[2][0], GlobalBatchNorm2d)
    assert list(same.state_dict()) == names
    assert all(a is b for a, b in zip(same.parameters(), parameters, strict=True))


def _normalise_a_share(rank: int, world: int, folder: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    x = torch.load(f"{folder}/x.pt")
    share = x[[slice(0, 5), slice(5, 5), slice(5, 8)][rank]].clone().requires_grad_()  # the second process has nothing
    layer = GlobalBatchNorm2d(2).double()
    out = layer(share)
    (out.sin() * out).sum().backward()
    result = {"out": out.detach(), "gradient": share.grad, "mean": layer.running_mean, "variance": layer.running_var}
    torch.save(result, f"{folder}/{rank}.pt")


def test_global_batch_norm_is_batch_norm_of_the_whole_batch(tmp_path):
    """Outputs, input gradients and running statistics of three unequal shares against torch's layer on all items, in float64."""
    x = torch.randn(8, 2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + 5
    torch.save(x, tmp_path / "x.pt")
    torch.multiprocessing.start_processes(_normalise_a_share, (3, str(tmp_path)), nprocs=3, start_method="fork")
    shares = [torch.load(tmp_path / f"{rank}.pt") for rank in range(3)]
    layer, whole = nn.BatchNorm2d(2).double(), x.clone().requires_grad_()
    out = layer(whole)
    (out.sin() * out).sum().backward()
    torch.testing.assert_close(torch.cat([share["out"] for share in shares]), out.detach())
    torch.testing.assert_close(torch.cat([share["gradient"] for share in shares]), whole.grad)
    for share in shares:
        torch.testing.assert_close(share["mean"], layer.running_mean)
        torch.testing.assert_close(share["variance"], layer.running_var)


def test_a_diverged_run_stops_all_processes_and_one_of_them_says_so(tmp_path, tiny):
    command = [sys.executable, "-m", "hardlabels.train"]
    settings = [*tiny, *ODD, *TWO, "recipe.optimizer.lr=1e8", f"outputs={tmp_path}"]
    done = subprocess.run([*command, *settings], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("diverged in epoch 0 at learning rate 1e+08") == 1, done.stderr
    assert "Traceback" not in done.stderr
    [error] = tmp_path.glob("**/error.txt")
    assert not (error.parent / "done").exists()

    grid = subprocess.run([*command, "-m", *settings, "seed=0,1"], capture_output=True, text=True, timeout=300, check=False)
    assert grid.returncode == 1, grid.stderr
    assert "2 of 2 cells did not finish" in grid.stderr
    assert len([line for line in grid.stderr.splitlines() if line.startswith("  sls K=all seed=") and "diverged" in line]) == 2
