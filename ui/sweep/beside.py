"""Comparison of several sweeps on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from rankviz.plots import sweep_map, sweep_settings
from rankviz.plots.sweep_settings import setting_name
from ui.shell.figures import show_figure
from ui.shell.texts import escaped
from ui.sweep import words
from ui.sweep.found import Sweep, opened
from ui.sweep.mine import sweeps
from ui.sweep.told import cell_words, over

OTHERS = "beside"
"""Query parameter and session key of the other sweeps."""
MOST = 2


def beside(sweep: Sweep, x: str, y: str) -> None:
    """Draw this sweep and up to two others: maps on one colour scale, curves on one axis."""
    there = {one.id: one.study.title for one in sweeps() if one.id != sweep.status.id}
    if not there:
        st.info(words.NO_OTHER)
        return
    if OTHERS not in st.session_state:
        st.session_state[OTHERS] = st.query_params.get(OTHERS, "").split(".")
    st.session_state[OTHERS] = [one for one in st.session_state[OTHERS] if one in there][:MOST]
    chosen = st.multiselect(
        "Beside this sweep",
        list(there),
        format_func=there.__getitem__,
        max_selections=MOST,
        key=OTHERS,
        placeholder=words.CHOOSE_OTHERS,
    )
    if chosen:
        st.query_params[OTHERS] = ".".join(chosen)
    else:
        st.query_params.pop(OTHERS, None)
        return
    shown = [sweep, *(opened(one, sweep.metric, sweep.rule, sweep.per_fold) for one in chosen)]
    shown = [one for one in shown if len(one.folds)]
    if len({(one.design.base.dataset, one.design.folds) for one in shown}) > 1:
        st.caption(words.OTHER_DATA)
    maps, lines = st.tabs(["Maps", "Curves"])
    with maps:
        _maps([one for one in shown if {x, y} <= set(one.design.names)], x, y)
    with lines:
        _curves(shown, x)


def _maps(shown: Sequence[Sweep], x: str, y: str) -> None:
    if len(shown) < 2:
        st.info(words.FEW_MAPS)
        return
    tables = [sweep_map.map_data(one.design, one.done, one.metric, x, y) for one in shown]
    low, high = sweep_map.colours_between(pd.concat(tables)["value"].dropna())
    for place, one, table in zip(st.columns(len(shown)), shown, tables, strict=True):
        figure = sweep_map.map_figure(table, one.design, one.metric, x, y)
        figure.update_traces(zmin=low, zmax=high, selector={"type": "heatmap"})
        figure.update_layout(showlegend=False)
        figure.update_traces(marker={"cmin": low, "cmax": high}, selector={"mode": "markers"})
        with place:
            _show(figure, table, one, "map")


def _curves(shown: Sequence[Sweep], x: str) -> None:
    shown = [one for one in shown if x in one.design.names]
    if len(shown) < 2:
        st.info(words.FEW_CURVES)
        return
    tables = [sweep_settings.curves_data(one.design, one.done, one.metric, x) for one in shown]
    every = pd.concat(tables)
    low, high = float(every["low"].min()), float(every["high"].max())
    pad = (high - low) / 20 or 0.01
    for place, one, table in zip(st.columns(len(shown)), shown, tables, strict=True):
        figure = sweep_settings.curves_figure(table, one.design, one.metric, x)
        figure.update_yaxes(range=[low - pad, high + pad])
        figure.update_layout(showlegend=False)
        with place:
            _show(figure, table, one, f"curve-{setting_name(one.design.settings[x])}")


def _show(figure: go.Figure, table: pd.DataFrame, sweep: Sweep, what: str) -> None:
    design = sweep.design
    row = table.loc[table["value" if "value" in table else "mean"].idxmax()]
    best = cell_words(design, design.plan.cells[int(row["cell"])])
    title = escaped(sweep.status.study.title)
    st.markdown(f"**{title}**: best {sweep.metric} {sweep.folds.mean(axis=1).max():.3f} at {best}")
    show_figure(
        figure,
        table,
        key=f"beside-{what}-{sweep.status.id}",
        alt=f"{sweep.metric}, best at {best}",
        caption=words.BESIDE.format(metric=sweep.metric, over=over(design)),
    )
