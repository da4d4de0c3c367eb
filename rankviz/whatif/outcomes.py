"""Effects of changes on a model and its rankings: the same queries ranked without and with them.

Both rankings are evaluated by the changed grades and have the same documents: both models score an added
document, neither scores one left out. So differences come from the ranking alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Callback, Stopwatch, silent
from rankviz.datasets.types import Fold, RankingData
from rankviz.metrics import evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.significance import Comparison, compare, differences_of
from rankviz.models.ranker import Ranker
from rankviz.whatif.changes import Change, GradeSet, QueryOut, SomeQueries, WrongGrades, changed
from rankviz.whatif.estimates import margins_without_queries
from rankviz.whatif.refits import refits_of
from rankviz.whatif.reuse import DocumentMatch

_OF_LEARNING = (QueryOut, SomeQueries, WrongGrades)
"""Changes that affect only what is learned from: their queries and grades are still ranked and judged."""
PARTS = ("train", "vali")
"""Parts to compare; the test part is reserved for the final evaluation."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Rankings without changes and with them.

    Attributes
    ----------
    fold : Fold
        With the changes; queries left out of training are still ranked, and wrong grades judge nothing.
    old, new : dict of (n,) float64
        Scores of its documents by part: old by the model before, on unchanged documents; new by the model
        after.
    trained : bool
        True if the model was trained again; changes of the validation part do not need it.
    seconds : float
        Seconds of training.
    """

    fold: Fold
    old: dict[str, FloatArray]
    new: dict[str, FloatArray]
    trained: bool
    seconds: float
    _tables: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict, repr=False)
    _comparisons: dict[tuple[str, str], Comparison] = field(default_factory=dict, repr=False)

    def per_query(self, part: str, metric: str) -> pd.DataFrame:
        """Return columns query, old, new, difference (new − old) of a metric such as "NDCG@10"; cached."""
        if (part, metric) not in self._tables:
            self._tables[part, metric] = self._per_query(part, metric)
        return self._tables[part, metric]

    def comparison(self, part: str, metric: str) -> Comparison:
        """Return the mean difference new − old over the queries of a part, with its paired interval."""
        if (part, metric) not in self._comparisons:
            table = self.per_query(part, metric).set_index("query")
            self._comparisons[part, metric] = compare(table["new"], table["old"])
        return self._comparisons[part, metric]

    def _per_query(self, part: str, metric: str) -> pd.DataFrame:
        data = self.fold.parts[part]
        old, new = (by_query(scores[part], data, metric) for scores in (self.old, self.new))
        columns = {"query": data.query_ids, "old": old.to_numpy(), "new": new.to_numpy()}
        return pd.DataFrame(columns | {"difference": differences_of(new, old)})


def by_query(scores: FloatArray, data: RankingData, metric: str) -> pd.Series[float]:
    """Return a metric such as "NDCG@10" of scores (n,), by query, as runs have it."""
    return evaluate(scores, data, COMPARED, measures=[metric]).per_query[metric]


class WhatIf:
    """A fitted model on a fold, which evaluates changes.

    Parameters
    ----------
    model : Ranker
        Fitted on the training part. RankSVM continues from its weights; others train from scratch.
    fold : Fold
        Normalised as for the model.
    """

    def __init__(self, model: Ranker, fold: Fold) -> None:
        self.fold, self._refits = fold, refits_of(model, fold.train)
        before = self._refits.before
        self._before = {name: self._refits.scores(before.model, fold.parts[name]) for name in PARTS[1:]}
        self._before["train"] = before.scores

    @property
    def before(self) -> dict[str, FloatArray]:
        """Scores without a change, by part."""
        return dict(self._before)

    def model(self, changes: Sequence[Change]) -> Ranker:
        """Return the model trained with the changes; the fitted model itself if they do not affect training.

        Raises `DataError` for invalid changes.
        """
        own = self._of_training(changes)
        return (self._refits.refit(own) if own else self._refits.before).model

    def training(self, changes: Sequence[Change]) -> RankingData:
        """Return the training part with the changes; `DataError` for invalid ones."""
        return changed(self.fold.train, self._of_training(changes))

    def prepare(self) -> None:
        """Prepare shared computations for the first outcome."""
        train = self.fold.train
        self._refits.refit([GradeSet(train.query_labels[0], int(train.rows[0]), int(train.y[0]))])

    def outcome(self, changes: Sequence[Change], *, callback: Callback | None = None) -> Outcome:
        """Train again with the changes, random draws first; `DataError` for invalid ones."""
        clock = Stopwatch()
        own = self._of_training(changes)
        after = self._refits.refit(own, callback=callback) if own else self._refits.before
        clock.lap("training")
        shown = changed(self.fold, [change for change in changes if not isinstance(change, _OF_LEARNING)])
        known = dict(zip(after.data.rows.tolist(), after.scores.tolist(), strict=True))
        new = {name: self._new(after.model, name, shown.parts[name]) for name in PARTS[1:]}
        new["train"] = _by_row(after.model, shown.train, known)
        old = {name: self._old(name, shown.parts[name]) for name in PARTS}
        return Outcome(shown, old, new, bool(own), clock.laps["training"])

    def margins_without_queries(
        self, A: FloatArray, B: FloatArray, most: int, seconds: float
    ) -> pd.DataFrame:
        """Return f(A) − f(B) of two documents (d,) without each training query: see `estimates`."""
        return margins_without_queries(self._refits, A, B, most=most, seconds=seconds)

    def _of_training(self, changes: Sequence[Change]) -> list[Change]:
        """Return the changes that affect the training part or all parts, random draws first.

        So other changes do not alter what is drawn. Those of queries that are not drawn have no effect.
        """
        own = [change for change in changes if change.part(self.fold) in ("", "train")]
        wrong, some = (
            [change for change in own if isinstance(change, kind)] for kind in (WrongGrades, SomeQueries)
        )
        left = set(changed(self.fold.train, some).query_labels.tolist()) | {None}
        return [
            *wrong,
            *some,
            *(one for one in own if one not in (*wrong, *some) and getattr(one, "query", None) in left),
        ]

    def _old(self, part: str, data: RankingData) -> FloatArray:
        """Return scores by the model before, of unchanged and of added documents."""
        alike = DocumentMatch.of(self.fold.parts[part], data)
        there = alike.before >= 0
        scores = np.where(there, self._before[part][alike.before], 0.0)
        if not there.all():
            scores[~there] = self._refits.before.model.scores(data.X[~there], silent)
        return scores

    def _new(self, model: Ranker, part: str, data: RankingData) -> FloatArray:
        """Return scores by a model; features of unchanged documents are reused."""
        alike = DocumentMatch.of(self.fold.parts[part], data)
        if not alike.same.any():
            return model.scores(data.X, silent)
        scores = self._refits.scores(model, self.fold.parts[part])[alike.before]
        if not alike.same.all():
            scores[~alike.same] = model.scores(data.X[~alike.same], silent)
        return scores


def _by_row(model: Ranker, data: RankingData, known: dict[int, float]) -> FloatArray:
    """Return scores of documents; most are known by their numbers in `rows`."""
    scores = np.array([known.get(row, np.nan) for row in data.rows.tolist()])
    left = np.isnan(scores)
    if left.any():
        scores[left] = model.scores(data.X[left], silent)
    return scores


_ROUNDING = 1e-10
"""Margins up to this share of a query's largest score are ties: equal documents differ by rounding."""
_BLOCK = 4_000_000
"""Number of pairs per block."""


