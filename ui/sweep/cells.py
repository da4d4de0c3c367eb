"""Cells of a sweep: values by fold, a link to the Train page, and one look at the test part."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.plots.sweep_settings import setting_name, value_text
from rankviz.runs.selection import RULES
from rankviz.runs.sweep_table import settings_of
from ui.controls.settings import open_run, state_of
from ui.shell.figures import show_table
from ui.shell.texts import escaped
from ui.sweep import words
from ui.sweep.found import Sweep
from ui.sweep.told import cell_words, over
from ui.sweep.words import CELLS, ONE_CELL, TESTED
from ui.work.folds import datasets

CLICKED = "cell"
"""Session key of the clicked cell, with its sweep."""
LOOKED = "sweep-test-looked-at"
"""Session key of the choices of a sweep that were tested."""


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
            "Fold to open", folds, at, key="open-fold", label_visibility="collapsed", width=110
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
    rank = int((sweep.folds.mean(axis=1) > values.mean()).sum()) + 1
    what = "Chosen cell" if own is None else "Clicked cell"
    spread = f" ({values.min():.3f} to {values.max():.3f} over folds)" if len(values) > 1 else ""
    row.markdown(
        ONE_CELL.format(
            what=what,
            cell=cell_words(sweep.design, sweep.design.plan.cells[cell]),
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
        table[[str(fold) for fold in folds.columns]] = folds.to_numpy()
    return table.sort_values(sweep.metric, ascending=False, kind="stable")


def all_cells(sweep: Sweep) -> None:
    """Draw the table of cells; one may be picked."""
    table = table_of(sweep)
    left = sweep.cells - len(table)
    waiting = f"; {counted(left, 'other')} incomplete" if left else ""
    st.caption(
        CELLS.format(
            cells=counted(len(table), "cell"), waiting=waiting, metric=sweep.metric, over=over(sweep.design)
        )
    )
    key = f"sweep-cells-{sweep.status.id}"
    config = {name: st.column_config.NumberColumn(format="%.4f") for name in table.select_dtypes("number")}
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
    cells = tuple(sweep.chosen.chosen["cell"])
    looked = st.session_state.setdefault(LOOKED, {}).setdefault(sweep.status.id, [])
    if cells not in looked:
        st.markdown(words.LOOK_ONCE)
        if sweep.status.left:
            st.info(words.STILL_RUNNING)
        st.button(
            "Test the chosen cell",
            key="show-test",
            icon=":material/visibility:",
            on_click=looked.append,
            args=(cells,),
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
        TESTED.format(
            metric=sweep.metric,
            mean=float(table[sweep.metric].mean()),
            over=over(sweep.design),
            rule=RULES[sweep.rule].label,
            validation=sweep.chosen.validation,
        )
    )
    if len(table) > 1:
        table = pd.concat([table, table.mean().to_frame("mean").T])
    show_table(
        table.rename_axis("fold"),
        column_config={name: st.column_config.NumberColumn(format="%.4f") for name in table},
    )
