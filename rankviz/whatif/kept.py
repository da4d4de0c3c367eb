"""Reusable parts of a fitted RankSVM when its data change: the map, rows of its base, a kernel matrix.

A `Place` is the state of a trained model: its documents, its map, and their Φ or K. `moved` returns the place
for changed documents, and shares all that the change does not affect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.progress import Report, silent
from rankviz.datasets.types import RankingData
from rankviz.features.family import MapFamily, OneMap
from rankviz.features.kernel_base import needed
from rankviz.features.kernel_matrix import KernelMatrix, kernel_matrix
from rankviz.features.maps import FittedMap, Move
from rankviz.features.operator import FeatureOperator
from rankviz.learning.spaces import FeatureSpace, KernelSpace


@dataclass(frozen=True, eq=False)
class Alike:
    """Match of the documents of changed data with those of the data before.

    Attributes
    ----------
    before : (n,) int64
        Position of each document before; −1 for a new one.
    same : (n,) bool
        True if its features did not change.
    n_before : int
        Number of documents before.
    """

    before: IntArray
    same: BoolArray
    n_before: int

    @classmethod
    def of(cls, before: RankingData, after: RankingData) -> Alike:
        """Match documents by their number in `rows`, and compare their features."""
        if after.X is before.X:
            return cls(np.arange(len(before.y)), np.ones(len(before.y), bool), len(before.y))
        order = np.argsort(before.rows, kind="stable")
        place = np.minimum(np.searchsorted(before.rows, after.rows, sorter=order), len(order) - 1)
        found = order[place]
        there = before.rows[found] == after.rows
        same = there & (before.X[found] == after.X).all(axis=1)
        return cls(np.where(there, found, -1), same, len(order))

    @property
    def all_as_before(self) -> bool:
        """True if these are all documents of before, in the same order."""
        return bool(self.same.all()) and np.array_equal(self.before, np.arange(self.n_before))


@dataclass(frozen=True, eq=False)
class Moved:
    """The place and data for training after a change.

    Attributes
    ----------
    place : Place
    data : RankingData
        Training data there.
    shown : (n,) int64
        Position of each document of the changed data in `data`.
    w : (m,) float64 or None
        Weights to start from; None without any.
    curved_alike : bool
        True if the Hessian belongs to the same features.
    """

    place: Place
    data: RankingData
    shown: IntArray
    w: FloatArray | None
    curved_alike: bool = True


class Place(Protocol):
    """State of a trained model."""

    @property
    def map(self) -> FittedMap:
        """Its feature map."""
        ...

    def space(self, budget: float) -> FeatureSpace | KernelSpace:
        """Return the space for training there, with its known parts."""
        ...

    def start(self, w: FloatArray) -> FloatArray:
        """Return weights as vectors of the space."""
        ...

    def scores(self, w: FloatArray) -> FloatArray:
        """Return the scores of its documents, (n,)."""
        ...

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> Moved:
        """Return place and data after a change, with features `off` set to 0, starting from weights w."""
        ...


@dataclass(frozen=True, eq=False)
class FeaturePlace:
    """Φ of documents X (n, d) under a map; an exact map must belong to these documents."""

    X: FloatArray
    map: FittedMap
    features: FeatureOperator
    exact: bool

    @classmethod
    def of(cls, fitted: FittedMap, X: FloatArray, *, exact: bool, report: Report = silent) -> FeaturePlace:
        """Compute Φ."""
        return cls(X, fitted, fitted.operator(X, report), exact)

    def space(self, budget: float) -> FeatureSpace:
        """Return the space of the map's weights."""
        space = FeatureSpace(MapFamily(OneMap(self.map), self.X), self.X, budget)
        space.know(_gamma(self.map), self.features)
        return space

    def start(self, w: FloatArray) -> FloatArray:
        """Return the weights unchanged."""
        return w

    def scores(self, w: FloatArray) -> FloatArray:
        """Return Φ w."""
        return self.features.product(w)

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> Moved:
        """Return the new place; with the same map only rows of new and changed documents are computed."""
        shown, alike = np.arange(after.n_documents), Alike.of(before, after)
        if off or (self.exact and not alike.same.all()):
            fitted = self.map.moved(_without(off), after.X)
            place = FeaturePlace.of(fitted, after.X, exact=self.exact)
            same_size = len(w) == fitted.n_components
            return Moved(place, after, shown, w if same_size else None, curved_alike=False)
        if alike.all_as_before:
            return Moved(self, after, shown, w)
        base = self.features.base[alike.before]
        new = np.flatnonzero(~alike.same)
        if len(new):
            base[new] = self.map.operator(after.X[new]).base
        features = FeatureOperator(base, self.features.basis)
        return Moved(FeaturePlace(after.X, self.map, features, self.exact), after, shown, w)


