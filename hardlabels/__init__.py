"""hardlabels: train classifiers on annotator votes, with soft labels or with hard labels that change from epoch to epoch.

The stages, in the order in which data flow; each imports only those before it:

    votes       what annotators said: a ragged table, splits, slices, distances
    sources     items and votes as one object: CIFAR-10H, synthetic data
    delivery    what each epoch shows for each item: one file per method
    learning    batches, augmentation, the network, one LightningModule for all methods
    metrics     how well predictions match the annotators
    scoring     predictions from files, joined with votes by id and class name
    runs        a cell's coordinates, its folder, training it, going on after an interruption; finished runs as one table
    inference   a trained run in use: predictions of new items, exports for other runtimes
    diagnostics probes of finished runs: one file per probe
    statistics  paired tests, Holm, intervals, equivalence
    reporting   tables, figures, claims, the page
    comparing   one answer for any data: which delivery to use

Beside them: ``adapters`` (a method's labels in your own loop: a torch data set, callbacks for Lightning and Hugging Face),
``randomness`` (the only place where a seed becomes randomness), ``errors``, ``console``, ``configuration``.
``train`` (``hardlabels train``, or ``python -m hardlabels.train``), ``compare``, ``predict``, ``export``, ``diagnose``,
``report``, ``reproduce``, ``dashboard``, ``score``, ``votes``: the commands. ``grid`` is what Hydra's multirun calls.
"""

from hardlabels.delivery import deliver
from hardlabels.errors import InputError
from hardlabels.votes import Votes

__version__ = "0.1.0"
__all__ = ["InputError", "Votes", "__version__", "deliver"]
