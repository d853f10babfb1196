"""Grad-CAM stability: do two networks look at the same place of an image?

Maps are compared as the last stage gives them (4 x 4 for 32-pixel images): enlarging them adds pixels, not information. They live
one chunk at a time; what stays of an image is one correlation.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from captum.attr import LayerGradCam  # type: ignore[import-untyped]
from torch import Tensor, nn

from hardlabels.diagnostics.correlation import CONSTANT, pearson
from hardlabels.diagnostics.items import chunks, item_slices, shared_items
from hardlabels.diagnostics.probe import NotApplicableError
from hardlabels.errors import InputError
from hardlabels.runs.finished import FinishedRun

TARGETS = ("majority", "predicted")


def grad_cam(network: nn.Module, layer: str, inputs: Tensor, classes: Tensor) -> np.ndarray:
    r"""Grad-CAM maps :math:`ReLU(\sum_k \bar g_k A_k)`: the channels of a layer, weighted by the mean gradient of a logit.

    Args:
        network: inputs to logits, in eval mode.
        layer: the name of a convolutional stage.
        inputs: (n, channels, H, W).
        classes: (n,) int64, the class to explain in each image.

    Returns:
        (n, h, w) float32 maps at the layer's resolution, on the CPU and without a graph.

    >>> net = nn.Sequential(nn.Conv2d(1, 1, 1, bias=False), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    >>> _ = nn.init.ones_(net[0].weight)
    >>> grad_cam(net, "0", torch.tensor([[[[4.0, -8.0]]]]), torch.tensor([0])).tolist()  # the mean has gradient 1/2 everywhere
    [[[2.0, 0.0]]]
    """
    try:
        stage = network.get_submodule(layer)
    except AttributeError as error:
        names = ", ".join(name for name, _ in network.named_children())
        raise InputError(f"layer must be a stage of the network ({names}), got {layer!r}") from error
    maps = LayerGradCam(network, stage).attribute(inputs, target=classes, relu_attributions=True)
    return maps.detach().cpu()[:, 0].numpy()


def example_places(entropy: np.ndarray, examples: int) -> np.ndarray:
    """Which of n images to show: evenly spaced in the order of annotator entropy, from the most agreed on to the most disputed.

    >>> example_places(np.array([0.3, 0.1, 0.2, 0.4, 0.0]), 3).tolist()
    [4, 2, 3]
    """
    order = np.argsort(entropy, kind="stable")
    return order[np.linspace(0, len(order) - 1, min(examples, len(order))).round().astype(int)]


def gradcam(
    a: FinishedRun, b: FinishedRun, *, checkpoint: str, layer: str, target: str, chunk: int, examples: int, device: str
) -> Iterator[tuple[str, Any]]:
    """Pearson correlation of the two networks' maps, image by image, averaged over the images that neither trained on.

    A map without contrast (ReLU may leave nothing) correlates with nothing: such images are counted and left out.

    Args:
        a: a finished run.
        b: another one on the same data.
        checkpoint: ``best`` or ``last``, of both.
        layer: the stage whose channels are weighted; a network with an encoder takes the encoder's last one in its place.
        target: the class that is explained: ``majority``, the annotators' majority label, the same for both networks; or
            ``predicted``, each network's own choice, so that maps may differ because predictions do.
        chunk: images at a time.
        examples: keep the maps of this many images, for a picture.
        device: where to compute.

    Raises:
        NotApplicableError: the items are no images, or the networks see no maps of them: features of a frozen encoder, or an
            encoder that is trained but has no last layer of maps.

    Yields:
        ``<slice>/items``, ``<slice>/constant`` (left out), ``<slice>/correlation``; arrays ``example_position`` (m,),
        ``example_image`` (m, H, W, channels) uint8, ``example_map_a``, ``example_map_b`` (m, h, w), ``example_correlation`` (m,).
    """
    if target not in TARGETS:
        raise InputError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    if not a.source.has_images:
        raise NotApplicableError(
            f"it asks where in an image a network looks, and the items of {a.source.name!r} are {a.source.kind}"
        )
    if not a.prepared.has_images:
        raise NotApplicableError("it asks where in an image a network looks, and this one sees features of a frozen encoder")
    items = shared_items(a, b)
    votes, networks = a.source.votes, (a.network(checkpoint, device), b.network(checkpoint, device))
    if hasattr(networks[0], "map_layer"):  # an encoder knows its own last maps
        try:
            layer = networks[0].map_layer()  # type: ignore[operator]
        except InputError as error:  # or it knows that it has none, which no setting of the probe would change
            raise NotApplicableError(str(error)) from error
    shown = example_places(votes.entropy[items], examples)
    kept: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    correlation = np.empty(len(items))
    for places in chunks(np.arange(len(items)), chunk):
        inputs = a.inputs(items[places], device)
        majority = votes.majority[items[places]]
        map_a, map_b = (grad_cam(net, layer, inputs, _classes(net, inputs, majority, target)) for net in networks)
        correlation[places] = pearson(map_a.reshape(len(places), -1), map_b.reshape(len(places), -1), constant=CONSTANT)
        for place in np.intersect1d(places, shown):  # copies, or one image would keep its whole chunk alive
            kept[int(place)] = map_a[place - places[0]].copy(), map_b[place - places[0]].copy()

    for name, inside in item_slices(a, items).items():
        values = correlation[inside]
        found = values[~np.isnan(values)]
        yield f"{name}/items", len(values)
        yield f"{name}/constant", len(values) - len(found)
        yield f"{name}/correlation", float(found.mean()) if len(found) else None
    if len(shown):
        yield "example_position", items[shown]
        yield "example_image", a.source.shown[items[shown]]
        yield "example_map_a", np.stack([kept[int(place)][0] for place in shown])
        yield "example_map_b", np.stack([kept[int(place)][1] for place in shown])
        yield "example_correlation", correlation[shown]


def _classes(network: nn.Module, inputs: Tensor, majority: np.ndarray, target: str) -> Tensor:
    if target == "majority":
        return torch.from_numpy(majority).to(inputs.device)
    with torch.no_grad():
        return network(inputs).argmax(1)
