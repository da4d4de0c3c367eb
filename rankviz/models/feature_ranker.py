"""Base class of rankers with a fitted feature map, its weights, and scikit-learn's conventions."""

from __future__ import annotations

import inspect
import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, SettingError, SettingWarning
from rankviz.common.npz import Arrays
from rankviz.common.parallel import single_blas
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
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import Expansion, Form, HasExpansion, HasForm
from rankviz.features.registry import FEATURE_MAP, RANK
from rankviz.learning.memory import MEMORY_LIMIT
from rankviz.learning.objective import Status
from rankviz.learning.solvers import MAX_ITER
from rankviz.models.ranker import LARGEST_FEATURE, Outcome, Ranker

MOST_LENGTH = 1e4
"""Kernels of inner products refuse documents longer than this times their largest difference within a
query."""


def refuse_huge_kernel(kernel: Kernel | None, X: FloatArray) -> None:
    """Raise an error if κ of documents X (n, d), or its argument, is too large for float64.

    `DataError` if κ² overflows, because κ(x, z)² ≤ κ(x, x)·κ(z, z). `SettingError` if γ‖x − z‖² or γ‖x − z‖₁
    of a shift-invariant kernel may overflow.
    """
    if kernel is None:
        return
    if not largest_value(kernel, X) <= LARGEST_FEATURE:
        raise DataError(
            f"documents with {kernel.label} kernel values above {LARGEST_FEATURE:g}",
            expected="kernel values whose squares are finite",
            remedy="Normalise the features first, or choose a smaller γ, coef0 or degree.",
        )
    if kernel.shift_invariant:
        largest = _largest_gamma(X)
        if kernel.gamma > largest:
            raise SettingError(
                f"gamma={kernel.gamma:g} is too large for features up to {_largest(X):.3g}: γ·‖x − z‖² must "
                f"be finite, as for gamma up to {largest:.3g}"
            )


def refuse_long_documents(kernel: Kernel | None, data: RankingData) -> None:
    """Raise `DataError` if κ of long documents loses the differences within a query to rounding.

    Kernels of differences x − z do not depend on a common offset, but inner products square it. At
    `MOST_LENGTH` times the differences it takes half of the digits of a kernel value. Eigenvalues that
    separate documents are then as small as rounding errors.
    """
    if kernel is None or kernel.shift_invariant or data.n_documents == 0:
        return
    X, starts = data.X, data.ptr[:-1]
    spread = float((np.maximum.reduceat(X, starts) - np.minimum.reduceat(X, starts)).max(initial=0.0))
    length = float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))
    if spread > 0 and length > MOST_LENGTH * spread:
        raise DataError(
            f"documents of length {length:.3g}, whose features differ by at most {spread:.3g} within a query",
            expected=f"for the {kernel.label} kernel at most {MOST_LENGTH:,.0f} times the difference, which "
            "would otherwise be lost to rounding",
            remedy="Normalise the features first, or choose the linear map or a kernel of differences (RBF).",
            path=data.name or None,
        )


def refuse_huge_weight(C: float, pairs: float) -> None:
    """Raise `SettingError` if C times the total cost of the pairs has a square that overflows."""
    if C * pairs > LARGEST_FEATURE:
        raise SettingError(
            f"C={C:g} is too large for pairs with a total cost of {pairs:.3g}: the square of their product "
            f"must be finite, as for C up to {LARGEST_FEATURE / pairs:.3g}"
        )


def _largest_gamma(X: FloatArray) -> float:
    """Return γ up to which γ‖x − z‖² ≤ 4γd·max X² and γ‖x − z‖₁ ≤ 2γd·max|X| are below `LARGEST_FEATURE`²."""
    largest = _largest(X)
    spread = max(4.0 * X.shape[1] * largest * max(largest, 1.0), 1.0)
    return float(LARGEST_FEATURE / spread * LARGEST_FEATURE)


def _largest(X: FloatArray) -> float:
    ends = float(X.max(initial=0.0)), -float(X.min(initial=0.0))
    return max(ends)


def unused_settings(
    settings: Iterable[Setting],
    left_out: Iterable[Setting],
    estimator: type,
    value_of: Callable[[Setting], Any],
) -> Iterator[tuple[Setting, str]]:
    """Yield settings that differ from the estimator's default but are not read, with a sentence for each.

    A seed is excepted: it may be given to any estimator, to make random parts repeatable.
    """
    declared, others = tuple(settings), (*left_out, SEED)
    read = {setting.name for setting, _ in active(declared, value_of, left_out)}
    defaults = _defaults(estimator)
    for setting in every(declared):
        value = value_of(setting)
        if setting.name in read or setting in others or value == defaults.get(str(setting.parameter), value):
            continue
        lacking, needed = _choices(setting, declared, read)
        given = f"{lacking.parameter}={value_of(lacking)!r}"
        yield setting, f"{setting.parameter}={value!r} is not read with {given}; it is with {needed}"


