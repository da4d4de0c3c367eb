"""Shared by rankers: a feature map with everything drawn, weights for it, and scikit-learn's conventions."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError, SettingWarning
from rankviz.common.progress import Progress, Report
from rankviz.common.settings import SEED, Setting, active, every
from rankviz.datasets.types import RankingData
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
from rankviz.features.forms import Expansion, Form, HasExpansion, HasForm
from rankviz.features.settings import RANK
from rankviz.models.extremes import refuse_huge_kernel
from rankviz.models.ranker import Outcome, Ranker
from rankviz.models.settings import FEATURE_MAP, MEMORY_LIMIT
from rankviz.models.unread import unread_settings
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
    gap_: float
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

    def form(self) -> Form:
        """That of its feature map with these weights; `SettingError` where it has none."""
        fitted = self.feature_map_
        return fitted.form(self.coef_) if isinstance(fitted, HasForm) else super().form()

    def expansion(self) -> Expansion:
        """That of its feature map with these weights; `SettingError` where it has none."""
        fitted = self.feature_map_
        return fitted.expansion(self.coef_) if isinstance(fitted, HasExpansion) else super().expansion()

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

    def doubt(self) -> str:
        """What its status leaves to doubt: it was neither converged nor stopped on request."""
        if self.status_.converged or self.status_ is Status.STOPPED:
            return ""
        gap = "" if math.isnan(self.gap_) else f" (duality gap {self.gap_:.1e} of the objective)"
        return f"{type(self).__name__} {self.status_.value}{gap}. {_REMEDIES[self.status_]}"

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
            if isinstance(self.random_state, bool) or self.random_state < 0:
                raise SettingError(f"random_state={self.random_state!r} must be a number from 0 up")
            return int(self.random_state)
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except (TypeError, ValueError) as error:  # TypeError: how scikit-learn before 1.9 refuses a tuple
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

        for setting, words in self._unread():
            if setting is RANK:  # None asks for nothing; a number asks for another model than there would be
                raise SettingError(words)

    def warn_of_settings(self, stacklevel: int = 2) -> None:
        """Warn with `SettingWarning` of settings that were given and are not read, as `fit` does."""
        self.check_settings()
        for _, words in self._unread():
            warnings.warn(words, SettingWarning, stacklevel=stacklevel + 1)

    def _unread(self) -> Iterator[tuple[Setting, str]]:
        """Settings that were given and that the choices made do not read, in sentences."""
        return unread_settings(self.settings, self.left_out, type(self), self._value_of)

    def _map_values(self) -> dict[str, Any]:
        """The settings that the chosen map reads, by name."""
        own = active(FEATURE_MAPS[self.feature_map].settings, self._value_of)
        return {setting.name: value for setting, value in own}

    def _value_of(self, setting: Setting) -> Any:
        """The value of a setting: the default where the constructor has none of it."""
        known = setting.parameter is not None and setting not in self.left_out
        return getattr(self, setting.parameter, setting.default) if known else setting.default  # type: ignore[arg-type]


_REMEDIES = {
    Status.MAX_ITERATIONS: "Allow it more iterations (max_iter), a larger tol, or give it a smaller C.",
    Status.STALLED: "More iterations would change nothing: choose a larger tol or a smaller C, or normalise "
    "the features.",
    Status.TOO_EARLY: "Choose solver='newton', whose tolerance holds, or normalise the features.",
    Status.DIVERGED: "Choose a smaller C, or another solver.",
}
"""What to do about statuses that leave something to be done."""


def _part_of(report: Report, before: float, share: float) -> Report:
    """Report the features of some documents as a share of the scores of all."""
    return lambda progress: report(Progress("evaluate", before + share * (progress.fraction or 0.0)))
