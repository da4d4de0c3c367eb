"""Contestants: compared models with their runs over folds and seeds, matched on their common queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import counted
from rankviz.datasets.normalise import NORMALISATIONS
from rankviz.datasets.samples import SETTINGS
from rankviz.datasets.types import RankingData
from rankviz.metrics.evaluation import compared, moved_in_words
from rankviz.metrics.paired_tests import mean_over_seeds
from rankviz.metrics.significance import queries_in_words
from rankviz.runs.description import describe, look_of, short_labels
from rankviz.runs.record import NOT_MADE_HERE, RunRecord, training_seconds
from rankviz.runs.spec import RunSpec


@dataclass(frozen=True, eq=False)
class Run:
    """The parts of a run that a comparison reads.

    Attributes
    ----------
    spec : RunSpec
    per_query : DataFrame
        Metrics of one part, index query id.
    seconds : float
        Seconds of training; NaN if unknown.
    stopped : bool
        True if training was stopped early.
    imported : str
        Its name in the store if it was imported, else "".
    by_order : dict
        Metric -> its mean with equal scores in the order of the file, where that changes it.
    """

    spec: RunSpec
    per_query: pd.DataFrame
    seconds: float = math.nan
    stopped: bool = False
    imported: str = ""
    by_order: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, record: RunRecord, part: str, imported: str = "") -> Self:
        """Return the run of a record on a part; `SettingError` if the record lacks it."""
        if part not in record.metrics and record.spec.kind.trains:
            raise SettingError(f"the run has no part {part!r}; it has {', '.join(record.metrics)}")
        seconds = training_seconds(record) or math.nan
        by_order = record.by_order.get(part, {})
        return cls(record.spec, record.metrics[part], seconds, record.stopped, imported, by_order)

    @property
    def key(self) -> str:
        """The digest of its spec, or its name if it was imported."""
        return self.imported or self.spec.hash

    @property
    def draw(self) -> str:
        """Its draw in words, such as "seed 3"; "" if nothing is drawn."""
        own = [s.format(self.spec.get(s.name)) for s in self.spec.declared().values() if s.draws]
        sample = [s.format(getattr(self.spec.sample, s.name)) for s in SETTINGS if s.draws]
        return ", ".join((*own, *sample) if self.spec.sample.drawn else own)


def with_measures(
    record: RunRecord, part: str, names: Iterable[str], data: Callable[[], RankingData]
) -> RunRecord:
    """Return a record with further metrics of a part, such as own gains, from its scores."""
    new = [name for name in names if part in record.metrics and name not in record.metrics[part]]
    if not new:
        return record
    found, moved = compared(record.scores[part], data(), new)
    metrics = record.metrics | {part: record.metrics[part].join(found)}
    by_order = record.by_order | {part: record.by_order.get(part, {}) | moved}
    return replace(record, metrics=metrics, by_order=by_order)


@dataclass(frozen=True, eq=False)
class Contestant:
    """A compared model: its runs on folds, with every seed.

    Attributes
    ----------
    label : str
    runs : tuple of Run
        One for each fold and seed. Their settings differ only in those that draw. All were made here, or all
        were imported.
    """

    label: str
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        """Raise `SettingError` without runs, or for two of the same fold and seed."""
        if not self.runs:
            raise SettingError(f"{self.label} has no runs: nothing to compare")
        if len({(run.spec.fold, run.draw) for run in self.runs}) < len(self.runs):
            raise SettingError(f"{self.label} has two runs of the same fold and seed: keep one of them")

    @property
    def spec(self) -> RunSpec:
        """The spec of its first run; others differ in fold and draw only."""
        return self.runs[0].spec

    @property
    def key(self) -> str:
        """The key of its first run."""
        return self.runs[0].key

    @cached_property
    def folds(self) -> tuple[str, ...]:
        """Folds of its runs, sorted."""
        return tuple(sorted({run.spec.fold for run in self.runs}))

    @cached_property
    def draws(self) -> tuple[str, ...]:
        """Its draws in words, in the order of its runs."""
        return tuple(dict.fromkeys(run.draw for run in self.runs))

    @property
    def balanced(self) -> bool:
        """True if each fold has the same draws."""
        return len(self.runs) == len(self.folds) * len(self.draws)

    @property
    def seconds(self) -> float:
        """Mean training seconds of a run; NaN if unknown."""
        return sum(run.seconds for run in self.runs) / len(self.runs)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that all its runs have."""
        return tuple(map(str, self.frame.columns))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Metrics of all its runs: index fold, seed, query. `DataError` for a query that comes twice."""
        found = pd.concat([run.per_query for run in self.runs], join="inner")
        sizes = [len(run.per_query) for run in self.runs]
        folds = np.repeat([run.spec.fold for run in self.runs], sizes)
        draws = np.repeat([run.draw for run in self.runs], sizes)
        found.index = pd.MultiIndex.from_arrays([folds, draws, found.index], names=["fold", "seed", "query"])
        if not found.index.is_unique:
            fold, _, query = found.index[found.index.duplicated()][0]
            raise DataError(
                f"query {query} twice in {self.label} on {fold}",
                expected="one value for each query of a run",
                remedy="Evaluate the run again: its metrics are not those of one part.",
            )
        return found

    @cached_property
    def by_run(self) -> pd.DataFrame:
        """Mean metrics of each run: index fold, seed."""
        return self.frame.groupby(level=["fold", "seed"], sort=False).mean()

    @cached_property
    def _queries(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Metrics by query (mean over seeds, then over folds), and the share of runs with a value."""
        means = mean_over_seeds(self.frame).groupby(level="query", sort=False).mean()
        return means, self.frame.notna().groupby(level="query", sort=False).mean()

    def by_query(self, metric: str) -> pd.Series[float]:
        """Return a metric by query: the mean over seeds, then over folds with the query in their part.

        So a query counts once, although training parts share most queries of a set. A query whose value is
        undefined is NaN in all runs; else `DataError`. Raises `SettingError` if a run lacks the metric.
        """
        self.check(metric)
        means, known = self._queries
        partly = known.index[(known[metric] > 0) & (known[metric] < 1)]
        if len(partly):
            raise DataError(
                f"query {partly[0]} has {metric} in some runs of {self.label} only",
                expected="a value in all of them, or in none",
                remedy="Evaluate all runs by the same definition.",
            )
        return means[metric]

    def check(self, metric: str) -> None:
        """Raise `SettingError` for a metric that a run does not have."""
        if metric not in self.frame:
            raise SettingError(f"{self.label} has no {metric}; it has {', '.join(self.metrics)}")

    def moved_by_order(self, metrics: Iterable[str]) -> dict[str, str]:
        """Say of metrics how the order of the file would change their means over queries and seeds."""
        tables = [(run, run.per_query.mean(), run.per_query.count()) for run in self.runs]
        means, by_order = dict[str, float](), dict[str, float]()
        for metric in metrics:  # a query without a value, such as a mean rank, does not count
            known = [(run, mean[metric], count[metric]) for run, mean, count in tables if count[metric]]
            if any(metric in run.by_order for run, _, _ in known):
                n = sum(count for _, _, count in known)
                means[metric] = sum(mean * count for _, mean, count in known) / n
                both = sum(run.by_order.get(metric, mean) * count for run, mean, count in known)
                by_order[metric] = both / n
        return moved_in_words(means, by_order)

    def restricted(self, queries: Mapping[str, pd.Index]) -> Self:
        """Return the contestant with some queries of each fold only."""
        kept = (
            replace(
                run, per_query=run.per_query[run.per_query.index.isin(queries[run.spec.fold])], by_order={}
            )
            for run in self.runs
        )
        return type(self)(self.label, tuple(kept))


