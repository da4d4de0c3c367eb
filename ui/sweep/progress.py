"""Progress of a live sweep, polled regularly; pause, resume, stop; failed runs."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from rankviz.common.numbers import counted
from rankviz.store import StudyStatus
from rankviz.store.study import HERE, RUNNING
from ui.shell.errors import errors_as_sentences
from ui.shell.texts import escaped
from ui.shell.visitors import visitor
from ui.sweep.found import Sweep
from ui.sweep.told import cell_words
from ui.sweep.trying import trying
from ui.sweep.words import at_work, pace, time_left
from ui.work.place import cluster_line
from ui.work.run_store import run_store, workers

POLL_SECONDS, REDRAW_SECONDS = 1.0, 2.0
"""Seconds between polls of a live sweep, and least seconds between redraws of the page as it grows."""
_DRAWN = "sweep-drawn"
MOST_REASONS = 5


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
    text.progress(min(1 - status.left / max(status.total, 1), 1.0), " · ".join(filter(None, words)))
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
            on_click=trying(_act),
            args=(_move_here, status.id),
        )


def _move_here(study: str, owner: str) -> None:
    run_store().studies.move(study, owner, HERE)


def _buttons(status: StudyStatus) -> None:
    store = run_store().studies
    acts = [("Pause", ":material/pause:", store.pause), ("Stop the sweep", ":material/stop:", store.stop)]
    if not status.live or status.asked != RUNNING:
        acts = [("Resume", ":material/play_arrow:", store.resume)] if status.done < status.total else []
    for label, icon, act in acts:
        st.button(
            label, key=f"sweep-{label.split()[0]}", icon=icon, on_click=trying(_act), args=(act, status.id)
        )


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
            named = "; ".join(f"{cell_words(sweep.design, cells[run.cell])}, {run.fold}" for run in runs)
            more = f" and {len(group) - 3:,} more" if len(group) > 3 else ""
            st.markdown(f"{escaped(reason or 'No worker outlived it.')} ({escaped(named)}{more})")
