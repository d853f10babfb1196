"""Stage 1, votes: what annotators said, and everything that follows from it alone."""

from hardlabels.votes.distances import entropy, js_distance, l1_distance, wasserstein_distance
from hardlabels.votes.slices import SLICES, slice_masks
from hardlabels.votes.split import SPLITS, Split, split_items
from hardlabels.votes.votes_table import Votes

__all__ = [
    "SLICES",
    "SPLITS",
    "Split",
    "Votes",
    "entropy",
    "js_distance",
    "l1_distance",
    "slice_masks",
    "split_items",
    "wasserstein_distance",
]
