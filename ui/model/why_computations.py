"""Cached computations of the Why page: models, shares of features, swaps of documents."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.arrays import FloatArray
from rankviz.models.ranker import Ranker
from rankviz.runs.record import RunRecord
from rankviz.runs.run import model_from
from rankviz.whatif.crossings import Crossings, Swaps, crossings_seen, margin_along, swaps
from rankviz.whatif.explanations import MarginExplanation, explain_margin, landmark_shares
from rankviz.whatif.scan_grid import POINTS
from ui.model.what_if_models import shared_model
from ui.model.why_choices import Pair
from ui.work.folds import normalised

MOST_REFITS, MOST_SECONDS = 10, 2.0
"""Largest number of refits without single queries, and seconds in which they may begin."""
_by_pair = partial(st.cache_resource, hash_funcs={Pair: lambda pair: pair.key})


@st.cache_resource(max_entries=4, show_spinner="Loading …", hash_funcs={RunRecord: lambda run: run.spec.hash})
def model_of(record: RunRecord) -> Ranker:
    """Return the fitted model of a record."""
    return model_from(record, normalised(record.spec).train)


@_by_pair(max_entries=64, show_spinner=False)
def explained(pair: Pair) -> MarginExplanation:
    """Return the shares of the features in the margin of the two documents."""
    return explain_margin(model_of(pair.record), pair.a, pair.b)


@st.cache_resource(
    max_entries=16,
    show_spinner="Computing …",
    hash_funcs={Pair: lambda pair: (pair.record.spec, pair.part, pair.query)},
)
def neighbours(pair: Pair, n: int) -> MarginExplanation:
    """Return the shares in the margins of the first n documents to the next ones below."""
    X = pair.data.X[pair.listed["row"].to_numpy()[: n + 1]]
    return explain_margin(model_of(pair.record), X[:-1], X[1:])


@_by_pair(max_entries=64, show_spinner="Searching …")
def nearest(pair: Pair) -> Swaps:
    """Return the smallest change of every feature that swaps the two documents."""
    return swaps(model_of(pair.record), pair.a, pair.b, normalised(pair.record.spec).train.X)


def curve(pair: Pair, feature: int) -> tuple[FloatArray, FloatArray, Crossings]:
    """Return values of a feature over its training range, the margins there, and all values that swap."""
    column = normalised(pair.record.spec).train.X[:, feature]
    ends = [float(column.min()), float(column.max()), float(pair.a[feature]), float(pair.b[feature])]
    low, high = min(ends), max(ends)
    model, values = model_of(pair.record), np.linspace(low, high, POINTS)
    margin = margin_along(model, pair.a, pair.b, feature, values)
    return values, margin, crossings_seen(model, pair.a, pair.b, feature, (low, high))


@_by_pair(max_entries=16, show_spinner="Computing …")
def landmarks(pair: Pair) -> pd.DataFrame:
    """Return each landmark's share of the margin."""
    train = normalised(pair.record.spec).train
    return landmark_shares(model_of(pair.record), pair.a, pair.b, train)


@_by_pair(max_entries=64, show_spinner="Refitting …")
def without_queries(pair: Pair) -> pd.DataFrame:
    """Return the margin without each training query; `SettingError` if it cannot be estimated."""
    asking = shared_model(pair.record, normalised(pair.record.spec))
    return asking.margins_without_queries(pair.a, pair.b, MOST_REFITS, MOST_SECONDS)