@dataclass(frozen=True)
class ChangedPairs:
    """Counts of the preference pairs that two rankings order differently.

    Attributes
    ----------
    right, wrong : int
        Pairs that became ordered, and pairs that no longer are; a tie is not an order.
    n_pairs : int
    """

    right: int
    wrong: int
    n_pairs: int


def count_changed_pairs(before: FloatArray, after: FloatArray, data: RankingData) -> ChangedPairs:
    """Count the preference pairs of all queries that scores (n,) `before` and `after` order differently."""
    counts = np.zeros(3, np.int64)
    for q in range(data.n_queries):
        rows = data.query_slice(q)
        counts += _pair_counts(before[rows], after[rows], data.y[rows])
    return ChangedPairs(*(int(count) for count in counts))


def count_changed_pairs_of_query(before: FloatArray, after: FloatArray, y: IntArray) -> ChangedPairs:
    """Count the preference pairs of one query (n_q,) that two rankings order differently."""
    return ChangedPairs(*(int(count) for count in _pair_counts(before, after, y)))


def changed_pairs(
    before: FloatArray, after: FloatArray, y: IntArray, most: int | None = None
) -> pd.DataFrame:
    """Return the preference pairs of one query whose order changed, largest change of the margin first.

    Columns winner, loser (positions in y), before, after (margins), right (True if in order now). `most` is
    the largest number of rows.
    """
    table = _changed(before, after, y, slice(0, 0))
    for some in _slices(len(y)):
        table = pd.concat([table, _changed(before, after, y, some)], ignore_index=True)
        size = (table["after"] - table["before"]).abs()
        table = table.loc[size.sort_values(ascending=False, kind="stable").index[:most]]
    return table.reset_index(drop=True)


def _changed(before: FloatArray, after: FloatArray, y: IntArray, some: slice) -> pd.DataFrame:
    """Return the pairs of some documents whose order changed, preferred ones in `some`."""
    was, now = (scores[some, None] - scores[None, :] > _least_margin(scores) for scores in (before, after))
    winner, loser = np.nonzero((y[some, None] > y[None, :]) & (was != now))
    right = now[winner, loser]
    winner += some.start
    margins = [scores[winner] - scores[loser] for scores in (before, after)]
    columns = {"winner": winner, "loser": loser, "before": margins[0], "after": margins[1], "right": right}
    return pd.DataFrame(columns)


def _slices(n: int) -> Iterator[slice]:
    """Return slices of n documents with at most `_BLOCK` combinations with all."""
    step = max(1, _BLOCK // max(n, 1))
    return (slice(start, start + step) for start in range(0, n, step))


def _pair_counts(before: FloatArray, after: FloatArray, y: IntArray) -> IntArray:
    """Count the pairs of one query that became right, that became wrong, and all pairs."""
    found = np.zeros(3, np.int64)
    both = [(scores, scores + _least_margin(scores)) for scores in (before, after)]
    for some in _slices(len(y)):
        pair = y[some, None] > y[None, :]
        was, now = (scores[some, None] > least[None, :] for scores, least in both)
        found += [np.sum(pair & now & ~was), np.sum(pair & was & ~now), np.sum(pair)]
    return found


def _least_margin(scores: FloatArray) -> float:
    """Return the margin above which a pair of one query is in order."""
    return float(_ROUNDING * np.abs(scores).max(initial=0.0))
