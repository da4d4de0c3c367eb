"""A sweep as shown on the page: progress, design, table of runs, and chosen cell."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import counted
from rankviz.metrics.evaluation import COLUMNS
from rankviz.runs.description import fold_words
from rankviz.runs.designs import Design
from rankviz.runs.selection import (
    RULES,
    SIMPLER,
    Candidates,
    Choice,
    Selection,
    candidates,
    select,
    simplicity,
)
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import by_fold, results
from rankviz.store import NoSuchStudy, StoreError, StudyStatus
from rankviz.store.studies import TITLE_LENGTH
from rankviz.store.study import HERE, RUNNING
from ui.shell.errors import errors_as_sentences
from ui.shell.texts import escaped
from ui.shell.visitors import visitor
from ui.study import sweep_words as words
from ui.study.sweep_design import KIND, STUDY, design_from, room_for_runs
from ui.study.sweep_words import NO_SWEEP, NOT_MEASURED, at_work, cell_words, pace, time_left
from ui.work.metrics import with_column
from ui.work.place import cluster_line
from ui.work.run_store import run_store, workers

CLICKED = "cell"
"""Session key of the clicked cell, with its sweep."""
_REFUSED = "sweep-refused"
SHOWN, LONGEST_NOTE = 8, 500
_DELETED = "sweep-deleted"
POLL_SECONDS, REDRAW_SECONDS = 1.0, 2.0
"""Seconds between polls of a live sweep, and least seconds between redraws of the page as it grows."""
_DRAWN = "sweep-drawn"
MOST_REASONS = 5


@dataclass(frozen=True)
class Sweep:
    """A study that is a sweep, with the table of its runs.

    Attributes
    ----------
    status : StudyStatus
    design : Design
    table : DataFrame
        As returned by `RunStore.listing`.
    metric, rule : str
    per_fold : bool
        True to choose a cell for each fold separately.
    """

    status: StudyStatus
    design: Design
    table: pd.DataFrame
    metric: str = "NDCG@10"
    rule: str = "best"
    per_fold: bool = False

    @property
    def column(self) -> str:
        """The column of the choice."""
        return f"vali:{self.metric}"

    @cached_property
    def done(self) -> pd.DataFrame:
        """Its finished runs."""
        return self.table[self.table["state"] == "done"]

    @cached_property
    def folds(self) -> pd.DataFrame:
        """The metric, one row per complete cell, one column per fold."""
        if self.column not in self.done:
            return pd.DataFrame(columns=list(self.design.folds), dtype=float)
        return by_fold(results(self.design, self.done), self.column).dropna()

    @cached_property
    def candidates(self) -> Candidates:
        """Its complete cells, as input of the rules."""
        runs = results(self.design, self.done)
        return candidates(self.folds, None, simplicity(self.design, runs, SIMPLER), self.metric)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.design.plan.cells)

    @cached_property
    def chosen(self) -> Selection | None:
        """The choice on validation; None without complete cells."""
        if not len(self.folds):
            return None
        return select(self.design, self.done, self.metric, per_fold=self.per_fold, rule=self.rule)

    @property
    def near(self) -> int:
        """Number of other cells within one standard error of the best; 0 without such an error."""
        margin = RULES["one_standard_error"].margin(self.candidates, self.candidates.best)
        return max(int(self.candidates.near(margin).sum()) - 1, 0)

    def spec(self, cell: int, fold: str) -> RunSpec:
        """Return the run of a cell on a fold, with the first of its seeds."""
        return next(run.spec for run in self.design.plan.runs if (run.cell, run.fold) == (cell, fold))


def opened(study: str, metric: str = "", rule: str = "", per_fold: bool | None = None) -> Sweep:
    """Return a sweep that this visitor may see; raise `NoSuchStudy` or `DataError` otherwise.

    An empty metric or rule, or None for `per_fold`, means the study's stored choice.
    """
    store = run_store()
    status = store.studies.seen(study, visitor())
    design = design_of(status)
    kept = Choice.of_study(status.study.design) or Choice()
    each = kept.per_fold if per_fold is None else per_fold
    by = metric or kept.metric
    table = with_column(store.listing.of_study(study, visitor()), by)
    if status.done and by not in COLUMNS and f"vali:{by}" not in table:
        raise DataError(
            NOT_MEASURED.format(metric=by),
            expected="the data that the runs were made with",
            remedy=f"Choose another metric, or add {design.base.dataset} on Data.",
        )
    return Sweep(status, design, table, by, rule or kept.rule, each)


def design_of(status: StudyStatus) -> Design:
    """Return the design of a study; `DataError` if this version cannot read it."""
    try:
        return design_from(json.dumps(dict(status.study.design), sort_keys=True))
    except (ValueError, SettingError, TypeError, KeyError) as error:
        raise DataError(
            NO_SWEEP.format(error=error),
            expected="a study started here",
            remedy="Open it on Runs.",
        ) from error


def report_errors(act: Callable[..., Any]) -> Callable[..., None]:
    """Return a callback for an action; `say_what_was_refused` shows its errors."""

    def tried(*args: Any) -> None:
        st.session_state.pop(_REFUSED, None)
        try:
            act(*args)
        except (DataError, SettingError, StoreError) as error:
            st.session_state[_REFUSED] = str(error)

    return tried


def clear_action_error() -> None:
    """Forget the last error, because something else is shown."""
    st.session_state.pop(_REFUSED, None)


def show_action_error() -> None:
    """Show the error of the last action, if any."""
    if _REFUSED in st.session_state:
        st.warning(escaped(st.session_state[_REFUSED]), icon=":material/error:")


def sweeps() -> list[StudyStatus]:
    """Return own and shared sweeps, the latest first."""
    return [one for one in run_store().studies.of(visitor()) if one.study.kind == KIND]


def show_sweeps(title: str = "") -> None:
    """Draw a line for each sweep, below a title."""
    found = sweeps()
    if title and found:
        st.subheader(f"{title} ({len(found)})", anchor=False)
    if _DELETED in st.session_state:
        row = st.container(horizontal=True, vertical_alignment="center")
        title, study = st.session_state[_DELETED]
        row.markdown(words.DELETED.format(title=escaped(title)), width="content")
        row.button("Undo", key="undo-delete", on_click=report_errors(_restore), args=(study,))
    if not found:
        st.caption(words.NO_SWEEPS)
        return
    shown = found
    if len(found) > SHOWN and not st.toggle(f"All {len(found)}", key="all-sweeps"):
        shown = found[:SHOWN]
    for status in shown:
        _line(status)


def _line(status: StudyStatus) -> None:
    own = status.study.owner == visitor()
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        escaped(status.study.title),
        key=f"open-{status.id}",
        type="tertiary",
        icon=":material/folder_open:",
        on_click=show,
        args=(status.id,),
        help="Open",
    )
    when = datetime.fromtimestamp(status.created)
    words = [
        status.in_words.rstrip("."),
        best_words(status.id, status.done, Choice.of_study(status.study.design) or Choice()),
        f"{when.day} {when:%b, %H:%M}",
    ]
    words += [] if own else ["shared by another visitor"]
    words += [escaped(status.note)] if status.note else []
    row.caption(" · ".join(filter(None, words)), width="content")
    if own:
        about = {"icon": ":material/more_horiz:", "help": "Title, note, share, delete."}
        with row.popover("", key=f"more-{status.id}", **about):
            _menu(status)


def _menu(status: StudyStatus) -> None:
    studies = run_store().studies
    name, note, shared = (f"{what}-{status.id}" for what in ("title", "note", "share"))
    st.text_input(
        "Title",
        status.study.title,
        max_chars=TITLE_LENGTH,
        key=name,
        on_change=report_errors(lambda: studies.rename(status.id, visitor(), st.session_state[name].strip())),
    )
    st.text_area(
        "Note",
        status.note,
        max_chars=LONGEST_NOTE,
        key=note,
        on_change=report_errors(lambda: studies.note(status.id, visitor(), st.session_state[note].strip())),
    )
    st.toggle(
        "Shared",
        status.study.shared,
        key=shared,
        help=words.SHARE_HELP,
        on_change=report_errors(lambda: studies.share(status.id, visitor(), st.session_state[shared])),
    )
    st.button(
        "Delete",
        key=f"delete-{status.id}",
        icon=":material/delete:",
        on_click=report_errors(_delete),
        args=(status.id, status.study.title),
        help=words.DELETE_HELP,
    )


def show(study: str) -> None:
    """Show a sweep (a callback)."""
    st.session_state[STUDY] = study
    st.session_state.pop(CLICKED, None)
    clear_action_error()


def _delete(study: str, title: str) -> None:
    run_store().studies.delete(study, visitor())
    st.session_state[_DELETED] = title, study
    if st.session_state.get(STUDY) == study:
        st.session_state[STUDY] = ""


def _restore(study: str) -> None:
    run_store().studies.restore(study, visitor())
    st.session_state.pop(_DELETED, None)


@st.cache_data(max_entries=500, show_spinner=False)
def best_words(study: str, done: int, choice: Choice) -> str:
    """Describe a sweep's current choice, cached by the number of finished runs; "" without one."""
    try:
        sweep = opened(study, choice.metric, choice.rule, choice.per_fold)
        if sweep.chosen is None:
            return ""
    except (NoSuchStudy, DataError, SettingError):
        return ""
    which = "best" if choice.rule == "best" else f"within {RULES[choice.rule].label}"
    text = f"{which} {choice.metric} {sweep.chosen.validation:.3f}"
    if choice.per_fold and len(sweep.design.folds) > 1:
        return f"{text} in the mean, chosen for each fold"
    cell = int(sweep.chosen.chosen["cell"].iloc[0])
    return f"{text} at {cell_words(sweep.design, sweep.design.plan.cells[cell])}"


