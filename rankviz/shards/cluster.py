"""Shards on the workers of a Dask cluster: futures that Dask can recompute.

A worker that dies loses its shards. The scheduler recomputes them on other workers, starting with the task
that opens the documents. There are no Dask actors: they die with their worker. Import this module only with
`rankviz[dask]` installed.

See docs/decisions/0012-backends-and-dask-futures.md.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import dask
import numpy as np
from distributed import Client, Future, LocalCluster, wait
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.comm.addressing import get_address_host_port
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from distributed.utils import LoopRunner
from tornado.ioloop import IOLoop

import rankviz
from rankviz.common.arrays import FloatArray, mapping_of, offset_in
from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import BUDGET_SHARE, megabytes
from rankviz.common.settings import instance
from rankviz.shards.backend import POLL_SECONDS, SHARDS, PerShard, Tell, arguments_by_shard, no_callback
from rankviz.shards.part import Part

DOCUMENTS = 250_000
"""Most documents per shard: more tasks would cost more than they balance."""

LARGE = 100_000
"""Arguments for all shards above this many bytes go from worker to worker, not with each task."""

PATIENCE = 15.0
"""Seconds without an answer after which a scheduler counts as lost."""

OWN = {
    # time to replace a killed worker: Dask gives up after 15 seconds by default, but a busy machine takes
    # longer, and the worker may have been killed again
    "distributed.deploy.lost-worker-timeout": "1 day",
    # nothing is written to disk: every round needs all shards, and mapped documents would be copied
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
}
"""Dask settings for local clusters."""

MOST_SENT = 4 << 30
"""Most bytes of documents to send if workers do not see their file; the scheduler keeps them."""

MOST_PORT = 65_535


class ClusterLost(SettingError):  # noqa: N818 - it says what happened
    """The cluster does not answer, or a shard kills its workers."""


@dataclass(frozen=True, eq=False)
class ByPath:
    """A part whose X is a piece of a file; only its location is sent.

    Attributes
    ----------
    path : str
    size, modified : int
        Size and time of the file, in bytes and nanoseconds, to detect changes.
    offset : int
        Position of X in the file.
    shape : (int, int)
    rest : Part
        The same part with an empty X.
    """

    path: str
    size: int
    modified: int
    offset: int
    shape: tuple[int, int]
    rest: Part

    @classmethod
    def of(cls, part: Part) -> ByPath | None:
        """Locate X; None unless it is a contiguous piece of a mapped file."""
        mapped = mapping_of(part.X)
        if mapped is None or not part.X.flags.c_contiguous:
            return None
        filename = str(mapped.filename)
        try:
            status = os.stat(filename)
        except OSError:  # still mapped, but the cache has deleted its name
            return None
        offset = offset_in(part.X, mapped)
        return cls(filename, status.st_size, status.st_mtime_ns, offset, part.X.shape, without(part))

    def open(self) -> Part:
        """Open the part; `DataError` if the file is missing or changed."""
        if not seen(self):
            raise DataError(
                "documents that are missing or have changed",
                expected="the file as it was when training began",
                remedy="Put it where all workers can read it under this path, and train again.",
                path=self.path,
            )
        X: FloatArray = np.memmap(self.path, np.float64, "r", self.offset, self.shape)
        return joined(self.rest, X)


def without(part: Part) -> Part:
    """Return the same part with an empty X."""
    return replace(part, X=np.zeros((0, part.X.shape[1])))


def joined(rest: Part, X: FloatArray) -> Part:
    """Return a part with its documents."""
    return replace(rest, X=X)


def digest(X: FloatArray) -> str:
    """Return a hash of these documents."""
    h = hashlib.blake2b(repr(X.shape).encode(), digest_size=16)
    h.update(np.ascontiguousarray(X).data)
    return h.hexdigest()


def seen(recipe: ByPath) -> bool:
    """Return True if the file of a part is there and unchanged."""
    try:
        status = os.stat(recipe.path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (recipe.size, recipe.modified)


class OnCluster:
    """Shards on the workers of a Dask cluster.

    Parameters
    ----------
    address : str
        Address of its scheduler, as "tcp://host:8786".
    shards : int, optional
        Default: one per thread of the workers, and more for many documents. There are never more shards than
        queries.

    Raises `ClusterLost` if the scheduler does not answer, `SettingError` without workers or if one has no or
    another version of rankviz.
    """

    near: ClassVar[bool] = False

    def __init__(self, address: str, shards: int | None = None) -> None:
        instance("address", address, str, "a text, such as 'tcp://host:8786'")
        SHARDS.check("shards", shards)
        self.address, self._shards = address, shards
        self._documents: dict[str, Future[Any]] = {}  # last sent documents, by digest
        try:
            _check_address(address)
            self._client = Client(address, loop=_loop(), timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterLost(
                f"no Dask scheduler answers at {address} ({_first_line(error)}); check the address, and that "
                "it runs: dask scheduler"
            ) from error
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> OnCluster:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect; the cluster keeps running."""
        self._documents.clear()
        self._client.close()

    @property
    def workers(self) -> dict[str, Any]:
        """The workers by address, from the scheduler."""
        with self._answering():
            scheduler = self._client.scheduler
            if scheduler is None:
                raise CommClosedError("the client has closed")
            # not scheduler_info(): the client's thread may replace its answer by one without workers
            found: dict[str, Any] = self._client.sync(scheduler.identity, n_workers=-1)["workers"]
            return found

    @property
    def threads(self) -> int:
        """Threads of all workers."""
        return sum(int(worker["nthreads"]) for worker in self.workers.values())

    @property
    def answers(self) -> bool:
        """True if the scheduler is connected."""
        return bool(self._client.status == "running")

    def list_workers(self) -> list[dict[str, Any]]:
        """List for each worker its address, threads, memory used and allowed in bytes, and running tasks."""
        return [
            {
                "address": address,
                "threads": int(worker["nthreads"]),
                "memory": float(worker["metrics"].get("memory", 0)),
                "limit": float(worker["memory_limit"] or 0),
                "tasks": int(worker["metrics"].get("task_counts", {}).get("executing", 0)),
            }
            for address, worker in self.workers.items()
        ]

    def held(self) -> int:
        """Count results that workers store for this process, without sent documents."""
        return len(self._client.futures) - len(self._documents)

    def on_workers(self, ask: Callable[[], Any]) -> list[Any]:
        """Return each worker's answer."""
        with self._answering():
            return list(self._client.run(ask).values())

    def submit(self, work: Callable[..., Any], *arguments: Any, retries: int = 0) -> Future[Any]:
        """Run something on one worker, outside a fit."""
        with self._answering():
            return self._client.submit(work, *arguments, pure=False, retries=retries)

    def count(self, n_documents: int) -> int:
        """Return the given number, or one per thread of the workers, and more for many documents."""
        return self._shards or max(1, self.threads, -(-n_documents // DOCUMENTS))

    def budget(self) -> float:
        """Return 70 % of the workers' memory limits together; infinite if they have none.

        Raises `SettingError` without workers.
        """
        limits = [float(worker["memory_limit"] or np.inf) for worker in self.workers.values()]
        self._require(limits)
        return BUDGET_SHARE * sum(limits)

    def scatter(self, items: Sequence[Any]) -> PerShard:
        """Let workers open documents whose file they see; send all other items.

        Sent documents stay until others replace them: the next fit on the same documents sends none.
        """
        parts = [item for item in items if isinstance(item, Part)]
        if not parts:
            return PerShard(tuple(items))
        paths = [ByPath.of(part) for part in parts]
        recipes = [path for path in paths if path is not None]
        with self._answering():
            if len(recipes) == len(parts) and all(self._client.run(seen, recipes[0]).values()):
                return PerShard(tuple(self._submit(ByPath.open, recipe) for recipe in recipes))
            return PerShard(tuple(self._sent(parts)))

    def _sent(self, parts: Sequence[Part]) -> Iterator[Future[Any]]:
        """Yield parts whose documents workers do not see; send only documents that they lack."""
        _refuse_much(sum(part.X.nbytes for part in parts), self.address)
        names, there = [digest(part.X) for part in parts], self._documents
        there = {name: there[name] for name in names if name in there and there[name].status != "error"}
        self._documents = there  # frees other documents before sending new ones
        for name, part in zip(names, parts, strict=True):
            if name not in there:
                there[name] = self._submit(same, part.X)
            yield self._submit(joined, without(part), there[name])

    def map(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> PerShard:
        """Submit work to the workers; wait only if `tell` is given."""
        with self._answering():
            given = [self._shared(argument) for argument in arguments]
            futures = tuple(self._submit(work, *row) for row in arguments_by_shard(tuple(given)))
            if tell is not no_callback:
                self._wait(futures, tell)
            return PerShard(futures)

    def gather(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> list[Any]:
        """Return the workers' results in this process."""
        futures = self.map(work, *arguments).parts
        with self._answering():
            self._wait(futures, tell)
            found: list[Any] = self._client.gather(list(futures))
            return found

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        with warnings.catch_warnings():
            # documents that workers do not see are part of their task, so that Dask can recompute it
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(work, *arguments, pure=False)

    def _shared(self, argument: Any) -> Any:
        large = not isinstance(argument, PerShard | Future) and _size(argument) > LARGE
        return self._submit(same, argument) if large else argument

    def _wait(self, futures: Sequence[Future[Any]], tell: Tell) -> None:
        """Wait until all are done or one fails; an exception from `tell` cancels them."""
        silent_since: float | None = None
        while True:
            try:
                with self._client.as_current():
                    wait(list(futures), timeout=POLL_SECONDS)
            except TimeoutError as late:
                late.__traceback__ = None  # breaks a cycle of frames that would keep all shards
            done = sum(future.done() for future in futures)
            if done == len(futures) or any(future.status == "error" for future in futures):
                tell(done, len(futures))
                return
            silent_since = None if self._client.status == "running" else silent_since or time.monotonic()
            if silent_since is not None and time.monotonic() - silent_since > PATIENCE:
                raise CommClosedError("the scheduler has gone")
            try:
                tell(done, len(futures))
            except BaseException:
                self._client.cancel(list(futures))
                raise

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except KilledWorker as error:
            raise ClusterLost(
                f"workers of {self.address} died one after another on a shard; give them more memory, or "
                "choose more workers, fewer features or more shards"
            ) from error
        except (CommClosedError, OSError, TimeoutError, FutureCancelledError, FuturesCancelledError) as error:
            raise ClusterLost(
                f"the Dask scheduler at {self.address} no longer answers ({_first_line(error)}); "
                "the fit is lost: restart the scheduler, then train again"
            ) from error

    def _require(self, workers: Collection[object]) -> None:
        if not workers:
            raise SettingError(f"the Dask scheduler at {self.address} has no worker; start some: dask worker")

    def _check_workers(self) -> None:
        with self._answering():
            found = self._client.run(_version, on_error="return") if self.workers else {}
        wrong = [f"{address} ({said})" for address, said in found.items() if said != rankviz.__version__]
        self._require(found)
        if wrong:
            raise SettingError(
                f"workers without this version of rankviz, {rankviz.__version__}: {', '.join(wrong)}; "
                "install it there"
            )


@contextmanager
def local_cluster(workers: int, memory: float | None = None) -> Iterator[str]:
    """Start a cluster of local worker processes with one thread each, and yield its address.

    `memory` is in bytes per worker; by default they share the machine's memory.
    """
    limit: Any = "auto" if memory is None else int(memory)
    with (
        dask.config.set(OWN),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=limit,
        ) as cluster,
    ):
        yield str(cluster.scheduler_address)


@cache
def _loop() -> IOLoop:
    """Return the event loop of all clients: a loop per client would leak a thread if nobody answers."""
    runner = LoopRunner()
    runner.start()
    atexit.register(runner.stop)
    loop: IOLoop = runner.loop
    return loop


def _check_address(address: str) -> None:
    """Raise ValueError for an invalid address: a half-made client could make the next one hang."""
    _, port = get_address_host_port(address)
    if not 0 < port <= MOST_PORT:
        raise ValueError(f"port {port} is not from 1 to {MOST_PORT}")


def same(argument: Any) -> Any:
    """Return the argument: a task that any worker can repeat, for data sent to all shards."""
    return argument


def _version() -> str:
    return rankviz.__version__


def _size(argument: Any) -> int:
    """Estimate bytes of arrays, and of objects with arrays as attributes."""
    if isinstance(argument, np.ndarray):
        return argument.nbytes
    held = getattr(argument, "__dict__", {})
    return sys.getsizeof(argument) + sum(_size(value) for value in held.values())


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _refuse_much(size: int, address: str) -> None:
    if size > MOST_SENT:
        raise SettingError(
            f"{megabytes(size)} of documents, in a file that not all workers of {address} can read; put it "
            f"where all can (at most {megabytes(MOST_SENT)} are sent)"
        )
