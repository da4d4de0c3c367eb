"""Arrays that callers give, turned into features, grades and query ids, or refused with a remedy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError


def mismatch(a: str, n_a: int, b: str, n_b: int, name: str) -> DataError:
    """The error for two kinds of things of which there should be as many."""
    return DataError(
        f"{n_a} {a} for {n_b} {b}",
        expected=f"as many {a} as {b}",
        remedy="Check that the arrays belong together.",
        path=name or None,
    )


def checked(X: ArrayLike, y: ArrayLike, qid: ArrayLike, name: str) -> tuple[FloatArray, IntArray, IntArray]:
    """Turn array-likes into float64 features and integer grades and query ids, or raise `DataError`."""
    if hasattr(X, "toarray"):
        raise DataError(
            "a sparse matrix of features",
            expected="a dense matrix with one row per document",
            remedy="Convert it with X.toarray().",
            path=name or None,
        )
    try:
        X_ = np.ascontiguousarray(X, dtype=np.float64)
        y_, qid_ = np.asarray(y), np.asarray(qid)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"features that are not numbers ({error})",
            expected="a numeric matrix with one row per document",
            remedy="Convert the features to numbers first.",
            path=name or None,
        ) from error
    if X_.ndim != 2:
        raise DataError(
            f"features of shape {X_.shape}",
            expected="a matrix (documents, features)",
            remedy="Reshape the features to two dimensions.",
            path=name or None,
        )
    for what, array in (("grades", y_), ("query ids", qid_)):
        if array.ndim != 1:
            raise DataError(
                f"{what} of shape {array.shape}",
                expected=f"as many {what} as documents, shape ({len(X_)},)",
                remedy=f"Make the {what} one-dimensional, for example with ravel() if they are a column.",
                path=name or None,
            )
        if len(array) != len(X_):
            raise mismatch(what, len(array), "documents", len(X_), name)
    if not np.isfinite(X_).all():
        row, column = (int(v) for v in np.argwhere(~np.isfinite(X_))[0])
        raise DataError(
            f"feature {column + 1} of document {row + 1} is {X_[row, column]}",
            expected="finite features",
            remedy="Fill or drop missing values first.",
            path=name or None,
        )
    return X_, _integers(y_, "grade", name, minimum=0), _integers(qid_, "query id", name, minimum=None)


_REMEDIES = {
    "grade": "Check the label column; relevance grades count 0, 1, 2, …",
    "query id": "Give every document the whole number of its query; drop documents that belong to none.",
}


def _integers(values: NDArray[np.generic], what: str, name: str, minimum: int | None) -> IntArray:
    """Whole numbers as int64, whatever numeric type they came in."""
    bad: NDArray[np.bool_] | None = None
    if values.dtype.kind in "iub":
        out = values.astype(np.int64)
    elif values.dtype.kind == "f":
        bad = ~np.isfinite(values) | (values != np.trunc(values))
        out = np.where(bad, 0, values).astype(np.int64)
    else:
        raise DataError(
            f"a {what} of type {values.dtype}",
            expected=f"every {what} to be a whole number",
            remedy=f"Number the {what}s first.",
            path=name or None,
        )
    if minimum is not None:
        low = out < minimum
        bad = low if bad is None else bad | low
    if bad is not None and bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{what} {values[at]} for document {at + 1}",
            expected=f"a whole number{'' if minimum is None else f' ≥ {minimum}'}",
            remedy=_REMEDIES[what],
            path=name or None,
        )
    return out
