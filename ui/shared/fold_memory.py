"""The folds that were opened latest, as read and as normalised: as many as a bound of bytes allows.

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

from rankviz.common.bounds import bounds
from rankviz.common.mapped import mapping_of
from rankviz.datasets import Fold

IDLE_SECONDS = 600
"""A fold that nobody has asked for in so long is let go: whoever does so next has it opened again."""


@dataclass(frozen=True)
class FoldKey:
    """What a fold is kept by.

    Attributes
    ----------
    files : tuple of (path, bytes, time in ns)
        Its files, as they were when it was read.
    fold, normalisation : str
        Its name, and what was done to its features; nothing to those that are as read.
    """

    files: tuple[tuple[str, int, int], ...]
    fold: str
    normalisation: str = ""


class FoldMemory:
    """Folds by their keys, shared by all visitors; the one asked for longest ago goes first.

    The latest `LATEST` stay however large they are: the fold that a page is about, as read and normalised.
    """

    LATEST = 2

    def __init__(self, most_bytes: Callable[[], float]) -> None:
        self._most_bytes, self._lock = most_bytes, Lock()
        self._folds: OrderedDict[FoldKey, Fold] = OrderedDict()
        self._asked: dict[FoldKey, float] = {}
        self._making: WeakValueDictionary[FoldKey, Lock] = WeakValueDictionary()

    def get(self, key: FoldKey, make: Callable[[], Fold]) -> Fold:
        """The fold of a key, made where it is not here; whoever else asks for it meanwhile waits for it."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                found = self._folds.get(key)
            return self._put(key, make() if found is None else found)

    def forget(self, folder: Path) -> None:
        """Let go the folds whose files lie at or below a path."""
        self._let_go(lambda key: any(Path(path).is_relative_to(folder) for path, _, _ in key.files))

    def look(self, now: float) -> bool:
        """Let go the folds that nobody has asked for in a while, by the monotonic clock; whether any were."""
        return self._let_go(lambda key: now - self._asked[key] > IDLE_SECONDS)

    def clear(self) -> None:
        """Let go all."""
        self._let_go(lambda _: True)

    def __len__(self) -> int:
        """How many there are."""
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
"""One for the server, and no cache of Streamlit's: these any visitor's browser may ask to empty."""


def nbytes(folds: Iterable[Fold]) -> int:
    """Bytes that folds take together: a normalised one shares with the one as read all but its features.

    What lies in a mapped file of the cache takes none: the system takes its pages back when it needs them.
    """
    values = (value for fold in folds for part in fold.parts.values() for value in vars(part).values())
    arrays = [value for value in values if isinstance(value, np.ndarray) and mapping_of(value) is None]
    return sum({id(array): array.nbytes for array in arrays}.values())
