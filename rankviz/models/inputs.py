"""Checks of documents given to `fit`, `predict` and `score`: numbers, in the same columns.

They use scikit-learn's checks of column names. Messages about matrices contain scikit-learn's words, so that
programs that look for these words find them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_feature_names, column_or_1d

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import dense_features
from rankviz.datasets.types import RankingData, require_data

LARGEST_FEATURE = 1e140  # sums of squares must stay below the largest float64, about 1e308
CACHED = 1 << 17
"""Numbers that fit in a processor's cache."""


@dataclass(frozen=True)
class Columns:
    """Names of a table's columns.

    Attributes
    ----------
    names : tuple of str, or None
        All names, if they are strings: scikit-learn's feature names.
    labels : tuple of str, or None
        Other labels of a pandas table as Python writes them; scikit-learn ignores them.
    """

    names: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: object) -> Columns:
        """Return the names of X's columns; `DataError` if only some are strings."""
        seen = SimpleNamespace()
        _as_data_error(_check_feature_names, seen, X, reset=True)
        if hasattr(seen, "feature_names_in_"):
            return cls(tuple(map(str, seen.feature_names_in_)))
        labels = getattr(X, "columns", None)
        return cls() if labels is None else cls(labels=tuple(map(repr, labels)))

    @classmethod
    def on(cls, estimator: Any) -> Columns:
        """Return the names that a fitted estimator was trained on."""
        names = getattr(estimator, "feature_names_in_", None)
        return cls(None if names is None else tuple(names), getattr(estimator, "_column_labels", None))

    def put_on(self, estimator: Any) -> None:
        """Set a fitted estimator's `feature_names_in_`, or delete it without names."""
        vars(estimator).pop("feature_names_in_", None)
        if self.names is not None:
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        estimator._column_labels = self.labels


UNNAMED = Columns()


def check_columns(estimator: Any, X: object) -> None:
    """Raise `DataError` for a table with other columns than in training, or in another order.

    If only one of the two has names, scikit-learn's warning says so.
    """
    _as_data_error(_check_feature_names, estimator, X, reset=False)
    trained, given = Columns.on(estimator).labels, Columns.of(X).labels
    if trained is not None and given is not None and trained != given:
        raise DataError(
            f"columns {_listed(given)}",
            expected=f"those of training, in their order: {_listed(trained)}",
            remedy="Pick the columns in that order.",
        )


def _listed(labels: tuple[str, ...]) -> str:
    return ", ".join(labels[:5]) + (", …" if len(labels) > 5 else "")


def _as_data_error(check: Callable[..., None], *args: object, **settings: object) -> None:
    """Run a check of scikit-learn's, and raise its errors as `DataError` with the same words."""
    try:
        check(*args, **settings)
    except (TypeError, ValueError) as error:
        raise DataError(
            str(error).strip().rstrip("."),
            expected="columns that are all named by strings, and in the same order as in training",
            remedy="Pick them by name: X[model.feature_names_in_].",
        ) from error


def features_of(X: ArrayLike) -> FloatArray:
    """Return features as a float64 matrix (n, d), finite and with finite squares, or raise `DataError`."""
    out = dense_features(X)
    refuse_huge(out)
    return out


def grades_of(y: ArrayLike | None) -> ArrayLike:
    """Return given grades, or raise `DataError`; flatten a column, with scikit-learn's warning."""
    if y is None:
        raise DataError(
            "no grades: a ranker requires y to be passed, but the target y is None",
            expected="one grade for each document",
            remedy="Pass y, whole numbers from 0 up.",
        )
    column = getattr(y, "ndim", 1) == 2 and getattr(y, "shape", ())[1:] == (1,)
    return np.asarray(column_or_1d(y, warn=True)) if column else y


def query_ids_of(qid: ArrayLike | None) -> ArrayLike:
    """Return given query ids, or raise `DataError` if there are none."""
    if qid is None:
        raise DataError(
            "no query ids: qid is None",
            expected="qid, the query that each document belongs to: documents are ranked within their query",
            remedy="Pass qid=…; through a Pipeline or a grid search by metadata routing, "
            "set_fit_request(qid=True). For a single query np.zeros(len(y), int).",
        )
    return qid


def check_width(estimator: Any, X: FloatArray) -> None:
    """Raise `DataError` for documents X (n, d) with another d than in training."""
    if X.shape[1] != estimator.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input",
            expected=f"(documents, {estimator.n_features_in_}) as in training",
            remedy="Score documents with the features the model was trained on.",
        )


def refuse_unusable(data: RankingData) -> None:
    """Raise `DataError` for unusable training data: no documents or features, or too large ones."""
    require_data(data, "Call fit(X, y, qid=…), or fit_data with RankingData.from_arrays(X, y, qid).")
    if data.n_documents == 0 or data.n_features == 0:
        what = "sample" if data.n_documents == 0 else "feature"
        raise DataError(
            f"{data.n_documents} documents with {data.n_features} features, "
            f"0 {what}(s) (shape={data.X.shape}) while a minimum of 1 is required",
            expected="at least one document with one feature",
            remedy="Check the training part.",
            path=data.name or None,
        )
    refuse_huge(data.X)


def refuse_huge(X: FloatArray) -> None:
    """Raise `DataError` for features whose squares overflow."""
    step = max(1, CACHED // max(X.shape[1], 1))
    for start in range(0, len(X), step):
        rows = X[start : start + step]  # read twice, but fetched from memory once
        if max(rows.max(initial=0.0), -rows.min(initial=0.0)) > LARGEST_FEATURE:
            raise DataError(
                f"features beyond ±{LARGEST_FEATURE:g}",
                expected="features whose squares are numbers",
                remedy="Normalise the features first.",
            )
