"""A job as its page shows it: progress, time, the button that stops it, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import cache
from threading import Lock

import streamlit as st

from rankviz.experiments.description import in_a_sentence
from rankviz.experiments.estimate import in_words
from rankviz.experiments.remaining import roughly
from rankviz.experiments.spec import RunSpec
from rankviz.store import NoSuchStudy, StoreError
from rankviz.store.execution import LocalWorkers
from rankviz.store.job_status import JobStatus
from rankviz.store.jobs import Jobs
from rankviz.store.study import HERE
from ui.shared.foreign import escaped
from ui.shared.run_store import workers
from ui.shared.runs import errors_as_sentences, recall, stage_words
from ui.shared.visitors import keep_visitor, visitor
from ui.shared.where import line

POLL_SECONDS, MOST_POLL_SECONDS = 0.3, 2.0
"""A job is looked at this often by its page, less often the more there are that watch one."""
POLLS_OF_ALL = 5.0
"""Looks a second of all pages together: each costs the server 20 ms."""
REDRAW_SECONDS = 2.0
"""At most this often a page is drawn anew because its job has more records; of more than two, in turn."""
PARAMETER = "job"
"""The query parameter that names the job a page shows."""
STOPPED = "stopped-job"
"""Where the session keeps the job that its visitor stopped last."""


def jobs() -> Jobs:
    """The jobs of this machine's user, shared by all visitors; `StoreOutOfReach`."""
    return _jobs_of(workers())


@cache
def _jobs_of(execution: LocalWorkers) -> Jobs:
    return Jobs(execution)


class _Watchers:
    """How many pages watch a job just now; safe among the threads of all visitors."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[str, float] = {}

    def note(self, page: str) -> None:
        """A page looks at its job."""
        with self._lock:
            self._seen[page] = time.monotonic()

    def number(self) -> int:
        """Pages that have looked within the time in which each looks at least once."""
        since = time.monotonic() - 2 * MOST_POLL_SECONDS
        with self._lock:
            self._seen = {page: at for page, at in self._seen.items() if at > since}
            return len(self._seen)


_watchers = _Watchers()


def watch(job: JobStatus, *, place: str = "", note: str = "", wanted: Collection[RunSpec] = ()) -> None:
    """Show a job's progress, its Stop button and how it ended; the page runs again when it grows or ends.

    `place` tells several views of one job on a page apart; `note` is said under its progress while it runs.
    Of the runs that a page has `wanted` those that are ready are counted with the job's.
    """
    others = set(wanted) - set(job.specs)
    beside = sum(recall(spec) is not None for spec in others), len(others)
    often = min(max(POLL_SECONDS, _watchers.number() / POLLS_OF_ALL), MOST_POLL_SECONDS)
    shown = st.fragment(_progress, run_every=often if job.live else None)
    shown(job.id, place, note, job.live, len(job.finished), beside)
    if job.owner == visitor():
        keep_visitor()


@errors_as_sentences()
def _progress(
    job_id: str, place: str, note: str, was_live: bool, drawn: int, beside: tuple[int, int]
) -> None:
    """The fragment that is drawn several times a second while a job is live."""
    _watchers.note(f"{visitor()} {job_id} {place}")
    try:
        status = jobs().status(job_id)
    except NoSuchStudy:  # deleted meanwhile: the page is drawn without it
        st.rerun()
    with st.container(border=True):
        text, action = st.columns([5, 1], vertical_alignment="center")
        text.progress(status.fraction, f"**{escaped(status.title)}** · {_words(status, beside)}")
        if status.owner == visitor() and status.live == was_live:  # else the page is about to be drawn anew
            _button(action, status, place)
        if status.state == "failed":
            st.error(escaped(status.reason), icon=":material/error:")
        elif status.live and note:
            st.caption(note)
        if status.live and status.place != HERE:
            st.caption(escaped(_plan(status)))
            line(status.place)
    if was_live:  # at last: how it ended is on screen before the whole page has been drawn anew
        _redraw(status, drawn)


def _button(action: st.delta_generator.DeltaGenerator, status: JobStatus, place: str) -> None:
    """The owner's button: stop a live job, or delete an ended one."""
    label, key, act = (
        ("Stop the job", "stop", _stop) if status.live else ("Delete the job", "delete", _delete)
    )
    action.button(
        label,
        key=f"{key}-{status.id}-{place}",
        width="stretch",
        on_click=act,
        args=(status.id,),
        disabled=status.stopping,
    )


def _redraw(status: JobStatus, drawn: int) -> None:
    """Run the whole page again when the job has ended, or has grown and was not drawn just now."""
    state, now = st.session_state, time.monotonic()
    last = state.setdefault("job-drawn", now)
    pause = REDRAW_SECONDS * max(1.0, _watchers.number() / 2)
    if not status.live or (len(status.finished) > drawn and now - last >= pause):
        state["job-drawn"] = now
        st.rerun()


def _words(status: JobStatus, beside: tuple[int, int] = (0, 0)) -> str:
    """Where a job is: runs that are ready, which one goes on and for how long, time.

    `beside` are how many of the page's other runs are ready, and how many there are.
    """
    done, total = len(status.finished) + beside[0], status.total + beside[1]
    ready = f"{done} of {total} runs ready" if total > 1 else ""
    if ready and status.failed:
        ready += f", {len(status.failed)} failed"
    stage = ""
    if status.stopping:
        stage = "stopping"
    elif status.state == "running":
        stage = _of_the_current(status, named=total > 1)
    elif status.state == "queued":
        stage = "waiting for another run" if status.place == HERE else "waiting for the cluster"
    elif status.state != "failed":
        stage = escaped(status.reason.rstrip("."))
    words = [ready if status.live else "", stage or status.state, in_words(status.seconds)]
    return " · ".join(filter(None, words))


def _of_the_current(status: JobStatus, named: bool) -> str:
    """Which run is made where there are more, what it is about, and about how long it takes yet."""
    if status.latest is None or status.current is None:
        return "starting the next run" if status.finished else "starting"
    stage, left = stage_words(status.latest["stage"]), status.remaining
    if shards := status.latest.get("shards"):
        stage += f", {shards[0]} of {shards[1]} shards"
    words = f"{in_a_sentence(status.current)}: {stage}" if named else stage
    return words if left is None else f"{words}, {roughly(left)} left"


def _plan(status: JobStatus) -> str:
    """How the run that is made is made, as a sentence."""
    return "" if status.latest is None else str(status.latest.get("plan", ""))


@errors_as_sentences()
def _stop(job_id: str) -> None:
    try:
        jobs().stop(job_id, visitor())
        # so that the page says how it ended: a run of it that is on its way may not know the address yet
        st.query_params[PARAMETER] = st.session_state[STOPPED] = job_id
    except StoreError as error:
        st.toast(escaped(error), icon=":material/error:")


@errors_as_sentences()
def _delete(job_id: str) -> None:
    try:
        jobs().delete(job_id, visitor())
        st.query_params.pop(PARAMETER, None)
    except StoreError as error:
        st.toast(escaped(error), icon=":material/error:")