def contestants(records: Iterable[RunRecord | Run], part: str = "test") -> list[Contestant]:
    """Group runs into contestants, in their order; of records, read the metrics of a part.

    Runs of one contestant have the same data set, normalisation, sample of the training part, method and
    settings, except fold and settings that only draw (`Setting.draws`). A repeated spec counts once. Imported
    runs are separate contestants. Labels name the differences. Raises `SettingError` if a record lacks the
    part.
    """
    groups: dict[Hashable, dict[Hashable, Run]] = {}
    for record in records:
        run = record if isinstance(record, Run) else Run.of(record, part)
        group = groups.setdefault((model_of(run.spec), bool(run.imported)), {})
        group.setdefault((run.spec, run.imported), run)
    runs = [tuple(sorted(group.values(), key=lambda run: run.spec.fold)) for group in groups.values()]
    labels = _labels([group[0] for group in runs])
    return [Contestant(label, group) for label, group in zip(labels, runs, strict=True)]


def _undrawn(spec: RunSpec) -> RunSpec:
    """Return the spec on no fold, with defaults for settings that only draw."""
    drawn = {s.name: s.default for s in (*spec.declared().values(), *SETTINGS) if s.draws}
    return spec.but(fold="", digest="", **drawn)


def model_of(spec: RunSpec) -> Hashable:
    """Return what runs of one model have in common: all but fold, digest and draws."""
    plain = _undrawn(spec)
    return plain.data, plain.method, plain.settings


