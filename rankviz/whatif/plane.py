"""Models of documents in the plane at every Newton step, and RankSVM with given landmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report, silent
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernel_base import needed
from rankviz.features.nystroem import GivenLandmarks
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.training import Task, Training
from rankviz.models.ranksvm import RankSVM


class LandmarkRankSVM(RankSVM):
    """RankSVM with Nyström features of given landmarks; otherwise like `RankSVM`.

    Parameters
    ----------
    points : (m, d) array
        The landmarks. The documents that `RankSVM` would draw give the same model.
    kernel, gamma, degree, coef0, C, loss, costs, random_state, tol, max_iter
        As for `RankSVM`.

    Examples
    --------
    >>> from rankviz.datasets.synthetic import make_plane
    >>> from rankviz.whatif.plane import LandmarkRankSVM
    >>> data = make_plane("ring")
    >>> model = LandmarkRankSVM([[0.0, 0.0]], gamma=2.0).fit(data.X, data.y, qid=data.qid)
    >>> bool(model.predict([[0.0, 0.0]])[0] < model.predict([[0.9, 0.0]])[0])
    True
    """

    def __init__(
        self,
        points: ArrayLike = ((0.0,),),
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 2.0**-7,
        loss: str = "squared_hinge",
        random_state: int | np.random.RandomState | None = 0,
        tol: float = 1e-6,
        max_iter: int | None = None,
        costs: ArrayLike = None,  # type: ignore[assignment]
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        super().__init__(
            "nystroem",
            kernel=kernel,
            gamma=gamma,
            C=C,
            loss=loss,
            random_state=random_state,
            tol=tol,
            max_iter=max_iter,
            costs=costs,
            degree=degree,
            coef0=coef0,
        )
        self.points = points

    def training(
        self,
        data: RankingData,
        report: Report = silent,
        *,
        keep_arguments: bool = False,
        weights: FloatArray | None = None,
    ) -> Training:
        """Return the training, as for `RankSVM`; raise `SettingError` for points of another dimension."""
        self.n_components = len(self._landmarks(data.n_features))
        return super().training(data, report, keep_arguments=keep_arguments, weights=weights)

    def unfitted_map(self, gamma: float, seed: int) -> GivenLandmarks:
        """Return the Nyström map of the points."""
        return GivenLandmarks(np.asarray(self.points, float), needed(self.kernel_at(gamma)))

    def _landmarks(self, d: int) -> FloatArray:
        points = np.asarray(self.points, float)
        if points.ndim != 2 or points.shape[1] != d or len(points) == 0 or not np.isfinite(points).all():
            raise SettingError(
                f"points of shape {points.shape} must be finite numbers, one row of {d} for each landmark"
            )
        return points


class WeightPath:
    """Collects the weights at the beginning of each Newton step, as callback or report of a fit."""

    def __init__(self) -> None:
        self._steps: list[FloatArray] = []

    def __call__(self, progress: Progress) -> None:
        """Store the weights of a report."""
        if progress.weights is None:
            return
        if progress.record is None and self._steps:  # a narrower smoothing begins at the end of the last one
            self._steps.pop()
        self._steps.append(progress.weights)

    def to(self, model: RankSVM) -> FloatArray:
        """Return all steps up to the weights of the fitted model, (t, m): one for each row of its trace."""
        return np.array([*self._steps[: len(model.trace_) - 1], model.coef_])


def newton_path(model: RankSVM, data: RankingData, start: ArrayLike) -> FloatArray:
    """Return the weights at every Newton step from `start` (m,) to the optimum, (t, m); this fits `model`.

    Raises `SettingError` for weights of another shape, or that are not finite.
    """
    w, path = np.asarray(start, float), WeightPath()
    training = model.training(data)
    task = Task(int(model.n_components), model.gamma_for(data.X), float(model.C))
    m = training.space.map(task).n_components
    if w.shape != (m,) or not np.isfinite(w).all():
        raise SettingError(f"weights of shape {w.shape} must be {m} finite numbers, one for each feature")
    training.resume(task, w)
    model.fit_in(training, path)
    return path.to(model)


_SHARED = ("kernel", "gamma", "degree", "coef0", "C", "loss", "costs", "random_state", "tol", "max_iter")


@dataclass(frozen=True, eq=False)
class PlaneFit:
    """A fitted model and its path from zero.

    Attributes
    ----------
    model : RankSVM
    data : RankingData
    path : (t, m) float64
        Weights at the beginning of each Newton step, and finally those of the model.
    trace : DataFrame
        One row for each step.
    landmarks : (m, 2) float64
        Drawn or given landmarks, if the map has any.
    """

    model: RankSVM
    data: RankingData
    path: FloatArray
    trace: pd.DataFrame
    landmarks: FloatArray

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of points (n, 2) at each step -> (t, n)."""
        operator = self.model.feature_map_.operator(X)
        return (operator.base @ self.coefficients.T).T

    @cached_property
    def coefficients(self) -> FloatArray:
        """Coefficients of the scores at each step, (t, k): of landmarks, of waves, or of the two features."""
        return self.model.feature_map_.basis.expand(self.path.T).T

    @cached_property
    def ordered(self) -> FloatArray:
        """Share of correctly ordered pairs at each step, (t,); NaN without pairs."""
        pairs = preference_pairs(self.data.y, self.data.ptr)
        scores = self.scores(self.data.X)
        right = scores[:, pairs.winner] > scores[:, pairs.loser]
        return right.mean(axis=1) if len(pairs) else np.full(len(scores), np.nan)

    @property
    def n_ordered(self) -> int:
        """Number of pairs that the model orders correctly."""
        return round(float(self.ordered[-1]) * self.model.n_pairs_) if self.model.n_pairs_ else 0

    @cached_property
    def kernels(self) -> tuple[FloatArray, FloatArray]:
        """K of the documents and K̃ = ΦΦᵀ, (n, n) each; only for a model with a kernel."""
        fitted = self.model.feature_map_
        K = needed(fitted.kernel).matrix(self.data.X, self.data.X)
        features = fitted.operator(self.data.X).dense()
        return K, features @ features.T

    @property
    def kernel_error(self) -> float:
        """‖K̃ − K‖ over ‖K‖, in the Frobenius norm."""
        K, approximate = self.kernels
        return float(np.linalg.norm(approximate - K) / np.linalg.norm(K))


