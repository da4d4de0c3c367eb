"""The views of the Runs page: the best run and all others in a figure, the table, and actions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import counted, superscript
from rankviz.common.settings import Whole
from rankviz.features.registry import N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.metrics.evaluation import COLUMNS
from rankviz.metrics.formulas import direction
from rankviz.plots import metric_vs_setting
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.store.study import DONE, IMPORTED
from ui.compare import runs_actions as actions
from ui.compare import runs_filters as filters
from ui.compare import runs_words as words
from ui.compare.runs_actions import CHOSEN, TIMES_CHOSEN, chosen_of
from ui.compare.runs_filters import PARTS, Columns, metrics, of_parts
from ui.compare.runs_words import FIRST_LISTED, MEASURED, NONE_MATCHES, best_of, made_here
from ui.controls import imported
from ui.controls.compared import RUN, RUNS, named_as
from ui.controls.sidebar import own_place
from ui.controls.widgets import Bound, note_looks
from ui.shell.figures import report_ties, show_answer, show_figure, show_table
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor, visitor
from ui.shell.words import REVEAL
from ui.work.folds import is_here
from ui.work.metrics import measured
from ui.work.run_store import run_store, show_store_notice

_LISTED = "runs-listed"
HEIGHT = 390
WHOSE = {(True, False): "own", (True, True): "own, shared", (False, False): "of others"}
"""Owner of a run in words, by two flags: own, and shared."""
AGAINST, EVERYTHING, SHOWN_METRICS, SHOWN_PARTS, FIRST = "against", "everything", "metrics", "parts", "first"
MADE, SECONDS = "when it was made", "seconds of training"
LATEST, BEST, QUICKEST = "latest", "best", "quickest"
MOST_LISTED = 2000
"""Largest number of rows sent to the browser; figure, search and actions on all runs use the others too."""
MOST_TICKS = 10
MOST_NOTED = 5
"""Largest number of chosen runs with a note on equal scores."""


def cells(
    table: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]
) -> pd.DataFrame:
    """Return the cells of the table: marks in use, differing settings, metrics, state and time."""
    found: dict[str, Any] = {}
    if table["star"].any():
        found["★"] = table["star"].map({True: "★", False: ""})
    for name in wanted:
        title = _title(columns, name, wanted)
        found[title] = _written(columns, name, table)
    found |= {title: table[column] for column, title in metrics.items()}
    found["seconds"] = table["seconds"]
    if (table["state"] != DONE).any():
        found["state"] = table["state"].replace(IMPORTED, NOT_MADE_HERE)
    if (table["reason"] != "").any():
        found["reason"] = table["reason"]
    if (table["tags"].map(len) > 0).any():
        found["tags"] = table["tags"].map(list)
    if (table["note"] != "").any():
        found["note"] = table["note"]
    if table["shared"].any() or not table["own"].all():
        pairs = zip(table["own"], table["shared"], strict=True)
        found["whose"] = pd.Series([WHOSE[bool(own), bool(shared)] for own, shared in pairs], table.index)
    found["made"] = times(table)
    return pd.DataFrame(found, index=table.index)


def _title(columns: Columns, name: str, wanted: Sequence[str]) -> str:
    """Return a column's title: a short symbol, or a label, with the name if labels coincide."""
    labels = {one: _short(columns, one) for one in wanted}
    title = labels[name]
    return title if list(labels.values()).count(title) == 1 else f"{title} ({name})"


def _short(columns: Columns, name: str) -> str:
    setting = columns.setting(name)
    wordy = setting.options or len(setting.symbol) > 2
    return setting.label if wordy else setting.symbol


def _written(columns: Columns, name: str, table: pd.DataFrame) -> pd.Series[Any]:
    if columns.by_powers(name, table):
        return columns.exponents(name, table)
    numeric = pd.api.types.is_numeric_dtype(table[name])
    return table[name] if numeric else columns.in_words(name, table)


def _says_anything(values: pd.Series[Any]) -> bool:
    """Return True if any run has a value in a column."""
    return bool((values.notna() & ~values.isin(["", "none"])).any())


def times(table: pd.DataFrame) -> pd.Series[Any]:
    """Return the times at which runs ended or were submitted, in the time zone of `_zone`."""
    found = pd.to_datetime(table["ended"].fillna(table["created"]), unit="s", utc=True)
    return found.dt.tz_convert(_zone() or "UTC")


