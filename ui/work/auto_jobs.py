"""Automatic jobs: they continue runs that are too long to wait for, until no tab needs them.

Streamlit releases a session's data when its tab is closed. It also does so if a browser empties its caches,
so the session is checked before anything ends.
"""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Lock, Timer

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.runs.spec import RunSpec
from rankviz.store import StoreError, StoreOutOfReach
from rankviz.store.study import HERE, WatchedStatus
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.texts import escaped
from ui.shell.visitors import address, visitor
from ui.work.folds import data_roots_of_visitor
from ui.work.runs import run
from ui.work.watching import PARAMETER, jobs, watch

PATIENCE = 3.0
"""Seconds for a tab to return after a reload or a broken connection."""


class Waiting:
    """Tabs that wait for automatic jobs, with the jobs' owners; thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._jobs: dict[str, tuple[str, set[str]]] = {}

    def begin(self, job_id: str, owner: str, tab: str) -> None:
        """Record that a job was started automatically for a tab."""
        with self._lock:
            self._jobs[job_id] = owner, {tab}

    def join(self, job_id: str, tab: str) -> None:
        """Record that another tab waits for a job, if it was started automatically."""
        with self._lock:
            if job_id in self._jobs:
                self._jobs[job_id][1].add(tab)

    def leave(self, job_id: str, tab: str) -> str | None:
        """Record that a tab no longer waits for a job; return its owner if it was the last tab."""
        with self._lock:
            if job_id not in self._jobs:
                return None
            owner, tabs = self._jobs[job_id]
            tabs.discard(tab)
            if tabs:
                return None
            del self._jobs[job_id]
            return owner

    def of(self, tab: str) -> list[str]:
        """Return the jobs that a tab waits for."""
        with self._lock:
            return [job_id for job_id, (_, tabs) in self._jobs.items() if tab in tabs]


WAITING = Waiting()


def begin(job_id: str, owner: str) -> None:
    """Record that a job was started automatically for this tab, and ends with it."""
    WAITING.begin(job_id, owner, _tab())


def join(job_id: str) -> None:
    """Record that this tab waits for a job, perhaps another tab's."""
    WAITING.join(job_id, _tab())


def leave(job_id: str, tab: str = "") -> None:
    """Record that this tab (or `tab`) no longer needs a job, and stop it if it is automatic and unused."""
    owner = WAITING.leave(job_id, tab or _tab())
    if owner is not None:
        with suppress(StoreError):  # it was deleted
            jobs().stop(job_id, owner)


def _tab() -> str:
    """Return the name of this tab's session, and watch the session from now on."""
    context = get_script_run_ctx()
    return _looked_after(context.session_id if context else "")


def _gone(tab: str) -> None:
    """End a released tab's jobs unless the tab returns."""
    timer = Timer(PATIENCE, _end_what_waited, (tab,))
    timer.daemon = True
    timer.start()


def _end_what_waited(tab: str) -> None:
    if not runtime.exists() or runtime.get_instance().is_active_session(tab):
        return  # without a server nobody knows if it has gone
    for job_id in WAITING.of(tab):
        leave(job_id, tab)


@st.cache_resource(scope="session", on_release=_gone, show_spinner=False)
def _looked_after(tab: str) -> str:
    return tab


REST_SECONDS = 1.5
"""Seconds without a change of controls before an automatic job begins."""
AUTO_JOB, _RESTING = "unasked-job", "unasked-runs"
"""Keys of the session: the id of such a job, and the runs that start when settings stop changing."""


def start(missing: list[RunSpec], title: str, place: str = HERE) -> WatchedStatus:
    """Start a job and put its id into the address; `place` names its workers."""
    roots = data_roots_of_visitor()
    job_id = jobs().submit(missing, owner=visitor(), title=title, roots=roots, place=place, address=address())
    st.query_params[PARAMETER] = job_id
    return jobs().status(job_id)


def note_on(job: WatchedStatus) -> str:
    """Return the remark below a job's progress."""
    if job.owner != visitor():
        return words.OF_OTHERS
    return words.SLOW if job.id == st.session_state.get(AUTO_JOB) else ""


def continue_as_job(late: list[RunSpec], title: str, why: str, wanted: list[RunSpec]) -> bool:
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


def _job_of(late: list[RunSpec], title: str) -> WatchedStatus | None:
    """Return the job that continues too long runs; run them here if no job can be stored."""
    try:
        job_id, new = jobs().join(
            late, owner=visitor(), title=title, roots=data_roots_of_visitor(), address=address()
        )
        if new:
            st.query_params[PARAMETER] = st.session_state[AUTO_JOB] = job_id
            begin(job_id, visitor())
        else:
            join(job_id)
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


def leave_unneeded(wanted: list[RunSpec]) -> None:
    """Leave the automatic job if the page needs none of its runs; forget it then, or when it is done."""
    job_id = st.session_state.get(AUTO_JOB)
    if job_id is None:
        return
    with suppress(StoreError):  # it was deleted
        job = jobs().status(job_id)
        if job.state != "finished" and not set(job.specs).isdisjoint(wanted):
            return
    leave(job_id)
    del st.session_state[AUTO_JOB]
    if st.query_params.get(PARAMETER) == job_id:
        del st.query_params[PARAMETER]
