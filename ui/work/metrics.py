"""The metric of a page: one of those of runs, or the visitor's own, whose column records get here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.analysis.contestants import with_measures
from rankviz.common.errors import SettingError
from rankviz.metrics.evaluation import COLUMNS, column_name
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store.study import DONE
from ui.shell import words
from ui.shell.page import TITLE
from ui.work.folds import fold_of, is_here
from ui.work.run_store import run_store

METRICS = (*COLUMNS, "MeanRank")
"""The metrics that pages offer: all pages the same. Records lack those that are not in `COLUMNS`."""
USUAL_METRIC, OWN = "NDCG@10", "Own …"
MENU, FIELD = "metric", "own"
"""Session keys and query parameters of the menu, and of the field of the own metric."""
_KEPT, _KEPT_ON = {MENU: "metric-of-all-pages", FIELD: "own-of-all-pages"}, "metric-of-page"
PARTS = ("vali", "test")


def chosen(key: str) -> str:
    """Return the choice of menu or field before it is drawn; a new page begins with the choice made last."""
    state, link = st.session_state, st.query_params.get(key)
    anew = arrived() or (key == FIELD and key not in state)
    asked = (link or state.get(_KEPT[key])) if anew else state.get(key, link)
    if key == MENU and asked not in (*METRICS, OWN):
        return USUAL_METRIC
    return str(asked or "")


def keep(menu: str, field: str) -> None:
    """Keep the choices for other pages."""
    state = st.session_state
    state[_KEPT[MENU]] = menu
    if menu == OWN:
        state[_KEPT[FIELD]] = field


def settle() -> None:
    """End the arrival on this page: from now on the state has its choices."""
    st.session_state[_KEPT_ON] = st.session_state.get(TITLE)


def arrived() -> bool:
    """Return True on another page, where the state has no metric, or that of the page before."""
    state = st.session_state
    return _KEPT[MENU] in state and (MENU not in state or state.get(_KEPT_ON) != state.get(TITLE))


def metric_now() -> str:
    """Return the metric before its menu is drawn; the usual one for an own metric that cannot be read."""
    menu = chosen(MENU)
    return menu if menu != OWN else read_own()[0]


def offered() -> tuple[str, ...]:
    """Return all metrics, and the visitor's own one if it is chosen."""
    return tuple(dict.fromkeys((*METRICS, metric_now())))


def read_own() -> tuple[str, str]:
    """Return the column of the own metric, and why it is the usual one instead, "" if it is not."""
    asked = chosen(FIELD).strip()
    if not asked:
        return USUAL_METRIC, words.NO_OWN_METRIC.format(usual=USUAL_METRIC)
    try:
        return column_name(asked), ""
    except (SettingError, ValueError) as error:
        unread = words.UNREAD_METRIC.format(why=error)
    return USUAL_METRIC, f"{unread} {words.NO_OWN_METRIC.format(usual=USUAL_METRIC)}"


def measured(record: RunRecord, metric: str = "") -> RunRecord:
    """Return a record with the column of a metric, or of the page's, if runs lack it."""
    metric = metric or metric_now()
    if metric in COLUMNS:
        return record
    found = _columns(record.spec, metric, lambda: record)
    metrics = record.metrics | {
        part: record.metrics[part].assign(**{metric: own}) for part, (own, _) in found.items()
    }
    by_order = record.by_order | {
        part: record.by_order.get(part, {}) | moved for part, (_, moved) in found.items()
    }
    return replace(record, metrics=metrics, by_order=by_order)


def with_column(table: pd.DataFrame, metric: str, most: int | None = None) -> pd.DataFrame:
    """Return a table of runs with the means of a metric that runs lack.

    They are those of finished runs whose data are here, at most of the first `most`.
    """
    if metric in COLUMNS:
        return table
    done, store = table.index[table["state"] == DONE], run_store()
    means: dict[str, dict[str, float]] = {}
    specs = zip(done, store.listing.specs(list(done)), strict=True)
    for digest, spec in islice((pair for pair in specs if is_here(pair[1])), most):
        found = _columns(spec, metric, lambda spec=spec: store.records.find([spec])[spec])  # type: ignore[misc]
        means[digest] = {f"{part}:{metric}": float(own.mean()) for part, (own, _) in found.items()}
    return table.join(pd.DataFrame.from_dict(means, orient="index"))


@st.cache_resource(max_entries=2048, show_spinner=False)
def _columns(
    spec: RunSpec, metric: str, _opened: Callable[[], RunRecord]
) -> dict[str, tuple[pd.Series, dict[str, Any]]]:
    """Return the metric by query, and its mean by the file's order if that changes it, of both parts."""
    record, parts, found = _opened(), fold_of(spec).parts, {}
    for part in PARTS:
        if part in record.metrics:
            more = with_measures(record, part, [metric], lambda part=part: parts[part])  # type: ignore[misc]
            moved = {name: mean for name, mean in more.by_order[part].items() if name == metric}
            found[part] = more.metrics[part][metric], moved
    return found