def _zone() -> ZoneInfo | None:
    """Return the visitor's time zone; None, for UTC, if the browser names none that is known."""
    with suppress(LookupError, ValueError, OSError):
        return ZoneInfo(st.context.timezone or "")
    return None


def _made(title: str) -> str:
    """Return the title of times, with the zone if it may not be the visitor's."""
    return title if _zone() else f"{title} (UTC)"


def formats(
    shown: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]
) -> dict[str, Any]:
    """Return the formats of columns: powers as in the papers, metrics with four digits."""
    config = st.column_config
    found: dict[str, Any] = {title: config.NumberColumn(title, format="%.3f") for title in metrics.values()}
    for name in wanted:
        title, help_text = _title(columns, name, wanted), columns.setting(name).help
        if columns.by_powers(name, columns.table):
            found[title] = config.NumberColumn(title, help=help_text)  # `show` writes the powers
        elif isinstance(columns.setting(name).domain, Whole) and pd.api.types.is_numeric_dtype(shown[title]):
            found[title] = config.NumberColumn(title, format="%d", help=help_text)
        elif pd.api.types.is_numeric_dtype(shown[title]):
            found[title] = config.NumberColumn(title, format="%.4g", help=help_text)
    found["★"] = config.TextColumn("★", width=30)
    found["seconds"] = config.NumberColumn("seconds", format="%.3g", help="Training time.")
    found["made"] = config.DatetimeColumn(_made("made"), format="D MMM YYYY, HH:mm:ss")
    found["tags"] = config.ListColumn("tags")
    return found


def show(table: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]) -> list[str]:
    """Draw the table; return the digests of its chosen runs."""
    wanted = [name for name in wanted if _says_anything(_written(columns, name, table))]
    shown = cells(table, columns, wanted, metrics)
    key = _key(table, list(shown.columns))
    st.session_state[_LISTED] = table.index
    chosen = chosen_of(table)
    places = [int(place) for place in table.index.get_indexer(pd.Index(chosen))]
    powers = {
        _title(columns, name, wanted): partial(_power, columns.base(name))
        for name in wanted
        if columns.by_powers(name, table)
    }
    show_table(
        shown.style.format(powers, na_rep="–") if powers else shown,
        key=key,
        hide_index=True,
        height=min(HEIGHT, 36 * (len(shown) + 1) + 3),
        column_config=formats(shown, columns, wanted, metrics),
        on_select=lambda: _take(key),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": places}},
        alt="Runs with settings and metrics.",
    )
    return chosen


def _power(base: int, exponent: float) -> str:
    return f"{base}{superscript(int(exponent))}"


def _take(key: str) -> None:
    """Store the clicked rows, by their position in the table as drawn."""
    rows = st.session_state[key]["selection"]["rows"]
    st.session_state[CHOSEN] = [st.session_state[_LISTED][row] for row in rows]


def _key(table: pd.DataFrame, titles: list[str]) -> str:
    """Return the widget's key, which changes with the runs, because it stores positions."""
    text = "".join(table.index) + "|".join(titles) + str(st.session_state.get(TIMES_CHOSEN, 0))
    return f"runs-table-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"


@dataclass(frozen=True)
class What:
    """Display options: axis of the figure, order, parts and metrics, all settings or differing ones."""

    against: str
    first: str
    parts: tuple[str, ...]
    metrics: tuple[str, ...]
    everything: bool


def runs_of_visitor() -> pd.DataFrame:
    """Return the runs before filters: all, those of a study, or deleted ones."""
    store, owner = run_store(), visitor()
    show_store_notice()
    imported.compare()
    found = store.listing.seen_by(owner)
    if bool(found["own"].any()):
        keep_visitor()
    titles, asked = store.studies.titles(owner), st.query_params.get(filters.STUDY, "")
    if asked and asked not in _named(titles).values():  # the menu writes its labels into the address
        st.warning(words.NO_STUDY)
    _of_link(found)
    with own_place():
        study = _study(titles) if titles else ""
        if Bound().switch(filters.DELETED, "Deleted", help="Your deleted runs."):
            return store.listing.deleted_by(owner)
    if not study:
        return found
    of_study = store.listing.of_study(study, owner)
    return of_study.drop(store.listing.deleted_by(owner).index, errors="ignore")


