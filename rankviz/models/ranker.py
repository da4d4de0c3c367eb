"""What rankers share: a feature map with everything drawn, weights for it, and scikit-learn's conventions."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.checks import one_of
from rankviz.common.progress import Callback, Progress, Report, reporter
from rankviz.common.settings import SEED, Setting, active, every
from rankviz.datasets.types import DataError, DataWarning, RankingData
from rankviz.features import (
    FEATURE_MAPS,
    KERNELS,
    FeatureMap,
    FittedMap,
    Kernel,
    MapSettings,
    check_combination,
    scale_gamma,
)
from rankviz.metrics import evaluate

PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, however many documents are scored

LARGEST_FEATURE = 1e140  # sums of squares must stay below the largest float64, about 1e308


class Ranker(BaseEstimator):
    """Scores f(x) = w·φ(x) learned from preference pairs; what differs is how w is found.

    Settings, each a parameter of the constructor: feature_map, kernel, n_components, gamma, degree, coef0,
    random_state, landmarks, frequencies. Set by `fit`: coef_, feature_map_, n_features_in_, n_components_,
    n_pairs_.
    """

    feature_map: str
    kernel: str
    n_components: int
    gamma: float | str
    degree: int
    coef0: float
    random_state: int | np.random.RandomState | None
    landmarks: str
    frequencies: str
    other_settings: ClassVar[frozenset[str]] = frozenset()
    """Names of settings of maps that this model's constructor uses for something else."""
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
        values, kernel = self._map_values(), self.kernel_at(gamma)
        chosen = {field.name: values[field.name] for field in fields(MapSettings) if field.name in values}
        chosen |= {"seed": seed} | ({} if kernel is None else {"kernel": kernel})
        return FEATURE_MAPS[self.feature_map].make(MapSettings(**chosen))

    def kernel_at(self, gamma: float) -> Kernel | None:
        """The kernel that the settings name, at γ; None for a map without one."""
        if not FEATURE_MAPS[self.feature_map].has_kernel:
            return None
        kind = KERNELS[self.kernel]
        values = {setting.name: self._value_of(setting) for setting in kind.settings}
        return kind.make(values | {"gamma": gamma})

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
        refuse_huge_kernel(self.feature_map_.kernel, out)
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

    def gamma_for(self, X: FloatArray) -> float:
        """γ for documents X (n, d), as a number; 1 where the map has none."""
        if "gamma" not in self._map_values():
            return 1.0
        return scale_gamma(X) if self.gamma == "scale" else float(self.gamma)

    def check_map_settings(self) -> None:
        """Raise `SettingError` for settings of any feature map out of range, or that do not go together."""
        one_of("feature_map", self.feature_map, FEATURE_MAPS)
        for setting in every(setting for kind in FEATURE_MAPS.values() for setting in kind.settings):
            if setting is not SEED:  # which `seed` checks: it may be more than a number
                setting.check(self._value_of(setting))
        check_combination(self.feature_map, self._map_values())

    def _map_values(self) -> dict[str, Any]:
        """The settings that the chosen map reads, by name."""
        own = active(FEATURE_MAPS[self.feature_map].settings, self._value_of)
        return {setting.name: value for setting, value in own}

    def _value_of(self, setting: Setting) -> Any:
        """The value of a setting of the map: the default where the constructor has none of it."""
        known = setting.parameter is not None and setting.name not in self.other_settings
        return getattr(self, setting.parameter, setting.default) if known else setting.default  # type: ignore[arg-type]


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


def refuse_huge_kernel(kernel: Kernel | None, X: FloatArray) -> None:
    """Raise `DataError` where κ of documents X (n, d) is so large that its squares are no numbers.

    No κ(x, z)² is above κ(x, x)·κ(z, z).
    """
    if kernel is None:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        largest = kernel.diagonal(X).max(initial=0.0)
    if not largest <= LARGEST_FEATURE:
        raise DataError(
            f"documents whose {kernel.label} kernel is beyond {LARGEST_FEATURE:g}",
            expected="kernel values whose squares are numbers",
            remedy="Normalise the features first, or choose a smaller γ or degree.",
        )


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
