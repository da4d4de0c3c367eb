"""Metrics as objects: `NDCG(10)` has a name, computes itself, and scores in scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, DataWarning, SettingError
from rankviz.common.numbers import span
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.parts import query_weights, take_queries
from rankviz.datasets.types import RankingData
from rankviz.metrics.definitions import DEFINITIONS, Definition, definition_of
from rankviz.metrics.evaluation import ROUNDING, Evaluation, evaluate, matched
from rankviz.metrics.formulas import FORMULAS, PERSISTENCE, Formula, check, options_of, read_name, spelled

USUAL = "textbook"
"""The default definition: it counts queries with few documents too, and takes the mean over equal scores."""

FEW = 50
"""Number of queries to try first for a value that depends on the ranking; usually the first one does."""


class Measure:
    """A metric with a definition: returns the mean over queries for scores of documents.

    Measures with the same name and definition are equal. `repr` names them as ir_measures does, and `measure`
    parses it. `formula` has the formula, its source and range.
    """

    definition: str | Definition

    @property
    def formula(self) -> Formula:
        """Return formula, source and range."""
        return FORMULAS[type(self).__name__]

    @property
    def parameters(self) -> list[float]:
        """Return the k of "@k", or the p of RBP; empty for metrics without."""
        return [getattr(self, self.formula.takes)] if self.formula.takes else []

    @property
    def name(self) -> str:
        """Return the name of its column in `evaluate`, without the definition: "NDCG@10"."""
        return self.formula.columns(self.parameters)[0]

    @property
    def label(self) -> str:
        """Return the name with the definition, unless it is the usual one: "NDCG@10 (letor)"."""
        name = definition_of(self.definition).name
        return self.name if name == USUAL else f"{self.name} ({name})"

    def __post_init__(self) -> None:
        """Look up the definition, and raise SettingError if it lacks this metric."""
        object.__setattr__(self, "definition", definition_of(self.definition))
        check(self.formula, self.parameters, definition_of(self.definition))

    def __repr__(self) -> str:
        chosen = definition_of(self.definition)
        changes = options_of(chosen, DEFINITIONS.get(chosen.name, chosen))
        by = "" if chosen.name == USUAL else chosen.name
        return spelled(self.formula, self.parameters, changes, by)

    def __call__(
        self,
        scores: ArrayLike,
        y: ArrayLike | RankingData,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean over queries for scores (n,) of documents with grades y (n,) in queries qid (n,).

        A `RankingData` may replace y and qid. With `sample_weight` (n,), equal for all documents of a query,
        the mean is weighted. Warns with `DataWarning` if every ranking has the same value. This may be NaN,
        if the definition leaves out all queries. Raises `DataError` like `evaluate`.
        """
        ours, data = _paired(scores, y, qid)
        if sample_weight is None:
            return self.mean(ours, data)
        rows = None if isinstance(y, RankingData) else data.rows
        return self.mean(ours, data, query_weights(sample_weight, data, rows))

    def per_query(
        self, scores: ArrayLike, y: ArrayLike | RankingData, qid: ArrayLike | None = None
    ) -> pd.Series[float]:
        """Return the value of each query, by query id; NaN for queries that the definition leaves out."""
        return self._values(*_paired(scores, y, qid))

    def mean(self, scores: ArrayLike, data: RankingData, weights: FloatArray | None = None) -> float:
        """Return the mean over queries of `data`, weighted by weights (Q,).

        Warns with `DataWarning` if every ranking has this mean, and if the order of equal scores in the file
        decides it (see `ties`), unless the definition takes the mean over their orders.
        """
        ours = scores
        if weights is not None:
            counted = weights > 0
            checked = score_array(scores, data.n_documents, data.name, data.query_of)
            ours = checked[np.repeat(counted, np.diff(data.ptr))]
            data, weights = take_queries(data, np.flatnonzero(counted)), weights[counted]
        values = self._values(ours, data).to_numpy()
        if not self._tells_apart(data):
            text = f"{self.label} is the same for every ranking of these {data.n_queries:,} queries: {_WHY}"
            warnings.warn(text, DataWarning, stacklevel=3)
        if definition_of(self.definition).ties != "mean" and (text := self.ties(ours, data, weights)):
            warnings.warn(text, DataWarning, stacklevel=3)
        return _average(values, weights)

    def ties(self, scores: ArrayLike, data: RankingData, weights: FloatArray | None = None) -> str:
        """Say what mean and order of the file make of documents that share a score; "" if the same.

        The text appears if the two differ by more than `ROUNDING`. It also has the extremes. All are exact.
        """

        def by(rule: str) -> Evaluation:
            return evaluate(scores, data, self.definition, ties=rule, measures=[self.name])

        n_tied = by("order").n_tied
        if n_tied == 0:
            return ""
        order, mean, worst, best = (
            _average(by(rule).per_query[self.name].to_numpy(), weights)
            for rule in ("order", "mean", "worst", "best")
        )
        if not abs(order - mean) > ROUNDING:
            return ""
        return (
            f"{self.label} depends on the order of documents that share a score: it is {mean:.3f} as the "
            f"mean over all orders, {order:.3f} in the order given, and {span(worst, best, '.3f')} in others."
            f" In {n_tied:,} of {data.n_queries:,} queries documents of different grades share a score."
        )

    def scorer(self) -> Any:
        """Return a scorer for `scoring=` of `GridSearchCV` and similar; metadata routing passes qid to it.

        It is negative for a metric of which less is better, as in scikit-learn. Raises RuntimeError without a
        prior call of `sklearn.set_config(enable_metadata_routing=True)`.
        """
        from sklearn.metrics import make_scorer  # here: the import is slow, and pages do not need it

        more = self.formula.more_is_better
        made = make_scorer(self.of_grades, response_method="predict", greater_is_better=more)
        return made.set_score_request(qid=True)

    def of_grades(
        self, y: ArrayLike, scores: ArrayLike, *, qid: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the same with grades first, as in scikit-learn."""
        return self(scores, y, qid, sample_weight=sample_weight)

    def _values(self, scores: ArrayLike, data: RankingData) -> pd.Series[float]:
        table = evaluate(scores, data, self.definition, measures=[self.name]).per_query
        return cast("pd.Series[float]", table[self.name])

    def _tells_apart(self, data: RankingData) -> bool:
        """Return True if some query's best and worst ranking have different values."""
        paired = _with_pairs(data)
        for queries in (paired[:FEW], paired[FEW:]):
            part = take_queries(data, queries)
            best, worst = (self._values(sign * part.y, part).to_numpy() for sign in (1.0, -1.0))
            if np.any((best > worst) | (best < worst)):
                return True
        return False


def _average(values: NDArray[Any], weights: FloatArray | None) -> float:
    """Return the mean of known values (Q,), with weights (Q,); NaN if all are NaN."""
    there = ~np.isnan(values)
    if not there.any():
        return float("nan")
    return float(np.average(values[there], weights=None if weights is None else weights[there]))


_WHY = (
    "they have documents of one grade only, or fewer than the definition asks for, so that it cannot compare "
    "models"
)


class _Cut(type):
    """Metaclass of metrics of the first k: `NDCG @ 10` is `NDCG(10)`."""

    def __matmul__(cls, k: int) -> Any:
        return cls(k)


@dataclass(frozen=True, repr=False)
class _FirstK(Measure, metaclass=_Cut):
    """A metric of the first k documents."""

    k: int
    definition: str | Definition = USUAL


@dataclass(frozen=True, repr=False)
class _Whole(Measure):
    """A metric of the whole list."""

    definition: str | Definition = USUAL


class NDCG(_FirstK):
    """Normalised discounted cumulative gain of the first k documents.

    DCG@k = Σ_{i≤k} gain(y_i)·discount(i), divided by that of the best order. In the usual definition
    ("textbook") the gain is 2^y − 1 and the discount 1/log2(i + 1); the gain of ir_measures' nDCG is y. For a
    shorter list, @k means the whole list. Queries without a relevant document are left out;
    `rankviz.metrics.DEFINITIONS` has other definitions.

    Examples
    --------
    >>> from rankviz import NDCG
    >>> NDCG(10), NDCG @ 10 == NDCG(10), NDCG(10, "letor")
    (nDCG@10, True, nDCG@10 (letor))
    >>> scores, grades, queries = [0.3, 0.9, 0.1, 0.2], [2, 0, 1, 0], [1, 1, 2, 2]
    >>> round(NDCG(10)(scores, grades, queries), 4)
    0.6309
    >>> NDCG(10).per_query(scores, grades, queries).round(4).to_dict()
    {1: 0.6309, 2: 0.6309}
    """


class P(_FirstK):
    """Precision of the first k documents: the share of relevant ones.

    Examples
    --------
    >>> from rankviz import P
    >>> P(2)([0.3, 0.9, 0.1], [2, 0, 1], [1, 1, 1])
    0.5
    """


class MAP(_Whole):
    """Mean average precision: the mean of P@i over the ranks i of a query's relevant documents.

    Examples
    --------
    >>> from rankviz import MAP
    >>> round(MAP()([0.3, 0.9, 0.1], [2, 0, 1], [1, 1, 1]), 4)
    0.5833
    """


class MeanNDCG(_Whole):
    """The mean of NDCG@1 … NDCG@n of a query of n documents.

    Examples
    --------
    >>> from rankviz import MeanNDCG
    >>> round(MeanNDCG()([0.3, 0.9, 0.1], [2, 0, 1], [1, 1, 1]), 4)
    0.3934
    """


class ERR(_FirstK):
    """Expected reciprocal rank: 1/rank of the document at which a reader stops, 0 after k (chapelle2009).

    She stops at a document of grade y with probability (2^min(y, 4) − 1)/16, as in gdeval.pl.
    """


@dataclass(frozen=True, repr=False)
class RBP(Measure):
    """Rank-biased precision: (1 − p) Σ p^(i − 1) over the ranks i of relevant documents (moffat2008).

    Examples
    --------
    >>> from rankviz.metrics import RBP
    >>> RBP(0.5), RBP(0.5)([3, 2, 1], [1, 0, 1], [1, 1, 1])
    (RBP(p=0.5), 0.625)
    """

    p: float = PERSISTENCE
    definition: str | Definition = USUAL


class RR(_Whole):
    """Reciprocal rank of the first relevant document; its mean over queries is MRR (voorhees1999)."""


class R(_FirstK):
    """Recall of the first k documents: the share of the relevant documents that are among them."""


class Rprec(_Whole):
    """R-precision: the precision of the first R documents of a query with R relevant ones (manning2008)."""


class Bpref(_Whole):
    """Binary preference: how few irrelevant documents stand above relevant ones (buckley2004).

    The mean over relevant documents of 1 − min(irrelevant ones above, B)/B, where B is the smaller number of
    relevant and irrelevant documents. All documents count as judged.
    """


class PairAccuracy(_Whole):
    """The share of pairs of different grades in the right order; tied pairs count one half in the mean.

    Examples
    --------
    >>> from rankviz.metrics import PairAccuracy
    >>> PairAccuracy()([3, 2, 2], [1, 2, 0], [1, 1, 1])
    0.5
    """


class MeanRank(_Whole):
    """The mean rank of relevant documents: less is better. Queries without one are left out."""


_KINDS: Mapping[str, type[Measure]] = {
    kind.__name__: kind
    for kind in (NDCG, P, MAP, MeanNDCG, ERR, RBP, RR, R, Rprec, Bpref, PairAccuracy, MeanRank)
}


def measure(name: str | Measure) -> Measure:
    """Return the metric with a name like "NDCG@10", "MAP" or "P@5 (letor)"; return a `Measure` unchanged.

    Names of ir_measures work too: "nDCG@10", "AP", "RBP(p=0.8)". Brackets may change the definition: `gains`
    by grade, `discount` by rank, `rel` (the lowest relevant grade), and the rule for `ties`.

    Raises `SettingError` for an unknown metric, ValueError for an unknown definition.

    Examples
    --------
    >>> from rankviz import NDCG, measure
    >>> measure("nDCG@10") == measure("NDCG@10") == NDCG(10), measure("MAP (letor)")
    (True, AP (letor))
    >>> measure("nDCG(gains={1: 1, 2: 10}, discount=(1, 0.5))@2")([2, 1], [1, 2], qid=[1, 1])
    0.5714285714285714
    >>> measure("P(rel=2)@5 (letor)"), measure("AP(ties='worst')")
    (P(rel=2)@5 (letor), AP(ties='worst'))
    """
    if isinstance(name, Measure):
        return name
    formula, parameters, options, by = read_name(name)
    if formula.name not in _KINDS:
        raise SettingError(f"{name!r}: only evaluate has {formula.name}, by its definitions")
    definition = replace(definition_of(by or USUAL), **options)
    return cast(Measure, cast(Any, _KINDS[formula.name])(*parameters, definition=definition))


def _paired(
    scores: ArrayLike, y: ArrayLike | RankingData, qid: ArrayLike | None
) -> tuple[FloatArray, RankingData]:
    """Return scores with their documents as a `RankingData`, in its order."""
    if callable(getattr(scores, "predict", None)):  # scikit-learn calls scoring= with an estimator
        raise DataError(
            f"a {type(scores).__name__} instead of scores",
            expected="one score for each document",
            remedy="Pass the result of predict; for scoring= pass the metric's scorer: NDCG(10).scorer().",
        )
    if isinstance(y, RankingData) and qid is not None:
        raise SettingError("omit qid: the RankingData contains its own")
    if not isinstance(y, RankingData) and qid is None:
        raise DataError(
            "no query ids",
            expected="one query id for each document",
            remedy="Pass qid, or a RankingData instead of y.",
        )
    data, values = matched(scores, y, qid)
    return values, data


def _with_pairs(data: RankingData) -> IntArray:
    """Return the positions of queries with at least two grades."""
    starts = data.ptr[:-1]
    if len(starts) == 0:
        return starts
    return np.flatnonzero(np.maximum.reduceat(data.y, starts) > np.minimum.reduceat(data.y, starts))
