"""Shared by rankers: a feature map with everything drawn, weights for it, and scikit-learn's conventions."""

from __future__ import annotations

import numbers
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report
from rankviz.common.settings import SEED, Setting, active, every
from rankviz.datasets.types import DataError, RankingData
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
from rankviz.features.kernel_base import largest_value
from rankviz.models.inputs import LARGEST_FEATURE
from rankviz.models.ranker import Outcome, Ranker
from rankviz.models.settings import FEATURE_MAP, MEMORY_LIMIT
from rankviz.solvers.result import Status
from rankviz.solvers.settings import MAX_ITER

PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, however many documents are scored


class FeatureRanker(Ranker):
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
    settings: ClassVar[tuple[Setting, ...]] = (FEATURE_MAP,)
    """Those that it reads; what is chosen there may bring along more."""
    left_out: ClassVar[tuple[Setting, ...]] = ()
    """Of what may come along those that it does not read: their parameters are something else here."""
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

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """w·φ(x) of documents X (n, d), checked already -> (n,)."""
        refuse_huge_kernel(self.feature_map_.kernel, X)
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
        self.n_components_ = self.feature_map_.n_components
        self.learned(train.n_features)

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

    def gamma_for(self, X: FloatArray) -> float:
        """γ for documents X (n, d), as a number; 1 where the map has none."""
        if "gamma" not in self._map_values():
            return 1.0
        return scale_gamma(X) if self.gamma == "scale" else float(self.gamma)

    def check_settings(self) -> None:
        """Raise `SettingError` for settings out of their range, or that do not go together.

        Also what the choices made here do not read has to be in its range.
        """
        for setting in every((*self.settings, MAX_ITER, MEMORY_LIMIT)):
            if setting is not SEED:  # which `seed` checks: it may be more than a number
                setting.check(self._value_of(setting))
        check_combination(self.feature_map, self._map_values())

    def _map_values(self) -> dict[str, Any]:
        """The settings that the chosen map reads, by name."""
        own = active(FEATURE_MAPS[self.feature_map].settings, self._value_of)
        return {setting.name: value for setting, value in own}

    def _value_of(self, setting: Setting) -> Any:
        """The value of a setting: the default where the constructor has none of it."""
        known = setting.parameter is not None and setting not in self.left_out
        return getattr(self, setting.parameter, setting.default) if known else setting.default  # type: ignore[arg-type]


def refuse_huge_kernel(kernel: Kernel | None, X: FloatArray) -> None:
    """Raise `DataError` where κ of documents X (n, d) is so large that its squares are no numbers.

    No κ(x, z)² is above κ(x, x)·κ(z, z).
    """
    if kernel is not None and not largest_value(kernel, X) <= LARGEST_FEATURE:
        raise DataError(
            f"documents whose {kernel.label} kernel is beyond {LARGEST_FEATURE:g}",
            expected="kernel values whose squares are numbers",
            remedy="Normalise the features first, or choose a smaller γ or degree.",
        )


def _part_of(report: Report, before: float, share: float) -> Report:
    """Report the features of some documents as a share of the scores of all."""
    return lambda progress: report(Progress("evaluate", before + share * (progress.fraction or 0.0)))
