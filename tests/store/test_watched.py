"""Jobs: what pages wait for; in turn, stopped, failed, bounded in number and time, shared, logged."""

import itertools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import FOLD, MANY, SPEC, ended, states, wait_for
from conftest_store import BOTH, GRID, end_of_lease, take_lease
from sqlalchemy import event, text

from rankviz import RunRecord, RunSpec, execute
from rankviz.common.bounds import SETS
from rankviz.common.errors import SettingError
from rankviz.common.processes import ProcessId, start
from rankviz.store import NoSuchStudy, NotYours, RunStore, StoreError, StoreOutOfReach, Study, queue
from rankviz.store import execution as execution_module
from rankviz.store import watched as jobs_module
from rankviz.store.environment import default_folder
from rankviz.store.execution import LocalWorkers, worker_processes
from rankviz.store.family_runner import FamilyRunner, LeaseKeeper, StudyTimeSpent
from rankviz.store.watched import WatchedStudies

pytestmark = pytest.mark.usefixtures("own_cache")
Submit = Callable[..., str]


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return execute(SPEC, fold=FOLD)


@BOTH
def test_a_job_from_start_to_end_and_after_a_restart(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    specs = (SPEC, SPEC.but(C=0.25))
    job = submit(specs)
    first = jobs.status(job)
    assert (first.live, first.title, first.owner, first.specs) == (True, "A job", "me", specs)
    status = ended(jobs, job)
    assert (status.state, status.reason) == ("finished", "2 of 2 runs finished.")
    assert (status.finished, status.total, status.fraction) == ((0, 1), 2, 1.0)
    assert status.seconds == (status.ended or 0) - status.created > 0
    with closing(RunStore(store.database.address)) as again:  # as after a restart
        another = WatchedStudies(LocalWorkers(again, 1))
        assert another.status(job) == status
        assert another.of("me") == [status]
        assert another.of("you") == []
    assert set(store.records.find([*specs, SPEC.but(C=99.0)])) == set(specs)


@pytest.mark.usefixtures("nobody")
def test_jobs_wait_while_all_workers_are_at_work(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    ids = [submit((SPEC.but(C=C),)) for C in (1.0, 2.0, 3.0)]
    assert states(jobs, ids) == ["running", "running", "running"], "a worker for them is about to begin"
    lease = take_lease(store, "w")
    assert states(jobs, ids) == ["running", "queued", "queued"]
    assert lease.study == ids[0]
    assert jobs.status(ids[1]).seconds > 0, "the time of waiting counts"
    assert [status.id for status in jobs.of("me")] == ids[::-1]
    jobs.stop(ids[2], "me")
    status = jobs.status(ids[2])
    assert (status.state, status.reason) == ("stopped", "Stopped before it began.")


@BOTH
@pytest.mark.usefixtures("nobody")
def test_a_job_that_is_stopped_keeps_what_is_finished(
    store: RunStore, jobs: WatchedStudies, submit: Submit, record: RunRecord
) -> None:
    job = submit((SPEC, SPEC.but(C=0.25)))
    lease = take_lease(store, "w")
    store.records.save(record)
    jobs.stop(job, "me")
    assert (jobs.status(job).state, jobs.status(job).stopping) == ("running", True)
    assert not store.queue.holds(lease)
    store.queue.release(lease)
    status = jobs.status(job)
    assert (status.state, status.reason) == ("stopped", "Stopped on request; 1 of 2 runs had finished.")
    assert not status.stopping
    jobs.stop(job, "me")  # once more does no harm
    assert jobs.status(job) == status


def test_specs_of_few_more_jobs_than_may_live_are_kept() -> None:
    most = max(one.live_jobs for one in SETS.values())
    assert most <= jobs_module._specs.cache_info().maxsize < 2 * most


def test_stop_ends_a_running_job(jobs: WatchedStudies, submit: Submit) -> None:
    job = submit(MANY)
    wait_for(lambda: jobs.status(job).finished)
    jobs.stop(job, "me")
    status = ended(jobs, job)
    assert status.state == "stopped"
    assert status.reason == f"Stopped on request; {len(status.finished)} of {len(MANY)} runs had finished."
    assert 0 < len(status.finished) < len(MANY)
    assert 0 < status.fraction < 1


def sleeping(store: RunStore, tmp_path: Path) -> ProcessId:
    """A process that is noted as a worker, and does nothing."""
    process = start(["sleep", "60"], dict(os.environ), tmp_path / "sleep.log")
    store.queue.register("sleeper", process)
    return process


@pytest.mark.usefixtures("nobody")
def test_a_worker_that_does_not_stop_is_ended(
    store: RunStore, jobs: WatchedStudies, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, job = sleeping(store, tmp_path), submit()
    take_lease(store, "sleeper")
    jobs.stop(job, "me")
    assert jobs.status(job).stopping
    assert process.alive()
    monkeypatch.setattr(queue, "STOP_PATIENCE", 0.0)
    assert ended(jobs, job).reason == "Stopped on request; 0 of 1 runs had finished."
    assert not process.alive()


@pytest.mark.usefixtures("nobody")
def test_a_worker_is_not_ended_where_another_job_wants_what_it_makes(
    store: RunStore, jobs: WatchedStudies, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "STOP_PATIENCE", 0.0)
    process, mine, theirs = sleeping(store, tmp_path), submit(), submit(owner="you")
    take_lease(store, "sleeper")
    jobs.stop(mine, "me")
    assert jobs.status(theirs).state == "running"
    assert process.alive()
    process.terminate()


@BOTH
@pytest.mark.usefixtures("nobody")
def test_only_the_owner_stops_and_deletes(jobs: WatchedStudies, submit: Submit) -> None:
    job = submit()
    for forbidden in (jobs.stop, jobs.delete):
        for stranger in ("you", ""):
            with pytest.raises(NotYours, match="Only the visitor who requested"):
                forbidden(job, stranger)
    assert jobs.status(job).live
    jobs.delete(job, "me")
    with pytest.raises(NoSuchStudy, match="may have been deleted"):
        jobs.status(job)
    assert jobs.live() == []


@pytest.mark.usefixtures("nobody")
def test_other_ids_are_no_jobs(
    store: RunStore, jobs: WatchedStudies, submit: Submit, specs: list[RunSpec]
) -> None:
    job = submit()
    sweep = store.studies.submit(Study("me", "a grid"), specs)
    for wrong in ("", "..", "f" * 32, "\0", "é", f"{job}\n", f" {job}", f"A{job[1:]}", "%", sweep):
        with pytest.raises(NoSuchStudy):
            jobs.status(wrong)
        for changing in (jobs.stop, jobs.delete):
            with pytest.raises(NoSuchStudy):
                changing(wrong, "me")
    assert [status.id for status in jobs.of("me")] == [job]


def test_a_job_needs_runs_of_known_data(jobs: WatchedStudies, submit: Submit) -> None:
    with pytest.raises(SettingError, match="from 1 to"):
        submit(())
    with pytest.raises(SettingError, match="digest"):
        submit((SPEC.but(digest=""),))


@BOTH
@pytest.mark.usefixtures("nobody")
def test_live_jobs_of_one_visitor_and_of_all_are_bounded(
    jobs: WatchedStudies, submit: Submit, bounded: Callable[..., None]
) -> None:
    bounded(live_jobs_each=2, live_jobs=3)
    ids = [submit((SPEC.but(C=C),)) for C in (1.0, 2.0)]
    with pytest.raises(StoreError, match="Of one visitor at most 2 jobs may wait"):
        submit()
    submit((SPEC.but(C=3.0),), owner="you")
    jobs.stop(ids[1], "me")
    submit((SPEC.but(C=4.0),))
    with pytest.raises(StoreError, match="At most 3 jobs of all visitors"):
        submit((SPEC.but(C=5.0),), owner="another")


@BOTH
@pytest.mark.usefixtures("nobody")
def test_made_up_visitors_of_one_address_leave_places_for_others(
    store: RunStore, jobs: WatchedStudies, bounded: Callable[..., None]
) -> None:
    bounded(live_jobs=20, job_seconds=600.0, live_jobs_each=2, live_jobs_address=10)
    numbers = itertools.count(1)

    def ask(owner: str, address: str) -> str:
        spec = SPEC.but(C=float(next(numbers)))
        return jobs.submit([spec], owner=owner, title="A job", roots=[], address=address)

    first = [ask(f"made up {number}", "one place") for number in range(10)]
    with pytest.raises(StoreError, match="From one network address at most 10 jobs"):
        ask("made up 10", "one place")
    for number in range(8):
        ask(f"made up {number}", f"another place {number}")
    with pytest.raises(StoreError, match="At most 20 jobs of all visitors"):
        ask("made up 9", "a third place")  # the last places are for those who have no job
    last = [ask("honest", "a quiet place"), ask("unknown", "")]
    for ids, seconds in ((first, 600.0), (last, 60.0)):  # the last places are soon free again
        assert {store.studies.status(id).study.seconds for id in ids} == {seconds}
    with pytest.raises(StoreError, match="At most 20 jobs of all visitors"):
        ask("late", "a late place")


@pytest.mark.usefixtures("nobody")
def test_a_job_is_asked_for_found_and_taken_in_as_many_statements_whoever_else_waits(
    store: RunStore, jobs: WatchedStudies, bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(live_jobs=1000, live_jobs_address=1000)
    monkeypatch.setattr(LocalWorkers, "maintain_if_due", lambda _: None)
    numbers, statements = itertools.count(1), list[str]()
    event.listen(store.database.engine, "before_cursor_execute", lambda *about: statements.append(about[2]))

    def ask(how: Callable[..., Any]) -> Any:
        number = next(numbers)
        specs = [SPEC.but(C=float(number)), SPEC.but(C=number + 0.5)]
        return how(specs, owner=f"visitor {number}", title="A job", roots=[], address=f"place {number}")

    def needed() -> list[int]:
        found = list[int]()
        for step in (
            lambda: ask(jobs.submit),
            lambda: ask(jobs.join),
            lambda: jobs.live([SPEC.but(C=1.0), SPEC.but(C=2.5), SPEC.but(C=0.125)]),
            lambda: store.queue.release(take_lease(store, "w")),
        ):
            statements.clear()
            answer = step()
            found.append(len(statements))
            if isinstance(answer, list):
                assert [job.owner for job in answer] == ["visitor 1", "visitor 2"]
        return found

    few = needed()
    for _ in range(30):
        ask(jobs.submit)
    assert needed() == few


@pytest.mark.usefixtures("nobody")
def test_a_job_that_was_asked_to_stop_does_not_count(
    store: RunStore, jobs: WatchedStudies, submit: Submit, bounded: Callable[..., None]
) -> None:
    bounded(live_jobs=1, live_jobs_each=1)
    job = submit()
    take_lease(store, "w")
    jobs.stop(job, "me")
    assert jobs.status(job).live
    assert submit((SPEC.but(C=2.0),))


@BOTH
@pytest.mark.usefixtures("nobody")
def test_jobs_that_ended_are_forgotten_and_their_runs_stay(
    store: RunStore, jobs: WatchedStudies, submit: Submit, bounded: Callable[..., None], record: RunRecord
) -> None:
    bounded(kept_jobs_each=2, kept_jobs=3)
    running = submit((SPEC.but(C=9.0),))
    ids = list[str]()
    for number in range(4):
        ids.append(submit((SPEC.but(C=1.0 + number),)))
        jobs.stop(ids[-1], "me")
    assert [status.id for status in jobs.of("me")] == [ids[3], ids[2], running]
    assert len(store.listing.seen_by("me")) == 5
    for number in range(3):
        jobs.stop(submit((SPEC.but(C=20.0 + number),), owner=f"visitor {number}"), f"visitor {number}")
    assert [status.id for status in jobs.of("me")] == [running], "the oldest of all go too"


@pytest.mark.usefixtures("nobody")
def test_jobs_that_never_began_are_forgotten_before_those_that_did(
    store: RunStore, jobs: WatchedStudies, submit: Submit, bounded: Callable[..., None]
) -> None:
    bounded(kept_jobs_each=2)
    served = submit()
    store.queue.release(take_lease(store, "w"), "Its time is up.")
    for number in range(4):
        jobs.stop(last := submit((SPEC.but(C=1.0 + number),)), "me")
    assert [status.id for status in jobs.of("me")] == [last, served]


@BOTH
@pytest.mark.usefixtures("nobody")
def test_who_wants_the_same_at_the_same_moment_gets_one_job(store: RunStore, root: Path) -> None:
    stores = [RunStore(store.database.address) for _ in range(8)]
    many = [WatchedStudies(LocalWorkers(one, 1)) for one in stores]
    specs, got = (SPEC, SPEC.but(C=2.0)), list[tuple[str, bool]]()

    def ask(number: int) -> None:
        wanted = specs if number else specs[:1]
        got.append(many[number].join(wanted, owner=f"visitor {number}", title="A job", roots=[root]))

    ask(1)
    with ThreadPoolExecutor(8) as visitors:
        list(visitors.map(ask, range(8)))
    assert len({job for job, _ in got}) == 1
    assert [new for _, new in got] == [True] + 8 * [False]
    many[0].stop(got[0][0], "visitor 1")
    assert many[0].join(specs, owner="me", title="A job", roots=[root])[1], "that one is about to end"
    for one in stores:
        one.close()


@BOTH
@pytest.mark.usefixtures("nobody")
def test_nobody_waits_for_hundreds_of_runs_of_somebody_else(
    store: RunStore, jobs: WatchedStudies, submit: Submit, root: Path
) -> None:
    def join(*specs: RunSpec) -> str:
        return jobs.join(specs, owner="me", title="A job", roots=[root])[0]

    others = [SPEC.but(C=float(k)) for k in range(2, 50)]
    large = submit([*others, SPEC], owner="you")
    few = submit([*others[:7], SPEC.but(C=1.0)], owner="you")
    assert join(SPEC.but(C=1.0), others[0]) == few
    assert join(SPEC) not in (large, few)
    lease = take_lease(store, "w")
    assert lease.study == large
    store.queue.renew(lease, {"digest": others[9].hash})
    assert join(others[9]) == large, "it is made now"


@BOTH
@pytest.mark.usefixtures("nobody")
def test_a_job_that_waits_is_joined_only_from_its_address(
    jobs: WatchedStudies, specs: list[RunSpec], store: RunStore
) -> None:
    """Addresses take turns, and the job of an address that has many comes late."""
    jobs.submit([specs[-1].but(C=7.0)], owner="z", title="before")
    busy = take_lease(store, "w")
    ask = partial(jobs.join, specs[:1], title="a run")
    first, _ = ask(owner="a", address="one place")
    assert ask(owner="b", address="one place") == (first, False)
    other, new = ask(owner="c", address="another place")
    assert new
    waits = jobs.status(first)
    assert waits.makes_soon(specs[:1], "one place")
    assert not waits.makes_soon(specs[:1], "another place")
    store.queue.release(busy, "it is over")
    lease = take_lease(store, "w")
    store.queue.renew(lease, {"digest": specs[0].hash})
    assert ask(owner="d", address="a third place")[0] in (first, other), "it is made now"


@BOTH
@pytest.mark.usefixtures("nobody")
def test_a_job_waits_for_no_other_runs_of_a_family_that_a_worker_has(
    jobs: WatchedStudies, specs: list[RunSpec], store: RunStore
) -> None:
    """It has its own family, which another worker takes; only a run that is made now is left there."""
    store.studies.submit(GRID, specs[:3])
    lease = take_lease(store, "w1")
    assert len(lease.specs) == 3
    store.queue.renew(lease, {"digest": lease.specs[0].hash})
    job = jobs.submit(lease.specs[:1] + lease.specs[2:], owner="you", title="one run")
    awaited = take_lease(store, "w2")
    assert (awaited.study, awaited.specs) == (job, lease.specs[2:])
    store.studies.stop(lease.study, GRID.owner)
    assert store.queue.renew(lease, {"digest": lease.specs[0].hash}), "the job waits for its first run"
    assert not store.queue.must_yield(awaited)


def test_what_cannot_be_made_fails_with_its_reason_and_the_rest_is_made(
    jobs: WatchedStudies, submit: Submit
) -> None:
    job = submit((SPEC.but(fold="Fold9"), SPEC, SPEC.but(C=0.25)))
    status = ended(jobs, job)
    assert status.state == "failed"
    assert "no fold Fold9" in status.reason
    assert (status.finished, status.failed) == ((1, 2), (0,))


@pytest.mark.usefixtures("cold_workers")
def test_a_killed_worker_is_that_jobs_failure(jobs: WatchedStudies, store: RunStore, submit: Submit) -> None:
    job = submit(MANY)
    wait_for(lambda: jobs.status(job).latest)
    (process,) = worker_processes(store)
    said = Path(f"/proc/{process.pid}/oom_score_adj")  # where memory runs out it goes before the server
    assert not said.exists() or int(said.read_text()) >= 500
    os.kill(process.pid, 9)
    wait_for(lambda: not process.alive())
    done = len(jobs.status(job).finished)
    wait_for(lambda: len(jobs.status(job).finished) > done + 1)  # by another worker
    jobs.stop(job, "me")
    ended(jobs, job)
    table = store.listing.of_study(job, "me")
    (reason,) = table.reason[table.state == "lost"]
    how = "ended without a result; signal 9 (SIGKILL; the system does that when memory runs out)"
    assert how in reason
    assert "last stage: " in reason


@pytest.mark.usefixtures("nobody")
def test_the_run_of_which_a_worker_died_fails_its_job(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    job = submit()
    end_of_lease(store, take_lease(store, "w"))
    status = ended(jobs, job) if store.queue.take("other") is None else None
    assert status is not None
    assert (status.state, status.finished) == ("failed", ())
    assert status.reason == f"The worker process that made it ended without a result; {queue.NO_SIGN}."


@BOTH
@pytest.mark.usefixtures("nobody")
def test_what_two_jobs_want_tells_both_how_far_it_is(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    first, second = submit(), submit((SPEC.but(C=2.0), SPEC), owner="you")
    lease = take_lease(store, "w")
    assert store.queue.renew(lease, {"digest": SPEC.hash, "stage": "newton", "fraction": None})
    assert jobs.status(first).current == jobs.status(second).current == SPEC
    assert jobs.status(second).state == "running"
    assert jobs.status(second).fraction == pytest.approx(0.45 / 2)


@pytest.mark.usefixtures("nobody")
def test_a_job_ends_after_the_seconds_it_may_work(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Submit,
    bounded: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def time_is_up(_: LeaseKeeper) -> None:
        raise StudyTimeSpent

    bounded(job_seconds=600.0)
    job = submit((SPEC, SPEC.but(C=0.25)))
    monkeypatch.setattr(LeaseKeeper, "release_if_awaited", time_is_up)  # after the first run
    FamilyRunner(store).make(take_lease(store, "w"))
    status = jobs.status(job)
    assert (status.state, len(status.finished)) == ("failed", 1)
    assert status.reason == (
        "Stopped after 10 min, the most that this job may work on this machine; 1 of 2 runs had finished, "
        "and are kept. Ask again for the others."
    )


@pytest.mark.usefixtures("nobody")
def test_seconds_count_over_all_turns(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Submit,
    bounded: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded(job_seconds=100.0)
    job = submit()
    lease = replace(take_lease(store, "w"), began=time.monotonic() - 60)
    assert store.queue.renew(lease, {})
    monkeypatch.setattr(time, "time", partial(lambda real: real() + 3600, time.time))
    assert store.queue.renew(lease, {})
    with store.database.reading() as connection:
        assert queue.overdue_families(connection) == [], "somebody has set the clock"
    monkeypatch.undo()
    store.queue.release(lease)
    assert take_lease(store, "w").seconds == pytest.approx(40.0, abs=5.0)
    assert jobs.status(job).live


@pytest.mark.usefixtures("nobody")
def test_a_worker_that_does_not_end_then_is_ended(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Submit,
    bounded: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "TIME_PATIENCE", 0.0)
    bounded(job_seconds=1e-6)
    process, job = sleeping(store, tmp_path), submit()
    take_lease(store, "sleeper")
    assert ended(jobs, job).reason.startswith("Stopped after ")
    assert wait_for(lambda: not process.alive())


@BOTH
def test_what_somebody_waits_for_goes_before_a_sweep_between_its_runs(
    store: RunStore, jobs: WatchedStudies, submit: Submit, root: Path
) -> None:
    """The sweep is one family of one visitor's, who also waits for a page, and the one worker is at it."""
    sweep = jobs._execution.submit(Study("me", "a grid", roots=(str(root),)), MANY)
    wait_for(lambda: store.studies.status(sweep).done)
    job = submit((SPEC.but(C=9.0),))
    assert ended(jobs, job).state == "finished"
    left = store.studies.status(sweep)
    assert left.left > 0
    wait_for(lambda: store.studies.status(sweep).done > left.done)
    table = store.listing.of_study(sweep, "me")
    assert set(table.state) <= {"done", "queued", "leased"}
    store.studies.stop(sweep, "me")


@pytest.mark.usefixtures("nobody")
def test_one_more_worker_may_take_what_somebody_waits_for(
    store: RunStore, submit: Submit, specs: list[RunSpec], tmp_path: Path
) -> None:
    """A run that can wait may take an hour; the worker that comes for a page takes nothing else."""
    process = sleeping(store, tmp_path)
    store.studies.submit(Study("me", "a grid"), [*specs, SPEC.but(C=7.0)])
    assert store.queue.take("sleeper", at_once=1) is not None
    assert store.queue.take("w2", at_once=1) is None
    job = submit()
    lease = store.queue.take("w2", at_once=1)
    assert lease is not None
    assert lease.study == job
    assert store.queue.take("w3", at_once=1) is None
    process.terminate()


def test_a_page_gets_a_worker_while_all_are_at_long_runs_that_can_wait(
    store: RunStore, specs: list[RunSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[str]()
    monkeypatch.setattr(LocalWorkers, "_start", lambda _, names: started.extend(names))
    execution = LocalWorkers(store, 1)
    store.studies.submit(Study("me", "a grid"), specs)
    process = sleeping(store, tmp_path)
    take_lease(store, "sleeper")
    execution.maintain()
    assert started == [], "what waits yet can wait longer"
    WatchedStudies(execution).submit([SPEC], owner="you", title="A job", roots=[])
    assert len(started) == 1
    WatchedStudies(execution).submit([SPEC.but(C=7.0)], owner="you", title="A job", roots=[])
    assert len(started) == 1, "one more, not two"
    process.terminate()


def test_without_workers_jobs_wait(store: RunStore) -> None:
    execution = LocalWorkers(store, 0)
    job = WatchedStudies(execution).submit([SPEC], owner="me", title="A job", roots=[])
    execution.maintain()
    assert worker_processes(store) == []
    assert WatchedStudies(execution).status(job).state == "queued"


@BOTH
@pytest.mark.usefixtures("nobody")
def test_jobs_go_first_and_visitors_in_turn(store: RunStore, submit: Submit, specs: list[RunSpec]) -> None:
    store.studies.submit(Study("me", "a grid"), specs)  # two families, which wait longest
    mine, theirs = [submit((SPEC.but(C=C),)) for C in (1.0, 2.0)], submit(owner="you")
    order = [take_lease(store, f"w{number}").study for number in range(3)]
    assert order == [mine[0], theirs, mine[1]]


@pytest.mark.usefixtures("nobody")
def test_a_sweep_gives_way_only_to_what_nobody_makes(
    store: RunStore, submit: Submit, specs: list[RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.queue.WAIT_SECONDS", -1.0)
    store.studies.submit(Study("you", "a grid"), specs[:3])
    lease = take_lease(store, "w")
    assert not store.queue.must_yield(lease)
    submit()
    assert store.queue.must_yield(lease)
    job = take_lease(store, "w2")
    assert not store.queue.must_yield(lease)
    store.studies.submit(Study("another", "a grid"), specs[3:])
    assert not store.queue.must_yield(lease), "that can wait too"
    submit((SPEC.but(C=3.0),))
    assert not store.queue.must_yield(job), "somebody waits for this one"


@BOTH
@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("damage", ["damaged", "gone"])
def test_a_record_that_cannot_be_read_is_made_again(
    store: RunStore, jobs: WatchedStudies, submit: Submit, record: RunRecord, damage: str
) -> None:
    store.records.keep([record], "me")
    with store.database.writing() as connection:
        if damage == "gone":
            connection.execute(text("DELETE FROM records"))
        else:
            connection.execute(text("UPDATE records SET content = :bad"), {"bad": b"no record"})
    assert store.records.find([SPEC]) == {}
    job = submit()
    assert jobs.status(job).finished == ()
    FamilyRunner(store).make(take_lease(store, "w"))
    assert ended(jobs, job).state == "finished"
    assert set(store.records.find([SPEC])) == {SPEC}


@BOTH
@pytest.mark.usefixtures("nobody")
def test_a_sweep_does_not_bring_ended_jobs_back(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    """Otherwise the sweeps of one visitor take all places for jobs."""
    failed = submit()
    store.records.fail(SPEC, "There is no such file.")
    sweep = store.studies.submit(Study("me", "a sweep"), [SPEC])
    assert jobs.live() == []
    assert jobs.status(failed).state == "failed"
    assert jobs.status(failed).reason.startswith("There is no such file; 0 of 1 runs had finished")
    assert store.studies.status(sweep).live
    assert jobs.status(submit(owner="you")).live, "asked for anew"


PLACES = ("families.progress", "workers.process", "studies.roots", "runs.spec")
DAMAGE = [
    *((place, content) for place in PLACES for content in ("", "7", "[" * 5000)),
    ("families.progress", "[1, 2]"),
    ("workers.process", "{}"),
    ("workers.process", '{"pid": "x"}'),
    ("studies.roots", "[1, 2]"),
    ("runs.spec", "{}"),
    ("runs.spec", '{"digest": [1]}'),
]


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(("place", "content"), DAMAGE)
def test_what_cannot_be_read_stops_nobody_else(
    store: RunStore, jobs: WatchedStudies, submit: Submit, tmp_path: Path, place: str, content: str
) -> None:
    process, damaged = sleeping(store, tmp_path), submit()
    lease = take_lease(store, "sleeper")
    if place in ("studies.roots", "runs.spec"):
        store.queue.release(lease)
    table, column = place.split(".")
    with store.database.writing() as connection:
        connection.execute(text(f"UPDATE {table} SET {column} = :content"), {"content": content})
    other = submit((SPEC.but(C=2.0),), owner="you")
    while (lease := store.queue.take("w2")) is not None:
        FamilyRunner(store).make(lease)
    assert ended(jobs, other).state == "finished"
    assert len(jobs.of("you")) == 1
    if place == "runs.spec":
        with pytest.raises(StoreOutOfReach, match="1 row of runs removed"):
            jobs.of("me")
    assert jobs.live() == [status for status in jobs.of("me") if status.live]
    store.listing.every()
    if place == "runs.spec":
        with pytest.raises(NoSuchStudy):
            jobs.status(damaged)
    else:
        assert jobs.status(damaged).id == damaged
    process.terminate()


@BOTH
def test_what_cannot_be_written_down_is_said_and_the_job_goes_on_afterwards(
    store: RunStore, jobs: WatchedStudies, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setattr(LocalWorkers, "_missing", lambda *_: 0)
        job = submit()
        end_of_lease(store, take_lease(store, "w"))  # there is something to be written down
        away.setattr(execution_module, "LOOK_SECONDS", 0.0)

        def full(*_: object) -> None:
            raise StoreOutOfReach("Its disk is full.")

        away.setattr(execution_module, "reclaim", full)
        status = jobs.status(job)
        assert (status.state, status.live) == ("failed", False)
        assert status.reason == "Its disk is full. 0 of 1 runs had finished, and are kept."
        assert jobs.live() == []
    assert ended(jobs, job).state in ("failed", "finished")
    again = submit()
    assert ended(jobs, again).state == "finished"


def test_a_system_that_starts_no_process_is_said(
    jobs: WatchedStudies, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(execution_module, "start", refused)
    with pytest.raises(StoreError, match=r"No worker can be started \(Resource temporarily unavailable\)"):
        submit()
    monkeypatch.setattr(jobs_module, "can_start", lambda: False)
    with pytest.raises(StoreError, match="this system cannot start processes"):
        submit()


def test_each_job_leaves_a_line_that_names_nobody(jobs: WatchedStudies, submit: Submit) -> None:
    ended(jobs, submit())
    ended(jobs, submit((SPEC.but(dataset="absent"),)))
    log = default_folder() / "jobs.log"
    lines = wait_for(lambda: found if len(found := log.read_text().splitlines()) == 2 else None)
    words = [[word for word in line.split()[1:] if not word.startswith("seconds=")] for line in lines]
    assert words == [
        ["visitor=me", "methods=ranksvm", "runs=1/1", "state=finished"],
        ["visitor=me", "methods=ranksvm", "runs=0/1", "state=failed"],
    ]
    assert "absent" not in lines[1], "names that visitors gave are left out"
