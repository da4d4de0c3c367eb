"""How a worker makes the runs of a family that it holds: together, and where one fails each by itself."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import Progress
from rankviz.common.threads import limit_threads
from rankviz.experiments.estimate import budget_now, check_budget, estimate
from rankviz.experiments.run import execute_all
from rankviz.experiments.shape import Shape
from rankviz.experiments.spec import RunSpec
from rankviz.experiments.work import Folds
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.leases import RENEW_SECONDS
from rankviz.store.queue import Lease, Queue
from rankviz.store.runs import RunStore

TELL_SECONDS = 0.5
"""This often a worker tells how far it is, and learns that it shall stop."""
SAVE_SECONDS = 300.0
"""So long a worker that has made a run waits for a database that does not answer."""


class LetGo(Exception):  # noqa: N818 - a request, not an error
    """The family is not to be made any more, or another worker makes it."""


class Keeper:
    """Holds a lease while a family is made, in a thread of its own; the callback of all that trains.

    Raises `LetGo` there once the family is to be let go of.
    """

    def __init__(self, queue: Queue, lease: Lease) -> None:
        self._queue, self._lease = queue, lease
        self._news: dict[str, Any] = {}
        self._over, self._lost = Event(), Event()
        self._thread = Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def begin(self, spec: RunSpec) -> None:
        """This run is next."""
        self._news = {"digest": spec.hash, "stage": "data", "fraction": 0.0}
        self._check()

    def __call__(self, progress: Progress) -> None:
        """Remember how far the run is; raise `LetGo` where it is to end."""
        self._news = {**self._news, "stage": progress.stage, "fraction": progress.fraction}
        self._check()

    def _check(self) -> None:
        if self._lost.is_set():
            raise LetGo

    def _keep(self) -> None:
        told: dict[str, Any] = {}
        renewed = time.monotonic()
        while not self._over.wait(TELL_SECONDS):
            if self._news is told and time.monotonic() - renewed < RENEW_SECONDS:
                continue
            told, renewed = self._news, time.monotonic()
            with suppress(StoreOutOfReach):  # it may be back before the lease has ended
                if not self._queue.renew(self._lease, told):
                    self._lost.set()
                    return


class Making:
    """Makes families of runs; the fold that was opened last stays open."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._folds: tuple[tuple[str, ...], Folds] = ((), Folds(()))
        self._shape = "", Shape(0, 0, 0, 0, 0)

    def make(self, lease: Lease) -> None:
        """Make the runs of a family, save each when it is made, and let go of the family."""
        limit_threads(lease.threads)
        if self._folds[0] != lease.roots:
            self._folds = lease.roots, Folds(lease.roots)
        with Keeper(self._store.queue, lease) as keeper, suppress(LetGo):
            self._make(lease.specs, keeper)
        self._patiently(lambda: self._store.queue.release(lease))

    def _make(self, specs: Sequence[RunSpec], keeper: Keeper) -> None:
        """Make runs together; after one that fails the others one by one, so that it fails alone."""
        left = self._possible(specs, keeper)
        try:
            for spec in self._made(tuple(left), keeper):
                left.remove(spec)
            return
        except LetGo:
            raise
        except Exception as error:
            if len(left) == 1:
                self._fail(left[0], error)
                return
        for spec in left:
            self._make([spec], keeper)

    def _possible(self, specs: Sequence[RunSpec], keeper: Keeper) -> list[RunSpec]:
        """Runs whose data are there and that fit into memory; the others have failed."""
        budget, found = budget_now(), list[RunSpec]()
        for spec in specs:
            keeper.begin(spec)
            try:
                fold = self._folds[1].of(spec, keeper)
                if self._shape[0] != fold.digest:  # pairs are counted for it
                    self._shape = fold.digest, Shape.of(fold)
                check_budget(estimate(spec, self._shape[1], budget=budget), budget)
            except LetGo:
                raise
            except Exception as error:
                self._fail(spec, error)
            else:
                found.append(spec)
        return found

    def _made(self, specs: Sequence[RunSpec], keeper: Keeper) -> Iterator[RunSpec]:
        """Runs as they are made and saved."""
        if not specs:
            return
        records = execute_all(specs, keeper, fold=self._folds[1].of(specs[0], keeper))
        for spec in specs:
            keeper.begin(spec)
            made, record = next(records)
            self._patiently(lambda record=record: self._store.records.save(record))
            yield made

    def _fail(self, spec: RunSpec, error: Exception) -> None:
        """Note that a run cannot be made; of a fault of the program the log has the rest."""
        if isinstance(error, (DataError, SettingError)):
            reason = str(error)
        elif isinstance(error, MemoryError):
            reason = "Memory ran out. Choose fewer features m, or close other programs."
        else:
            traceback.print_exception(error)
            reason = f"A fault of the program: {type(error).__name__}. The log of its worker has the details."
        self._patiently(lambda: self._store.records.fail(spec, reason))

    def _patiently(self, work: Any) -> None:
        self._store.database.patiently(work, SAVE_SECONDS)
