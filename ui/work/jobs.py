"""Runs for a page: from memory, made while the visitor waits, or made by a job that the page watches.

See docs/decisions/0019-live-or-in-the-background.md.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from threading import Lock

import streamlit as st

from rankviz.common.numbers import counted
from rankviz.runs.estimate import (
    LAPTOP,
    Estimate,
    Shape,
    budget_now,
    check_budget,
    estimate,
    in_words,
    total_in_words,
    total_seconds,
)
from rankviz.runs.record import RunRecord
from rankviz.runs.run import reason_not_in_shards
from rankviz.runs.spec import RunSpec
from rankviz.store import StoreError
from rankviz.store.execution import worker_processes
from rankviz.store.study import HERE, WatchedStatus
from ui.shell import words
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.locks import unlocked
from ui.shell.page import job_place
from ui.shell.texts import escaped
from ui.shell.visitors import address, keep_visitor, visitor
from ui.work import run_store
from ui.work.auto_jobs import continue_as_job, join, leave_unneeded, note_on, start
from ui.work.folds import fold_of
from ui.work.metrics import measured
from ui.work.place import show_cluster, threads_of
from ui.work.run_store import keeper
from ui.work.runs import NoTurn, TookTooLong, recall, remember, run, twins
from ui.work.watching import PARAMETER, STOPPED, jobs, watch

LIVE_SECONDS, LIVE_IN_ALL = 2.0, 5.0
"""Largest predicted seconds of runs made while the visitor waits, each and all together."""
LIVE_BYTES = 1e9
"""Largest predicted bytes of runs made by the server, which must stay alive; workers make larger ones. A
factor with 11,000 rows alone takes as much."""
LIVE_LIMIT = 2.0
"""Seconds after which slower runs continue as a job, which can be watched and stopped."""
CROWDED_SECONDS, CROWDED_LIMIT = 0.5, 1.0
"""Most predicted seconds of all runs, and most seconds, while pages of other sessions run: they wait for the
same processors."""
_REFUSED = "refused-runs"
"""Session key of requested runs that were refused, and the reason."""
WAITING = ":material/hourglass_empty:"
WAITS = "page-waits"
"""Session key: True if this run of the page lacks its records."""
_OFFERED = "page-offers"
"""Session key: True if this run of the page offers to train its missing runs."""
SCRIPT_THREAD = "ScriptRunner.scriptThread"
"""Streamlit's name of a thread that runs a page."""
FIND_PATIENCE = 1.0
"""Largest seconds of waiting until another visitor's records are read; then a visitor's own are read, too."""
TURN_PATIENCE = 0.3
"""Largest seconds of waiting for other visitors' runs; then a visitor's own continue as a job."""


def note_waiting() -> None:
    """Record that this run of the page lacks its records, so that it reads less of its link."""
    st.session_state[WAITS] = True


def run_or_wait(specs: Sequence[RunSpec], *, title: str, place: str = HERE) -> list[RunRecord]:
    """Return the records of specs for a page that needs them all; the page ends here until they exist."""
    found = [record for record in run_or_submit(specs, title=title, place=place) if record is not None]
    if len(found) < len(specs):
        note_waiting()
        end_page()
    return found


def run_available(
    specs: Sequence[RunSpec],
    *,
    title: str,
    together: Callable[[RunSpec], Hashable],
    needed: Callable[[RunSpec], bool] = lambda _: True,
) -> dict[RunSpec, RunRecord]:
    """Return the records that a page can show now: of runs that belong together all, or none.

    If no needed one can be shown, the page ends here. The job shows the number of finished runs.
    """
    found = dict(zip(specs, run_or_submit(specs, title=title), strict=True))
    there = {spec: record for spec, record in found.items() if record is not None}
    waiting = {together(spec) for spec in found.keys() - there.keys()}
    whole = {spec: record for spec, record in there.items() if together(spec) not in waiting}
    if not any(map(needed, whole)):
        st.caption(no_point_yet())
        note_waiting()
        end_page()
    return whole


def no_point_yet() -> str:
    """Return why a figure has no point: its runs go on, or wait for the button."""
    return words.NO_POINT_ASKED if runs_offered() else words.NO_POINT_YET


def runs_offered() -> bool:
    """Return True if this run of the page offers to train its missing runs."""
    return bool(st.session_state.get(_OFFERED))


