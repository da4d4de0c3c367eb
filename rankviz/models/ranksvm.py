"""RankSVM with scikit-learn's conventions: settings in the constructor, fit(X, y, qid=...)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Report, reporter, silent
from rankviz.common.settings import Setting
from rankviz.datasets.query_weights import documents_digest
from rankviz.datasets.types import RankingData
from rankviz.features.family import MapFamily
from rankviz.learning import Risk, risk_of
from rankviz.learning.costs import Costs, frozen_costs, pair_costs
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory_check import Room, room_for
from rankviz.learning.result import Solver
from rankviz.learning.risk_settings import COSTS, LOSS, LOSS_WEIGHT
from rankviz.learning.solver_settings import PRECONDITIONERS, TOL
from rankviz.learning.solvers import SOLVER, SOLVERS, SolverSettings, check_kernel_space, check_solver
from rankviz.learning.spaces import KernelSpace, Space, Task, space_of
from rankviz.learning.training import Fit, Training
from rankviz.models.extremes import refuse_drowned, refuse_huge_kernel, refuse_huge_weight
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.inputs import refuse_unusable
from rankviz.models.settings import FEATURE_MAP
from rankviz.shards.backend import Backend
from rankviz.shards.plan import Plan, check_solver_in_shards, plan_for
from rankviz.shards.space import ShardedSpace


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
    loss : {"squared_hinge", "huber", "hinge", "logistic", "logistic_pwq", "smooth_hinge"}
        ℓ, one of `LOSSES` in `rankviz.learning.losses`. "logistic" and "smooth_hinge" list their pairs.
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
        Bytes that training may use; a fit that needs more is refused before it starts. None: 70 % of the free
        memory. The exact map stores its kernel as precisely as this allows.
    costs : None, "query", "grade", "grade_query", "slack", "margin", a table, or ("query", a table)
        Cost of a pair: one; he2009's weights μ of queries, λ of grades, or both; chapelle2010's DCG
        differences, as weights or as margins; or λ[r][s] for grade r preferred to grade s, alone or with μ.
    solver : {"newton", "newton_yuan", "sgd_query", "sgd_pair", "lbfgs", …}
        The solver; "newton" supports every loss and map, the others are for comparison (see
        `rankviz.learning.solvers.SOLVERS`). "newton_yuan" uses he2009's own tolerance.
    kernel : {"rbf", "laplacian", "polynomial", "linear"}
        κ(x, z) of all maps but the linear one, as in scikit-learn's pairwise kernels: exp(−γ‖x − z‖²),
        exp(−γ‖x − z‖₁), (γ⟨x, z⟩ + coef0)^degree, ⟨x, z⟩ (see `rankviz.features.KERNELS`).
    degree : int
        Degree of the polynomial kernel.
    coef0 : float
        Constant of the polynomial kernel, at least 0, because otherwise it is not positive semidefinite.

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
        One row per iteration (see `rankviz.learning.result.TraceRow`).
    memory_need_ : int
        Bytes counted for training before it started. Optional memory is not counted: the matrix of an exact
        kernel, and a copy of wide features in single precision.
    query_weights_ : (Q,) float64 or None
        Weights of the training queries, if `fit` was given `sample_weight`.
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

    query_weights_: FloatArray | None = None
    weighed_digest_: str = ""

    settings = (LOSS_WEIGHT, FEATURE_MAP, LOSS, COSTS, SOLVER, TOL)

    def __init__(
        self,
        feature_map: str = "linear",
        n_components: int = 500,
        gamma: float | str = "scale",
        C: float = 2.0**-7,
        loss: str = "squared_hinge",
        random_state: int | np.random.RandomState | None = 0,
        rank: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        preconditioner: str = "auto",
        landmarks: str = "uniform",
        frequencies: str = "gaussian",
        memory_limit: float | None = None,
        costs: Costs | ArrayLike = None,
        solver: str = "newton",
        kernel: str = "rbf",
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.feature_map = feature_map
        self.n_components = n_components
        self.gamma = gamma
        self.C = C
        self.loss = loss
        self.random_state = random_state
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.preconditioner = preconditioner
        self.landmarks = landmarks
        self.frequencies = frequencies
        self.memory_limit = memory_limit
        self.costs = costs
        self.solver = solver
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0

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
        plan, seed = self.shard_plan(data, where), self.seed()
        self.memory_need_ = plan.need
        family = MapFamily(self.unfitted_map(1.0, seed), data.X, report)
        costs = pair_costs(frozen_costs(self.costs), data.y, data.ptr)
        space = ShardedSpace(family, data, LOSSES[self.loss].surrogate(), costs, where, plan)
        return Training(space, space.risk, self._solver(seed), seed)

    def shard_plan(self, data: RankingData, where: Backend) -> Plan:
        """Return the plan of `fit_in_shards`; raise the same errors."""
        self.check_settings()
        check_solver_in_shards(self.solver)
        refuse_unusable(data)
        refuse_drowned(self.kernel_at(1.0), data)
        m = int(self.n_components)
        limit = None if self.memory_limit is None else float(self.memory_limit)
        return plan_for(data, self.feature_map, self.kernel, m, self.loss, where, limit)

    def fit_weighted(self, data: RankingData, weights: FloatArray, callback: Callback | None = None) -> Self:
        """Train with query weights s > 0, (Q,): C Σ_q s_q Σ_pairs …, as if each query occurred s times."""
        return self._fit(data, weights, callback)

    def _fit(self, data: RankingData, weights: FloatArray | None, callback: Callback | None) -> Self:
        report = reporter(callback)
        self.fit_in(self.training(data, report, weights=weights), report)
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
        room = self.room(data)
        self.memory_need_ = room.need
        seed = self.seed()
        family = MapFamily(self.unfitted_map(1.0, seed), data.X, report)
        space = space_of(family, data.X, room.left, keep_arguments=keep_arguments)
        if isinstance(space, KernelSpace):
            check_kernel_space(self.solver, data.n_documents)
        return self.training_in(space, data, seed, weights)

    def room(self, data: RankingData) -> Room:
        """Check settings; return the memory that training needs and leaves; DataError if it does not fit."""
        self.check_settings()
        refuse_unusable(data)
        refuse_drowned(self.kernel_at(1.0), data)
        limit = None if self.memory_limit is None else float(self.memory_limit)
        m = int(self.n_components)
        return room_for(data, self.feature_map, self.kernel, m, self.loss, self.solver, limit)

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
        X = training.space.X
        self.gamma_ = self.gamma_for(X)
        refuse_huge_kernel(self.kernel_at(self.gamma_), X)
        refuse_huge_weight(float(self.C), training.weight(report))
        task = Task(int(self.n_components), self.gamma_, float(self.C), alone)
        try:
            fit = training.fit(task, report)
        except np.linalg.LinAlgError as error:
            raise SettingError(
                f"{error}: the numbers of this problem differ by more than double precision can hold; choose "
                "a smaller C, gamma, coef0 or degree, or normalise the features"
            ) from error
        self.feature_map_, self.n_pairs_ = fit.map, fit.n_pairs
        self.n_components_ = fit.map.n_components
        self.learned(X.shape[1])
        self.coef_, self.objective_ = fit.coefficients, fit.result.point.value
        self.status_, self.trace_ = fit.result.status, fit.result.frame
        self.gap_ = float(self.trace_["gap"].iloc[-1]) if len(self.trace_) else float("nan")
        self.n_iter_ = int((self.trace_["step"] > 0).sum())
        self.start_, self.seconds_, self.query_weights_ = fit.start, fit.seconds, None
        return fit

    def _risk(self, data: RankingData, weights: FloatArray | None = None) -> Risk:
        costs = pair_costs(frozen_costs(self.costs), data.y, data.ptr)
        costs = costs if weights is None else costs.weighed(weights)
        return risk_of(data.y, data.ptr, LOSSES[self.loss].surrogate(), costs)

    def _solver(self, seed: int) -> Solver:
        preconditioned = PRECONDITIONERS[self.preconditioner].used
        settings = SolverSettings(LOSSES[self.loss], self.tol, self.max_iter, preconditioned, seed)
        return SOLVERS[self.solver].make(settings)

    def check_settings(self) -> None:
        """Raise `SettingError` for settings outside their range, or an invalid combination."""
        super().check_settings()
        check_solver(self.solver, LOSSES[self.loss])

    def _unread(self) -> Iterator[tuple[Setting, str]]:
        """Yield also a tolerance given with a solver that has its own stopping rule."""
        yield from super()._unread()
        if SOLVERS[self.solver].own_rule and self.tol != TOL.default:
            able = ", ".join(repr(name) for name, choice in SOLVERS.items() if not choice.own_rule)
            words = f"tol={self.tol!r} is not read with solver={self.solver!r}, which has its own rule"
            yield TOL, f"{words}; it is with solver={able}"
