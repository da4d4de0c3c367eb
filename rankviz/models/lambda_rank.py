"""LambdaRank and LambdaLoss on any feature map: RankNet with weights that follow the present ranking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.numbers import counted
from rankviz.common.progress import Report
from rankviz.common.settings import Real, Setting, Steps, Typed, Whole
from rankviz.datasets.types import RankingData
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.dcg import discounts, gains, ideal, places
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSS_WEIGHT, LOSSES
from rankviz.learning.newton import TruncatedNewton, conjugate_gradients, exact_step
from rankviz.learning.objective import ScoredPoint, Status
from rankviz.learning.pairs import PreferencePairs, count_pairs
from rankviz.learning.risk import PairRisk
from rankviz.learning.solvers import TOL
from rankviz.models.map_ranker import MapRanker, Problem, Trained
from rankviz.models.ranker import Outcome
from rankviz.models.rounds import KEPT, PATIENCE, Watch

CG_RTOL, CG_ITERATIONS = 0.1, 100
"""Accuracy and most iterations of the direction of a Newton step."""

REWEIGHTINGS = Setting(
    name="reweightings",
    symbol="reweightings",
    label="Reweightings",
    domain=Whole(1, 10_000),
    default=30,
    help="Largest number of Newton steps, with new weights of pairs before each. Early stopping may keep "
    "fewer.",
    key="reweight",
    offer=Typed(1, 1000, 10),
    caption=lambda n: counted(n, "reweighting"),
    quiet=True,
)

MU = Setting(
    name="mu",
    symbol="μ",
    label="Share of the gap of ranks, μ",
    domain=Real(0.0),
    default=10.0,
    help="Weight of a pair by the gap of its ranks, besides |ΔNDCG|. 0 is LambdaRank.",
    key="gapweight",
    offer=Steps((0.0, 1.0, 5.0, 10.0, 20.0, 100.0)),
)


def lambda_weights(
    f: FloatArray, y: IntArray, ptr: IntArray, pairs: PreferencePairs, mu: float = 0.0
) -> FloatArray:
    """Return (ρ_ij + μ δ_ij)(G_i − G_j)/Z of each pair at the ranking by scores f (n,) -> (p,).

    G = 2^y − 1, Z is the ideal DCG. ρ_ij = |D_i − D_j| with discounts D = 1/log₂(1 + rank), so ρ_ij (G_i −
    G_j)/Z is |ΔNDCG| of a swap (burges2010). δ_ij = 1/log₂(1 + |i − j|) − 1/log₂(2 + |i − j|) with the gap
    of their ranks (wang2018). Equal scores share the mean of their ranks and of their discounts: a swap
    of them changes no mean NDCG.
    """
    order, rank = places(f, ptr)
    sizes, n = np.diff(ptr), len(f)
    query = np.arange(len(sizes)).repeat(sizes)
    new = np.ones(n, bool)
    new[1:] = (np.diff(f[order]) != 0) | (np.diff(query) != 0)
    group = np.cumsum(new) - 1
    mean_rank, discount = np.empty(n), np.empty(n)
    for out, values in ((mean_rank, rank), (discount, discounts(int(sizes.max(initial=1)))[rank])):
        out[order] = (np.bincount(group, values) / np.bincount(group))[group]
    gain, i, j = gains(y), pairs.winner, pairs.loser
    weight = np.abs(discount[i] - discount[j])
    if mu:
        gap = np.maximum(np.abs(mean_rank[i] - mean_rank[j]), 1.0)
        weight += mu * (1.0 / np.log2(1.0 + gap) - 1.0 / np.log2(2.0 + gap))
    found: FloatArray = weight * (gain[i] - gain[j]) / ideal(y, ptr)[query[i]]
    return found


def frozen(risk: PairRisk, weight: FloatArray) -> PairRisk:
    """Return the risk of the same pairs with these fixed weights (p,)."""
    other = replace(risk)
    vars(other).update({"pairs": risk.pairs, "_weight": weight})
    return other


def newton_step(objective: RankObjective, point: ScoredPoint, tol: float) -> ScoredPoint:
    """Return the point after a Newton step; the point itself if its decrement is at most tol · objective."""
    direction = conjugate_gradients(
        lambda s: objective.hessian_product(point, s),
        -point.gradient,
        objective.preconditioner(point),
        rtol=CG_RTOL,
        max_iterations=CG_ITERATIONS,
        floor=tol * point.value,
    ).s
    slope = float(point.gradient @ direction)
    if 0.5 * abs(slope) <= tol * point.value:
        return point
    ray = objective.ray(point, direction)
    return ray.end(*exact_step(ray, slope))


@dataclass(eq=False, repr=False)
class LambdaRank(MapRanker):
    """LambdaRank: RankNet's loss of pairs, each weighted by |ΔNDCG| of a swap in the present ranking.

    Each round computes the weights at the present ranking, and takes one Newton step on
    ½‖w‖² + C Σ c_ij log(1 + e^−(f_i − f_j)) with these weights. The first round is RankNet, with equal
    weights. No fixed function is minimised: burges2010 gives the gradients only. Training ends at a fixed
    point (w minimises the objective of its own ranking), by early stopping, or after the last round. It
    may also go round in a cycle, because weights jump where two documents change places.

    Parameters
    ----------
    reweightings, patience : int
        Largest number of Newton steps, and steps without a higher validation NDCG@10 before training ends.
        Others as in `RankSVM`.

    Attributes
    ----------
    n_rounds_ : int
        Rounds that the model keeps.
    objective_ : float
        The objective with the weights of the model's own ranking.

    Examples
    --------
    >>> from rankviz import LambdaRank
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = LambdaRank(C=8.0).fit(data.X, data.y, qid=data.qid)
    >>> model.n_rounds_ <= 30
    True
    """

    reweightings: int = 30
    patience: int = 50

    settings: ClassVar[tuple[Setting, ...]] = (LOSS_WEIGHT, FEATURE_MAP, REWEIGHTINGS, PATIENCE, TOL)
    kept = (KEPT, "own")

    def weights_at(self, f: FloatArray, data: RankingData, pairs: PreferencePairs) -> FloatArray:
        """Return the weights of pairs at scores f (n,)."""
        return lambda_weights(f, data.y, data.ptr, pairs)

    def entries(self, data: RankingData) -> int:
        """Preference pairs, which are listed."""
        return int(count_pairs(data.y, data.ptr).sum())

    def train(self, problem: Problem, report: Report) -> Trained:
        """Take rounds until a fixed point, early stopping or the last one."""
        data, fitted = problem.data, problem.space.map(problem.task)
        parts = [data] if problem.validation is None else [data, problem.validation]
        others = [fitted.operator(part.X) for part in parts[1:]]
        risk = PairRisk(data.y, data.ptr, LOSSES["logistic"])
        objective = problem.objective(risk, report)
        point, status = TruncatedNewton(tol=self.tol).solve(objective).point, Status.ROUNDS
        watch = Watch(parts, self.reweightings, self.patience, report)
        ends: list[tuple[FloatArray, float]] = []
        while True:
            objective = objective.with_risk(frozen(risk, self.weights_at(point.scores, data, risk.pairs)))
            point = objective.at(point.w)
            ends.append((point.w, point.value))
            over = watch([point.scores, *(features.product(point.w) for features in others)])
            watch.rows[-1]["gradient_norm"] = float(np.linalg.norm(point.gradient))
            if over or len(ends) >= self.reweightings:
                break
            following = newton_step(objective, point, self.tol)
            if following is point:
                status = Status.FIXED
                break
            point = following
        self.n_rounds_ = watch.kept
        w, value = ends[self.n_rounds_ - 1]
        if watch.stopped or self.n_rounds_ < len(ends):
            status = Status.STOPPED if watch.stopped else Status.ROUNDS
        return Trained(fitted, w, value, status, pd.DataFrame(watch.rows))

    def unfitted(self) -> LambdaRank:
        """Return an unfitted copy that takes as many rounds as this model, on any data."""
        copy: LambdaRank = super().unfitted()
        return copy.set_params(reweightings=self.n_rounds_, patience=0)  # type: ignore[no-any-return]

    def outcome(self) -> Outcome:
        """Return weights and trace, without an objective: none is fixed."""
        return replace(super().outcome(), objective=float("nan"))

    @property
    def solution(self) -> dict[str, FloatArray]:
        """Rounds, and the objective of the model's own ranking."""
        return {KEPT: np.array([float(self.n_rounds_)]), "own": np.array([self.objective_])}

    def keep(self, solution: dict[str, FloatArray]) -> None:
        """Set what `solution` has."""
        self.n_rounds_, self.objective_ = int(solution[KEPT].item()), float(solution["own"].item())


@dataclass(eq=False, repr=False)
class LambdaLoss(LambdaRank):
    """LambdaLoss with NDCG-Loss2++: LambdaRank's weights, and μ times those by the gap of ranks (wang2018).

    wang2018 optimises trees; a round is then an M-step of its procedure. Its loss has log₂, ours the natural
    logarithm: C differs by ln 2.

    Parameters
    ----------
    mu : float
        μ ≥ 0; others as in `LambdaRank`.

    Examples
    --------
    >>> from rankviz import LambdaLoss
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = LambdaLoss(C=8.0, mu=5.0).fit(data.X, data.y, qid=data.qid)
    >>> bool(model.trace_["training"].iloc[-1] > model.trace_["training"].iloc[0])
    True
    """

    mu: float = 10.0

    settings = (*LambdaRank.settings, MU)

    def weights_at(self, f: FloatArray, data: RankingData, pairs: PreferencePairs) -> FloatArray:
        """Return the weights of pairs at scores f (n,)."""
        return lambda_weights(f, data.y, data.ptr, pairs, float(self.mu))
