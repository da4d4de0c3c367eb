"""Checks of arrays from callers: features, grades, scores and query ids; and of matrix sizes.

A few bytes of a file may name feature 100,000. So the number of listed values, the free memory and the limit
of an upload bound a matrix before allocation; see docs/decisions/0026-reading-data.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.common.memory import BUDGET_SHARE, free_memory, megabytes
from rankviz.common.parallel import for_rows, norm_bound

_BYTES_OF_A_FEATURE = 9  # in float64, and whether it is finite
_EXACT = 2**53  # float64 represents all whole numbers up to here
_MATRIX = "a numeric matrix with one row per document"


class NotNumbersError(DataError, TypeError):
    """Entries of a type that is not numeric; scikit-learn expects a TypeError."""


def mismatch(a: str, n_a: int, b: str, n_b: int, name: str) -> DataError:
    """Return the error for two counts that should be equal."""
    return DataError(
        f"{n_a} {a} for {n_b} {b}",
        expected=f"as many {a} as {b}",
        remedy="Check that the arrays belong together.",
        path=name or None,
    )


def dense_features(X: ArrayLike, name: str = "") -> FloatArray:
    """Return features as a dense, finite float64 matrix (n, d).

    A sparse matrix becomes dense if memory permits. Real numbers of any type are rounded to float64. Raises
    `DataError`, with the data's `name`, for complex numbers, dates, texts and missing entries.
    """
    _check_no_data_set(X, name)
    given = _densified(X, name) if hasattr(type(X), "toarray") else X
    out = np.ascontiguousarray(real_array(given, "features", _MATRIX, name), dtype=np.float64)
    if out.ndim != 2:
        raise DataError(
            f"features of shape {out.shape}",
            expected="a matrix (documents, features)",
            remedy="Reshape your data to two dimensions: X.reshape(1, -1) where it is a single document.",
            path=name or None,
        )
    _refuse_not_finite(out, name)
    return out


def _refuse_not_finite(X: FloatArray, name: str) -> None:
    """Raise `DataError` with the first entry of X (n, d) that is NaN or infinite."""
    if np.isfinite(norm_bound(X)):
        return

    def check(rows: slice) -> None:
        finite = np.isfinite(X[rows])  # such flags for all of X would take an eighth of its memory
        if not finite.all():
            row, column = (int(v) for v in np.argwhere(~finite)[0])
            raise DataError(
                f"feature {column + 1} of document {rows.start + row + 1} is {X[rows][row, column]}",
                expected="finite features: neither NaN nor inf",
                remedy="Fill or drop missing values first.",
                path=name or None,
            )

    for_rows(check, *X.shape)


def _check_no_data_set(X: object, name: str) -> None:
    """Raise `DataError` for a `RankingData` or a `Fold` in place of features."""
    kind = type(X)  # a table may have columns of any name
    instead = ".X" if hasattr(kind, "query_slice") else ""
    if hasattr(kind, "parts") and hasattr(X, "vali"):
        instead = " of one part, such as fold.test.X"
    if instead:
        raise DataError(
            f"a {kind.__name__} instead of features",
            expected=_MATRIX,
            remedy=f"Pass its features{': data' if instead == '.X' else ''}{instead}.",
            path=name or None,
        )


def _densified(X: Any, name: str) -> ArrayLike:
    """Return a sparse matrix as a dense one of float64. Raises `DataError` if memory is too small."""
    if X.dtype.kind not in "iubf":
        raise _not_numbers("features", _why_not_real(X.dtype), _MATRIX, name)
    need, room = _BYTES_OF_A_FEATURE * float(np.prod(X.shape)), BUDGET_SHARE * free_memory()
    if need > room:
        raise DataError(
            f"a sparse matrix of {' × '.join(f'{size:,}' for size in X.shape)} features, which would take "
            f"{megabytes(need)} as a dense one",
            expected=f"at most {megabytes(room)}, {BUDGET_SHARE:.0%} of the memory that is free",
            remedy="Choose fewer features or documents: models here are trained on dense features.",
            path=name or None,
        )
    dense: ArrayLike = X.astype(np.float64).toarray()
    return dense


def grade_array(y: ArrayLike, n: int, name: str) -> IntArray:
    """Return grades as int64 (n,). Raises `DataError` unless they are whole numbers ≥ 0."""
    expected = "relevance grades, whole numbers ≥ 0"
    values = one_dimensional(real_array(y, "grades", expected, name), "grades", n, name)
    return whole_numbers(values, "grade", name, minimum=0)


def score_array(
    scores: ArrayLike, n: int, name: str, query_of: Callable[[int], object] | None = None
) -> FloatArray:
    """Return scores as finite float64 (n,). Raises `DataError`, with the `query_of` a bad document."""
    expected = f"one score for each document, shape ({n},)"
    if callable(getattr(scores, "predict", None)):
        found, remedy = f"a {type(scores).__name__} instead of scores", "Pass what its predict gives."
        raise DataError(found, expected=expected, remedy=remedy, path=name or None)
    given = real_array(scores, "scores", expected, name)
    if given.shape != (n,):
        raise DataError(
            f"scores of shape {given.shape} for {n} documents",
            expected=expected,
            remedy="Check that the scores belong to these documents.",
            path=name or None,
        )
    values = given.astype(np.float64)
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        query = "" if query_of is None else f" (query {query_of(first)})"
        raise DataError(
            f"score {values[first]} for document {first + 1}{query}",
            expected="finite scores",
            remedy="Its scores overflow or are undefined: check that the model was fitted, and its settings.",
            path=name or None,
        )
    _check_exact(scores, given, values, name)
    return values


def _check_exact(scores: ArrayLike, given: NDArray[Any], values: FloatArray, name: str) -> None:
    """Raise `DataError` for scores that float64 rounds: different scores may become equal."""
    rounded = np.zeros(len(values), np.bool_)
    if given.dtype.itemsize > values.dtype.itemsize:
        rounded = values != given
    large = np.flatnonzero(np.abs(values) >= _EXACT)
    if len(large):  # look at the original values: NumPy may have rounded them
        objects = np.array(scores, dtype=object)
        rounded[large] |= [
            isinstance(value, int | np.integer) and abs(int(value)) > _EXACT for value in objects[large]
        ]
    if rounded.any():
        first = int(np.flatnonzero(rounded)[0])
        shown = objects[first] if len(large) else given[first]
        raise DataError(
            f"score {shown} for document {first + 1}, which float64 would round",
            expected="scores that float64 can represent",
            remedy="Give float64 scores, or ranks.",
            path=name or None,
        )


def document_texts(ids: ArrayLike, name: str) -> NDArray[np.str_]:
    """Return document ids as texts (n,), '' for missing ones (None or NaN)."""
    array = plain_array(ids, "document ids", "one text for each document", name)
    if array.dtype.kind == "U" and isinstance(ids, np.ndarray):
        return array
    objects = np.empty(array.shape, dtype=object)
    objects[...] = ids if array.ndim == 1 else array
    return np.where(pd.isna(objects), "", objects).astype(np.str_)


def plain_array(values: ArrayLike, what: str, expected: str, name: str) -> NDArray[Any]:
    """Return an array-like as an array. Raises `DataError` for other objects and masked entries."""
    if np.ma.is_masked(values):
        raise DataError(
            f"{what} with missing (masked) entries",
            expected=expected,
            remedy="Fill them, or leave their documents out.",
            path=name or None,
        )
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise _not_numbers(what, str(error), expected, name) from error


def one_dimensional(array: NDArray[Any], what: str, n: int, name: str) -> NDArray[Any]:
    """Return the array. Raises `DataError` unless its shape is (n,)."""
    if array.ndim != 1:
        raise DataError(
            f"{what} of shape {array.shape}",
            expected=f"as many {what} as documents, shape ({n},)",
            remedy=f"Make the {what} one-dimensional, for example with ravel() if they are a column.",
            path=name or None,
        )
    if len(array) != n:
        raise mismatch(what, len(array), "documents", n, name)
    return array


def real_array(values: ArrayLike, what: str, expected: str, name: str = "") -> NDArray[Any]:
    """Return real numbers (kinds i, u, b, f), NaN for missing ones. Raises `DataError` for other entries."""
    array = plain_array(values, what, expected, name)
    if array.dtype.kind == "O" and array.ndim:
        return _real_objects(array, what, expected, name)
    if array.dtype.kind not in "iubf":
        raise _not_numbers(what, _why_not_real(array.dtype), expected, name)
    return array


def _why_not_real(dtype: np.dtype[Any]) -> str:
    """Say why entries of a type are not real numbers; for complex ones also in scikit-learn's words."""
    known = {"c": ": Complex data not supported", "M": ", points in time", "m": ", spans of time"}
    return f"they are of type {dtype}{known.get(dtype.kind, '')}"