def progress(sweep: Sweep) -> None:
    """Draw counts, time, current runs, and the owner's buttons."""
    shown = st.fragment(_progress, run_every=POLL_SECONDS if sweep.status.live else None)
    shown(sweep, pace(sweep.table, sweep.status.created))
    _failed(sweep)


@errors_as_sentences()
def _progress(sweep: Sweep, seconds: float) -> None:
    """Draw the fragment; polling restarts workers that died."""
    look = workers().watch if sweep.status.live else run_store().studies.status
    status = look(sweep.status.id)  # read again: a button of the fragment runs nothing else
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    text = row.container(width="stretch")
    words = [status.in_words.rstrip(".")]
    if status.live:
        words += [time_left(status.left, seconds), at_work(sweep, status.news)]
    text.progress(status.share, " · ".join(filter(None, words)))
    changed = (status.live, status.asked) != (sweep.status.live, sweep.status.asked)
    if status.study.owner == visitor() and not changed:  # otherwise the page is about to be redrawn
        with row:
            _buttons(status)
    if status.live and status.study.place != HERE:
        _on_the_cluster(status)
    _redraw(status, sweep.status, changed)


def _on_the_cluster(status: StudyStatus) -> None:
    """Draw the cluster's state; if it does not answer, the owner may continue on this machine."""
    if not cluster_line(status.study.place) and status.study.owner == visitor():
        st.button(
            "Continue on this machine",
            key="sweep-here",
            icon=":material/computer:",
            on_click=report_errors(_act),
            args=(_move_here, status.id),
        )


