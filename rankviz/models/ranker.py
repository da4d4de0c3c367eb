"""Shared by rankers: a feature map with everything drawn, weights for it, and scikit-learn's conventions."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.checks import one_of, positive, whole
from rankviz.common.progress import Callback, Progress, Report, reporter
from rankviz.datasets.types import DataError, DataWarning, RankingData
from rankviz.features import FEATURE_MAPS, FREQUENCIES, LANDMARKS, FeatureMap, MapSettings, scale_gamma
from rankviz.features.maps import FittedMap
from rankviz.metrics import evaluate

PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, however many documents are scored

LARGEST_FEATURE = 1e140  # sums of squares must stay below the largest float64, about 1e308


class Ranker(BaseEstimator):
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

    @abstractmethod
    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a `RankingData`, which is checked already; see `fit`."""

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike, callback: Callback | None = None) -> Self:
        """Train on documents X (n, d) with grades y (n,) ≥ 0 in queries qid (n,).

        `callback` is called with `Progress` several times a second; returning True stops: during the
        solver's steps the weights so far are kept, before that `StopRequested` is raised.
        Raises `DataError` for data that cannot be used, ValueError for a setting out of its range; warns
        with `DataWarning` where no query has two grades, so that there is nothing to learn.
        """
        self.fit_data(RankingData.from_arrays(X, y, qid), callback=callback)
        if self.n_pairs_ == 0:
            text = "no query has documents of different grades: no preference pair, every score is the same"
            warnings.warn(text, DataWarning, stacklevel=2)
        return self

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
        return FEATURE_MAPS[self.feature_map](settings)

    def predict(self, X: ArrayLike, *, callback: Callback | None = None) -> FloatArray:
        """Scores f(x) = w·φ(x) of documents X (n, d) -> (n,); higher ranks earlier.

        `callback` is told the share done several times a second; returning True raises `StopRequested`.
        """
        return self._scores(self._checked(X), reporter(callback))

    def score(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike) -> float:
        """Mean NDCG@10 over queries, LETOR 4.0's definition (see `rankviz.evaluate`)."""
        data = RankingData.from_arrays(X, y, qid)
        return float(evaluate(self.predict(data.X), data, at=[10]).mean["NDCG@10"])

    def _scores(self, X: FloatArray, report: Report) -> FloatArray:
        step = max(1, PREDICT_ENTRIES // max(self.n_components_, 1))
        parts = [np.zeros(0)]
        for start in range(0, len(X), step):
            rows, share = X[start : start + step], min(step, len(X) - start) / len(X)
            tell = _part_of(report, start / len(X), share)
            parts.append(self.feature_map_.operator(rows, tell).product(self.coef_))
        return np.concatenate(parts)

    def _checked(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self, "coef_")
        try:
            out = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"features that are not numbers ({error})",
                expected="a numeric matrix with one row per document",
                remedy="Convert the features to numbers first.",
            ) from error
        if out.ndim != 2 or out.shape[1] != self.n_features_in_:
            raise DataError(
                f"documents of shape {out.shape}",
                expected=f"(documents, {self.n_features_in_}) as in training",
                remedy="Score documents with the features the model was trained on.",
            )
        if not np.isfinite(out).all():
            raise DataError(
                "features that are not finite",
                expected="finite features",
                remedy="Fill or drop missing values first.",
            )
        _refuse_huge(out)
        return out

    def seed(self) -> int:
        """The seed of landmarks, frequencies and pairs: `random_state`, or drawn from it."""
        if isinstance(self.random_state, numbers.Integral):
            if self.random_state < 0:
                raise ValueError(f"random_state={self.random_state!r} must not be negative")
            return int(self.random_state)
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            raise ValueError(f"random_state={self.random_state!r} cannot seed random numbers") from error

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


def refuse_unusable(data: RankingData) -> None:
    """Raise `DataError` for a training part without documents or features, or with features too large."""
    if data.n_documents == 0 or data.n_features == 0:
        raise DataError(
            f"{data.n_documents} documents with {data.n_features} features",
            expected="at least one document with one feature",
            remedy="Check the training part.",
            path=data.name or None,
        )
    _refuse_huge(data.X)


def _part_of(report: Report, before: float, share: float) -> Report:
    """Report the features of some documents as a share of the scores of all."""
    return lambda progress: report(Progress("evaluate", before + share * (progress.fraction or 0.0)))


def _refuse_huge(X: FloatArray) -> None:
    if max(X.max(initial=0.0), -X.min(initial=0.0)) > LARGEST_FEATURE:
        raise DataError(
            f"features beyond ±{LARGEST_FEATURE:g}",
            expected="features whose squares are numbers",
            remedy="Normalise the features first.",
        )
