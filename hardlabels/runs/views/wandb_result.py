"""What a finished run leaves at W&B: the numbers people look at, a table of predictions beside the votes, the best checkpoint."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from scipy.special import log_softmax

from hardlabels.runs.cell import Cell
from hardlabels.runs.data import load_source
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.reading import read_config
from hardlabels.runs.views.wandb_run import coordinates, final_metrics
from hardlabels.sources.source import Source
from hardlabels.votes.arrays import read_arrays
from hardlabels.votes.distances import entropy

SUMMARY = (
    "best/epoch",
    *(f"best/{name}" for name in ("soft_nll", "kl_to_annotator", "hard_acc", "ece_eqmass", "smooth_ece", "ent_corr")),
    "best/non_unanimous/soft_nll",
    "best/high_disagreement/soft_nll",
    "last/epoch",
    "last/soft_nll",
    "prior/soft_nll",
)
"""The numbers in the summary of a W&B run. All others are in its history, by epoch, and in ``result.json``."""
MOST_CLASSES = 20
"""Up to so many classes the table has a column for each; above it shows the annotators' and the network's first choice."""


def summary_metrics(result: dict[str, Any]) -> dict[str, float]:
    """The part of ``result.json`` that people look at.

    >>> summary_metrics({"best": {"epoch": 3, "full": {"soft_nll": 0.5, "soft_brier": 0.1}}, "items": {"full": 9}})
    {'best/epoch': 3, 'best/soft_nll': 0.5}
    """
    found = final_metrics(result)
    return {name: found[name] for name in SUMMARY if name in found}


def prediction_rows(source: Source, saved: dict[str, np.ndarray], rows: int) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of a table of the evaluation items on which annotators and network differ most.

    The best checkpoint's q stands beside the annotators' p and the votes that it is made of; rows are sorted by KL(p || q).

    Args:
        source: the data of the run.
        saved: its ``predictions.npz``.
        rows: how many at most.
    """
    names, index, p = source.class_names, saved["index"], saved["p"]
    log_q = log_softmax(saved["logits"].astype(np.float64), axis=1)
    nll = -(p * log_q).sum(1)
    divergence, q = nll - entropy(p), np.exp(log_q)
    each = names if len(names) <= MOST_CLASSES else ()
    columns = ["item", "annotators", "network", "KL(p || q)", "soft NLL", "entropy p", "entropy q", "votes"]
    columns += [f"votes {name}" for name in each if source.votes.has_votes]
    columns += [f"{symbol} {name}" for symbol in ("p", "q") for name in each]
    table = []
    for i in np.argsort(-divergence, kind="stable")[:rows]:
        at = int(index[i])
        counts = source.votes.counts[at].tolist() if source.votes.has_votes else []
        row: list[Any] = [source.ids[at] if source.ids else str(at), names[int(p[i].argmax())], names[int(q[i].argmax())]]
        row += [float(value) for value in (divergence[i], nll[i], entropy(p[[i]])[0], entropy(q[[i]])[0])]
        row += [sum(counts) if counts else None, *(counts if each else [])]
        table.append(row + [value for values in (p[i], q[i]) for value in (values.tolist() if each else [])])
    return columns, table


def log_predictions(wandb_run: Any, folder: Path, rows: int) -> None:
    """Show :func:`prediction_rows` in the W&B run as the table ``predictions``, with the image or the text of each item."""
    import wandb  # noqa: PLC0415 - seconds, and only for those who use it

    directory = RunDirectory(folder)
    # The data of the run that has just ended: this process has them still.
    source = load_source(OmegaConf.to_yaml(read_config(directory.config).data, resolve=True))
    columns, table = prediction_rows(source, read_arrays(directory.predictions), rows)
    places = {name: place for place, name in enumerate(source.ids)}
    if source.has_images or source.has_texts:
        columns = [columns[0], "image" if source.has_images else "text", *columns[1:]]
        for row in table:
            item = source.inputs[places[row[0]] if places else int(row[0])]
            row.insert(1, wandb.Image(item.squeeze()) if source.has_images else " | ".join(item))
    wandb_run.log({"predictions": wandb.Table(columns=[*columns], data=table)})


def log_checkpoint(wandb_run: Any, folder: Path, cell: Cell, result: dict[str, Any]) -> None:
    """Keep ``best.ckpt`` as an artifact of the type ``model``; its name is that of the W&B run, its metadata the summary."""
    import wandb  # noqa: PLC0415

    artifact = wandb.Artifact(f"model-{wandb_run.id}", "model", metadata={**coordinates(cell), **summary_metrics(result)})
    artifact.add_file(str(RunDirectory(folder).best))
    wandb_run.log_artifact(artifact, aliases=["best"])


def sync_command(folder: Path, run_id: str) -> str | None:
    """The command that sends what a run wrote offline, all of its parts in order; None where it wrote nothing.

    Args:
        folder: of the run.
        run_id: at W&B.
    """
    parts = sorted(map(str, folder.glob(f"wandb/offline-run-*-{run_id}")))
    return shlex.join(["wandb", "sync", *parts]) if parts else None
