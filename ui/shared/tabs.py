"""Browser tabs, and the automatic jobs that they wait for: the last tab to leave ends the job.

Streamlit releases a session's data when its tab is closed. It also does so if a browser empties its caches,
so the session is checked before anything ends.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock, Timer

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.store import StoreError
from ui.shared.watching import jobs

PATIENCE = 3.0
"""Seconds for a tab to return after a reload or a broken connection."""


class Waiting:
    """Tabs that wait for automatic jobs; thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._owners: dict[str, str] = {}
        self._tabs: dict[str, set[str]] = {}

    def begin(self, job_id: str, owner: str, tab: str) -> None:
        """Record that a job was started automatically for a tab."""
        with self._lock:
            self._owners[job_id] = owner
            self._tabs[job_id] = {tab}

    def join(self, job_id: str, tab: str) -> None:
        """Record that another tab waits for a job, if it was started automatically."""
        with self._lock:
            if job_id in self._tabs:
                self._tabs[job_id].add(tab)

    def leave(self, job_id: str, tab: str) -> str | None:
        """Record that a tab no longer waits for a job; return its owner if it was the last tab."""
        with self._lock:
            tabs = self._tabs.get(job_id)
            if tabs is None:
                return None
            tabs.discard(tab)
            if tabs:
                return None
            del self._tabs[job_id]
            return self._owners.pop(job_id)

    def of(self, tab: str) -> list[str]:
        """Return the jobs that a tab waits for."""
        with self._lock:
            return [job_id for job_id, tabs in self._tabs.items() if tab in tabs]


WAITING = Waiting()


def began_unasked(job_id: str, owner: str) -> None:
    """Record that a job was started automatically for this tab, and ends with it."""
    WAITING.begin(job_id, owner, _tab())


def wait_too(job_id: str) -> None:
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
