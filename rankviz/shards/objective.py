"""½‖w‖² + C·risk(Φw) as a sum over shards: solvers run in this process, documents may be elsewhere.

With Φ = B T, a shard stores its rows of the base B; it receives T w and returns Bᵀ r. Each call is one round.
All numbers per document stay with the shards.

See docs/decisions/0011-fits-in-shards.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray, release_pages
from rankviz.common.parallel import SMALL_PRODUCT, sum_of
from rankviz.common.progress import Progress, Report, Stopwatch, silent
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import FittedMap
from rankviz.features.operator import FAR, Basis, FeatureOperator
from rankviz.learning.feature_space import (
    CLOSED_FORM_COLUMNS,
    EXACT_COLUMNS_PER_ITERATION,
    LARGE,
    NOISE,
    PAIRS_PER_COLUMN,
    SPECTRAL_COLUMNS,
    CholeskyPreconditioner,
    DocumentPreconditioner,
    SpectralPreconditioner,
    copy_bytes,
    noise_of,
    pairs_to_sample,
    spread_of_basis,
    wider_than_tall,
)
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.objective import Preconditioner
from rankviz.learning.pairs import PairCosts, count_pairs
from rankviz.learning.risk import RiskFacts
from rankviz.learning.training import MapFamily, Space, Task
from rankviz.shards import part as work
from rankviz.shards.backend import Backend, PerShard, Tell, no_callback
from rankviz.shards.part import cut, leading
from rankviz.shards.storage import Plan


@dataclass(frozen=True, eq=False)
class ShardedRisk:
    """The risk of documents in shards (see `rankviz.learning.risk.RiskFacts`).

    Attributes
    ----------
    loss : AnyLoss
    costs : PairCosts
        Costs of all pairs.
    n_pairs : int
    n_terms : int
    total : (AnyLoss) -> float
        Σ c_ij, fetched from the shards on demand.
    """

    loss: AnyLoss
    costs: PairCosts
    n_pairs: int
    n_terms: int
    total: Callable[[AnyLoss], float]

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        return self.total(self.loss)

    def with_loss(self, loss: AnyLoss) -> ShardedRisk:
        """Return the same with another loss."""
        return replace(self, loss=loss)


FRESH_AFTER = 4
"""Number of steps after which remote shards recompute scores from the weights, instead of from the previous
step. More steps would mean more recomputation after a lost worker; fewer cost a product each."""


@dataclass(frozen=True)
class SummedRisk:
    """Sums over all shards (see `rankviz.learning.risk.RiskSums`), and the number of active pairs of each."""

    value: float
    total_slope: float
    total_curvature: float
    active: tuple[int, ...]

    @property
    def n_active(self) -> int:
        """Number of pairs with c·ℓ'' ≠ 0."""
        return sum(self.active)


@dataclass(frozen=True, eq=False)
class ShardedPoint:
    """Value and gradient at w; scores and risk stay with the shards (see `Point`)."""

    w: FloatArray
    value: float
    gradient: FloatArray
    risk: SummedRisk
    held: PerShard
    backend: Backend
    steps: int = 0
    """Number of steps since scores were computed from weights."""

    @cached_property
    def scores(self) -> FloatArray:
        """f = Φ w, (n,), brought to this process."""
        return np.concatenate([np.zeros(0), *self.backend.gather(work.scores_of, self.held)])

    @property
    def reported_scores(self) -> FloatArray | None:
        """The scores if they are in this process."""
        return self.scores if self.backend.near else None

    def with_value(self, value: float) -> ShardedPoint:
        """Return the same point with another value."""
        return replace(self, value=value)


@dataclass(frozen=True, eq=False)
class ShardedRay:
    """The objective along w + τs; scores and images stay with the shards (see `Ray`)."""

    objective: ShardedObjective
    point: ShardedPoint
    s: FloatArray
    image: PerShard

    def at(self, tau: float) -> tuple[float, Callable[[], float], PerShard]:
        """Return φ'(τ), φ''(τ) as a function, and the trial, which stays with the shards."""
        of, ss = self.objective, float(self.s @ self.s)
        tried = of.map(work.trial, of.shards, of.risk.loss, self.point.held, self.image, tau)
        slope, curvature = (math.fsum(sums) for sums in zip(*of.gather(work.slopes, tried), strict=True))
        return float(self.point.w @ self.s) + tau * ss + of.C * slope, lambda: ss + of.C * curvature, tried

    def end(self, tau: float, risk: PerShard) -> ShardedPoint:
        """Return the point at step τ of a trial; after many steps, recompute it from its weights."""
        of, w, steps = self.objective, self.point.w + tau * self.s, self.point.steps + 1
        if steps == FRESH_AFTER and not of.backend.near:
            return of.at(w)
        return of.assemble(w, of.map(work.stepped, self.point.held, self.image, tau, risk), steps)


