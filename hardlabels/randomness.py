"""The only place where a seed becomes randomness.

Every random decision is a pure function of (seed, purpose, counters): no generator state travels between epochs, processes or
machines, so a resumed run, another world size and another worker see the same labels, the same image order, the same crops.
"""

import hashlib

import numpy as np

from hardlabels.errors import InputError

MAX_SEED = 2**32 - 1


def stream(seed: int, purpose: str, *counters: int) -> np.random.Generator:
    """A fresh generator for one purpose: counter-based Philox over a ``SeedSequence`` of (seed, purpose, counters).

    Args:
        seed: the run's seed, 0 .. 2^32 - 1.
        purpose: what the numbers are for, such as ``"sls"``; two purposes never share a stream.
        counters: the epoch, and where needed a step inside it; 0 .. 2^32 - 1 each.

    >>> int(stream(0, "sls", 3).integers(1000)) == int(stream(0, "sls", 3).integers(1000))
    True
    >>> int(stream(0, "sls", 3).integers(1000)) == int(stream(0, "sls", 4).integers(1000))
    False
    """
    for name, word in (("seed", seed), *((f"counter {i}", c) for i, c in enumerate(counters))):
        if not isinstance(word, (int, np.integer)) or not 0 <= word <= MAX_SEED:
            raise InputError(f"{name} of the {purpose!r} stream must be an integer 0 .. {MAX_SEED}, got {word!r}")
    name_word = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:4], "little")
    # The number of counters is a word too: SeedSequence pads with zeros, so (seed, 7) and (seed, 7, 0) would otherwise agree.
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, name_word, len(counters), *counters])))


def torch_seed(seed: int, purpose: str) -> int:
    """A 63-bit integer for ``torch.manual_seed``, for the one thing torch draws itself: the initial weights.

    >>> torch_seed(0, "weights") == torch_seed(0, "weights") != torch_seed(1, "weights")
    True
    """
    return int(stream(seed, purpose).integers(2**63 - 1))
