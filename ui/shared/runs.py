"""Folds and runs for the pages: opened once, trained once, cached by their keys."""

from __future__ import annotations

import math
import sys
import time
from argparse import ArgumentParser
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from threading import Lock

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import FragmentHandledException

from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import Progress, StopRequested
from rankviz.datasets import Dataset, Fold, data_roots, find_datasets, normalise, open_fold
from rankviz.datasets.upload_folders import visitor_root
from rankviz.models.settings import STARTS
from rankviz.runs.families import families
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute_all
from rankviz.runs.spec import RunSpec
from rankviz.store.errors import StoreError
from ui.shared.ends import end_page
from ui.shared.faults import show_fault
from ui.shared.fold_memory import FOLDS, FoldKey
from ui.shared.foreign import escaped
from ui.shared.turns import Turns
from ui.shared.visitors import visitor
from ui.shared.words import STOPPED, WAITING

STAGES = {
    "starting": "loading the libraries",
    "data": "reading the data",
    "features": "computing features",
    "pairs": "listing preference pairs",
    "newton": "training",
    "evaluate": "scoring documents",
}


def stage_words(stage: str) -> str:
    """Return a stage of a run in words; a method's own stages keep their names."""
    return STAGES.get(stage, stage)


TELL_EVERY = 0.1
"""Seconds between progress messages to the browser."""


class RunMemory:
    """The latest records by spec, shared by all visitors: the same record for the same spec.

    At most `size`, and at most `LATEST` if their dual variables exceed `solution_bytes`.
    """

    LATEST = 64

    def __init__(self, size: int, solution_bytes: float = math.inf) -> None:
        self._size, self._bytes, self._lock = size, solution_bytes, Lock()
        self._records: OrderedDict[RunSpec, RunRecord] = OrderedDict()

    def get(self, spec: RunSpec) -> RunRecord | None:
        """Return the record of a spec, if it is still here."""
        with self._lock:
            if spec in self._records:
                self._records.move_to_end(spec)
            return self._records.get(spec)

    def all(self) -> list[RunRecord]:
        """Return the present records."""
        with self._lock:
            return list(self._records.values())

    def put(self, record: RunRecord) -> None:
        """Store a record, and drop the least recently used."""
        with self._lock:
            self._records[record.spec] = record
            kept = sum(found.nbytes for one in self._records.values() for found in one.solution.values())
            while len(self._records) > (self._size if kept <= self._bytes else self.LATEST):
                _, old = self._records.popitem(last=False)
                kept -= sum(found.nbytes for found in old.solution.values())


@cache
def _memory() -> RunMemory:
    """Return the instance for the server; not a Streamlit cache, which any visitor's browser may empty."""
    # room for a curve over m, seeds and folds: about 150 kB each, plus dual variables, 7 MB on OHSUMED
    return RunMemory(size=1024, solution_bytes=1e9)


def own_root() -> Path:
    """Return the folder of this visitor's own data sets, even if it is empty."""
    return visitor_root(visitor())


def roots_of_all() -> tuple[Path, ...]:
    """Return the data roots: `--data-dir folder` after `streamlit run app.py --`, or the defaults."""
    return data_roots(_named_roots(tuple(sys.argv[1:])))


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


def look_again() -> None:
    """Search for data sets again after one was added or removed."""
    _found.clear()


@st.cache_resource(ttl=10, max_entries=64, show_spinner=False)
def _found(roots: tuple[str, ...]) -> dict[str, Dataset]:
    return find_datasets(roots)


def fold_of(spec: RunSpec) -> Fold:
    """Return the fold of a spec, as read; it is reopened when one of its files changes."""
    dataset, key = _found_fold(spec)

    def read() -> Fold:
        with st.spinner("Reading the fold …"):
            return open_fold(dataset, spec.fold)

    return FOLDS.get(key, read)


def digest_of(spec: RunSpec) -> str:
    """Return the digest of a spec's fold, as read: the fold is opened once until its files change."""
    return _digest(str(_found_fold(spec)[1]), spec)


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


def recall(spec: RunSpec) -> RunRecord | None:
    """Return the record of a spec (with its digest), if it is in memory.

    A run that started from zero without a choice serves requests for zero, and vice versa.
    """
    record = _memory().get(spec)
    for twin in twins([spec]) if record is None else ():
        other = _memory().get(twin)
        if other is not None and other.start == "zero":
            return replace(other, spec=spec)
    return record


