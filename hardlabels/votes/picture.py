"""A picture of a table of votes: how unsure annotators are, how many voted, and for what."""

from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import NamedVotes
from hardlabels.votes.summary import class_shares

MOST_BARS = 30
ENDINGS = (".png", ".pdf", ".svg")


def prepare_picture(named: NamedVotes) -> dict[str, Any]:
    """The numbers behind the picture: histograms as (edges, heights), the classes with their shares (of many, the most frequent).

    The entropy is over ln C, so that 1 is as unsure as can be.
    """
    votes = named.votes
    unsure = votes.entropy / max(np.log(votes.num_classes), 1e-300) if votes.num_classes > 1 else votes.entropy
    heights, edges = np.histogram(np.clip(unsure, 0, 1), bins=25, range=(0, 1))
    sizes = None
    if votes.has_votes:
        least, most = int(votes.sizes.min()), int(votes.sizes.max())
        step = max(1, -(-(most - least + 1) // 40))
        bins = np.arange(least, most + step + 1, step) - 0.5
        sizes = (bins, np.histogram(votes.sizes, bins=bins)[0])
    shares = class_shares(votes)
    # Few classes keep their order, which may be a scale.
    shown = np.arange(len(shares)) if len(shares) <= MOST_BARS else np.argsort(-shares, kind="stable")[:MOST_BARS]
    return {"entropy": (edges, heights), "sizes": sizes, "classes": [(named.class_names[c], float(shares[c])) for c in shown]}


def check_picture(path: Path) -> None:
    """Refuse a place where no picture can be."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"--picture: expected a file {', '.join(ENDINGS)}, got {str(path)!r:.200}")
    if not path.parent.is_dir():
        raise InputError(f"--picture: expected an existing folder, got {str(path.parent)!r:.200}")


def draw_picture(named: NamedVotes, path: Path) -> None:
    """Write the picture to ``path``, as its ending says."""
    check_picture(path)
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only pictures need

    numbers = prepare_picture(named)
    panels = [name for name in ("entropy", "sizes", "classes") if numbers[name] is not None]
    figure = Figure(figsize=(4 * len(panels), 3), layout="constrained")
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        if name == "classes":
            names, shares = zip(*numbers["classes"], strict=True)
            axes.bar(range(len(names)), shares, color="C2")
            # A dollar sign in a name would be read as a formula.
            axes.set_xticks(
                range(len(names)), [text[:20].replace("$", r"\$") for text in names], rotation=90 if len(names) > 6 else 0
            )
            axes.set(ylabel="mean share over items", title="classes")
        else:
            edges, heights = numbers[name]
            axes.bar(edges[:-1], heights, width=np.diff(edges), align="edge", color="C0" if name == "entropy" else "C1")
            label = "annotator entropy / ln C" if name == "entropy" else "votes an item"
            axes.set(xlabel=label, ylabel="items", title=f"{len(named.votes):,} items")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"--picture: cannot write {path}: {error.strerror or error}") from error