def fit_plane(
    data: RankingData, settings: Mapping[str, Any], landmarks: Mapping[int, ArrayLike] | None = None
) -> PlaneFit:
    """Train `RankSVM(**settings)` from zero and store its path; some landmarks may be given.

    `landmarks` maps the numbers of replaced landmarks to points, for a map that draws landmarks. Raises like
    `RankSVM.fit`; documents without a pair give a model whose scores are all 0.
    """
    model, points = RankSVM(**settings), np.zeros((0, 2))
    if has_landmarks(model.feature_map):
        if settings.get("rank") is not None:
            raise SettingError("landmarks of the plane keep all eigenvalues: omit rank")
        points = drawn_landmarks(data, settings)
        for number, point in (landmarks or {}).items():
            points[number : number + 1] = point  # ignores numbers beyond the last landmark
        passed = {name: value for name, value in settings.items() if name in _SHARED}
        model = LandmarkRankSVM(points, **passed)
    path = WeightPath()
    model.fit_data(data, callback=path)
    return PlaneFit(model, data, path.to(model), model.trace_.reset_index(drop=True), points)


def best_direction(data: RankingData) -> tuple[float, FloatArray]:
    """Return the largest share of pairs that any direction w orders correctly, and such a w of length 1.

    The directions that order a pair form an open half circle. Sorting the ends of these counts the pairs for
    all directions. NaN without pairs.
    """
    pairs = preference_pairs(data.y, data.ptr)
    differences = data.X[pairs.winner] - data.X[pairs.loser]
    angles = np.arctan2(differences[:, 1], differences[:, 0])[differences.any(axis=1)]
    if len(angles) == 0:
        return (0.0 if len(pairs) else np.nan), np.zeros(2)
    ends = np.concatenate((angles - np.pi / 2, angles + np.pi / 2)) % (2 * np.pi)
    places, where = np.unique(ends.round(12), return_inverse=True)
    change = np.bincount(where, np.repeat([1.0, -1.0], len(angles)))
    between = places + np.diff(places, append=places[0] + 2 * np.pi) / 2
    first = (np.cos(between[-1] - angles) > 0).sum()  # in the gap before the first end
    counts = first + np.cumsum(change)
    best = between[int(np.argmax(counts))]
    return float(counts.max() / len(pairs)), np.array([np.cos(best), np.sin(best)])


def has_landmarks(feature_map: str) -> bool:
    """Return True if a map draws landmarks: it approximates a kernel by an expansion in them."""
    kind = FEATURE_MAPS[feature_map]
    return kind.approximates and kind.expands


def drawn_landmarks(data: RankingData, settings: Mapping[str, Any]) -> FloatArray:
    """Return the landmarks that the settings draw among the documents, (m, 2)."""
    model = RankSVM(**settings)
    return np.array(model.unfitted_map(1.0, model.seed()).draw(data.X).landmarks)  # type: ignore[attr-defined]
