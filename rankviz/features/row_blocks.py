"""Tall matrices filled block by block, on all cores, with a chance to stop after each block."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
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

BLOCK_ENTRIES = 4_000_000  # 32 MB of float64: large enough for a threaded matrix product, about 10 ms of work


def fill_rows(
    n: int, m: int, fill: Callable[[slice, FloatArray], None], report: Report = silent
) -> FloatArray:
    """Build an (n, m) matrix by calling fill(rows, block) for slices of rows, telling the share done."""
    out = np.empty((n, m))
    step = max(1, BLOCK_ENTRIES // max(m, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        fill(rows, out[rows])
        report(Progress("features", rows.stop / n))
    return out


def in_place(function: np.ufunc, block: FloatArray) -> None:
    """Apply an entrywise function to a block in place, its rows shared out among the cores."""
    parts = np.array_split(block, cores())
    if block.size < 100_000 or len(parts) == 1:
        function(block, out=block)
    else:
        list(_pool().map(lambda part: function(part, out=part), parts))


def rounded(matrix: NDArray[np.floating]) -> NDArray[np.float32]:
    """A copy in single precision, its rows shared out among the cores."""
    out = np.empty(matrix.shape, np.float32)
    parts = zip(np.array_split(out, cores()), np.array_split(matrix, cores()), strict=True)
    list(_pool().map(lambda part: np.copyto(part[0], part[1], casting="same_kind"), parts))
    return out


def each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The work on each item, shared out among the cores, with one thread of BLAS each."""
    with single_blas():
        return list(_pool().map(work, items) if cores() > 1 and len(items) > 1 else map(work, items))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="rankviz-blocks")


if hasattr(os, "register_at_fork"):
    # a forked process has the pool but not its threads, and would wait for them for ever
    os.register_at_fork(after_in_child=_pool.cache_clear)
