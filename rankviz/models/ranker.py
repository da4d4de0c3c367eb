"""Base class of rankers: scikit-learn's conventions, checks of documents, and results that runs store.

Column names are checked by scikit-learn. Messages about matrices contain scikit-learn's words, so that
programs that look for these words find them.

See docs/decisions/0033-contracts-of-rankers-and-designs.md.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names, check_is_fitted, column_or_1d

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, DataWarning, SettingError
from rankviz.common.parallel import for_rows, norm_bound
from rankviz.common.progress import Callback, Report, reporter, silent
from rankviz.datasets.array_checks import dense_features
from rankviz.datasets.parts import query_weights, weighted_queries
from rankviz.datasets.types import RankingData, require_data
from rankviz.features.maps import Expansion, Form
from rankviz.features.operator import largest
from rankviz.learning.pairs import count_pairs
from rankviz.metrics.definitions import Definition
from rankviz.metrics.measures import NDCG, USUAL

LARGEST_FEATURE = 1e140  # sums of squares must stay below the largest float64, about 1e308


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
        if type(X) is np.ndarray:
            return UNNAMED
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
            remedy="Select the columns in that order.",
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
            remedy="Pass y, whole numbers of at least 0.",
        )
    column = getattr(y, "ndim", 1) == 2 and getattr(y, "shape", ())[1:] == (1,)
    return np.asarray(column_or_1d(y, warn=True)) if column else y


def query_ids_of(qid: ArrayLike | None) -> ArrayLike:
    """Return given query ids, or raise `DataError` if there are none."""
    if qid is None:
        raise DataError(
            "no query ids: qid is None",
            expected="qid, the query that each document belongs to: documents are ranked within their query",
            remedy="Pass qid=…; a Pipeline or a grid search needs metadata routing: "
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
            remedy="Give the features used in training.",
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
    if norm_bound(X) <= LARGEST_FEATURE:
        return

    def check(rows: slice) -> None:
        if largest(X[rows]) > LARGEST_FEATURE:
            raise DataError(
                f"features beyond ±{LARGEST_FEATURE:g}",
                expected="features whose squares are finite",
                remedy="Normalise the features first.",
            )

    for_rows(check, *X.shape)


_NO_PAIRS = "no query has documents of different grades: no preference pair, every score is the same"
_TINY = 1e-12
"""Scores that differ by no more than this share of the largest differ by rounding."""
_ALL_ZERO = (
    "every weight is 0 and every score the same: no weights lower the objective by more than the tolerance. "
    "The features, or the kernel at this gamma, hardly differ within a query, as where one column has a far "
    "larger scale or offset than the others, or C is too small: normalise the features, or choose a larger "
    "gamma or C"
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Results that a run stores besides scores; rankers omit fields that they do not have.

    Attributes
    ----------
    status : str
        Final status, as a sentence.
    stopped : bool
        True if it was stopped on request.
    objective : float
        Final value of the minimised function; NaN without one.
    n_components : int
        Feature dimensions used; 0 without features.
    weights : (m,) float64
    trace : DataFrame
        One row per iteration.
    seconds : dict
        Stage -> seconds.
    start : str
        Start of training, in words.
    solution : dict of float64 arrays
        Results besides weights.
    """

    status: str = "Trained."
    stopped: bool = False
    objective: float = math.nan
    n_components: int = 0
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    trace: pd.DataFrame = field(default_factory=pd.DataFrame)
    seconds: dict[str, float] = field(default_factory=dict)
    start: str = "zero"
    solution: dict[str, FloatArray] = field(default_factory=dict)


