"""The objective as a sum over queries or over pairs, for stochastic gradients (chapelle2010 §6.1).

½‖w‖² + C Σ_P c_ij·ℓ(t_ij) = Σ_k (½‖w‖²/N + C·risk_k(w)), where term k is the pairs of a query, a pair, or
several pairs drawn together. Pairs are listed and Φ is formed, because a term needs a few rows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import Loss
from rankviz.learning.pairs import PreferencePairs, count_pairs
from rankviz.learning.risk import PairRisk

CHUNK = 4096
"""Number of pairs whose differences are formed at a time."""


class Term(Protocol):
    """One term of the sum."""

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return ∂(C·risk_k)/∂w at w (m,)."""
        ...


class Terms(Protocol):
    """An objective as a sum.

    Attributes
    ----------
    count : float
        N, the number of terms.
    curvature : float
        An upper bound of the eigenvalues of the Hessian of any C·risk_k.
    products : float
        Cost of a pass, in products with Φ and Φᵀ.
    """

    count: float
    curvature: float
    products: float

    def passed(self, rng: np.random.Generator) -> Iterator[Term]:
        """Draw the terms of one pass at random with replacement."""
        ...


@dataclass(frozen=True, eq=False)
class QueryTerm:
    """The pairs of one query, at positions `at` in the full list; documents are counted from its first."""

    rows: FloatArray
    pairs: PreferencePairs
    at: slice
    risk: PairRisk
    C: float

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return C Φ_qᵀ ∂risk_q."""
        slopes = self.risk.slopes(self.pairs.margins(self.rows @ w), self.at)
        gradient: FloatArray = self.C * (self.rows.T @ self.pairs.pull_back(slopes))
        return gradient

    @property
    def spread(self) -> float:
        """Σ c_ij‖φ_i − φ_j‖² over the pairs, the trace of Φ_qᵀL₀Φ_q."""
        i, j, n = self.pairs.winner, self.pairs.loser, self.pairs.n
        cost = self.risk.costs_of(self.at)
        degree = np.bincount(i, cost, n) + np.bincount(j, cost, n)
        between = np.asarray(sparse.coo_array((cost, (i, j)), (n, n)).tocsr() @ self.rows)
        return float(degree @ (self.rows**2).sum(axis=1) - 2.0 * (self.rows * between).sum())


class QueryTerms:
    """Terms that are queries with pairs (chapelle2010 Algorithm 3)."""

    def __init__(self, objective: RankObjective) -> None:
        risk, Phi = _listed(objective), objective.features.dense()
        counts = count_pairs(risk.y, risk.ptr)
        ends = np.cumsum(counts)
        self._terms = [
            _query_term(risk, Phi, objective.C, int(q), slice(int(ends[q] - counts[q]), int(ends[q])))
            for q in np.flatnonzero(counts)
        ]
        self.count = float(len(self._terms))
        spread = max((term.spread for term in self._terms), default=0.0)
        self.curvature = objective.C * risk.loss.curvature * spread
        self.products = 1.0

    def passed(self, rng: np.random.Generator) -> Iterator[QueryTerm]:
        """Draw as many queries as there are."""
        for k in rng.integers(len(self._terms), size=len(self._terms)):
            yield self._terms[k]


def _query_term(risk: PairRisk, Phi: FloatArray, C: float, q: int, at: slice) -> QueryTerm:
    start, end = int(risk.ptr[q]), int(risk.ptr[q + 1])
    pairs = PreferencePairs(risk.pairs.winner[at] - start, risk.pairs.loser[at] - start, end - start)
    return QueryTerm(Phi[start:end], pairs, at, risk, C)


@dataclass(frozen=True, eq=False)
class PairTerm:
    """Several pairs, given by rows φ_i − φ_j and their positions in the list."""

    differences: FloatArray
    at: IntArray
    risk: PairRisk
    C: float

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return C Σ ∂(loss of the pair)·(φ_i − φ_j)."""
        gradient: FloatArray = self.C * (self.risk.slopes(self.differences @ w, self.at) @ self.differences)
        return gradient


class PairTerms:
    """Terms of `batch` pairs drawn together; chapelle2010's Algorithm 2 draws one pair.

    Sixteen take about as long as one, and need hardly more pairs for the same progress.
    """

    def __init__(self, objective: RankObjective, batch: int = 16) -> None:
        self._risk, self._C, self._batch = _listed(objective), objective.C, batch
        self._Phi = objective.features.dense()
        pairs = self._risk.pairs
        self.count = len(pairs) / batch
        longest = 0.0
        for start in range(0, len(pairs), CHUNK):
            at = np.arange(start, min(start + CHUNK, len(pairs)))
            D = self._differences(at)
            squares = np.einsum("ij,ij->i", D, D) * self._risk.costs_of(at)
            longest = max(longest, float(squares.max()))
        self.curvature = batch * objective.C * self._risk.loss.curvature * longest
        self.products = 2.0

    def passed(self, rng: np.random.Generator) -> Iterator[PairTerm]:
        """Draw as many pairs as documents, so that a pass costs the same for any number of pairs."""
        n, chunk = self._risk.pairs.n, max(1, CHUNK // self._batch) * self._batch
        for start in range(0, n, chunk):
            drawn = rng.integers(self._risk.n_pairs, size=min(chunk, n - start))
            D = self._differences(drawn)
            for first in range(0, len(drawn), self._batch):
                part = slice(first, first + self._batch)
                yield PairTerm(D[part], drawn[part], self._risk, self._C)

    def _differences(self, at: IntArray) -> FloatArray:
        pairs = self._risk.pairs
        return self._Phi[pairs.winner[at]] - self._Phi[pairs.loser[at]]


def _listed(objective: RankObjective) -> PairRisk:
    risk, loss = objective.risk, objective.risk.loss
    if not isinstance(loss, Loss):
        raise TypeError(f"the {loss.label} loss has no pairs to list")
    return risk if isinstance(risk, PairRisk) else PairRisk(risk.y, risk.ptr, loss, risk.costs)