@cache
def _defaults(estimator: type) -> dict[str, Any]:
    """Return the defaults of the parameters of an estimator's constructor, by name."""
    return {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


def _choices(setting: Setting, declared: tuple[Setting, ...], read: set[str]) -> tuple[Setting, str]:
    """Return the choice that does not read a setting, and one that does: "kernel='polynomial' and …"."""
    chooser = next(
        choice
        for choice in every(declared)
        if any(setting in getattr(option, "settings", ()) for option in choice.options.values())
    )
    able = [name for name, option in chooser.options.items() if setting in getattr(option, "settings", ())]
    needed = f"{chooser.parameter}={_either(able)}"
    if chooser.name in read:
        return chooser, needed
    lacking, more = _choices(chooser, declared, read)
    return lacking, f"{needed} and {more}"


def _either(names: list[str]) -> str:
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last


PREDICT_ENTRIES = 25_000_000  # 200 MB of features at a time, for any number of documents


class FeatureRanker(Ranker):
    """Scores f(x) = w·φ(x) learned from preference pairs; subclasses differ in how they find w.

    Settings, as parameters of the constructor: feature_map, kernel, n_components, gamma, degree, coef0,
    random_state, landmarks, frequencies. Set by `fit`: coef_, feature_map_, n_features_in_, n_components_,
    n_pairs_.
    """

    feature_map: str
    kernel: str | Kernel
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
    least_objective: ClassVar[float] = -math.inf
    """Lower bound of the minimised function."""
    query_weights_: FloatArray | None = None
    thresholds_: FloatArray | None = None
    weighed_digest_: str = ""
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
        if not isinstance(self.kernel, str):
            return self.kernel  # an object has its own parameters
        kind = KERNELS[self.kernel]
        values = {setting.name: self._value_of(setting) for setting in kind.settings}
        return kind.make(values | {"gamma": gamma})

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Return w·φ(x) of documents X (n, d), checked already -> (n,)."""
        refuse_huge_kernel(self.feature_map_.kernel, X)
        step = max(1, PREDICT_ENTRIES // max(self.n_components_, 1))
        parts = [np.zeros(0)]
        with single_blas():
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

    def _final_weights(self) -> FloatArray:
        """Return the weights without the rest of the outcome."""
        return self.coef_[: 0 if self.status_ is Status.STOPPED else None]

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

    @property
    def stored(self) -> dict[str, FloatArray | IntArray]:
        """Results of `fit` that a file keeps as arrays, besides weights and trace."""
        weights = {} if self.query_weights_ is None else {"query_weights": self.query_weights_}
        return {**self.solution, **weights}

    def restore(self, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Set the results in `stored` from a file, after all others; KeyError or ValueError if invalid."""

    def seed(self) -> int:
        """Return the seed of landmarks, frequencies and pairs: `random_state`, or a number drawn from it."""
        if isinstance(self.random_state, numbers.Integral):
            if isinstance(self.random_state, bool) or self.random_state < 0:
                raise SettingError(f"random_state={self.random_state!r} must be a number of at least 0")
            return int(self.random_state)
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except (TypeError, ValueError) as error:  # TypeError: scikit-learn before 1.9, for a tuple
            raise SettingError(f"random_state={self.random_state!r} is not a valid seed") from error

    def gamma_for(self, X: FloatArray) -> float:
        """Return γ for documents X (n, d) as a number: that of a kernel object; 1 for a map without γ."""
        if "gamma" in self._map_values():
            return scale_gamma(X) if self.gamma == "scale" else float(self.gamma)
        kernel = self.kernel_at(1.0)
        return 1.0 if kernel is None else float(kernel.gamma)

    def check_settings(self) -> None:
        """Raise `SettingError` for settings outside their range, or an invalid combination.

        Settings that the current choices do not read must be in their range too.
        """
        for setting in every((*self.settings, MAX_ITER, MEMORY_LIMIT)):
            if setting is not SEED:  # `seed` checks it: it may be more than a number
                setting.check(self._value_of(setting))
        check_combination(self.feature_map, self._map_values())

        for setting, words in self._unused():
            if setting is RANK:  # a rank that nothing reads would silently give another model
                raise SettingError(words)

    def warn_of_settings(self, stacklevel: int = 2) -> None:
        """Warn with `SettingWarning` of given settings that are not read, like `fit`."""
        self.check_settings()
        for _, words in self._unused():
            warnings.warn(words, SettingWarning, stacklevel=stacklevel + 1)

    def _unused(self) -> Iterator[tuple[Setting, str]]:
        """Yield given settings that the current choices do not read, with a sentence for each."""
        return unused_settings(self.settings, self.left_out, type(self), self._value_of)

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
