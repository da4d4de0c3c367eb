"""Sums of decision trees as plain arrays: scores, shares of features, and a file without pickle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays
from rankviz.common.progress import Progress, Report, silent

LEAF = -1
"""Feature of a node without children."""
_COLUMNS = ("feature", "threshold", "left", "right", "value")


@dataclass(frozen=True, eq=False)
class Trees:
    """f(x) = (base + Σ_t value of x's leaf in tree t) / divisor.

    Nodes of all trees are in one list. A document goes left where its feature is at most the threshold.

    Attributes
    ----------
    feature : (N,) int64
        Feature of a node; `LEAF` for a leaf.
    threshold, value : (N,) float64
    left, right : (N,) int64
        Children, which come after their parent.
    roots : (T,) int64
        First node of each tree.
    base, divisor : float
    single : bool
        True if features are compared in single precision, as scikit-learn's forests do.
    """

    feature: NDArray[np.int64]
    threshold: FloatArray
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: FloatArray
    roots: NDArray[np.int64]
    base: float = 0.0
    divisor: float = 1.0
    single: bool = False

    @classmethod
    def of(cls, trees: Sequence[Sequence[Any]], **constants: Any) -> Self:
        """Join trees, each with the columns feature, threshold, left, right and value of its nodes."""
        sizes = [len(tree[0]) for tree in trees]
        roots = np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)
        moved = [
            (feature, threshold, np.add(left, root), np.add(right, root), value)
            for (feature, threshold, left, right, value), root in zip(trees, roots, strict=True)
        ]
        kinds = (np.int64, np.float64, np.int64, np.int64, np.float64)
        columns: dict[str, Any] = {
            name: np.concatenate([tree[i] for tree in moved]).astype(kind)
            for i, (name, kind) in enumerate(zip(_COLUMNS, kinds, strict=True))
        }
        return cls(**columns, roots=roots, **constants)

    def scores(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return f of documents X (n, d) -> (n,); trees are added in their order, as libraries do."""
        X = X.astype(np.float32) if self.single else X
        out = np.full(len(X), self.base)
        for t, root in enumerate(self.roots):
            report(Progress("evaluate", t / len(self.roots)))
            out += self.value[self._leaves(X, int(root))]
        return out / self.divisor

    def _leaves(self, X: NDArray[Any], root: int) -> NDArray[np.int64]:
        """Return the leaf of each document in one tree."""
        at = np.full(len(X), root, np.int64)
        rows = np.arange(len(X))
        while (rows := rows[self.feature[at[rows]] != LEAF]).size:
            node = at[rows]
            goes_left = X[rows, self.feature[node]] <= self.threshold[node]
            at[rows] = np.where(goes_left, self.left[node], self.right[node])
        return at

    def arrays(self) -> Arrays:
        """Return all as arrays of float64, for files and records; `from_arrays` reads them."""
        constants = np.array([self.base, self.divisor, float(self.single)])
        columns = {name: getattr(self, name).astype(np.float64) for name in (*_COLUMNS, "roots")}
        return columns | {"constants": constants}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        """Read `arrays` of trees on d features. Raises KeyError or ValueError for damaged ones."""
        columns = {name: np.asarray(arrays[name]) for name in (*_COLUMNS, "roots")}
        base, divisor, single = np.asarray(arrays["constants"], np.float64).tolist()
        if any(c.ndim != 1 or c.dtype != np.float64 or not np.isfinite(c).all() for c in columns.values()):
            raise ValueError("trees are not lists of finite numbers")
        whole = {name: columns[name] for name in ("feature", "left", "right", "roots")}
        if any(np.abs(c).max(initial=0) >= 2**53 or (c != np.floor(c)).any() for c in whole.values()):
            raise ValueError("nodes of trees are not whole numbers")
        columns |= {name: c.astype(np.int64) for name, c in whole.items()}
        found = cls(**columns, base=base, divisor=divisor, single=bool(single))
        found.check(d)
        return found

    def check(self, d: int) -> None:
        """Raise ValueError unless the nodes form trees on d features: children come after their parent."""
        n, inner = len(self.feature), np.flatnonzero(self.feature != LEAF)
        if any(len(getattr(self, name)) != n for name in _COLUMNS):
            raise ValueError("columns of trees differ in length")
        if not (np.isfinite(self.threshold).all() and np.isfinite(self.value).all()):
            raise ValueError("thresholds or values of trees are no numbers")
        if not (np.isfinite(self.base) and np.isfinite(self.divisor) and self.divisor > 0):
            raise ValueError("constants of trees are no numbers")
        if ((self.feature < LEAF) | (self.feature >= d)).any():
            raise ValueError(f"trees read features beyond the {d} of the model")
        if ((self.roots < 0) | (self.roots >= n)).any():
            raise ValueError("trees begin outside their nodes")
        children = np.stack((self.left[inner], self.right[inner]))
        if ((children <= inner) | (children >= n)).any():
            raise ValueError("a node's children do not come after it")
