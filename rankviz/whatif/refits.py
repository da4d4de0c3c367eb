"""Retraining of a fitted ranker after a change of its training data, from its current weights.

Only the requested change happens: γ keeps its number, and landmarks and frequencies stay those of the present
model (a feature that is switched off is 0 in landmarks too), except for `OtherDraw`. So their results are
reused: the base, its factor and the preconditioner's curvature. The exact kernel uses its documents as
landmarks: new ones need a new factor or kernel matrix.

See docs/decisions/0010-refits.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from sklearn.base import clone

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.parallel import single_blas
from rankviz.common.progress import Callback, reporter, silent
from rankviz.common.settings import instance, listed
from rankviz.datasets.parts import documents_digest
from rankviz.datasets.types import RankingData, require_data
from rankviz.features import FEATURE_MAPS
from rankviz.learning.losses import loss_of
from rankviz.learning.objective import Preconditioner
from rankviz.learning.solvers import USUAL, suitable_solver
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.whatif.changes import (
    Change,
    FeatureOff,
    GradeSet,
    OnlyQueries,
    QueryOut,
    changed,
    seed_asked,
    weights_asked,
)
from rankviz.whatif.reuse import MovedState, Retraining, Trained

TIGHT = 1e-10
"""Tolerance of refits and of the model before them: one grade may change less than 1e-6 of the objective."""
TIGHT_GAP = 1e-8
"""Gap for losses solved by continuation: it leaves 2 % of the effect of one grade (OHSUMED, m = 200)."""


@dataclass(frozen=True, eq=False)
class Refit:
    """A model trained on changed data.

    Attributes
    ----------
    model : Ranker
        Fitted.
    data : RankingData
        Its training data.
    scores : (n,) float64
        Scores of these documents.
    """

    model: Ranker
    data: RankingData
    scores: FloatArray


class Refits(Protocol):
    """Refits of one fitted model on one training part, which share computations."""

    @property
    def data(self) -> RankingData:
        """The training part before any change."""
        ...

    @property
    def before(self) -> Refit:
        """The model without a change, as close to its optimum as refits, for comparison."""
        ...

    def refit(self, changes: Sequence[Change], *, callback: Callback | None = None) -> Refit:
        """Return the model after changes, applied in order; `DataError` for invalid ones."""
        ...

    def scores(self, model: Ranker, data: RankingData) -> FloatArray:
        """Return scores of any part by a model from these refits; features of a part are computed once."""
        ...


def refits_of(model: Ranker, data: RankingData) -> Refits:
    """Prepare refits of a model fitted on `data`; RankSVM shares computations, others train from scratch.

    Raises `DataError` if `data` cannot be its training data, or training does not fit in memory.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo, refits_of
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> from rankviz.whatif.changes import DocumentOut
    >>> refits = refits_of(model, train)
    >>> query = train.query_labels[0]
    >>> after = refits.refit([DocumentOut(query, train.rows[0])])
    >>> train.n_documents - after.data.n_documents
    1
    """
    require_data(data, "Give the RankingData that the model was fitted on.")
    instance("model", model, Ranker, "a ranker of rankviz, such as RankSVM")
    if isinstance(model, RankSVM) and suitable_solver(loss_of(model.loss)) == USUAL:
        return RankSVMRefits(model, data)
    return PlainRefits(model, data)


class PlainRefits:
    """Refits of other rankers: each is trained from scratch with the same settings."""

    def __init__(self, model: Ranker, data: RankingData) -> None:
        self._model, self.data = model, data

    @cached_property
    def before(self) -> Refit:
        """The model itself."""
        return Refit(self._model, self.data, self._model.scores(self.data.X, silent))

    def refit(self, changes: Sequence[Change], *, callback: Callback | None = None) -> Refit:
        """Train on the changed data."""
        after, asked = changed(self.data, changes), weights_asked(changes)
        model, seed = self._model.unfitted(), seed_asked(changes)
        if seed is not None and "random_state" in model.get_params():
            model.set_params(random_state=seed)
        if asked:
            weights = np.array([asked.get(query, 1.0) for query in after.query_labels.tolist()])
            model.fit_weighted(after, weights, callback)
        else:
            model.fit_data(after, callback=callback)
        return Refit(model, after, model.scores(after.X, silent))

    def scores(self, model: Ranker, data: RankingData) -> FloatArray:
        """Return scores of any part."""
        return model.scores(data.X, silent)


class RankSVMRefits:
    """Refits of a RankSVM by truncated Newton from its weights, for any solver of the original fit.

    Parameters
    ----------
    model : RankSVM
        Fitted on `data`, or made from a stored run.
    data : RankingData
    """

    def __init__(self, model: RankSVM, data: RankingData) -> None:
        self.data = data
        self._weights = _query_weights(model, data)
        self._settings, self._gamma = _settings_of(model), model.gamma_
        self._retraining = Retraining(self._settings, data, model.feature_map_)
        self._redrawn: tuple[int, Retraining] | None = None
        self._start = model.coef_

    @cached_property
    def optimum(self) -> Trained:
        """The model at its optimum, its fit, and its objective."""
        here = MovedState(self._retraining.state, self.data, np.arange(self.data.n_documents), self._start)
        with single_blas():
            return self._retraining.train(here, self._weights)

    @property
    def before(self) -> Refit:
        """The model without a change, trained to the tolerance of refits."""
        return Refit(self.optimum.model, self.data, self.optimum.fit.result.point.scores)

    @cached_property
    def curvature(self) -> Preconditioner:
        """The inverse Hessian at `before`: exact in feature space, approximate in the kernel's own."""
        result, objective = self.optimum.fit.result, self.optimum.objective
        with single_blas():
            if self._retraining.state.map.in_kernel_space:
                return result.precondition or objective.preconditioner(result.point)
            return objective.exact_preconditioner(result.point)

    def refit(self, changes: Sequence[Change], *, callback: Callback | None = None) -> Refit:
        """Return the model after changes, applied in order; `DataError` for invalid ones."""
        after, known = changed(self.data, changes), self.curvature
        retraining, start = self._at_seed(seed_asked(changes))
        off = [change.feature for change in changes if isinstance(change, FeatureOff)]
        with single_blas():  # Φ is read a few times: a second thread hardly helps, and waits for a core
            moved = retraining.state.moved(self.data, after, off, start)
            weights = self._weights_after(moved.data, changes)
            same_features = moved.curved_alike and retraining is self._retraining
            found = retraining.train(moved, weights, known if same_features else None, reporter(callback))
        return Refit(found.model, after, found.fit.result.point.scores[moved.shown])

    def _at_seed(self, seed: int | None) -> tuple[Retraining, FloatArray]:
        """Return the training with a map drawn from the original data with this seed, and initial weights."""
        draws = FEATURE_MAPS[self._settings.feature_map].draws
        if seed is None or seed == self._settings.random_state or not draws:
            return self._retraining, self.optimum.model.coef_
        if self._redrawn is None or self._redrawn[0] != seed:
            settings = clone(self._settings).set_params(random_state=seed)
            fitted = settings.unfitted_map(self._gamma, seed).fit(self.data.X)
            self._redrawn = seed, Retraining(settings, self.data, fitted)
        redrawn = self._redrawn[1]
        return redrawn, np.zeros(redrawn.state.map.n_components)

    def scores(self, model: Ranker, data: RankingData) -> FloatArray:
        """Return scores of any part; with the map of before, its features are computed once."""
        return self._retraining.scores(model, data)

    def _weights_after(self, data: RankingData, changes: Sequence[Change]) -> FloatArray | None:
        """Return the weights of the present queries: the model's, times those of the changes."""
        asked = weights_asked(changes)
        if self._weights is None and not asked:
            return None
        known = np.ones(self.data.n_queries) if self._weights is None else self._weights
        weight = dict(zip(self.data.query_labels.tolist(), known.tolist(), strict=True))
        return np.array([weight[query] * asked.get(query, 1.0) for query in data.query_labels.tolist()])


