"""Making a leased family: its runs together, or one by one after a failure; a thread renews the lease."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection

from rankviz.common.errors import DataError, SettingError
from rankviz.common.parallel import limit_threads
from rankviz.common.progress import Progress
from rankviz.datasets.types import Fold
from rankviz.learning.solvers import TOL
from rankviz.runs.estimate import Estimate, Remaining, Shape, budget_now, check_budget, estimate
from rankviz.runs.families import families
from rankviz.runs.record import RunRecord
from rankviz.runs.run import Folds, execute_all, plan_in_shards
from rankviz.runs.spec import RunSpec
from rankviz.shards.backend import Backend
from rankviz.store.database import Result
from rankviz.store.queue import RENEW_SECONDS, LeasedFamily, Queue, report, time_is_up
from rankviz.store.run_store import RunStore
from rankviz.store.study import StoreError, StoreOutOfReach

SAVE_SECONDS, ATTENDED_SECONDS = 300.0, 10.0
"""Seconds that a worker waits for the database: for background runs, and for awaited ones."""
LOOK_SECONDS = 0.1
"""Seconds between a worker's checks for writes to the store, such as a stop."""
ASK_SECONDS = 0.2
"""Shortest time between checks for awaited families: a check takes as long as saving a short run."""
REPORT_SECONDS = 0.5
"""Shortest time between a worker's progress reports."""
ROOM_SECONDS = 5.0
"""Seconds between a worker's looks for the room of its records: a look reads the sizes of all runs."""


class FamilyRunner:
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
        self._looked = "", -math.inf

    def make(self, family: LeasedFamily) -> None:
        """Make the runs of a family, save each one as it finishes, and release the family."""
        limit_threads(family.threads)
        if self._folds[0] != family.roots:
            self._folds = family.roots, Folds(family.roots)
        self._patience = SAVE_SECONDS if family.background else ATTENDED_SECONDS
        self._worker = family.worker
        over = ""
        with LeaseKeeper(self._store.queue, family) as keeper, suppress(FamilyReleased):
            try:
                self._make(family.specs, keeper)
            except StudyTimeSpent:
                over = time_is_up(family.most)
            except StoreError as error:  # there is no room, or the store is out of reach
                over = str(error)
        self._retry(lambda: self._store.queue.release(family, over))

    def _make(self, specs: Sequence[RunSpec], keeper: LeaseKeeper) -> None:
        """Make runs together; after a failure make the others one by one, so that only one fails."""
        left = self._possible(specs, keeper)
        try:
            for spec in self._make_runs(dict(left), keeper):
                del left[spec]
                if left:
                    keeper.release_if_awaited()
            return
        except (FamilyReleased, StudyTimeSpent, StoreError):
            raise
        except Exception as error:
            if len(left) == 1:
                self._fail(next(iter(left)), error)
                return
        for spec in left:
            self._make([spec], keeper)

    def _possible(self, specs: Sequence[RunSpec], keeper: LeaseKeeper) -> dict[RunSpec, Estimate]:
        """Return runs whose data exist and that fit into memory, with their costs; fail the others."""
        budget, found = budget_now(), dict[RunSpec, Estimate]()
        for spec in specs:
            keeper.begin_run(spec)
            try:
                fold = self._fold(spec, keeper)
                if self._shape[0] != fold.digest:  # counting pairs takes long
                    self._shape = fold.digest, Shape.of(fold)
                cost = estimate(spec, self._shape[1], budget=budget)
                if self._where is None:
                    check_budget(cost, budget)
                else:
                    keeper.note_plan(plan_in_shards(spec, fold, self._where).words)
            except (FamilyReleased, StudyTimeSpent, StoreError):
                raise
            except Exception as error:
                self._fail(spec, error)
            else:
                found[spec] = cost
        return found

    def _fold(self, spec: RunSpec, keeper: LeaseKeeper) -> Fold:
        """Return a run's fold, from the roots of any study that wants the run.

        All who want it read why there is none: the error names no path and no other data set.
        """
        try:
            return self._folds[1].of(spec, keeper)
        except (DataError, OSError) as error:
            tried = self._folds[0]
            for roots in self._retry(lambda: self._store.queue.roots_of(spec)):
                if roots != tried:
                    self._folds = roots, Folds(roots)
                    with suppress(DataError, OSError):
                        return self._folds[1].of(spec, keeper)
            if isinstance(error, DataError):
                file = f"{Path(error.path).name}, line {error.line}: " if error.path and error.line else ""
                error.args = (f"{file}{error.found}. {error.remedy}",)
            raise

    def _make_runs(self, costs: Mapping[RunSpec, Estimate], keeper: LeaseKeeper) -> Iterator[RunSpec]:
        """Yield runs as they are made and saved.

        One transaction saves a run and names the next one, because a short run is over before a later report.
        """
        if not costs:
            return
        specs = [spec for family in families(costs) for spec in family]  # as `execute_all` makes them
        fold = self._fold(specs[0], keeper)
        records = execute_all(specs, keeper, fold=fold, where=self._where)
        keeper.begin_run(specs[0], costs[specs[0]])
        for (spec, record), following in zip(records, [*specs[1:], None], strict=True):
            if following is not None:
                keeper.note_run(following, costs[following])
            self._retry(partial(self._save, record, keeper))
            yield spec

    def _save(self, record: RunRecord, keeper: LeaseKeeper) -> None:
        whose, looked = self._looked
        due = whose != keeper.owner or time.monotonic() - looked > ROOM_SECONDS
        with keeper.reporting:
            self._store.records.save(record, keeper.report, keeper.owner if due else "")
        if due:
            self._looked = keeper.owner, time.monotonic()

    def _fail(self, spec: RunSpec, error: Exception) -> None:
        """Record a run's failure; the log has the details of an unexpected error."""
        if isinstance(error, (DataError, SettingError)):
            reason = str(error)
        elif isinstance(error, MemoryError):
            reason = "Memory ran out. Choose fewer features m, or close other programs."
        else:
            traceback.print_exception(error)
            reason = f"A fault of the program: {type(error).__name__}. The log of its worker has the details."
        self._retry(lambda: self._store.records.fail(spec, reason))

    def _retry(self, work: Callable[[], Result]) -> Result:
        with reporting_trouble(self._store, self._worker) as tell:
            return self._store.database.retry(work, self._patience, tell)