def run_or_submit(specs: Sequence[RunSpec], *, title: str, place: str = HERE) -> list[RunRecord | None]:
    """Return the records of specs, None for those that do not exist yet.

    Records from memory or earlier jobs are used. Of the rest, runs predicted to take at most two seconds are
    made now, if all together take a few seconds; they continue as a job if they take longer. For others the
    cost and a button are shown; pressing it shows the job with its progress. The page reruns as the job
    grows. If `place` is a cluster, runs that it can make are made there only on request.
    Raises `DataError` if a run would not fit into memory.
    """
    folds = {(spec.dataset, spec.fold): spec for spec in specs}
    digests = {place: fold_of(spec).digest for place, spec in folds.items()}
    known = [spec.but(digest=digests[spec.dataset, spec.fold]) for spec in specs]
    leave_unneeded(known)
    st.session_state[_OFFERED] = False
    named = _named_job(title)  # before the search for records, so that runs finished by now are found
    found = found_records(known)
    missing = list(dict.fromkeys(spec for spec in known if spec not in found))
    job = _job_for(missing, named) if missing else None
    with job_place():
        other, own = st.container(), st.container(key="own-job")  # page.css hides the effect of a change
    if named is not None and named.live and (job is None or job.id != named.id):
        with other:  # it belongs to other settings, but its visitor should not lose it
            watch(named, place=title)
    if missing:
        with own:
            found |= _work_on(known, missing, job, title, place)
    keeper().keep(visitor(), found.values(), address())
    keep_visitor()  # so that they belong to the visitor tomorrow, too
    return [measured(found[spec]) if spec in found else None for spec in known]


def found_records(specs: list[RunSpec]) -> dict[RunSpec, RunRecord]:
    """Return records from memory or from earlier jobs, which are then stored in memory."""
    remembered = {spec: record for spec in specs if (record := recall(spec)) is not None}
    unknown = [spec for spec in specs if spec not in remembered]
    # a class asks for the same at once: who comes second finds them in memory, unless the store is slow
    own_turn = bool(unknown) and _FINDING.acquire(timeout=FIND_PATIENCE)
    try:
        left = [spec for spec in unknown if recall(spec) is None]
        for record in run_store.find([*left, *twins(left)]).values():
            remember(record)
    finally:
        if own_turn:
            _FINDING.release()
    return remembered | {spec: record for spec in unknown if (record := recall(spec)) is not None}


_FINDING = Lock()


def _work_on(
    wanted: list[RunSpec], missing: list[RunSpec], job: WatchedStatus | None, title: str, place: str
) -> dict[RunSpec, RunRecord]:
    """Show the job for the missing records, or make them now, or offer to; return those made now.

    Raises `SettingError` if one is of a system that is known by its scores, and has none here.
    """
    for spec in missing:
        if not spec.kind.trains:
            spec.kind.model(spec.values).fit_data(fold_of(spec).train)
    watched, offered = st.container(), st.container()
    if job is not None and job.live:
        with watched:
            _follow(job, title, wanted)
        return {}
    shapes = {spec.digest: _shape(spec.digest, spec) for spec in missing}
    budget = budget_now()  # once: it reads a dozen files of the system
    costs = {spec: estimate(spec, shapes[spec.digest], budget=budget) for spec in missing}
    if place != HERE:
        there = {
            spec: costs.pop(spec) for spec in missing if not reason_not_in_shards(spec, shapes[spec.digest])
        }
        if there:
            with offered:
                _offer(list(there.values()), title, place)
    if costs:
        check_budget(max(costs.values(), key=lambda e: e.bytes), budget)
    laptop = [estimate(spec, shapes[spec.digest], LAPTOP, budget) for spec in costs]
    ended = job is not None and job.state != "finished"  # stopped or failed: nothing continues automatically
    short = [] if ended else max(_short(costs.values()), _short(laptop), key=len)
    note = _make_now(short, total_seconds(costs[spec] for spec in short))
    if job is not None:
        with watched:
            watch(job, place=title, wanted=wanted)
    late = [spec for spec in short if recall(spec) is None]
    going_on = False
    with watched:
        if late and (shared := _job_for(late, None)):
            going_on = True
            _follow(shared, title, wanted)
        elif late:
            going_on = continue_as_job(late, title, note, wanted)
    left = [cost for spec, cost in costs.items() if recall(spec) is None]
    if left and not going_on:
        with offered:
            _offer(left, title)
    return {spec: record for spec in missing if (record := recall(spec)) is not None}


@unlocked()
def _offer(predicted: list[Estimate], title: str, place: str = HERE) -> None:
    """Draw the cost of runs, and a button to start them; for a cluster also its state."""
    missing, here = [cost.spec for cost in predicted], place == HERE
    st.session_state[_OFFERED] = True
    row = st.container(horizontal=True, vertical_alignment="center", key=f"offer-{place}")
    runs = "this run" if len(missing) == 1 else f"these {len(missing)} runs"
    row.markdown(
        words.COST.format(runs=runs, predicted=total_in_words(predicted))
        if here
        else _cost_there(predicted, place)
    )
    if not here:
        show_cluster(place)
    row.button(
        "Train in the background" if here else "Train on the cluster",
        key=f"train-{'in-background' if here else 'there'}-{title}",
        icon=":material/play_arrow:" if here else ":material/lan:",
        type="primary",
        on_click=_submit,
        args=(missing, title, place),
    )
    refused, why = st.session_state.get(_REFUSED, ([], ""))
    if refused == missing:
        st.warning(escaped(why), icon=":material/error:")


