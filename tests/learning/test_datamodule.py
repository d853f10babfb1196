"""The labels that reach the loss are those of the epoch that is running: first, later, resumed, with and without workers."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from lightning import LightningModule, Trainer
from torchvision.transforms.v2 import RandomInvert

from hardlabels.delivery.majority import Majority
from hardlabels.delivery.mixup import Mixup
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.repeated import Repeated
from hardlabels.delivery.sls import SLS
from hardlabels.delivery.soft import Soft
from hardlabels.errors import InputError
from hardlabels.learning.batches import Batch
from hardlabels.learning.datamodule import DeliveryDataModule


class Recorder(LightningModule):
    """Trains nothing; writes down (epoch, positions, targets, inputs) of every batch that would have reached the loss."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen = []

    def configure_optimizers(self):
        return torch.optim.SGD([self.weight], lr=0.1)

    def on_train_epoch_start(self):
        self.trainer.datamodule.start_epoch(self.current_epoch)

    def training_step(self, batch, batch_idx):
        self.seen.append((self.current_epoch, self.trainer.datamodule.position, batch.target.clone(), batch.inputs.clone()))
        return self.weight * 0

    def validation_step(self, batch, batch_idx):
        pass


class Watched(DeliveryDataModule):
    def on_after_batch_transfer(self, batch: Batch, dataloader_idx: int):
        self.position = batch.position.clone()
        return super().on_after_batch_transfer(batch, dataloader_idx)


def record(source, method, *, epochs, workers=0, start=0, **settings):
    module, data = Recorder(), Watched(source, method, seed=4, batch_size=40, workers=workers, **settings)
    trainer = Trainer(
        accelerator="cpu", max_epochs=epochs, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, use_distributed_sampler=False,
    )  # fmt: skip
    if start:  # as after a resume
        from hardlabels.lightning_internals import set_finished_epochs

        set_finished_epochs(trainer, start, start * 3)
    trainer.fit(module, datamodule=data)
    return module.seen, data


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("start", [0, 2], ids=["fresh", "resumed"])
@pytest.mark.parametrize("method", [SLS, Multipass, partial(SLS, hold=2)], ids=["sls", "multipass", "hold"])
def test_every_batch_has_the_labels_of_its_own_epoch(tiny_source, method, start, workers):
    seen, data = record(tiny_source, method, epochs=4, workers=workers, start=start)
    assert [epoch for epoch, *_ in seen] == [epoch for epoch in range(start, 4) for _ in range(3)]
    delivery = method(tiny_source.votes.take(data.split.train), 4)
    for epoch, position, target, _ in seen:
        assert target.tolist() == delivery(epoch)[position.numpy()].tolist()
    for epoch in range(start, 4):  # each item once
        assert sorted(i for e, position, *_ in seen if e == epoch for i in position.tolist()) == list(range(96))


def test_workers_change_nothing(tiny_source):
    plain, _ = record(tiny_source, SLS, epochs=3)
    fetched, _ = record(tiny_source, SLS, epochs=3, workers=2)
    for a, b in zip(plain, fetched, strict=True):
        assert a[0] == b[0]
        assert all(torch.equal(x, y) for x, y in zip(a[1:], b[1:], strict=True))


def test_a_resumed_run_sees_what_the_uninterrupted_one_saw(tiny_source):
    whole, _ = record(tiny_source, SLS, epochs=4)
    rest, _ = record(tiny_source, SLS, epochs=4, start=2)
    for a, b in zip(whole[6:], rest, strict=True):
        assert a[0] == b[0]
        assert all(torch.equal(x, y) for x, y in zip(a[1:], b[1:], strict=True))


def test_methods_of_a_seed_differ_in_nothing_but_the_target(tiny_source):
    soft, soft_data = record(tiny_source, Soft, epochs=2)
    for method in (SLS, Multipass, Majority):
        seen, data = record(tiny_source, method, epochs=2)
        assert all(np.array_equal(getattr(data.split, part), getattr(soft_data.split, part)) for part in ("train", "evaluate"))
        for (_, position, target, inputs), (_, soft_position, soft_target, soft_inputs) in zip(seen, soft, strict=True):
            assert torch.equal(position, soft_position)
            assert torch.equal(inputs, soft_inputs)
            assert target.shape != soft_target.shape


def test_k_thins_the_training_target_only(tiny_source):
    full, thin = (DeliveryDataModule(tiny_source, Soft, seed=0, K=k) for k in (None, 3))
    assert set(np.unique(thin.delivery.votes.sizes)) == {3}
    assert np.array_equal(full.views["full"][1], thin.views["full"][1])
    assert np.array_equal(full.split.train, thin.split.train)


