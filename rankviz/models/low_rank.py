"""Factorised and regularised RankSVM with scikit-learn's conventions: fit(X, y, qid=...), predict(X)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.npz import Arrays, shaped
from rankviz.common.parallel import single_blas
from rankviz.common.progress import Callback, Progress, Report, Stopwatch, reporter
from rankviz.common.settings import SEED
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernel_matrix import kernel_matrix
from rankviz.features.maps import FittedMap
from rankviz.features.operator import centred
from rankviz.features.registry import FEATURE_MAP, RANK
from rankviz.learning.losses import LOSS_WEIGHT, LOSSES
from rankviz.learning.memory import TrainingSizes, check_fits, default_budget
from rankviz.learning.pairs import count_pairs
from rankviz.learning.sorted_risk import risk_of, risk_sizes
from rankviz.models.dual_variables import GivenDuals
from rankviz.models.factorized import FactorPoint, FactorProblem, FactorSolver
from rankviz.models.feature_ranker import (
    FeatureRanker,
    refuse_huge_kernel,
    refuse_huge_weight,
    refuse_long_documents,
)
from rankviz.models.low_rank_blocks import (
    Blocks,
    Cells,
    FeatureGram,
    Gram,
    KernelGram,
    entry_duals,
    factor_duals,
    pair_curvature,
    rectangle_entries,
)
from rankviz.models.low_rank_settings import (
    COUPLING,
    DUAL_SOLVER,
    DUAL_SOLVERS,
    FACTOR_SOLVER,
    FACTOR_SOLVERS,
    FACTORS,
    LOW_RANK_TOL,
    NUCLEAR,
    check_rows,
)
from rankviz.models.low_rank_trace import LowRankResult
from rankviz.models.ranker import LARGEST_FEATURE, refuse_unusable
from rankviz.models.regularized import DualPoint, DualSolver, RegularizedProblem, plain_alpha

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
        refuse_long_documents(self.kernel_at(1.0), data)
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
            f"{type(self).__name__} takes no sample_weight: all its dual variables share the bound C; "
            "use RankSVM(loss='hinge'), or repeat queries"
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
                "documents that do not match the dual variables",
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


PLAIN_TOL = 1e-4
"""Largest duality gap of the RankSVM whose α is the start."""


@dataclass(eq=False, repr=False)
class FactorizedRankSVM(LowRankRanker):
    """Factorised RankSVM: the hinge's dual problem over α_ij = ⟨v_i, v_j⟩, 0 ≤ v_ik ≤ √(C/K) (xu2019 §5.1).

    Minimise ½‖w‖² − Σ_P α_ij with w = Σ_P α_ij (φ(x_i) − φ(x_j)). Its α are feasible dual variables, so the
    objective is never below the dual optimum of RankSVM. It is not convex: seeds lead to different results.

    Rounding does too. So BLAS uses one thread during training: the same fit then gives the same model, bit by
    bit, for any number of threads. On another type of processor, or with another version of BLAS, the result
    may differ as much as with another seed. The exact kernel may also differ with less free memory, because
    its matrix is stored as precisely as `memory_limit` allows.

    Parameters
    ----------
    rank : int
        K, length of the vectors v. A block of α has rank at most K with two grades, (R − 1)·K with R grades.
    C : float
        Weight of the hinge loss, the largest α.
    feature_map, n_components, gamma, landmarks, frequencies, kernel, degree, coef0
        φ, as in `RankSVM`.
    random_state : int, RandomState or None
        Seed of the initial positive factors, and of landmarks or frequencies.
    tol : float
        Stop once no step in the box can lower the objective by more than this share of it, to first order
        (see `rankviz.models.low_rank_trace.StepRow`).
    max_iter : int or None
        Largest number of iterations for each number of factors on the way to K, or of passes over all
        queries; None for the solver's default.
    solver : {"lbfgs", "query_steps"}
        "lbfgs": all factors at once, from one random column through the divisors of K, so that the objective
        is never above that for a divisor of K. "query_steps": query by query from K random columns, as in the
        paper (for maps with rows of features).
    memory_limit : float or None
        Bytes that training may use; None: 70 % of the free memory.

    Attributes
    ----------
    factors_ : (n, K) float64
        V of the training documents.
    objective_, dual_, primal_ : float
        ½‖w‖² − Σα; the dual value (its negative); and ½‖w‖² + C Σ_P max(0, 1 − t) at the weights.
    gap_ : float
        (primal − dual)/primal, which stays positive if the factors cannot represent optimal dual variables.
    coef_, feature_map_, gamma_, n_features_in_, feature_names_in_, n_components_, n_pairs_, status_, n_iter_,
    trace_, memory_need_, seconds_
        As in `RankSVM`.

    Examples
    --------
    >>> from rankviz import FactorizedRankSVM, RankSVM
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = FactorizedRankSVM(rank=2, C=0.01).fit(data.X, data.y, qid=data.qid)
    >>> model.factors_.shape == (data.n_documents, 2)
    True
    >>> plain = RankSVM(loss="hinge", C=0.01).fit(data.X, data.y, qid=data.qid)
    >>> model.dual_ <= plain.objective_ <= model.primal_
    True
    """

    settings = (FACTORS, LOSS_WEIGHT, FEATURE_MAP, FACTOR_SOLVER, LOW_RANK_TOL, SEED)

    rank: int = 5
    C: float = 2.0**-7
    feature_map: str = "linear"
    n_components: int = 500
    gamma: float | str = "scale"
    random_state: int | np.random.RandomState | None = 0
    landmarks: str = "uniform"
    frequencies: str = "gaussian"
    tol: float = 1e-3
    max_iter: int | None = None
    solver: str = "lbfgs"
    memory_limit: float | None = None
    kernel: str | Kernel = "rbf"
    degree: int = 3
    coef0: float = 1.0

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`; see `fit`. BLAS uses one thread meanwhile."""
        with single_blas():
            return super().fit_data(data, callback=callback)

    def duals(self, data: RankingData) -> GivenDuals:
        """Return its dual variables α, one block per query; `data` must be its training data."""
        own = factor_duals(data, self.predict(data.X), float(self.C), self.factors_, self.gap_)
        self._refuse_other_order(data, own.document_weights())
        return own

    @property
    def solution(self) -> dict[str, FloatArray]:
        """The factors V, and the duality gap."""
        return {"factors": self.factors_, "gap": np.array([self.gap_])}

    def restore(self, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Set factors and gap; ValueError unless there is a factor of length `rank` for each document."""
        factors = shaped(arrays, "factors", len(arrays["factors"]), int(self.rank))
        self.keep({"factors": factors, "gap": shaped(arrays, "gap", 1)})

    def _trained(self, problem: Problem, report: Report) -> tuple[FactorPoint, LowRankResult[FactorPoint]]:
        cells = Cells(problem.data.y, problem.data.ptr)
        task = FactorProblem(cells, problem.gram, float(self.C), int(self.rank))
        solver: FactorSolver = FACTOR_SOLVERS[self.solver](**self._limits())
        result = solver.solve(task, solver.start(task, problem.seed), report)
        self.n_pairs_, self.factors_ = cells.n_pairs, result.point.V
        return result.point, result

    def _start_words(self) -> str:
        return FACTOR_SOLVERS[self.solver].start_words

    def _own_bytes(self, data: RankingData) -> int:
        return factor_bytes(data.n_documents, int(self.rank))

    def _check_kernel_space(self) -> None:
        check_rows(self.solver)


@dataclass(eq=False, repr=False)
class RegularizedRankSVM(LowRankRanker):
    """Regularised RankSVM: the hinge's dual problem with a nuclear norm on its blocks (xu2019 §5.2).

    Minimise ½‖w‖² − Σ_P α_ij + nuclear·Σ_l‖A_l‖_* + coupling·Σ_l‖mat(α)_l − A_l‖_F² over 0 ≤ α_ij ≤ C and A.
    This is convex. The matrices A have low rank; the α that define w do not.

    Parameters
    ----------
    C : float
        Weight of the hinge loss, the largest α.
    nuclear, coupling : float
        The paper's γ and λ. Singular values are reduced by nuclear/(2·coupling).
    feature_map, n_components, gamma, random_state, landmarks, frequencies, kernel, degree, coef0
        φ and its seed, as in `RankSVM`.
    tol : float
        Stop at this duality gap over |objective|, a proved distance from the minimum. Then ‖w − w*‖ is at
        most √(2·tol·|objective|). Fits with other numbers of threads or on other machines differ by at most
        twice that.
    max_iter : int or None
        Largest number of steps, or of the paper's rounds; None for the solver's default.
    solver : {"fista", "alternating"}
        "fista": accelerated steps from the plain model; "alternating": the paper's steps, from random α.
    memory_limit : float or None
        Bytes that training may use; None: 70 % of the free memory.

    Attributes
    ----------
    alpha_, low_rank_ : (E,) float64
        α and A as entries of the rectangles in the layout of `rankviz.models.low_rank_blocks.Blocks`.
    ranks_ : (queries with pairs,) int64
        Ranks of the matrices A, in the order of `Blocks.queries`.
    objective_, dual_, primal_ : float
        The minimised function; Σα − ½‖w‖²; and ½‖w‖² + C Σ_P max(0, 1 − t) at the weights.
    gap_ : float
        (primal − dual)/primal: the loss due to the nuclear norm, and the remaining distance to convergence.
    coef_, feature_map_, gamma_, n_features_in_, feature_names_in_, n_components_, n_pairs_, status_, n_iter_,
    trace_, memory_need_, seconds_
        As in `RankSVM`.

    Examples
    --------
    >>> from rankviz import RegularizedRankSVM
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = RegularizedRankSVM(C=0.01, nuclear=0.01).fit(data.X, data.y, qid=data.qid)
    >>> freer = RegularizedRankSVM(C=0.01, nuclear=0.001).fit(data.X, data.y, qid=data.qid)
    >>> bool(model.ranks_.sum() < freer.ranks_.sum())
    True
    """

    settings = (NUCLEAR, COUPLING, LOSS_WEIGHT, FEATURE_MAP, DUAL_SOLVER, LOW_RANK_TOL)

    C: float = 2.0**-7
    nuclear: float = 1.0
    coupling: float = 10.0
    feature_map: str = "linear"
    n_components: int = 500
    gamma: float | str = "scale"
    random_state: int | np.random.RandomState | None = 0
    landmarks: str = "uniform"
    frequencies: str = "gaussian"
    tol: float = 1e-3
    max_iter: int | None = None
    solver: str = "fista"
    memory_limit: float | None = None
    kernel: str | Kernel = "rbf"
    degree: int = 3
    coef0: float = 1.0

    def duals(self, data: RankingData) -> GivenDuals:
        """Return its dual variables α, one block per query; `data` must be its training data."""
        return self._blocks(data, self.alpha_)

    def low_rank_blocks(self, data: RankingData) -> GivenDuals:
        """Return the matrices A as blocks; with three or more grades they have entries outside pairs."""
        return self._blocks(data, self.low_rank_)

    def _blocks(self, data: RankingData, entries: FloatArray) -> GivenDuals:
        """Return entries (E,), α or A, as blocks; `DataError` if α does not give the model's weights."""
        scores, C = self.predict(data.X), float(self.C)
        alpha = entry_duals(data, scores, C, self.alpha_, self.gap_)
        self._refuse_other_order(data, alpha.document_weights())
        return entry_duals(data, scores, C, entries, self.gap_)

    @property
    def solution(self) -> dict[str, FloatArray]:
        """α and A, and the duality gap."""
        return {"alpha": self.alpha_, "low_rank": self.low_rank_, "gap": np.array([self.gap_])}

    @property
    def stored(self) -> dict[str, FloatArray | IntArray]:
        """α, A, the duality gap, and the ranks, which a stored run has not."""
        return {**super().stored, **({"ranks": self.ranks_} if hasattr(self, "ranks_") else {})}

    def restore(self, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Set α, A, gap and ranks; ValueError unless α and A have the same number of entries."""
        found = {name: shaped(arrays, name, len(arrays["alpha"])) for name in ("alpha", "low_rank")}
        self.keep({**found, "gap": shaped(arrays, "gap", 1)})
        if "ranks" in arrays:
            self.ranks_ = arrays["ranks"]
            if self.ranks_.ndim != 1 or self.ranks_.dtype != np.int64:
                raise ValueError("array 'ranks' has no whole numbers")

    def check_settings(self) -> None:
        """Raise `SettingError` for settings outside their range, or a coupling whose square overflows."""
        super().check_settings()
        if self.coupling > LARGEST_FEATURE:
            raise SettingError(f"coupling={self.coupling:g} must be at most {LARGEST_FEATURE:g}")

    def _trained(self, problem: Problem, report: Report) -> tuple[DualPoint, LowRankResult[DualPoint]]:
        data = problem.data
        blocks, cells = Blocks(data.y, data.ptr), Cells(data.y, data.ptr)
        task = RegularizedProblem(
            blocks,
            problem.gram,
            float(self.C),
            float(self.nuclear),
            float(self.coupling),
            pair_curvature(problem.gram, cells),
        )
        solver: DualSolver = DUAL_SOLVERS[self.solver](**self._limits())
        result = solver.solve(task, self._start(problem, blocks, report), report)
        self.n_pairs_, self.alpha_ = blocks.n_pairs, result.point.alpha
        self.low_rank_, self.ranks_ = result.point.low.A, result.point.low.ranks
        return result.point, result

    def _start(self, problem: Problem, blocks: Blocks, report: Report) -> FloatArray:
        """Return RankSVM's α, a close start for small nuclear and coupling; or draw it (Algorithm 2)."""
        if DUAL_SOLVERS[self.solver].from_plain:
            tol = min(float(self.tol), PLAIN_TOL)
            return plain_alpha(problem.data, blocks, problem.gram, float(self.C), tol, report)
        alpha = np.random.default_rng(problem.seed).uniform(0.0, self.C, blocks.size)
        alpha *= blocks.is_pair
        return alpha

    def _start_words(self) -> str:
        return "α of RankSVM" if DUAL_SOLVERS[self.solver].from_plain else "α drawn at random"

    def _own_bytes(self, data: RankingData) -> int:
        return dual_bytes(rectangle_entries(data.y, data.ptr))
