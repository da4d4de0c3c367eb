"""RankSVM with scikit-learn's conventions: settings in the constructor, fit(X, y, qid=...).

`fit_curve` fits one model over many m, γ and C, for little more than the cost of the most expensive one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.memory import reuse_freed_memory
from rankviz.common.npz import Arrays, shaped
from rankviz.common.parallel import single_blas
from rankviz.common.progress import Callback, Report, reporter, silent
from rankviz.common.settings import Setting, instance, listed
from rankviz.datasets.parts import documents_digest
from rankviz.datasets.types import RankingData, require_data
from rankviz.features.kernel_base import Kernel
from rankviz.features.registry import FEATURE_MAP, FEATURE_MAPS
from rankviz.learning.kernel_space import KernelSpace
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import LOSS, LOSS_WEIGHT, Loss, check_costs_of, loss_of
from rankviz.learning.memory import default_budget, refuse_long_lists, training_sizes
from rankviz.learning.objective import Solver, Status, TraceRow, frame_of
from rankviz.learning.pairs import COSTS, Costs, PairCosts, frozen_costs, pair_costs
from rankviz.learning.risk import Risk
from rankviz.learning.solvers import (
    PRECONDITIONERS,
    SOLVER,
    SOLVERS,
    TOL,
    SolverSettings,
    check_kernel_space,
    check_solver,
)
from rankviz.learning.sorted_risk import risk_of
from rankviz.learning.training import FeatureSpace, Fit, MapFamily, Space, Task, Training
from rankviz.models.dual_variables import SlopeDuals, end_of_training
from rankviz.models.feature_ranker import (
    FeatureRanker,
    refuse_huge_kernel,
    refuse_huge_weight,
    refuse_long_documents,
)
from rankviz.models.ranker import refuse_unusable
from rankviz.shards.backend import Backend, Here
from rankviz.shards.objective import ShardedSpace
from rankviz.shards.storage import Plan, check_solver_in_shards, plan_for, plan_here, refuse_coupled

THRESHOLDS = "thresholds"
"""Array of a record or file with the thresholds of grades."""


@dataclass(eq=False, repr=False)
class RankSVM(FeatureRanker):
    """Pairwise ranking SVM: minimise ½‖w‖² + C Σ_P ℓ(w·φ(x_i) − w·φ(x_j)) over preference pairs P.

    Settings that the chosen map, kernel or solver does not read have no effect; `fit` warns with
    `SettingWarning`. An unread `rank` raises `SettingError`.

    Parameters
    ----------
    feature_map : {"linear", "nystroem", "fourier", "exact"}
        φ: the features themselves, an approximation of the kernel's map (chen2017 §3.2), or the exact kernel.
        Random Fourier features exist for the RBF and the Laplacian kernel.
    n_components : int
        Landmarks or frequencies m; unused by the linear and the exact map.
    gamma : float or "scale"
        γ of the kernel; "scale" is 1/(d·Var X). The linear kernel has none.
    C : float
        Weight of the loss. It multiplies the plain squared hinge, without ½ (chen2017 eq. 22).
    loss : {"squared_hinge", "huber", "hinge", "logistic", "logistic_pwq", "smooth_hinge", …} or Loss
        ℓ, one of `LOSSES` in `rankviz.learning.losses`, or an object derived from `Loss` there. "logistic",
        "ranknet" and "smooth_hinge" list their pairs. Or a loss of scores that is no sum over these pairs:
        "least_squares", "logistic_relevance", "ordinal", "listnet", "rankrls" or "crr" of
        `rankviz.learning.score_losses`, or "svmmap", which needs solver="cutting_planes".
    random_state : int, RandomState or None
        Seed of landmarks, frequencies and the preconditioner's pairs; an int makes fits repeatable.
    rank : int or None
        Nyström only: keep this many eigenvalues of the landmarks' kernel (chen2017 eq. 16–18).
    landmarks : {"uniform", "kmeans++"}
        Nyström only: choice of landmarks among distinct documents.
    frequencies : {"gaussian", "orthogonal"}
        Random Fourier only: sampling method of the frequencies.
    tol : float
        Stop when the Newton decrement is below tol times the objective, and the duality gap below a thousand
        times that; for the hinge when the duality gap is below tol. Values and gradients are in double
        precision; Hessian products may be in single (see `objectives.precision`).
    max_iter : int or None
        Largest number of Newton steps, of passes over the data (SGD) or of L-BFGS iterations; None for the
        solver's default.
    preconditioner : {"auto", "none"}
        "auto" solves the Newton systems with the map's preconditioner; "none" uses plain conjugate gradients,
        to show the preconditioner's effect.
    memory_limit : float or None
        Bytes that training may use besides the documents. None: 70 % of the free memory. Features are kept in
        double precision, in single precision, or computed again for every product, as this allows; the exact
        map stores its kernel likewise. A fit that needs more is refused before it starts.
    costs : None, "query", "grade", "grade_query", "slack", "margin", a table, ("query", a table) or CostRule
        Cost of a pair: one; he2009's weights μ of queries, λ of grades, or both; chapelle2010's DCG
        differences, as weights or as margins; or λ[r][s] for grade r preferred to grade s, alone or with μ.
        A `CostRule` of `rankviz.learning.pairs` computes other costs from grades and queries.
    solver : {"newton", "newton_yuan", "sgd_query", "sgd_pair", "lbfgs", "cutting_planes", …}
        The solver; "newton" supports every loss but "svmmap", the others are for comparison (see
        `rankviz.learning.solvers.SOLVERS`). "newton_yuan" uses he2009's own tolerance.
    kernel : {"rbf", "laplacian", "polynomial", "linear"} or Kernel
        κ(x, z) of all maps but the linear one, as in scikit-learn's pairwise kernels: exp(−γ‖x − z‖²),
        exp(−γ‖x − z‖₁), (γ⟨x, z⟩ + coef0)^degree, ⟨x, z⟩ (see `rankviz.features.KERNELS`).
        An object, such as one derived from `rankviz.features.kernel_base.Kernel`, has its own
        parameters: gamma, degree and coef0 are then not read.
    degree : int
        Degree of the polynomial kernel.
    coef0 : float
        Constant of the polynomial kernel, at least 0, because otherwise it is not positive semidefinite.
    alpha : float
        CRR only: share of the pointwise loss, from 0 to 1.

    Attributes
    ----------
    coef_ : (m,) float64
        Weights w; for the exact map with many documents, their coefficients β.
    feature_map_ : FittedMap
        φ with all random parts drawn.
    gamma_ : float
        The γ used; 1 without one.
    feature_names_in_ : (d,) object
        Names of the features, if `fit` was given a table with named columns. `predict` and `score` then
        refuse a table with other columns, or in another order.
    n_features_in_, n_components_ : int
        d, and the feature dimensions m used (fewer than requested if documents repeat).
    objective_ : float
        ½‖w‖² + C·risk at the weights.
    gap_ : float
        Duality gap over objective. The objective is at most this share above its optimum, and w at most
        √(2·gap·objective) from the optimal w*. The optimum is unique. So fits with other numbers of threads
        or on other machines differ by at most the sum of their distances from it.
    status_ : Status
        Final status of the solver.
    n_iter_ : int
        Newton steps taken.
    trace_ : DataFrame
        One row per iteration (see `rankviz.learning.objective.TraceRow`).
    memory_need_ : int
        Bytes counted for training before it started, besides the documents. Optional memory is not counted:
        the matrix of an exact kernel, and a copy of wide features in single precision.
    memory_plan_ : str
        How features were stored, and the memory at the peak with the documents, in words.
    query_weights_ : (Q,) float64 or None
        Weights of the training queries, if `fit` was given `sample_weight`.
    thresholds_ : (K, 2) float64 or None
        Grades and their thresholds of scores, with loss="ordinal".
    weighed_digest_ : str
        Hash of the documents with these weights, so that `duals` recognises them; "" without weights.
    start_ : str
        Start of the first iteration, in words: "zero", or weights of another model (`fit_curve`).
    seconds_ : dict
        Seconds of "features", "pairs" and "newton" (see `rankviz.learning.training.Fit`).

    Examples
    --------
    >>> from rankviz import RankSVM
    >>> from rankviz.datasets import make_fold
    >>> fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    >>> model = RankSVM(feature_map="nystroem", n_components=30, gamma=0.25, C=2.0**-4)
    >>> model = model.fit(fold.train.X, fold.train.y, qid=fold.train.qid)
    >>> model.predict(fold.vali.X).shape == (fold.vali.n_documents,)
    True
    >>> print(model.status_.value)
    converged: the Newton decrement is below the tolerance
    >>> print(f"NDCG@10 {model.score(fold.vali.X, fold.vali.y, qid=fold.vali.qid):.1f}")
    NDCG@10 0.6
    """

    settings = (LOSS_WEIGHT, FEATURE_MAP, LOSS, COSTS, SOLVER, TOL)
    least_objective = 0.0

    feature_map: str = "linear"
    n_components: int = 500
    gamma: float | str = "scale"
    C: float = 2.0**-7
    loss: str | Loss = "squared_hinge"
    random_state: int | np.random.RandomState | None = 0
    rank: int | None = None
    tol: float = 1e-6
    max_iter: int | None = None
    preconditioner: str = "auto"
    landmarks: str = "uniform"
    frequencies: str = "gaussian"
    memory_limit: float | None = None
    costs: Costs | ArrayLike = None
    solver: str = "newton"
    kernel: str | Kernel = "rbf"
    degree: int = 3
    coef0: float = 1.0
    alpha: float = 0.5

    @property
    def keeps_documents(self) -> bool:
        """True for the exact kernel, whose model is coefficients of documents."""
        kind = FEATURE_MAPS.get(self.feature_map)
        return kind is None or kind.is_exact

    @property
    def learns_within_queries(self) -> bool:
        """False for a pointwise loss, which compares grades of all queries."""
        return loss_of(self.loss).by_query

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`; see `fit`."""
        return self._fit(data, None, callback)

    def fit_in_shards(self, data: RankingData, where: Backend, callback: Callback | None = None) -> Self:
        """Train on shards of whole queries, by threads of this process or on a cluster: the same model.

        Features are stored as memory allows (`shard_plan` tells in advance). Raises like `fit`, and
        `SettingError` for exact kernels of many documents or solvers that list pairs.
        """
        report = reporter(callback)
        self.fit_in(self.training_in_shards(data, where, report), report)
        return self

    def training_in_shards(self, data: RankingData, where: Backend, report: Report = silent) -> Training:
        """Return the same as `training`, on shards."""
        plan = self.shard_plan(data, where)
        self.memory_need_, self.memory_plan_ = plan.need, plan.words
        seed = self.seed()
        with single_blas():
            family = MapFamily(self.unfitted_map(1.0, seed), data.X, report)
        return self._sharded(family, data, where, plan, seed)

    def _sharded(
        self,
        family: MapFamily,
        data: RankingData,
        where: Backend,
        plan: Plan,
        seed: int,
        weights: FloatArray | None = None,
    ) -> Training:
        loss, costs = self._first_loss(), self._costs(data, weights)
        refuse_coupled(loss)
        space = ShardedSpace(family, data, loss, costs, where, plan)
        return Training(space, space.risk, self._solver(seed), seed)

    def shard_plan(self, data: RankingData, where: Backend) -> Plan:
        """Return the plan of `fit_in_shards`; raise the same errors."""
        self.check_settings()
        check_solver_in_shards(self.solver)
        refuse_coupled(loss_of(self.loss))
        refuse_unusable(data)
        refuse_long_documents(self.kernel_at(1.0), data)
        m = int(self.n_components)
        limit = None if self.memory_limit is None else float(self.memory_limit)
        return plan_for(data, self.feature_map, self.kernel, m, self.loss, where, limit)

    def fit_weighted(self, data: RankingData, weights: FloatArray, callback: Callback | None = None) -> Self:
        """Train with query weights s > 0, (Q,): C Σ_q s_q Σ_pairs …, as if each query occurred s times."""
        return self._fit(data, weights, callback)

    def _fit(self, data: RankingData, weights: FloatArray | None, callback: Callback | None) -> Self:
        report = reporter(callback)
        self._fit_in(self.training(data, report, weights=weights), report)
        self.query_weights_ = weights
        self.weighed_digest_ = "" if weights is None else documents_digest(data)
        return self

    def training(
        self,
        data: RankingData,
        report: Report = silent,
        *,
        keep_arguments: bool = False,
        weights: FloatArray | None = None,
    ) -> Training:
        """Draw the features for this model, and for other γ and C or fewer features, for `fit_in`.

        `weights` (Q,) are query weights.
        """
        plan = self.plan(data)
        self.memory_need_, self.memory_plan_ = plan.need, plan.words
        seed = self.seed()
        family = MapFamily(self.unfitted_map(1.0, seed), data.X, report)
        if not plan.in_one_piece:
            return self._sharded(family, data, Here(plan.shards), plan, seed, weights)
        space: Space
        if family.drawn.in_kernel_space:
            check_kernel_space(self.solver, data.n_documents)
            space = KernelSpace(family, data.X, plan.left)
        else:
            space = FeatureSpace(family, data.X, plan.left, keep_arguments=keep_arguments)
        return self.training_in(space, data, seed, weights)

    def plan(self, data: RankingData) -> Plan:
        """Return how `fit` stores features, and its memory; raise the same errors for settings and data.

        Raises `DataError`, with a remedy, if training does not fit even if features are computed again for
        every product.
        """
        self.check_settings()
        refuse_unusable(data)
        refuse_long_documents(self.kernel_at(1.0), data)
        m = int(self.n_components)
        sizes = training_sizes(data, self.feature_map, self.kernel, m, self.loss, self.solver)
        budget = default_budget(sizes) if self.memory_limit is None else float(self.memory_limit)
        refuse_long_lists(sizes.pairs, budget, self.loss, self.solver)
        return plan_here(sizes, data.n_queries, self.solver, budget).of(data)

    def training_in(
        self, space: Space, data: RankingData, seed: int = 0, weights: FloatArray | None = None
    ) -> Training:
        """Return training on these documents in an existing space, for `fit_in`."""
        return Training(space, lambda: self._risk(data, weights), self._solver(seed), seed)

    def fit_in(self, training: Training, report: Report = silent, *, alone: bool = False) -> Fit:
        """Train with the prepared training of a model that differs at most in γ, C and more features.

        `alone` starts from zero instead of weights found there before. An exception from `report` stops it;
        during Newton steps the current weights are kept.
        """
        self.check_settings()
        return self._fit_in(training, report, alone=alone)

    def _fit_in(self, training: Training, report: Report, *, alone: bool = False) -> Fit:
        """Train with settings that were checked."""
        reuse_freed_memory()
        X = training.space.X
        self.gamma_ = self.gamma_for(X)
        refuse_huge_kernel(self.kernel_at(self.gamma_), X)
        refuse_huge_weight(float(self.C), training.weight(report))
        task = Task(int(self.n_components), self.gamma_, float(self.C), alone)
        try:
            with single_blas():  # threads of BLAS wait for each other at every product
                fit = training.fit(task, report)
        except np.linalg.LinAlgError as error:
            raise SettingError(
                f"{error}: the numbers of this problem exceed double precision; choose "
                "a smaller C, gamma, coef0 or degree, or normalise the features"
            ) from error
        self.feature_map_, self.n_pairs_ = fit.map, fit.n_pairs
        self.n_components_ = fit.map.n_components
        self.learned(X.shape[1])
        self.coef_, self.objective_ = fit.coefficients, fit.result.point.value
        self.status_, self._rows = fit.result.status, fit.result.trace
        self.__dict__.pop("trace_", None)
        rows = self._rows
        self.gap_ = float(rows[-1].gap) if rows else float("nan")
        self.n_iter_ = sum(row.step > 0 for row in rows)
        self.start_, self.seconds_, self.query_weights_ = fit.start, fit.seconds, None
        self.thresholds_ = fit.thresholds
        return fit

    @property
    def solution(self) -> dict[str, FloatArray]:
        """Thresholds, of a loss that has them."""
        return {} if self.thresholds_ is None else {THRESHOLDS: self.thresholds_}

    @cached_property
    def trace_(self) -> pd.DataFrame:  # type: ignore[override]  # it can be set, as others' traces
        """One row per iteration, made when asked for: pandas takes as long as some fits."""
        if "_rows" not in vars(self):
            raise AttributeError("trace_ exists after fit")
        return frame_of(self._rows, TraceRow)

    def duals(self, data: RankingData) -> SlopeDuals:
        """Return its dual variables α, one block per query; `data` must be its training data.

        Raises `SettingError` for a loss that is no sum over preference pairs.
        """
        if not loss_of(self.loss).of_pairs:
            raise SettingError(
                f"the {loss_of(self.loss).label} loss is no sum over preference pairs, so no pair has a dual "
                "variable; choose a loss of pairs, such as loss='squared_hinge'"
            )
        costs, trace = self._costs(data, self.query_weights_), getattr(self, "trace_", pd.DataFrame())
        loss, gap = end_of_training(self.loss, float(self.C), data, costs, trace)
        return SlopeDuals(data, self.predict(data.X), float(self.C), loss, costs, gap)

    def _risk(self, data: RankingData, weights: FloatArray | None = None) -> Risk:
        return risk_of(data.y, data.ptr, self._first_loss(), self._costs(data, weights))

    def _first_loss(self) -> AnyLoss:
        """Return the initial loss of training, with its settings."""
        return loss_of(self.loss).with_settings(self._value_of).surrogate()

    def _costs(self, data: RankingData, weights: FloatArray | None = None) -> PairCosts:
        costs = pair_costs(frozen_costs(self.costs), data.y, data.ptr)
        return costs if weights is None else costs.weighed(weights)

    def restore(self, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Set its query weights; ValueError if gap or number of steps differ from the end of its trace."""
        self.weighed_digest_ = str(meta["weighed_digest"])
        weights = arrays.get("query_weights")
        self.query_weights_ = None if weights is None else shaped(arrays, "query_weights", len(weights))
        theta = arrays.get(THRESHOLDS)
        self.thresholds_ = None if theta is None else shaped(arrays, THRESHOLDS, len(theta), 2)
        trace = getattr(self, "trace_", pd.DataFrame())
        if trace.empty:
            return
        if "gap" in trace and hasattr(self, "gap_"):
            last = float(trace["gap"].iloc[-1])
            if self.gap_ != last and not (math.isnan(self.gap_) and math.isnan(last)):
                raise ValueError(f"gap is {self.gap_}, and its trace ends at {last}")
        if "step" in trace and hasattr(self, "n_iter_"):
            steps = int((trace["step"] > 0).sum())
            if self.n_iter_ != steps:
                raise ValueError(f"n_iter is {self.n_iter_}, and its trace has {steps} steps")

    def _solver(self, seed: int) -> Solver:
        preconditioned = PRECONDITIONERS[self.preconditioner].used
        settings = SolverSettings(loss_of(self.loss), self.tol, self.max_iter, preconditioned, seed)
        return SOLVERS[self.solver].make(settings)

    def check_settings(self) -> None:
        """Raise `SettingError` for settings outside their range, or an invalid combination."""
        super().check_settings()
        check_solver(self.solver, loss_of(self.loss))
        check_costs_of(loss_of(self.loss), self.costs)

    def _unused(self) -> Iterator[tuple[Setting, str]]:
        """Yield also a tolerance given with a solver that has its own stopping rule."""
        yield from super()._unused()
        if SOLVERS[self.solver].own_rule and self.tol != TOL.default:
            able = ", ".join(repr(name) for name, choice in SOLVERS.items() if not choice.own_rule)
            words = f"tol={self.tol!r} is not read with solver={self.solver!r}, which has its own rule"
            yield TOL, f"{words}; it is with solver={able}"


def fit_curve(
    model: RankSVM,
    data: RankingData,
    *,
    n_components: Sequence[int] = (),
    C: Sequence[float] = (),
    gamma: Sequence[float] = (),
    callback: Callback | None = None,
) -> Iterator[RankSVM]:
    """Fit copies of a model with every combination of these settings, and yield each when it is done.

    The order is γ outermost, then m, then C, each ascending; omitted settings keep the model's own value.
    Features are computed once, for the largest m, and each fit starts from the weights of an earlier one. The
    results equal those of separate fits to the tolerance `tol`. Maps truncated to a `rank` are not nested, so
    each m then has its own features.

    A `callback` that returns True ends the curve: with the current model if Newton steps have begun,
    otherwise with `StopRequested`. Warns like `fit` if a model's solver ended before its tolerance was met,
    or if all its scores are equal.

    Examples
    --------
    >>> from rankviz import RankSVM, fit_curve
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> for model in fit_curve(RankSVM("fourier"), data, n_components=[20, 10], C=[0.01, 0.1]):
    ...     print(model.n_components, model.C, model.start_)
    10 0.01 zero
    10 0.1 the weights for C = 0.01
    20 0.01 the weights for m = 10
    20 0.1 the weights for m = 10
    """
    require_data(data, "Give fit_curve RankingData.from_arrays(X, y, qid).")
    instance("model", model, RankSVM, "a RankSVM")
    base = clone(model).set_params(random_state=model.seed())
    gammas: list[float | str] = sorted(listed("gamma", gamma)) or [model.gamma]
    ms = sorted(listed("n_components", n_components)) or [model.n_components]
    Cs = sorted(listed("C", C)) or [model.C]
    report, keep = reporter(callback), len(gammas) > 1
    widths = [[m] for m in ms] if model.rank is not None else [ms]
    for nested in widths:
        training = clone(base).set_params(n_components=nested[-1]).training(data, report, keep_arguments=keep)
        for g, m, c in product(gammas, nested, Cs):
            fitted = clone(base).set_params(gamma=g, n_components=m, C=c)
            fitted.warn_of_settings()
            fitted.fit_in(training, report)
            fitted.warn_of_equal_scores(data)
            fitted.warn_of_doubt()
            yield fitted
            if fitted.status_ is Status.STOPPED:
                return
