"""Columns of texts as whole numbers: what a file of millions of votes is kept as."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class Codes(dict[str, int]):
    """Texts as whole numbers, in the order in which they first come.

    >>> codes = Codes()
    >>> [codes[text] for text in "abca"], list(codes)
    ([0, 1, 2, 0], ['a', 'b', 'c'])
    """

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code

    def take(self, texts: Sequence[str]) -> np.ndarray:
        """The codes of these texts, (n,) int32."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))


@dataclass
class Column:
    """One column of a file as codes (V,), and the text of each code."""

    codes: np.ndarray
    texts: list[str]

    def stripped(self) -> "Column":
        """The same without spaces around the texts."""
        texts = [text.strip() for text in self.texts]
        if texts == self.texts:
            return self
        merged = Codes()
        return Column(merged.take(texts)[self.codes], list(merged))

    def kept(self, mask: np.ndarray) -> "Column":
        """The entries that the mask marks; texts that none of them has are left out, the others keep their order.

        >>> Column(np.array([0, 1, 2, 1]), ["a", "b", "c"]).kept(np.array([False, True, False, True]))
        Column(codes=array([0, 0], dtype=int32), texts=['b'])
        """
        codes = self.codes[mask]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.texts)))
        place = np.zeros(len(self.texts), dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return Column(place[codes], [self.texts[code] for code in used.tolist()])
