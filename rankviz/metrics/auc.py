"""The area under the ROC curve, which pairwise ranking optimises for one query with two grades."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.types import RankingData, require_data

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
