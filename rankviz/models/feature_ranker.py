"""Base class of rankers with a fitted feature map, its weights, and scikit-learn's conventions."""

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
from rankviz.learning.result import Status
from rankviz.learning.solver_settings import MAX_ITER
from rankviz.models.extremes import refuse_huge_kernel
from rankviz.models.ranker import Outcome, Ranker
from rankviz.models.settings import FEATURE_MAP, MEMORY_LIMIT
from rankviz.models.unread import unread_settings

PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, for any number of documents


class FeatureRanker(Ranker):
    """Scores f(x) = w·φ(x) learned from preference pairs; subclasses differ in how they find w.

    Settings, as parameters of the constructor: feature_map, kernel, n_components, gamma, degree, coef0,
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
    """Its settings; their choices may add more."""
    left_out: ClassVar[tuple[Setting, ...]] = ()
    """Settings of these choices that it does not read, because their parameter means something else here."""
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
        """Return the chosen feature map, for numeric γ and seed."""
        values, kernel = self._map_values(), self.kernel_at(gamma)
        chosen = {field.name: values[field.name] for field in fields(MapSettings) if field.name in values}
        chosen |= {"seed": seed} | ({} if kernel is None else {"kernel": kernel})
        return FEATURE_MAPS[self.feature_map].make(MapSettings(**chosen))

    def kernel_at(self, gamma: float) -> Kernel | None:
        """Return the chosen kernel at γ; None for a map without one."""
        if not FEATURE_MAPS[self.feature_map].has_kernel:
            return None
        kind = KERNELS[self.kernel]
        values = {setting.name: self._value_of(setting) for setting in kind.settings}
        return kind.make(values | {"gamma": gamma})

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Return w·φ(x) of documents X (n, d), checked already -> (n,)."""
        refuse_huge_kernel(self.feature_map_.kernel, X)
        step = max(1, PREDICT_ENTRIES // max(self.n_components_, 1))
        parts = [np.zeros(0)]
        for start in range(0, len(X), step):
            rows, share = X[start : start + step], min(step, len(X) - start) / len(X)
            tell = _part_of(report, start / len(X), share)
            parts.append(self.feature_map_.operator(rows, tell).product(self.coef_))
        return np.concatenate(parts)

    def form(self) -> Form:
        """Return the form of its feature map with these weights; `SettingError` if there is none."""
        fitted = self.feature_map_
        return fitted.form(self.coef_) if isinstance(fitted, HasForm) else super().form()

    def expansion(self) -> Expansion:
        """Return the expansion of its feature map with these weights; `SettingError` if there is none."""
        fitted = self.feature_map_
        return fitted.expansion(self.coef_) if isinstance(fitted, HasExpansion) else super().expansion()

    def outcome(self) -> Outcome:
        """Return weights, trace, and the final status."""
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
        """Describe a doubt about its result, unless it converged or was stopped on request."""
        if self.status_.converged or self.status_ is Status.STOPPED:
            return ""
        gap = "" if math.isnan(self.gap_) else f" (duality gap {self.gap_:.1e} of the objective)"
        return f"{type(self).__name__} {self.status_.value}{gap}. {_REMEDIES[self.status_]}"

    @property
    def solution(self) -> dict[str, FloatArray]:
        """Results besides the weights: none."""
        return {}

    def take(self, weights: FloatArray, train: RankingData, objective: float, n_pairs: int) -> None:
        """Become the fitted model with these weights; draw the feature map again from the training part."""
        self.gamma_ = self.gamma_for(train.X)
        self.feature_map_ = self.unfitted_map(self.gamma_, self.seed()).fit(train.X)
        self.coef_, self.objective_, self.n_pairs_ = weights, objective, n_pairs
        self.n_components_ = self.feature_map_.n_components
        self.learned(train.n_features)

    def keep(self, solution: dict[str, FloatArray]) -> None:
        """Store `solution` as attributes of the same names with an underscore."""
        for name, found in solution.items():
            setattr(self, f"{name}_", float(found[0]) if name == "gap" else found)

    def seed(self) -> int:
        """Return the seed of landmarks, frequencies and pairs: `random_state`, or a number drawn from it."""
        if isinstance(self.random_state, numbers.Integral):
            if isinstance(self.random_state, bool) or self.random_state < 0:
                raise SettingError(f"random_state={self.random_state!r} must be a number from 0 up")
            return int(self.random_state)
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except (TypeError, ValueError) as error:  # TypeError: scikit-learn before 1.9, for a tuple
            raise SettingError(f"random_state={self.random_state!r} cannot seed random numbers") from error

    def gamma_for(self, X: FloatArray) -> float:
        """Return γ for documents X (n, d) as a number; 1 for a map without γ."""
        if "gamma" not in self._map_values():
            return 1.0
        return scale_gamma(X) if self.gamma == "scale" else float(self.gamma)

    def check_settings(self) -> None:
        """Raise `SettingError` for settings outside their range, or an invalid combination.

        Settings that the current choices do not read must be in their range too.
        """
        for setting in every((*self.settings, MAX_ITER, MEMORY_LIMIT)):
            if setting is not SEED:  # `seed` checks it: it may be more than a number
                setting.check(self._value_of(setting))
        check_combination(self.feature_map, self._map_values())

        for setting, words in self._unread():
            if setting is RANK:  # a rank that nothing reads would silently give another model
                raise SettingError(words)

    def warn_of_settings(self, stacklevel: int = 2) -> None:
        """Warn with `SettingWarning` of given settings that are not read, like `fit`."""
        self.check_settings()
        for _, words in self._unread():
            warnings.warn(words, SettingWarning, stacklevel=stacklevel + 1)

    def _unread(self) -> Iterator[tuple[Setting, str]]:
        """Yield given settings that the current choices do not read, with a sentence for each."""
        return unread_settings(self.settings, self.left_out, type(self), self._value_of)

    def _map_values(self) -> dict[str, Any]:
        """Return the settings that the chosen map reads, by name."""
        own = active(FEATURE_MAPS[self.feature_map].settings, self._value_of)
        return {setting.name: value for setting, value in own}

    def _value_of(self, setting: Setting) -> Any:
        """Return the value of a setting; its default if the constructor has no such parameter."""
        known = setting.parameter is not None and setting not in self.left_out
        return getattr(self, setting.parameter, setting.default) if known else setting.default  # type: ignore[arg-type]


_REMEDIES = {
    Status.MAX_ITERATIONS: "Allow it more iterations (max_iter), a larger tol, or give it a smaller C.",
    Status.STALLED: "More iterations would change nothing: choose a larger tol or a smaller C, or normalise "
    "the features.",
    Status.TOO_EARLY: "Choose solver='newton', whose tolerance holds, or normalise the features.",
    Status.DIVERGED: "Choose a smaller C, or another solver.",
}
"""Remedies for statuses that have one."""


def _part_of(report: Report, before: float, share: float) -> Report:
    """Report the features of some documents as a share of the scores of all."""
    return lambda progress: report(Progress("evaluate", before + share * (progress.fraction or 0.0)))
