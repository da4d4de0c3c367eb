"""Metrics from scores: first per query, then averaged over queries.

Queries of similar size form a block: a matrix with one ranked list per row (`rankviz.metrics.lists`). Each
metric is a few cumulative sums along the rows. There is no loop over queries, and no sum crosses queries.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankviz.common.arrays import BoolArray, FloatArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import plain_array, score_array
from rankviz.datasets.types import RankingData, require_data
from rankviz.metrics.definitions import COMPARED, TIES, Definition, definition_of
from rankviz.metrics.formulas import EVERYWHERE, Formula, check, options_of, read_name, spelled
from rankviz.metrics.lists import ranked
from rankviz.metrics.significance import queries_in_words

ROUNDING = 0.0005
"""Tell of equal scores if their order moves a mean by more: half of the third digit, which pages show."""
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
        Queries in which documents of different grades share a score: the rule for equal scores matters there.
        `NDCG(10).ties` measures how much.
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
        tied = f"; in {queries_in_words(self.n_tied)} documents of different grades share a score"
        return f"{self.mean.round(4).to_string()}\n{self.caption}{tied * (self.n_tied > 0)}"

    @cached_property
    def mean(self) -> pd.Series[float]:
        """Return the mean of each column over the queries that count; NaN if none does."""
        return self.per_query.mean()

    @property
    def caption(self) -> str:
        """Return definition, number of queries, and treatment of empty and short queries and equal scores."""
        head = f"{self.definition.label} definition, {queries_in_words(self.n_queries)}"
        rule = self.definition.ties
        tied = "" if rule == "order" else f"; equal scores count {TIES[rule]}"
        return f"{head}, {self._empty}{unknown_grades(self.definition, self.n_unknown)}{self._short}{tied}"

    @property
    def _short(self) -> str:
        """Number of queries that are too short for the largest k, in words; "" for none."""
        if self.n_short == 0:
            return ""
        columns = map(str, self.per_query.columns)
        cuts = (name.removeprefix("NDCG@") for name in columns if name.startswith("NDCG@"))
        k = max(int(cut) for cut in cuts if cut.isdecimal())
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
    ties: str | None = None,
    measures: Iterable[str] | None = None,
) -> Evaluation:
    """Compute NDCG@k, MeanNDCG, P@k and MAP, or other measures, of `scores` (n,), per query and on average.

    `data` is a `RankingData` in the order of the scores. Or it is grades (n,), with query ids `qid` (n,) of
    the same documents, all in the same order. Documents are ranked by decreasing score. `ties` says how equal
    scores count: "order" keeps the order of the file or arrays, "mean" is the exact mean over all orders
    (mcsherry2008), "worst" and "best" are the extremes; None is the rule of the definition. With grades y_1,
    y_2, … in that order, DCG@k = Σ_{i≤k} gain(y_i)·discount(i), NDCG@k = DCG@k / DCG@k of the best order,
    P@k = hits@k / k, AP = Σ_i P@i·[document i relevant] / relevant documents, over the full list.
    `definition` (a name in `DEFINITIONS`, or a `Definition`) sets the rest. With "letor", NDCG@k of a query
    with fewer than k documents is 0 for all scores. With "textbook", as in `RankSVM.score`, it is that of the
    whole list, queries without a relevant document are left out, and equal scores count at their mean. `at`
    lists the k of the columns. `measures` names other columns instead: "ERR@10", "RBP(p=0.8)", "RR", "R@10",
    "Rprec", "Bpref", "PairAccuracy", "MeanRank" (see `rankviz.metrics.formulas`). Brackets change the
    definition of a column: "nDCG(gains={1: 1, 2: 9})@10", "nDCG(discount=(1, 0.5))@2", "P(rel=2)@5"; a name
    after it is another definition: "AP (trec_eval)".

    Raises `DataError` unless scores are n finite numbers, `ValueError` for an unknown definition or a k
    outside it. Source: the LETOR scripts Eval-Score-3.0.pl, Eval-Score-4.0.pl and MSLR's
    eval-score-mslrweb.pl; he2009 §3, eq. 5–6 and §4.2; jarvelin2002 for NDCG; mcsherry2008 for ties.

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
    >>> {rule: evaluate([0, 0], [1, 0], qid=[1, 1], at=[1], ties=rule).mean["NDCG@1"].item()
    ...  for rule in ("order", "mean", "worst", "best")}
    {'order': 1.0, 'mean': 0.5, 'worst': 0.0, 'best': 1.0}
    """
    chosen = definition_of(definition)
    names = usual(chosen, _checked_ranks(at, chosen)) if measures is None else measures
    asked, order = _asked(names, chosen, ties)
    part, values = matched(scores, data, qid)
    if part.n_documents and int(part.y.max()) > _LARGEST_GRADE:
        raise DataError(
            f"grade {part.y.max()}",
            expected=f"grades up to {_LARGEST_GRADE}",
            remedy="Number the grades 0, 1, 2, …",
            path=part.name or None,
        )
    (usually, own), *others = asked.items()
    found, empty, n_tied = _values(part, values, usually, own)
    for rule, columns in others:
        found |= _values(part, values, rule, columns)[0]
    index = pd.Index(part.query_labels, name="query")
    longest = max((max(given) for formula, given, _ in own if formula.name == "NDCG"), default=0)
    short = usually.short_ndcg == "zero"
    n_empty, n_gainless = empty.sum(axis=1).tolist()
    return Evaluation(
        pd.DataFrame(np.column_stack([found[name] for name in order]), index=index, columns=order),
        usually,
        part.n_queries,
        n_empty,
        n_gainless,
        n_unknown=usually.unknown(part.y),
        n_short=int((np.diff(part.ptr) < longest).sum()) if short else 0,
        n_tied=n_tied,
    )


Columns = list[tuple[Formula, list[float], list[str]]]
"""Measures with parameters, and the names of their columns."""


def _values(
    part: RankingData, scores: FloatArray, definition: Definition, columns: Columns
) -> tuple[dict[str, FloatArray], BoolArray, int]:
    """Return columns (Q,), queries without relevant documents and without gain (2, Q), and tied queries."""
    names = [name for _, _, own in columns for name in own]
    table, empty = np.empty((part.n_queries, len(names))), np.empty((2, part.n_queries), np.bool_)
    n_tied = 0
    for lists in ranked(scores, part, definition):
        queries = lists.block.queries
        if columns:
            table[queries] = np.hstack([formula.values(lists, given) for formula, given, _ in columns])
        empty[:, queries] = lists.n_relevant[:, 0] == 0, lists.gainless
        n_tied += int(lists.tied.sum())
    if definition.leaves_out_empty:
        table[empty[0]] = np.nan
    return dict(zip(names, table.T, strict=True)), empty, n_tied


def usual(definition: Definition, at: Sequence[int]) -> list[str]:
    """Return the columns of a definition: NDCG@k and P@k, MeanNDCG, MAP, and what else it defines."""
    ndcg, precision = ([f"{name}@{k}" for k in at] for name in ("NDCG", "P"))
    mean, averages = (
        ["MeanNDCG"] * definition.mean_ndcg,
        ["AvgNDCG", "AvgPrec"] * bool(definition.averaged_to),
    )
    return [*ndcg, *mean, *precision, "MAP", *averages]


COLUMNS = (*usual(COMPARED, range(1, 11)), *EVERYWHERE)
"""The metrics of runs, which menus offer."""


def compared(
    scores: ArrayLike, data: RankingData, measures: Sequence[str] = COLUMNS
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Evaluate scores (n,) as runs do, by `COMPARED`: metrics per query, and what the file's order changes.

    The second is the mean of each metric with equal scores in the order of the file, if it differs by more
    than `ROUNDING`.
    """
    found = evaluate(scores, data, COMPARED, measures=measures)
    if not found.n_tied:
        return found.per_query, {}
    by_order = evaluate(scores, data, COMPARED, ties="order", measures=measures).mean
    moved = by_order[(by_order - found.mean).abs() > ROUNDING]
    return found.per_query, {str(name): float(value) for name, value in moved.items()}


