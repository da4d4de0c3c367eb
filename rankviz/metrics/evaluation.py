"""Metrics from scores: first per query, then averaged over queries.

Queries of similar size form a block: a matrix with one ranked list per row. Each metric is a few cumulative
sums along the rows. There is no loop over queries, and no sum crosses queries.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import plain_array, score_array
from rankviz.datasets.types import RankingData, require_data
from rankviz.metrics.definitions import DISCOUNTS, GAINS, SHORT_QUERIES, Definition, definition_of
from rankviz.metrics.significance import queries_in_words

MANY = 0.1
"""Warn if at least this share of a query's documents is tied."""
_LARGEST_GRADE = 1000  # 2^y summed over a query must stay below the largest float64, about 2^1024


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Metrics of one scoring of one part, with their definition.

    Attributes
    ----------
    per_query : DataFrame, (Q, columns)
        `NDCG@k`, `MeanNDCG`, `P@k`, `MAP` (and he2009's `AvgNDCG`, `AvgPrec`) in [0, 1], indexed by query id.
        Only columns in the definition; NaN for queries that it leaves out.
    definition : Definition
        Definition of the columns.
    n_queries : int
        Number of queries, including empty ones.
    n_empty : int
        Queries without a relevant document (P@k and MAP are 0, or left out).
    n_gainless : int
        Queries without a document graded above 0 (NDCG is 0 too); differs from `n_empty` only where
        relevance starts at a higher grade.
    n_unknown : int
        Documents whose grade is above the definition's script.
    n_short : int
        Queries with fewer documents than the largest k, where NDCG@k is 0 for all scores. 0 if the definition
        has another rule.
    n_tied : int
        Queries in which more than a tenth of the documents share a score with a document of another grade.
        Their order in the file then matters; `NDCG(10).ties` measures the effect.
    """

    per_query: pd.DataFrame
    definition: Definition
    n_queries: int
    n_empty: int
    n_gainless: int
    n_unknown: int = 0
    n_short: int = 0
    n_tied: int = 0

    def __repr__(self) -> str:
        """Return the means, with definition and queries."""
        tied = (
            f"; in {queries_in_words(self.n_tied)} more than a tenth of the documents share a score with "
            "another grade"
        )
        return f"{self.mean.round(4).to_string()}\n{self.caption}{tied * (self.n_tied > 0)}"

    @cached_property
    def mean(self) -> pd.Series[float]:
        """Return the mean of each column over the queries that count; NaN if none does."""
        return self.per_query.mean()

    @property
    def caption(self) -> str:
        """Return definition, number of queries, and treatment of empty and short queries."""
        head = f"{self.definition.label} definition, {queries_in_words(self.n_queries)}"
        return f"{head}, {self._empty}{unknown_grades(self.definition, self.n_unknown)}{self._short}"

    @property
    def _short(self) -> str:
        """Number of queries that are too short for the largest k, in words; "" for none."""
        if self.n_short == 0:
            return ""
        columns = map(str, self.per_query.columns)
        k = max(int(name.removeprefix("NDCG@")) for name in columns if name.startswith("NDCG@"))
        have = "has" if self.n_short == 1 else "have"
        return f"; {queries_in_words(self.n_short)} {have} fewer than {k} documents, where NDCG@{k} is 0"

    @property
    def _empty(self) -> str:
        """Number of queries without a relevant document, and their treatment, in words."""
        value = f"counted as {self.definition.empty_value:g}"
        if self.definition.leaves_out_empty:
            return some_of(self.n_empty, "without a relevant document", "left out")
        if self.definition.relevant_from == 1:
            where = " in NDCG and MAP" if self.definition.empty_value else ""
            return some_of(self.n_empty, "without a relevant document", f"{value}{where}")
        least = self.definition.relevant_from
        return (
            f"{some_of(self.n_gainless, 'without a document graded above 0', value)}, "
            f"{some_of(self.n_empty, f'without one of grade {least} or more', f'{value} in P and MAP')}"
        )


def some_of(n: int, what: str, then: str) -> str:
    """Count queries in words with their treatment: "2 of them without …, counted as 0"."""
    return f"{n:,} of them {what}, {then}" if n else f"none {what}"


def unknown_grades(definition: Definition, n: int) -> str:
    """Describe for captions how the definition treats `n` documents with grades above its script."""
    if n == 0:
        return ""
    head = f"; {n:,} document{'s have grades' if n > 1 else ' has a grade'} above {definition.known_to}"
    if definition.relevant_to is not None:
        return f"{head}, which count as irrelevant, with gain 0"
    return f"{head}, with gains by the same formula where the script gives 0"


def evaluate(
    scores: ArrayLike,
    data: RankingData | ArrayLike,
    definition: str | Definition = "letor",
    at: Iterable[int] = range(1, 11),
    *,
    qid: ArrayLike | None = None,
) -> Evaluation:
    """Compute NDCG@k, MeanNDCG, P@k and MAP of `scores` (n,), per query and on average.

    `data` is a `RankingData` in the order of the scores. Or it is grades (n,), with query ids `qid` (n,) of
    the same documents, all in the same order. Documents are ranked by decreasing score; ties keep the order
    of the file or arrays. With grades y_1, y_2, … in that order, DCG@k = Σ_{i≤k} gain(y_i)·discount(i),
    NDCG@k = DCG@k / DCG@k of the best order, P@k = hits@k / k, AP = Σ_i P@i·[document i relevant] / relevant
    documents, over the full list. `definition` (a name in `DEFINITIONS`, or a `Definition`) sets the rest.
    With "letor", NDCG@k of a query with fewer than k documents is 0 for all scores. With "textbook", as in
    `RankSVM.score`, it is that of the whole list, and queries without a relevant document are left out. `at`
    lists the k of the columns.

    Raises `DataError` unless scores are n finite numbers, `ValueError` for an unknown definition or a k
    outside it. Source: the LETOR scripts Eval-Score-3.0.pl, Eval-Score-4.0.pl and MSLR's
    eval-score-mslrweb.pl; he2009 §3, eq. 5–6 and §4.2; jarvelin2002 for NDCG.

    Examples
    --------
    >>> from rankviz import RankingData, evaluate
    >>> data = RankingData.from_arrays([[0.0]] * 4, y=[2, 0, 1, 1], qid=[1] * 4)
    >>> result = evaluate([4, 3, 2, 1], data, definition="textbook", at=[1, 3])
    >>> result.mean.drop("MeanNDCG").round(3).to_dict()
    {'NDCG@1': 1.0, 'NDCG@3': 0.847, 'P@1': 1.0, 'P@3': 0.667, 'MAP': 0.806}
    >>> result = evaluate([0.9, 0.1, 0.3], [1, 0, 2], qid=["a", "b", "a"], at=[1])
    >>> result
    NDCG@1      0.1667
    MeanNDCG    0.3333
    P@1         0.5000
    MAP         0.5000
    LETOR 4.0 definition, 2 queries, 1 of them without a relevant document, counted as 0
    >>> result.per_query["NDCG@1"].round(3).to_dict()
    {'a': 0.333, 'b': 0.0}
    """
    chosen = definition_of(definition)
    ranks = _checked_ranks(at, chosen)
    part, values = matched(scores, data, qid)
    if part.n_documents and int(part.y.max()) > _LARGEST_GRADE:
        raise DataError(
            f"grade {part.y.max()}",
            expected=f"grades up to {_LARGEST_GRADE}",
            remedy="Number the grades 0, 1, 2, …",
            path=part.name or None,
        )
    names = _columns(chosen, ranks)
    table, empty = np.empty((part.n_queries, len(names))), np.empty((2, part.n_queries), np.bool_)
    for queries, grades in _ranked(values, part):
        sizes = np.diff(part.ptr)[queries]
        table[queries] = _metrics(grades, sizes, chosen, ranks)
        top = np.where(_not_beyond(grades, chosen), grades, 0).max(axis=1)
        empty[:, queries] = top < chosen.relevant_from, top < 1
    if chosen.leaves_out_empty:
        table[empty[0]] = np.nan
    frame = pd.DataFrame(table, index=pd.Index(part.query_labels, name="query"), columns=names)
    short = chosen.short_ndcg == "zero"
    n_empty, n_gainless = empty.sum(axis=1).tolist()
    return Evaluation(
        frame,
        chosen,
        part.n_queries,
        n_empty,
        n_gainless,
        n_unknown=chosen.unknown(part.y),
        n_short=int((np.diff(part.ptr) < ranks.max(initial=0)).sum()) if short else 0,
        n_tied=int((tied_shares(values, part) > MANY).sum()),
    )


def _not_beyond(grades: FloatArray, definition: Definition) -> BoolArray:
    """Return True for grades that are not above the highest relevant grade."""
    return grades <= (np.inf if definition.relevant_to is None else definition.relevant_to)


def matched(
    scores: ArrayLike, data: RankingData | ArrayLike, qid: ArrayLike | None
) -> tuple[RankingData, FloatArray]:
    """Return the documents with their scores (n,) in the same order; arrays are regrouped by query."""
    if isinstance(data, RankingData) and qid is not None:
        raise ValueError(
            "RankingData already contains queries: omit qid, or pass grades instead of the data."
        )
    if isinstance(data, RankingData):
        return data, score_array(scores, data.n_documents, data.name, data.query_of)
    if qid is None:
        require_data(data, "Call evaluate(scores, data), or with arrays evaluate(scores, y, qid=qid).")
    ids = plain_array(cast(ArrayLike, qid), "query ids", "one for each document", "")
    n = ids.shape[0] if ids.ndim else 1
    values = score_array(scores, n, "", lambda document: ids[document])
    part = RankingData.from_arrays(np.zeros((n, 0)), data, cast(ArrayLike, qid), regroup=True)
    return part, values[part.rows]


def _columns(definition: Definition, ranks: IntArray) -> list[str]:
    """Return the names of the columns, in the order of `_metrics`."""
    averages = ["AvgNDCG", "AvgPrec"] if definition.averaged_to else []
    mean = ["MeanNDCG"] if definition.mean_ndcg else []
    return [*(f"NDCG@{k}" for k in ranks), *mean, *(f"P@{k}" for k in ranks), "MAP", *averages]


def _metrics(grades: FloatArray, sizes: IntArray, definition: Definition, ranks: IntArray) -> FloatArray:
    """Return the columns for ranked lists `grades` (b, w), with zeros after `sizes` (b,) entries."""
    places = np.arange(1, grades.shape[1] + 1)
    present = places <= sizes[:, None]
    ndcg = _ndcg_curve(grades, definition)
    relevant = (grades >= definition.relevant_from) & _not_beyond(grades, definition)
    precision = np.cumsum(relevant, axis=1) / places
    columns = [_at(ndcg, ranks, sizes, definition.short_ndcg)]
    if definition.mean_ndcg:
        columns.append((ndcg * present).sum(axis=1, keepdims=True) / sizes[:, None])
    columns.append(_at(precision, ranks, sizes, definition.short_precision))
    columns.append(_average_precision(precision, relevant, definition.empty_value))
    if definition.averaged_to:
        upto = np.arange(1, definition.averaged_to + 1)
        for curve, short in ((ndcg, definition.short_ndcg), (precision, definition.short_precision)):
            columns.append(_at(curve, upto, sizes, short).mean(axis=1, keepdims=True))
    return np.hstack(columns)


def _ndcg_curve(grades: FloatArray, definition: Definition) -> FloatArray:
    """Return NDCG@1, @2, …, @w of each row, (b, w)."""
    gains = GAINS[definition.gain](grades)
    discounts = DISCOUNTS[definition.discount](np.arange(1.0, grades.shape[1] + 1))
    found = np.cumsum(gains * discounts, axis=1)
    best = np.cumsum(np.sort(gains, axis=1)[:, ::-1] * discounts, axis=1)
    return np.divide(found, best, out=np.full_like(found, definition.empty_value), where=best > 0)


def _average_precision(precision: FloatArray, relevant: BoolArray, empty: float) -> FloatArray:
    """Return the mean of the precision at the relevant documents, (b, 1); `empty` for rows without one."""
    total = relevant.sum(axis=1, keepdims=True)
    summed = np.sum(precision * relevant, axis=1, keepdims=True)
    return np.where(total > 0, summed / np.maximum(total, 1), empty)


def _at(curve: FloatArray, ranks: IntArray, sizes: IntArray, short: str) -> FloatArray:
    """Return `curve` (b, w) at `ranks` (K,) as (b, K); rows shorter than k follow the rule `short`."""
    size = sizes[:, None]
    values = np.take_along_axis(curve, np.minimum(ranks, size) - 1, axis=1)
    return np.where(ranks > size, values * SHORT_QUERIES[short](size, ranks), values)


def _ranked(scores: FloatArray, data: RankingData) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield blocks of queries whose sizes differ by less than a factor of two, with grades in ranked order.

    Yields query positions (b,) and grades (b, w), padded with zeros: at most half of a block is padding.
    """
    sizes = np.diff(data.ptr)
    in_file_order = np.lexsort((data.rows, np.repeat(np.arange(data.n_queries), sizes)))
    bands = np.frexp(sizes)[1]
    for band in np.unique(bands):
        queries = np.flatnonzero(bands == band)
        places = np.arange(sizes[queries].max())
        present = places < sizes[queries, None]
        documents = in_file_order[np.where(present, data.ptr[queries, None] + places, 0)]
        ranking = np.argsort(np.where(present, -scores[documents], np.inf), axis=1, kind="stable")
        grades = np.where(present, data.y[documents], 0).astype(np.float64)
        yield queries, np.take_along_axis(grades, ranking, axis=1)


def _checked_ranks(at: Iterable[int], definition: Definition) -> IntArray:
    """Return the distinct k in the given order; raise `SettingError` for a k outside the definition."""
    try:
        ranks = list(dict.fromkeys(operator.index(k) for k in at))
    except TypeError:
        raise ValueError(f"at={at!r} must be whole numbers, such as [10] or range(1, 11).") from None
    for k in ranks:
        definition.check_rank(k)
    return np.array(ranks, dtype=np.int64)


def tied_shares(scores: FloatArray, data: RankingData) -> FloatArray:
    """Return for each query the share of documents that share a score with another grade: (Q,).

    Ties among documents of one grade change no measure, so they do not count. Scores are (n,).
    """
    queries = _queries(data)
    order = np.lexsort((scores, queries))
    scores, queries, grades = scores[order], queries[order], data.y[order]
    first = np.ones(len(scores), np.bool_)
    first[1:] = (scores[1:] != scores[:-1]) | (queries[1:] != queries[:-1])
    starts = np.flatnonzero(first)
    if len(starts) == len(scores):
        return np.zeros(data.n_queries)
    mixed = np.maximum.reduceat(grades, starts) > np.minimum.reduceat(grades, starts)
    sizes = np.diff(starts, append=len(scores)) * mixed
    found: FloatArray = np.bincount(queries[starts], sizes, data.n_queries) / np.diff(data.ptr)
    return found


def worst_and_best(
    scores: FloatArray, data: RankingData, relevant_to: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return scores (n,) with the same ranking but ties in the worst and in the best order.

    These orders sort ties by grade, ascending and descending; grades above `relevant_to` count as 0, as in
    measures. Moving a document of a higher grade up never lowers a measure.
    """
    grades = data.y if relevant_to is None else np.where(data.y <= relevant_to, data.y, 0)
    orders = (np.lexsort((sign * grades, -scores, _queries(data))) for sign in (1, -1))
    worst, best = (-np.argsort(order).astype(np.float64) for order in orders)
    return worst, best


def _queries(data: RankingData) -> IntArray:
    """Return the position of each document's query (n,)."""
    return np.repeat(np.arange(data.n_queries), np.diff(data.ptr))
