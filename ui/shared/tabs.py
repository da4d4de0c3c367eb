"""Tabs of browsers, and the jobs that nobody asked for which they wait for: the last one to leave ends them.

Streamlit releases what it keeps for a session when its tab has gone. It does so too where a browser asks it
to empty its caches, so the session is looked at before anything ends.
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
"""Seconds for a tab that was reloaded, or whose connection broke, to come back."""


class Waiting:
    """Which tabs wait for which unasked jobs; safe among the threads of all visitors."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._owners: dict[str, str] = {}
        self._tabs: dict[str, set[str]] = {}

    def begin(self, job_id: str, owner: str, tab: str) -> None:
        """A job was started unasked for a tab."""
        with self._lock:
            self._owners[job_id] = owner
            self._tabs[job_id] = {tab}

    def join(self, job_id: str, tab: str) -> None:
        """Another tab waits for a job, if that is one that was started unasked."""
        with self._lock:
            if job_id in self._tabs:
                self._tabs[job_id].add(tab)

    def leave(self, job_id: str, tab: str) -> str | None:
        """A tab does not wait for a job any more; its owner where that was the last tab."""
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
        """The jobs that a tab waits for."""
        with self._lock:
            return [job_id for job_id, tabs in self._tabs.items() if tab in tabs]


WAITING = Waiting()


def began_unasked(job_id: str, owner: str) -> None:
    """A job was started unasked for this tab, and ends with it."""
    WAITING.begin(job_id, owner, _tab())


def wait_too(job_id: str) -> None:
    """This tab waits for a job that may be another's."""
    WAITING.join(job_id, _tab())


def leave(job_id: str, tab: str = "") -> None:
    """This tab, or the one named, needs a job no more: it ends, if nobody asked for it and nobody waits."""
    owner = WAITING.leave(job_id, tab or _tab())
    if owner is not None:
        with suppress(StoreError):  # it was deleted
            jobs().stop(job_id, owner)


def _tab() -> str:
    """The name of this tab's session, which is looked after from now on."""
    context = get_script_run_ctx()
    return _looked_after(context.session_id if context else "")


def _gone(tab: str) -> None:
    """Streamlit has let go of a tab's session: end what it waited for, if it does not come back."""
    timer = Timer(PATIENCE, _end_what_waited, (tab,))
    timer.daemon = True
    timer.start()


def _end_what_waited(tab: str) -> None:
    if not runtime.exists() or runtime.get_instance().is_active_session(tab):
        return  # without a server nobody can tell whether it has gone
    for job_id in WAITING.of(tab):
        leave(job_id, tab)


@st.cache_resource(scope="session", on_release=_gone, show_spinner=False)
def _looked_after(tab: str) -> str:
    return tab
