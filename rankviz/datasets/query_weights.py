"""Weights of queries, from one weight per document as scikit-learn passes them on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.datasets.parts import take_queries
from rankviz.datasets.types import RankingData


def query_weights(sample_weight: ArrayLike, data: RankingData) -> FloatArray:
    """Weights s_q ≥ 0 of queries, (Q,), from sample_weight (n,) in the order that `data` was made from.

    Raises `DataError` for weights that are not n finite numbers ≥ 0, that differ within a query, or that are
    all 0: a loss over pairs has no place for the weight of a single document.
    """
    given = np.asarray(sample_weight)
    if given.dtype.kind not in "fiub" or given.shape != (data.n_documents,):
        raise _refused(
            f"sample_weight of type {given.dtype} and shape {given.shape}",
            f"one number for each document, shape ({data.n_documents},)",
            "Repeat the weight of a query for all of its documents.",
        )
    weights = given.astype(np.float64)[data.rows]
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise _refused(
            f"sample_weight {weights[bad[0]]} in query {data.qid[bad[0]]}",
            "finite weights of at least 0",
            "Give a query weight 0 to leave it out.",
        )
    of_query = weights[data.ptr[:-1]]
    other = np.flatnonzero(weights != np.repeat(of_query, np.diff(data.ptr)))
    if len(other):
        first, query = weights[other[0]], data.qid[other[0]]
        raise _refused(
            f"sample_weight {first:g} beside {of_query[data.query_ids == query][0]:g} in query {query}",
            "the same weight for all documents of a query: pairs are weighed by query",
            "Give a query's documents one weight, such as their mean.",
        )
    if data.n_documents and not of_query.any():
        raise _refused("sample_weight 0 for every query", "a query that counts", "Give one a weight above 0.")
    return of_query


def weighed(data: RankingData, sample_weight: ArrayLike) -> tuple[RankingData, FloatArray]:
    """The queries that weigh more than 0, and their weights; see `query_weights`."""
    weights = query_weights(sample_weight, data)
    counted = np.flatnonzero(weights)
    return (
        (data, weights) if len(counted) == len(weights) else (take_queries(data, counted), weights[counted])
    )


def _refused(found: str, expected: str, remedy: str) -> DataError:
    return DataError(found, expected=expected, remedy=remedy)
