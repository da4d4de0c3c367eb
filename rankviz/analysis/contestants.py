"""Contestants: models as they are compared, each with its runs over folds and seeds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.metrics.paired_tests import mean_over_seeds
from rankviz.runs.description import describe
from rankviz.runs.labels import short_labels
from rankviz.runs.record import NOT_MADE_HERE, RunRecord, training_seconds
from rankviz.runs.spec import RunSpec
from rankviz.whatif.samples import SETTINGS


@dataclass(frozen=True, eq=False)
class Run:
    """What a comparison reads of a run.

    Attributes
    ----------
    spec : RunSpec
    per_query : DataFrame
        Metrics of one part, index query id.
    seconds : float
        Of training; NaN where nobody counted.
    stopped : bool
        Whether training was stopped before its end.
    imported : str
        What it is kept under where it was not made here but imported; "" otherwise.
    """

    spec: RunSpec
    per_query: pd.DataFrame
    seconds: float = math.nan
    stopped: bool = False
    imported: str = ""

    @classmethod
    def of(cls, record: RunRecord, part: str, imported: str = "") -> Self:
        """What a record holds of a part; `SettingError` where it has none of that name."""
        if part not in record.metrics:
            raise SettingError(f"the run has no part {part!r}; it has {', '.join(record.metrics)}")
        seconds = training_seconds(record) or math.nan
        return cls(record.spec, record.metrics[part], seconds, record.stopped, imported)

    @property
    def key(self) -> str:
        """What it is known by: the digest of its spec, unless it was imported."""
        return self.imported or self.spec.hash

    @property
    def draw(self) -> str:
        """Which draw of its model it is, in words: "seed 3"; "" where nothing is drawn."""
        own = [s.told(self.spec.get(s.name)) for s in self.spec.declared().values() if s.draws]
        sample = [s.told(getattr(self.spec.sample, s.name)) for s in SETTINGS if s.draws]
        return ", ".join((*own, *sample) if self.spec.sample.drawn else own)


@dataclass(frozen=True, eq=False)
class Contestant:
    """A model as it is compared: its runs on folds, with every seed.

    Attributes
    ----------
    label : str
    runs : tuple of Run
        Of one method with the same settings, but for those that only draw; a fold and a seed come once. All
        were made here, or none.
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
        """The spec of its first run: settings are those of all, but for seeds."""
        return self.runs[0].spec

    @property
    def key(self) -> str:
        """What it is known by: the key of its first run."""
        return self.runs[0].key

    @cached_property
    def folds(self) -> tuple[str, ...]:
        """Folds that it has runs of, in order."""
        return tuple(sorted({run.spec.fold for run in self.runs}))

    @cached_property
    def draws(self) -> tuple[str, ...]:
        """Its seeds in words, in the order of its runs."""
        return tuple(dict.fromkeys(run.draw for run in self.runs))

    @property
    def balanced(self) -> bool:
        """Whether each fold has the same seeds."""
        return len(self.runs) == len(self.folds) * len(self.draws)

    @property
    def seconds(self) -> float:
        """Training seconds of a run, on average; NaN where they are not known."""
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
        """By query: metrics, the mean over seeds and then over folds, and the share of runs that have one."""
        means = mean_over_seeds(self.frame).groupby(level="query", sort=False).mean()
        return means, self.frame.notna().groupby(level="query", sort=False).mean()

    def by_query(self, metric: str) -> pd.Series[float]:
        """A metric by query: the mean over its seeds, then over the folds whose part it is in.

        So a query counts once, however many runs have it: training parts share most queries of a set.
        A query without a value, which the definition leaves out, is NaN in all runs; else `DataError`.
        Raises `SettingError` for a metric that a run does not have.
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

    def restricted(self, queries: Mapping[str, pd.Index]) -> Self:
        """The same with some queries of each fold only."""
        kept = (
            replace(run, per_query=run.per_query[run.per_query.index.isin(queries[run.spec.fold])])
            for run in self.runs
        )
        return type(self)(self.label, tuple(kept))


def contestants(records: Iterable[RunRecord | Run], part: str = "test") -> list[Contestant]:
    """Group runs into contestants, in the order in which they come; of records, their metrics of a part.

    Runs belong together whose data set, normalisation, sample of the training part, method and settings are
    the same, but for fold and for what only draws (`Setting.draws`). A spec that comes again is the same run,
    and counts once. Imported runs are models of their own. Labels say what differs, and which were imported.
    Raises `SettingError` for a part that a record has not.
    """
    groups: dict[Hashable, dict[Hashable, Run]] = {}
    for record in records:
        run = record if isinstance(record, Run) else Run.of(record, part)
        group = groups.setdefault((_model(run.spec), bool(run.imported)), {})
        group.setdefault((run.spec, run.imported), run)
    runs = [tuple(sorted(group.values(), key=lambda run: run.spec.fold)) for group in groups.values()]
    labels = _labels([group[0] for group in runs])
    return [Contestant(label, group) for label, group in zip(labels, runs, strict=True)]


def _undrawn(spec: RunSpec) -> RunSpec:
    """The spec with the default of all that only draws, on no fold in particular."""
    drawn = {s.name: s.default for s in (*spec.declared().values(), *SETTINGS) if s.draws}
    return spec.but(fold="", digest="", **drawn)


def _model(spec: RunSpec) -> Hashable:
    plain = _undrawn(spec)
    return plain.data, plain.method, plain.settings


def _labels(firsts: Sequence[Run]) -> list[str]:
    """What tells contestants apart: settings, then data set, sample and normalisation where they differ.

    Of each the first run is given; of imported ones it is told that they are.

    Those that still are called alike, for what differs is not told, are numbered.
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
