"""Measures of pairs: margins of preference pairs, the area under the ROC curve, agreement of two rankings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import Whole
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.types import RankingData, require_data

CHUNK = 2_000_000
"""Number of thresholds per search."""


@dataclass(frozen=True)
class MarginSummary:
    """Counts and extremes of the margins t = f_i − f_j of a part's pairs.

    Attributes
    ----------
    n_pairs : int
    misordered : int
        Pairs with t ≤ 0.
    low, high : float
        The smallest and largest margin; 0 without pairs.
    """

    n_pairs: int
    misordered: int
    low: float
    high: float


def summary(scores: FloatArray, part: RankingData) -> MarginSummary:
    """Return counts and extremes of the margins of scores f (n,), O(n log n) for each grade."""
    pairs, wrong, lows, highs = 0, 0, [0.0], [0.0]
    for winners, losers in _groups(scores, part):
        pairs += len(winners) * len(losers)
        wrong += int((len(losers) - np.searchsorted(losers, winners, side="left")).sum())
        lows.append(float(winners.min() - losers[-1]))
        highs.append(float(winners.max() - losers[0]))
    if pairs == 0:
        return MarginSummary(0, 0, 0.0, 0.0)
    return MarginSummary(pairs, wrong, min(lows[1:]), max(highs[1:]))


def histogram(scores: FloatArray, part: RankingData, edges: FloatArray) -> IntArray:
    """Count pairs with edges[k] ≤ t < edges[k + 1], t = f_i − f_j: (len(edges) − 1,).

    Margins below an edge e belong to losers with f_j > f_i − e, found in their sorted scores.
    """
    below = np.zeros(len(edges), np.int64)
    for winners, losers in _groups(scores, part):
        step = max(1, CHUNK // len(edges))
        for start in range(0, len(winners), step):
            thresholds = winners[start : start + step, None] - edges
            below += (len(losers) - np.searchsorted(losers, thresholds, side="right")).sum(axis=0)
    counts: IntArray = np.diff(below)
    return counts


def _groups(scores: FloatArray, part: RankingData) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield by query and grade the scores of its documents, and the sorted scores of lower grades."""
    for query in range(part.n_queries):
        rows = part.query_slice(query)
        y, f = part.y[rows], scores[rows]
        for grade in np.unique(y)[1:]:
            yield f[y == grade], np.sort(f[y < grade])


def kendall_tau(left: FloatArray, right: FloatArray, data: RankingData) -> pd.Series[float]:
    """Return Kendall's τ_b between two vectors of scores (n,) for each query: -> (Q,), indexed by query id.

    τ_b = (c − d)/√((p − t)(p − u)). Of the p pairs of documents, c are concordant and d discordant; t are
    tied in the first scoring and u in the second. It is 1 for the same order, −1 for the reverse order. It is
    NaN for a query with one document or with all scores equal. Source: kendall1945, as in
    `scipy.stats.kendalltau`.
    """
    left, right = _checked_pair(left, right, data)
    found = [
        kendalltau(left[rows], right[rows]).statistic if rows.stop - rows.start > 1 else np.nan
        for rows in map(data.query_slice, range(data.n_queries))
    ]
    return _by_query(found, data, "tau")


def top_overlap(left: FloatArray, right: FloatArray, data: RankingData, k: int = 10) -> pd.Series[float]:
    """Return the share of documents that are among the first k of both rankings: -> (Q,) in [0, 1].

    |A ∩ B| / min(k, n_q), where A and B are the first k of n_q documents by decreasing score. Ties stay in
    file order, as in `evaluate`. Raises `SettingError` for k < 1.
    """
    Whole().check("k", k)
    left, right = _checked_pair(left, right, data)
    found = []
    for rows in map(data.query_slice, range(data.n_queries)):
        first, second = (np.argsort(-scores[rows], kind="stable")[:k] for scores in (left, right))
        found.append(len(np.intersect1d(first, second)) / len(first))
    return _by_query(found, data, "overlap")


def _checked_pair(left: FloatArray, right: FloatArray, data: RankingData) -> tuple[FloatArray, FloatArray]:
    """Return both vectors of scores. Raises `DataError` unless they are finite and fit the data."""
    require_data(data, "Call RankingData.from_arrays(X, y, qid).")
    return (
        score_array(left, data.n_documents, data.name, data.query_of),
        score_array(right, data.n_documents, data.name, data.query_of),
    )


def _by_query(values: list[float], data: RankingData, name: str) -> pd.Series[float]:
    return pd.Series(values, index=pd.Index(data.query_labels, name="query"), name=name, dtype=np.float64)


TIES = 0.5
"""Credit for a tied pair in the usual definition."""


def auc(scores: FloatArray, data: RankingData, *, ties: float = TIES) -> float:
    """Return the share of pairs of a relevant and an irrelevant document that scores (n,) order correctly.

    Takes O(n log n). A tied pair counts `ties`: ½ as in scikit-learn's `roc_auc_score`, or 0 as in
    chapelle2010. With 0, 1 − AUC ≤ risk/(p·ℓ(0)) for p pairs and every convex decreasing loss ℓ, because ℓ(t)
    ≥ ℓ(0) for t ≤ 0. ℓ(0) is 1 for the squared, smooth and plain hinge and for Huber, ln 2 for the logistic
    loss, 1 − h/2 for a hinge smoothed over h.

    NaN without pairs. Raises ValueError for several queries or more than two grades.
    """
    require_data(data, "Call RankingData.from_arrays(X, y, qid).")
    scores = score_array(scores, data.n_documents, data.name)
    grades = np.unique(data.y)
    if data.n_queries > 1 or len(grades) > 2:
        raise ValueError(
            f"AUC is for one query with two grades, not for {data.n_queries:,} with {len(grades)}; "
            "rankviz.evaluate gives the metrics of rankings"
        )
    if len(grades) < 2:
        return float("nan")
    high, low = scores[data.y == grades[1]], np.sort(scores[data.y == grades[0]])
    below, not_above = (np.searchsorted(low, high, side=side) for side in ("left", "right"))
    right, tied = int(below.sum()), int((not_above - below).sum())
    return (right + ties * tied) / (len(high) * len(low))