def moved_in_words(means: Mapping[str, float], by_order: Mapping[str, float]) -> dict[str, str]:
    """Say of metrics whose digits the order of the file would change: "0.420 instead of 0.421"."""
    digits = {name: (f"{by_order[name]:.3f}", f"{means[name]:.3f}") for name in means if name in by_order}
    return {name: f"{one} instead of {other}" for name, (one, other) in digits.items() if one != other}


MOST_TOLD = 3
"""Largest number of models that a note on equal scores names for a metric."""


def ties_in_words(moved: Mapping[str, Mapping[str, str]]) -> str:
    """Say how the order of the file would change means of models; "" if it would change none.

    `moved` has the result of `moved_in_words` by the name of a model.
    """
    parts = []
    for metric in dict.fromkeys(name for own in moved.values() for name in own):
        said = [f"{own[metric]} ({label})" for label, own in moved.items() if metric in own]
        more = [f"and {len(said) - MOST_TOLD} more"] if len(said) > MOST_TOLD else []
        parts.append(f"{metric} would be {', '.join([*said[:MOST_TOLD], *more])}")
    if not parts:
        return ""
    return (
        "Equal scores of documents of different grades count at the mean over their orders; in the order of "
        f"the file {'; '.join(parts)}."
    )


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


def _asked(
    names: Iterable[str], definition: Definition, ties: str | None
) -> tuple[dict[Definition, Columns], list[str]]:
    """Return measures by definition, the usual one first, with a rule for ties if given; and all columns.

    The parameters of consecutive measures are together. Raises `SettingError` for an unknown measure, and for
    one that its definition lacks.
    """

    def tied(one: Definition) -> Definition:
        return one if ties is None else replace(one, ties=ties)

    found: dict[Definition, Columns] = {tied(definition): []}
    order = dict[str, None]()
    for name in names:
        formula, parameters, own, column = _column(name if isinstance(name, str) else repr(name), definition)
        if column in order:
            continue
        order[column] = None
        columns = found.setdefault(tied(own), [])
        if parameters and columns and columns[-1][0] is formula:
            columns[-1][1].extend(parameters)
            columns[-1][2].append(column)
        else:
            columns.append((formula, list(parameters), [column]))
    return found, list(order)


