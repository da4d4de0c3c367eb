"""What every ranker has: scikit-learn's conventions around training and scores, and what runs keep of it."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Callback, Report, reporter
from rankviz.datasets.types import DataError, DataWarning, RankingData
from rankviz.metrics import evaluate
from rankviz.risk.pairs import count_pairs

LARGEST_FEATURE = 1e140  # sums of squares must stay below the largest float64, about 1e308


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
    """

    n_features_in_: int

    @abstractmethod
    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a `RankingData`, which is checked already; see `fit`."""

    @abstractmethod
    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Scores of documents X (n, d), checked already -> (n,)."""

    def outcome(self) -> Outcome:
        """What a run keeps of it, after `fit_data`."""
        return Outcome()

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike, callback: Callback | None = None) -> Self:
        """Train on documents X (n, d) with grades y (n,) ≥ 0 in queries qid (n,).

        `callback` is called with `Progress` several times a second; returning True stops: during the
        solver's steps the weights so far are kept, before that `StopRequested` is raised.
        Raises `DataError` for data that cannot be used, `SettingError` for a setting out of its range; warns
        with `DataWarning` where no query has two grades, so that there is nothing to learn.
        """
        data = RankingData.from_arrays(X, y, qid, regroup=True)
        self.fit_data(data, callback=callback)
        if not count_pairs(data.y, data.ptr).any():
            text = "no query has documents of different grades: no preference pair, every score is the same"
            warnings.warn(text, DataWarning, stacklevel=2)
        return self

    def predict(self, X: ArrayLike, *, callback: Callback | None = None) -> FloatArray:
        """Scores f(x) of documents X (n, d) -> (n,); higher ranks earlier.

        `callback` is told the share done several times a second; returning True raises `StopRequested`.
        """
        return self.scores(self._checked(X), reporter(callback))

    def score(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike) -> float:
        """Mean NDCG@10 over queries, LETOR 4.0's definition (see `rankviz.evaluate`)."""
        data = RankingData.from_arrays(X, y, qid, regroup=True)
        return float(evaluate(self.predict(data.X), data, at=[10]).mean["NDCG@10"])

    def _checked(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self, "n_features_in_")
        try:
            out = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"features that are not numbers ({error})",
                expected="a numeric matrix with one row per document",
                remedy="Convert the features to numbers first.",
            ) from error
        if out.ndim != 2 or out.shape[1] != self.n_features_in_:
            raise DataError(
                f"documents of shape {out.shape}",
                expected=f"(documents, {self.n_features_in_}) as in training",
                remedy="Score documents with the features the model was trained on.",
            )
        if not np.isfinite(out).all():
            raise DataError(
                "features that are not finite",
                expected="finite features",
                remedy="Fill or drop missing values first.",
            )
        refuse_huge(out)
        return out


def refuse_unusable(data: RankingData) -> None:
    """Raise `DataError` for a training part without documents or features, or with features too large."""
    if data.n_documents == 0 or data.n_features == 0:
        raise DataError(
            f"{data.n_documents} documents with {data.n_features} features",
            expected="at least one document with one feature",
            remedy="Check the training part.",
            path=data.name or None,
        )
    refuse_huge(data.X)


def refuse_huge(X: FloatArray) -> None:
    """Raise `DataError` for features whose squares are no numbers."""
    if max(X.max(initial=0.0), -X.min(initial=0.0)) > LARGEST_FEATURE:
        raise DataError(
            f"features beyond ±{LARGEST_FEATURE:g}",
            expected="features whose squares are numbers",
            remedy="Normalise the features first.",
        )