class Ranker(BaseEstimator):
    """Scores of documents, learned from queries with graded documents.

    A subclass has its settings as parameters of the constructor, and two methods: `fit_data`, which trains,
    and `scores`. Further results go into `outcome`; its entry in `rankviz.models.methods.METHODS` declares
    them.

    Attributes
    ----------
    n_features_in_ : int
        d, set by `fit_data`.
    feature_names_in_ : (d,) object
        Names of the columns, if `fit` was given a table whose columns are all named by strings.
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    @property
    def keeps_documents(self) -> bool:
        """True if a fitted model may refer to training documents, so that `fit` copies them: by default."""
        return True

    @abstractmethod
    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`; see `fit`."""

    def fit_watching(
        self, data: RankingData, validation: RankingData | None, callback: Callback | None = None
    ) -> Self:
        """Train as `fit_data`; rankers that stop early read the validation part too, others ignore it."""
        return self.fit_data(data, callback=callback)

    @abstractmethod
    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Return the scores of documents X (n, d), checked already -> (n,)."""

    def form(self) -> Form:
        """Return its scores as functions of single features; `SettingError` if unknown."""
        raise SettingError(
            f"the scores of {type(self).__name__} are not declared as sums, or sums of products, of "
            "functions of single features; RankSVM's are with feature_map='linear', 'nystroem', 'fourier' or "
            "'exact', and kernel='rbf', 'laplacian' or 'linear'"
        )

    def expansion(self) -> Expansion:
        """Return its scores as a sum of kernel values; `SettingError` if they are not."""
        raise SettingError(
            f"the scores of {type(self).__name__} are not declared as sums of kernel values; RankSVM's are "
            "with feature_map='nystroem' or 'exact'"
        )

    def unfitted(self) -> Self:
        """Return an unfitted copy, to train on changed data."""
        copy: Self = clone(self)
        return copy

    def outcome(self) -> Outcome:
        """Return the results that a run stores, after `fit_data`."""
        return Outcome()

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: training needs grades, and sparse features become dense."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def warn_of_settings(self, stacklevel: int = 2) -> None:
        """Warn with `SettingWarning` of given settings that are not read, like `fit`."""

    def doubt(self) -> str:
        """Describe why the fitted model may not be optimal, and the remedy; "" if it is optimal."""
        return ""

    def warn_of_doubt(self, stacklevel: int = 2) -> None:
        """Warn with scikit-learn's `ConvergenceWarning` if there is a doubt.

        `fit` and `fit_curve` call it. `fit_data` and runs (`rankviz.execute`) do not: there the status says
        it.
        """
        if self.doubt():
            warnings.warn(self.doubt(), ConvergenceWarning, stacklevel=stacklevel + 1)

    @property
    def learns_within_queries(self) -> bool:
        """True if only documents of one query with different grades teach it something."""
        return True

    def warn_of_equal_scores(self, data: RankingData, stacklevel: int = 2) -> None:
        """Warn with `DataWarning` if all scores are equal: no pairs, or weights that stayed 0.

        `fit` and `fit_curve` call it. It checks weights only if training finished.
        """
        if self.learns_within_queries and not count_pairs(data.y, data.ptr).any():
            warnings.warn(_NO_PAIRS, DataWarning, stacklevel=stacklevel + 1)
            return
        weights = self._final_weights()
        if weights.size and not self.doubt() and self._all_equal(data, weights):
            warnings.warn(_ALL_ZERO, DataWarning, stacklevel=stacklevel + 1)

    def _final_weights(self) -> FloatArray:
        """Return the weights, (m,); none if training was stopped."""
        found = self.outcome()
        return found.weights[: 0 if found.stopped else None]

    def _all_equal(self, data: RankingData, weights: FloatArray) -> bool:
        """Tell if the weights are 0, or tiny and the scores of every query equal but for rounding.

        Sums that cancel to 0 leave about 1e-17 on some processors. Tiny weights that still order documents do
        not count: the scores then differ by more than their own rounding.
        """
        if not weights.any():
            return True
        if np.abs(weights).max() > _TINY:
            return False
        scores = self.scores(data.X, silent)
        spread = np.maximum.reduceat(scores, data.ptr[:-1]) - np.minimum.reduceat(scores, data.ptr[:-1])
        return bool(spread.max() <= _TINY * np.abs(scores).max())

    def fit_weighted(self, data: RankingData, weights: FloatArray, callback: Callback | None = None) -> Self:
        """Train on a `RankingData` with query weights (Q,), each above 0; SettingError if not supported."""
        raise SettingError(f"{type(self).__name__} takes no sample_weight; use RankSVM, or repeat queries")

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Train on documents X (n, d) with grades y (n,) ≥ 0 in queries qid (n,), which is required.

        `sample_weight` (n,) weights queries, so it must be equal for all documents of a query. It multiplies
        the cost of the query's pairs. Weight 2 counts the query twice, weight 0 leaves it out.
        `callback` gets `Progress` several times a second; returning True stops training. During the solver's
        steps the current weights are kept; before that `StopRequested` is raised.
        Raises `DataError` for unusable data, `SettingError` for a setting outside its range. Warns with
        `SettingWarning` of settings that the current choices do not read. Warns with `DataWarning` if all
        scores are equal (no query has two grades, or all weights stayed 0). Warns with scikit-learn's
        `ConvergenceWarning` if the solver ended before its tolerance was met, unless it was stopped.
        X is copied only if the model keeps documents, X is not a contiguous array of float64, or documents
        of a query are apart; else it must not change during training.
        """
        columns = Columns.of(X)
        self.warn_of_settings()
        data = RankingData.from_arrays(
            X, grades_of(y), query_ids_of(qid), regroup=True, copy=self.keeps_documents
        )
        if sample_weight is None:
            self.fit_data(data, callback=callback)
        else:
            data, weights = weighted_queries(data, sample_weight, data.rows)
            self.fit_weighted(data, weights, callback)
        columns.put_on(self)
        self.warn_of_equal_scores(data)
        self.warn_of_doubt()
        return self

    def predict(self, X: ArrayLike, *, callback: Callback | None = None) -> FloatArray:
        """Return scores f(x) of documents X (n, d) -> (n,); higher ranks earlier.

        `callback` gets the finished share several times a second; returning True raises `StopRequested`.
        """
        return self.scores(self._checked(X), reporter(callback))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        definition: str | Definition = USUAL,
        at: int = 10,
    ) -> float:
        """Return mean NDCG@10 over queries: gain 2^y − 1, discount 1/log2(rank + 1) (see `rankviz.NDCG`).

        For a query with fewer documents @10 means its whole list; queries without a relevant document are
        left out. `definition` and `at` choose another metric: LETOR 4.0's, "letor", counts queries with fewer
        than 10 documents as 0. `sample_weight` (n,), equal within a query, weights the mean. Warns with
        `DataWarning` if every model would have the same score (NaN if no query counts). Equal scores count at
        the mean over their orders. With a definition that keeps the order of the file instead, it warns if
        that order changes the mean (`NDCG.ties`).
        """
        data = RankingData.from_arrays(
            self._checked(X), grades_of(y), query_ids_of(qid), regroup=True, copy=False
        )
        weights = None if sample_weight is None else query_weights(sample_weight, data, data.rows)
        return NDCG(at, definition).mean(self.scores(data.X, silent), data, weights)

    def _checked(self, X: ArrayLike) -> FloatArray:
        """Return documents to score, with the columns of training, or raise `DataError`."""
        check_is_fitted(self, "n_features_in_")
        if hasattr(X, "columns"):
            check_columns(self, X)  # first: a table with other columns may have missing values
            out = features_of(X)
        else:
            out = features_of(X)
            check_columns(self, X)
        check_width(self, out)
        return out

    def learned(self, n_features: int, columns: Columns = UNNAMED) -> None:
        """Mark it as fitted on so many features, with these names of columns."""
        self.n_features_in_ = n_features
        columns.put_on(self)

    @property
    def columns(self) -> Columns:
        """Names of the columns that it was trained on."""
        return Columns.on(self)
