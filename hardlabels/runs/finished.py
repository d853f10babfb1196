"""A finished run, opened again: the seam between training and everything that comes after it."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import load_source, read_content
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.reading import read_config, read_json
from hardlabels.sources.source import Source
from hardlabels.votes import Split
from hardlabels.votes.arrays import read_arrays

if TYPE_CHECKING:  # torch is loaded when a network is asked for: reports read thousands of runs without it
    import torch


@dataclass(frozen=True)
class FinishedRun:
    """What a run's folder holds, read when it is asked for. Nothing here writes.

    A committed run has no checkpoints: all but ``network`` works there (``source`` needs the data).

    Args:
        path: the run's folder.
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "FinishedRun":
        """The run in this folder; refuses one that is not finished."""
        run = cls(Path(path))
        if not run.directory.is_done():
            raise InputError(f"{path} is no finished run: expected a folder with the file 'done', which is written last")
        return run

    @property
    def directory(self) -> RunDirectory:
        """Paths of its files."""
        return RunDirectory(self.path)

    @property
    def cell(self) -> Cell:
        """Its coordinates."""
        return Cell.from_folder(self.path)

    @cached_property
    def cfg(self) -> DictConfig:
        """The configuration it was trained with."""
        return read_config(self.directory.config)

    @cached_property
    def fingerprint(self) -> str:
        """The digest of its configuration and data."""
        return self._json(self.directory.identity)["fingerprint"]

    @cached_property
    def result(self) -> dict[str, Any]:
        """``result.json``: {"best" | "last": {"epoch", slice: {metric: value}}, "items": {slice: n}}.

        Since format 2 also "prior": {slice: {metric: value}} and "predicted_classes": {"best" | "last": number of classes}.
        """
        return self._json(self.directory.result)

    @cached_property
    def environment(self) -> list[dict[str, Any]]:
        """What it ran on, one entry for each start."""
        return self._json(self.directory.environment)

    @cached_property
    def history(self) -> list[dict[str, float]]:
        """Metrics by epoch."""
        return self.directory.read_history()

    @cached_property
    def predictions(self) -> dict[str, np.ndarray]:
        """``logits`` (n, C) of the best checkpoint, ``logits_last``, ``index`` (n,) in the data set, ``p`` (n, C).

        Where the run selected its checkpoint on items of their own, ``select_logits`` and so on are those of these items.
        """
        return read_arrays(self.directory.predictions)

    @cached_property
    def source(self) -> Source:
        """The data it was trained on, loaded again; refused when their content has changed since."""
        settings = self.cfg.data
        if "root" in settings and os.environ.get("HARDLABELS_DATA"):  # where the data are is a matter of this machine
            settings = OmegaConf.merge(settings, {"root": os.environ["HARDLABELS_DATA"]})
        source = load_source(OmegaConf.to_yaml(settings))
        expected = read_content(self._json(self.directory.identity)["data"]).data
        if source.fingerprint != expected:
            raise InputError(
                f"{self.path} was trained on other data: fingerprint {expected[:12]} there, {source.fingerprint[:12]} now"
            )
        return source

    @cached_property
    def prepared(self) -> Source:
        """The data as its network takes them: those of ``source``, or what an encoder makes of them."""
        from hardlabels.runs.training.compose import prepare_source  # noqa: PLC0415

        source, content = prepare_source(self.cfg, self.source)
        expected = self._json(self.directory.identity)["data"]
        if content != expected:
            raise InputError(
                f"{self.path} was trained with another encoder: {_last_digest(expected)} there, {_last_digest(content)} now"
            )
        return source

    @cached_property
    def split(self) -> Split:
        """Which items it trained on, selected on and evaluated: positions in the data set."""
        recipe = self.cfg.recipe
        return self.source.split(seed=self.cfg.seed, protocol=recipe.split, train_items=recipe.train_items)

    @cached_property
    def sparse_p(self) -> np.ndarray:
        """(N, C) the distribution that the K votes of this run make, for every item; p itself where K is all."""
        votes = self.source.votes
        return votes.p if self.cfg.K is None else votes.subsample(self.cfg.K, self.cfg.seed).p

    def network(self, checkpoint: str = "best", device: str = "cpu") -> "torch.nn.Module":
        """The trained network of ``best`` or ``last``, in eval mode."""
        from hardlabels.runs.training.checkpoint import network_state  # noqa: PLC0415
        from hardlabels.runs.training.compose import make_network  # noqa: PLC0415

        if checkpoint not in ("best", "last"):
            raise InputError(f"checkpoint must be best or last, got {checkpoint!r}")
        path = self.directory.best if checkpoint == "best" else self.directory.last
        if not path.is_file():
            raise InputError(f"{path} is not there: train this cell again to probe its network")
        network = make_network(self.cfg, self.prepared)
        network.load_state_dict(network_state(path, network))
        return network.to(device).eval()

    def inputs(self, items: np.ndarray, device: str = "cpu") -> "torch.Tensor":
        """(n, channels, H, W) normalised, unaugmented images of these items; vectors: (n, d); tokens: (n, parts, L)."""
        import torch  # noqa: PLC0415

        from hardlabels.learning.augment import normalise  # noqa: PLC0415

        source = self.prepared
        mean, std = torch.tensor(source.mean, device=device), torch.tensor(source.std, device=device)
        return normalise(torch.from_numpy(source.shown[items]).to(device), mean, std)

    def foreign(self, images: np.ndarray) -> np.ndarray:
        """Images that are not of the run's data, as its network takes them: images again, or features of its encoder.

        Args:
            images: (n, H, W, channels) uint8, of the shape of the run's own.
        """
        from hardlabels.learning.networks import network_class  # noqa: PLC0415

        settings: Any = OmegaConf.to_container(self.cfg.model, resolve=True)
        encode = getattr(network_class(settings), "encode", None)
        return images if encode is None else encode(images, settings)

    def _json(self, path: Path) -> Any:
        return read_json(path, kind=list if path == self.directory.environment else dict)


def _last_digest(content: str) -> str:
    """The head of the encoder's digest, or of the data's where there is no encoder."""
    data, encoder = read_content(content)
    return (encoder or data)[:12]
