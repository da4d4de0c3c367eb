"""How alike two scorings rank the documents of each query."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from rankviz._typing import FloatArray
from rankviz.datasets.types import RankingData


def kendall_tau(left: FloatArray, right: FloatArray, data: RankingData) -> pd.Series[float]:
    """Kendall's τ_b between two vectors of scores (n,), query by query: -> (Q,), indexed by query id.

    τ_b = (c − d)/√((p − t)(p − u)) with c concordant and d discordant of the p pairs of documents, t and u of
    them tied in the one and in the other; 1 for the same order, −1 for the reverse. NaN for a query with
    one document, or whose scores are all equal. Source: kendall1945, as in `scipy.stats.kendalltau`.
    """
    found = [
        kendalltau(left[rows], right[rows]).statistic if rows.stop - rows.start > 1 else np.nan
        for rows in map(data.query_slice, range(data.n_queries))
    ]
    return pd.Series(found, index=pd.Index(data.query_ids, name="query"), name="tau", dtype=np.float64)