def _move_here(study: str, owner: str) -> None:
    run_store().studies.move(study, owner, HERE)


def _buttons(status: StudyStatus) -> None:
    store = run_store().studies
    acts = [("Pause", ":material/pause:", store.pause), ("Stop the sweep", ":material/stop:", store.stop)]
    if not status.live or status.asked != RUNNING:
        again = partial(_resume, status.total - status.done)
        acts = [("Resume", ":material/play_arrow:", again)] if status.done < status.total else []
    for label, icon, act in acts:
        st.button(
            label,
            key=f"sweep-{label.split()[0]}",
            icon=icon,
            on_click=report_errors(_act),
            args=(act, status.id),
        )


def _resume(runs: int, study: str, owner: str) -> None:
    """Continue a study of which so many runs are left, if there is room for them."""
    with room_for_runs(runs):
        run_store().studies.resume(study, owner)


def _act(act: Callable[[str, str], None], study: str) -> None:
    act(study, visitor())
    workers().maintain()


def _redraw(now: StudyStatus, before: StudyStatus, changed: bool) -> None:
    """Rerun the whole page when something changed, or the sweep grew and was not redrawn just now."""
    since = time.monotonic() - st.session_state.setdefault(_DRAWN, 0.0)
    if changed or (now.counts != before.counts and since >= REDRAW_SECONDS):
        st.session_state[_DRAWN] = time.monotonic()
        st.rerun()


def _failed(sweep: Sweep) -> None:
    """Draw the runs that cannot be made, by reason."""
    table = sweep.table.reset_index()
    failed = table[table["state"].isin(["failed", "lost"])]
    if not len(failed):
        return
    with st.expander(f"{counted(len(failed), 'run')} failed: why", icon=":material/warning:"):
        for reason, group in list(failed.groupby("reason"))[:MOST_REASONS]:
            runs = [sweep.design.plan.runs[place] for place in group.index[:3]]
            cells = sweep.design.plan.cells
            named = "; ".join(
                f"{cell_words(sweep.design, cells[run.cell])}, {fold_words(run.fold)}" for run in runs
            )
            more = f" and {len(group) - 3:,} more" if len(group) > 3 else ""
            st.markdown(f"{escaped(reason or 'No worker outlived it.')} ({escaped(named)}{more})")