def _real_objects(array: NDArray[Any], what: str, expected: str, name: str) -> NDArray[Any]:
    """Return an array of Python's numbers, as from pandas or lists of large numbers, as a numeric array."""
    missing = np.asarray(pd.isna(array))
    kinds = {type(value) for value in array[~missing].ravel()}
    for kind in kinds:
        if not issubclass(kind, Real | Decimal | np.bool_):
            why = f"some are of type {kind.__name__}"
            if issubclass(kind, str | bytes | complex):
                raise _not_numbers(what, why, expected, name)
            why += ": an argument must be a string or a real number"  # as Python says of float(…)
            raise _not_numbers(what, why, expected, name, NotNumbersError)
    filled = np.where(missing, np.nan, array)
    integers = not missing.any() and all(issubclass(kind, int | np.integer) for kind in kinds)
    try:
        found: NDArray[Any] = np.array(filled.tolist()) if integers else filled.astype(np.float64)
        return filled.astype(np.float64) if found.dtype.kind == "O" else found.reshape(array.shape)
    except OverflowError as error:
        raise DataError(
            f"{what} beyond the largest float64, 1.8 × 10³⁰⁸",
            expected=expected,
            remedy="Give numbers that float64 can represent.",
            path=name or None,
        ) from error


def _not_numbers(
    what: str, why: str, expected: str, name: str, kind: type[DataError] = DataError
) -> DataError:
    return kind(
        f"{what} that are not numbers ({why})",
        expected=expected,
        remedy=f"Convert the {what} to real numbers first.",
        path=name or None,
    )


