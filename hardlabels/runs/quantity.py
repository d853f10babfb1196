"""What a number of the records is about: a quantity, seen at one of two checkpoints."""

from dataclasses import dataclass, replace

CHECKPOINTS = ("best", "last")
"""The two networks of a run that numbers are about: of the epoch that was selected, and of the last one."""

TIMELESS = ("dynamics", "prior", "oracle")
"""What is no property of one network: the curves of training, and the predictions that no network made."""


@dataclass(frozen=True)
class Quantity:
    """What a number measures. A checkpoint is no part of it: records are seen at one (:meth:`Records.at`).

    Attributes:
        name: of a metric, or of what a probe measures; detectors of outliers have several words with "/" between them.
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
    def words(self) -> list[str]:
        """The parts of a name that has several: outliers, detector, measure."""
        return self.name.split("/")

    @property
    def timeless(self) -> bool:
        """Whether it is the same at every checkpoint."""
        return self.probe in TIMELESS

    def on(self, slice: str) -> "Quantity":
        """The same quantity on another slice."""
        return replace(self, slice=slice)