def without_query(model: Ranker, data: RankingData, query: object) -> Ranker:
    """Return the model without a query of its training data; `DataError` if it is not there.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo, without_query
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> without = without_query(model, train, train.query_labels[0])
    >>> without.n_features_in_ == model.n_features_in_, bool((without.coef_ != model.coef_).any())
    (True, True)
    """
    return refits_of(model, data).refit([QueryOut(query)]).model


def with_only(model: Ranker, data: RankingData, queries: Iterable[object]) -> Ranker:
    """Return the model trained on these queries only; `DataError` if one is not there.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo, with_only
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> few = with_only(model, train, train.query_labels[:10])
    >>> len(few.predict(train.X)) == train.n_documents
    True
    """
    return refits_of(model, data).refit([OnlyQueries(tuple(listed("queries", queries)))]).model


def with_grades(model: Ranker, data: RankingData, grades: Mapping[tuple[object, int], int]) -> Ranker:
    """Return the model with other grades, (query, number in `rows`) -> grade; `DataError` for missing ones.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo, with_grades
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> query, row = train.query_labels[0], train.rows[0]
    >>> better = with_grades(model, train, {(query, row): 2})
    >>> bool(better.predict(train.X)[0] >= with_grades(model, train, {(query, row): 0}).predict(train.X)[0])
    True
    """
    instance("grades", grades, Mapping, "a dict of (query, number in `rows`) -> grade")
    changes = [GradeSet(query, document, grade) for (query, document), grade in grades.items()]
    return refits_of(model, data).refit(changes).model


def with_feature_off(model: Ranker, data: RankingData, feature: int) -> Ranker:
    """Return the model without a feature, counted from 0: it is 0 in training, and must be 0 in scoring.

    Raises `DataError` for a feature that is not there.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo, with_feature_off
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> off = with_feature_off(model, train, 0)
    >>> X = train.X.copy()
    >>> X[:, 0] = 0
    >>> len(off.predict(X)) == train.n_documents
    True
    """
    return refits_of(model, data).refit([FeatureOff(feature)]).model


def _settings_of(model: RankSVM) -> RankSVM:
    """Return the same problem with settings of refits: the default solver with a small tolerance."""
    settings: RankSVM = clone(model).set_params(
        tol=min(model.tol, TIGHT_GAP if loss_of(model.loss).by_continuation else TIGHT),
        solver=USUAL,
        max_iter=None,
        preconditioner="auto",
        random_state=model.seed(),
    )
    return settings


def _query_weights(model: RankSVM, data: RankingData) -> FloatArray | None:
    if data.n_features != model.n_features_in_:
        found = f"documents with {data.n_features} features, and a model of {model.n_features_in_}"
        raise _other_data(found, data)
    weights = model.query_weights_
    if weights is not None and model.weighed_digest_ != documents_digest(data):
        raise _other_data("documents that do not match the weights of queries", data)
    return weights


def _other_data(found: str, data: RankingData) -> DataError:
    return DataError(
        found,
        expected="the data that the model was fitted on",
        remedy="Give the RankingData that `fit_data` was given, normalised as it was.",
        path=data.name or None,
    )
