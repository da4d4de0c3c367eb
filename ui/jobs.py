"""Runs in the background as the pages show them: estimated, started, watched, stopped, their records used."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from rankviz.experiments.estimate import (
    LAPTOP,
    Estimate,
    Shape,
    check_budget,
    estimate,
    in_words,
    total_in_words,
)
from rankviz.experiments.jobs import JobError, JobStatus, JobStore, NoSuchJob
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from ui.runs import STAGES, TookTooLong, data_roots_of_visitor, fold_of, recall, remember, run
from ui.visitors import keep_visitor, visitor

LIVE_SECONDS, LIVE_IN_ALL = 1.0, 5.0
"""Runs predicted to take less, each and all together, are made while the visitor waits."""
LIVE_LIMIT = 8.0
"""Runs that take longer than predicted are given up after this, and offered as a job."""
POLL_SECONDS = 0.5
REDRAW_SECONDS = 2.0
"""At most this often the page is drawn anew because a job has more records."""
PARAMETER = "job"
"""The query parameter that names the job a page shows."""


def run_or_wait(specs: Sequence[RunSpec], *, title: str) -> list[RunRecord]:
    """The records of specs for a page that needs them all: until they are there, it ends here."""
    found = [record for record in run_or_submit(specs, title=title) if record is not None]
    if len(found) < len(specs):
        st.stop()
    return found


def run_or_submit(specs: Sequence[RunSpec], *, title: str) -> list[RunRecord | None]:
    """The records of specs, None for those that are not there yet.

    What is remembered, or was made by an earlier job, is used. The rest runs now if no run of it is
    predicted to take more than about a second, nor all together more than a few; else the cost and a button
    are shown, and once that is pressed, the job with its progress. The page runs again as the job grows.
    Raises `DataError` where a run would not fit into memory.
    """
    folds = {(spec.dataset, spec.fold): spec for spec in specs}
    digests = {place: fold_of(spec).digest for place, spec in folds.items()}
    known = [replace(spec, digest=digests[spec.dataset, spec.fold]) for spec in specs]
    found = _found(known)
    missing = list(dict.fromkeys(spec for spec in known if spec not in found))
    named = _named_job()
    job = _job_for(missing, named) if missing else None
    if named is not None and named.live and (job is None or job.id != named.id):
        watch(named.id, place=title)  # it has to do with other settings, but its visitor should not lose it
    if missing:
        found |= _work_on(missing, job, title)
    return [found.get(spec) for spec in known]


@st.cache_resource(show_spinner=False)
def store() -> JobStore:
    """The jobs of this machine's user, shared by all visitors."""
    return JobStore()


def watch(job_id: str, *, place: str = "") -> None:
    """Show a job's progress, its Stop button and how it ended; the page runs again when it grows or ends.

    `place` tells several views of one job on a page apart.
    """
    try:
        status = store().status(job_id)
    except NoSuchJob as error:
        st.info(str(error), icon=":material/info:")
        return
    shown = st.fragment(_progress, run_every=POLL_SECONDS if status.live else None)
    shown(job_id, place, status.live, len(status.finished))
    if status.owner == visitor():
        keep_visitor()


def _found(specs: list[RunSpec]) -> dict[RunSpec, RunRecord]:
    """The records that are remembered or that earlier jobs have made, which are remembered then."""
    remembered = {spec: record for spec in specs if (record := recall(spec)) is not None}
    made = store().find_records([spec for spec in specs if spec not in remembered])
    for record in made.values():
        remember(record)
    return remembered | made


def _work_on(missing: list[RunSpec], job: JobStatus | None, title: str) -> dict[RunSpec, RunRecord]:
    """Show the job that makes these records, or make them now, or offer to; returns those made now."""
    if job is not None and job.live:
        watch(job.id, place=title)
        return {}
    shapes = {spec.digest: _shape(spec.digest, spec) for spec in missing}
    costs = [estimate(spec, shapes[spec.digest]) for spec in missing]
    check_budget(max(costs, key=lambda e: e.bytes))
    laptop = [estimate(spec, shapes[spec.digest], LAPTOP) for spec in missing]
    ended = job is not None and job.state != "finished"  # stopped or failed: nothing goes on unasked
    if not ended and not _slow() & set(missing) and (_live(costs) or _live(laptop)):
        try:
            return dict(zip(missing, run(*missing, seconds=LIVE_LIMIT), strict=True))
        except TookTooLong:
            _slow().update(spec for spec in missing if recall(spec) is None)
    if job is not None:
        watch(job.id, place=title)
    left = {spec: cost for spec, cost in zip(missing, costs, strict=True) if recall(spec) is None}
    _offer(list(left), list(left.values()), title)
    return {spec: record for spec in missing if (record := recall(spec)) is not None}


