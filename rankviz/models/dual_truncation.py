"""Blocks of dual variables truncated to rank k, and the loss: in α, in w, and in the ranking.

The best rank-k approximation of each block is read at its pairs only: α^k = (A_l)_k restricted to P. The
weights follow: w_k = Σ_P α^k_ij (φ_i − φ_j) = Φᵀ c_k with c_k,i = Σ_j α^k_ij − Σ_j α^k_ji. One singular value
decomposition per query serves all k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.settings import instance
from rankviz.datasets.types import RankingData
from rankviz.features.maps import FittedMap
from rankviz.metrics import evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.models.dual_variables import DualBlock, Duals, sides

KS = (1, 2, 3, 5, 10, 20)
"""Default ranks."""

ENTRIES = 25_000_000  # 200 MB of features at a time, for any number of documents


@dataclass(frozen=True, eq=False)
class BlockSVD:
    """A block with its singular value decomposition A = U diag(σ) Vᵀ.

    Attributes
    ----------
    block : DualBlock
    U : (r, k) float64
    values : (k,) float64
        σ, descending.
    Vt : (k, c) float64
    """

    block: DualBlock
    U: FloatArray
    values: FloatArray
    Vt: FloatArray

    @classmethod
    def of(cls, block: DualBlock) -> BlockSVD:
        """Decompose a block."""
        return cls(block, *np.linalg.svd(block.alpha, full_matrices=False))

    def truncated(self, k: int) -> DualBlock:
        """Return the block of rank k, restricted to pairs; the block itself if k is at least its rank."""
        return next(self.cut(np.array([k])))

    def cut(self, ks: IntArray) -> Iterator[DualBlock]:
        """Yield the blocks for ascending k, each from the previous one: O(rc) per singular value."""
        is_pair, A, done = self.block.is_pair, np.zeros_like(self.block.alpha), 0
        for k in ks:
            if k >= len(self.values):
                yield self.block
                continue
            A += (self.U[:, done:k] * self.values[done:k]) @ self.Vt[done:k]
            done = int(k)
            yield replace(self.block, alpha=np.where(is_pair, A, 0.0))

    def energy(self, ks: IntArray) -> FloatArray:
        """Return Σ_{i≤k} σ_i², (K,)."""
        kept = np.concatenate(([0.0], np.cumsum(self.values**2)))
        return kept[np.minimum(ks, len(self.values))]


@dataclass(frozen=True, eq=False)
class Truncation:
    """A model truncated to several ranks.

    Attributes
    ----------
    table : DataFrame
        One row per rank k, ascending; the last row truncates nothing. Columns: k; energy, the share of Σσ²
        kept, and alpha_error, ‖α^k − α‖/‖α‖, both over all truncated blocks; w_error, ‖w_k − w‖/‖w‖.
    weights : (m, K) float64
        w_k; with the exact kernel in its own space, coefficients of documents.
    feature_map : FittedMap
    """

    table: pd.DataFrame
    weights: FloatArray
    feature_map: FittedMap

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of documents X (n, d) by the weights of every k, (n, K)."""
        return _scores(self.feature_map, X, self.weights)

    def ranked(self, part: RankingData) -> pd.DataFrame:
        """Return the table with mean NDCG@10 and MAP over the queries of a part, as runs have them."""
        means = [evaluate(f, part, COMPARED, at=[10]).mean[["NDCG@10", "MAP"]] for f in self.scores(part.X).T]
        return self.table.assign(**pd.DataFrame(means, columns=["NDCG@10", "MAP"]).reset_index(drop=True))


