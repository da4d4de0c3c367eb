"""The tabs below the map of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, span
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader
from rankviz.plots import sweep_map, sweep_settings
from rankviz.plots.sweep_settings import setting_name, value_text
from rankviz.runs.adviser import advise
from rankviz.runs.description import fold_title, fold_words
from rankviz.runs.designs import Design
from rankviz.runs.presets import PRESETS, Preset
from rankviz.runs.record import RunRecord
from rankviz.runs.selection import RULES, Choice
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import settings_of
from ui.controls.settings import open_run, state_of
from ui.shell.figures import report_ties, show_figure, show_table
from ui.shell.page import tabs
from ui.shell.texts import escaped
from ui.study import sweep_words as texts
from ui.study import sweep_words as words
from ui.study.sweep_design import specs_of, start_sweep
from ui.study.sweep_studies import CLICKED, Sweep, opened, report_errors, show_sweeps, sweeps
from ui.work.folds import datasets, digest_of
from ui.work.metrics import measured
from ui.work.run_store import run_store

NUMBERS = (1, 3, 5, 10, 20)
OTHERS = "beside"
"""Query parameter and session key of the other sweeps."""
MOST = 2
LOOKED = "sweep-test-looked-at"
"""Session key of the choices of a sweep that were tested."""


def more_cells(sweep: Sweep) -> None:
    """Draw possible additions; the result is a new sweep whose first cells are already made."""
    _second_stage(sweep)
    st.markdown(words.ADVISER)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    number = row.selectbox("Cells to add", NUMBERS, 2, key="advised", width=130)
    with row:
        _button("Ask for more", "ask-for-more", ":material/add:", partial(_advised, sweep, number))


def _button(label: str, key: str, icon: str, act: Callable[[], None]) -> None:
    st.button(label, key=key, icon=icon, on_click=report_errors(act))


def _advised(sweep: Sweep, number: int) -> None:
    cells = advise(sweep.design, sweep.done, sweep.metric, number, seed=len(sweep.folds))
    if not cells:
        raise SettingError(words.ALL_MADE)
    title = f"{sweep.status.study.title}, {counted(len(cells), 'cell')} more"
    _start(sweep.design.extended(cells), title, Choice.of_study(sweep.status.study.design))


def _start(design: Design, title: str, choice: Choice | None) -> None:
    start_sweep(design, title, specs_of(design), choice=choice)


def preset_of(design: Design) -> Preset | None:
    """Return the preset with this first design."""
    for preset in PRESETS.values():
        try:
            if preset.design(design.base, design.folds, design.seeds) == design:
                return preset
        except SettingError:
            continue
    return None


def _second_stage(sweep: Sweep) -> None:
    preset = preset_of(sweep.design)
    if preset is None or sweep.status.left:
        return
    designs = preset.next_stage(sweep.design, sweep.done)
    if not designs:
        return
    st.markdown(words.SECOND_STAGE.format(label=preset.label, source=preset.source))
    for design in designs:
        new = design.plan.cells[sweep.cells :]
        cells = "; ".join(texts.cell_words(design, cell) for cell in new)
        label = f"{escaped(fold_title(design.folds[0]))}: {cells}"
        title = f"{sweep.status.study.title}, second stage, {fold_words(design.folds[0])}"
        act = partial(_start, design, title, preset.choice)
        _button(label, f"stage-{design.folds[0]}", ":material/add:", act)


def compare_sweeps(sweep: Sweep, x: str, y: str) -> None:
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
        st.info(words.FEW_CELLS)
        return
    tables = [sweep_map.map_data(one.design, one.done, one.metric, x, y) for one in shown]
    low, high = sweep_map.colours_between(pd.concat(tables)["value"].dropna(), shown[0].metric)
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
        st.info(words.FEW_CELLS)
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
    row = table.loc[leader(table["value" if "value" in table else "mean"], sweep.metric)]
    best = texts.cell_words(design, design.plan.cells[int(row["cell"])])
    title = escaped(sweep.status.study.title)
    st.markdown(f"**{title}**: best {sweep.metric} {sweep.candidates.top:.3f} at {best}")
    show_figure(
        figure,
        table,
        key=f"beside-{what}-{sweep.status.id}",
        caption=words.BESIDE.format(metric=sweep.metric, over=texts.over(design)),
    )


def clicked(sweep: Sweep) -> int | None:
    """Return the clicked cell of this sweep if it is complete."""
    study, cell = st.session_state.get(CLICKED, ("", None))
    return cell if study == sweep.status.id and cell in sweep.folds.index else None


def click(study: str, key: str) -> None:
    """Store a click in the map (a callback); a click on the marked cell unmarks it."""
    points = st.session_state[key]["selection"]["points"]
    cells = [int(point["customdata"][0]) for point in points if point.get("customdata")]
    pick(study, cells[0] if cells else None)


def pick(study: str, cell: int | None) -> None:
    """Show a cell, or the chosen one again (a callback)."""
    st.session_state[CLICKED] = study, cell


def one_cell(sweep: Sweep) -> None:
    """Draw the clicked cell, else the chosen one, with a link to the Train page."""
    if sweep.chosen is None:
        return
    own = clicked(sweep)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    folds = list(sweep.design.folds)
    fold = folds[0]
    if len(folds) > 1:
        at = folds.index(st.session_state["fold"]) if st.session_state["fold"] in folds else 0
        fold = row.selectbox(
            "Fold to open",
            folds,
            at,
            fold_title,
            key="open-fold",
            label_visibility="collapsed",
            width=110,
        )
    cell = int(sweep.chosen.chosen["cell"][fold]) if own is None else own
    row.button(
        "Open in Train",
        icon=":material/model_training:",
        key="open-cell",
        on_click=open_run,
        args=(sweep.spec(cell, fold),),
        disabled=bool(why := _why_not(sweep, cell, fold)),
        help=why or words.OPEN_HELP,
    )
    values = sweep.folds.loc[cell]
    ahead = direction(sweep.metric) * (sweep.folds.mean(axis=1) - values.mean())
    rank = int((ahead > 0).sum()) + 1
    what = "Chosen cell" if own is None else "Clicked cell"
    spread = f" ({span(values.min(), values.max(), '.3f')} over folds)" if len(values) > 1 else ""
    row.markdown(
        texts.ONE_CELL.format(
            what=what,
            cell=texts.cell_words(sweep.design, sweep.design.plan.cells[cell]),
            metric=sweep.metric,
            mean=values.mean(),
            spread=spread,
            rank=rank,
            of=len(sweep.folds),
        ),
        width="content",
    )
    if own is not None:
        row.button("Back to the chosen cell", key="chosen", on_click=pick, args=(sweep.status.id, None))
    tested = [
        sweep.spec(int(at), own) for own, at in sweep.chosen.chosen["cell"].items() if _is_tested(sweep)
    ]
    report_ties(
        {"vali": _records(sweep, [sweep.spec(cell, fold)]), "test": _records(sweep, tested)}, [sweep.metric]
    )


def _records(sweep: Sweep, specs: Sequence[RunSpec]) -> list[RunRecord]:
    """Return the records of runs with the sweep's metric, where their data are here."""
    known = datasets().get(sweep.design.base.dataset)
    here = [spec for spec in specs if known and spec.fold in known.folds]
    records = run_store().records.find([spec.but(digest=digest_of(spec)) for spec in here]).values()
    return [measured(record) for record in records]


