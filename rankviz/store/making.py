"""Makes the runs of a leased family: together, or one by one after a failure."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from rankviz.common.errors import DataError, SettingError
from rankviz.common.threads import limit_threads
from rankviz.runs.estimate import Estimate, budget_now, check_budget, estimate
from rankviz.runs.in_shards import plan_in_shards
from rankviz.runs.opened import Folds
from rankviz.runs.run import execute_all
from rankviz.runs.shape import Shape
from rankviz.runs.spec import RunSpec
from rankviz.shards.backend import Backend
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.keeping import Keeper, LetGo, TimeIsUp
from rankviz.store.leases import time_is_up
from rankviz.store.queue import Lease
from rankviz.store.runs import RunStore

SAVE_SECONDS, ATTENDED_SECONDS = 300.0, 10.0
"""Seconds that a worker waits for the database: for background runs, and for awaited ones."""


class Making:
    """Makes families of runs; the latest fold stays open.

    Parameters
    ----------
    store : RunStore
    where : Backend, optional
        The backend for shards. Default: each run in one piece, in this process.
    """

    def __init__(self, store: RunStore, where: Backend | None = None) -> None:
        self._store, self._where = store, where
        self._folds: tuple[tuple[str, ...], Folds] = ((), Folds(()))
        self._shape = "", Shape(0, 0, 0, 0, 0)
        self._patience, self._worker = SAVE_SECONDS, ""

    def make(self, lease: Lease) -> None:
        """Make the runs of a family, save each one as it finishes, and release the family."""
        limit_threads(lease.threads)
        if self._folds[0] != lease.roots:
            self._folds = lease.roots, Folds(lease.roots)
        self._patience = SAVE_SECONDS if lease.background else ATTENDED_SECONDS
        self._worker = lease.worker
        over = ""
        with Keeper(self._store.queue, lease) as keeper, suppress(LetGo):
            try:
                self._make(lease.specs, keeper)
            except TimeIsUp:
                over = time_is_up(lease.most)
            except StoreOutOfReach as error:
                over = str(error)
        self._patiently(lambda: self._store.queue.release(lease, over))

    def _make(self, specs: Sequence[RunSpec], keeper: Keeper) -> None:
        """Make runs together; after a failure make the others one by one, so that only one fails."""
        left = self._possible(specs, keeper)
        try:
            for spec in self._made(dict(left), keeper):
                del left[spec]
                if left:
                    keeper.between()
            return
        except (LetGo, TimeIsUp, StoreOutOfReach):
            raise
        except Exception as error:
            if len(left) == 1:
                self._fail(next(iter(left)), error)
                return
        for spec in left:
            self._make([spec], keeper)

    def _possible(self, specs: Sequence[RunSpec], keeper: Keeper) -> dict[RunSpec, Estimate]:
        """Return runs whose data exist and that fit into memory, with their costs; fail the others."""
        budget, found = budget_now(), dict[RunSpec, Estimate]()
        for spec in specs:
            keeper.begin(spec)
            try:
                fold = self._folds[1].of(spec, keeper)
                if self._shape[0] != fold.digest:  # counting pairs takes long
                    self._shape = fold.digest, Shape.of(fold)
                cost = estimate(spec, self._shape[1], budget=budget)
                if self._where is None:
                    check_budget(cost, budget)
                else:
                    keeper.plan(plan_in_shards(spec, fold, self._where).words)
            except (LetGo, TimeIsUp):
                raise
            except Exception as error:
                self._fail(spec, error)
            else:
                found[spec] = cost
        return found

    def _made(self, costs: Mapping[RunSpec, Estimate], keeper: Keeper) -> Iterator[RunSpec]:
        """Yield runs as they are made and saved."""
        if not costs:
            return
        specs = list(costs)
        fold = self._folds[1].of(specs[0], keeper)
        records = execute_all(specs, keeper, fold=fold, where=self._where)
        for spec in specs:
            keeper.begin(spec, costs[spec])
            made, record = next(records)
            self._patiently(lambda record=record: self._store.records.save(record))
            yield made

    def _fail(self, spec: RunSpec, error: Exception) -> None:
        """Record a run's failure; the log has the details of an unexpected error."""
        if isinstance(error, (DataError, SettingError)):
            reason = str(error)
        elif isinstance(error, MemoryError):
            reason = "Memory ran out. Choose fewer features m, or close other programs."
        else:
            traceback.print_exception(error)
            reason = f"A fault of the program: {type(error).__name__}. The log of its worker has the details."
        self._patiently(lambda: self._store.records.fail(spec, reason))

    def _patiently(self, work: Any) -> None:
        with complaining(self._store, self._worker) as tell:
            self._store.database.patiently(work, self._patience, tell)


@contextmanager
def complaining(store: RunStore, worker: str) -> Iterator[Callable[[StoreOutOfReach], None]]:
    """Give a function that notes once why a worker waits for the store; clear the note at the end."""
    told = list[StoreOutOfReach]()

    def tell(why: StoreOutOfReach) -> None:
        with suppress(StoreOutOfReach):
            if not told:
                store.queue.complain(worker, str(why))
                told.append(why)

    yield tell
    with suppress(StoreOutOfReach):
        if told:
            store.queue.complain(worker, "")
