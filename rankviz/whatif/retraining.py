"""Repeated training of one model on slightly changed documents, with shared computations."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.datasets.query_weights import documents_digest
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.features.maps import FittedMap
from rankviz.features.operator import FeatureOperator
from rankviz.learning.feature_space import Objective
from rankviz.learning.preconditioner import Preconditioner
from rankviz.learning.spaces import Task
from rankviz.learning.training import Fit
from rankviz.models.ranksvm import RankSVM
from rankviz.whatif.kept import Moved, place_of

OPERATORS = 3
"""Number of parts whose features are kept for scores."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A fitted model, its fit, and its objective."""

    model: RankSVM
    fit: Fit
    objective: Objective


class Retraining:
    """Trains copies of a model in the place of its map.

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
        self._settings, self._budget = _at_gamma_of(settings, fitted), settings.room(data).left
        exact = FEATURE_MAPS[settings.feature_map].is_exact
        clock = Stopwatch()
        self.place = place_of(fitted, data.X, self._budget, exact=exact, report=report)
        clock.lap("features")
        self.seconds = clock.laps["features"]
        self._operators: OrderedDict[int, tuple[FloatArray, FeatureOperator]] = OrderedDict()

    def train(
        self,
        moved: Moved,
        weights: FloatArray | None = None,
        precondition: Preconditioner | None = None,
        report: Report = silent,
    ) -> Trained:
        """Train at the place after a change, with query weights `weights` (Q,)."""
        model, place = clone(self._settings), moved.place
        training = model.training_in(place.space(self._budget), moved.data, model.seed(), weights)
        if moved.w is not None:
            gamma = model.gamma_for(moved.data.X)
            task = Task(int(model.n_components), gamma, float(model.C))
            training.resume(task, place.start(moved.w), precondition)
        fit = model.fit_in(training, report)
        model.feature_map_, model.query_weights_ = place.map, weights
        model.weighed_digest_ = "" if weights is None else documents_digest(moved.data)
        return Trained(model, fit, training.objective(fit.task))

    def scores(self, model: Any, data: RankingData, report: Report = silent) -> FloatArray:
        """Return scores of any part; with the map of the place, its features are computed once."""
        fitted = self.place.map
        same_map = getattr(model, "feature_map_", None) is fitted
        if same_map and data.X is self.place.X:
            return self.place.scores(model.coef_)
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
        return 8 * OPERATORS * data.n_documents * self.place.map.basis.shape[0] <= self._budget


def _at_gamma_of(model: RankSVM, fitted: FittedMap) -> RankSVM:
    """Return the same settings with the map's γ as a number, if its kernel has one."""
    kernel = fitted.kernel
    reads = kernel is not None and kernel.at(2.0 * kernel.gamma) != kernel
    settings: RankSVM = clone(model).set_params(gamma=kernel.gamma) if kernel and reads else clone(model)
    return settings