@st.cache_resource(show_spinner=False)
def _slow() -> set[RunSpec]:
    """Specs that took longer than predicted: they are not tried again while a visitor waits."""
    return set()


def _live(costs: list[Estimate]) -> bool:
    seconds = [cost.seconds for cost in costs]
    return max(seconds) <= LIVE_SECONDS and sum(seconds) <= LIVE_IN_ALL


def predicted(spec: RunSpec) -> Estimate:
    """Seconds and bytes of one run, before the fact."""
    return estimate(spec, _shape(fold_of(spec).digest, spec))


@st.cache_resource(max_entries=64, show_spinner=False)
def _shape(digest: str, _spec: RunSpec) -> Shape:
    return Shape.of(fold_of(_spec))


def _named_job() -> JobStatus | None:
    """The job in the address of the page, if there is one."""
    try:
        return store().status(st.query_params.get(PARAMETER, ""))
    except NoSuchJob:
        return None


def _job_for(missing: list[RunSpec], named: JobStatus | None) -> JobStatus | None:
    """The job that has to do with these specs: the one in the address, else a live one of the visitor's."""
    wanted = set(missing)
    if named is not None and wanted & set(named.specs):
        return named
    own = [job for job in store().jobs(visitor()) if job.live and wanted & set(job.specs)]
    return own[0] if own else None


def _offer(missing: list[RunSpec], predicted: list[Estimate], title: str) -> None:
    """Say what it will cost, and a button to start it."""
    runs = "this run" if len(missing) == 1 else f"these {len(missing)} runs"
    text, action = st.columns([4, 2], vertical_alignment="center")
    text.markdown(
        f"Training {runs} will take **{total_in_words(predicted)}**, as estimated from the sizes and this "
        "machine's speed. It goes on when you leave the page."
    )
    action.button(
        "Train in the background",
        key=f"train-in-background-{title}",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=_submit,
        args=(missing, title),
    )


def _submit(missing: list[RunSpec], title: str) -> None:
    try:
        st.query_params[PARAMETER] = store().submit(
            missing, owner=visitor(), title=title, roots=data_roots_of_visitor()
        )
    except JobError as error:
        st.toast(str(error), icon=":material/error:")


def _progress(job_id: str, place: str, was_live: bool, drawn: int) -> None:
    """The fragment that is drawn twice a second while a job is live."""
    try:
        status = store().status(job_id)
    except NoSuchJob:  # deleted meanwhile: the page is drawn without it
        st.rerun()
    if was_live:
        _redraw(status, drawn)
    mine = status.owner == visitor()
    with st.container(border=True):
        text, action = st.columns([5, 1], vertical_alignment="center")
        text.progress(status.fraction, f"**{status.title}** · {_words(status)}")
        if mine and status.live:
            action.button(
                "Stop the job", key=f"stop-{job_id}-{place}", width="stretch", on_click=_stop, args=(job_id,)
            )
        elif mine:
            action.button(
                "Delete the job",
                key=f"delete-{job_id}-{place}",
                width="stretch",
                on_click=_delete,
                args=(job_id,),
            )
        if status.state == "failed":
            st.error(status.reason, icon=":material/error:")


def _redraw(status: JobStatus, drawn: int) -> None:
    """Run the whole page again when the job has ended, or has grown and was not drawn just now."""
    state, now = st.session_state, time.monotonic()
    last = state.setdefault("job-drawn", now)
    if not status.live or (len(status.finished) > drawn and now - last >= REDRAW_SECONDS):
        state["job-drawn"] = now
        st.rerun()


def _words(status: JobStatus) -> str:
    """Where a job is: state, run, stage, time."""
    done = f"{len(status.finished)} of {status.total} finished" if status.total > 1 else ""
    stage = ""
    if status.state == "running":
        stage = "starting" if status.latest is None else STAGES.get(status.latest["stage"], "saving")
    elif status.state == "queued":
        stage = "waiting until another run has ended"
    elif status.state != "failed":
        stage = status.reason.rstrip(".")
    words = [stage or status.state, done if status.live else "", in_words(status.seconds)]
    return " · ".join(filter(None, words))


def _stop(job_id: str) -> None:
    try:
        store().stop(job_id, visitor())
        st.query_params[PARAMETER] = job_id  # so that the page says how it ended
    except JobError as error:
        st.toast(str(error), icon=":material/error:")


def _delete(job_id: str) -> None:
    try:
        store().delete(job_id, visitor())
        st.query_params.pop(PARAMETER, None)
    except JobError as error:
        st.toast(str(error), icon=":material/error:")
