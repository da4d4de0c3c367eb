"""Factorised and regularised RankSVM with scikit-learn's conventions: fit(X, y, qid=...), predict(X)."""

from __future__ import annotations

from typing import Self

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Report
from rankviz.common.settings import SEED
from rankviz.common.threads import single_blas
from rankviz.datasets.types import RankingData
from rankviz.learning.risk_settings import LOSS_WEIGHT
from rankviz.models.dual_variables import GivenDuals
from rankviz.models.inputs import LARGEST_FEATURE
from rankviz.models.low_rank.blocks import Blocks, rectangle_entries
from rankviz.models.low_rank.cells import Cells
from rankviz.models.low_rank.duals import entry_duals, factor_duals
from rankviz.models.low_rank.factorized import FactorPoint, FactorProblem
from rankviz.models.low_rank.factorized_solvers import FactorSolver
from rankviz.models.low_rank.gram import pair_curvature
from rankviz.models.low_rank.low_rank_ranker import LowRankRanker, Problem, dual_bytes, factor_bytes
from rankviz.models.low_rank.plain import plain_alpha
from rankviz.models.low_rank.registry import DUAL_SOLVERS, FACTOR_SOLVERS, check_rows
from rankviz.models.low_rank.regularized import DualPoint, RegularizedProblem
from rankviz.models.low_rank.regularized_solvers import DualSolver
from rankviz.models.low_rank.settings import (
    COUPLING,
    DUAL_SOLVER,
    FACTOR_SOLVER,
    FACTORS,
    LOW_RANK_TOL,
    NUCLEAR,
)
from rankviz.models.low_rank.trace import LowRankResult
from rankviz.models.settings import FEATURE_MAP

PLAIN_TOL = 1e-4
"""Largest duality gap of the RankSVM whose α is the start."""


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
        (see `rankviz.models.low_rank.trace.StepRow`).
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

    def __init__(
        self,
        rank: int = 5,
        C: float = 2.0**-7,
        feature_map: str = "linear",
        n_components: int = 500,
        gamma: float | str = "scale",
        random_state: int | np.random.RandomState | None = 0,
        landmarks: str = "uniform",
        frequencies: str = "gaussian",
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str = "lbfgs",
        memory_limit: float | None = None,
        kernel: str = "rbf",
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.rank = rank
        self.C = C
        self.feature_map = feature_map
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state
        self.landmarks = landmarks
        self.frequencies = frequencies
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.memory_limit = memory_limit
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0

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
        α and A as entries of the rectangles in the layout of `rankviz.models.low_rank.blocks.Blocks`.
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

    def __init__(
        self,
        C: float = 2.0**-7,
        nuclear: float = 1.0,
        coupling: float = 10.0,
        feature_map: str = "linear",
        n_components: int = 500,
        gamma: float | str = "scale",
        random_state: int | np.random.RandomState | None = 0,
        landmarks: str = "uniform",
        frequencies: str = "gaussian",
        tol: float = 1e-3,
        max_iter: int | None = None,
        solver: str = "fista",
        memory_limit: float | None = None,
        kernel: str = "rbf",
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.C = C
        self.nuclear = nuclear
        self.coupling = coupling
        self.feature_map = feature_map
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state
        self.landmarks = landmarks
        self.frequencies = frequencies
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.memory_limit = memory_limit
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0

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
