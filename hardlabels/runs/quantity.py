"""What a number of the records is about: a quantity, seen at one of two checkpoints.

Quantities have names in the columns of tables, in the files of probes and in ``history.csv``. Each of these names is written by
one function here and read by its inverse; nothing else takes them apart.
"""

from dataclasses import dataclass, replace

from hardlabels.votes import SLICES

CHECKPOINTS = ("best", "last")
"""The two networks of a run that numbers are about: of the epoch that was selected, and of the last one."""

REFERENCES = ("prior", "oracle")
"""Predictions that no network made: the class shares, and the annotators' own distribution."""

TIMELESS = ("dynamics", *REFERENCES)
"""What is no property of one network: the curves of training, and the predictions that no network made."""

VIEWS = (*SLICES, "truth")
"""What a probe's value may be about: a slice of the evaluation items, or the majority label."""


@dataclass(frozen=True)
class Quantity:
    """What a number measures. A checkpoint is no part of it: records are seen at one (:meth:`Records.at`).

    Attributes:
        name: of a metric, or of what a probe measures; :class:`Detection` reads the name of what a detector of outliers has.
        probe: what measured it; empty for the metrics of ``result.json``.
        slice: of the evaluation items.
    """

    name: str
    probe: str = ""
    slice: str = "full"

    @property
    def column(self) -> str:
        """Its name in the table of the records.

        >>> Quantity("soft_nll").column, Quantity("lambda_max", "hessian").column
        ('soft_nll', 'hessian/lambda_max')
        """
        return f"{self.probe}/{self.name}" if self.probe else self.name

    @classmethod
    def from_column(cls, column: str, slice: str = "full") -> "Quantity":
        """The inverse of ``column``.

        >>> Quantity.from_column("ood/svhn/energy/auroc")
        Quantity(name='svhn/energy/auroc', probe='ood', slice='full')
        """
        probe, mark, name = column.partition("/")
        return cls(name, probe, slice) if mark else cls(column, "", slice)

    @property
    def timeless(self) -> bool:
        """Whether it is the same at every checkpoint."""
        return self.probe in TIMELESS

    def on(self, slice: str) -> "Quantity":
        """The same quantity on another slice."""
        return replace(self, slice=slice)


@dataclass(frozen=True)
class Detection:
    """What the probe ``ood`` measures: how one detector tells one set of outliers from the evaluation items.

    Attributes:
        outliers: name of the set.
        detector: name of the detector.
        measure: AUROC and the like; in the probe's arrays also the points of a curve.
    """

    outliers: str
    detector: str
    measure: str

    @property
    def name(self) -> str:
        """Its name among the values and arrays of the probe.

        >>> Detection("svhn", "energy", "auroc").name
        'svhn/energy/auroc'
        """
        return f"{self.outliers}/{self.detector}/{self.measure}"

    @property
    def quantity(self) -> Quantity:
        """The quantity.

        >>> Detection("svhn", "energy", "auroc").quantity.column
        'ood/svhn/energy/auroc'
        """
        return Quantity(self.name, "ood")

    @classmethod
    def read(cls, name: str) -> "Detection | None":
        """The inverse of ``name``; None where it is the name of something else.

        >>> Detection.read("svhn/energy/auroc"), Detection.read("left_out")
        (Detection(outliers='svhn', detector='energy', measure='auroc'), None)
        """
        words = name.split("/")
        return cls(*words) if len(words) == 3 else None

    @classmethod
    def from_column(cls, column: str) -> "Detection | None":
        """The inverse of ``quantity.column``; None for the column of another quantity.

        >>> Detection.from_column("hessian/full/trace") is None
        True
        """
        quantity = Quantity.from_column(column)
        return cls.read(quantity.name) if quantity.probe == "ood" else None


def write_probed(name: str, slice: str = "full") -> str:
    """The key of a probe's value on a slice, in the probe's file.

    >>> write_probed("lambda_max"), write_probed("lambda_max", "high_disagreement")
    ('full/lambda_max', 'high_disagreement/lambda_max')
    """
    return f"{slice}/{name}"


def read_probed(key: str) -> tuple[str, str]:
    """(name, slice): the inverse of :func:`write_probed`. A key without a slice is about all items.

    >>> read_probed("high_disagreement/lambda_max"), read_probed("weight_norm"), read_probed("svhn/energy/auroc")
    (('lambda_max', 'high_disagreement'), ('weight_norm', 'full'), ('svhn/energy/auroc', 'full'))
    """
    head, _, rest = key.partition("/")
    return (rest, head) if head in VIEWS and rest else (key, "full")


def history_column(part: str, metric: str, slice: str = "full") -> str:
    """The column of ``history.csv`` with a metric of one part of the data, ``evaluate`` or ``select``.

    >>> history_column("evaluate", "soft_nll"), history_column("evaluate", "soft_nll", "high_disagreement")
    ('evaluate/soft_nll', 'evaluate/high_disagreement/soft_nll')
    """
    return f"{part}/{metric}" if slice == "full" else f"{part}/{slice}/{metric}"
