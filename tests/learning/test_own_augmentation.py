"""Transforms of one's own: what an item looks like in an epoch follows from seed and epoch, whoever reads it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torchvision.transforms import v2

from hardlabels.delivery.soft import Soft
from hardlabels.errors import InputError
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.own_augmentation import draw_seeds, transform_each

TRANSFORM = v2.Compose([v2.ColorJitter(brightness=0.8), v2.RandomErasing(p=0.5), v2.RandomInvert(p=0.3)])


def shown(source, epoch, *, batch_size=40, workers=0, seed=4):
    """Position to image, of one epoch."""
    data = DeliveryDataModule(source, Soft, seed=seed, batch_size=batch_size, workers=workers, augment=TRANSFORM)
    data.setup("fit")
    data.start_epoch(epoch)
    batches = [(batch.position, data.on_after_batch_transfer(batch, 0).inputs) for batch in data.train_dataloader()]
    return {int(place): image for position, images in batches for place, image in zip(position, images, strict=True)}, data


@pytest.fixture
def plain(tiny_source):
    """Without crops and flips, so that the transform is all that happens."""
    return replace(tiny_source, crop_padding=0, flip=False)


def test_an_epoch_shows_the_same_images_whatever_the_batches_and_workers(plain):
    first, _ = shown(plain, 3)
    for other in (shown(plain, 3, batch_size=17)[0], shown(plain, 3, workers=1)[0]):
        assert all(torch.equal(first[place], other[place]) for place in range(96))
    assert sum(torch.equal(first[place], shown(plain, 2)[0][place]) for place in range(96)) < 10
    assert sum(torch.equal(first[place], shown(plain, 3, seed=5)[0][place]) for place in range(96)) < 10


def test_it_is_torchvisions_transform_at_the_seed_of_the_item(plain):
    images, data = shown(plain, 1)
    seeds = draw_seeds(96, seed=4, epoch=1)
    for place in (0, 5, 95):
        torch.manual_seed(int(seeds[place]))
        pixels = TRANSFORM(torch.from_numpy(plain.inputs[data.examples[place]]).permute(2, 0, 1))
        expected = (pixels / 255 - torch.tensor(plain.mean).view(3, 1, 1)) / torch.tensor(plain.std).view(3, 1, 1)
        torch.testing.assert_close(images[place], expected)


def test_what_is_scored_is_not_transformed_and_torchs_generator_is_where_it_was(plain):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    _, data = shown(plain, 0)
    assert torch.equal(torch.random.get_rng_state(), before)
    [part] = data.val_dataloader()
    scored = torch.cat([data.on_after_batch_transfer(batch, 0).inputs for batch in part])
    whole = torch.from_numpy(plain.inputs[data.split.evaluate]).permute(0, 3, 1, 2) / 255
    expected = (whole - torch.tensor(plain.mean).view(3, 1, 1)) / torch.tensor(plain.std).view(3, 1, 1)
    torch.testing.assert_close(scored, expected)


class Careless(v2.Transform):
    """Draws from a generator of its own."""

    rng = np.random.default_rng(0)

    def transform(self, inpt, params):
        return torch.from_numpy(self.rng.integers(0, 256, inpt.shape, dtype=np.uint8))


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        (
            v2.RandomCrop(8),
            r"RandomCrop must give an image like .* \(12, 12, 3\) uint8, got \(8, 8, 3\) uint8",
        ),
        (v2.ToDtype(torch.float32), "ToDtype must give an image like .* float32"),
        (Careless(), "Careless must draw from torch's generator alone"),
        (v2.Normalize([0.5], [0.5]), "Normalize does not take an image of the data"),
    ],
)
def test_a_transform_that_cannot_be_is_refused_at_once(plain, transform, said):
    with pytest.raises(InputError, match=said):
        DeliveryDataModule(plain, Soft, seed=0, augment=transform)


def test_vectors_are_not_transformed(plain):
    vectors = np.zeros((120, 4), np.float32)
    source = replace(plain, inputs=vectors, mean=(0.0,) * 4, std=(1.0,) * 4)
    with pytest.raises(
        InputError, match=r"recipe\.augment is for images, and the items of 'synthetic' are vectors; .* recipe=image_finetune"
    ):
        DeliveryDataModule(source, Soft, seed=0, augment=TRANSFORM)


def test_each_image_has_its_own_draw():
    images = np.full((50, 6, 6, 3), 100, np.uint8)
    changed = transform_each(images, v2.ColorJitter(brightness=0.8), np.arange(50))
    assert len({image.tobytes() for image in changed}) > 30


def test_no_images_are_no_images():
    """What a process is given of a batch that has fewer items than there are processes."""
    assert transform_each(np.zeros((0, 6, 6, 3), np.uint8), TRANSFORM, np.zeros(0, np.int64)).shape == (0, 6, 6, 3)
