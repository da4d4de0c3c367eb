"""Weights of queries, from scikit-learn's weights per document."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import plain_array
from rankviz.datasets.parts import take_queries
from rankviz.datasets.types import RankingData


def query_weights(sample_weight: ArrayLike, data: RankingData, rows: IntArray | None = None) -> FloatArray:
    """Return weights s_q ≥ 0 of queries, (Q,), from sample_weight (n,), one for each document of `data`.

    `rows` (n,) gives each document's position in sample_weight, if the orders differ.

    Raises `DataError` for weights that are not n finite numbers ≥ 0, that differ within a query, or that are
    all 0: a loss over pairs cannot weight a single document.
    """
    given = plain_array(sample_weight, "sample_weight", "one number for each document", "")
    if given.dtype.kind not in "fiub" or given.shape != (data.n_documents,):
        raise _refused(
            f"sample_weight of type {given.dtype} and shape {given.shape}",
            f"one number for each document, shape ({data.n_documents},)",
            "Repeat the weight of a query for all of its documents.",
        )
    weights = given.astype(np.float64)
    weights = weights if rows is None else weights[rows]
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise _refused(
            f"sample_weight {weights[bad[0]]} in query {data.query_of(int(bad[0]))}",
            "finite weights of at least 0",
            "Give a query weight 0 to leave it out.",
        )
    of_query = weights[data.ptr[:-1]]
    other = np.flatnonzero(weights != np.repeat(of_query, np.diff(data.ptr)))
    if len(other):
        document = int(other[0])
        usual = of_query[np.searchsorted(data.ptr, document, side="right") - 1]
        raise _refused(
            f"sample_weight {weights[document]:g} beside {usual:g} in query {data.query_of(document)}",
            "the same weight for all documents of a query: pairs are weighed by query",
            "Give a query's documents one weight, such as their mean.",
        )
    if data.n_documents and not of_query.any():
        raise _refused("sample_weight 0 for every query", "a query that counts", "Give one a weight above 0.")
    return of_query


def weighed(
    data: RankingData, sample_weight: ArrayLike, rows: IntArray | None = None
) -> tuple[RankingData, FloatArray]:
    """Return the queries of positive weight, and their weights; see `query_weights`."""
    weights = query_weights(sample_weight, data, rows)
    counted = np.flatnonzero(weights)
    return (
        (data, weights) if len(counted) == len(weights) else (take_queries(data, counted), weights[counted])
    )


def documents_digest(data: RankingData) -> str:
    """Return a hexadecimal digest of features, grades and query offsets, without names or ids."""
    h = hashlib.blake2b(digest_size=16)
    for array in (data.X, data.y, data.ptr):
        h.update(repr(array.shape).encode())
        h.update(np.ascontiguousarray(array).data)
    return h.hexdigest()


def _refused(found: str, expected: str, remedy: str) -> DataError:
    return DataError(found, expected=expected, remedy=remedy)
