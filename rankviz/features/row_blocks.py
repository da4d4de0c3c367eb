"""Tall matrices filled block by block on all cores; they can be stopped after each block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.threads import cores, single_blas

T = TypeVar("T")
R = TypeVar("R")

BLOCK_ENTRIES = 4_000_000  # 32 MB of float64: enough for a threaded matrix product, about 10 ms of work


ROWS = 4096
"""Rows of features per block; a copy of them fits in the cache."""
PIECE_ENTRIES = 32_768
"""Entries per piece of an operation with several passes: 256 kB, which fits in the inner caches with a
copy."""


def fill_rows(
    n: int, m: int, fill: Callable[[slice, FloatArray], object], report: Report = silent, scratch: int = 0
) -> FloatArray:
    """Build an (n, m) matrix by calling fill(rows, block) for slices of rows, and report progress.

    Blocks shrink if `fill` needs `scratch` temporary entries for each entry.
    """
    out = np.empty((n, m))
    step = max(1, BLOCK_ENTRIES // (max(m, 1) * (1 + scratch)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        fill(rows, out[rows])
        report(Progress("features", rows.stop / n))
    return out


def in_place(function: np.ufunc, block: FloatArray) -> None:
    """Apply an entrywise function to a block in place, on all cores."""
    parts = np.array_split(block, cores())
    if block.size < 100_000 or len(parts) == 1:
        function(block, out=block)
    else:
        list(_pool().map(lambda part: function(part, out=part), parts))


def shared(work: Callable[[FloatArray, FloatArray], object], source: FloatArray, block: FloatArray) -> None:
    """Call work(source, block) on row blocks of both, on all cores."""
    parts = list(zip(np.array_split(source, cores()), np.array_split(block, cores()), strict=True))
    if block.size < 100_000 or len(parts) == 1:
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
    with single_blas():
        return list(_shared_out(work, items))


def _shared_out(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Return the work's result for each item, in parallel if this helps."""
    return _pool().map(work, items) if cores() > 1 and len(items) > 1 else map(work, items)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="rankviz-blocks")


if hasattr(os, "register_at_fork"):
    # a forked process has the pool without its threads, and would wait forever
    os.register_at_fork(after_in_child=_pool.cache_clear)