def _cost_there(predicted: list[Estimate], place: str) -> str:
    """Return the runs' cost on this machine and on the cluster, whose threads are unknown at first."""
    threads, there = threads_of(place), ""
    if threads:
        seconds = in_words(total_seconds(predicted) / threads)
        there = f", at best **{seconds}** with {counted(threads, 'thread')} of the cluster"
    runs = counted(len(predicted), "run")
    return f"Training {runs} will take {total_in_words(predicted)} on this machine{there}."


def _follow(job: WatchedStatus, title: str, wanted: list[RunSpec]) -> None:
    """Show a job with runs for this page, and keep it running."""
    join(job.id)
    watch(job, place=title, note=note_on(job), wanted=wanted)


def _make_now(short: list[RunSpec], seconds: float) -> str:
    """Make runs of so many predicted seconds while the visitor waits.

    Return why they continue as a job, "" if not tried.
    """
    if _slow().keys() & set(short):
        return ""
    crowded = _others_run()
    if crowded and seconds > CROWDED_SECONDS and _has_workers():
        return words.CROWDED
    try:
        # if another visitor has tried meanwhile, they continue in that job
        limit = min(LIVE_LIMIT, CROWDED_LIMIT) if crowded else LIVE_LIMIT
        run(*short, seconds=limit, patience=TURN_PATIENCE, unless=lambda: bool(_slow().keys() & set(short)))
    except TookTooLong:
        _note_slow(spec for spec in short if recall(spec) is None)
        return words.SLOW
    except NoTurn:
        return words.CROWDED
    return ""


def _has_workers() -> bool:
    """Return True if workers wait for jobs: a class that opens a page would wait for the start of one."""
    with suppress(StoreError):
        return bool(worker_processes(run_store.run_store()))
    return False


def _others_run() -> bool:
    """Return True if Streamlit runs a page of another session now."""
    own = threading.current_thread()
    return any(one.name == SCRIPT_THREAD for one in threading.enumerate() if one is not own)


MOST_SLOW = 1024
"""Specs that are known to be slow, as many as records in memory."""


@cache
def _slow() -> OrderedDict[RunSpec, None]:
    """Return the specs that took longer than predicted: they are not tried again while a visitor waits."""
    return OrderedDict()


def _note_slow(specs: Iterable[RunSpec]) -> None:
    """Note specs that took longer than predicted, and forget the first of too many."""
    slow = _slow()
    slow.update(dict.fromkeys(specs))
    while len(slow) > MOST_SLOW:
        slow.popitem(last=False)


def _short(costs: Iterable[Estimate]) -> list[RunSpec]:
    """Return the runs to make while the visitor waits: short and small ones, if all together are short."""
    short = [cost for cost in costs if cost.seconds <= LIVE_SECONDS and cost.bytes <= LIVE_BYTES]
    return [cost.spec for cost in short] if total_seconds(short) <= LIVE_IN_ALL else []


def predicted(spec: RunSpec) -> Estimate:
    """Predict seconds and bytes of one run."""
    return estimate(spec, shape_of(spec))


def shape_of(spec: RunSpec) -> Shape:
    """Return the sizes of a spec's fold."""
    return _shape(fold_of(spec).digest, spec)


@st.cache_resource(max_entries=64, show_spinner=False)
def _shape(digest: str, _spec: RunSpec) -> Shape:
    return Shape.of(fold_of(_spec))


def _named_job(title: str) -> WatchedStatus | None:
    """Return the job in the page's address, if there is one, else the last stopped one with its title.

    Other pages ignore a stopped job: they make its short runs at once.
    """
    with suppress(StoreError):
        if job := st.query_params.get(PARAMETER):
            return jobs().status(job)
    with suppress(StoreError):  # it was deleted
        if job := st.session_state.get(STOPPED):
            stopped = jobs().status(job)
            return stopped if stopped.title == title else None
    return None


def _job_for(missing: list[RunSpec], named: WatchedStatus | None) -> WatchedStatus | None:
    """Return the job for these specs: that of the address, a live one of the visitor's, or any live one.

    The last must make all of them soon. So the common requests of a class are made once.
    """
    wanted = set(missing)
    if named is not None and wanted & set(named.specs):
        return named
    live = list[WatchedStatus]()
    with suppress(StoreError):  # if the store is out of reach, short runs are still made
        live = jobs().live(missing)
    own = [job for job in live if job.owner == visitor() and wanted & set(job.specs)]
    others = [job for job in live if job.makes_soon(wanted, address())]
    return next(iter((*reversed(own), *others)), None)


@errors_as_sentences()
def _submit(missing: list[RunSpec], title: str, place: str) -> None:
    """Start a job (a callback), or record why not: the visitor has too many, or it cannot be stored."""
    st.session_state.pop(_REFUSED, None)
    try:
        start(missing, title, place)
    except StoreError as error:
        st.session_state[_REFUSED] = missing, str(error)
