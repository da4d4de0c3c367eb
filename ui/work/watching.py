"""A job on its page: progress, time, stop button, and final status."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import cache
from threading import Lock

import streamlit as st

from rankviz.runs.description import in_a_sentence
from rankviz.runs.estimate import in_words, roughly
from rankviz.runs.spec import RunSpec
from rankviz.store import NoSuchStudy, StoreError
from rankviz.store.execution import LocalWorkers
from rankviz.store.study import HERE, WatchedStatus
from rankviz.store.watched import WatchedStudies
from ui.shell.errors import errors_as_sentences
from ui.shell.locks import unlocked
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor, visitor
from ui.work.place import cluster_line
from ui.work.run_store import workers
from ui.work.runs import recall, stage_words

POLL_SECONDS, MOST_POLL_SECONDS = 0.3, 2.0
"""Seconds between polls of a job by its page; longer if many pages watch."""
POLLS_OF_ALL = 5.0
"""Polls per second over all pages: each costs the server 20 ms."""
REDRAW_SECONDS = 2.0
"""Least seconds between redraws of a page because of new records; with more than two pages, in turn."""
PARAMETER = "job"
"""Query parameter of the job shown by a page."""
STOPPED = "stopped-job"
"""Session key of the job that its visitor stopped last."""


def jobs() -> WatchedStudies:
    """Return the jobs of this machine's user, shared by all visitors; `StoreOutOfReach`."""
    return _jobs_of(workers())


@cache
def _jobs_of(execution: LocalWorkers) -> WatchedStudies:
    return WatchedStudies(execution)


class _Watchers:
    """Number of pages that watch a job now; thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[str, float] = {}

    def note(self, page: str) -> None:
        """Record that a page polls its job."""
        with self._lock:
            self._seen[page] = time.monotonic()

    def number(self) -> int:
        """Return the number of pages that polled within the longest interval between polls."""
        since = time.monotonic() - 2 * MOST_POLL_SECONDS
        with self._lock:
            self._seen = {page: at for page, at in self._seen.items() if at > since}
            return len(self._seen)


_watchers = _Watchers()


def watch(job: WatchedStatus, *, place: str = "", note: str = "", wanted: Collection[RunSpec] = ()) -> None:
    """Show a job's progress, Stop button and final status; rerun the page when it grows or ends.

    `place` distinguishes several views of one job on a page; `note` appears after its progress while it runs.
    The page's `wanted` runs are counted, whoever makes them; without them, the job's.
    """
    ready = frozenset(spec for spec in wanted if recall(spec) is not None)
    often = min(max(POLL_SECONDS, _watchers.number() / POLLS_OF_ALL), MOST_POLL_SECONDS)
    shown = st.fragment(_progress, run_every=often if job.live else None)
    shown(job.id, place, note, job.live, len(job.finished), frozenset(wanted or job.specs), ready)
    if job.owner == visitor():
        keep_visitor()


@errors_as_sentences()
def _progress(
    job_id: str,
    place: str,
    note: str,
    was_live: bool,
    drawn: int,
    counted: frozenset[RunSpec],
    ready: frozenset[RunSpec],
) -> None:
    """Draw the progress; this fragment runs several times a second while a job is live."""
    _watchers.note(f"{visitor()} {job_id} {place}")
    try:
        status = jobs().status(job_id)
    except NoSuchStudy:  # deleted meanwhile: the page is drawn without it
        st.rerun()
    row = st.container(horizontal=True, vertical_alignment="center", wrap=False)
    title = "" if status.title == place else f"**{escaped(status.title)}** · "
    told = f" · {note}" if status.live and note else ""  # in one line: the row keeps its height
    done = len(ready | counted.intersection(status.specs[index] for index in status.finished))
    share = min(1.0, (done + status.under_way(counted - ready)) / len(counted))
    if status.state in ("stopped", "failed"):  # its sentence counts the job's runs
        share = status.fraction
    row.progress(share, f"{title}{_words(status, done, len(counted))}{told}")
    if status.owner == visitor() and status.live == was_live:  # otherwise the page is about to be redrawn
        _button(row, status, place)
    if status.state == "failed":
        st.error(escaped(status.reason), icon=":material/error:")
    if status.live and status.place != HERE:
        st.caption(escaped((status.latest or {}).get("plan", "")))
        cluster_line(status.place)
    if was_live:  # finally: the status is visible before the whole page is redrawn
        _redraw(status, drawn)


@unlocked()
def _button(action: st.delta_generator.DeltaGenerator, status: WatchedStatus, place: str) -> None:
    """Draw the owner's button: stop a live job, or delete an ended one."""
    label, key, act = (
        ("Stop the job", "stop", _stop) if status.live else ("Delete the job", "delete", _delete)
    )
    action.button(
        label,
        key=f"{key}-{status.id}-{place}",
        on_click=act,
        args=(status.id,),
        disabled=status.stopping,
    )


def _redraw(status: WatchedStatus, drawn: int) -> None:
    """Rerun the whole page when the job has ended, or has grown and was not redrawn just now."""
    state, now = st.session_state, time.monotonic()
    last = state.setdefault("job-drawn", now)
    pause = REDRAW_SECONDS * max(1.0, _watchers.number() / 2)
    if not status.live or (len(status.finished) > drawn and now - last >= pause):
        state["job-drawn"] = now
        st.rerun()


def _words(status: WatchedStatus, done: int, total: int) -> str:
    """Describe a job's progress: finished runs of the page, the job's current one, and time."""
    ready = f"{done} of {total} runs ready" if total > 1 and status.state not in ("stopped", "failed") else ""
    if ready and status.failed:
        ready += f", {len(status.failed)} failed"
    stage = ""
    if status.stopping:
        stage = "stopping"
    elif status.state == "running":
        stage = _of_the_current(status, named=total > 1)
    elif status.state == "queued":
        stage = "waiting for another run" if status.place == HERE else "waiting for the cluster"
    elif status.state == "stopped":
        stage = escaped(status.reason.rstrip("."))
    words = [ready, stage or status.state, in_words(status.seconds)]
    return " · ".join(filter(None, words))


def _of_the_current(status: WatchedStatus, named: bool) -> str:
    """Name the current run if there are several, with its stage and remaining time."""
    if status.latest is None or status.current is None:
        return "starting the next run" if status.finished else "starting"
    stage, left = stage_words(status.latest["stage"]), status.remaining
    if shards := status.latest.get("shards"):
        stage += f", {shards[0]} of {shards[1]} shards"
    words = f"{in_a_sentence(status.current)}: {stage}" if named else stage
    return words if left is None else f"{words}, {roughly(left)} left"


@errors_as_sentences()
def _stop(job_id: str) -> None:
    try:
        jobs().stop(job_id, visitor())
        # so that the page shows its final status: a rerun on its way may not know the address yet
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