@lru_cache(maxsize=1024)  # runs ask for the same 29 names each time, which take as long as a metric
def _column(name: str, definition: Definition) -> tuple[Formula, Sequence[float], Definition, str]:
    """Return measure, parameter, own definition and column of a name; `SettingError` for an unknown one."""
    formula, parameters, changes, by = read_name(name)
    base = definition_of(by) if by else definition
    own = replace(base, **changes) if changes else base
    check(formula, parameters, own)
    if changes and (differing := options_of(own, base)):
        return formula, parameters, own, spelled(formula, parameters, differing, by)
    return formula, parameters, own, f"{formula.columns(parameters)[0]}{f' ({by})' * bool(by)}"


def column_name(name: str, definition: Definition = COMPARED) -> str:
    """Return the name of a metric's column: "NDCG@10" for "nDCG@10"; own gains and the like stay in the name.

    Raises `SettingError` for an unknown metric, or one that its definition lacks.

    Examples
    --------
    >>> column_name("nDCG@10"), column_name("nDCG(gains={1: 1, 2: 9})@5"), column_name("AP (textbook)")
    ('NDCG@10', 'nDCG(gains={0: 0, 1: 1, 2: 9})@5', 'MAP (textbook)')
    """
    return _column(name, definition)[3]


def _checked_ranks(at: Iterable[int], definition: Definition) -> list[int]:
    """Return the distinct k in the given order; raise `SettingError` for a k outside the definition."""
    try:
        ranks = list(dict.fromkeys(operator.index(k) for k in at))
    except TypeError:
        raise ValueError(f"at={at!r} must be whole numbers, such as [10] or range(1, 11).") from None
    for k in ranks:
        definition.check_rank(k)
    return ranks