def twins(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return the specs of the same runs with the other starts."""
    return [
        spec.but(start=start) for spec in specs if "start" in spec for start in STARTS if start != spec.start
    ]


def remembered() -> list[RunRecord]:
    """Return all records in memory."""
    return _memory().all()


def remember(record: RunRecord) -> None:
    """Store a record for later requests of its spec."""
    _memory().put(record)


class TookTooLong(Exception):  # noqa: N818 - a fact about a run, not an error
    """Raised if runs made while the visitor waits take too long."""


class NoTurn(Exception):  # noqa: N818 - a fact about other visitors, not an error
    """Raised if a visitor's runs cannot begin, because those of other visitors take too long."""


def run(
    *specs: RunSpec,
    seconds: float = math.inf,
    patience: float = math.inf,
    unless: Callable[[], bool] = lambda: False,
) -> list[RunRecord]:
    """Return the records of specs: from memory, or trained now with progress.

    Visitors take turns, because parallel fits only slow each other down. Runs that another visitor trained
    meanwhile are reused. Raises `TookTooLong` once training has taken this many seconds, without waiting.
    Raises `NoTurn` after waiting for `patience` seconds, not counting those in which another visitor trains
    the same, or if `unless` returns True at the turn. Finished records are kept.
    """
    line, deadline, told = st.empty(), time.monotonic() + seconds, -math.inf
    known = [spec.but(digest=fold_of(spec).digest) for spec in specs]
    found = {spec: record for spec in known if (record := recall(spec)) is not None}

    def tell(progress: Progress) -> None:
        nonlocal told
        now = time.monotonic()
        if now > deadline:
            line.empty()
            raise TookTooLong
        if now - told < TELL_EVERY:  # a message to the browser takes longer than a short run
            return
        told = now
        counted = f"model {len(found) + 1} of {len(specs)}: " if len(specs) > 1 else ""
        line.progress(len(found) / len(specs), f"Training, {counted}{stage_words(progress.stage)}")

    for family in families(spec for spec in known if spec not in found):
        words = WAITING
        with turn(_TRAINING, line, words, patience, partial(_MAKING.issuperset, family)) as waited:
            deadline, patience = deadline + waited, patience - waited
            if unless():
                raise NoTurn
            found |= {spec: record for spec in family if (record := recall(spec)) is not None}
            left = [spec for spec in family if spec not in found]
            with _making(spec for spec in known if spec not in found):
                for spec, record in execute_all(left, tell, fold=fold_of(family[0])) if left else ():
                    remember(record)
                    found[spec] = record
    line.empty()
    return [found[spec] for spec in known]


@contextmanager
def turn(
    turns: Turns,
    line: DeltaGenerator,
    words: str,
    patience: float = math.inf,
    shared: Callable[[], bool] = lambda: False,
) -> Iterator[float]:
    """Wait for this visitor's turn, and say so; yield the seconds of waiting, or raise `NoTurn`.

    Waiting while the other's work is `shared` does not count.
    """
    began = idle = time.monotonic()

    def wait() -> None:
        nonlocal idle
        now = time.monotonic()
        if shared():
            idle = now
        elif now - idle > patience:
            line.empty()
            raise NoTurn
        line.progress(0.0, words)  # ends here if the visitor has moved on

    with turns.taken(wait):
        yield time.monotonic() - began


@contextmanager
def take_turns(line: DeltaGenerator) -> Iterator[None]:
    """Hold this visitor's turn for training."""
    with turn(_TRAINING, line, WAITING):
        yield


@contextmanager
def _making(specs: Iterable[RunSpec]) -> Iterator[None]:
    """Record these as being made, in this turn and the next ones."""
    _MAKING.update(specs)
    try:
        yield
    finally:
        _MAKING.clear()


_MAKING: set[RunSpec] = set()
"""Runs of the visitor who has the turn."""
_TRAINING = Turns(TELL_EVERY)
"""Number of visitors whose runs are made while they wait: a family of runs is one turn."""


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Show errors of data, settings or the store as a sentence with a remedy, and end the page.

    Any other exception is a program fault: it is logged and shown with details to copy. Blocks may be nested:
    an error shown by an inner one ends the outer ones too. As a decorator it covers the function's calls.
    Fragments and callbacks need this, because they run separately.
    """
    try:
        yield
    except (DataError, SettingError, StoreError) as error:
        st.error(escaped(error), icon=":material/error:")
        end_page()
    except StopRequested:
        st.info(STOPPED)
        end_page()
    except FragmentHandledException:  # Streamlit has already shown an exception from a fragment
        raise
    except Exception as error:  # Streamlit's signals, such as that of `end_page`, are no Exceptions
        show_fault(error)
        end_page()
