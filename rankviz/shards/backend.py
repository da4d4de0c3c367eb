"""Backends for shards: lists whose entries stay in place, and work on each entry.

`place_of` opens a backend by name: this process, local worker processes, or a cluster's address.

See docs/decisions/0012-backends-and-dask-futures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol, runtime_checkable

from rankviz.common.errors import SettingError
from rankviz.common.parallel import WORKERS, cores, single_blas
from rankviz.common.settings import Whole, instance
from rankviz.learning.memory import default_budget

DOCUMENTS = 100_000
"""Documents per shard for the fastest work: sorting a risk of this size fits in the caches."""
SHARDS = Whole(most=2**31 - 1, optional=True)
"""Valid numbers of shards or threads."""
Tell = Callable[[int, int], object]
"""Callback with the number of finished shards and the total; an exception from it stops the work."""
POLL_SECONDS = 0.2
"""Seconds between checks for a stop."""


def no_callback(done: int, of: int) -> None:
    """Do nothing: no callback."""


@dataclass(frozen=True)
class PerShard:
    """One item for each shard, stored with the shard: the item itself, or a reference to it."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts)


@runtime_checkable
class Backend(Protocol):
    """A place that works on shards.

    Arguments of type `PerShard` are distributed shard by shard; each shard gets all other arguments.
    """

    @property
    def near(self) -> bool:
        """True if shards are in this process, so that one number per document costs nothing to fetch."""
        ...

    @property
    def threads(self) -> int:
        """Number of shards processed at once."""
        ...

    def count(self, n_documents: int) -> int:
        """Return the number of shards for so many documents.

        A plan uses more if these are too large, and at most one per query.
        """
        ...

    def budget(self) -> float:
        """Return the bytes that training may use where the shards are."""
        ...

    def scatter(self, items: Sequence[Any]) -> PerShard:
        """Move one item to the place of each shard."""
        ...

    def map(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> PerShard:
        """Return the result of `work` for each shard, which stays there."""
        ...

    def gather(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> list[Any]:
        """Return the same results in this process."""
        ...


class Here:
    """Shards in this process, processed by as many threads as cores.

    Parameters
    ----------
    shards : int, optional
        Default: as many as are fastest. There are never more shards than queries.
    threads : int, optional
        Default: all cores.
    """

    near: ClassVar[bool] = True

    def __init__(self, shards: int | None = None, threads: int | None = None) -> None:
        SHARDS.check("shards", shards)
        SHARDS.check("threads", threads)
        self._shards = shards
        self.threads = cores() if threads is None else threads

    def count(self, n_documents: int) -> int:
        """Return the given number, or one for each `DOCUMENTS`, at least one per thread."""
        return max(self.threads, round(n_documents / DOCUMENTS)) if self._shards is None else self._shards

    def budget(self) -> float:
        """Return 70 % of the free memory."""
        return default_budget()

    def scatter(self, items: Sequence[Any]) -> PerShard:
        """Return the items themselves."""
        return PerShard(tuple(items))

    def map(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> PerShard:
        """Work on all shards; parallel threads have one thread of BLAS each."""
        rows = arguments_by_shard(arguments)
        if len(rows) == 1 or self.threads == 1:
            found = []
            for row in rows:
                found.append(work(*row))
                tell(len(found), len(rows))
            return PerShard(tuple(found))
        with single_blas(), ThreadPoolExecutor(self.threads, f"{WORKERS}-shards") as pool:
            futures = [pool.submit(work, *row) for row in rows]
            try:
                left = set(futures)
                while left:
                    done, left = wait(left, POLL_SECONDS, FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    tell(len(futures) - len(left), len(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return PerShard(tuple(future.result() for future in futures))

    def gather(self, work: Callable[..., Any], *arguments: Any, tell: Tell = no_callback) -> list[Any]:
        """Return the same as a list."""
        return list(self.map(work, *arguments, tell=tell).parts)


def arguments_by_shard(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the arguments for each shard."""
    (count,) = {len(argument) for argument in arguments if isinstance(argument, PerShard)}
    return [
        tuple(argument.parts[i] if isinstance(argument, PerShard) else argument for argument in arguments)
        for i in range(count)
    ]


HERE, LOCAL = "here", "local:"


@contextmanager
def place_of(where: str, shards: int | None = None) -> Iterator[Backend]:
    """Open the backend named `where`, and close it at the end.

    "here" uses threads of this process; "local:2" starts two local worker processes; other values are the
    address of a Dask scheduler, as "tcp://host:8786". Raises `SettingError` for an invalid address, a
    scheduler that does not answer, or without Dask.
    """
    instance("where", where, str, "a text: 'here', 'local:2' or the address of a Dask scheduler")
    if where == HERE:
        yield Here(shards)
        return
    if find_spec("distributed") is None:
        raise SettingError(f'where={where!r} needs Dask: pip install "rankviz[dask]"')
    from rankviz.shards.cluster import OnCluster, local_cluster

    if not where.startswith(LOCAL):
        with OnCluster(where, shards) as backend:
            yield backend
        return
    workers = where.removeprefix(LOCAL)
    if not (workers.isascii() and workers.isdecimal() and len(workers) <= 4 and 1 <= int(workers) <= 1024):
        raise SettingError(f"where={where!r} must name 1 to 1,024 workers, such as local:2")
    with local_cluster(int(workers)) as address, OnCluster(address, shards) as backend:
        yield backend
