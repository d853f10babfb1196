"""Items to look through: what annotators voted and what each method predicts, for one seed's evaluation items.

The page holds them as JSON, and ``templates/explorer.js`` sorts and shows them. Texts and images are there when the data are on
the machine that makes the report; images as one sheet of thumbnails.
"""

import base64
import io
import json
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from PIL import Image
from scipy.special import log_softmax, softmax

from hardlabels.metrics.scores import item_nll
from hardlabels.reporting.figures.style import label
from hardlabels.reporting.tables.saved import predictions_of, source_at_hand
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.sources.source import Source
from hardlabels.votes import entropy

MOST_ITEMS = 2000
THUMBNAIL, COLUMNS = 32, 50
LONGEST = 600  # letters of a text


@dataclass(frozen=True)
class Explorer:
    """The items of one data set.

    Attributes:
        about: which runs they come from, in words.
        classes: their names.
        methods: those whose predictions are there.
        positions: N places in the data set.
        votes: (N, C) the annotators' distribution.
        predictions: method to (N, C).
        gains: method to (N,) by how much its cross-entropy is below that of soft labels, nat; empty without soft labels.
        texts: N texts; empty where items are no texts.
        sheet: the address of a sheet of thumbnails; empty where items are no images.
    """

    about: str
    classes: tuple[str, ...]
    methods: tuple[str, ...]
    positions: np.ndarray
    votes: np.ndarray
    predictions: dict[str, np.ndarray]
    gains: dict[str, np.ndarray]
    texts: tuple[str, ...] = ()
    sheet: str = ""

    def as_json(self) -> Markup:
        """For a block of data in the page: no sign in it can end the block."""
        content = {
            "classes": self.classes,
            "methods": [label(method) for method in self.methods],
            "positions": self.positions.tolist(),
            "entropy": np.round(entropy(self.votes), 4).tolist(),
            "votes": _percent(self.votes),
            "predictions": [_percent(self.predictions[method]) for method in self.methods],
            "entropies": [np.round(entropy(self.predictions[method]), 4).tolist() for method in self.methods],
            "gains": [np.round(self.gains[method], 4).tolist() if method in self.gains else None for method in self.methods],
            "texts": self.texts,
            "sheet": {"columns": COLUMNS, "side": THUMBNAIL} if self.sheet else None,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def prepare_explorer(records: Records) -> Explorer | None:
    """The evaluation items of the seed and K with most methods (all votes first); None where no run has predictions.

    Args:
        records: finished runs of one data set and recipe.
    """
    cells = _cells(records)
    saved = {cell.variant: found for cell in cells if (found := predictions_of(FinishedRun(records.folders[cell]))) is not None}
    if not saved:
        return None
    first = next(iter(saved.values()))
    methods = [method for method, found in saved.items() if np.array_equal(found["index"], first["index"])]
    p = first["p"].astype(np.float64)[:MOST_ITEMS]
    logits = {method: saved[method]["logits"].astype(np.float64)[:MOST_ITEMS] for method in methods}
    losses = {method: item_nll(log_softmax(z, axis=1), p) for method, z in logits.items()}
    gains = {method: losses["soft"] - loss for method, loss in losses.items() if "soft" in losses and method != "soft"}
    source = source_at_hand(FinishedRun(records.folders[cells[0]]))
    positions = first["index"][:MOST_ITEMS]
    cell = cells[0]
    votes = "all votes" if cell.K is None else f"{cell.K} votes per item in training"
    return Explorer(
        about=f"{len(p):,} of {len(first['p']):,} evaluation items of seed {cell.seed}, {votes}, selected epoch",
        classes=tuple(str(c) for c in range(p.shape[1])) if source is None else source.class_names,
        methods=tuple(methods),
        positions=positions,
        votes=p,
        predictions={method: softmax(z, axis=1) for method, z in logits.items()},
        gains={method: np.nan_to_num(gain, posinf=99.0, neginf=-99.0) for method, gain in gains.items()},
        texts=_texts(source, positions),
        sheet=_sheet(source, positions),
    )


def _cells(records: Records) -> list[Cell]:
    """The runs of the seed and K that most methods have, all votes and low seeds first."""
    groups: dict[tuple[float, int], list[Cell]] = {}
    for cell in records.folders:
        if not cell.settings:
            groups.setdefault((cell.votes, cell.seed), []).append(cell)
    if not groups:
        return []
    best = min(groups, key=lambda key: (-len(groups[key]), -key[0], key[1]))
    return sorted(groups[best], key=lambda cell: method_key(cell.variant))


def _percent(table: np.ndarray) -> list[list[int]]:
    return np.rint(100 * table).astype(int).tolist()


def _texts(source: Source | None, positions: np.ndarray) -> tuple[str, ...]:
    if source is None or not source.has_texts:
        return ()
    joined = (" → ".join(source.inputs[position]) for position in positions)
    return tuple(text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in joined)


def _sheet(source: Source | None, positions: np.ndarray) -> str:
    """Thumbnails in rows of ``COLUMNS``, as one JPEG in a data address."""
    if source is None or not source.has_images:
        return ""
    lines = -(-len(positions) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * THUMBNAIL, lines * THUMBNAIL))
    for place, position in enumerate(positions):
        pixels = source.inputs[position]
        picture = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels[..., :3]).convert("RGB")
        row, column = divmod(place, COLUMNS)
        sheet.paste(picture.resize((THUMBNAIL, THUMBNAIL)), (column * THUMBNAIL, row * THUMBNAIL))
    out = io.BytesIO()
    sheet.save(out, "JPEG", quality=85)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