def test_mixup_mixes_inputs_and_targets_alike(tiny_source):
    plain, _ = record(tiny_source, Majority, epochs=1)
    mixed, data = record(tiny_source, Mixup, epochs=1)
    for step, ((_, _, label, inputs), (_, _, target, blended)) in enumerate(zip(plain, mixed, strict=True)):
        one_hot = torch.nn.functional.one_hot(label, 3).float()
        expected = data.delivery.mix(inputs, one_hot, epoch=0, step=step)
        torch.testing.assert_close(blended, expected[0])
        torch.testing.assert_close(target, expected[1])
        assert target.sum(1).allclose(torch.ones(len(target)))


def test_token_ids_are_not_mixed(tiny_source):
    ids = np.ones((len(tiny_source), 1, 5), dtype=np.int32)
    texts = replace(tiny_source, inputs=ids, mean=(), std=(), crop_padding=0, flip=False)
    DeliveryDataModule(texts, SLS, seed=0)
    with pytest.raises(InputError, match="Mixup blends the inputs of a batch, and the items of 'synthetic' are token ids"):
        DeliveryDataModule(texts, Mixup, seed=0)


def test_a_stale_batch_is_an_error(tiny_source):
    data = DeliveryDataModule(tiny_source, SLS, seed=0)
    data.setup("fit")
    data.start_epoch(3)
    stale = Batch("train", 2, 0, 4, slice(None), torch.arange(4), torch.empty(0))
    with pytest.raises(RuntimeError, match="drawn for epoch 2 arrived in epoch 3"):
        data.on_after_batch_transfer(stale, 0)


def test_works_without_a_trainer(tiny_source):
    data = DeliveryDataModule(tiny_source, SLS, seed=0, batch_size=50)
    data.setup("fit")
    data.start_epoch(0)
    batches = [data.on_after_batch_transfer(batch, 0) for batch in data.train_dataloader()]
    assert [tuple(batch.inputs.shape) for batch in batches] == [(50, 3, 12, 12), (46, 3, 12, 12)]


def test_three_way_split_scores_two_parts(tiny_source):
    data = DeliveryDataModule(tiny_source, Soft, seed=0, split="three_way")
    assert list(data.parts) == ["select", "evaluate"]
    assert list(DeliveryDataModule(tiny_source, Soft, seed=0).parts) == ["evaluate"]
    used = np.concatenate([data.split.train, data.split.select, data.split.evaluate])
    assert sorted(used) == list(range(120))


VECTORS = {"mean": (0.0,) * 4, "std": (1.0,) * 4, "crop_padding": 0}
FEATURES = np.random.default_rng(0).random((120, 4), dtype=np.float32)


KINDS = {
    "images": ({}, None),
    "cropped images": ({"crop": 8}, None),
    "augmented images": ({}, RandomInvert()),
    "vectors": ({"inputs": FEATURES, "flip": False, **VECTORS}, None),
    "mirrored vectors": ({"inputs": FEATURES, "mirror": FEATURES, "flip": True, **VECTORS}, None),
}