class Truncator:
    """Truncates the blocks of a model, all at once or one at a time.

    Parameters
    ----------
    duals : Duals
    feature_map : FittedMap
        φ of the model.

    Attributes
    ----------
    c : (n,) float64
        Weights of the training documents from the dual variables: w = Φᵀ c.
    w : (m,) float64
        Weights from the dual variables: the model's own up to its gradient.
    """

    def __init__(self, duals: Duals, feature_map: FittedMap, report: Report = silent) -> None:
        instance("duals", duals, Duals, "what rankviz.duals(model, data) gives")
        self.duals, self.feature_map = duals, feature_map
        self.c = duals.document_weights()
        W, lengths = _weights(feature_map, duals.train.X, self.c[:, None], slice(0, len(self.c)), report)
        self.w, self._length = W[:, 0], float(lengths[0])

    def every_query(self, ks: Iterable[int] = KS, report: Report = silent) -> Truncation:
        """Truncate every block to each k."""
        return self._cut(range(self.duals.n_queries), ks, report)

    def one_query(self, query: int, ks: Iterable[int] | None = None) -> Truncation:
        """Truncate the block of the query at position `query` to each k, by default all; keep the others."""
        if ks is None:
            ks = range(1, self.duals.train.n_documents)
        return self._cut(range(query, query + 1), ks, silent)

    def _cut(self, queries: range, asked: Iterable[int], report: Report) -> Truncation:
        train = self.duals.train
        rows = slice(int(train.ptr[queries.start]), int(train.ptr[queries.stop]))
        ks = self._ranks(queries, asked)
        change = np.repeat(-self.c[rows, None], len(ks), axis=1)  # c_k − c
        kept, lost = np.zeros(len(ks)), np.zeros(len(ks))
        for query in queries:
            report(Progress("spectra", (query - queries.start) / len(queries)))
            whole, first = BlockSVD.of(self.duals.block(query)), int(train.ptr[query]) - rows.start
            kept += whole.energy(ks)
            for column, block in enumerate(whole.cut(ks)):
                change[first : first + len(block.y), column] += block.document_weights
                lost[column] += ((block.alpha - whole.block.alpha) ** 2).sum()
        W, lengths = _weights(self.feature_map, train.X, change, rows, report)
        columns = {
            "k": ks,
            "energy": kept / kept[-1] if kept[-1] > 0 else np.ones(len(ks)),
            "alpha_error": np.sqrt(_shares(lost, float(kept[-1]))),
            "w_error": _shares(lengths, self._length),
        }
        return Truncation(pd.DataFrame(columns), self.w[:, None] + W, self.feature_map)

    def _ranks(self, queries: range, asked: Iterable[int]) -> IntArray:
        """Return the given ranks that truncate anything, ascending, and then the full rank."""
        ptr, y = self.duals.train.ptr, self.duals.train.y
        full = max((min(map(len, sides(y[ptr[q] : ptr[q + 1]]))) for q in queries), default=0)
        return np.array([*sorted({int(k) for k in asked if 0 < k < full}), max(full, 1)], np.int64)


def _shares(parts: FloatArray, whole: float) -> FloatArray:
    """Return parts over the whole; 0 if the whole is 0."""
    return parts / whole if whole > 0 else np.zeros_like(parts)


def _weights(
    feature_map: FittedMap, X: FloatArray, c: FloatArray, rows: slice, report: Report
) -> tuple[FloatArray, FloatArray]:
    """Return W = Σ c_i φ(x_i) over some documents, (s, K) -> (m, K), and the norms ‖w‖, (K,).

    In the exact kernel's own space, W holds coefficients of all documents, and ‖w‖² = cᵀKc.
    """
    if feature_map.in_kernel_space:
        W = np.zeros((len(X), c.shape[1]))
        W[rows] = c
        squares = (c * _scores(feature_map, X[rows], W, report)).sum(axis=0)
        return W, np.sqrt(np.maximum(squares, 0.0))
    W = np.zeros((feature_map.n_components, c.shape[1]))
    for part in _pieces(feature_map, rows):
        at = slice(part.start - rows.start, part.stop - rows.start)
        features = feature_map.operator(X[part], report)
        for k, column in enumerate(np.ascontiguousarray(c[at].T)):
            W[:, k] += features.adjoint(column)
    return W, np.linalg.norm(W, axis=0)


def _scores(feature_map: FittedMap, X: FloatArray, W: FloatArray, report: Report = silent) -> FloatArray:
    """Return Φ W of documents X (n, d), (n, K), column by column: equal weights give exactly equal scores."""
    f = np.empty((len(X), W.shape[1]))
    columns = np.ascontiguousarray(W.T)
    for rows in _pieces(feature_map, slice(0, len(X))):
        features = feature_map.operator(X[rows], report)
        for column, w in enumerate(columns):
            f[rows, column] = features.product(w)
    return f


def _pieces(feature_map: FittedMap, rows: slice) -> Iterator[slice]:
    """Return slices of documents whose features fit in memory."""
    step = max(1, ENTRIES // max(feature_map.n_components, 1))
    return (slice(a, min(a + step, rows.stop)) for a in range(rows.start, rows.stop, step))
