"""Stage 3, delivery: what each epoch shows for each item. One file per method: the pure function first, the thin class second."""

from hardlabels.delivery.base import Delivery
from hardlabels.delivery.library import deliver, methods

__all__ = ["Delivery", "deliver", "methods"]
