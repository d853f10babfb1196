import numpy as np
import torch
from scipy import stats
from torchvision.transforms import functional as TF

from hardlabels.learning.augment import crop_and_flip, draw_crops, normalise


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
