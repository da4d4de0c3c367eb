"""Shared by rankers: a feature map with everything drawn, weights for it, and scikit-learn's conventions."""

from __future__ import annotations

import numbers

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rankviz.common.arrays import FloatArray
from rankviz.common.checks import one_of, positive, whole
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS, FREQUENCIES, LANDMARKS, FeatureMap, MapSettings, scale_gamma
from rankviz.features.maps import FittedMap
from rankviz.models.base import Outcome, Ranker
from rankviz.solvers.result import Status

PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, however many documents are scored


class FeatureRanker(Ranker):
    """Scores f(x) = w·φ(x) learned from preference pairs; what differs is how w is found.

    Settings, each a parameter of the constructor: feature_map, n_components, gamma, random_state, landmarks,
    frequencies. Set by `fit`: coef_, feature_map_, n_features_in_, n_components_, n_pairs_.
    """

    feature_map: str
    n_components: int
    gamma: float | str
    random_state: int | np.random.RandomState | None
    landmarks: str
    frequencies: str
    coef_: FloatArray
    feature_map_: FittedMap
    n_features_in_: int
    n_components_: int
    n_pairs_: int
    objective_: float
    status_: Status
    trace_: pd.DataFrame
    seconds_: dict[str, float]
    start_: str

    def unfitted_map(self, gamma: float, seed: int) -> FeatureMap:
        """The feature map that the settings name, for γ and seed as numbers."""
        settings = MapSettings(
            self.n_components,
            gamma,
            self._truncation,
            seed,
            landmarks=self.landmarks,
            frequencies=self.frequencies,
        )
        return FEATURE_MAPS[self.feature_map].make(settings)

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """w·φ(x) of documents X (n, d), checked already -> (n,)."""
        step = max(1, PREDICT_ENTRIES // max(self.n_components_, 1))
        parts = [np.zeros(0)]
        for start in range(0, len(X), step):
            rows, share = X[start : start + step], min(step, len(X) - start) / len(X)
            tell = _part_of(report, start / len(X), share)
            parts.append(self.feature_map_.operator(rows, tell).product(self.coef_))
        return np.concatenate(parts)

    def outcome(self) -> Outcome:
        """Weights, trace, and how training ended."""
        return Outcome(
            status=self.status_.value,
            stopped=self.status_ is Status.STOPPED,
            objective=self.objective_,
            n_components=self.n_components_,
            weights=self.coef_,
            trace=self.trace_,
            seconds=self.seconds_,
            start=self.start_,
            solution=self.solution,
        )

    @property
    def solution(self) -> dict[str, FloatArray]:
        """What it has found beside its weights: nothing."""
        return {}

    def take(self, weights: FloatArray, train: RankingData, objective: float, n_pairs: int) -> None:
        """Be the fitted model with these weights: the feature map is drawn again, from the training part."""
        self.gamma_ = self.gamma_for(train.X)
        self.feature_map_ = self.unfitted_map(self.gamma_, self.seed()).fit(train.X)
        self.coef_, self.objective_, self.n_pairs_ = weights, objective, n_pairs
        self.n_components_, self.n_features_in_ = self.feature_map_.n_components, train.n_features

    def keep(self, solution: dict[str, FloatArray]) -> None:
        """Take what `solution` gave: attributes of the same names with an underscore."""
        for name, found in solution.items():
            setattr(self, f"{name}_", float(found[0]) if name == "gap" else found)

    def seed(self) -> int:
        """The seed of landmarks, frequencies and pairs: `random_state`, or drawn from it."""
        if isinstance(self.random_state, numbers.Integral):
            if self.random_state < 0:
                raise SettingError(f"random_state={self.random_state!r} must not be negative")
            return int(self.random_state)
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            raise SettingError(f"random_state={self.random_state!r} cannot seed random numbers") from error

    @property
    def _truncation(self) -> int | None:
        """Eigenvalues of the landmarks' kernel to keep, None for all."""
        return None

    def gamma_for(self, X: FloatArray) -> float:
        """γ for documents X (n, d), as a number."""
        return scale_gamma(X) if self.gamma == "scale" else float(self.gamma)

    def check_map_settings(self) -> None:
        """Raise ValueError for settings of the feature map that are out of their range."""
        one_of("feature_map", self.feature_map, FEATURE_MAPS)
        one_of("landmarks", self.landmarks, LANDMARKS)
        one_of("frequencies", self.frequencies, FREQUENCIES)
        if self.gamma != "scale":
            positive("gamma", self.gamma)
        whole("n_components", self.n_components)


def _part_of(report: Report, before: float, share: float) -> Report:
    """Report the features of some documents as a share of the scores of all."""
    return lambda progress: report(Progress("evaluate", before + share * (progress.fraction or 0.0)))
