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
from hardlabels.learning.batchnorm import GlobalBatchNorm, synchronised, unsynchronised


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
    assert type(network[1][0]) is (nn.SyncBatchNorm if device == "cuda" else GlobalBatchNorm)
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
    assert isinstance(same[1], GlobalBatchNorm)
    assert isinstance(same[2][0], GlobalBatchNorm)
    assert list(same.state_dict()) == names
    assert all(a is b for a, b in zip(same.parameters(), parameters, strict=True))


LAYERS = {
    "of images": (lambda: nn.BatchNorm2d(2), (8, 2, 3, 3), torch.float64),
    "of vectors": (lambda: nn.BatchNorm1d(2), (8, 2), torch.float64),
    "the average of all batches": (lambda: nn.BatchNorm2d(2, momentum=None), (8, 2, 3, 3), torch.float64),
    "without weights": (lambda: nn.BatchNorm2d(2, affine=False), (8, 2, 3, 3), torch.float64),
    "without running statistics": (lambda: nn.BatchNorm1d(2, track_running_stats=False), (8, 2), torch.float64),
    "bfloat16, as autocast gives it": (lambda: nn.BatchNorm2d(2), (8, 2, 3, 3), torch.bfloat16),
}


def _normalised(layer: nn.Module, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Two batches through a layer in training mode: outputs, gradient of the input, running statistics."""
    x = x.clone().requires_grad_()
    out = torch.cat([layer(x), layer(2 * x)], 1)
    (out.sin() * out).sum().backward()
    return {"out": out.detach(), "gradient": x.grad, **dict(layer.named_buffers())}


def _normalise_a_share(rank: int, world: int, folder: str, kind: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    make, _, dtype = LAYERS[kind]
    layer = synchronised(nn.Sequential(make().to(torch.float32 if dtype is torch.bfloat16 else dtype)), torch.device("cpu"))[0]
    share = torch.load(f"{folder}/x.pt")[[slice(0, 5), slice(5, 5), slice(5, 8)][rank]]  # the second process has nothing
    torch.save(_normalised(layer, share), f"{folder}/{rank}.pt")


@pytest.mark.parametrize("kind", LAYERS)
def test_global_batch_norm_is_batch_norm_of_the_whole_batch(tmp_path, kind):
    """Outputs, input gradients and running statistics of three unequal shares against torch's layer on all items."""
    make, shape, dtype = LAYERS[kind]
    x = (torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + 5).to(dtype)
    torch.save(x, tmp_path / "x.pt")
    torch.multiprocessing.start_processes(_normalise_a_share, (3, str(tmp_path), kind), nprocs=3, start_method="fork")
    shares = [torch.load(tmp_path / f"{rank}.pt") for rank in range(3)]
    whole = _normalised(make().to(torch.float32 if dtype is torch.bfloat16 else dtype), x)
    close = {"rtol": 0.02, "atol": 0.1} if dtype is torch.bfloat16 else {}
    torch.testing.assert_close(torch.cat([share.pop("out") for share in shares]), whole.pop("out"), **close)
    torch.testing.assert_close(torch.cat([share.pop("gradient") for share in shares]), whole.pop("gradient"), **close)
    assert all(share.keys() == whole.keys() for share in shares)
    for name, expected in whole.items():
        for share in shares:
            torch.testing.assert_close(share[name], expected, **(close and {"rtol": 1e-3, "atol": 0}))


def test_layers_with_statistics_of_their_own_process_are_named():
    """A network of one's own with a layer that is a batch norm and more: two processes would not train what one trains."""
    network = nn.Sequential(nn.BatchNorm2d(3), type("More", (nn.BatchNorm2d,), {})(3))
    assert unsynchronised(synchronised(network, torch.device("cpu"))) == ["1"]
    network[1].eval()  # one that keeps its statistics gives every process the same
    assert unsynchronised(network) == []


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
    assert " ".join(grid.stderr.split()).count("sls K=all seed=0 and 1 more: diverged in epoch 0 at learning rate 1e+08") == 1
