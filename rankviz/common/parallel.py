"""Cores of this process, BLAS with one thread, and loops over row blocks on all cores.

Loops can be stopped after each block. Several processes that work at once limit their cores.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController, threadpool_limits

from rankviz.common.arrays import FloatArray
from rankviz.common.files import IN_BROWSER
from rankviz.common.progress import Progress, Report, silent

T = TypeVar("T")
R = TypeVar("R")

ENVIRONMENT = "RANKVIZ_THREADS"
BLOCK_ENTRIES = 4_000_000  # 32 MB of float64: enough for several threads, about 10 ms of work
PIECES = 4
"""Pieces of a block that threads share. It is fixed, so that results do not depend on the number of cores."""
ROWS = 4096
"""Rows of features per block; a copy of them fits in the cache."""
CACHED, SEVERAL = 1 << 17, 16
"""Entries of a matrix that fit in the cache (1 MB); and how many such slices a thread takes at a time."""
SMALL_ENTRIES = 100_000
"""Entries below which threads do not pay."""
SMALL_PRODUCT = 5e7
"""Multiplications below which threads do not pay: some milliseconds."""
READ_ROWS = 8192
"""Most rows of a block of a matrix that is read once; few enough to keep sums in single precision short."""
SMALL_READ = 1_000_000
"""Entries of such a matrix below which threads do not pay: half a millisecond."""
WORKERS = "rankviz-blocks"
"""Beginning of the names of threads that share work; such a thread does its own work alone."""
PIECE_ENTRIES = 32_768
"""Entries per piece of an operation with several passes: 256 kB, which fits in the inner caches with a
copy."""


def cores() -> int:
    """Return the cores this process may use: those allowed by the system, or fewer by RANKVIZ_THREADS."""
    asked = os.environ.get(ENVIRONMENT, "")
    return min(_allowed(), max(1, int(asked))) if asked.isdecimal() else _allowed()


def limit_threads(n: int) -> None:
    """Limit BLAS and the block-wise loops of this process to n threads."""
    os.environ[ENVIRONMENT] = str(n)
    threadpool_limits(limits=n)


def _allowed() -> int:
    """Return the cores that the system allows this process; 1 without threads (in a browser)."""
    if IN_BROWSER:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_blas() -> Iterator[None]:
    """Limit BLAS to one thread in this process until the last caller leaves.

    Use it for small matrices processed in parallel, and for sums that must not depend on the number of cores:
    BLAS splits a sum among its threads, which changes the order of addition.
    """
    before = _ALONE.enter()
    try:
        yield
    finally:
        _ALONE.leave(before)


class _SingleBlas:
    """Counter of callers: the first sets the limit for all, the last restores it; nobody waits.

    If BLAS has a pool per calling thread, each caller sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._first = threading.Lock(), 0, list[int]()

    def enter(self) -> list[int]:
        """Set the limit and return each BLAS library's previous threads, for `leave`."""
        with self._lock:
            before = [library.num_threads for library in _libraries()]
            if self._inside == 0:
                self._first = before
            for library in _libraries():
                _set_threads(library, 1)
            self._inside += 1
            return before

    def leave(self, before: list[int]) -> None:
        """Restore the previous threads if nobody else needs the limit."""
        with self._lock:
            self._inside -= 1
            for library, own, first in zip(_libraries(), before, self._first, strict=True):
                if getattr(library, "threading_layer", "") == "openmp":
                    _set_threads(library, own)
                elif self._inside == 0:
                    _set_threads(library, first)


_ALONE = _SingleBlas()


@cache
def _libraries() -> list[Any]:
    """Return the BLAS libraries of this process."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return list(found)


def _set_threads(library: Any, n: int) -> None:
    """Set a BLAS library's threads to n, even if another thread set them before.

    Recent versions of threadpoolctl allow one thread of a process to do so until it ends; calls of other
    threads silently do nothing.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n)
    release(force=True)


