"""Runs in memory, and runs made while visitors wait, who take turns."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import count
from threading import Condition, Lock
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.common.progress import Progress
from rankviz.learning.solvers import STARTS
from rankviz.runs.families import families
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute_all
from rankviz.runs.spec import RunSpec
from ui.shell.visitors import address, visitor
from ui.shell.words import WAITING
from ui.work.folds import fold_of


class Turns:
    """A queue of threads, one at a time; `every` is the seconds between calls of `wait`.

    Network addresses take turns, and so do the visitors of each: many sessions of one get no more than one.
    """

    def __init__(self, every: float) -> None:
        self._every, self._changed = every, Condition()
        self._queue, self._now = dict[object, tuple[str, str]](), cast("object | None", None)
        self._served, self._number = dict[str, int](), count(1)

    @contextmanager
    def turn(self, wait: Callable[[], None], address: str = "", visitor: str = "") -> Iterator[None]:
        """Join the queue and continue at this thread's turn; `wait` is called meanwhile, and may raise."""
        place = object()
        with self._changed:
            self._queue[place] = address, visitor
            self._choose()
        try:
            while not self._has_turn(place):
                wait()
            yield
        finally:
            with self._changed:
                del self._queue[place]
                if self._now is place:
                    self._now = None
                    self._choose()
                self._changed.notify_all()

    def _choose(self) -> None:
        """Give the turn to the address, then the visitor, whose latest one is longest ago; else in order."""
        if self._now is not None or not self._queue:
            return
        queued, served = self._queue, self._served
        self._now = min(queued, key=lambda one: [served.get(who, 0) for who in queued[one]])
        self._served = dict.fromkeys(queued[self._now], next(self._number)) | {
            who: number
            for who, number in served.items()
            if who not in queued[self._now] and any(who in one for one in queued.values())
        }

    def _has_turn(self, place: object) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._now is place, self._every)


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

    At most `size`, and at most `LATEST` if their numbers exceed `most_bytes`.
    """

    LATEST = 64

    def __init__(self, size: int, most_bytes: float = math.inf) -> None:
        self._size, self._most_bytes, self._lock = size, most_bytes, Lock()
        self._records: OrderedDict[RunSpec, RunRecord] = OrderedDict()
        self._bytes = 0

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
            if (old := self._records.pop(record.spec, None)) is not None:
                self._bytes -= _nbytes(old)
            self._records[record.spec] = record
            self._bytes += _nbytes(record)
            while len(self._records) > (self._size if self._bytes <= self._most_bytes else self.LATEST):
                self._bytes -= _nbytes(self._records.popitem(last=False)[1])


def _nbytes(record: RunRecord) -> int:
    """Return the bytes of what grows with data and model: arrays, and metrics of each query."""
    arrays = (record.weights, *record.scores.values(), *record.solution.values())
    return sum(one.nbytes for one in arrays) + sum(8 * table.size for table in record.metrics.values())


@cache
def _memory() -> RunMemory:
    """Return the instance for the server; not a Streamlit cache, which any visitor's browser may empty."""
    # room for a curve over m, seeds and folds: 0.2 MB each, plus dual variables, 7 MB on OHSUMED
    return RunMemory(size=1024, most_bytes=1e9)


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
        with turn(_TRAINING, line, WAITING, patience, partial(_MAKING.issuperset, family)) as waited:
            deadline, patience = deadline + waited, patience - waited
            if unless():
                raise NoTurn
            found |= {spec: record for spec in family if (record := recall(spec)) is not None}
            left = [spec for spec in family if spec not in found]
            _MAKING.update(spec for spec in known if spec not in found)
            try:
                for spec, record in execute_all(left, tell, fold=fold_of(family[0])) if left else ():
                    remember(record)
                    found[spec] = record
            finally:
                _MAKING.clear()
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

    who = (address(), visitor()) if get_script_run_ctx() else ()
    with turns.turn(wait, *who):
        yield time.monotonic() - began


@contextmanager
def take_turns(line: DeltaGenerator) -> Iterator[None]:
    """Hold this visitor's turn for training."""
    with turn(_TRAINING, line, WAITING):
        yield


_MAKING: set[RunSpec] = set()
"""Runs of the visitor who has the turn, in this turn and the next ones."""
CHECKING = Turns(TELL_EVERY)
"""Visitors whose files are read or data sets generated: one after the other, because it takes memory."""
_TRAINING = Turns(TELL_EVERY)
"""Number of visitors whose runs are made while they wait: a family of runs is one turn."""