_REMEDIES = {
    "grade": "Check the label column; relevance grades count 0, 1, 2, …",
    "query id": "Give every document the id of its query; drop documents that belong to none.",
}


def whole_numbers(values: NDArray[Any], what: str, name: str, minimum: int | None) -> IntArray:
    """Return whole numbers of any numeric type as int64. Raises `DataError` if that changes one."""
    bad = np.zeros(values.shape, np.bool_)
    if values.dtype.kind == "f":
        digits = np.finfo(values.dtype).nmant + 1
        bad = ~np.isfinite(values) | (values != np.trunc(values))
        bad |= np.abs(values) >= 2.0 ** min(digits, 53)  # beyond, the type has gaps
    elif values.dtype.kind == "u":
        bad = values > np.uint64(2**63 - 1)
    out = np.where(bad, 0, values).astype(np.int64) if bad.any() else values.astype(np.int64)
    if minimum is not None:
        bad |= out < minimum
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise _not_whole(values, at, what, name, minimum)
    return out


def _not_whole(values: NDArray[Any], at: int, what: str, name: str, minimum: int | None) -> DataError:
    value, remedy = values[at], _REMEDIES[what]
    shown = f"{int(value)}" if np.isfinite(value) and value == np.trunc(value) else f"{value}"
    expected = f"a whole number{'' if minimum is None else f' ≥ {minimum}'}"
    if np.isfinite(value) and value == np.trunc(value) and (minimum is None or value >= minimum):
        expected += f" that {values.dtype} tells from its neighbours" if values.dtype.kind == "f" else ""
        expected += " below 2^63" if values.dtype.kind == "u" else ""
        remedy = f"Give the {what}s as integers{', or as texts' if what == 'query id' else ''}."
    return DataError(
        f"{what} {shown} for document {at + 1}",
        expected=expected,
        remedy=remedy,
        path=name or None,
    )


Names = tuple[Hashable, ...]

_EXPECTED = "whole numbers or texts, one for each document"
_TELL = "Give every document the id of its query; drop documents that belong to none."


