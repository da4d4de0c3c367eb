"""Counts that describe a part of a data set: as a whole, by query and by feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.types import RankingData

CORRELATION = "Spearman correlation with the grade, within queries"


@dataclass(frozen=True)
class Summary:
    """Counts of one part.

    Attributes
    ----------
    queries, documents, features : int
        Q, n and d.
    grades : mapping of int to int
        Number of documents of each existing grade.
    pairs : int
        Preference pairs (i, j) of one query with y_i > y_j.
    queries_without_relevant, queries_without_pairs : int
        Queries with only grade 0, and queries with only one grade.
    constant_features : tuple of int
        Numbers (from 1) of the features with one value in all documents.
    distinct_documents, duplicate_documents : int
        Different rows of X, and rows equal to an earlier one; they add up to n. Grades are not compared.
    zero_documents : int
        Rows of X with only zeros.
    documents_per_query : (int, float, int)
        Smallest, median and largest number of documents per query; zeros without queries.
    """

    queries: int
    documents: int
    features: int
    grades: Mapping[int, int]
    pairs: int
    queries_without_relevant: int
    queries_without_pairs: int
    constant_features: tuple[int, ...]
    distinct_documents: int
    duplicate_documents: int
    zero_documents: int
    documents_per_query: tuple[int, float, int]


def describe(data: RankingData) -> Summary:
    """Count the contents of a part; see :class:`Summary`."""
    grades, counts = np.unique(data.y, return_counts=True)
    sizes, pairs = np.diff(data.ptr), _pairs(data)
    relevant = np.zeros(data.n_queries, np.bool_)
    relevant[_queries(data)[data.y > 0]] = True
    distinct = _distinct_rows(data.X)
    return Summary(
        queries=data.n_queries,
        documents=data.n_documents,
        features=data.n_features,
        grades=dict(zip(grades.tolist(), counts.tolist(), strict=True)),
        pairs=int(pairs.sum()),
        queries_without_relevant=int((~relevant).sum()),
        queries_without_pairs=int((pairs == 0).sum()),
        constant_features=tuple((np.flatnonzero(_constant(data.X)) + 1).tolist()),
        distinct_documents=distinct,
        duplicate_documents=data.n_documents - distinct,
        zero_documents=int((~data.X.any(axis=1)).sum()),
        documents_per_query=_spread(sizes),
    )


MOST_COUNTS = 1 << 24
"""Most counts of documents by query and grade in a table, 128 MiB."""


def query_table(data: RankingData) -> pd.DataFrame:
    """Return one row per query: "query", "documents", "grade g" for every existing grade, and "pairs".

    Raises `DataError` if there are more than `MOST_COUNTS` counts.
    """
    grades, code = np.unique(data.y, return_inverse=True)
    shape = data.n_queries, len(grades)
    if shape[0] * shape[1] > MOST_COUNTS:
        raise DataError(
            f"{shape[1]:,} different grades in {shape[0]:,} queries",
            expected=f"at most {MOST_COUNTS:,} counts of documents by query and grade",
            remedy="Put the grades into few groups, such as 0 to 4.",
            path=data.name or None,
        )
    counts = np.bincount(_queries(data) * shape[1] + code, minlength=shape[0] * shape[1]).reshape(shape)
    by_grade = pd.DataFrame(counts, columns=[f"grade {grade}" for grade in grades.tolist()])
    by_grade.insert(0, "query", data.query_labels)
    by_grade.insert(1, "documents", np.diff(data.ptr))
    return by_grade.assign(pairs=_pairs(data))


def queries_holding(share: float, pairs: Sequence[int] | IntArray) -> int:
    """Return the fewest queries that together hold at least `share` of all pairs; 0 without pairs."""
    ordered = np.sort(np.asarray(pairs, dtype=np.int64))[::-1]
    reached = np.cumsum(ordered) >= share * ordered.sum()
    return int(np.argmax(reached)) + 1 if ordered.sum() else 0


def document_names(data: RankingData, query: int) -> list[str]:
    """Return names of the documents of the query at position `query`: their ids, else "document 1" and so on.

    The number is the document's place within its query in the file.
    """
    rows = data.query_slice(query)
    places = np.argsort(np.argsort(data.rows[rows])) + 1
    ids = [""] * len(places) if data.document_ids is None else data.document_ids[rows].tolist()
    return [name or f"document {place}" for name, place in zip(ids, places.tolist(), strict=True)]


def feature_table(data: RankingData) -> pd.DataFrame:
    """Return one row per feature: "number" (from 1), "name", "min", "max", "mean", "constant", "correlation".

    The correlation is :func:`grade_correlation`; "name" is empty for unnamed features.
    """
    X = data.X
    filled = len(X) > 0
    names = data.feature_names or ("",) * data.n_features
    return pd.DataFrame(
        {
            "number": np.arange(1, data.n_features + 1),
            "name": list(names),
            "min": X.min(axis=0) if filled else np.nan,
            "max": X.max(axis=0) if filled else np.nan,
            "mean": X.mean(axis=0) if filled else np.nan,
            "constant": _constant(X),
            "correlation": grade_correlation(data),
        }
    )


def grade_correlation(data: RankingData) -> FloatArray:
    """Return the pooled Spearman correlation of each feature with the grade within queries, (d,).

    Features and grades are replaced by their ranks within the query (ties share the mean rank) divided by
    n_q, and each query's mean is subtracted: ρ = Σ r̃_x r̃_y / √(Σ r̃_x² Σ r̃_y²) over all documents. No
    increasing transformation within queries, such as min-max or z-score, changes it. NaN if the feature or
    the grade is constant in every query.
    """
    x = _centred_ranks(data.X, data)
    y = _centred_ranks(data.y[:, None].astype(np.float64), data)[:, 0]
    products = y @ x
    scale = np.sqrt((x**2).sum(axis=0) * (y @ y))
    defined = scale > 0
    out: FloatArray = np.where(defined, products / np.where(defined, scale, 1.0), np.nan)
    return out


def _queries(data: RankingData) -> IntArray:
    """Return the position of each document's query, (n,)."""
    return np.repeat(np.arange(data.n_queries), np.diff(data.ptr))


