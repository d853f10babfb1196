"""The methods in words, for somebody who has read neither paper."""

from hardlabels.runs.spelling import read_method

MEANING = {
    "soft": "the share of each class among the votes, as soft labels",
    "sls": "one label drawn from the votes, anew in every epoch",
    "multipass": "the votes one after the other, one in every epoch",
    "deterministic_control": "the votes one after the other, in another order (a control)",
    "shuffled_sls": "one label drawn from the votes of another item (a control)",
    "majority": "the majority label",
    "label_smoothing": "the majority label, softened in the same way for every item",
    "mixup": "blends of two items and of their majority labels",
    "repeated": "every vote, each as an example of its own",
    "dawid_skene": "soft labels from the votes, weighed by how reliable each annotator is",
    "stratified_sls": "drawn labels whose counts follow the shares of the votes closely",
}
"""What an epoch of training shows for an item."""


def meaning(method: str) -> str:
    """A method in words; its name where nothing is known about it.

    >>> meaning("majority"), meaning("sls,hold=5") == meaning("sls"), meaning("of_my_own")
    ('the majority label', True, 'of_my_own')
    """
    return MEANING.get(read_method(method).name, method)
