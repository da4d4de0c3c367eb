"""Backends for shards: lists whose entries stay in place, and work on each entry.

See docs/decisions/0012-backends-and-dask-futures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from rankviz.common.settings import Whole
from rankviz.common.threads import cores, single_blas
from rankviz.learning.memory import default_budget

DOCUMENTS = 100_000
"""Documents per shard for the fastest work: sorting a risk of this size fits in the caches."""
SHARDS = Whole(most=2**31 - 1, optional=True)
"""Valid numbers of shards or threads."""
Tell = Callable[[int, int], object]
"""Callback with the number of finished shards and the total; an exception from it stops the work."""
POLL_SECONDS = 0.2
"""Seconds between checks for a stop."""


def quiet(done: int, of: int) -> None:
    """Do nothing: no callback."""


@dataclass(frozen=True)
class Held:
    """One item for each shard, stored with the shard: the item itself, or a reference to it."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts)


@runtime_checkable
class Backend(Protocol):
    """A place that works on shards.

    Arguments of type `Held` are distributed shard by shard; each shard gets all other arguments.
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

    def deal(self, items: Sequence[Any]) -> Held:
        """Move one item to the place of each shard."""
        ...

    def each(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> Held:
        """Return the result of `work` for each shard, which stays there."""
        ...

    def bring(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> list[Any]:
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

    def deal(self, items: Sequence[Any]) -> Held:
        """Return the items themselves."""
        return Held(tuple(items))

    def each(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> Held:
        """Work on all shards; parallel threads have one thread of BLAS each."""
        rows = dealt(arguments)
        if len(rows) == 1 or self.threads == 1:
            return Held(tuple(_in_turn(work, rows, tell)))
        with single_blas(), ThreadPoolExecutor(self.threads, thread_name_prefix="rankviz-shards") as pool:
            found = [pool.submit(work, *row) for row in rows]
            try:
                left = set(found)
                while left:
                    done, left = wait(left, POLL_SECONDS, FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    tell(len(found) - len(left), len(found))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return Held(tuple(future.result() for future in found))

    def bring(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> list[Any]:
        """Return the same as a list."""
        return list(self.each(work, *arguments, tell=tell).parts)


def _in_turn(work: Callable[..., Any], rows: list[tuple[Any, ...]], tell: Tell) -> list[Any]:
    found = []
    for row in rows:
        found.append(work(*row))
        tell(len(found), len(rows))
    return found


def dealt(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the arguments for each shard."""
    (count,) = {len(argument) for argument in arguments if isinstance(argument, Held)}
    return [
        tuple(argument.parts[i] if isinstance(argument, Held) else argument for argument in arguments)
        for i in range(count)
    ]