def number_queries(qid: ArrayLike, n: int, name: str) -> tuple[IntArray, Names | None]:
    """Return ids as int64 (n,) and None for whole numbers; else the result of `number_names`.

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
    _check_no_sizes(array, n, name)
    array = one_dimensional(array, "query ids", n, name)
    kind = array.dtype.kind
    if kind in "ibf" or (kind == "u" and array.max(initial=0) < 2**63):
        return whole_numbers(array, "query id", name, minimum=None), None
    if kind not in "uUSTO":
        raise _refused(
            f"query ids of type {array.dtype}", "Give whole numbers, or texts (astype(str)).", name
        )
    return _number_objects(array, qid, name)


def _check_no_sizes(array: NDArray[Any], n: int, name: str) -> None:
    """Raise `DataError` for LightGBM's and XGBoost's `group`: query sizes with sum n."""
    sizes = array.ndim == 1 and array.dtype.kind in "iu" and len(array) != n
    if sizes and array.sum() == n and array.min() > 0:
        raise _refused(
            f"{len(array)} numbers with sum {n}, the number of documents: probably sizes of queries",
            "Give each document the id of its query: np.repeat(np.arange(len(sizes)), sizes).",
            name,
        )


def _number_objects(array: NDArray[Any], given: ArrayLike, name: str) -> tuple[IntArray, Names | None]:
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
        return number_names(values)
    except TypeError as error:
        raise _refused(f"query ids that cannot be compared ({error})", "Give texts.", name) from error


def _kind(found: type) -> type:
    """Return Python's own type for NumPy's numbers and texts, any other type unchanged."""
    own = {bool: np.bool_, int: np.integer, float: np.floating, str: np.str_, bytes: np.bytes_}
    return next((kind for kind, numpy_s in own.items() if issubclass(found, kind | numpy_s)), found)


def number_names(names: Sequence[Hashable]) -> tuple[IntArray, Names]:
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
    if len(np.unique(qid[starts])) == len(starts):  # the documents of each query are together
        return np.arange(len(qid)), np.append(starts, len(qid)), qid[starts]
    ids, first, inverse = np.unique(qid[starts], return_index=True, return_inverse=True)
    rank_of = np.empty(len(ids), np.int64)
    rank_of[np.argsort(first)] = np.arange(len(ids))
    runs = np.diff(np.append(starts, len(qid)))
    position = np.repeat(rank_of[inverse], runs)
    order = np.argsort(position, kind="stable").astype(np.int64)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(position, minlength=len(ids))))).astype(np.int64)
    return order, ptr, ids[np.argsort(first)].astype(np.int64)


def repeated_runs(qid: IntArray) -> IntArray:
    """Return the starts of runs of equal ids whose query has an earlier run."""
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    first = np.unique(qid[starts], return_index=True)[1]
    return np.delete(starts, first)


def check_contiguous(qid: IntArray, names: Names | None, name: str) -> None:
    """Raise `DataError` if a query's documents are separated, with the query and the two places."""
    again = repeated_runs(qid)
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


ROOMY_CELLS = 1 << 21
"""Matrices up to this size (16 MiB) may be arbitrarily sparse."""
CELLS_PER_VALUE = 1000
"""Most entries per listed value in larger matrices."""
MEMORY_SHARE = 0.5
"""Largest share of the free memory for one matrix: regrouping and splitting copy it."""
_REMEDY = "Number the features 1, 2, 3, … without gaps, or split the file."


def check_cells(n: int, d: int, listed: int, *, path: str, line: int | None) -> None:
    """Raise `DataError` if (n, d) is too large for the listed values.

    `line` contains the widest feature.
    """
    if n * d > max(ROOMY_CELLS, CELLS_PER_VALUE * listed):
        raise DataError(
            f"{n:,} documents with features up to index {d}, but only {listed:,} values",
            expected=f"a value for at least one in {CELLS_PER_VALUE:,} entries of the dense matrix",
            remedy=_REMEDY,
            path=path,
            line=line,
        )


def check_memory(n: int, d: int, *, path: str | None, line: int | None = None) -> None:
    """Raise `DataError` if a dense (n, d) takes more than its share of the free memory."""
    if n * d <= ROOMY_CELLS:
        return
    room = MEMORY_SHARE * free_memory()
    if 8 * n * d > room:
        raise DataError(
            f"{n:,} documents with features up to index {d}, which need {megabytes(8 * n * d)} as a matrix",
            expected=f"at most {megabytes(room)} ({MEMORY_SHARE:.0%} of the memory that is free)",
            remedy=f"{_REMEDY[:-1]}, or close other programs.",
            path=path,
            line=line,
        )


def check_room(n: int, d: int, room: int, of: int, *, path: str, line: int | None = None) -> None:
    """Raise `DataError` if (n, d) exceeds an upload's remaining entries."""
    if n * d > room:
        raise DataError(
            f"{n:,} documents with features up to index {d}, {n * d:,} entries",
            expected=f"at most {of:,} entries (documents times features) for an upload of this size",
            remedy=f"Upload fewer folds, or use a data folder. {_REMEDY}",
            path=path,
            line=line,
        )
