"""From the configuration of a run to its parts: the tree of settings is the graph of objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from lightning import Callback, LightningDataModule, Trainer
from lightning.fabric.plugins.environments import SLURMEnvironment, TorchElasticEnvironment
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig, OmegaConf
from torch.optim import Optimizer

from hardlabels.console import complain
from hardlabels.errors import InputError
from hardlabels.guard import build, refusals_of
from hardlabels.learning.batchnorm import synchronised, unsynchronised
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.module import ByEpoch, Classifier
from hardlabels.learning.networks import build_network, describe_items, network_class
from hardlabels.learning.own_augmentation import Transform
from hardlabels.lightning_internals import find_unused_parameters
from hardlabels.metrics.accumulate import Scores
from hardlabels.metrics.collection import METRICS
from hardlabels.randomness import torch_seed
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import load_source, read_content, write_content
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.identity import TRAINER, fingerprint, training_config
from hardlabels.runs.method import Method
from hardlabels.runs.quantity import history_column
from hardlabels.runs.training.keeper import Keeper
from hardlabels.runs.training.progress import RunProgress
from hardlabels.runs.training.untimed import Untimed
from hardlabels.sources.source import Source

SIZES = {"vectors": "in_features", "tokens": "parts"}
"""Kind of items to the argument that tells a network their size: the second entry of their shape."""
NETWORKS = {"images": "model=resnet18", "vectors": "model=mlp", "texts": "recipe=text_head", "tokens": "model=text_finetune"}


@dataclass(frozen=True)
class Run:
    """The parts of a run, ready to be trained."""

    directory: RunDirectory
    training: dict[str, Any]  # the settings that decide the result
    content: str  # what identifies the data, and the encoder where there is one
    datamodule: DeliveryDataModule
    classifier: Classifier
    keeper: Keeper
    trainer: Trainer


def compose_run(cfg: DictConfig, cell: Cell, directory: RunDirectory) -> Run:
    """Build all parts of a run, in the order in which they need each other; each is what Hydra instantiates from its group.

    Args:
        cfg: the whole configuration.
        cell: the run's coordinates.
        directory: its folder; refused where it holds another run.
    """
    training, config = training_config(cfg), _plain(cfg)
    source = load_source(OmegaConf.to_yaml(cfg.data, resolve=True))
    prepared, content = prepare_source(cfg, source)
    directory.check(training, content)

    datamodule = make_datamodule(cfg, prepared)
    network, built_from = make_network(cfg, prepared), network_settings(cfg, prepared)
    if cfg.model.compile:
        network.compile(backend="inductor" if cfg.model.compile is True else cfg.model.compile)

    run_id, monitor = fingerprint(training, content), f"{next(iter(datamodule.parts))}/soft_nll"
    known = {"directory": directory, "folder": directory.path, "cell": cell, "run_id": run_id, "config": config}
    callbacks = make_callbacks(config["callbacks"], {**known, "monitor": monitor})
    [keeper] = (callback for callback in callbacks if isinstance(callback, Keeper))
    classifier = Classifier(
        network,
        make_optimizer(cfg, network),
        epochs=cfg.recipe.epochs,
        scores={part: Scores(datamodule.views) for part in datamodule.parts},
        logged=monitored(callbacks, datamodule),
        built_from=built_from,
        class_names=prepared.class_names,
        preprocessing=describe_items(source, prepared, built_from, read_content(content).encoder, cfg.data.get("fit")),
        trained_as={**cell.written(), "fingerprint": run_id},
    )
    trainer = make_trainer(config, callbacks, make_loggers(config["logger"], known), keeper)
    if trainer.world_size > 1:
        synchronised(network, trainer.strategy.root_device)
        if trainer.is_global_zero and (alone := unsynchronised(network)):
            complain(
                f"warning: the layers {', '.join(alone):.200} normalise over the items of one process alone: another number of "
                "processes trains another network"
            )
        if getattr(network, "trains_in_parts", isinstance(network, ByEpoch)):
            find_unused_parameters(trainer)
    return Run(directory, training, content, datamodule, classifier, keeper, trainer)


def make_datamodule(cfg: DictConfig, source: Source) -> DeliveryDataModule:
    """The data of a cell: what ``conf/method`` describes, called with what only the run knows."""
    waiting = build("method", Method.from_config(cfg.method).config, LightningDataModule)
    return waiting(
        source=source,
        seed=cfg.seed,
        K=cfg.K,
        batch_size=cfg.recipe.batch_size,
        split=cfg.recipe.split,
        train_items=cfg.recipe.train_items,
        workers=cfg.workers,
        augment=make_augmentation(cfg.recipe),
    )


def make_augmentation(recipe: DictConfig) -> Transform | None:
    """The transform of torchvision that ``recipe.augment`` names, or the list of them, one after the other; None without."""
    chosen = _plain(recipe).get("augment")
    if chosen is None:
        return None
    from torchvision.transforms import v2  # noqa: PLC0415 - a second, for those who ask for it

    listed = {f"recipe.augment.{place}": one for place, one in enumerate(chosen)} if isinstance(chosen, list) else {}
    with refusals_of("recipe.augment"):
        transforms = [build(key, one, v2.Transform) for key, one in (listed or {"recipe.augment": chosen}).items()]
        return transforms[0] if len(transforms) == 1 else v2.Compose(transforms)


def prepare_source(cfg: DictConfig, source: Source) -> tuple[Source, str]:
    """The source as the network takes it, and what identifies its content.

    A network with an encoder has a static method ``prepare``, which computes the encoder's features. The data and the encoder's
    weights together identify what a run is trained on. The features do not: their last bits differ from machine to machine.
    """
    settings: Any = OmegaConf.to_container(cfg.model, resolve=True)
    prepare = getattr(network_class(settings), "prepare", None)
    if prepare is None:
        return source, source.fingerprint
    prepared, encoder = prepare(source, settings)
    return prepared, write_content(source.fingerprint, encoder)


def make_network(cfg: DictConfig, source: Source) -> torch.nn.Module:
    """The network with the initial weights of the seed: the same for every method and K."""
    settings = network_settings(cfg, source)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(cfg.seed, "weights"))
        network = build_network(settings)
    first = next((module for module in network.modules() if isinstance(module, torch.nn.Conv2d)), None)
    channels = source.inputs.shape[-1]
    if first is not None and source.has_images and first.in_channels != channels:
        raise InputError(
            f"{type(network).__name__} takes images of {first.in_channels} channels, those of {source.name!r} have {channels}"
        )
    return network


def network_settings(cfg: DictConfig, source: Source) -> dict[str, Any]:
    """All that the network is built from: its class and settings, and what only the data know (see :func:`network_sizes`)."""
    settings: Any = OmegaConf.to_container(cfg.model, resolve=True)
    sizes = network_sizes(network_class(settings), source)
    return {key: value for key, value in settings.items() if key not in ("name", "compile")} | sizes


def network_sizes(build: type[torch.nn.Module], source: Source) -> dict[str, int]:
    """What the data say about a network: C; the length of its vectors, or the texts of an item, where it takes these.

    A network says by its attribute ``takes`` what kind of items its ``forward`` is given; images, where it says nothing.
    """
    takes = getattr(build, "takes", "images")
    if takes != source.kind:
        raise InputError(
            f"{build.__name__} takes {takes}, and the items of {source.name!r} are {source.kind}: use {NETWORKS[source.kind]}"
        )
    return {"num_classes": source.votes.num_classes, **({SIZES[takes]: source.inputs.shape[1]} if takes in SIZES else {})}


def make_optimizer(cfg: DictConfig, network: torch.nn.Module) -> Any:
    """The optimizer with its settings; it still waits for the parameters. Built once, to see that it takes them."""
    waiting = build("recipe.optimizer", _plain(cfg.recipe.optimizer), Optimizer)
    with refusals_of("recipe.optimizer"):
        waiting(network.parameters())
    return waiting


def make_callbacks(settings: Mapping[str, Mapping[str, Any]], known: Mapping[str, Any]) -> list[Callback]:
    """The callbacks by their names in ``conf/callbacks``, and those that the user added.

    Args:
        settings: of each, by name.
        known: what only the run knows; passed to those that require it: ``EarlyStopping`` is told what to monitor.
    """
    with refusals_of("callbacks"):
        callbacks = [build(f"callbacks.{name}", about, Callback, known) for name, about in settings.items()]
    keepers = sum(isinstance(callback, Keeper) for callback in callbacks)
    if keepers != 1:
        raise InputError(f"callbacks.keeper must be there once: it keeps the run's history and checkpoints, got {keepers}")
    return callbacks


def monitored(callbacks: list[Callback], datamodule: DeliveryDataModule) -> list[str]:
    """The metrics that callbacks look at, by the names that ``history.csv`` has; refuses a name that is none.

    Only these go through ``self.log``, which costs half a millisecond per name and epoch, and only where a callback is not ours:
    ours read ``epoch_metrics``. All metrics are in ``history.csv``.
    """
    views = [(part, view) for part in datamodule.parts for view in datamodule.views]
    names = [history_column(part, metric, view) for part, view in views for metric in METRICS]
    asked = [str(name) for callback in callbacks if (name := getattr(callback, "monitor", None)) is not None]
    for name in asked:
        if name not in names:
            raise InputError(f"a callback's monitor must be a metric such as {names[0]} or {names[3]}, got {name!r}")
    ours_only = all(isinstance(callback, (Keeper, RunProgress)) for callback in callbacks)
    return [] if ours_only else list(dict.fromkeys(asked))


def make_loggers(settings: Mapping[str, Any], known: Mapping[str, Any]) -> list[Logger]:
    """The logger that ``logger=...`` asks for, beside the CSV that every run writes."""
    if settings.get("_target_") is None:
        return []
    with refusals_of("logger"):
        return [build("logger", settings, Logger, known)]


def make_trainer(config: Mapping[str, Any], callbacks: list[Callback], loggers: list[Logger], keeper: Keeper) -> Trainer:
    """Lightning's Trainer with the user's settings and the run's own."""
    settings = {"_target_": TRAINER, **config["trainer"], "_partial_": True}
    profiler = {} if "profiler" in settings else {"profiler": Untimed()}
    with refusals_of("trainer"):
        return build("trainer", settings, Trainer)(
            max_epochs=config["recipe"]["epochs"],
            logger=loggers,
            callbacks=callbacks,
            default_root_dir=keeper.directory.path,
            enable_progress_bar=False,
            enable_model_summary=False,
            use_distributed_sampler=False,
            num_sanity_val_steps=0,
            log_every_n_steps=1 if loggers else 0,  # 0: never, also not into dictionaries that nobody reads
            plugins=[keeper.writer, *_slurm()],
            **profiler,
        )


def _plain(cfg: DictConfig) -> dict[str, Any]:
    return OmegaConf.to_container(cfg, resolve=True)  # type: ignore[return-value]


def _slurm() -> list[SLURMEnvironment]:
    """Inside a SLURM job: Lightning must not requeue it, since submitit does, and the run resumes by itself."""
    inside = SLURMEnvironment.detect() and not TorchElasticEnvironment.detect()
    return [SLURMEnvironment(auto_requeue=False)] if inside else []