@dataclass(eq=False)
class ShardedObjective:
    """½‖w‖² + C Σ_P ℓ((Φw)_i − (Φw)_j) over shards (chen2017 eq. 22 for the squared hinge).

    Attributes
    ----------
    backend : Backend
    shards : PerShard
        Shards of type `Shard`.
    n : int
        Number of documents of all shards.
    basis : Basis
        T (k, m).
    risk : ShardedRisk
    C : float
    seed : int
        Seed of the pairs of the sampled preconditioner.
    copies : bool
        True if shards have memory for a copy of their features in single precision.
    largest : float
        Bound of the bases' entries, at least 1.
    report : Report
        Called while shards work; an exception from it stops them.
    """

    backend: Backend
    shards: PerShard
    n: int
    basis: Basis
    risk: ShardedRisk
    C: float
    seed: int = 0
    copies: bool = False
    largest: float = 1.0
    report: Report = silent
    _rng: np.random.Generator = field(init=False, repr=False)
    _single: bool | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Create the sampled preconditioner's random stream."""
        self._rng = np.random.default_rng(self.seed)

    @property
    def convex(self) -> bool:
        """True if the loss is."""
        return self.risk.loss.convex

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return self.risk.n_pairs

    @property
    def _k(self) -> int:
        return self.basis.shape[0]

    def with_risk(self, risk: ShardedRisk) -> ShardedObjective:
        """Return the same objective with another risk of the same documents."""
        return replace(self, risk=risk)

    def map(self, do: Callable[..., Any], *arguments: Any) -> PerShard:
        """Call `Backend.map`, with progress of training."""
        return self.backend.map(do, *arguments, tell=self._tell if self.backend.near else no_callback)

    def gather(self, do: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `Backend.gather`, with progress of training."""
        return self.backend.gather(do, *arguments, tell=self._tell)

    def _tell(self, done: int, of: int) -> None:
        if done < of:
            self.report(Progress("newton", shards=(done, of)))

    def start(self) -> FloatArray:
        """Return the initial weights: zeros (m,)."""
        return np.zeros(self.basis.shape[1])

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return the Euclidean inner product aᵀb."""
        return float(a @ b)

    def at(self, w: FloatArray) -> ShardedPoint:
        """Return value and gradient at w (m,): one round."""
        v = self.basis.expand(w)
        return self.assemble(w, self.map(work.evaluated, self.shards, self.risk.loss, v))

    def assemble(self, w: FloatArray, held: PerShard, steps: int = 0) -> ShardedPoint:
        """Return the point at w, whose scores and risk are with the shards."""
        parts: list[work.Sums] = self.gather(work.sums, self.shards, held, self._k)
        risk = SummedRisk(
            math.fsum(part.value for part in parts),
            math.fsum(part.total_slope for part in parts),
            math.fsum(part.total_curvature for part in parts),
            tuple(part.n_active for part in parts),
        )
        gradient = w + self.C * self.basis.contract(_sum([part.pull for part in parts]))
        value = 0.5 * float(w @ w) + self.C * risk.value
        return ShardedPoint(w, value, gradient, risk, held, self.backend, steps)

    def limit(self, point: ShardedPoint) -> tuple[float, float]:
        """Return the risk of the original loss at a point, and the smoothing term of the gap."""
        found = self.gather(work.limit, self.shards, self.risk.loss, point.held)
        risk, slack = zip(*found, strict=True)
        return math.fsum(risk), math.fsum(slack)

    def hessian_product(self, point: ShardedPoint, s: FloatArray) -> FloatArray:
        """Return H s = s + C Φᵀ R Φ s (chen2017 eq. 25): one round."""
        v, single = self.basis.expand(s), self._in_single(point)
        pulls = self.gather(work.curved, self.shards, point.held, v, single)
        return s + self.C * self.basis.contract(_sum(pulls))

    def ray(self, point: ShardedPoint, s: FloatArray) -> ShardedRay:
        """Return the objective from a point along s (m,)."""
        return ShardedRay(self, point, s, self.map(work.image, self.shards, self.basis.expand(s)))

    def preconditioner(self, point: ShardedPoint, report: Report = silent) -> Preconditioner:
        """Return an approximate inverse Hessian: closed form for narrow maps, sampled pairs for wide ones.

        With more features than documents it is exact.
        """
        if wider_than_tall(self.n, self.basis.shape):
            return self.exact_preconditioner(point, report)
        if self.risk.loss.quadratic and self._k <= SPECTRAL_COLUMNS:
            gram = _sum(self.gather(work.active_gram, self.shards, point.held, self._k))
            return SpectralPreconditioner.of(self.basis.contract(self.basis.contract(gram).T).T, self.C)
        # away from zero many sampled pairs are as good as the closed form, and cost less
        closed = self._k <= CLOSED_FORM_COLUMNS and not (point.w.any() and many_pairs(self.n, self._k))
        return self._closed_form(point) if closed else self._sampled(point, report)

    @property
    def patience(self) -> int:
        """Number of CG iterations that cost about as much as forming the Hessian."""
        return math.ceil(min(self.n, self._k) / EXACT_COLUMNS_PER_ITERATION)

    def exact_preconditioner(self, point: ShardedPoint, report: Report = silent) -> Preconditioner:
        """Return the inverse of the Hessian at a point, with Gram matrices summed over shards.

        With more features than documents, features are brought to this process and factored in the space of
        documents: (n, k) and (n, n) are smaller than a Gram matrix (k, k).
        """
        report(Progress("newton"))
        if wider_than_tall(self.n, self.basis.shape):
            rows = np.concatenate(self.gather(work.features, self.shards, self._k))
            roots = [S for part in self.gather(work.roots, self.shards, point.held) for S in part]
            features = FeatureOperator(rows.astype(np.float64, copy=False), self.basis)
            return DocumentPreconditioner.of(features, roots, self.C)
        return self._inverse(1.0, self.gather(work.active_gram, self.shards, point.held, self._k), "exact")

    def _closed_form(self, point: ShardedPoint) -> CholeskyPreconditioner:
        """Return the inverse of I + C·share·ΦᵀL₀Φ with all pairs, share = Σ c·ℓ''/Σ c."""
        total = self.risk.total_cost
        share = point.risk.total_curvature / total if total > 0 else 0.0
        grams = self.gather(work.all_pairs_gram, self.shards, self.risk.loss, self._k)
        return self._inverse(share, grams, "closed form", is_inverse=not point.w.any())

    def _inverse(
        self, share: float, grams: Sequence[FloatArray], kind: str, *, is_inverse: bool = False
    ) -> CholeskyPreconditioner:
        M = self.C * share * self.basis.contract(self.basis.contract(_sum(grams)).T).T
        M[np.diag_indices(len(M))] += 1.0
        return CholeskyPreconditioner.of(M, kind, is_inverse=is_inverse)

    def _sampled(self, point: ShardedPoint, report: Report) -> CholeskyPreconditioner:
        """Return the inverse of I + C·(active/sampled) Σ_sample ℓ''(φ_i − φ_j)(φ_i − φ_j)ᵀ over active pairs.

        Shards are sampled in proportion to their active pairs.
        """
        m, active = self.basis.shape[1], np.array(point.risk.active)
        n_active, size = int(active.sum()), pairs_to_sample(self.n, m)
        share = active / n_active if n_active else np.full(len(active), 1 / len(active))
        counts = active if n_active <= size else np.minimum(self._rng.multinomial(size, share), active)
        seeds = self._rng.integers(2**63, size=len(active)).tolist()
        rows = self.gather(
            work.sampled,
            self.shards,
            point.held,
            self._k,
            self.backend.scatter(counts.tolist()),
            self.backend.scatter(seeds),
            self._in_single(point),
        )
        report(Progress("newton"))

        def square(differences: FloatArray) -> FloatArray:
            B = self.basis.contract(differences.T.astype(np.float64))
            return B @ B.T

        count = sum(map(len, rows))
        M = sum_of(square, rows, np.zeros((m, m)), count * m**2 >= SMALL_PRODUCT)
        M *= self.C * n_active / max(count, 1)
        M[np.diag_indices(m)] += 1.0
        report(Progress("newton"))
        return CholeskyPreconditioner.of(M, "sampled pairs")

    def _in_single(self, point: ShardedPoint) -> bool:
        """Return True if Hessian products are in single precision; the first point decides."""
        if self._single is None:
            self._single = self.copies and self.largest * self._noise(point) <= NOISE
        return self._single

    def _noise(self, point: ShardedPoint) -> float:
        # R has one block per shard, so its norm is the largest of theirs
        stiffest = max(self.gather(work.stiffness, self.shards, point.held))
        return noise_of(self.n, self._k, self.C * stiffest * spread_of_basis(self.basis))


def _sum(parts: Sequence[FloatArray]) -> FloatArray:
    total = np.zeros_like(parts[0])
    for part in parts:
        total += part
    return total


def many_pairs(n: int, k: int) -> bool:
    """Return True if sampled pairs of (n, k) are as good a preconditioner as the closed form, and cheaper."""
    return pairs_to_sample(n, k) == PAIRS_PER_COLUMN * k


SHARE = 1 / 16
"""Share of the queries to train on first. Its Newton steps cost about one product with all features, and save
half of the others."""
SAMPLED = 4 * LARGE
"""Entries of the features from which this pays; break-even was at half of it."""


class ShardedSpace(Space):
    """Weights of feature maps, with objectives that are sums over shards; features are computed once per γ.

    Parameters
    ----------
    family : MapFamily
        Maps outside the kernel's own space.
    data : RankingData
    loss : AnyLoss
        The first loss of training.
    costs : PairCosts
    backend : Backend
    plan : Plan
    """

    def __init__(
        self,
        family: MapFamily,
        data: RankingData,
        loss: AnyLoss,
        costs: PairCosts,
        backend: Backend,
        plan: Plan,
    ) -> None:
        super().__init__(family, data.X)
        self.backend, self._costs, self._loss, self.plan = backend, costs, loss, plan
        self._n_pairs = int(count_pairs(data.y, data.ptr).sum())
        parts = cut(data, plan.shards, loss, costs)
        self._in_sample = sum(int(part.ptr[leading(part.ptr, SHARE)]) for part in parts)
        self._parts = backend.scatter(parts)
        self._of: FittedMap | None = None
        self._shards: PerShard | None = None
        self._featured_seconds = 0.0

    def risk(self) -> ShardedRisk:
        """Return the facts about the risk of all documents."""
        n_terms = self._n_pairs if self._loss.of_pairs else len(self.X)
        return ShardedRisk(self._loss, self._costs, self._n_pairs, n_terms, self._total_cost)

    def objective(
        self, task: Task, risk: ShardedRisk, seed: int, report: Report = silent
    ) -> ShardedObjective:
        """Return ½‖w‖² + C·risk(Φw) over shards."""
        fitted = self.map(task, report)
        shards, basis = self._featured(task.gamma, report), self.plan.storage.basis(fitted.basis)
        n, k = len(self.X), basis.shape[0]
        if task.share < 1.0:
            return self._on_sample(task, shards, basis, risk, seed, report)
        copies = self.plan.spare > 0 and copy_bytes(n, k) > 0 and fitted.basis.nested
        largest = max(1.0, largest_value(fitted.kernel, self.X))
        return ShardedObjective(self.backend, shards, n, basis, risk, task.C, seed, copies, largest, report)

    def _on_sample(
        self, task: Task, shards: PerShard, basis: Basis, risk: ShardedRisk, seed: int, report: Report
    ) -> ShardedObjective:
        """Return the objective of the first queries of each shard, with C for the cost of all pairs."""
        some = self.backend.map(work.first_queries, shards, task.share)
        n_pairs, n_terms, costs = zip(*self.backend.gather(work.amounts, some, risk.loss), strict=True)
        cost = math.fsum(costs)
        few = replace(risk, n_pairs=sum(n_pairs), n_terms=sum(n_terms), total=lambda loss: cost)
        C = task.C * risk.total_cost / cost if cost > 0.0 else task.C
        return ShardedObjective(self.backend, some, self._in_sample, basis, few, C, seed, report=report)

    def coarser(self, task: Task, risk: RiskFacts) -> Task | None:
        """Return the task on a sample of queries if products with all features take long; or fewer features.

        A quadratic risk needs one solve only, and without convexity the end depends on the start. From zero
        the closed form of a narrow map makes the first step free; sampled pairs make up for that.
        """
        n, k = len(self.X), self.map(task).basis.shape[0]
        long = n * k >= SAMPLED and (k > CLOSED_FORM_COLUMNS or many_pairs(n, k))
        suits = risk.loss.convex and not risk.loss.quadratic and self._in_sample <= 2 * SHARE * n
        if task.share == 1.0 and long and suits:
            return replace(task, share=SHARE)
        return super().coarser(task, risk)

    def seconds(self, task: Task) -> float:
        """Return the seconds of the draw, and of the map's share of factor and features."""
        fitted = self.map(task)
        return self.family.seconds(fitted) + self.family.share(fitted) * self._featured_seconds

    def _featured(self, gamma: float, report: Report) -> PerShard:
        """Return the shards with the features of the widest map at γ."""
        widest = self.family.widest(gamma, report)
        if self._shards is None or self._of is not widest:
            self._shards, clock = None, Stopwatch()

            def tell(done: int, of: int) -> None:
                report(Progress("features", done / of, shards=(done, of)))

            release_pages(self.X)  # free pages read by checks of the data: features need the memory
            self._of, self._shards = widest, self._with_features(widest, tell)
            clock.lap("features")
            self._featured_seconds = clock.laps["features"]
        return self._shards

    def _with_features(self, widest: FittedMap, tell: Tell) -> PerShard:
        if widest.kernel is None:  # the documents are the features: nothing to compute or store
            return self.backend.map(work.with_documents, self._parts, self._far_columns(), tell=tell)
        return self.backend.map(work.with_features, self._parts, widest, self.plan.storage, tell=tell)

    def _far_columns(self) -> IntArray:
        """Return the columns of X whose largest value exceeds FAR times the largest spread within a query."""
        seen = self.backend.gather(work.column_ranges, self._parts)
        size, spread = (np.max(found, axis=0) for found in zip(*seen, strict=True))
        likely = np.flatnonzero(size > FAR * spread)
        if len(likely) == 0:
            return likely
        widest = np.max(self.backend.gather(work.column_spreads, self._parts, likely), axis=0)
        return np.asarray(likely[size[likely] > FAR * widest], np.int64)

    def _total_cost(self, loss: AnyLoss) -> float:
        return math.fsum(self.backend.gather(work.total_cost, self._parts, loss))
