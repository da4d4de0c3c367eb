"""How alike two scorings rank the documents of each query."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from rankviz.common.arrays import FloatArray
from rankviz.common.settings import Whole
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.types import RankingData, require_data


def kendall_tau(left: FloatArray, right: FloatArray, data: RankingData) -> pd.Series[float]:
    """Kendall's τ_b between two vectors of scores (n,), query by query: -> (Q,), indexed by query id.

    τ_b = (c − d)/√((p − t)(p − u)) with c concordant and d discordant of the p pairs of documents, t and u of
    them tied in the one and in the other; 1 for the same order, −1 for the reverse. NaN for a query with
    one document, or whose scores are all equal. Source: kendall1945, as in `scipy.stats.kendalltau`.
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
    """Share of the k documents ranked first by one scoring that the other ranks there too: -> (Q,) in [0, 1].

    |A ∩ B| / min(k, n_q), A and B the first k documents of a query of n_q by decreasing score, ties in file
    order as in `evaluate`. `SettingError` for k < 1.
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
