"""Pairs of documents from callers: one pair, or several."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.settings import Whole, instance
from rankviz.models.ranker import Ranker, check_width, features_of


def pairs_of(model: Ranker, A: ArrayLike, B: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return documents (p, d) each, of one pair or of p; `DataError` if they do not fit the model.

    Column names are not checked, because a row of a table has none.
    """
    shapes = np.shape(A), np.shape(B)
    if shapes[0] != shapes[1] or len(shapes[0]) not in (1, 2):
        raise DataError(
            f"documents A of shape {shapes[0]} and B of shape {shapes[1]}",
            expected="two documents of d features each, or two tables (pairs, d) of the same shape",
            remedy="Pass X[i] and X[j], or X[above] and X[below].",
        )
    found = features_of(_table(A)), features_of(_table(B))
    for X in found:
        check_width(model, X)
    return found


def _table(X: ArrayLike) -> ArrayLike:
    return np.reshape(X, (1, -1)) if np.ndim(X) == 1 else X


def column_of(values: ArrayLike) -> FloatArray:
    """Return values of one feature, (s,) float64; `DataError` for an invalid array."""
    if np.ndim(values) != 1:
        raise DataError(
            f"values of shape {np.shape(values)}",
            expected="a list of values of one feature",
            remedy="Pass one-dimensional values.",
        )
    return features_of(np.reshape(values, (-1, 1)))[:, 0]


def one_pair(model: Ranker, A: ArrayLike, B: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two documents (d,); `DataError` for tables, and like `pairs_of`."""
    if np.ndim(A) != 1 or np.ndim(B) != 1:
        raise DataError(
            f"documents of shapes {np.shape(A)} and {np.shape(B)}",
            expected="two documents of d features each",
            remedy="Pass one pair at a time, X[i] and X[j].",
        )
    a, b = pairs_of(model, A, B)
    return a[0], b[0]


def check_feature(feature: int, d: int) -> None:
    """Raise `SettingError` for an invalid number of a feature."""
    Whole(0, d - 1).check("feature", feature)


def fitted(model: Ranker) -> None:
    """Raise `SettingError` unless `model` is a ranker, scikit-learn's `NotFittedError` before training."""
    instance("model", model, Ranker, "a ranker of rankviz, such as RankSVM")
    check_is_fitted(model, "n_features_in_")
