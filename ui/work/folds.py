"""Data sets and folds for pages: the folds opened last, as read and as normalised, within a bound of bytes.

See docs/decisions/0021-uploads-in-memory.md.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st

from rankviz.common.arrays import mapping_of
from rankviz.common.bounds import bounds
from rankviz.datasets import Dataset, Fold, data_roots, find_datasets, normalise, open_fold
from rankviz.datasets.folds import ENVIRONMENT
from rankviz.datasets.upload_folders import visitor_root
from rankviz.runs.spec import RunSpec
from ui.shell.visitors import visitor

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
        self._folds: OrderedDict[FoldKey, tuple[Fold, float]] = OrderedDict()
        self._making: WeakValueDictionary[FoldKey, Lock] = WeakValueDictionary()

    def get(self, key: FoldKey, make: Callable[[], Fold]) -> Fold:
        """Return the fold of a key, made if missing; others that need it meanwhile wait."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                found, _ = self._folds.get(key, (None, 0.0))
            return self._put(key, make() if found is None else found)

    def forget(self, folder: Path) -> None:
        """Free the folds with files at or below a path."""
        self._free(lambda key: any(Path(path).is_relative_to(folder) for path, _, _ in key.files))

    def free_idle(self, now: float) -> bool:
        """Free the folds that were not used for a while, by the monotonic clock; return True if any were."""
        return self._free(lambda key: now - self._folds[key][1] > IDLE_SECONDS)

    def clear(self) -> None:
        """Free all folds."""
        self._free(lambda _: True)

    def __len__(self) -> int:
        """Return the number of folds."""
        return len(self._folds)

    def _free(self, which: Callable[[FoldKey], bool]) -> bool:
        with self._lock:
            gone = [key for key in self._folds if which(key)]
            for key in gone:
                del self._folds[key]
        return bool(gone)

    def _put(self, key: FoldKey, fold: Fold) -> Fold:
        most = self._most_bytes()
        with self._lock:
            self._folds[key] = fold, time.monotonic()
            self._folds.move_to_end(key)
            while len(self._folds) > self.LATEST and nbytes(one for one, _ in self._folds.values()) > most:
                self._folds.popitem(last=False)
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


def own_root() -> Path:
    """Return the folder of this visitor's own data sets, even if it is empty."""
    return visitor_root(visitor())


def roots_of_all() -> tuple[Path, ...]:
    """Return the data roots: `--data-dir folder` after `streamlit run app.py --`, or the defaults.

    A new folder is found within ten seconds: to follow links takes a tenth of a short script.
    """
    return _roots(_named_roots(tuple(sys.argv[1:])), os.environ.get(ENVIRONMENT, ""))


@st.cache_resource(ttl=10, max_entries=8, show_spinner=False)
def _roots(named: list[str], environment: str) -> tuple[Path, ...]:  # the second is part of the key
    return data_roots(named)


@cache
def _named_roots(arguments: tuple[str, ...]) -> list[str]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data-dir", action="append", default=[])
    named: list[str] = parser.parse_known_args(arguments)[0].data_dir
    return named


def data_roots_of_visitor() -> tuple[Path, ...]:
    """Return this visitor's data folders: the data roots of all, and their own folder."""
    own = own_root()
    return (*roots_of_all(), own) if own.is_dir() else roots_of_all()


def datasets() -> dict[str, Dataset]:
    """Return this visitor's data sets; a new folder is found within ten seconds."""
    return _found(tuple(map(str, data_roots_of_visitor())))


def search_again() -> None:
    """Search for data sets again after one was added or removed."""
    _found.clear()


@st.cache_resource(ttl=10, max_entries=64, show_spinner=False)
def _found(roots: tuple[str, ...]) -> dict[str, Dataset]:
    return find_datasets(roots)


def fold_of(spec: RunSpec) -> Fold:
    """Return the fold of a spec, as read; it is reopened when one of its files changes."""
    dataset, key = _found_fold(spec)

    def read() -> Fold:
        with st.spinner("Reading …"):
            return open_fold(dataset, spec.fold)

    return FOLDS.get(key, read)


def digest_of(spec: RunSpec) -> str:
    """Return the digest of a spec's fold, as read: the fold is opened once until its files change."""
    return _digest(str(_found_fold(spec)[1]), spec)


def is_here(spec: RunSpec) -> bool:
    """Return True if a run's data are here, and are still those that it was made with."""
    known = datasets().get(spec.dataset)
    return known is not None and spec.fold in known.folds and digest_of(spec) == spec.digest


@st.cache_resource(max_entries=256, show_spinner=False)
def _digest(key: str, _spec: RunSpec) -> str:
    return fold_of(_spec).digest


def normalised(spec: RunSpec) -> Fold:
    """Return the spec's fold with the spec's normalisation."""
    fold, (_, key) = fold_of(spec), _found_fold(spec)
    return FOLDS.get(
        replace(key, normalisation=spec.normalisation), lambda: normalise(fold, spec.normalisation)
    )


def fold_later(spec: RunSpec) -> Callable[[], Fold]:
    """Return a function that returns the spec's fold, as read, after the page has been drawn.

    It is for files made on a click. The visitor is unknown then, and a fold in the button would stay in
    memory while its visitor may return.
    """
    dataset, key = _found_fold(spec)
    return lambda: FOLDS.get(key, lambda: open_fold(dataset, spec.fold))


def _found_fold(spec: RunSpec) -> tuple[Dataset, FoldKey]:
    """Return a spec's data set, and the key of its fold."""
    dataset = datasets()[spec.dataset]
    files = [(str(path), path.stat()) for path in dataset.folds[spec.fold].values()]
    return dataset, FoldKey(tuple((path, seen.st_size, seen.st_mtime_ns) for path, seen in files), spec.fold)