def _of_link(found: pd.DataFrame) -> None:
    """Choose the runs that a link names, once, and say how many of them cannot be shown."""
    linked = named_as(RUN, RUNS)
    asked = list(dict.fromkeys(filter(None, linked.split(","))))
    there = [digest for digest in asked if digest in found.index]
    if st.session_state.get(RUN, "") != linked:
        st.session_state[RUN] = linked
        actions.choose(there)
    if lost := len(asked) - len(there):
        st.warning(words.LOST_RUNS.format(runs=counted(lost, "run")), icon=":material/link_off:")


def _named(titles: dict[str, str]) -> dict[str, str]:
    """Return the labels of studies; "" stands for all runs."""
    return {"": "all"} | {one: f"{title} · {one[:6]}" for one, title in titles.items()}


def _study(titles: dict[str, str]) -> str:
    """Draw the menu of studies; return the chosen one, "" for none."""
    return str(Bound().menu(filters.STUDY, "Study", _named(titles), help="Runs requested together."))


def nothing_yet() -> None:
    """Explain what to do without runs."""
    if st.session_state.get(filters.DELETED):
        show_answer("No deleted runs.")
    else:
        show_answer("No runs yet.")
        st.info(words.RUNS_KEPT, icon=":material/info:")
        st.page_link("pages/train.py", label="Train one", icon=":material/model_training:")
    actions.deleted_note()
    actions.import_form()


def filtered(columns: Columns) -> filters.Shown:
    """Draw the filters; return the matching runs."""
    known = columns.table
    with own_place():
        metric = filters.metric_chosen(known)
        found = filters.draw(known, columns, metric)
    return filters.Shown(found, len(known), metric, columns.differing(found))


def answer_and_list(shown: filters.Shown, columns: Columns) -> None:
    """Draw the best run and all others in a figure, and the table with its actions."""
    if shown.table.empty:
        show_answer(NONE_MATCHES.format(runs=counted(shown.total, "run")))
        st.button("Show all", on_click=filters.reset, key="show-all-again")
        actions.deleted_note()
        actions.import_form()
        return
    imported.report()
    top, row, note = st.container(), st.container(horizontal=True, gap="xsmall"), st.container()
    with row:
        what = _what_is_listed(shown, columns)
    with top:
        best = _headline(shown, columns, what)
    _table(shown, columns, what, row, note)
    with note:
        _report_ties([best, *chosen_of(shown.table)], what)


def _report_ties(digests: Sequence[str], what: What) -> None:
    """Say how equal scores change the metrics of the best run and of the first chosen ones."""
    noted = [one for one in dict.fromkeys(digests) if one][: 1 + MOST_NOTED]
    found = run_store().records.find(run_store().listing.specs(noted)).values()
    records = [measured(record) if is_here(record.spec) else record for record in found]
    report_ties(dict.fromkeys(what.parts, records), what.metrics)


def _headline(shown: filters.Shown, columns: Columns, what: What) -> str:
    """Name the best run, draw all runs against a chosen quantity, and return the best one's digest."""
    found, column = made_here(shown.table), f"vali:{shown.metric}"
    answer, best = best_of(shown, columns)
    if column not in found or found[column].notna().sum() < 2:
        show_answer(answer)
        return best
    name = _axes(shown, columns)[what.against]
    x, title, kind = _axis(name, found, columns)
    data = metric_vs_setting.runs_data(found, x, column, best)
    drawn = metric_vs_setting.thinned_runs(data)
    some = f" {len(drawn):,} of {len(data):,} drawn." if len(drawn) < len(data) else ""
    if len(found) < len(shown.table):
        some += f" Runs {NOT_MADE_HERE}, are not drawn."
    figure = metric_vs_setting.runs_figure(drawn, title, f"{shown.metric}, validation", kind=kind)
    show_figure(
        figure.update_xaxes(_ticks(name, found, columns)),
        data,
        answer=answer,
        key="many-runs",
        caption=words.POINTS.format(metric=shown.metric, some=some),
    )
    return best


def _axes(shown: filters.Shown, columns: Columns) -> dict[str, str]:
    """Return the possible axes of the figure: columns by their words in the menu."""
    settings = {columns.setting(name).label: name for name in shown.differing}
    return {MADE: "ended", SECONDS: "seconds"} | settings


