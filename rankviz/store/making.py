"""Makes the runs of a leased family: together, or one by one after a failure."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import Progress
from rankviz.common.threads import limit_threads
from rankviz.learning.solver_settings import TOL
from rankviz.runs.estimate import Estimate, Remaining, Shape, budget_now, check_budget, estimate
from rankviz.runs.run import Folds, execute_all, plan_in_shards
from rankviz.runs.spec import RunSpec
from rankviz.shards.backend import Backend
from rankviz.store.queue import RENEW_SECONDS, Lease, Queue, time_is_up
from rankviz.store.runs import RunStore
from rankviz.store.study import StoreOutOfReach

LOOK_SECONDS = 0.1
"""Seconds between a worker's checks for writes to the store, such as a stop."""
ASK_SECONDS = 0.2
"""Shortest time between checks for awaited families: a check takes as long as saving a short run."""
TELL_SECONDS = 0.5
"""Shortest time between a worker's progress reports."""


class LetGo(Exception):  # noqa: N818 - a request, not an error
    """The family is no longer wanted, another worker has it, or an awaited one goes first."""


class TimeIsUp(Exception):  # noqa: N818 - a bound, not an error
    """Workers have spent all of the study's time."""


class Keeper:
    """Holds a lease in a thread while a family is made; also the callback of all training.

    Called as the callback it raises `LetGo` if the lease is lost, `TimeIsUp` after the study's seconds.
    """

    def __init__(self, queue: Queue, lease: Lease) -> None:
        self._queue, self._lease = queue, lease
        self._deadline = time.monotonic() + lease.seconds
        self._asked = 0.0
        self._news: dict[str, Any] = {}
        self._plan: dict[str, Any] = {}
        self._remaining: Remaining | None = None
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

    def begin(self, spec: RunSpec, predicted: Estimate | None = None) -> None:
        """Begin a run, with its predicted cost once known."""
        self._remaining = None
        if predicted is not None:
            self._remaining = Remaining(predicted.seconds, spec.get(TOL.name), time.monotonic())
        self._news = {"digest": spec.hash, "stage": "data", "fraction": 0.0, "remaining": self._left()}
        self._news |= self._plan
        self._check()

    def plan(self, words: str) -> None:
        """Note how the family's runs will be made, before they are."""
        self._plan = {"plan": words}
        self._news = {**self._news, **self._plan}
        self._check()

    def __call__(self, progress: Progress) -> None:
        """Note the run's progress; raise if it must end."""
        if self._remaining is not None and progress.record is not None:
            self._remaining.note(progress.record, time.monotonic())
        told: dict[str, Any] = {"stage": progress.stage, "fraction": progress.fraction}
        told |= {"remaining": self._left(), "shards": progress.shards}
        self._news = {**self._news, **told}
        self._check()

    def between(self) -> None:
        """Raise `LetGo` if an awaited family waits, after one run is saved and before the next."""
        if time.monotonic() - self._asked < ASK_SECONDS:
            return
        self._asked = time.monotonic()
        with suppress(StoreOutOfReach):  # nobody else can take a family either
            if self._queue.gives_way(self._lease):
                raise LetGo

    def _left(self) -> float | None:
        return None if self._remaining is None else self._remaining.seconds(time.monotonic())

    def _check(self) -> None:
        if self._lost.is_set():
            raise LetGo
        if time.monotonic() > self._deadline:
            raise TimeIsUp

    def _keep(self) -> None:
        told: dict[str, Any] = {}
        seen, renewed = None, time.monotonic()
        while not self._over.wait(LOOK_SECONDS):
            since = time.monotonic() - renewed
            with suppress(StoreOutOfReach):  # it may return before the lease ends
                state = self._queue.state()
                # an unchanged store needs no query: nobody stopped the study or took the family
                if state != seen and not self._queue.holds(self._lease):
                    break
                seen = state
                if since >= RENEW_SECONDS or (self._news is not told and since >= TELL_SECONDS):
                    told, renewed = self._news, time.monotonic()
                    if not self._queue.renew(self._lease, told):
                        break
        if not self._over.is_set():
            self._lost.set()


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
