"""hardlabels: train classifiers on annotator votes, with soft labels or with hard labels that change from epoch to epoch.

The stages, in the order in which data flow; each imports only those before it:

    votes       what annotators said: a ragged table, splits, slices, distances
    sources     items and votes as one object: CIFAR-10H, synthetic data
    delivery    what each epoch shows for each item: one file a method
    learning    batches, augmentation, the network, one LightningModule for all methods
    metrics     how well predictions match the annotators
    runs        a cell's coordinates, its folder, training it, going on after an interruption; finished runs as one table
    diagnostics probes of finished runs: one file a probe
    statistics  paired tests, Holm, intervals, equivalence
    reporting   tables, figures, claims, the page

Beside them: ``adapters`` (a method's labels in your own loop: a torch data set, callbacks for Lightning and Hugging Face),
``randomness`` (the only place where a seed becomes randomness), ``errors``, ``console``, ``configuration``.
``train`` (``python -m hardlabels.train``), ``diagnose``, ``report``, ``reproduce``, ``dashboard``, ``score``, ``votes``: the
commands. ``grid`` is what Hydra's multirun calls.
"""

from hardlabels.delivery import deliver
from hardlabels.errors import InputError
from hardlabels.votes import Votes

__version__ = "0.1.0"
__all__ = ["InputError", "Votes", "__version__", "deliver"]
