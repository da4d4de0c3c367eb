"""What every ranker has: scikit-learn's conventions around training and scores, and what runs keep of it.

See docs/decisions/0033-contracts-of-rankers-and-designs.md.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Report, reporter, silent
from rankviz.datasets.query_weights import query_weights, weighed
from rankviz.datasets.types import DataWarning, RankingData
from rankviz.features.forms import Expansion, Form
from rankviz.metrics.definitions import Definition
from rankviz.metrics.measures import NDCG, USUAL
from rankviz.models.inputs import (
    UNNAMED,
    Columns,
    check_columns,
    check_width,
    features_of,
    grades_of,
    query_ids_of,
)
from rankviz.risk.pairs import count_pairs

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
    """What a run keeps of a fitted ranker beside its scores; a ranker that has less leaves the rest out.

    Attributes
    ----------
    status : str
        How training ended, as a sentence.
    stopped : bool
        Whether it was stopped on request.
    objective : float
        What was minimised, at the end; NaN where there is no such thing.
    n_components : int
        Feature dimensions that were used; 0 where there are none.
    weights : (m,) float64
    trace : DataFrame
        One row per iteration.
    seconds : dict
        Stage -> seconds.
    start : str
        What training started from, in words.
    solution : dict of float64 arrays
        What was found beside weights.
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
    """Scores of documents, learned from queries whose documents have grades.

    A subclass has its settings as parameters of the constructor, and two methods: `fit_data`, which trains,
    and `scores`. What more a fitted one can tell it says in `outcome`, and its entry in
    `rankviz.models.methods.METHODS` declares.

    Attributes
    ----------
    n_features_in_ : int
        d, set by `fit_data`.
    feature_names_in_ : (d,) object
        Names of the columns, where `fit` was given a table whose columns all have strings for names.
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    @abstractmethod
    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a `RankingData`, which is checked already; see `fit`."""

    @abstractmethod
    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Scores of documents X (n, d), checked already -> (n,)."""

    def form(self) -> Form:
        """What its scores are as functions of single features; `SettingError` where that is not known."""
        raise SettingError(
            f"the scores of {type(self).__name__} are not known to be sums, or sums of products, of "
            "functions of single features; RankSVM's are with feature_map='linear', 'nystroem', 'fourier' or "
            "'exact', and kernel='rbf', 'laplacian' or 'linear'"
        )

    def expansion(self) -> Expansion:
        """Its scores as a sum of kernel values; `SettingError` where they are none."""
        raise SettingError(
            f"the scores of {type(self).__name__} are not known to be sums of kernel values; RankSVM's are "
            "with feature_map='nystroem' or 'exact'"
        )

    def outcome(self) -> Outcome:
        """What a run keeps of it, after `fit_data`."""
        return Outcome()

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: there is no training without grades, and sparse features are made dense."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def warn_of_settings(self, stacklevel: int = 2) -> None:
        """Warn with `SettingWarning` of settings that were given and are not read, as `fit` does."""

    def doubt(self) -> str:
        """Why the fitted model may not be where training was to lead, and what to do; "" where it is."""
        return ""

    def warn_of_doubt(self, stacklevel: int = 2) -> None:
        """Warn with scikit-learn's `ConvergenceWarning` where there is a doubt.

        `fit` and `fit_curve` do. `fit_data` and runs (`rankviz.execute`) do not: there the status says it.
        """
        if self.doubt():
            warnings.warn(self.doubt(), ConvergenceWarning, stacklevel=stacklevel + 1)

    def warn_of_equal_scores(self, data: RankingData, stacklevel: int = 2) -> None:
        """Warn with `DataWarning` where all scores are equal: no pairs, or weights that stayed 0.

        `fit` and `fit_curve` do; of weights only where training had come to its end.
        """
        if not count_pairs(data.y, data.ptr).any():
            warnings.warn(_NO_PAIRS, DataWarning, stacklevel=stacklevel + 1)
            return
        found = self.outcome()
        if (
            found.weights.size
            and not found.stopped
            and not self.doubt()
            and self._all_equal(data, found.weights)
        ):
            warnings.warn(_ALL_ZERO, DataWarning, stacklevel=stacklevel + 1)

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
        """Train on a `RankingData` whose queries have weights (Q,), each above 0; for rankers that can."""
        raise SettingError(f"{type(self).__name__} takes no sample_weight: it has no weights of queries")

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Train on documents X (n, d) with grades y (n,) ≥ 0 in queries qid (n,), which have to be given.

        `sample_weight` (n,) weighs queries, so that all documents of one have the same: it multiplies what
        the pairs of the query cost. Weight 2 is the query twice, weight 0 leaves it out.
        `callback` is called with `Progress` several times a second; returning True stops: during the
        solver's steps the weights so far are kept, before that `StopRequested` is raised.
        Raises `DataError` for data that cannot be used, `SettingError` for a setting out of its range. Warns
        with `SettingWarning` of settings that the choices made do not read, with `DataWarning` where every
        score is the same (no query has two grades, or all weights stayed 0), and with scikit-learn's
        `ConvergenceWarning` where the solver ended before its tolerance was met, unless it was stopped.
        """
        columns = Columns.of(X)
        self.warn_of_settings()
        data = RankingData.from_arrays(X, grades_of(y), query_ids_of(qid), regroup=True)
        if sample_weight is None:
            self.fit_data(data, callback=callback)
        else:
            data, weights = weighed(data, sample_weight, data.rows)
            self.fit_weighted(data, weights, callback)
        columns.put_on(self)
        self.warn_of_equal_scores(data)
        self.warn_of_doubt()
        return self

    def predict(self, X: ArrayLike, *, callback: Callback | None = None) -> FloatArray:
        """Scores f(x) of documents X (n, d) -> (n,); higher ranks earlier.

        `callback` is told the share done several times a second; returning True raises `StopRequested`.
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
        """Mean NDCG@10 over queries: gain 2^y − 1, discount 1/log2(rank + 1) (see `rankviz.NDCG`).

        For a query of fewer documents @10 means its whole list, and queries without a relevant document are
        left out. `definition` and `at` ask for another one: LETOR 4.0's, "letor", counts queries of fewer
        than 10 documents as 0. `sample_weight` (n,), the same within a query, weighs the mean. Warns with
        `DataWarning` where every model would have the same score, which is NaN if no query counts, and where
        many documents share a score, so that their order in the file decides the mean (`NDCG.ties`).
        """
        data = RankingData.from_arrays(self._checked(X), grades_of(y), query_ids_of(qid), regroup=True)
        weights = None if sample_weight is None else query_weights(sample_weight, data, data.rows)
        return NDCG(at, definition).mean(self.scores(data.X, silent), data, weights)

    def _checked(self, X: ArrayLike) -> FloatArray:
        """Documents to score, with the columns of training, or `DataError`."""
        check_is_fitted(self, "n_features_in_")
        if hasattr(X, "columns"):
            check_columns(self, X)  # first: a table with other columns may well have gaps
            out = features_of(X)
        else:
            out = features_of(X)
            check_columns(self, X)
        check_width(self, out)
        return out

    def learned(self, n_features: int, columns: Columns = UNNAMED) -> None:
        """Be fitted on documents with so many features; `fit` then says what their columns are called."""
        self.n_features_in_ = n_features
        columns.put_on(self)

    @property
    def columns(self) -> Columns:
        """What the columns that it was trained on are called."""
        return Columns.on(self)
