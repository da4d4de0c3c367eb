"""Array aliases used in the core's signatures."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def mapping_of(X: Any) -> np.memmap[Any, Any] | None:
    """Return the whole mapped array of which X is a piece; None if there is none."""
    found = None
    while X is not None:
        found = X if isinstance(X, np.memmap) and X.filename is not None else found
        X = getattr(X, "base", None)
    return found


def offset_in(X: np.ndarray, mapping: np.memmap[Any, Any]) -> int:
    """Return the byte offset in the file of a piece X of its mapping."""
    start = X.__array_interface__["data"][0] - mapping.__array_interface__["data"][0]
    return int(mapping.offset) + int(start)


def release_pages(X: np.ndarray) -> None:
    """Release the memory of the pages of X if it is mapped; the file still holds them."""
    mapping = mapping_of(X)
    if mapping is None or not X.flags.c_contiguous or X.size == 0 or not hasattr(mmap, "MADV_DONTNEED"):
        return
    pages: Any = mapping._mmap  # type: ignore[attr-defined]  # NumPy has no public access
    begins = (
        mapping.offset - mapping.offset % mmap.ALLOCATIONGRANULARITY
    )  # of the file, where the mapping does
    first = offset_in(X, mapping) - begins
    start = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (first + X.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE - start
    if length > 0:
        pages.madvise(mmap.MADV_DONTNEED, start, length)