def fill_rows(
    n: int, m: int, fill: Callable[[slice, FloatArray], object], report: Report = silent, scratch: int = 0
) -> FloatArray:
    """Build an (n, m) matrix by calling fill(rows, block) for slices of rows, and report progress.

    Blocks shrink if `fill` needs `scratch` temporary entries for each entry. Threads share the pieces of a
    block, so `fill` may be called by several at once.
    """
    out = np.empty((n, m))
    step = max(1, BLOCK_ENTRIES // (max(m, 1) * (1 + scratch)))
    with single_blas():
        for start in range(0, n, step):
            end = min(start + step, n)
            piece = max(-(-(end - start) // PIECES), SMALL_ENTRIES // max(m, 1), 1)
            for _ in _shared_out(lambda rows: fill(rows, out[rows]), _slices(start, end, piece)):
                pass
            report(Progress("features", end / n))
    return out


def summed(work: Callable[[slice], FloatArray], n: int, out: FloatArray) -> FloatArray:
    """Add work(rows) to `out` for slices of n rows, in their order, and return it."""
    return sum_of(work, _slices(0, n, ROWS), out, ROWS * out.size >= SMALL_PRODUCT)


def sum_of(
    work: Callable[[T], FloatArray], items: Sequence[T], out: FloatArray, pays: bool = True
) -> FloatArray:
    """Add the work's result for each item to `out`, in the order of the items, and return it.

    Threads share the items if that pays. The order does not depend on the number of threads.
    """
    together = max(1, BLOCK_ENTRIES // max(out.size, 1))  # bounds the memory
    together -= together % cores() if together > cores() else 0
    for start in range(0, len(items), together):
        some = items[start : start + together]
        for found in _shared_out(work, some) if pays else map(work, some):
            out += found
    return out


def product(A: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """Return A v, (n, k) and (k,) or (k, s); threads share the rows of a large matrix."""
    if not reading_pays(A):
        return np.asarray(A @ v)
    out = np.empty((len(A), *v.shape[1:]), np.result_type(A, v))
    each(lambda rows: np.dot(A[rows], v, out=out[rows]), _reads(A))
    return out


def adjoint(A: NDArray[Any], u: NDArray[Any]) -> FloatArray:
    """Return uᵀ A, (n,) or (n, s) and (n, k), as (k,) or (s, k); sums of blocks of rows are in float64."""
    total = np.zeros((*u.T.shape[:-1], A.shape[1]))
    # `u[rows] @ A[rows]` would keep Python's lock
    return sum_of(lambda rows: np.dot(u[rows].T, A[rows]), _reads(A), total, reading_pays(A))


def reading_pays(A: NDArray[Any]) -> bool:
    """Return True if threads pay where a matrix (n, k) is read once."""
    return bool(A.size >= SMALL_READ)


def _reads(A: NDArray[Any]) -> list[slice]:
    return _slices(0, len(A), min(READ_ROWS, max(1024, 2 * SMALL_READ // max(A.shape[1], 1))))


def _slices(start: int, end: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, end)) for first in range(start, end, step)]


def in_place(function: np.ufunc, block: FloatArray) -> None:
    """Apply an entrywise function to a block in place, on all cores."""
    parts = np.array_split(block, cores())
    if block.size < SMALL_ENTRIES or len(parts) == 1 or _works_alone():
        function(block, out=block)
    else:
        list(_pool().map(lambda part: function(part, out=part), parts))


def shared(work: Callable[[FloatArray, FloatArray], object], source: FloatArray, block: FloatArray) -> None:
    """Call work(source, block) on row blocks of both, on all cores."""
    parts = list(zip(np.array_split(source, cores()), np.array_split(block, cores()), strict=True))
    if block.size < SMALL_ENTRIES or len(parts) == 1 or _works_alone():
        work(source, block)
    else:
        list(_pool().map(lambda part: work(*part), parts))


def powers(block: FloatArray, exponent: int) -> None:
    """Raise the entries of a block to a whole power ≥ 1 in place by squaring, ten times as fast as pow."""
    width = block.size // max(len(block), 1)
    step = max(1, PIECE_ENTRIES // max(width, 1))
    for start in range(0, len(block), step):
        piece = block[start : start + step]
        base = piece.copy()
        for digit in f"{exponent:b}"[1:]:
            np.square(piece, out=piece)
            if digit == "1":
                piece *= base


def rounded(matrix: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return a copy in single precision, made on all cores."""
    out = np.empty(matrix.shape, np.float32)
    parts = zip(np.array_split(out, cores()), np.array_split(matrix, cores()), strict=True)
    for _ in _shared_out(lambda part: np.copyto(part[0], part[1], casting="same_kind"), list(parts)):
        pass
    return out


def each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return the work's result for each item, on all cores with one thread of BLAS each."""
    return list(in_order(work, items))


def in_order(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield the work's result for each item in turn, from all cores with one thread of BLAS each."""
    with single_blas():
        yield from _shared_out(work, items)


def norm_bound(X: FloatArray) -> float:
    """Return a bound of the absolute values of X (n, d), far below the norm; ∞ or NaN if one is not finite.

    It is the largest norm of a block of rows, at most √`PIECE_ENTRIES` times the largest value for d below
    this. BLAS reads a block once, a maximum and a minimum twice.
    """
    step, most = max(1, PIECE_ENTRIES // max(X.shape[1], 1)), 0.0
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), step):
            block = X[start : start + step].ravel()
            square = float(block @ block)
            most = square if not square <= most else most
            if not most < math.inf:
                break
    return math.sqrt(most)


def for_rows(work: Callable[[slice], object], n: int, m: int) -> None:
    """Call work(rows) for slices of the n rows of an (n, m) matrix, on all cores if there are many.

    A slice fits in the cache, so `work` may read it several times.
    """
    step = max(1, CACHED // max(m, 1))

    def several(rows: slice) -> None:
        for own in _slices(rows.start, rows.stop, step):
            work(own)

    for _ in _shared_out(several, _slices(0, n, SEVERAL * step)):
        pass


def _shared_out(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Return the work's result for each item, in parallel if this helps."""
    parallel = cores() > 1 and len(items) > 1 and not _works_alone()
    return _pool().map(work, items) if parallel else map(work, items)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix=WORKERS)


def leave_cores_to_others(others: int, seconds: float) -> None:
    """Let each thread of this process do its own work alone for a time, if so many others may need all cores.

    A thread of a busy process waits longer for another one's result than its own share of the work takes.
    """
    global _alone_until
    _alone_until = time.monotonic() + seconds if others >= cores() - 1 else -math.inf


_alone_until = -math.inf


def _works_alone() -> bool:
    """Return True where threads do not share work, as in one that does: it would wait forever for another."""
    return time.monotonic() < _alone_until or threading.current_thread().name.startswith(WORKERS)


if hasattr(os, "register_at_fork"):
    # a forked process has the pool without its threads, and would wait forever
    os.register_at_fork(after_in_child=_pool.cache_clear)
