"""Texts of the Side by side page: its two models, and significant differences."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rankviz.common.numbers import with_minus
from rankviz.datasets import RankingData
from rankviz.metrics.significance import compare
from rankviz.plots.per_query import ROUNDING, PairStyles, pair_styles
from rankviz.runs.description import Description
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.models import Two
from ui.shell.figures import sentence
from ui.shell.texts import describe, escaped

FIRST_HELP = "The table below has all documents."
SCORES_HELP = "Centred by query; standardised: divided by the standard deviation."
LISTS = (
    "Query {query}, first {k} of {n} documents. Markers: grade; ▲▼: ranks gained or lost. {values}. Click a "
    "document to mark it. {about}."
)
WHICH = "linear: with the linear baseline's C."
HOW = "Click, or draw around points."
METRIC_HELP = "Per query, for both models."
SAME = "Both sides are {model}. Choose another, or pin it and change a setting."
AGAINST = (
    "One point per query; larger: more documents; hollow: even ({even} of {all}). Ring: query {chosen}. "
    "{about}. {definition}."
)
IN_ORDER = "Below: Kendall's τ, 1 for equal rankings, −1 for reversed{without}. {about}."
ALL = (
    "{which} {all} queries, by difference in {metric}, then by τ. Tick rows to select queries.{middle} "
    "{about}."
)

CAUTION = "These queries were chosen by their results. They are no evidence about other queries."
STANDARDISED = "scores, centred and divided by their standard deviation"
SCORES = "All {documents} documents of query {query}: {said}. {about}."
LARGEST = "**Largest changes of rank**: tick a row to mark it."
MIDDLE = " Median τ of all queries: {tau}."
UNDEFINED = "{metric} is not defined on the selected queries: they have no relevant document"
TAU_HELP = "1: same order, −1: reversed."


@dataclass(frozen=True)
class Pair:
    """Both models and their names."""

    left: RunRecord
    right: RunRecord

    @property
    def specs(self) -> Two:
        """Specs of the models."""
        return Two(self.left.spec, self.right.spec)

    @property
    def names(self) -> tuple[str, str]:
        """Short names, for axes and tables."""
        return self.specs.names

    @property
    def labels(self) -> tuple[str, str]:
        """Names with m, above lists."""
        return self.specs.labels

    @property
    def names_in_text(self) -> tuple[str, str]:
        """The names within a sentence."""
        return self.specs.names_in_text

    @property
    def sides(self) -> PairStyles:
        """Styles for drawing both."""
        return pair_styles(self.specs.looks, self.names)

    @property
    def learned(self) -> RunRecord:
        """The model that learns from preference pairs; the left one if both or neither do."""
        right_only = self.right.spec.offers.pair_objective and not self.left.spec.offers.pair_objective
        return self.right if right_only else self.left

    def values(self, part: str, metric: str) -> tuple[pd.Series[float], pd.Series[float]]:
        """Return the metric of both by query."""
        return self.left.metrics[part][metric], self.right.metrics[part][metric]

    def about(self, part: str) -> str:
        """Describe data, fold, settings of both and part, for captions."""
        return about(self.left.spec, self.right.spec, part)


@dataclass(frozen=True)
class Compared:
    """Shared by all views of the page: both models on a part, with one metric; one row per query.

    Attributes
    ----------
    pair : Pair
    data : RankingData
        The part.
    part, metric : str
    table : DataFrame
        As returned by `per_query.query_data`.
    """

    pair: Pair
    data: RankingData
    part: str
    metric: str
    table: pd.DataFrame

    @property
    def about(self) -> str:
        """Data, fold, settings of both and part, for captions."""
        return self.pair.about(self.part)


def about(left: RunSpec, right: RunSpec, part: str) -> str:
    """Describe the comparison, with common settings once."""
    both = describe(left, part), describe(right, part)
    shared = tuple(pair for pair in both[0].settings if pair in both[1].settings)
    models = " beside ".join(_own(one.without(*(name for name, _ in shared))) for one in both)
    return str(replace(both[0], method=models, model="", settings=shared))


def _own(described: Description) -> str:
    """Describe a model with its own settings."""
    settings = ", ".join(text for _, text in described.settings)
    return ", ".join(described.names) + (f" ({settings})" if settings else "")


def reading(pair: Pair, part: str, metric: str, selected: Collection[int] = ()) -> tuple[str, str]:
    """Compare the models in a sentence, over all queries or over selected ones with a caution."""
    a, b = pair.values(part, metric)
    everything = _over_all(pair, a, b, metric)
    chosen = a.index.isin(list(selected))
    if not chosen.any() or chosen.all():
        return sentence(everything), ""
    selected = _over_selected(pair, a[chosen], b[chosen], metric, len(a))
    return sentence(selected), f"{CAUTION if chosen.sum() > 1 else ''} {_plain(everything)}".strip()


def _over_all(pair: Pair, a: pd.Series[float], b: pd.Series[float], metric: str) -> str:
    left, right = pair.names_in_text
    if _even(a, b):
        where = "the only query" if len(a) == 1 else f"each of the {len(a):,} queries"
        return f"By {metric}, {_both(pair)} are even on {where}"
    return compare(a, b).sentence(left, right, metric)


def _over_selected(pair: Pair, a: pd.Series[float], b: pd.Series[float], metric: str, n: int) -> str:
    interval = compare(a, b).interval
    if not interval.n_queries:
        return UNDEFINED.format(metric=metric)
    if _even(a, b):
        where = f"query {a.index[0]}" if len(a) == 1 else f"each of the {len(a):,} selected of {n:,} queries"
        return f"By {metric}, {_both(pair)} are even on {where}"
    minus = f"{' minus '.join(pair.names_in_text)} is"
    mean = with_minus(interval.mean, "+z.3f")
    if len(a) == 1:
        return f"On query {a.index[0]}, {minus} {mean} {metric}"
    return (
        f"Over the {len(a):,} selected of {n:,} queries, {minus} {mean} {metric} on average "
        f"({'paired ' * interval.known}{interval.in_words()})"
    )


def _even(a: pd.Series[float], b: pd.Series[float]) -> bool:
    return bool(np.abs(a.to_numpy() - b.to_numpy()).max(initial=0.0) <= ROUNDING)


def _both(pair: Pair) -> str:
    return " and ".join(pair.names_in_text)


def _plain(text: str) -> str:
    return f"All queries: {text[0].lower() if text.startswith('By ') else text[0]}{text[1:]}."


def tau_text(tau: float) -> str:
    """Format Kendall's τ with three decimals; 1 only for exactly the same order."""
    return "above 0.999" if 0.9995 <= tau < 1 else with_minus(tau, "z.3f")


