"""One cell, from its configuration to its result."""

import inspect
import logging
import warnings
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from lightning import Trainer
from lightning.fabric.plugins.environments import SLURMEnvironment, TorchElasticEnvironment
from omegaconf import DictConfig, OmegaConf

from hardlabels.delivery import Delivery
from hardlabels.errors import InputError
from hardlabels.learning.batchnorm import synchronised
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.memory import keep_freed_memory
from hardlabels.learning.module import Classifier
from hardlabels.learning.predict import predict
from hardlabels.metrics import score
from hardlabels.metrics.accumulate import PredictionMetrics
from hardlabels.randomness import torch_seed
from hardlabels.runs.cell import Cell, method_settings
from hardlabels.runs.checkpoint import network_state
from hardlabels.runs.checks import settings_of
from hardlabels.runs.data import load_source
from hardlabels.runs.directory import RunDirectory, fingerprint, training_config
from hardlabels.runs.environment import describe_environment
from hardlabels.runs.keeper import Keeper
from hardlabels.runs.lock import hold
from hardlabels.runs.loggers import close_loggers, make_loggers
from hardlabels.runs.progress import RunProgress
from hardlabels.runs.reading import read_json
from hardlabels.runs.targets import check_settings, delivery_class, network_class, optimizer_class
from hardlabels.sources.source import Source

SIZES = {"vectors": "in_features", "tokens": "parts"}
"""Kind of items to the argument by which a network shows that it takes them: the second entry of their shape."""
NETWORKS = {"images": "model=resnet18", "vectors": "model=mlp", "texts": "recipe=text_head", "tokens": "model=text_finetune"}


def execute(cfg: DictConfig, cell: Cell, directory: RunDirectory) -> dict[str, Any]:
    """Train one cell, or go on where it was interrupted, and write its folder. Returns what ``result.json`` holds."""
    _quiet_lightning()
    keep_freed_memory()
    training = training_config(cfg)
    source, content = prepare_source(cfg, load_source(OmegaConf.to_yaml(cfg.data, resolve=True)))
    directory.check(training, content)

    datamodule = make_datamodule(cfg, source)
    network = make_network(cfg, source)
    part = next(iter(datamodule.parts))
    monitor = f"{part}/soft_nll"
    scored = [(part, name) for part in datamodule.parts for name in datamodule.views]
    module = Classifier(network, make_optimizer(cfg, network), epochs=cfg.recipe.epochs, metrics=PredictionMetrics, scored=scored)
    if cfg.model.compile:
        network.compile(backend="inductor" if cfg.model.compile is True else cfg.model.compile)

    keeper = Keeper(directory, monitor)
    resolved: Any = OmegaConf.to_container(cfg, resolve=True)
    run_id = fingerprint(training, content)
    with settings_of("logger"):
        loggers = make_loggers(resolved["logger"], directory.path, cell, run_id, resolved)
    with settings_of("trainer"):
        trainer = Trainer(
            **resolved["trainer"],
            max_epochs=cfg.recipe.epochs,
            logger=loggers,
            callbacks=[RunProgress(cell, monitor), keeper],
            default_root_dir=directory.path,
            enable_progress_bar=False,
            enable_model_summary=False,
            use_distributed_sampler=False,
            num_sanity_val_steps=0,
            log_every_n_steps=1,
            plugins=_slurm(),
        )
    if trainer.world_size > 1:
        synchronised(network, trainer.strategy.root_device)
    result: dict[str, Any] = {}
    with hold(directory.lock) if trainer.is_global_zero else nullcontext():
        if directory.is_done():  # by another process, since we looked
            return read_json(directory.result, ("best", "last", "items"))
        keeper.prepare(network, cfg.recipe.epochs)
        if trainer.is_global_zero:
            device, threads = str(trainer.strategy.root_device), torch.get_num_threads()
            directory.start(cfg, training, content, describe_environment(device, threads, trainer.world_size))
        try:
            trainer.fit(module, datamodule=datamodule)
            if trainer.is_global_zero:
                result = write_result(directory, keeper, network, datamodule)
        finally:
            close_loggers(trainer.loggers, result)
    return result


def write_result(
    directory: RunDirectory, keeper: Keeper, network: torch.nn.Module, datamodule: DeliveryDataModule
) -> dict[str, Any]:
    """Predictions of the best and the last network on the evaluation items, their metrics on every slice, then ``done``."""
    source, items = datamodule.source, datamodule.split.evaluate
    epochs = {"best": keeper.best_epoch, "last": int(keeper.rows[-1]["epoch"])}
    logits = {}
    for name, path in (("best", directory.best), ("last", directory.last)):
        network.load_state_dict(network_state(path, network))
        logits[name] = predict(network, source, items, batch_size=datamodule.evaluation_batch_size)
    directory.write_predictions(logits=logits["best"], logits_last=logits["last"], index=items, p=source.votes.p[items])
    result: dict[str, Any] = {}
    for name in logits:
        result[name] = {"epoch": epochs[name]}
        for view, (mask, target) in datamodule.views.items():
            inside = mask[items]
            result[name][view] = score(logits[name][inside], target[items][inside])
    result["items"] = {view: int(mask[items].sum()) for view, (mask, _) in datamodule.views.items()}
    directory.finish(result)
    return result


