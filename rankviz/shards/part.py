"""One shard: documents of some queries with their risk and features, and the work on them.

Functions here are the work (see `rankviz.shards.backend`). They take items stored for one shard and arguments
common to all, and store nothing. `cut` cuts data between queries into parts of similar work.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData
from rankviz.features.maps import FittedMap
from rankviz.features.operator import moved_to_zero, sizes, spreads
from rankviz.learning.feature_space import curvature_roots, largest_eigenvalue
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.pairs import PairCosts, grade_codes
from rankviz.learning.risk import Risk, RiskPoint, limit_of
from rankviz.learning.sorted_risk import risk_of
from rankviz.shards.storage import Base, FeatureStorage, Stored


@dataclass(frozen=True, eq=False)
class Part:
    """Documents of whole queries.

    Attributes
    ----------
    X : (n, d) float64
    y : (n,) int64
        Relevance grades.
    ptr : (Q + 1,) int64
        Query offsets.
    loss : AnyLoss
        The first loss to be used; other losses share its prepared parts.
    costs : PairCosts
        Costs of these queries, and of the grades that occur here.
    """

    X: FloatArray
    y: IntArray
    ptr: IntArray
    loss: AnyLoss
    costs: PairCosts

    @cached_property
    def _risk(self) -> Risk:
        return risk_of(self.y, self.ptr, self.loss, self.costs)

    def risk(self, loss: AnyLoss) -> Risk:
        """Return the risk of its documents with a loss."""
        return self._risk if loss == self.loss else self._risk.with_loss(loss)

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, so that Dask does not treat it as small."""
        return int(self.X.nbytes + self.y.nbytes + self.ptr.nbytes)


@dataclass(frozen=True, eq=False)
class Shard:
    """A part with the features of the widest map; narrower maps use the first columns."""

    part: Part
    base: Base

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays."""
        return self.part.__sizeof__() + self.base.__sizeof__()


class Evaluated(NamedTuple):
    """Scores (n,) of a shard, the risk there, and ∂risk·base, (k,), if computed."""

    scores: FloatArray
    risk: RiskPoint
    pull: FloatArray | None = None


class Sums(NamedTuple):
    """A shard's share of the sums at a point; `pull` is ∂risk·base, (k,)."""

    value: float
    total_slope: float
    total_curvature: float
    n_active: int
    pull: FloatArray


class Trial(NamedTuple):
    """The risk at scores + τ·image of a shard, and its share of φ'(τ) and φ''(τ)."""

    risk: RiskPoint
    slope: float
    curvature: float


def with_features(part: Part, fitted: FittedMap, storage: FeatureStorage) -> Shard:
    """Return a part with its features."""
    return Shard(part, storage.base(part.X, fitted))


def with_documents(part: Part, columns: IntArray) -> Shard:
    """Return a part with its documents as features, after shifting these columns towards zero by query."""
    return Shard(part, Stored(moved_to_zero(part.X, part.ptr, columns)))


def leading(ptr: IntArray, share: float) -> int:
    """Return the number of leading queries with about this share of the documents, at least one."""
    return max(1, int(np.searchsorted(ptr, share * ptr[-1])))


def first_queries(shard: Shard, share: float) -> Shard:
    """Return a shard's first queries, with about this share of its documents: views of its arrays."""
    part, count = shard.part, leading(shard.part.ptr, share)
    few = _queries(part, 0, count, part.loss, part.costs)
    return Shard(few, shard.base.first(len(few.y)))


def amounts(shard: Shard, loss: AnyLoss) -> tuple[int, int, float]:
    """Return a shard's number of pairs, of terms of the risk, and Σ c_ij."""
    risk = shard.part.risk(loss)
    return risk.n_pairs, risk.n_terms, risk.total_cost


def column_ranges(part: Part) -> tuple[FloatArray, FloatArray]:
    """Return each column's largest absolute value, and its spread in the longest query; (d,) each."""
    if len(part.X) == 0:
        return sizes(part.X), sizes(part.X)
    longest = int(np.diff(part.ptr).argmax())
    return sizes(part.X), np.ptp(part.X[part.ptr[longest] : part.ptr[longest + 1]], axis=0)


def column_spreads(part: Part, columns: IntArray) -> FloatArray:
    """Return the largest spread within a query for these columns of X."""
    return spreads(part.X[:, columns], part.ptr)


def total_cost(part: Part, loss: AnyLoss) -> float:
    """Return Σ c_ij over the pairs of a part."""
    return part.risk(loss).total_cost


def all_pairs_gram(shard: Shard, loss: AnyLoss, k: int) -> FloatArray:
    """Return the Gram matrix of all pairs on the first k columns, (k, k)."""
    return shard.part.risk(loss).all_pairs.gram(shard.base.array(k))


def evaluated(shard: Shard, loss: AnyLoss, v: FloatArray) -> Evaluated:
    """Return scores base·v, the risk there and its gradient."""
    features = shard.base.columns(len(v))
    scores = features.product(v)
    risk = shard.part.risk(loss).at(scores)
    return Evaluated(scores, risk, features.adjoint(risk.gradient))