def _looked(sweep: Sweep) -> list[tuple[Any, ...]]:
    """Return the choices of this sweep whose test results were shown."""
    looked: list[tuple[Any, ...]] = st.session_state.setdefault(LOOKED, {}).setdefault(sweep.status.id, [])
    return looked


def _is_tested(sweep: Sweep) -> bool:
    """Return True if the test results of the chosen cell are shown."""
    return sweep.chosen is not None and tuple(sweep.chosen.chosen["cell"]) in _looked(sweep)


def _why_not(sweep: Sweep, cell: int, fold: str) -> str:
    """Explain why a cell cannot be opened on the Train page; "" if it can."""
    spec = sweep.spec(cell, fold)
    try:
        state_of(spec)
    except SettingError as error:
        return words.NO_CONTROL.format(error=escaped(error))
    if spec.dataset not in datasets() or fold not in datasets()[spec.dataset].folds:
        return words.NO_DATA.format(data=escaped(spec.dataset))
    return ""


def table_of(sweep: Sweep) -> pd.DataFrame:
    """Return one row per complete cell, the best first: settings in words, mean, error and folds."""
    design, folds = sweep.design, sweep.folds
    words = settings_of(design).loc[folds.index]
    known = design.settings
    named = {
        setting_name(known[name]): [value_text(known[name], value) for value in words[name]]
        for name in design.names
    }
    table = pd.DataFrame(named, index=folds.index)
    table[sweep.metric] = folds.mean(axis=1)
    if folds.shape[1] > 1:
        table["standard error"] = sweep.candidates.error
        table[[fold_words(fold) for fold in folds.columns]] = folds.to_numpy()
    return table.sort_values(sweep.metric, ascending=direction(sweep.metric) < 0, kind="stable")