def _pairs(data: RankingData) -> IntArray:
    """Count preference pairs of each query, (n_q² − Σ_g n_qg²) / 2, with any number of grades."""
    order = np.lexsort((data.y, query := _queries(data)))
    y, query, out = data.y[order], query[order], np.diff(data.ptr) ** 2
    starts = np.flatnonzero(np.append(True, (y[1:] != y[:-1]) | (query[1:] != query[:-1])))[: len(y)]
    np.subtract.at(out, query[starts], np.diff(np.append(starts, len(y))) ** 2)
    return out // 2


def _constant(X: FloatArray) -> BoolArray:
    """Return True for each feature with a single value, (d,)."""
    return np.ptp(X, axis=0) == 0 if len(X) else np.ones(X.shape[1], np.bool_)


def _distinct_rows(X: FloatArray) -> int:
    """Count different rows by sorting them as byte strings; −0 becomes 0 first."""
    if X.shape[1] == 0 or len(X) == 0:
        return min(len(X), 1)
    rows: NDArray[np.void] = np.ascontiguousarray(X + 0.0).view(np.dtype((np.void, 8 * X.shape[1])))
    return len(np.unique(rows))


def _spread(sizes: IntArray) -> tuple[int, float, int]:
    if len(sizes) == 0:
        return 0, 0.0, 0
    return int(sizes.min()), float(np.median(sizes)), int(sizes.max())


def _centred_ranks(values: FloatArray, data: RankingData) -> FloatArray:
    query = np.repeat(np.arange(data.n_queries), np.diff(data.ptr))
    ranks = pd.DataFrame(values).groupby(query).rank(pct=True).to_numpy()
    middle = (np.diff(data.ptr) + 1) / (2 * np.diff(data.ptr))  # mean of 1/n … n/n
    out: FloatArray = ranks - np.repeat(middle, np.diff(data.ptr))[:, None]
    return out
