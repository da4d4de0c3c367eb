"""Query ids of any kind as numbers, and the order that groups each query's documents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import one_dimensional, plain_array, whole_numbers

Names = tuple[Hashable, ...]

_EXPECTED = "whole numbers or texts, one for each document"
_TELL = "Give every document the id of its query; drop documents that belong to none."


def number_queries(qid: ArrayLike, n: int, name: str) -> tuple[IntArray, Names | None]:
    """Return ids as int64 (n,) and None for whole numbers; else the result of `numbered`.

    Raises `DataError` for no ids, missing ones, or ambiguous ones.
    """
    if qid is None:
        raise DataError(
            "no query ids (qid is None)",
            expected="qid, the query that each document belongs to: documents are ranked within their query",
            remedy="Give one id for each document; for a single query np.zeros(len(y), int).",
            path=name or None,
        )
    array = plain_array(qid, "query ids", _EXPECTED, name)
    _refuse_sizes(array, n, name)
    array = one_dimensional(array, "query ids", n, name)
    kind = array.dtype.kind
    if kind in "ibf" or (kind == "u" and array.max(initial=0) < 2**63):
        return whole_numbers(array, "query id", name, minimum=None), None
    if kind not in "uUSTO":
        raise _refused(
            f"query ids of type {array.dtype}", "Give whole numbers, or texts (astype(str)).", name
        )
    return _of_objects(array, qid, name)


def _refuse_sizes(array: NDArray[Any], n: int, name: str) -> None:
    """Raise `DataError` for LightGBM's and XGBoost's `group`: query sizes with sum n."""
    sizes = array.ndim == 1 and array.dtype.kind in "iu" and len(array) != n
    if sizes and array.sum() == n and array.min() > 0:
        raise _refused(
            f"{len(array)} numbers that add up to the {n} documents: sizes of queries, it seems",
            "Give each document the id of its query: np.repeat(np.arange(len(sizes)), sizes).",
            name,
        )


def _of_objects(array: NDArray[Any], given: ArrayLike, name: str) -> tuple[IntArray, Names | None]:
    """Number ids that are texts, large integers, or objects of one kind."""
    may_miss = array.astype(object) if array.dtype.kind in "OT" else np.zeros(0, object)
    missing = np.flatnonzero(pd.isna(may_miss))
    if len(missing):
        raise _refused(f"query id {array[missing[0]]} for document {missing[0] + 1}", _TELL, name)
    values = array.tolist()
    kinds = {_kind(found) for found in set(map(type, given if isinstance(given, list | tuple) else values))}
    if len(kinds) > 1:
        some = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise _refused(f"query ids of several types ({some})", "Give ids of one type.", name)
    if kinds <= {int, float}:
        numbers = np.array(values)
        if numbers.dtype.kind in "if":
            return whole_numbers(numbers, "query id", name, minimum=None), None
    try:
        return numbered(values)
    except TypeError as error:
        raise _refused(f"query ids that cannot be compared ({error})", "Give texts.", name) from error


def _kind(found: type) -> type:
    """Return Python's own type for NumPy's numbers and texts, any other type unchanged."""
    own = {bool: np.bool_, int: np.integer, float: np.floating, str: np.str_, bytes: np.bytes_}
    return next((kind for kind, numpy_s in own.items() if issubclass(found, kind | numpy_s)), found)


def numbered(names: Sequence[Hashable]) -> tuple[IntArray, Names]:
    """Number names 0, 1, … by first appearance; return the numbers, and each name once."""
    places: dict[Hashable, int] = {}
    numbers = np.array([places.setdefault(value, len(places)) for value in names], np.int64)
    return numbers, tuple(places)


def _refused(found: str, remedy: str, name: str) -> DataError:
    return DataError(found, expected=_EXPECTED, remedy=remedy, path=name or None)


def group_queries(qid: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the order that groups each query's documents, with offsets and query ids.

    Returns `order` (n,), `ptr` (Q + 1,) and `ids` (Q,); queries by first appearance, documents in their own
    order.
    """
    if len(qid) == 0:
        return np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
    # find ids among runs of equal ids: a file has far fewer runs than documents
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    ids, first, inverse = np.unique(qid[starts], return_index=True, return_inverse=True)
    rank_of = np.empty(len(ids), np.int64)
    rank_of[np.argsort(first)] = np.arange(len(ids))
    runs = np.diff(np.append(starts, len(qid)))
    position = np.repeat(rank_of[inverse], runs)
    order = np.argsort(position, kind="stable").astype(np.int64)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(position, minlength=len(ids))))).astype(np.int64)
    return order, ptr, ids[np.argsort(first)].astype(np.int64)


def refuse_apart(qid: IntArray, names: Names | None, name: str) -> None:
    """Raise `DataError` if a query's documents are separated, with the query and the two places."""
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    _, first = np.unique(qid[starts], return_index=True)
    again = np.delete(starts, first)
    if len(again) == 0:
        return
    back = int(again[0])
    query = qid[back]
    left = int(np.flatnonzero(qid[:back] == query)[-1])
    raise DataError(
        f"query {query if names is None else names[query]} at document {left + 1} and again at document "
        f"{back + 1}, with other queries between",
        expected="the documents of each query next to each other",
        remedy="To evaluate scores in this order call evaluate(scores, y, qid=qid). Else sort X, y and qid "
        'by np.argsort(qid, kind="stable"); or give regroup=True, after which scores must be those of data.X '
        "(data.rows says where each document stood).",
        path=name or None,
    )
