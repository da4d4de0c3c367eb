"""Comparison of contestants: several metrics against a baseline, the best of many, time, and cut-offs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.contestants import Contestant, Matched
from rankviz.common.arrays import BoolArray, FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, interval_in_words, small, with_minus
from rankviz.common.settings import one_of
from rankviz.metrics.evaluation import ties_in_words
from rankviz.metrics.formulas import direction
from rankviz.metrics.paired_tests import benjamini_hochberg, holm, max_statistic, paired_tests
from rankviz.metrics.significance import differences_of, interval, leader, queries_in_words

TESTS = {
    "randomisation": "paired randomisation test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "t": "paired t test",
}
"""Tests by the columns of `Comparison.deltas`, in words."""

LEVEL = 0.05
"""Largest adjusted p of a significant difference."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    matched : Matched
        The contestants, on their common queries.
    baseline : str
        Label of the contestant that others are compared with.
    metrics : tuple of str
    test : str
        A name in `TESTS`; its p-values are adjusted.
    standings : DataFrame
        One row per contestant and metric: label, metric, queries, mean, low, high (95 % interval over
        queries, seeds averaged first), folds, fold_sd (standard deviation of the means of folds), seeds,
        seed_sd (of the means of seeds on the same fold, pooled over folds); NaN if there is only one.
    deltas : DataFrame
        One row per metric and contestant except the baseline: label, metric, queries, difference, low, high,
        a p for each of `TESTS`, effect, better, worse, even (see `PairedTests`), holm and
        benjamini_hochberg: p of `test`, adjusted over all rows.
    notes : tuple of str
        Further remarks, in sentences.
    """

    matched: Matched
    baseline: str
    metrics: tuple[str, ...]
    test: str
    standings: pd.DataFrame
    deltas: pd.DataFrame
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return both tables and the notes, for a notebook."""
        tables = (table.to_string(index=False) for table in (self.standings, self.deltas))
        return "\n\n".join((*tables, *self.notes))

    def delta(self, label: str, metric: str) -> pd.Series:
        """Return the row of `deltas` of a contestant and a metric; `SettingError` if there is none."""
        rows = self.deltas[(self.deltas["label"] == label) & (self.deltas["metric"] == metric)]
        if rows.empty:
            raise SettingError(f"{label!r} was not compared with {self.baseline!r} by {metric}")
        return rows.iloc[0]

    @property
    def family(self) -> int:
        """Number of p-values that are adjusted together."""
        return int(self.deltas[self.test].notna().sum())

    def gains(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return how much better than the baseline each row of `deltas` is; below 0 if worse."""
        return rows["difference"] * np.array([*map(direction, rows["metric"])], np.int64)

    def answer(self, metric: str) -> str:
        """Name the contestants that are significantly better or worse than the baseline, count the others.

        Raises `SettingError` for a metric that was not compared.
        """
        one_of("metric", metric, self.metrics)
        rows = self.deltas[self.deltas["metric"] == metric]
        held = rows[rows["holm"] <= LEVEL]
        parts = [
            f"{' and '.join(own)} {'is' if len(own) == 1 else 'are'} {word} than {self.baseline}"
            for word, own in (
                ("better", held["label"][self.gains(held) > 0]),
                ("worse", held["label"][self.gains(held) < 0]),
            )
            if len(own)
        ]
        left = len(rows) - len(held)
        if left:
            who, do = counted(left, "other model" if parts else "model"), "does" if left == 1 else "do"
            parts.append(f"{who} {do} not differ significantly from {'it' if parts else self.baseline}")
        return f"By {metric}, {'; '.join(parts)} ({queries_in_words(int(rows['queries'].iloc[0]))})"

    def sentence(self, label: str, metric: str) -> str:
        """Say on how many queries a contestant is better than the baseline, and if that is significant."""
        row = self.delta(label, metric)
        n = int(row["queries"])
        if math.isnan(row[self.test]):
            return f"By {metric}, {_too_few(n)} to compare {label} with {self.baseline}"
        ends = interval_in_words(row["low"], row["high"])
        difference = f"mean difference {with_minus(row['difference'], '+.3f')}, {ends}"
        return (
            f"By {metric}, {label} is better than {self.baseline} on {int(row['better'])} of "
            f"{queries_in_words(n)} and worse on {int(row['worse'])} ({difference}); {self._verdict(row)}"
        )

    def _verdict(self, row: pd.Series) -> str:
        own = f"p = {small(row[self.test])} of the {TESTS[self.test]}"
        if row[self.test] > LEVEL:
            return f"the difference is not significant ({own})"
        if self.family == 1:
            return f"the difference is significant ({own})"
        verdict = "significant" if row["holm"] <= LEVEL else "not significant"
        return (
            f"the difference is {verdict} after Holm's correction over {self.family} comparisons ({own}, "
            f"adjusted {small(row['holm'])})"
        )


def _too_few(n: int) -> str:
    return f"{queries_in_words(n)} {'is' if n == 1 else 'are'} too few"


def compare(
    contestants: Iterable[Contestant],
    metrics: Sequence[str],
    baseline: str,
    *,
    test: str = "randomisation",
) -> Comparison:
    """Compare contestants with the one labelled `baseline`, by several metrics.

    Queries are the sample: values over seeds and folds of a query are averaged first and do not narrow an
    interval. `seed_sd` measures how seeds vary; intervals do not. Raises `SettingError` for contestants that
    cannot be compared (see `Matched.of`), `DataError` for a query with a value for some models only.

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
        raise SettingError("a comparison needs a metric: choose at least one")
    matched = Matched.of(contestants)
    others = matched.others(baseline)
    values = {metric: matched.by_query(metric) for metric in dict.fromkeys(metrics)}
    standings = [
        standings_row(one, metric, table[one.label])
        for metric, table in values.items()
        for one in matched.contestants
    ]
    deltas = pd.DataFrame(
        [_delta(one.label, baseline, metric, table) for metric, table in values.items() for one in others]
    )
    less = (f"Less {metric} is better." for metric in values if direction(metric) < 0)
    unvalued = (_unvalued(metric, table, matched) for metric, table in values.items())
    notes = (*matched.notes, *less, _equal_scores(matched, values), *unvalued)
    return Comparison(
        matched,
        baseline,
        tuple(values),
        test,
        pd.DataFrame(standings),
        deltas.assign(**_adjusted(deltas[test])),
        tuple(filter(None, notes)),
    )


def standings_row(one: Contestant, metric: str, values: pd.Series[float]) -> dict[str, object]:
    """Return a row of `Comparison.standings` from a contestant's values of a metric by query."""
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
    """Return the standard deviation over seeds of a fold, pooled over folds; NaN with one seed each."""
    by_fold = means.groupby(level="fold")
    freedom = by_fold.size() - 1
    return math.sqrt((freedom * by_fold.var()).sum() / freedom.sum()) if freedom.any() else math.nan


def _delta(label: str, baseline: str, metric: str, table: pd.DataFrame) -> dict[str, object]:
    """Return a row of `Comparison.deltas`, without adjusted p-values."""
    found, sign = paired_tests(table[label], table[baseline]), direction(metric)
    over = found.interval
    better, worse = (found.better, found.worse)[::sign]
    return {
        "label": label,
        "metric": metric,
        "queries": over.n_queries,
        "difference": over.mean,
        "low": over.low,
        "high": over.high,
        **{name: getattr(found, name) for name in (*TESTS, "effect")},
        "better": better,
        "worse": worse,
        "even": found.even,
    }


def _adjusted(p: pd.Series[float]) -> dict[str, FloatArray]:
    """Return p-values adjusted over the known ones; NaN for unknown ones."""
    known = p.notna().to_numpy()
    found: dict[str, FloatArray] = {}
    for name, adjust in (("holm", holm), ("benjamini_hochberg", benjamini_hochberg)):
        values = np.full(len(p), math.nan)
        values[known] = adjust(p[known])
        found[name] = values
    return found


def _equal_scores(matched: Matched, metrics: Iterable[str]) -> str:
    """Say how the order of the file would change means; "" if it would change none."""
    return ties_in_words({one.label: one.moved_by_order(metrics) for one in matched.contestants})


def _unvalued(metric: str, table: pd.DataFrame, matched: Matched) -> str:
    """Return a note on queries without a value of a metric; "" if there are none."""
    missing = len(matched.queries) - len(table)
    if not missing:
        return ""
    have, count = ("has", "counts") if missing == 1 else ("have", "count")
    return f"{queries_in_words(missing)} {have} no {metric} by its definition, and {count} for no model."


@dataclass(frozen=True, eq=False)
class BestCandidate:
    """The best candidate by a metric, with p-values adjusted for the choice among all candidates.

    Attributes
    ----------
    label : str
        Of the candidate with the highest mean, the first one in a tie.
    baseline, metric : str
    queries : int
    table : DataFrame
        One row per candidate: label, mean, difference (to the baseline), p (of its own paired randomisation
        test) and p_chosen, adjusted for the choice (see `max_statistic`).
    """

    label: str
    baseline: str
    metric: str
    queries: int
    table: pd.DataFrame

    def sentence(self) -> str:
        """Say if the best is significantly better than the baseline, adjusted for the choice."""
        rows = self.table[self.table["label"] == self.label]
        difference, p, chosen = (float(rows[name].iloc[0]) for name in ("difference", "p", "p_chosen"))
        head = f"Of {counted(len(self.table), 'candidate')}, {self.label} has the best {self.metric}"
        if math.isnan(chosen):
            return f"{head}; {_too_few(self.queries)} to compare it with {self.baseline}"
        gain = difference * direction(self.metric)
        verdict = "is better" if chosen <= LEVEL and gain > 0 else "is not shown to be better"
        return (
            f"{head}; chosen on the same {queries_in_words(self.queries)}, it {verdict} than {self.baseline} "
            f"(difference {with_minus(difference, '+.3f')}, p = {small(chosen)} adjusted for the choice, "
            f"{small(p)} unadjusted)"
        )


def best_of(matched: Matched, metric: str, baseline: str) -> BestCandidate:
    """Test the best contestant against the baseline, by one metric.

    Raises `SettingError` for an unknown baseline, and as `Matched.by_query`.
    """
    others = [one.label for one in matched.others(baseline)]
    values = matched.by_query(metric)
    differences = np.column_stack([differences_of(values[one], values[baseline]) for one in others])
    table = pd.DataFrame(
        {
            "label": others,
            "mean": values[others].mean().to_numpy(),
            "difference": differences.mean(axis=0),
            "p": [float(max_statistic(column[:, None])[0]) for column in differences.T],
            "p_chosen": max_statistic(differences),
        }
    )
    best = leader(table.set_index("label")["mean"], metric)
    return BestCandidate(str(best), baseline, metric, len(values), table)


DIGITS = 12
"""Digits of means that count: the order of a sum changes it by 1e-15."""


@dataclass(frozen=True, eq=False)
class Front:
    """The result of `front`.

    Attributes
    ----------
    metric : str
    table : DataFrame
        One row per contestant, the cheapest first: method (its look), label, seconds (of training, mean over
        runs), mean, low, high, behind (the best mean minus its own), se (standard error of that difference
        over queries), efficient (no other one is as cheap and better, or as good and cheaper).
    best, cheapest : str
        Labels of the highest mean (the cheapest one in a tie), and of the cheapest contestant within one
        standard error of it.
    """

    metric: str
    table: pd.DataFrame
    best: str
    cheapest: str

    def sentence(self) -> str:
        """Name the best model, and the cheapest one within one standard error of it."""
        rows = self.table.set_index("label")
        labels = {
            label: f"{rows['mean'][label]:.3f} in {small(float(rows['seconds'][label]))} s"
            for label in (self.best, self.cheapest)
        }
        head = f"{self.best} has the best {self.metric}, {labels[self.best]}"
        if self.cheapest == self.best:
            return f"{head}; no cheaper model is within one standard error of it"
        cheapest = f"{self.cheapest}, {labels[self.cheapest]}"
        return f"{head}; the cheapest within one standard error of it is {cheapest}"


def front(matched: Matched, metric: str) -> Front:
    """Compare training seconds with a metric.

    "Within one standard error" is breiman1984's rule with the standard error of the paired difference to the
    best. That of the best mean itself mostly shows how queries differ, which all models share. Raises
    `SettingError` if a contestant's seconds are unknown, and as `Matched.by_query`.
    """
    unknown = [one.label for one in matched.contestants if not one.seconds > 0]
    if unknown:
        raise SettingError(f"the training seconds of {unknown[0]} are unknown: run it again, or leave it out")
    values = matched.by_query(metric)
    rows = []
    for one in matched.contestants:
        found = interval(values[one.label])
        rows.append((matched.looks[one.label], one.label, one.seconds, found.mean, found.low, found.high))
    sign = direction(metric)
    table = pd.DataFrame(rows, columns=["method", "label", "seconds", "mean", "low", "high"])
    table = table.sort_values(["seconds", "mean"], ascending=[True, sign < 0], ignore_index=True)
    quality = sign * table["mean"].to_numpy().round(DIGITS)
    best = str(table["label"][quality.argmax()])
    behind = sign * np.column_stack([differences_of(values[best], values[label]) for label in table["label"]])
    table["behind"] = behind.mean(axis=0)
    table["se"] = behind.std(axis=0, ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else np.nan
    table["efficient"] = efficient(table["seconds"].to_numpy(), quality)
    near = table[(table["behind"] <= table["se"]) | (table["label"] == best)]
    return Front(metric, table, best, str(near["label"].iloc[0]))


def efficient(cost: FloatArray, quality: FloatArray) -> BoolArray:
    """Return True for points that no other one dominates: as cheap and as good, and better in one."""
    better = (cost[:, None] <= cost) & (quality[:, None] >= quality)
    strictly = (cost[:, None] < cost) | (quality[:, None] > quality)
    return np.asarray(~(better & strictly).any(axis=0))


def metric_by_cutoff(matched: Matched, metric: str = "NDCG") -> pd.DataFrame:
    """Return means over queries at every k, with 95 % intervals.

    Columns method (the look), label, k, value, low, high. Raises `SettingError` if the contestants have the
    metric at no common k.
    """
    names = [name for name in matched.metrics if name.startswith(f"{metric}@")]
    if not names:
        raise SettingError(f"the models have no {metric}@k in common; they have {', '.join(matched.metrics)}")
    tables = {name: matched.by_query(name) for name in names}
    rows = []
    for one in matched.contestants:
        for name, table in tables.items():
            found = interval(table[one.label])
            k = int(name.removeprefix(f"{metric}@"))
            rows.append((matched.looks[one.label], one.label, k, found.mean, found.low, found.high))
    table = pd.DataFrame(rows, columns=["method", "label", "k", "value", "low", "high"])
    return table.sort_values("k", kind="stable", ignore_index=True)
