"""Repeated training of a RankSVM on changed data, with the parts of the fitted model that stay valid.

A `ModelState` has the documents of a trained model, its map, and their Φ or K. `moved` returns the state for
changed documents, and shares everything that the change does not affect.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.progress import Report, Stopwatch, silent
from rankviz.datasets.parts import documents_digest
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernel_base import needed
from rankviz.features.kernel_matrix import KernelMatrix, kernel_matrix
from rankviz.features.maps import FittedMap, Move
from rankviz.features.operator import FeatureOperator
from rankviz.learning.kernel_space import KernelSpace
from rankviz.learning.objective import Objective, Preconditioner
from rankviz.learning.training import FeatureSpace, Fit, MapFamily, OneMap, Task
from rankviz.models.ranksvm import RankSVM


@dataclass(frozen=True, eq=False)
class DocumentMatch:
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
    def of(cls, before: RankingData, after: RankingData) -> DocumentMatch:
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
class MovedState:
    """The state and data for training after a change.

    Attributes
    ----------
    state : ModelState
    data : RankingData
        Training data there.
    shown : (n,) int64
        Position of each document of the changed data in `data`.
    w : (m,) float64 or None
        Weights to start from; None without any.
    curved_alike : bool
        True if the Hessian belongs to the same features.
    """

    state: ModelState
    data: RankingData
    shown: IntArray
    w: FloatArray | None
    curved_alike: bool = True


class ModelState(Protocol):
    """State of a trained model."""

    @property
    def map(self) -> FittedMap:
        """Its feature map."""
        ...

    def space(self, budget: float) -> FeatureSpace | KernelSpace:
        """Return the space for training on it, with its known parts."""
        ...

    def start(self, w: FloatArray) -> FloatArray:
        """Return weights as vectors of the space."""
        ...

    def scores(self, w: FloatArray) -> FloatArray:
        """Return the scores of its documents, (n,)."""
        ...

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> MovedState:
        """Return state and data after a change, with features `off` set to 0, starting from weights w."""
        ...


@dataclass(frozen=True, eq=False)
class FeatureState:
    """Φ of documents X (n, d) under a map; an exact map must belong to these documents."""

    X: FloatArray
    map: FittedMap
    features: FeatureOperator
    exact: bool

    @classmethod
    def of(cls, fitted: FittedMap, X: FloatArray, *, exact: bool, report: Report = silent) -> FeatureState:
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

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> MovedState:
        """Return the new state; with the same map only rows of new and changed documents are computed."""
        shown, alike = np.arange(after.n_documents), DocumentMatch.of(before, after)
        if off or (self.exact and not alike.same.all()):
            fitted = self.map.moved(_zeroing(off), after.X)
            state = FeatureState.of(fitted, after.X, exact=self.exact)
            same_size = len(w) == fitted.n_components
            return MovedState(state, after, shown, w if same_size else None, curved_alike=False)
        if alike.all_as_before:
            return MovedState(self, after, shown, w)
        base = self.features.base[alike.before]
        new = np.flatnonzero(~alike.same)
        if len(new):
            base[new] = self.map.operator(after.X[new]).base
        features = FeatureOperator(base, self.features.basis)
        return MovedState(FeatureState(after.X, self.map, features, self.exact), after, shown, w)


@dataclass(frozen=True, eq=False)
class KernelState:
    """The kernel matrix K of documents X (n, d), whose coefficients are the weights."""

    X: FloatArray
    map: FittedMap
    K: KernelMatrix
    budget: float

    @classmethod
    def of(cls, fitted: FittedMap, X: FloatArray, budget: float, report: Report = silent) -> KernelState:
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

    def moved(self, before: RankingData, after: RankingData, off: Sequence[int], w: FloatArray) -> MovedState:
        """Return the new state; K is kept if features stay and only whole queries are left out."""
        alike = DocumentMatch.of(before, after)
        silenced = _with_equal_grades(before, after, alike)
        if silenced is not None:
            return MovedState(self, silenced, alike.before, w)
        coefficients = np.where(alike.before >= 0, w[alike.before], 0.0)
        state = KernelState.of(self.map.moved(_zeroing(off), after.X), after.X, self.budget)
        return MovedState(state, after, np.arange(after.n_documents), coefficients, curved_alike=False)


def state_of(
    fitted: FittedMap, X: FloatArray, budget: float, *, exact: bool, report: Report = silent
) -> FeatureState | KernelState:
    """Return the state of a fitted map with training documents X (n, d); K may use `budget` bytes."""
    if fitted.in_kernel_space:
        return KernelState.of(fitted, X, budget, report)
    return FeatureState.of(fitted, X, exact=exact, report=report)


def _zeroing(features: Sequence[int]) -> Move:
    """Return a function that sets these features to 0."""

    def move(Z: FloatArray) -> FloatArray:
        Z = Z.copy()
        Z[:, list(features)] = 0.0
        return Z

    return move


def _with_equal_grades(before: RankingData, after: RankingData, alike: DocumentMatch) -> RankingData | None:
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


OPERATORS = 3
"""Number of parts whose features are kept for scores."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A fitted model, its fit, and its objective."""

    model: RankSVM
    fit: Fit
    objective: Objective