@dataclass(frozen=True, eq=False)
class KernelPlace:
    """The kernel matrix K of documents X (n, d), whose coefficients are the weights."""

    X: FloatArray
    map: FittedMap
    K: KernelMatrix
    budget: float

    @classmethod
    def of(cls, fitted: FittedMap, X: FloatArray, budget: float, report: Report = silent) -> KernelPlace:
        """Compute K."""
        return cls(X, fitted, kernel_matrix(X, needed(fitted.kernel), budget, report), budget)

    def space(self, budget: float) -> KernelSpace:
        """Return the kernel's own space."""
        space = KernelSpace(MapFamily(OneMap(self.map), self.X), self.X, budget)
        space.know(_gamma(self.map), self.K)
        return space

    def start(self, w: FloatArray) -> FloatArray:
        """Return coefficients with their image."""
        return np.stack((w, self.scores(w)))

    def scores(self, w: FloatArray) -> FloatArray:
        """Return K w."""
        return self.K.product(w)

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> Moved:
        """Return the new place; K is kept if features stay and only whole queries are left out."""
        alike = Alike.of(before, after)
        silenced = _silenced(before, after, alike)
        if silenced is not None:
            return Moved(self, silenced, alike.before, w)
        coefficients = np.where(alike.before >= 0, w[alike.before], 0.0)
        place = KernelPlace.of(self.map.moved(_without(off), after.X), after.X, self.budget)
        return Moved(place, after, np.arange(after.n_documents), coefficients, curved_alike=False)


def place_of(
    fitted: FittedMap, X: FloatArray, budget: float, *, exact: bool, report: Report = silent
) -> FeaturePlace | KernelPlace:
    """Return the state of a fitted map with training documents X (n, d); K may use `budget` bytes."""
    if fitted.in_kernel_space:
        return KernelPlace.of(fitted, X, budget, report)
    return FeaturePlace.of(fitted, X, exact=exact, report=report)


def _without(features: Sequence[int]) -> Move:
    """Return a function that sets these features to 0."""

    def move(Z: FloatArray) -> FloatArray:
        Z = Z.copy()
        Z[:, list(features)] = 0.0
        return Z

    return move


def _silenced(before: RankingData, after: RankingData, alike: Alike) -> RankingData | None:
    """Return all documents of before with their new grades; queries that were left out get equal grades.

    Queries with equal grades have no pairs. None if this is not equivalent: documents are new, changed, or
    left out of queries that stay.
    """
    kept = alike.before
    if not alike.same.all() or (np.diff(kept) <= 0).any():
        return None
    query = np.searchsorted(before.ptr, kept, side="right") - 1
    left = np.bincount(query, minlength=before.n_queries)
    if ((left != 0) & (left != np.diff(before.ptr))).any():
        return None
    y = np.zeros_like(before.y)
    y[kept] = after.y
    return replace(before, y=y)


def _gamma(fitted: FittedMap) -> float:
    return 1.0 if fitted.kernel is None else fitted.kernel.gamma
