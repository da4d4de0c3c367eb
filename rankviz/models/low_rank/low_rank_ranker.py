"""Base class of the factorised and the regularised model: features, memory, and final results."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import Callback, Progress, Report, reporter
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_matrix import kernel_matrix
from rankviz.features.maps import FittedMap
from rankviz.features.settings import RANK
from rankviz.learning import risk_of, risk_sizes
from rankviz.learning.centring import centred
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import TrainingSizes, check_fits, default_budget
from rankviz.learning.pairs import count_pairs
from rankviz.models.extremes import refuse_drowned, refuse_huge_kernel, refuse_huge_weight
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.inputs import refuse_unusable
from rankviz.models.low_rank.factorized import FactorPoint
from rankviz.models.low_rank.gram import FeatureGram, Gram, KernelGram
from rankviz.models.low_rank.regularized import DualPoint
from rankviz.models.low_rank.trace import LowRankResult

SAME_WEIGHTS, ROUNDING = 1e-6, 1e-12
"""Two computations of weights from α differ by less, relative to the largest weight, and to the terms of
their sums."""
FACTOR_VECTORS, DUAL_VECTORS = 70, 12
"""Largest number of arrays of the size of the factors, or of all rectangles, in memory at a time."""


def factor_bytes(n: int, rank: int) -> int:
    """Return the bytes of training for factors (n, rank)."""
    return 8 * FACTOR_VECTORS * n * rank


def dual_bytes(entries: int) -> int:
    """Return the bytes of training for rectangles with this total number of entries."""
    return 8 * DUAL_VECTORS * entries


@dataclass(frozen=True, eq=False)
class Problem:
    """Training data of a model, with their Gram matrix."""

    data: RankingData
    gram: Gram
    seed: int


class LowRankRanker(FeatureRanker):
    """Common parts of both models: features, memory limit, and final results."""

    left_out = (RANK,)  # its parameter `rank` is K
    C: float
    tol: float
    max_iter: int | None
    solver: str
    memory_limit: float | None

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`; see `fit`."""
        report, clock = reporter(callback), Stopwatch()
        self.check_settings()
        refuse_unusable(data)
        refuse_drowned(self.kernel_at(1.0), data)
        left = self._room(data)
        seed = self.seed()
        self.gamma_ = self.gamma_for(data.X)
        refuse_huge_kernel(self.kernel_at(self.gamma_), data.X)
        refuse_huge_weight(float(self.C), int(count_pairs(data.y, data.ptr).sum()))
        report(Progress("features", 0.0))
        fitted = self.unfitted_map(self.gamma_, seed).fit(data.X, report)
        gram = self._gram(fitted, data, left, report)
        clock.lap("features")
        point, result = self._trained(Problem(data, gram, seed), report)
        clock.lap("newton")
        self.feature_map_, self.coef_ = fitted, gram.coefficients(point.c)
        self.n_components_ = fitted.n_components
        self.learned(data.n_features)
        self.status_, self.trace_, self.start_ = result.status, result.frame, self._start_words()
        self.n_iter_ = int(self.trace_["iteration"].iloc[-1])
        self.objective_, self.seconds_ = point.value, clock.laps
        self._certify(data, point)
        return self

    def fit_weighted(self, data: RankingData, weights: FloatArray, callback: Callback | None = None) -> Self:
        """Raise `SettingError`: query weights would need separate bounds C·s_q."""
        raise SettingError(
            f"{type(self).__name__} takes no sample_weight: all its dual variables have the one bound C; "
            "RankSVM(loss='hinge') has weights, or repeat queries that are to weigh more"
        )

    def _refuse_other_order(self, data: RankingData, c: FloatArray) -> None:
        """Raise `DataError` if c (n,), from α, does not give the weights: α depends on the documents' order.

        `fit` groups scattered documents of a query, so its order may differ from the caller's.
        """
        fitted, rounding = self.feature_map_, ROUNDING * np.abs(c).sum()
        if fitted.in_kernel_space:
            w, same = c, np.array_equal(fitted.arrays()["documents"], data.X)
        else:
            w, same = fitted.operator(data.X).adjoint(c), True
            rounding *= max(1.0, np.abs(data.X).max(initial=0.0))
        largest = np.abs(self.coef_).max(initial=0.0)
        if not same or np.abs(w - self.coef_).max(initial=0.0) > SAME_WEIGHTS * largest + rounding:
            raise DataError(
                "documents to which the dual variables do not belong",
                expected="the training documents in the order of training, queries by first appearance",
                remedy="Give the RankingData that `fit_data` was given, or RankingData.from_arrays(X, y, "
                "qid, regroup=True) of what `fit` was given.",
                path=data.name or None,
            )

    def _gram(self, fitted: FittedMap, data: RankingData, left: float, report: Report) -> Gram:
        """Return G of the training documents; a kernel matrix may use `left` bytes."""
        if fitted.kernel is None:
            return FeatureGram(centred(fitted.operator(data.X, report), data.ptr))
        if not fitted.in_kernel_space:
            return FeatureGram(fitted.operator(data.X, report))
        self._check_kernel_space()
        return KernelGram(kernel_matrix(data.X, fitted.kernel, left, report), fitted.kernel)

    def _check_kernel_space(self) -> None:
        """Raise SettingError for a solver that needs rows of features: an exact kernel has none."""

    def _certify(self, data: RankingData, point: FactorPoint | DualPoint) -> None:
        """Compute the duality gap of the hinge between w and α."""
        squared = risk_of(data.y, data.ptr, LOSSES["squared_hinge"]).at(point.f)
        weight = float(point.c @ point.f)
        self.primal_ = 0.5 * weight + self.C * 0.5 * squared.total_slope
        self.dual_ = -point.dual
        self.gap_ = (self.primal_ - self.dual_) / self.primal_ if self.primal_ > 0.0 else 0.0

    def _room(self, data: RankingData) -> float:
        """Return the bytes left for a kernel matrix; raise `DataError` if training does not fit."""
        limit = default_budget() if self.memory_limit is None else float(self.memory_limit)
        shape = data.n_documents, data.n_features
        risk = risk_sizes(data.y, data.ptr, LOSSES["squared_hinge"])
        sizes = TrainingSizes(self.feature_map, int(self.n_components), *shape, *risk, self.kernel)
        own = self._own_bytes(data)
        check_fits(sizes, limit, own)
        self.memory_need_ = sizes.bytes + own
        return limit - self.memory_need_

    def _limits(self) -> dict[str, Any]:
        """Return tolerance and number of iterations, for the solver."""
        given = {} if self.max_iter is None else {"max_iter": int(self.max_iter)}
        return {"tol": float(self.tol), **given}

    @property
    @abstractmethod
    def solution(self) -> dict[str, FloatArray]:
        """Results besides the weights, for storage; `keep` reads them."""

    @abstractmethod
    def _start_words(self) -> str:
        """Describe the start of training in words."""

    @abstractmethod
    def _own_bytes(self, data: RankingData) -> int:
        """Return the bytes besides the features."""

    @abstractmethod
    def _trained(
        self, problem: Problem, report: Report
    ) -> tuple[FactorPoint | DualPoint, LowRankResult[Any]]:
        """Solve the problem, and store the model's own results."""