@pytest.mark.parametrize("method", [SLS, Soft, Mixup, Repeated])
@pytest.mark.parametrize("kept", [True, False], ids=["kept as views", "too large for views"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_batch_needs_is_on_the_device(tiny_source, monkeypatch, method, kept, kind):
    """torch's device "meta" has no numbers and refuses those of a CPU: an accelerator in this, without one."""
    changes, augment = KINDS[kind]
    monkeypatch.setattr("hardlabels.learning.inputs.VIEWS_BYTES", 2**28 if kept else 0)
    meta = torch.device("meta")
    data = DeliveryDataModule(replace(tiny_source, **changes), method, seed=0, batch_size=40, augment=augment)
    data.trainer = SimpleNamespace(strategy=SimpleNamespace(root_device=meta), global_rank=0, world_size=1, current_epoch=0)
    data.setup("fit")
    data.start_epoch(0)
    for loader in (data.train_dataloader(), *data.val_dataloader()):
        for batch in loader:
            there = data.on_after_batch_transfer(data.transfer_batch_to_device(batch, meta, 0), 0)
            assert {part.device for part in there if isinstance(part, torch.Tensor)} == {meta}


def test_views_are_slices_of_the_annotators_and_the_truth(tiny_source):
    data = DeliveryDataModule(tiny_source, Soft, seed=0)
    data.setup("validate")
    [loader] = data.val_dataloader()
    [batch] = [data.on_after_batch_transfer(batch, 0) for batch in loader]
    assert batch.items.tolist() == data.split.evaluate.tolist()
    assert set(data.views) == {"full", "non_unanimous", "high_disagreement", "truth"}
    np.testing.assert_array_equal(data.views["truth"][1], tiny_source.truth)
    assert data.views["non_unanimous"][0].tolist() == (tiny_source.votes.entropy > 0).tolist()


@pytest.mark.parametrize("workers", [0, 1])
def test_which_view_of_an_item_an_epoch_shows_follows_from_seed_and_epoch(workers):
    """Features of images: half of the items are mirrored in an epoch, as `draw_crops` says, whatever the method and the start."""
    from hardlabels.learning.augment import draw_crops
    from hardlabels.sources.source import Source
    from hardlabels.votes import Votes

    rng = np.random.default_rng(0)
    features, votes = rng.normal(size=(150, 4)).astype(np.float32), Votes.from_counts(rng.multinomial(9, [0.5, 0.3, 0.2], 150))
    labels = votes.majority.astype(np.int64)
    plain = Source("toy", features, votes, labels, ("a", "b", "c"), mean=(0.5,) * 4, std=(2.0,) * 4)
    source = replace(plain, mirror=-features, flip=True)
    seen, data = record(source, Soft, epochs=3, workers=workers)
    shown = {}
    for epoch, position, _, inputs in seen:
        _, mirrored = draw_crops(len(data.examples), seed=4, epoch=epoch, padding=0, flip=True)
        expected = np.where(mirrored[position][:, None], -1, 1).astype(np.float32) * features[data.examples[position]]
        np.testing.assert_array_equal(inputs.numpy(), (expected - np.float32(0.5)) / np.float32(2))
        shown.setdefault(epoch, []).append(mirrored[position].mean())
    assert all(0.3 < np.mean(share) < 0.7 for share in shown.values())
    resumed, _ = record(source, SLS, epochs=3, workers=workers, start=1)
    for (_, _, _, first), (_, _, _, again) in zip([entry for entry in seen if entry[0] >= 1], resumed, strict=True):
        assert torch.equal(first, again)
    for part in data.val_dataloader():  # what is scored is never mirrored
        for batch in part:
            index = data.parts[batch.part][batch.position.numpy()]
            np.testing.assert_array_equal(
                data.on_after_batch_transfer(batch, 0).inputs.numpy(), (features[index] - np.float32(0.5)) / 2
            )
    unmirrored, _ = record(plain, Soft, epochs=1, workers=workers)
    np.testing.assert_array_equal(unmirrored[0][3].numpy(), (features[data.examples[unmirrored[0][1]]] - np.float32(0.5)) / 2)


def on_disk(source, folder):
    """The same source, its inputs mapped from a file."""
    np.save(folder / "inputs.npy", source.inputs)
    return replace(source, inputs=np.load(folder / "inputs.npy", mmap_mode="r"))


@pytest.mark.parametrize("changes", [{}, {"crop": 8}, {"scale": (0.3, 1.0)}, {"crop": 10, "scale": (0.3, 0.8), "flip": False}])
@pytest.mark.parametrize("workers", [0, 1])
def test_images_on_disk_give_the_bits_of_images_in_memory(tiny_source, tmp_path, changes, workers):
    source = replace(tiny_source, **changes)
    memory, data = record(source, SLS, epochs=2)
    disk, mapped = record(on_disk(source, tmp_path), SLS, epochs=2, workers=workers)
    resumed, _ = record(on_disk(source, tmp_path), SLS, epochs=2, workers=workers, start=1)
    side = source.crop or 12
    assert memory[0][3].shape[1:] == (3, side, side)
    for a, b in [*zip(memory, disk, strict=True), *zip(memory[3:], resumed, strict=True)]:
        assert a[0] == b[0]
        assert all(torch.equal(x, y) for x, y in zip(a[1:], b[1:], strict=True))
    scored = [
        [module.on_after_batch_transfer(batch, 0) for part in module.val_dataloader() for batch in part]
        for module in (data, mapped)
    ]
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(*scored, strict=True))
    assert scored[0][0].inputs.shape[1:] == (3, side, side)


@pytest.mark.parametrize("changes", [{"crop": 8}, {"scale": (0.3, 1.0)}])
def test_an_epoch_shows_other_windows_and_scoring_the_middle_one(tiny_source, changes):
    source = replace(tiny_source, **changes)
    seen, data = record(source, Soft, epochs=2)
    by_epoch = [
        {int(i): x for e, position, _, inputs in seen if e == epoch for i, x in zip(position, inputs, strict=True)}
        for epoch in (0, 1)
    ]
    assert sum(torch.equal(by_epoch[0][i], by_epoch[1][i]) for i in range(96)) < 10
    [part] = data.val_dataloader()
    scored = torch.cat([data.on_after_batch_transfer(batch, 0).inputs for batch in part])
    edge = (12 - (source.crop or 12)) // 2
    whole = tiny_source.inputs[data.split.evaluate][:, edge : 12 - edge, edge : 12 - edge]
    expected = (torch.from_numpy(whole).permute(0, 3, 1, 2) / 255 - torch.tensor(source.mean).view(3, 1, 1)) / torch.tensor(
        source.std
    ).view(3, 1, 1)
    torch.testing.assert_close(scored, expected)
    assert np.array_equal(source.shown[data.split.evaluate], whole)