def make_method(method: DictConfig) -> "partial[Delivery]":
    """The delivery's class with its settings; it still waits for votes and seed."""
    return partial(delivery_class(method._target_), **method_settings(method))


def make_datamodule(cfg: DictConfig, source: Source) -> DeliveryDataModule:
    """The data of a cell: source, method, K, seed."""
    return DeliveryDataModule(
        source,
        make_method(cfg.method),
        seed=cfg.seed,
        K=cfg.K,
        batch_size=cfg.recipe.batch_size,
        split=cfg.recipe.split,
        train_items=cfg.recipe.train_items,
        workers=cfg.workers,
    )


def prepare_source(cfg: DictConfig, source: Source) -> tuple[Source, str]:
    """The source as the network takes it, and what identifies its content.

    A network that takes texts has a static method ``prepare``. Its encoder's files decide the result as the data do; what comes
    out of them does too, but not to the same bits on every machine, so the files stand for it.
    """
    settings: Any = OmegaConf.to_container(cfg.model, resolve=True)
    prepare = getattr(network_class(settings["_target_"]), "prepare", None)
    if prepare is None:
        return source, source.fingerprint
    prepared, encoder = prepare(source, settings)
    return prepared, f"{source.fingerprint}+{encoder}"


def make_network(cfg: DictConfig, source: Source) -> torch.nn.Module:
    """The network with the initial weights of the seed: the same for every method and K."""
    settings: Any = OmegaConf.to_container(cfg.model, resolve=True)
    build = network_class(settings["_target_"])
    settings = {key: value for key, value in settings.items() if key not in ("_target_", "name", "compile")}
    sizes = network_sizes(build, source)
    check_settings("model", build, settings, tuple(sizes))
    with torch.random.fork_rng(devices=[]), settings_of("model"):
        torch.manual_seed(torch_seed(cfg.seed, "weights"))
        network = build(**settings, **sizes)
    first = next((module for module in network.modules() if isinstance(module, torch.nn.Conv2d)), None)
    channels = source.inputs.shape[-1]
    if first is not None and source.has_images and first.in_channels != channels:
        raise InputError(
            f"{build.__name__} takes images of {first.in_channels} channels, those of {source.name!r} have {channels}"
        )
    return network


def network_sizes(build: type[torch.nn.Module], source: Source) -> dict[str, int]:
    """What the data say about a network: C; the length of its vectors, or the texts of an item, where it takes these."""
    arguments = inspect.signature(build).parameters
    takes = next((kind for kind, argument in SIZES.items() if argument in arguments), "images")
    if takes != source.kind:
        raise InputError(
            f"{build.__name__} takes {takes}, and the items of {source.name!r} are {source.kind}: use {NETWORKS[source.kind]}"
        )
    return {"num_classes": source.votes.num_classes, **({SIZES[takes]: source.inputs.shape[1]} if takes in SIZES else {})}


def make_optimizer(cfg: DictConfig, network: torch.nn.Module) -> "partial[torch.optim.Optimizer]":
    """The optimizer's class with its settings; it still waits for the parameters. Built once, to see that it takes them."""
    settings: Any = OmegaConf.to_container(cfg.recipe.optimizer, resolve=True)
    build = optimizer_class(settings["_target_"])
    settings = {key: value for key, value in settings.items() if key not in ("_target_", "_partial_")}
    check_settings("recipe.optimizer", build, settings, ("params",))
    with settings_of("recipe.optimizer"):
        build(network.parameters(), **settings)
    return partial(build, **settings)


def _slurm() -> SLURMEnvironment | None:
    """Inside a SLURM job: Lightning must not requeue it, since submitit does, and the run resumes by itself."""
    inside = SLURMEnvironment.detect() and not TorchElasticEnvironment.detect()
    return SLURMEnvironment(auto_requeue=False) if inside else None


def _quiet_lightning() -> None:
    """Silence what Lightning says to a person who writes a Trainer by hand; our own lines say what matters here."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*The `srun` command is available.*")  # a login node; our launcher submits
    warnings.filterwarnings("ignore", message=".*It is recommended to use `self.log.*")  # the metrics gather by themselves
    warnings.filterwarnings("ignore", message=".*in eval mode at the start of training.*")  # an encoder without dropout
    warnings.filterwarnings("ignore", message=".*`isinstance\\(treespec, LeafSpec\\)` is deprecated.*")
