"""Contestants by several metrics: how each stands, and what is told of its difference to a baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.contestants import Contestant
from rankviz.analysis.matched import Matched
from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, interval_in_words, small, with_minus
from rankviz.common.settings import one_of
from rankviz.metrics.paired_tests import benjamini_hochberg, holm, paired_tests
from rankviz.metrics.significance import interval, queries_in_words

TESTS = {
    "randomisation": "paired randomisation test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "t": "paired t test",
}
"""Tests by the columns of `Comparison.deltas`, in words."""

LEVEL = 0.05
"""Adjusted p up to which a difference is said to hold."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    matched : Matched
        The contestants, on the queries that all have.
    baseline : str
        Label of the contestant that others are compared with.
    metrics : tuple of str
    test : str
        A name in `TESTS`: the one whose p-values are adjusted.
    standings : DataFrame
        A row for each contestant and metric: label, metric, queries, mean, low, high (95 % interval
        over queries, seeds averaged first), folds, fold_sd (standard deviation of the means of folds), seeds,
        seed_sd (of the means of seeds on the same fold, pooled over folds); NaN where there is only one.
    deltas : DataFrame
        A row for each contestant but the baseline, and metric: label, metric, queries, difference, low, high,
        a p for each of `TESTS`, effect, better, worse, even (see `PairedTests`), holm and
        benjamini_hochberg: p of `test`, adjusted over all rows.
    notes : tuple of str
        What a reader should know besides, in sentences.
    """

    matched: Matched
    baseline: str
    metrics: tuple[str, ...]
    test: str
    standings: pd.DataFrame
    deltas: pd.DataFrame
    notes: tuple[str, ...]

    def delta(self, label: str, metric: str) -> pd.Series:
        """The row of `deltas` of a contestant and a metric; `SettingError` where there is none."""
        rows = self.deltas[(self.deltas["label"] == label) & (self.deltas["metric"] == metric)]
        if rows.empty:
            raise SettingError(f"{label!r} was not compared with {self.baseline!r} by {metric}")
        return rows.iloc[0]

    @property
    def family(self) -> int:
        """How many p-values the adjusted ones are adjusted for."""
        return int(self.deltas[self.test].notna().sum())

    def answer(self, metric: str) -> str:
        """Say who is better or worse than the baseline by a metric after Holm's correction, others by number.

        Raises `SettingError` for a metric that was not compared.
        """
        one_of("metric", metric, self.metrics)
        rows = self.deltas[self.deltas["metric"] == metric]
        held = rows[rows["holm"] <= LEVEL]
        told = [
            f"{' and '.join(own)} {'is' if len(own) == 1 else 'are'} {word} than {self.baseline}"
            for word, own in (
                ("better", held["label"][held["difference"] > 0]),
                ("worse", held["label"][held["difference"] < 0]),
            )
            if len(own)
        ]
        left = len(rows) - len(held)
        if left:
            who = counted(left, "other model" if told else "model")
            told.append(f"{who} cannot be told from {'it' if told else self.baseline}")
        return f"By {metric}, {'; '.join(told)} ({queries_in_words(int(rows['queries'].iloc[0]))})"

    def sentence(self, label: str, metric: str) -> str:
        """Say on how many queries a contestant is better than the baseline, and whether that holds."""
        row = self.delta(label, metric)
        n = int(row["queries"])
        if math.isnan(row[self.test]):
            return f"By {metric}, {queries_in_words(n)} cannot tell {label} from {self.baseline}"
        ends = interval_in_words(row["low"], row["high"])
        difference = f"mean difference {with_minus(row['difference'], '+.3f')}, {ends}"
        return (
            f"By {metric}, {label} is better than {self.baseline} on {int(row['better'])} of "
            f"{queries_in_words(n)} and worse on {int(row['worse'])} ({difference}); {self._verdict(row)}"
        )

    def _verdict(self, row: pd.Series) -> str:
        own = f"p = {small(row[self.test])} of the {TESTS[self.test]}"
        if row[self.test] > LEVEL:
            return f"that is no evidence of a difference ({own})"
        if self.family == 1:
            return f"the difference holds ({own})"
        holds = "holds" if row["holm"] <= LEVEL else "does not hold"
        return (
            f"the difference {holds} after Holm's correction over {self.family} comparisons ({own}, "
            f"adjusted {small(row['holm'])})"
        )


def compare(
    contestants: Iterable[Contestant],
    metrics: Sequence[str],
    baseline: str,
    *,
    test: str = "randomisation",
) -> Comparison:
    """Compare contestants with the one of them that is labelled `baseline`, by several metrics.

    A query is what counts: seeds and folds that it was scored with are averaged first, and do not narrow an
    interval. How other seeds would come out, `seed_sd` tells and intervals do not. Raises `SettingError` for
    what cannot be compared (see `Matched.of`), `DataError` for a query that has a value for some models only.

    Examples
    --------
    >>> from rankviz import RunSpec, execute
    >>> from rankviz.analysis.comparison import compare
    >>> from rankviz.analysis.contestants import contestants
    >>> from rankviz.datasets import make_fold
    >>> fold = make_fold(n_queries=30, documents_per_query=(8, 20), seed=0)
    >>> nystroem = RunSpec("made", n_components=20)
    >>> specs = [nystroem.linear(1.0), nystroem, nystroem.but(seed=1)]
    >>> found = compare(contestants(execute(spec, fold=fold) for spec in specs), ["MAP"], "linear")
    >>> found.standings[["label", "queries", "seeds"]].values.tolist()
    [['linear', 6, 1], ['Nyström, m = 20', 6, 2]]
    """
    one_of("test", test, TESTS)
    if not metrics:
        raise SettingError("a comparison needs a metric: choose one at least")
    matched = Matched.of(contestants)
    others = matched.others(baseline)
    values = {metric: matched.by_query(metric) for metric in dict.fromkeys(metrics)}
    standings = [
        standing(one, metric, table[one.label])
        for metric, table in values.items()
        for one in matched.contestants
    ]
    deltas = pd.DataFrame(
        [_delta(one.label, baseline, metric, table) for metric, table in values.items() for one in others]
    )
    notes = (*matched.notes, *(_unvalued(metric, table, matched) for metric, table in values.items()))
    return Comparison(
        matched,
        baseline,
        tuple(values),
        test,
        pd.DataFrame(standings),
        deltas.assign(**_adjusted(deltas[test])),
        tuple(filter(None, notes)),
    )


def standing(one: Contestant, metric: str, values: pd.Series[float]) -> dict[str, object]:
    """A row of `Comparison.standings`: how a contestant stands by its values of a metric by query."""
    over = interval(values)
    by_run = one.by_run[metric].dropna()
    return {
        "label": one.label,
        "metric": metric,
        "queries": over.n_queries,
        "mean": over.mean,
        "low": over.low,
        "high": over.high,
        "folds": by_run.index.get_level_values("fold").nunique(),
        "fold_sd": by_run.groupby(level="fold").mean().std(),
        "seeds": len(one.draws),
        "seed_sd": _within_folds(by_run),
    }


def _within_folds(means: pd.Series[float]) -> float:
    """Standard deviation among seeds of a fold, pooled over folds; NaN where each has only one seed."""
    by_fold = means.groupby(level="fold")
    freedom = by_fold.size() - 1
    return math.sqrt((freedom * by_fold.var()).sum() / freedom.sum()) if freedom.any() else math.nan


def _delta(label: str, baseline: str, metric: str, table: pd.DataFrame) -> dict[str, object]:
    """A row of `Comparison.deltas`, without adjusted p-values."""
    found = paired_tests(table[label], table[baseline])
    over = found.interval
    return {
        "label": label,
        "metric": metric,
        "queries": over.n_queries,
        "difference": over.mean,
        "low": over.low,
        "high": over.high,
        **{name: getattr(found, name) for name in (*TESTS, "effect", "better", "worse", "even")},
    }


def _adjusted(p: pd.Series[float]) -> dict[str, FloatArray]:
    """p-values adjusted over those that are known; NaN where they are not."""
    known = p.notna().to_numpy()
    found: dict[str, FloatArray] = {}
    for name, adjust in (("holm", holm), ("benjamini_hochberg", benjamini_hochberg)):
        values = np.full(len(p), math.nan)
        values[known] = adjust(p[known])
        found[name] = values
    return found


def _unvalued(metric: str, table: pd.DataFrame, matched: Matched) -> str:
    """How many queries have no value of a metric; "" where all have one."""
    missing = len(matched.queries) - len(table)
    if not missing:
        return ""
    have, count = ("has", "counts") if missing == 1 else ("have", "count")
    return f"{queries_in_words(missing)} {have} no {metric} by its definition, and {count} for no model."
