"""Comparable contestants: on the same folds of the same data, by the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd

from rankviz.analysis.contestants import Contestant
from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import counted
from rankviz.datasets.normalise import NORMALISATIONS
from rankviz.metrics.significance import queries_in_words
from rankviz.runs.labels import look_of


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
            raise SettingError("a comparison needs two models at least: pick another one")
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
            raise SettingError(f"{label!r} is none of the models compared: {known}")
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

        `rankviz.plots.query_differences` draws its wins and losses. Raises as `named` and `by_query`.
        """
        found = self.by_query(metric)[[self.named(baseline).label, self.named(label).label]]
        return found.set_axis(["old", "new"], axis=1).rename_axis("query").reset_index()


def _check_names(given: Sequence[Contestant]) -> None:
    labels = [one.label for one in given]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingError(f"two of the models are called {twice!r}: give them labels that differ")


def _check_data(given: Sequence[Contestant]) -> None:
    """Raise `SettingError` unless all use one data set, with the same digest of each fold."""
    runs = [run for one in given for run in one.runs]
    names = list(dict.fromkeys(run.spec.dataset for run in runs))
    if len(names) > 1:
        raise SettingError(
            f"the models are of {names[0]} and of {names[1]}, whose queries have nothing in common: compare "
            "models of one data set"
        )
    digests: dict[str, str] = {}
    for run in runs:
        own = run.spec.digest
        if own and digests.setdefault(run.spec.fold, own) != own:
            raise SettingError(
                f"{run.spec.fold} of {names[0]} was not the same for all models (its digest is "
                f"{digests[run.spec.fold][:8]} and {own[:8]}): its files were changed in between; run the "
                "older ones again"
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
    return [f"{left_out:,} of {queries_in_words(every)} {are} left out, for some runs do not have {them}."]


def _notes(given: Sequence[Contestant]) -> list[str]:
    """Return remarks on comparable contestants for the reader."""
    notes = [
        f"{one.label} has not the same seeds on every fold: means are over those that there are."
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
        notes.append(f"Features are normalised in other ways ({labels}): that is part of what is compared.")
    first = given[0].frame.reset_index()[["fold", "query"]].drop_duplicates()
    if first["query"].duplicated().any():
        notes.append(
            "Some queries are in the parts of several folds: each counts once, by its average over these."
        )
    return notes