def _axis(name: str, found: pd.DataFrame, columns: Columns) -> tuple[pd.Series[Any], str, str]:
    """Return values, title and type of a column's axis."""
    if name == "ended":
        return times(found).dt.tz_localize(None), _made(MADE), "date"
    if name == "seconds":
        return found["seconds"], f"{SECONDS} (log)", "log"
    setting = columns.setting(name)
    if columns.by_powers(name, found):
        return columns.exponents(name, found), setting.symbol, "linear"
    if pd.api.types.is_numeric_dtype(found[name]):
        kind = "log" if name == N_COMPONENTS.name else "linear"
        return found[name], f"{setting.symbol} (log)" if kind == "log" else setting.symbol, kind
    return columns.in_words(name, found), setting.label, "category"


def _ticks(name: str, found: pd.DataFrame, columns: Columns) -> dict[str, Any]:
    """Return ticks of an axis of exponents, as powers; none for other columns."""
    if name not in columns.names or not columns.by_powers(name, found):
        return {}
    places = sorted(columns.exponents(name, found).dropna().unique())
    shown = places[:: math.ceil(len(places) / MOST_TICKS)]
    return {"tickvals": shown, "ticktext": [_power(columns.base(name), one) for one in shown]}


def _table(
    shown: filters.Shown, columns: Columns, what: What, row: DeltaGenerator, note: DeltaGenerator
) -> None:
    """Draw the table, with buttons for its chosen runs in its row."""
    found = shown.table
    same = "" if what.everything else columns.common(found)
    rows = _in_order(found, shown.metric, what.first)
    words = f"All: {same}." if same else ""
    column = f"vali:{shown.metric}"
    if shown.metric not in (*COLUMNS, ""):
        n = int(found[column].notna().sum()) if column in found else 0
        text = MEASURED.format(metric=shown.metric, n=n, of=len(found), most=filters.MOST_MEASURED)
        note.caption(escaped(text))
    if len(rows) > MOST_LISTED:
        words += FIRST_LISTED.format(MOST_LISTED=MOST_LISTED, first=what.first)
    if words:
        note.caption(words)
    wanted = columns.names if what.everything else shown.differing
    show(rows.head(MOST_LISTED), columns, wanted, of_parts(what.metrics, what.parts, rows))
    with row:
        _actions(found, chosen_of(found))
    with note:
        actions.deleted_note()


def _actions(found: pd.DataFrame, chosen: Sequence[str]) -> None:
    if st.session_state.get(filters.DELETED):
        label = f"Restore {counted(len(chosen), 'run')}"
        st.button(label, key="runs-restore", on_click=actions.restore, args=(chosen,), disabled=not chosen)
        return
    actions.marks(found, chosen)
    actions.export_menu(found, chosen)
    actions.import_form()
    actions.next_steps(found, chosen)


def _what_is_listed(shown: filters.Shown, columns: Columns) -> What:
    """Draw the controls of the figure's axis, the order and the columns."""
    found = shown.table
    with st.popover("Show", icon=":material/view_column:", help="Columns, order, axis."):
        axes, known = list(_axes(shown, columns)), metrics(found.columns)
        bound = Bound()
        against = bound.menu_of_data(AGAINST, "Figure against", axes, _first_axis(axes))
        first = bound.menu(FIRST, "First", [LATEST, BEST, QUICKEST])
        parts = st.pills(
            "Parts",
            list(PARTS),
            selection_mode="multi",
            default=["vali"],
            format_func=PARTS.__getitem__,
            key=SHOWN_PARTS,
            help=REVEAL,
            bind="query-params",
        )
        others = [name for name in known if name != shown.metric]
        names = bound.several(SHOWN_METRICS, "Further metrics", others, [])
        everything = bound.switch(EVERYTHING, "All settings", help="Includes equal settings.")
    if "test" in parts:
        note_looks(found.index)
    named = [*filter(None, [shown.metric]), *names]
    return What(against, first, tuple(parts), tuple(named), everything)


def _first_axis(axes: Sequence[str]) -> int:
    """Return the position of m, else of C, else of the time."""
    return next((axes.index(one.label) for one in (N_COMPONENTS, LOSS_WEIGHT) if one.label in axes), 0)


def _in_order(found: pd.DataFrame, metric: str, first: str) -> pd.DataFrame:
    column = f"vali:{metric}"
    if first == BEST and column in found:
        return found.sort_values(column, ascending=direction(metric) < 0, kind="stable", na_position="last")
    if first == QUICKEST:
        return found.sort_values("seconds", kind="stable", na_position="last")
    return found