def all_cells(sweep: Sweep) -> None:
    """Draw the table of cells; one may be picked."""
    table = table_of(sweep)
    left = sweep.cells - len(table)
    waiting = f"; {counted(left, 'other')} incomplete" if left else ""
    st.caption(
        texts.CELLS.format(
            cells=counted(len(table), "cell"),
            waiting=waiting,
            metric=sweep.metric,
            over=texts.over(sweep.design),
        )
    )
    key = f"sweep-cells-{sweep.status.id}"
    config = {name: st.column_config.NumberColumn(format="%.3f") for name in table.select_dtypes("number")}
    show_table(
        table,
        hide_index=True,
        key=key,
        column_config=config,
        on_select=lambda: _ticked(sweep.status.id, key, list(map(int, table.index))),
        selection_mode="single-row",
    )


def _ticked(study: str, key: str, cells: list[int]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    pick(study, cells[rows[0]] if rows else None)


def test_part(sweep: Sweep) -> None:
    """Draw the test results of the chosen cell on request; of no other cell."""
    if sweep.chosen is None:
        st.info(words.NO_TEST_YET)
        return
    looked = _looked(sweep)
    if not _is_tested(sweep):
        st.markdown(words.LOOK_ONCE)
        if sweep.status.left:
            st.info(words.STILL_RUNNING)
        st.button(
            "Test the chosen cell",
            key="show-test",
            icon=":material/visibility:",
            on_click=looked.append,
            args=(tuple(sweep.chosen.chosen["cell"]),),
        )
        return
    if len(looked) > 1:
        st.warning(
            words.TESTED_OFTEN.format(choices=counted(len(looked), "choice")),
            icon=":material/warning:",
        )
    _tested(sweep)


def _tested(sweep: Sweep) -> None:
    assert sweep.chosen is not None
    shown = ["MAP", "NDCG@1", "NDCG@5", "NDCG@10", "MeanNDCG", "P@10"]
    test = sweep.chosen.test
    if test.empty:
        st.info(words.NO_TEST_PART)
        return
    names = list(dict.fromkeys([sweep.metric, *shown]))
    table = test[[name for name in names if name in test]]
    st.markdown(
        texts.TESTED.format(
            metric=sweep.metric,
            mean=float(table[sweep.metric].mean()),
            over=texts.over(sweep.design),
            rule=RULES[sweep.rule].label,
            validation=sweep.chosen.validation,
        )
    )
    if len(table) > 1:
        table = pd.concat([table, table.mean().to_frame("mean").T])
    show_table(
        table.rename(fold_words).rename_axis("fold"),
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in table},
    )


def tabs_below(sweep: Sweep, x: str, y: str) -> None:
    """Draw everything below the map, in tabs."""
    drawn = {
        "Cells": all_cells,
        "Parallel coordinates": parallel,
        "Validation curves": curves,
        "What settings are worth": worth,
        "Test part": test_part,
        "More cells": more_cells,
    }
    found = {name: partial(_where_there_is_something, draw, sweep) for name, draw in drawn.items()}
    others = {"Beside others": partial(compare_sweeps, sweep, x, y), "Your sweeps": show_sweeps}
    tabs(found | others)


def _where_there_is_something(draw: object, sweep: Sweep) -> None:
    if not len(sweep.folds):
        st.info(words.WAIT_FOR_CELL)
    elif callable(draw):
        draw(sweep)


def parallel(sweep: Sweep) -> None:
    """Draw one line per cell through its settings."""
    table = sweep_settings.parallel_data(sweep.design, sweep.done, sweep.metric)
    show_figure(
        sweep_settings.parallel_figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-parallel",
        caption=words.PARALLEL.format(metric=sweep.metric, over=texts.over(sweep.design)),
        answer=f"{texts.parallel_answer(sweep, table)}.",
    )


def curves(sweep: Sweep) -> None:
    """Draw the metric against one setting, one line per value of another."""
    design = sweep.design
    names = {setting_name(design.settings[name]): name for name in design.names}
    row = st.container(horizontal=True)
    along = names[row.selectbox("Against", list(names), key="along", width=150)]
    lines = None
    if len(names) > 1:
        others = [word for word in names if names[word] != along]
        lines = names[row.selectbox("A line for each", others, key="lines", width=150)]
    table = sweep_settings.curves_data(design, sweep.done, sweep.metric, along, lines)
    show_figure(
        sweep_settings.curves_figure(table, design, sweep.metric, along, lines),
        table,
        key="sweep-curves",
        caption=words.CURVES.format(metric=sweep.metric, over=texts.over(design), band=texts.band(design)),
        answer=f"{texts.curve_answer(sweep, table, along)}.",
    )


def worth(sweep: Sweep) -> None:
    """Draw the importance of each setting."""
    table = sweep_settings.worth_data(sweep.design, sweep.done, sweep.metric)
    show_figure(
        sweep_settings.worth_figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-worth",
        caption=words.WORTH,
        answer=f"{texts.worth_answer(sweep, table)}.",
    )
