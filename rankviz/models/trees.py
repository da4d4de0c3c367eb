"""Sums of decision trees, or of multiples of features, as plain arrays: scores, and files without pickle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.maps import BoxForm, SumForm
from rankviz.features.registry import FittedLinear

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
        The divisor of a mean is the number of trees, and else 1.
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

    def stages(self, X: FloatArray) -> Iterator[FloatArray]:
        """Yield the scores of documents X (n, d) before the first tree and after each one, (n,)."""
        X = X.astype(np.float32) if self.single else X
        out = np.full(len(X), self.base)
        yield out
        for t, root in enumerate(self.roots, start=1):
            out += self.value[self._leaves(X, int(root))]
            yield out / (t if self.divisor > 1.0 else 1.0)

    def _leaves(self, X: NDArray[Any], root: int) -> NDArray[np.int64]:
        """Return the leaf of each document in one tree."""
        at = np.full(len(X), root, np.int64)
        rows = np.arange(len(X))
        while (rows := rows[self.feature[at[rows]] != LEAF]).size:
            node = at[rows]
            goes_left = X[rows, self.feature[node]] <= self.threshold[node]
            at[rows] = np.where(goes_left, self.left[node], self.right[node])
        return at

    def form(self, d: int) -> SumForm | BoxForm:
        """Return f as a sum of functions of d single features, or of boxes for trees of several splits."""
        inner = np.flatnonzero(self.feature != LEAF)
        if self.single or len(np.unique(np.searchsorted(self.roots, inner, side="right"))) < len(inner):
            return self._boxes
        feature, threshold = self.feature[inner], self.threshold[inner]
        low, high = (self.value[child[inner]] / self.divisor for child in (self.left, self.right))

        def differences(a: FloatArray, b: FloatArray) -> FloatArray:
            at = [np.where(x[feature] <= threshold, low, high) for x in (a, b)]
            return np.asarray(np.bincount(feature, at[0] - at[1], d), np.float64)

        return SumForm(differences)

    @cached_property
    def _boxes(self) -> BoxForm:
        """The boxes of all leaves, from the sides of splits on their paths."""
        paths: dict[int, dict[int, tuple[float, float]]] = {int(root): {} for root in self.roots}
        leaves: list[int] = []
        for node in range(len(self.feature)):  # parents come before their children
            own, feature = paths.pop(node), int(self.feature[node])
            if feature == LEAF:
                paths[node] = own
                leaves.append(node)
                continue
            at, (low, high) = float(self.threshold[node]), own.get(feature, (-math.inf, math.inf))
            paths[int(self.left[node])] = own | {feature: (low, min(high, at))}
            paths[int(self.right[node])] = own | {feature: (max(low, at), high)}
        sides = [(i, feature, *ends) for i, n in enumerate(leaves) for feature, ends in paths[n].items()]
        columns = np.array(sides, np.float64).reshape(-1, 4).T
        box, feature = columns[:2].astype(np.int64)
        return BoxForm(self.value[leaves] / self.divisor, box, feature, columns[2], columns[3], self.single)

    def arrays(self) -> Arrays:
        """Return all as arrays of float64, for files and records; `from_arrays` reads them."""
        constants = np.array([self.base, self.divisor, float(self.single)])
        return _stored(self, (*_COLUMNS, "roots")) | {"constants": constants}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        """Read `arrays` of trees on d features. Raises KeyError or ValueError for damaged ones."""
        base, divisor, single = np.asarray(arrays["constants"], np.float64).tolist()
        columns = _read(arrays, (*_COLUMNS, "roots"), ("feature", "left", "right", "roots"))
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


def stump(feature: int, threshold: float, above: float) -> list[NDArray[Any]]:
    """Return the nodes of a tree with value `above` where a feature exceeds a threshold, else 0."""
    nodes = ([feature, LEAF, LEAF], [threshold, 0.0, 0.0], [1, 0, 0], [2, 0, 0], [0.0, 0.0, above])
    return [np.array(column) for column in nodes]


@dataclass(frozen=True, eq=False)
class Terms:
    """f(x) = Σ_t value_t · x[feature_t], with some terms for each round.

    Attributes
    ----------
    feature : (N,) int64
    value : (N,) float64
    roots : (T,) int64
        First term of each round.
    """

    feature: NDArray[np.int64]
    value: FloatArray
    roots: NDArray[np.int64]

    @classmethod
    def of(cls, rounds: Sequence[FloatArray]) -> Self:
        """Join rounds, each the change of all weights (d,), without zeros."""
        features = [np.flatnonzero(change) for change in rounds]
        roots = np.cumsum([0, *map(len, features)])[:-1].astype(np.int64)
        values = [change[own] for change, own in zip(rounds, features, strict=True)]
        return cls(np.concatenate(features).astype(np.int64), np.concatenate(values), roots)

    def weights(self, d: int) -> FloatArray:
        """Return w of f(x) = w·x, (d,)."""
        return np.asarray(np.bincount(self.feature, self.value, d), np.float64)

    def scores(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return f of documents X (n, d) -> (n,)."""
        found: FloatArray = X @ self.weights(X.shape[1])
        return found

    def form(self, d: int) -> SumForm:
        """Return f as a sum of multiples of single features."""
        return FittedLinear(d).form(self.weights(d))

    def arrays(self) -> Arrays:
        """Return all as arrays of float64, for files and records; `from_arrays` reads them."""
        return _stored(self, ("feature", "value", "roots"))

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        """Read `arrays` of terms of d features. Raises KeyError or ValueError for damaged ones."""
        found = cls(**_read(arrays, ("feature", "value", "roots"), ("feature", "roots")))
        if len(found.feature) != len(found.value) or ((found.feature < 0) | (found.feature >= d)).any():
            raise ValueError(f"terms read features beyond the {d} of the model")
        if (np.diff(found.roots, prepend=0, append=len(found.value)) < 0).any():
            raise ValueError("rounds begin outside their terms")
        return found


def _stored(sums: object, names: Sequence[str]) -> Arrays:
    return {name: getattr(sums, name).astype(np.float64) for name in names}


def _read(arrays: Arrays, names: Sequence[str], whole: Sequence[str]) -> dict[str, Any]:
    """Return columns by name, some of whole numbers. Raises KeyError or ValueError for damaged ones."""
    columns = {name: np.asarray(arrays[name]) for name in names}
    if any(c.ndim != 1 or c.dtype != np.float64 or not np.isfinite(c).all() for c in columns.values()):
        raise ValueError("trees are not lists of finite numbers")
    numbers = {name: columns[name] for name in whole}
    if any(np.abs(c).max(initial=0) >= 2**53 or (c != np.floor(c)).any() for c in numbers.values()):
        raise ValueError("nodes of trees are not whole numbers")
    return columns | {name: c.astype(np.int64) for name, c in numbers.items()}