class Retraining:
    """Trains copies of a model on the state of its map.

    Raises `DataError` where training does not fit in memory.

    Parameters
    ----------
    settings : RankSVM
        Settings of every copy.
    data : RankingData
        Data of the map.
    fitted : FittedMap
        Map of all copies, unless a change needs another.
    """

    def __init__(
        self, settings: RankSVM, data: RankingData, fitted: FittedMap, report: Report = silent
    ) -> None:
        self._settings, self._budget = _at_gamma_of(settings, fitted), settings.plan(data).left
        exact = FEATURE_MAPS[settings.feature_map].is_exact
        clock = Stopwatch()
        self.state = state_of(fitted, data.X, self._budget, exact=exact, report=report)
        clock.lap("features")
        self.seconds = clock.laps["features"]
        self._operators: OrderedDict[int, tuple[FloatArray, FeatureOperator]] = OrderedDict()

    def train(
        self,
        moved: MovedState,
        weights: FloatArray | None = None,
        precondition: Preconditioner | None = None,
        report: Report = silent,
    ) -> Trained:
        """Train on the state after a change, with query weights `weights` (Q,)."""
        model, state = clone(self._settings), moved.state
        training = model.training_in(state.space(self._budget), moved.data, model.seed(), weights)
        if moved.w is not None:
            gamma = model.gamma_for(moved.data.X)
            task = Task(int(model.n_components), gamma, float(model.C))
            training.resume(task, state.start(moved.w), precondition)
        fit = model.fit_in(training, report)
        model.feature_map_, model.query_weights_ = state.map, weights
        model.weighed_digest_ = "" if weights is None else documents_digest(moved.data)
        return Trained(model, fit, training.objective(fit.task))

    def scores(self, model: Any, data: RankingData, report: Report = silent) -> FloatArray:
        """Return scores of any part; with the map of the state, its features are computed once."""
        fitted = self.state.map
        same_map = getattr(model, "feature_map_", None) is fitted
        if same_map and data.X is self.state.X:
            return self.state.scores(model.coef_)
        if not same_map or not self._fits(data):
            scores: FloatArray = model.scores(data.X, report)
            return scores
        key = id(data.X)
        if key not in self._operators:
            self._operators[key] = data.X, fitted.operator(data.X, report)
            if len(self._operators) > OPERATORS:
                self._operators.popitem(last=False)
        return self._operators[key][1].product(model.coef_)

    def _fits(self, data: RankingData) -> bool:
        """Return True if features of this many parts of this size fit in memory."""
        return 8 * OPERATORS * data.n_documents * self.state.map.basis.shape[0] <= self._budget


def _at_gamma_of(model: RankSVM, fitted: FittedMap) -> RankSVM:
    """Return the same settings with the map's γ as a number, if its kernel has one."""
    kernel = fitted.kernel
    reads = kernel is not None and kernel.at(2.0 * kernel.gamma) != kernel
    settings: RankSVM = clone(model).set_params(gamma=kernel.gamma) if kernel and reads else clone(model)
    return settings