class FamilyReleased(Exception):  # noqa: N818 - a request, not an error
    """The family is no longer wanted, another worker has it, or an awaited one goes first."""


class StudyTimeSpent(Exception):  # noqa: N818 - a bound, not an error
    """Workers have spent all of the study's time."""


class LeaseKeeper:
    """Renews a lease in a thread while a family is made, and notices a stop; also the callback of training.

    As the callback it raises `FamilyReleased` if the lease is lost, `StudyTimeSpent` after the study's time.

    Attributes
    ----------
    reporting : Lock
        Hold it while a transaction with `report` is open, so that no older report follows.
    owner : str
        Of the study.
    """

    def __init__(self, queue: Queue, family: LeasedFamily) -> None:
        self._queue, self._family, self.owner = queue, family, family.owner
        self._deadline = time.monotonic() + family.seconds
        self._asked = 0.0
        self._news: dict[str, Any] = {}
        self._plan: dict[str, Any] = {}
        self._remaining: Remaining | None = None
        self._over, self._lost, self.reporting = Event(), Event(), Lock()
        self._thread = Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def begin_run(self, spec: RunSpec, predicted: Estimate | None = None) -> None:
        """Begin a run, with its predicted cost once known; raise if it must end."""
        self.note_run(spec, predicted)
        self._check()

    def note_run(self, spec: RunSpec, predicted: Estimate | None = None) -> None:
        """Note the current run; raise nothing, because another one is still to be saved."""
        self._remaining = None
        if predicted is not None:
            self._remaining = Remaining(predicted.seconds, spec.get(TOL.name), time.monotonic())
        self._news = {"digest": spec.hash, "stage": "data", "fraction": 0.0, "remaining": self._left()}
        self._news |= self._plan

    def report(self, connection: Connection) -> None:
        """Write the current run's progress in an open transaction."""
        report(connection, self._family, self._news)

    def note_plan(self, words: str) -> None:
        """Note the plan in shards of the family's runs, before they begin."""
        self._plan = {"plan": words}
        self._news = {**self._news, **self._plan}
        self._check()

    def __call__(self, progress: Progress) -> None:
        """Note the run's progress; raise if it must end."""
        if self._remaining is not None and progress.record is not None:
            self._remaining.note(progress.record, time.monotonic())
        news: dict[str, Any] = {"stage": progress.stage, "fraction": progress.fraction}
        self._news = {**self._news, **news, "remaining": self._left(), "shards": progress.shards}
        self._check()

    def release_if_awaited(self) -> None:
        """Raise if the next run must not begin, such as `FamilyReleased` if an awaited family waits."""
        self._check()
        if time.monotonic() - self._asked < ASK_SECONDS:
            return
        self._asked = time.monotonic()
        with suppress(StoreOutOfReach):  # nobody else can take a family either
            if self._queue.must_yield(self._family):
                raise FamilyReleased

    def _left(self) -> float | None:
        return None if self._remaining is None else self._remaining.seconds(time.monotonic())

    def _check(self) -> None:
        if self._lost.is_set():
            raise FamilyReleased
        if time.monotonic() > self._deadline:
            raise StudyTimeSpent

    def _keep(self) -> None:
        reported: dict[str, Any] = {}
        seen, renewed = None, time.monotonic()
        while not self._over.wait(LOOK_SECONDS):
            since = time.monotonic() - renewed
            with suppress(StoreOutOfReach):  # it may return before the lease ends
                state = self._queue.state()
                # an unchanged store needs no query: nobody stopped the study or took the family
                if state != seen and not self._queue.holds(self._family):
                    break
                seen = state
                if since >= RENEW_SECONDS or (self._news is not reported and since >= REPORT_SECONDS):
                    with self.reporting:
                        reported, renewed = self._news, time.monotonic()
                        held = self._queue.renew(self._family, reported)
                    if not held:
                        break
        if not self._over.is_set():
            self._lost.set()


@contextmanager
def reporting_trouble(store: RunStore, worker: str) -> Iterator[Callable[[StoreOutOfReach], None]]:
    """Yield a function that notes once why a worker waits for the store; clear the note at the end."""
    noted = list[StoreOutOfReach]()

    def tell(why: StoreOutOfReach) -> None:
        with suppress(StoreOutOfReach):
            if not noted:
                store.queue.report_trouble(worker, str(why))
                noted.append(why)

    yield tell
    with suppress(StoreOutOfReach):
        if noted:
            store.queue.report_trouble(worker, "")
