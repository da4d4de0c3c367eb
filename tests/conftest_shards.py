"""Helpers of the tests of shards: data with all that is awkward about queries."""

import numpy as np

from rankviz import RankingData


def awkward_data(seed: int = 0) -> RankingData:
    """Queries of 1 to 60 documents, one of 200; duplicates; grades that some queries, and shards, lack."""
    rng = np.random.default_rng(seed)
    lengths = [1, 1, 200, 5, 1, *rng.integers(1, 60, size=30), 1]
    qid = np.repeat(np.arange(len(lengths)), lengths)
    X = rng.normal(size=(len(qid), 6))
    X[40:60] = X[0]
    X[300:310] = X[310]
    y = np.clip(np.rint(X[:, 0] + rng.normal(size=len(qid))), 0, 3).astype(int)
    y[qid == 3], y[qid > 25] = (
        2,
        np.minimum(y[qid > 25], 1),
    )  # no pair in query 3; no grades 2 and 3 at the end
    return RankingData.from_arrays(X, y, qid)