def sums(shard: Shard, point: Evaluated, k: int) -> Sums:
    """Return a shard's share of the sums at a point."""
    risk, pull = point.risk, point.pull
    if pull is None:
        pull = shard.base.columns(k).adjoint(risk.gradient)
    return Sums(risk.value, risk.total_slope, risk.total_curvature, risk.n_active, pull)


def scores_of(point: Evaluated) -> FloatArray:
    """Return the scores of a shard, (n,)."""
    return point.scores


def curved(shard: Shard, point: Evaluated, v: FloatArray, single: bool) -> FloatArray:
    """Return a shard's share of a Hessian product: baseᵀ R base v, (k,) -> (k,)."""
    features = shard.base.columns(len(v), single)
    return features.adjoint(point.risk.hessian_product(features.product(v)))


def image(shard: Shard, v: FloatArray) -> FloatArray:
    """Return base·v, (n,)."""
    return shard.base.columns(len(v)).product(v)


def trial(shard: Shard, loss: AnyLoss, point: Evaluated, along: FloatArray, tau: float) -> Trial:
    """Return a trial at step τ along a shard's image (n,); infinite or NaN if the loss overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        risk = shard.part.risk(loss).at(point.scores + tau * along)
        slope = float(risk.gradient @ along)
        return Trial(risk, slope, float(risk.hessian_product(along) @ along))


def slopes(tried: Trial) -> tuple[float, float]:
    """Return a shard's share of φ'(τ) and φ''(τ)."""
    return tried.slope, tried.curvature


def stepped(point: Evaluated, along: FloatArray, tau: float, tried: Trial) -> Evaluated:
    """Return a shard's scores and risk at the end of a trial step."""
    return Evaluated(point.scores + tau * along, tried.risk)


def limit(shard: Shard, loss: AnyLoss, point: Evaluated) -> tuple[float, float]:
    """Return a shard's share of the original loss's risk, and of the smoothing term of the gap."""
    return limit_of(shard.part.risk(loss), point.scores, point.risk)


def active_gram(shard: Shard, point: Evaluated, k: int) -> FloatArray:
    """Return a shard's share of the Hessian on the first k columns, (k, k)."""
    return point.risk.gram(shard.base.array(k))


def features(shard: Shard, k: int) -> FloatArray:
    """Return the first k columns of a shard, (n, k)."""
    return shard.base.array(k)


def roots(shard: Shard, point: Evaluated) -> list[FloatArray]:
    """Return S of each query of a shard, for its Hessian in score space R = S Sᵀ."""
    return curvature_roots(point.risk.hessian_product, shard.part.ptr)


def sampled(shard: Shard, point: Evaluated, k: int, size: int, seed: int, single: bool) -> FloatArray:
    """Return √ℓ''·(row_i − row_j) of up to `size` active pairs of a shard, (size, k)."""
    pairs = point.risk.sample_active(np.random.default_rng(seed), size)
    differences = shard.base.columns(k, single).row_differences(pairs.winner, pairs.loser)
    differences *= np.sqrt(pairs.curvature)
    return differences.T


def stiffness(shard: Shard, point: Evaluated) -> float:
    """Return the largest eigenvalue of a shard's Hessian R in the space of scores, roughly."""
    return largest_eigenvalue(point.risk.hessian_product, len(shard.part.y))


def borders(ptr: IntArray, count: int) -> IntArray:
    """Return the queries at which to cut offsets ptr (Q + 1,), (parts + 1,).

    There are `count` parts, but at most one per query: every part has a query. The work for a document hardly
    depends on its query, so parts have similar numbers of documents, as far as whole queries allow.
    """
    n_queries = len(ptr) - 1
    count = min(count, n_queries)
    aims = np.linspace(0, ptr[-1], count + 1)
    after = np.searchsorted(ptr, aims)
    before = np.maximum(after - 1, 0)
    nearer = np.where(aims - ptr[before] < ptr[after] - aims, before, after)
    nearer[[0, -1]] = 0, n_queries
    each = np.arange(count + 1)  # borders must rise by at least 1; minus `each`, they only must not fall
    rising = np.maximum.accumulate(nearer - each) + each
    return np.asarray(np.minimum(rising, n_queries - count + each), np.int64)


def cut(data: RankingData, count: int, loss: AnyLoss, costs: PairCosts) -> list[Part]:
    """Return the parts of data (views of its arrays), each with the costs of its own queries and grades."""
    levels = grade_codes(data.y, data.ptr).levels
    pieces = itertools.pairwise(borders(data.ptr, count).tolist())
    return [_queries(data, first, last, loss, costs, levels) for first, last in pieces]


def _queries(
    whole: RankingData | Part,
    first: int,
    last: int,
    loss: AnyLoss,
    costs: PairCosts,
    levels: IntArray | None = None,
) -> Part:
    """Return the queries first … last − 1 (views), with their own costs; `levels` are all grades."""
    levels = grade_codes(whole.y, whole.ptr).levels if levels is None else levels
    rows = slice(int(whole.ptr[first]), int(whole.ptr[last]))
    y, ptr = whole.y[rows], whole.ptr[first : last + 1] - whole.ptr[first]
    own = np.searchsorted(levels, grade_codes(y, ptr).levels)
    return Part(whole.X[rows], y, ptr, loss, costs.of_queries(slice(first, last), own))
