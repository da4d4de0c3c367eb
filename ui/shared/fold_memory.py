"""The folds opened last, as read and as normalised, within a bound of bytes.

See docs/decisions/0021-uploads-in-memory.md.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

import numpy as np

from rankviz.common.arrays import mapping_of
from rankviz.common.bounds import bounds
from rankviz.datasets import Fold

IDLE_SECONDS = 600
"""Seconds without use after which a fold is freed; the next use opens it again."""


@dataclass(frozen=True)
class FoldKey:
    """Key of a fold.

    Attributes
    ----------
    files : tuple of (path, bytes, time in ns)
        Its files, with their state when it was read.
    fold, normalisation : str
        Its name, and its normalisation; "" as read.
    """

    files: tuple[tuple[str, int, int], ...]
    fold: str
    normalisation: str = ""


class FoldMemory:
    """Folds by key, shared by all visitors; the least recently used is freed first.

    The last `LATEST` always stay: a page's fold, as read and normalised.
    """

    LATEST = 2

    def __init__(self, most_bytes: Callable[[], float]) -> None:
        self._most_bytes, self._lock = most_bytes, Lock()
        self._folds: OrderedDict[FoldKey, Fold] = OrderedDict()
        self._asked: dict[FoldKey, float] = {}
        self._making: WeakValueDictionary[FoldKey, Lock] = WeakValueDictionary()

    def get(self, key: FoldKey, make: Callable[[], Fold]) -> Fold:
        """Return the fold of a key, made if missing; others that need it meanwhile wait."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                found = self._folds.get(key)
            return self._put(key, make() if found is None else found)

    def forget(self, folder: Path) -> None:
        """Free the folds with files at or below a path."""
        self._let_go(lambda key: any(Path(path).is_relative_to(folder) for path, _, _ in key.files))

    def look(self, now: float) -> bool:
        """Free the folds that were not used for a while, by the monotonic clock; return True if any were."""
        return self._let_go(lambda key: now - self._asked[key] > IDLE_SECONDS)

    def clear(self) -> None:
        """Free all folds."""
        self._let_go(lambda _: True)

    def __len__(self) -> int:
        """Return the number of folds."""
        return len(self._folds)

    def _let_go(self, which: Callable[[FoldKey], bool]) -> bool:
        with self._lock:
            gone = [key for key in self._folds if which(key)]
            for key in gone:
                del self._folds[key], self._asked[key]
        return bool(gone)

    def _put(self, key: FoldKey, fold: Fold) -> Fold:
        most = self._most_bytes()
        with self._lock:
            self._folds[key], self._asked[key] = fold, time.monotonic()
            self._folds.move_to_end(key)
            while len(self._folds) > self.LATEST and nbytes(self._folds.values()) > most:
                oldest, _ = self._folds.popitem(last=False)
                del self._asked[oldest]
        return fold


FOLDS = FoldMemory(lambda: bounds().fold_bytes)
"""The instance for the server; not a Streamlit cache, which any visitor's browser may empty."""


def nbytes(folds: Iterable[Fold]) -> int:
    """Return the total bytes of folds: a normalised fold shares all but its features with the original.

    Mapped files of the cache count as 0, because the system can reclaim their pages.
    """
    values = (value for fold in folds for part in fold.parts.values() for value in vars(part).values())
    arrays = [value for value in values if isinstance(value, np.ndarray) and mapping_of(value) is None]
    return sum({id(array): array.nbytes for array in arrays}.values())
