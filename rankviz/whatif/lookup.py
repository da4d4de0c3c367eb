"""Lookup of queries and documents by name, parts with some of them changed, and documents from text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.letor import parse_letor
from rankviz.datasets.types import RankingData


def place_of_query(data: RankingData, query: object) -> int | None:
    """Return the position of a query in `data.ptr`, by its id or name; None if it is not there."""
    if isinstance(query, Sequence | np.ndarray) and not isinstance(query, str):
        return None
    found = np.flatnonzero(data.query_labels == query)
    return int(found[0]) if len(found) else None


def index_of_query(data: RankingData, query: object) -> int:
    """Return its position, or raise `DataError` that names the query."""
    place = place_of_query(data, query)
    if place is None:
        raise no_such_query(query, data.name)
    return place


def no_such_query(query: object, where: str) -> DataError:
    """Return the error for a query that is not there."""
    return DataError(
        f"no query {query!r}",
        expected="the id or name of a query that is in the data, and that no earlier change left out",
        remedy="Choose one of `query_labels`.",
        path=where or None,
    )


def index_of_document(data: RankingData, query: object, document: int) -> int:
    """Return a document's position in `data.X`, by its number in `data.rows`, or raise `DataError`."""
    own = data.query_slice(index_of_query(data, query))
    found = np.flatnonzero(data.rows[own] == document)
    if len(found) == 0:
        raise DataError(
            f"no document {document} in query {query}",
            expected="the number of one of its documents, as in `rows`, that no earlier change left out",
            remedy=f"Choose one of {_some(data.rows[own])}.",
            path=data.name or None,
        )
    return int(own.start) + int(found[0])


def feature_checked(data: RankingData, feature: int) -> int:
    """Return a valid feature, counted from 0, or raise `DataError`."""
    if not isinstance(feature, Integral) or isinstance(feature, bool) or not 0 <= feature < data.n_features:
        raise DataError(
            f"no feature {feature!r}",
            expected=f"a feature from 0 to {data.n_features - 1}",
            remedy="Count features from 0.",
            path=data.name or None,
        )
    return int(feature)


def take_documents(data: RankingData, kept: IntArray) -> RankingData:
    """Return the documents at ascending positions `kept` (k,); remove queries without any."""
    sizes = np.bincount(np.searchsorted(data.ptr, kept, side="right") - 1, minlength=data.n_queries)
    there = np.flatnonzero(sizes)
    return replace(
        data,
        X=data.X[kept],
        y=data.y[kept],
        ptr=np.concatenate(([0], np.cumsum(sizes[there]))).astype(np.int64),
        query_ids=data.query_ids[there],
        query_names=None if data.query_names is None else tuple(data.query_names[q] for q in there),
        document_ids=None if data.document_ids is None else data.document_ids[kept],
        rows=data.rows[kept],
    )


def with_document(
    data: RankingData, query: object, row: int, x: FloatArray, grade: int, document_id: str = ""
) -> RankingData:
    """Return the data with a new document, the last one of its query."""
    q = index_of_query(data, query)
    end = int(data.ptr[q + 1])
    ids = data.document_ids
    return replace(
        data,
        X=np.insert(data.X, end, x, axis=0),
        y=np.insert(data.y, end, grade),
        ptr=data.ptr + (np.arange(data.n_queries + 1) > q),
        document_ids=None if ids is None else np.array([*ids[:end], document_id, *ids[end:]]),
        rows=np.insert(data.rows, end, row),
    )


def _some(rows: IntArray) -> str:
    shown = ", ".join(map(str, rows[:5]))
    return shown if len(rows) <= 5 else f"{shown}, … {rows[-1]}"


_TEXT_NAME = "the text"
_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class TypedDocument:
    """A new document: its features (d,), and its grade if the text has one."""

    features: tuple[float, ...]
    grade: int | None


def typed_documents(text: str, n_features: int) -> list[TypedDocument]:
    """Return a text's documents, one per line: LETOR lines, or d numbers with blanks, commas or semicolons.

    Query ids of LETOR lines are ignored; missing features are 0. Raises `DataError` with the line for other
    text.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise DataError(
            "an empty text",
            expected=f"one document: “1 qid:1 1:0.5 2:0.25 …”, or its {n_features} features",
            remedy="Type or paste one.",
        )
    read = _letor_document if ":" in lines[0].partition("#")[0] else _numbers_document
    return [read(line, place, n_features) for place, line in enumerate(lines, start=1)]


def _letor_document(line: str, place: int, n_features: int) -> TypedDocument:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # one line needs no regrouping
        data = parse_letor(line.encode(), name=f"{_TEXT_NAME}, document {place}")
    if data.n_features > n_features:
        raise _other_width(f"feature {data.n_features} in document {place}", n_features)
    features = np.zeros(n_features)
    features[: data.n_features] = data.X[0]
    return TypedDocument(tuple(features.tolist()), int(data.y[0]))


def _numbers_document(line: str, place: int, n_features: int) -> TypedDocument:
    words = [word for word in _SEPARATORS.split(line.strip()) if word]
    try:
        values = tuple(float(word) for word in words)
    except ValueError as error:
        raise DataError(
            f"document {place} of the text has something that is not a number ({error})",
            expected=f"{n_features} numbers separated by blanks, commas or semicolons",
            remedy="Use decimal points, or paste a line of LETOR text.",
        ) from error
    if len(values) != n_features:
        raise _other_width(f"{len(values)} numbers in document {place}", n_features)
    if not np.isfinite(values).all():
        raise DataError(
            f"document {place} of the text has a feature that is not finite",
            expected="finite numbers",
            remedy="Give a number for each feature.",
        )
    return TypedDocument(values, None)


def _other_width(found: str, n_features: int) -> DataError:
    return DataError(
        found,
        expected=f"{n_features} features, as the other documents have",
        remedy="Remove the extra values, or add the missing ones.",
    )
