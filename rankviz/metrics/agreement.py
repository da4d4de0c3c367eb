"""Agreement of two rankings of each query's documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from rankviz.common.arrays import FloatArray
from rankviz.common.settings import Whole
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.types import RankingData, require_data


def kendall_tau(left: FloatArray, right: FloatArray, data: RankingData) -> pd.Series[float]:
    """Return Kendall's τ_b between two vectors of scores (n,) for each query: -> (Q,), indexed by query id.

    τ_b = (c − d)/√((p − t)(p − u)). Of the p pairs of documents, c are concordant and d discordant; t are
    tied in the first scoring and u in the second. It is 1 for the same order, −1 for the reverse order. It is
    NaN for a query with one document or with all scores equal. Source: kendall1945, as in
    `scipy.stats.kendalltau`.
    """
    require_data(data, "Call RankingData.from_arrays(X, y, qid).")
    left, right = (
        score_array(scores, data.n_documents, data.name, data.query_of) for scores in (left, right)
    )
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
    require_data(data, "Call RankingData.from_arrays(X, y, qid).")
    left, right = (
        score_array(scores, data.n_documents, data.name, data.query_of) for scores in (left, right)
    )
    found = []
    for rows in map(data.query_slice, range(data.n_queries)):
        first, second = (np.argsort(-scores[rows], kind="stable")[:k] for scores in (left, right))
        found.append(len(np.intersect1d(first, second)) / len(first))
    return _by_query(found, data, "overlap")


def _by_query(values: list[float], data: RankingData, name: str) -> pd.Series[float]:
    return pd.Series(values, index=pd.Index(data.query_labels, name="query"), name=name, dtype=np.float64)
