"""The symmetric kernel matrix K (n, n) of documents, for products; half of it is stored.

Only row panels up to the diagonal are stored: half the memory and half the entries of the square. A matrix
above `LARGEST_DOUBLE`, or one that does not fit otherwise, is stored in float32. If even this does not fit, K
is recomputed in every product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.parallel import in_order
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.kernel_base import Kernel, Panels, largest_value

PANEL_ROWS = 512  # panels are multiplied from both sides; fewer rows cost calls, more waste the diagonal
SINGLE = 1e-20, 1e30  # range of kernel values whose digits and differences float32 holds
BLOCK_ENTRIES = 400_000  # 3 MB of float64: a block of rows stays in the cache for both of its products
BLOCK_ROWS = 8, 64  # least and most rows of a block
LARGEST_DOUBLE = 2 << 30
"""Bytes up to which K is stored in float64: 23,000 documents. Larger products wait for memory."""


class KernelMatrix(Protocol):
    """K_ij = κ(x_i, x_j) of n documents, for products."""

    @property
    def storage(self) -> str:
        """Storage of the entries, in words."""
        ...

    @property
    def bytes(self) -> int:
        """Bytes of memory used."""
        ...

    def __len__(self) -> int:
        """Return the number of documents n."""
        ...

    def product(self, v: FloatArray, report: Report = silent) -> FloatArray:
        """Return K v: (n,) -> (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class KernelPanels:
    """Computes row panels K[s:e, :e] of the kernel matrix of documents X (n, d)."""

    X: FloatArray
    kernel: Kernel

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def _fill(self) -> Panels:
        return self.kernel.panels(self.X)

    @property
    def starts(self) -> range:
        """First row of each panel."""
        return range(0, len(self.X), PANEL_ROWS)

    def panel(
        self,
        start: int,
        dtype: type[np.floating] = np.float64,
        offset: float = 0.0,
        memory: NDArray[np.floating] | None = None,
    ) -> NDArray[np.floating]:
        """Return K[start:e, :e] − offset, e = start + PANEL_ROWS, in a dtype; in `memory` if there is any."""
        end = min(start + PANEL_ROWS, len(self.X))
        shape = end - start, end
        out = np.empty(shape, dtype) if memory is None else memory[: math.prod(shape)].reshape(shape)
        self._fill(start, offset, out)
        return out


@dataclass(frozen=True, eq=False)
class RecomputedKernel:
    """K without storage: every product recomputes its entries, O(n² d / 2)."""

    panels: KernelPanels

    @property
    def storage(self) -> str:
        """Words for a matrix that is not stored."""
        return storage_words(None)

    @property
    def bytes(self) -> int:
        """0: nothing is stored."""
        return 0

    def __len__(self) -> int:
        return len(self.panels)

    def product(self, v: FloatArray, report: Report = silent) -> FloatArray:
        """Return K v: (n,) -> (n,)."""
        out, memory = np.zeros(len(self)), np.empty(PANEL_ROWS * len(self))
        for start in self.panels.starts:
            _add(out, start, *_products(self.panels.panel(start, memory=memory), start, v))
            report(Progress("newton"))
        return out


@dataclass(frozen=True, eq=False)
class StoredKernel:
    """K in row panels up to the diagonal, n²/2 entries, in float64 or float32.

    float32 stores K minus the kernel's offset, rounded once. For small γ, entries of the RBF kernel are close
    to 1 and coefficients are large, so the digits of the difference matter. Products are still summed in
    float64.
    """

    stored: tuple[NDArray[np.floating], ...]
    offset: float

    @classmethod
    def of(cls, panels: KernelPanels, dtype: type[np.floating], report: Report = silent) -> StoredKernel:
        """Compute and store all panels; an exception from `report` stops the computation."""
        stored, offset = [], 0.0 if dtype is np.float64 else panels.kernel.offset
        for start in panels.starts:
            stored.append(panels.panel(start, dtype, offset))
            report(Progress("features", (stored[-1].shape[1] / len(panels)) ** 2))
        return cls(tuple(stored), offset)

    @property
    def storage(self) -> str:
        """Storage of the entries, in words."""
        return storage_words(self.stored[0].dtype.type)

    @property
    def bytes(self) -> int:
        """Bytes of all panels."""
        return sum(panel.nbytes for panel in self.stored)

    def __len__(self) -> int:
        return int(self.stored[-1].shape[1])

    def product(self, v: FloatArray, report: Report = silent) -> FloatArray:
        """Return K v: (n,) -> (n,)."""
        out = np.full(len(self), self.offset * v.sum())
        starts = range(0, len(self), PANEL_ROWS)
        products = in_order(lambda start: _products(self.stored[start // PANEL_ROWS], start, v), starts)
        for start, found in zip(starts, products, strict=True):
            _add(out, start, *found)
            report(Progress("newton"))
        return out


def kernel_matrix(X: FloatArray, kernel: Kernel, budget: float, report: Report = silent) -> KernelMatrix:
    """Return K of documents X (n, d) in the most precise form that fits into `budget` bytes."""
    panels = KernelPanels(X, kernel)
    dtype = storage_dtype(len(X), budget)
    least, most = SINGLE
    if dtype is np.float32 and not least <= largest_value(kernel, X) <= most:
        dtype = None  # float32 would lose digits beyond rounding
    return RecomputedKernel(panels) if dtype is None else StoredKernel.of(panels, dtype, report)


def storage_dtype(n: int, budget: float) -> type[np.floating] | None:
    """Return float64 if half of K (n, n) fits into `budget` and `LARGEST_DOUBLE`, else float32 if it fits.

    None: not stored.
    """
    if stored_bytes(n, 8) <= min(budget, LARGEST_DOUBLE):
        return np.float64
    return np.float32 if stored_bytes(n, 4) <= budget else None


def storage_words(dtype: type[np.floating] | None) -> str:
    """Describe the storage of a kernel matrix in words."""
    if dtype is None:
        return "kernel computed anew in every product"
    return f"kernel stored in {np.dtype(dtype).name}"


def stored_bytes(n: int, itemsize: int) -> int:
    """Return the bytes of all panels."""
    return itemsize * n * (n + PANEL_ROWS) // 2


def planned_matrix(n: int, budget: float) -> tuple[str, int]:
    """Return how K (n, n) will be stored within `budget` bytes, in words, and its bytes."""
    dtype = storage_dtype(n, budget)
    return storage_words(dtype), 0 if dtype is None else stored_bytes(n, np.dtype(dtype).itemsize)


def _products(panel: NDArray[np.floating], start: int, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K v of a panel's rows, and of the rows above it by symmetry; blocks of rows are read once."""
    rows, columns = panel.shape
    own, above, mine = np.empty(rows), np.zeros(start), v[start:columns]
    step = min(max(BLOCK_ENTRIES // columns, BLOCK_ROWS[0]), BLOCK_ROWS[1])
    block = np.empty((step, columns))
    for first in range(0, rows, step):
        some = slice(first, min(first + step, rows))
        double = panel[some]
        if double.dtype != np.float64:
            block[: len(double)] = double
            double = block[: len(double)]
        np.dot(double, v[:columns], out=own[some])
        # the diagonal block is complete; transposing it too would count it twice
        above += np.dot(mine[some], double[:, :start])  # `@` would keep Python's lock
    return own, above


def _add(out: FloatArray, start: int, own: FloatArray, above: FloatArray) -> None:
    out[start : start + len(own)] += own
    out[:start] += above
