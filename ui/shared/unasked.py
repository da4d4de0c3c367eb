"""Automatic jobs: they continue runs that are too long to wait for, until the visitor moves on."""

from __future__ import annotations

import time
from contextlib import suppress

import streamlit as st

from rankviz.runs.spec import RunSpec
from rankviz.store import StoreError, StoreOutOfReach
from rankviz.store.job_status import JobStatus
from rankviz.store.study import HERE
from ui.shared import words
from ui.shared.foreign import escaped
from ui.shared.runs import data_roots_of_visitor, errors_as_sentences, run
from ui.shared.tabs import began_unasked, leave, wait_too
from ui.shared.visitors import visitor
from ui.shared.watching import PARAMETER, jobs, watch

REST_SECONDS = 1.5
"""Seconds without a change of controls before an automatic job begins."""
UNASKED, _RESTING = "unasked-job", "unasked-runs"
"""Where the session keeps the id of such a job, and the runs that may begin when the controls rest."""


def start(missing: list[RunSpec], title: str, place: str = HERE) -> JobStatus:
    """Start a job and put its id into the address; `place` names its workers."""
    roots = data_roots_of_visitor()
    job_id = jobs().submit(missing, owner=visitor(), title=title, roots=roots, place=place)
    st.query_params[PARAMETER] = job_id
    return jobs().status(job_id)


def note_on(job: JobStatus) -> str:
    """Return the remark below a job's progress."""
    if job.owner != visitor():
        return words.OF_OTHERS
    return words.SLOW if job.id == st.session_state.get(UNASKED) else ""


def go_on(late: list[RunSpec], title: str, why: str, wanted: list[RunSpec]) -> bool:
    """Show the job that continues these runs; return True if there is one, or will be.

    `why` explains below it why they were too long to wait for. Without a reason they were not tried, and the
    job begins once the controls rest.
    """
    if not why and not _rested(late):
        st.fragment(_rest, run_every=REST_SECONDS)(time.monotonic())
        return True
    job = _job_of(late, title)
    if job is not None:
        note = (why or words.SLOW) if job.owner == visitor() else words.OF_OTHERS
        watch(job, place=title, note=note, wanted=wanted)
    return job is not None


def _job_of(late: list[RunSpec], title: str) -> JobStatus | None:
    """Return the job that continues too long runs; run them here if no job can be stored."""
    try:
        job_id, new = jobs().join(late, owner=visitor(), title=title, roots=data_roots_of_visitor())
        if new:
            st.query_params[PARAMETER] = st.session_state[UNASKED] = job_id
            began_unasked(job_id, visitor())
        else:
            wait_too(job_id)
        return jobs().status(job_id)
    except StoreOutOfReach as error:
        st.warning(escaped(error), icon=":material/save:")
        run(*late)
    except StoreError as error:
        st.warning(escaped(error), icon=":material/error:")
    return None


def _rested(late: list[RunSpec]) -> bool:
    """Return True if the controls did not change for a while since these runs were first missing."""
    asked, since = st.session_state.get(_RESTING, (frozenset(), 0.0))
    if asked != frozenset(late):
        st.session_state[_RESTING] = frozenset(late), time.monotonic()
        return False
    return time.monotonic() - since >= REST_SECONDS


@errors_as_sentences()
def _rest(drawn: float) -> None:
    """Show a line, and redraw the page when the visitor has left the controls alone for a while."""
    st.caption(words.RESTING)
    if time.monotonic() - drawn >= REST_SECONDS:
        st.rerun()


def let_go(wanted: list[RunSpec]) -> None:
    """Leave the automatic job if the page needs none of its runs; forget it then, or when it is done."""
    job_id = st.session_state.get(UNASKED)
    if job_id is None:
        return
    with suppress(StoreError):  # it was deleted
        job = jobs().status(job_id)
        if job.state != "finished" and not set(job.specs).isdisjoint(wanted):
            return
    leave(job_id)
    del st.session_state[UNASKED]
    if st.query_params.get(PARAMETER) == job_id:
        del st.query_params[PARAMETER]
