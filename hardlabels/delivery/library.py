"""The methods as a library: ``deliver(votes, "sls", seed=0)``. Numpy only; torch is not imported."""

from functools import lru_cache
from typing import Any

import numpy as np

from hardlabels.delivery.base import Delivery
from hardlabels.errors import InputError
from hardlabels.guard import named_code
from hardlabels.randomness import MAX_SEED
from hardlabels.votes import Votes

NO_SETTINGS = ("_target_", "_partial_", "delivery")
"""What a method's yaml has beside the settings: how it becomes a LightningDataModule, and the class that delivers."""


def deliver(votes: Votes, method: str, *, seed: int, **settings: Any) -> Delivery:
    """What each epoch shows for each item: call the result with an epoch, and it returns the targets.

    (N,) int64 hard labels or (N, C) float32 soft ones, a pure function of (votes, seed, epoch): epochs may be asked for in any
    order, in any process. Methods and settings are those of ``method=`` on the command line: a yaml in ``conf/method`` each.
    ``"mixup"`` also needs each batch to go through ``.mix(inputs, targets, epoch=..., step=...)`` of the result.

    Args:
        votes: of the training items, in their order.
        method: its name, such as ``"soft"``, ``"sls"``, ``"multipass"``, ``"stratified_sls"``.
        seed: of all that the method draws, 0 .. 2^32 - 1.
        settings: of the method, such as ``hold=5``.

    Raises:
        InputError: no such method or setting (it lists those that exist), or votes that the method cannot use.

    >>> votes = Votes.from_counts([[3, 2, 0], [0, 0, 5]])
    >>> labels = deliver(votes, "multipass", seed=0)
    >>> sorted(int(labels(epoch)[0]) for epoch in range(5))
    [0, 0, 0, 1, 1]
    >>> deliver(votes, "sls", seed=0, holdd=5)
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: 'holdd' is no setting of 'sls': expected hold
    """
    if not isinstance(votes, Votes):
        raise InputError(
            f"deliver needs Votes, got {type(votes).__name__}: make them with Votes.from_counts(array) or "
            "Votes.from_probabilities(array)"
        )
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        raise InputError(f"seed must be an integer 0 .. {MAX_SEED}, got {seed!r}")
    known = methods()
    if method not in known:
        raise InputError(f"{method!r} is no method: expected one of {', '.join(known)}")
    config = known[method]
    for name in settings:
        if name not in config or name in NO_SETTINGS:
            own = ", ".join(key for key in config if key not in NO_SETTINGS)
            raise InputError(f"{name!r} is no setting of {method!r}: expected {own or 'none'}")
    chosen = {key: value for key, value in {**config, **settings}.items() if key not in NO_SETTINGS}
    return named_code("delivery", config["delivery"], Delivery)(votes, int(seed), **chosen)


@lru_cache(maxsize=1)
def methods() -> dict[str, dict[str, Any]]:
    """Every method there is a yaml for, by its name: the class (``delivery``) and the settings with their defaults.

    >>> [methods()["sls"][key] for key in ("delivery", "hold")]
    ['hardlabels.delivery.sls.SLS', 1]
    """
    import yaml  # noqa: PLC0415 - only who asks for a method by its name waits for it

    from hardlabels.configuration import CONF  # noqa: PLC0415

    return {file.stem: yaml.safe_load(file.read_text()) for file in sorted((CONF / "method").glob("*.yaml"))}
