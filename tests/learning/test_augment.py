import numpy as np
import pytest
import torch
from scipy import stats
from torchvision.transforms import RandomResizedCrop
from torchvision.transforms import functional as TF

from hardlabels.learning.augment import Views, crop_and_flip, draw_boxes, draw_crops, normalise, resized_crop


def test_crop_and_flip_against_torchvision_one_image_at_a_time():
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (64, 9, 7, 3), dtype=np.uint8))
    shift, mirrored = torch.from_numpy(rng.integers(0, 9, (64, 2))), torch.from_numpy(rng.random(64) < 0.5)

    fast = crop_and_flip(images, shift, mirrored, padding=4)

    for i in range(64):
        image = TF.pad(images[i].permute(2, 0, 1), [4, 4, 4, 4])
        plain = TF.crop(image, int(shift[i, 0]), int(shift[i, 1]), 9, 7)
        plain = TF.hflip(plain) if mirrored[i] else plain
        assert torch.equal(fast[i].permute(2, 0, 1), plain)


def test_no_padding_and_no_flip_change_nothing():
    images = torch.arange(2 * 5 * 5 * 3, dtype=torch.uint8).view(2, 5, 5, 3)
    shift, mirrored = draw_crops(2, seed=0, epoch=0, padding=0, flip=False)
    assert torch.equal(crop_and_flip(images, torch.from_numpy(shift), torch.from_numpy(mirrored), 0), images)


@pytest.mark.parametrize("how", [
    lambda images, shift, mirrored: crop_and_flip(images, shift, mirrored, padding=1),
    lambda images, shift, mirrored: resized_crop(images, shift.repeat(1, 2), mirrored, size=5),
], ids=["crop", "resized crop"])  # fmt: skip
def test_no_images_are_no_images(how):
    """What a process is given of a batch that has fewer items than there are processes."""
    nothing = how(
        torch.zeros(0, 5, 5, 3, dtype=torch.uint8), torch.zeros(0, 2, dtype=torch.int64), torch.zeros(0, dtype=torch.bool)
    )
    assert (nothing.shape, nothing.dtype) == ((0, 5, 5, 3), torch.uint8)


def test_crops_are_uniform_and_half_are_mirrored():
    shift, mirrored = draw_crops(40_000, seed=3, epoch=1, padding=4, flip=True)
    table = np.zeros((9, 9))
    np.add.at(table, (shift[:, 0], shift[:, 1]), 1)
    assert stats.chisquare(table.ravel()).pvalue > 1e-3
    assert stats.binomtest(int(mirrored.sum()), 40_000).pvalue > 1e-3


def test_crops_depend_on_seed_and_epoch_only():
    first = draw_crops(50, seed=1, epoch=2, padding=4, flip=True)
    again = draw_crops(50, seed=1, epoch=2, padding=4, flip=True)
    other = draw_crops(50, seed=1, epoch=3, padding=4, flip=True)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_normalise_against_torchvision_and_is_channels_last():
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8))
    mean, std = torch.tensor([0.4914, 0.4822, 0.4465]), torch.tensor([0.2470, 0.2435, 0.2616])
    fast = normalise(images, mean, std)
    plain = TF.normalize(images.permute(0, 3, 1, 2).float() / 255, mean.tolist(), std.tolist())
    torch.testing.assert_close(fast, plain)
    assert fast.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(("padding", "window"), [(4, (9, 7)), (0, (5, 5)), (2, (8, 8)), (0, (9, 7))])
def test_views_of_a_data_set_give_what_each_batch_would(padding, window):
    rng = np.random.default_rng(1)
    images = torch.from_numpy(rng.integers(0, 256, (30, 9, 7, 3), dtype=np.uint8))
    items = torch.from_numpy(rng.permutation(30)[:20])
    limits = [full + 2 * padding - side + 1 for full, side in zip((9, 7), window, strict=True)]
    shift = torch.from_numpy(np.stack([rng.integers(0, limit, 20) for limit in limits], 1))
    mirrored = torch.from_numpy(rng.random(20) < 0.5)
    views = Views.of(images, padding, flip=True)
    expected = crop_and_flip(images[items], shift, mirrored, padding, window)
    assert torch.equal(views.crop_and_flip(items, shift, mirrored, window), expected)
    assert torch.equal(views.middle(items, (9, 7)), images[items])


def test_a_window_smaller_than_the_image_may_be_anywhere_in_it():
    shift, _ = draw_crops(20_000, seed=0, epoch=0, padding=0, flip=False, slack=3)
    assert stats.chisquare(np.bincount(shift.ravel(), minlength=4)).pvalue > 1e-3
    images = torch.arange(36, dtype=torch.uint8).view(1, 6, 6, 1)
    cut = crop_and_flip(images, torch.tensor([[1, 3]]), torch.tensor([False]), 0, (3, 3))
    assert torch.equal(cut, images[:, 1:4, 3:6])


def test_random_resized_crops_are_torchvisions():
    """Of its older functions, which round in another place."""
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (40, 24, 24, 3), dtype=np.uint8))
    boxes = torch.from_numpy(draw_boxes(40, seed=3, epoch=0, side=24, scale=(0.1, 1.0)))
    mirrored = torch.from_numpy(rng.random(40) < 0.5)
    ours = resized_crop(images, boxes, mirrored, 16)
    assert (ours.shape, ours.dtype) == ((40, 16, 16, 3), torch.uint8)
    for i, box in enumerate(boxes.tolist()):
        plain = TF.resized_crop(images[i].permute(2, 0, 1), *box, size=[16, 16], antialias=True)
        assert (ours[i].permute(2, 0, 1).int() - (TF.hflip(plain) if mirrored[i] else plain).int()).abs().max() <= 1


@pytest.mark.parametrize("scale", [(0.08, 1.0), (0.7, 1.0)])
def test_windows_are_drawn_by_torchvisions_law(scale):
    ours = draw_boxes(4000, seed=1, epoch=2, side=64, scale=scale)
    torch.manual_seed(0)
    image = torch.zeros(1, 64, 64)
    theirs = np.array([RandomResizedCrop.get_params(image, list(scale), [3 / 4, 4 / 3]) for _ in range(4000)])
    for column in range(4):
        assert stats.ks_2samp(ours[:, column], theirs[:, column]).pvalue > 1e-3
    assert stats.ks_2samp(ours[:, 2] * ours[:, 3], theirs[:, 2] * theirs[:, 3]).pvalue > 1e-3


def test_windows_depend_on_seed_and_epoch_only():
    first, again, other = (draw_boxes(50, seed=1, epoch=epoch, side=32, scale=(0.2, 1.0)) for epoch in (2, 2, 3))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
