"""What a network is shown of the items of a batch: in training as the epoch draws it, otherwise upright and whole."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from hardlabels.learning.augment import Views, crop_and_flip, draw_boxes, draw_crops, normalise, resized_crop, row_constants
from hardlabels.learning.batches import Batch
from hardlabels.sources.source import Source

VIEWS_BYTES = 1 << 28
"""Images up to this size are kept padded and mirrored, at about three times their size, so that no batch has to do it."""


class Inputs:
    """The inputs of a source: on the device as a whole, or read batch by batch; cropped, mirrored and normalised.

    Args:
        source: the items.
        device: where the batches are wanted.
        resident: whether all inputs are held there; otherwise every batch brings its own.
    """

    def __init__(self, source: Source, device: torch.device, *, resident: bool):
        self.source, self.device, self.resident = source, device, resident
        self._mean, self._std = torch.tensor(source.mean, device=device), torch.tensor(source.std, device=device)
        small = source.inputs.nbytes <= VIEWS_BYTES
        self._views = image_views(source, device) if resident and source.has_images and source.scale is None and small else None
        self._all = device_inputs(source, device) if resident and self._views is None else None
        self._window: tuple[int, int] = source.shown.shape[1:3] if source.has_images else (0, 0)
        self._constants = row_constants(self._mean, self._std, self._window[1]) if source.has_images else None

    def start_epoch(self, n: int, *, seed: int, epoch: int) -> None:
        """Draw what this epoch shows of each of n training examples."""
        source = self.source
        slack = source.inputs.shape[1] - self._window[0] if source.has_images else 0
        shift, mirrored = draw_crops(n, seed=seed, epoch=epoch, padding=source.crop_padding, flip=source.flip, slack=slack)
        self._shift, self._mirrored = self._put(shift), self._put(mirrored)
        if source.scale is not None:
            boxes = draw_boxes(n, seed=seed, epoch=epoch, side=source.inputs.shape[1], scale=source.scale)
            self._boxes = self._put(boxes)

    def training(self, batch: Batch, items: Tensor) -> Tensor:
        """The inputs of a training batch, by the draws of the epoch.

        Args:
            batch: its positions among the training examples, and its inputs where they are not held here.
            items: (B,) the items at these positions.
        """
        source = self.source
        if not source.has_images and source.mirror is None:  # nothing was drawn that could change it
            return self._scaled(self._rows(batch, items))
        mirrored = self._mirrored.index_select(0, batch.position)
        if self._views is not None:
            return self._scaled(self._views.crop_and_flip(items, self._shift[batch.position], mirrored, self._window))
        if not source.has_images:
            return self._scaled(self._rows(batch, items + len(source) * mirrored))
        pixels = self._rows(batch, items)
        if source.scale is not None:
            return self._scaled(resized_crop(pixels, self._boxes[batch.position], mirrored, self._window[0]))
        return self._scaled(crop_and_flip(pixels, self._shift[batch.position], mirrored, source.crop_padding, self._window))

    def evaluation(self, batch: Batch, items: Tensor) -> Tensor:
        """The inputs of a batch that is scored: the middle of images with ``crop``, all else as it is."""
        if self._views is not None:
            return self._scaled(self._views.middle(items, self._window))
        rows = self._rows(batch, items)
        if self.source.crop is not None:
            top, left = ((side - self.source.crop) // 2 for side in rows.shape[1:3])
            rows = rows[:, top : top + self.source.crop, left : left + self.source.crop]
        return self._scaled(rows)

    def _rows(self, batch: Batch, rows: Tensor) -> Tensor:
        """Rows of :func:`device_inputs`, or what the batch brought: both views of an item, where it has two."""
        if self._all is not None:
            return self._all.index_select(0, rows)
        if self.source.mirror is None:
            return batch.inputs
        return batch.inputs[torch.arange(len(rows), device=rows.device), rows // len(self.source)]

    def _scaled(self, inputs: Tensor) -> Tensor:
        """Normalised, unless these are vectors that were so as a whole."""
        done = self._all is not None and self.source.has_vectors
        usual = inputs.ndim == 4 and inputs.shape[2] == self._window[1]  # a transform of the user's may give another width
        return inputs if done else normalise(inputs, self._mean, self._std, self._constants if usual else None)

    def _put(self, drawn: np.ndarray) -> Tensor:
        return torch.from_numpy(drawn).to(self.device)


@lru_cache(maxsize=1)  # runs of a process on one source share it
def image_views(source: Source, device: torch.device) -> Views:
    """All images on the device as training shows them: padded, and mirrored where that keeps a label."""
    return Views.of(torch.from_numpy(source.inputs).to(device), source.crop_padding, source.flip)


@lru_cache(maxsize=1)
def device_inputs(source: Source, device: torch.device) -> Tensor:
    """All inputs on the device as one tensor: images and tokens as they are; vectors normalised, once for all batches.

    Where vectors have a mirrored view, those of the mirrored items come behind: row N + i is the mirrored item i.
    """
    inputs = torch.from_numpy(source.inputs).to(device)
    if not source.has_vectors:
        return inputs
    mean, std = torch.tensor(source.mean, device=device), torch.tensor(source.std, device=device)
    views = [inputs] if source.mirror is None else [inputs, torch.from_numpy(source.mirror).to(device)]
    return torch.cat([normalise(view, mean, std) for view in views])