def marked_document(document: pd.Series, pair: Pair) -> str:
    """Give the ranks of the marked document in both lists."""
    ranks = document["left_rank"], document["right_rank"]
    places = (f"rank {n} with {name}" for n, name in zip(ranks, pair.names_in_text, strict=True))
    return (
        f"Marked: {_named(document['document'])}, grade {document['grade']}, {' and '.join(places)}. Click "
        "again to unmark."
    )


def _named(document: str) -> str:
    return escaped(document if document.startswith("document") else f"document {document}")


def query_reading(row: pd.Series, moved: pd.DataFrame, pair: Pair) -> str:
    """Compare the rankings of one query: common first documents, τ, and the largest moves."""
    first = min(10, int(row["documents"]))
    shared = round(row["overlap"] * first)
    which = f"{shared} of the first {first} documents" if first > 1 else "the only document"
    words = [f"On query {row['query']:.0f} both lists share {which}"]
    if not np.isnan(row["tau"]):
        words.append(f"Kendall's τ is {tau_text(row['tau'])}")
    if len(moved):
        document, _, left, right, _ = moved.iloc[0]
        moves = f"{_named(document)} moves farthest"
        words.append(
            f"{moves}, from rank {left} with {pair.names_in_text[0]} to {right} with {pair.names_in_text[1]}"
        )
    elif first > 1:
        words.append("all ranks are the same")
    return sentence("; ".join(words))
