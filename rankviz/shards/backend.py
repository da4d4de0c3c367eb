"""Where shards are worked on: lists whose entries stay where they are, and work on entry after entry.

See docs/decisions/0012-backends-and-dask-futures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from rankviz.common.settings import Whole
from rankviz.common.threads import cores, single_blas
from rankviz.fitting.memory import default_budget

DOCUMENTS = 100_000
"""In a shard that is worked on fastest: what a risk sorts then stays in the caches."""
SHARDS = Whole(most=2**31 - 1, optional=True)
"""How many shards, or threads, may be asked for."""
Tell = Callable[[int, int], object]
"""Told how many shards of how many are done; what it raises ends the work."""
POLL_SECONDS = 0.2
"""So often work that goes on is asked whether it shall end."""


def quiet(done: int, of: int) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Held:
    """One thing for each shard, held where the shard is: the thing itself, or what stands for it."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts)


@runtime_checkable
class Backend(Protocol):
    """Works on shards.

    Of the arguments of work those that are `Held` are dealt out, shard by shard; all others go to each.
    """

    @property
    def near(self) -> bool:
        """Whether shards are in this process, so that a number for each document is had for nothing."""
        ...

    @property
    def threads(self) -> int:
        """How many shards are worked on at once."""
        ...

    def count(self, n_documents: int) -> int:
        """How many shards so many documents are cut into.

        It is more where they are too large, and never more than there are queries.
        """
        ...

    def budget(self) -> float:
        """Bytes that training may take where the shards are."""
        ...

    def deal(self, items: Sequence[Any]) -> Held:
        """Take one item to where each shard will be."""
        ...

    def each(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> Held:
        """What `work` gives for each shard, which stays there."""
        ...

    def bring(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> list[Any]:
        """The same, brought here."""
        ...


class Here:
    """Shards in this process, worked on by as many threads as there are cores.

    Parameters
    ----------
    shards : int, optional
        Default: as many as are worked on fastest. There are never more shards than queries.
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
        """As asked for, or one for each `DOCUMENTS`, at least one for each thread."""
        return max(self.threads, round(n_documents / DOCUMENTS)) if self._shards is None else self._shards

    def budget(self) -> float:
        """70 % of the memory that is free."""
        return default_budget()

    def deal(self, items: Sequence[Any]) -> Held:
        """The items themselves."""
        return Held(tuple(items))

    def each(self, work: Callable[..., Any], *arguments: Any, tell: Tell = quiet) -> Held:
        """Work on shard after shard; several at once have one thread of BLAS each."""
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
        """The same."""
        return list(self.each(work, *arguments, tell=tell).parts)


def _in_turn(work: Callable[..., Any], rows: list[tuple[Any, ...]], tell: Tell) -> list[Any]:
    found = []
    for row in rows:
        found.append(work(*row))
        tell(len(found), len(rows))
    return found


def dealt(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The arguments for each shard."""
    (count,) = {len(argument) for argument in arguments if isinstance(argument, Held)}
    return [
        tuple(argument.parts[i] if isinstance(argument, Held) else argument for argument in arguments)
        for i in range(count)
    ]