def _labels(firsts: Sequence[Run]) -> list[str]:
    """Return labels: differing settings, then data set, sample and normalisation if they differ.

    `firsts` has the first run of each contestant. Equal labels get numbers.
    """
    plain = [_undrawn(run.spec) for run in firsts]
    found = short_labels(plain)
    for words_of in (lambda spec: spec.dataset, lambda spec: spec.sample.words, _normalisation):
        words = [words_of(spec) for spec in plain]
        if len(set(words)) > 1:
            found = [", ".join(filter(None, pair)) for pair in zip(found, words, strict=True)]
    marks = [f" ({NOT_MADE_HERE})" if run.imported else "" for run in firsts]
    found = [f"{label}{mark}" for label, mark in zip(found, marks, strict=True)]
    before = [found[:place].count(label) for place, label in enumerate(found)]
    return [f"{label} ({n + 1})" if n else label for label, n in zip(found, before, strict=True)]


def _normalisation(spec: RunSpec) -> str:
    return describe(spec).normalisation or "not normalised"


@dataclass(frozen=True, eq=False)
class Matched:
    """Contestants on their common queries.

    Attributes
    ----------
    contestants : tuple of Contestant
    notes : tuple of str
        Warnings, in sentences: left-out queries, folds with missing seeds, stopped runs.
    """

    contestants: tuple[Contestant, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, contestants: Iterable[Contestant]) -> Self:
        """Match two or more contestants.

        Raises `SettingError` for different data, a missing fold, or no common query.
        """
        given = tuple(contestants)
        if len(given) < 2:
            raise SettingError("a comparison needs at least two models: pick another one")
        _check_names(given)
        _check_data(given)
        _check_folds(given)
        shared, left_out = _shared_queries(given)
        kept = tuple(one.restricted(shared) for one in given) if left_out else given
        return cls(kept, (*_left_out(shared, left_out), *_notes(kept)))

    def named(self, label: str) -> Contestant:
        """Return the contestant with a label. Raises `SettingError` if there is none."""
        found = [one for one in self.contestants if one.label == label]
        if not found:
            known = ", ".join(map(repr, self.labels))
            raise SettingError(f"{label!r} is not among the compared models: {known}")
        return found[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the contestants."""
        return tuple(one.label for one in self.contestants)

    @property
    def looks(self) -> dict[str, str]:
        """Look of each contestant in figures, by its label (see `look_of`)."""
        return {one.label: look_of(one.spec) for one in self.contestants}

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that all contestants have."""
        first, *others = self.contestants
        return tuple(name for name in first.metrics if all(name in one.metrics for one in others))

    @property
    def queries(self) -> pd.Index:
        """The compared queries, in the order of the first contestant."""
        return self.contestants[0].frame.index.unique("query")

    def others(self, baseline: str) -> tuple[Contestant, ...]:
        """Return all but the baseline. Raises `SettingError` for an unknown baseline."""
        apart = self.named(baseline)
        return tuple(one for one in self.contestants if one is not apart)

    def by_query(self, metric: str) -> pd.DataFrame:
        """Return a metric by query (index), a column per label, without queries where it is undefined.

        Raises as `Contestant.by_query`, and `DataError` if only some contestants have a query's value.
        """
        found = pd.DataFrame({one.label: one.by_query(metric) for one in self.contestants})
        partly = found.isna().any(axis=1) & found.notna().any(axis=1)
        if partly.any():
            raise DataError(
                f"query {found.index[partly][0]} has {metric} for some models only",
                expected="a value for all of them, or for none",
                remedy="Evaluate all models by the same definition.",
            )
        return found.dropna().reindex(self.queries.intersection(found.dropna().index, sort=False))

    def pair(self, metric: str, label: str, baseline: str) -> pd.DataFrame:
        """Return a metric of a contestant (new) and of the baseline (old): columns query, old, new.

        `rankviz.plots.per_query` draws its wins and losses. Raises as `named` and `by_query`.
        """
        found = self.by_query(metric)[[self.named(baseline).label, self.named(label).label]]
        return found.set_axis(["old", "new"], axis=1).rename_axis("query").reset_index()


def _check_names(given: Sequence[Contestant]) -> None:
    labels = [one.label for one in given]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingError(f"two models have the label {twice!r}: give them different labels")


def _check_data(given: Sequence[Contestant]) -> None:
    """Raise `SettingError` unless all use one data set, with the same digest of each fold."""
    runs = [run for one in given for run in one.runs]
    names = list(dict.fromkeys(run.spec.dataset for run in runs))
    if len(names) > 1:
        raise SettingError(
            f"the models are of {names[0]} and of {names[1]}, which share no queries: compare models of one "
            "data set"
        )
    digests: dict[str, str] = {}
    for run in runs:
        own = run.spec.digest
        if own and digests.setdefault(run.spec.fold, own) != own:
            raise SettingError(
                f"{run.spec.fold} of {names[0]} was not the same for all models (its digest is "
                f"{digests[run.spec.fold][:8]} and {own[:8]}): its files have changed; train the older "
                "models again"
            )


def _check_folds(given: Sequence[Contestant]) -> None:
    every = sorted({fold for one in given for fold in one.folds})
    for one in given:
        missing = [fold for fold in every if fold not in one.folds]
        if missing:
            raise SettingError(
                f"{one.label} has no run on {', '.join(missing)}, which others have: run it there, or "
                f"compare on {', '.join(one.folds)} alone"
            )


def _shared_queries(given: Sequence[Contestant]) -> tuple[dict[str, pd.Index], int]:
    """Return each fold's queries shared by all runs, and the number of others; `SettingError` if none."""
    shared: dict[str, pd.Index] = {}
    seen: dict[str, pd.Index] = {}
    for run in (run for one in given for run in one.runs):
        fold, own = run.spec.fold, run.per_query.index
        shared[fold] = shared.get(fold, own).intersection(own, sort=False)
        seen[fold] = seen.get(fold, own).union(own, sort=False)
    if not any(len(queries) for queries in shared.values()):
        raise SettingError(
            "the models have no query in common: compare them on the same part of the same data"
        )
    return shared, sum(map(len, seen.values())) - sum(map(len, shared.values()))


def _left_out(kept: dict[str, pd.Index], left_out: int) -> list[str]:
    if not left_out:
        return []
    every = left_out + sum(map(len, kept.values()))
    are, them = ("is", "it") if left_out == 1 else ("are", "them")
    return [f"{left_out:,} of {queries_in_words(every)} {are} left out, because some runs lack {them}."]


def _notes(given: Sequence[Contestant]) -> list[str]:
    """Return remarks on comparable contestants for the reader."""
    notes = [
        f"{one.label} has different seeds on some folds; means are over the seeds that exist."
        for one in given
        if not one.balanced
    ]
    for one in given:
        stopped = sum(run.stopped for run in one.runs)
        if stopped:
            notes.append(
                f"Of {counted(len(one.runs), 'run')} of {one.label}, {stopped:,} did not train to the end."
            )
    ways = list(dict.fromkeys(one.spec.normalisation for one in given))
    if len(ways) > 1:
        labels = ", ".join(NORMALISATIONS[way].label for way in ways)
        notes.append(f"The models normalise features differently ({labels}); the comparison includes this.")
    first = given[0].frame.reset_index()[["fold", "query"]].drop_duplicates()
    if first["query"].duplicated().any():
        notes.append(
            "Some queries are in the parts of several folds; each counts once, with its mean over them."
        )
    return notes
