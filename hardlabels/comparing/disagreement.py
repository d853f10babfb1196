"""The items on which network and annotators disagree most: shown, they say more than a score."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy.special import softmax

from hardlabels.comparing.measure import Measured
from hardlabels.sources.source import Source
from hardlabels.votes import js_distance

SHOWN = 12
LONGEST = 600  # characters of a text
SIDE = 160  # pixels


@dataclass(frozen=True)
class Item:
    """One item, with what people and the network say about it.

    Attributes:
        name: its id, or its position.
        picture: an image as the address of an ``<img>``; None for others.
        texts: of a text or a pair; () for others.
        votes: how many; None where only probabilities are known.
        shares: (class, share of the votes, probability by the network), the largest first.
        distance: Jensen-Shannon distance of the two.
        seeds: runs that evaluated it.
    """

    name: str
    picture: str | None
    texts: tuple[str, ...]
    votes: int | None
    shares: tuple[tuple[str, float, float], ...]
    distance: float
    seeds: int


def most_disputed(measured: Measured, source: Source, n: int = SHOWN) -> list[Item]:
    """The n evaluation items with the largest distance between the votes and the prediction, averaged over seeds.

    Args:
        measured: the runs of one method.
        source: the data.
        n: how many.
    """
    total, times = np.zeros(source.votes.p.shape), np.zeros(len(source), dtype=int)
    for run in measured.runs:
        index = run.predictions["index"]
        total[index] += softmax(run.predictions["logits"].astype(np.float64), axis=1)
        times[index] += 1
    seen = np.flatnonzero(times)
    q, p = total[seen] / times[seen, None], source.votes.p[seen]
    distance = js_distance(p, q)
    return [
        _item(source, int(seen[k]), q[k], float(distance[k]), int(times[seen[k]]))
        for k in np.argsort(-distance, kind="stable")[:n]
    ]


def _item(source: Source, place: int, q: np.ndarray, distance: float, seeds: int) -> Item:
    p = source.votes.p[place]
    order = np.argsort(-np.maximum(p, q), kind="stable")[:4]
    shares = tuple((source.class_names[c], float(p[c]), float(q[c])) for c in order)
    texts: Sequence[str] = source.inputs[place] if source.has_texts else ()
    cut = tuple(text if len(text) <= LONGEST else f"{text[:LONGEST]} ..." for text in texts)
    votes = int(source.votes.sizes[place]) if source.votes.has_votes else None
    picture = picture_address(source.inputs[place]) if source.has_images else None
    return Item(source.ids[place] if source.ids else f"item {place}", picture, cut, votes, shares, distance, seeds)


def picture_address(image: np.ndarray) -> str:
    """An image (H, W, channels) uint8 as a PNG in the address of an ``<img>``."""
    pixels = Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)
    if max(pixels.size) > SIDE:
        pixels.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    pixels.save(out, "PNG")
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
