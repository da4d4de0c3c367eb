"""Families under leases: taken once, renewed, given to another, in turn among visitors."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from conftest_store import BOTH, GRID, end_of_lease, save_all, states, take_lease
from sqlalchemy import select, text, update

from rankviz import RunRecord, RunSpec
from rankviz.common.processes import ProcessId
from rankviz.store import RunStore, Study
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.queue import LeasedFamily, _last_served, next_family
from rankviz.store.study import HERE
from rankviz.store.tables import families, studies, workers

pytestmark = BOTH


def test_a_family_goes_to_one_worker(store: RunStore, specs: list[RunSpec]) -> None:
    store.studies.submit(GRID, specs)
    first, second = take_lease(store, "w1"), take_lease(store, "w2")
    assert {len(first.specs), len(second.specs)} == {3}
    assert {*first.specs, *second.specs} == set(specs)
    assert store.queue.take("w3") is None


def test_runs_come_in_the_order_of_their_family(store: RunStore, specs: list[RunSpec]) -> None:
    store.studies.submit(GRID, specs[:3][::-1])
    assert [spec.C for spec in take_lease(store, "w").specs] == [1.0, 0.5, 0.25]


def test_a_lease_that_has_ended_goes_to_another(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    study = store.studies.submit(GRID, specs[:3])
    lost = take_lease(store, "w1")
    assert store.records.save(made[specs[0]])
    assert store.queue.take("w2") is None
    end_of_lease(store, lost)
    again = take_lease(store, "w2")
    assert again.specs == tuple(specs[1:3])
    assert not store.queue.renew(lost, {})
    assert store.queue.renew(again, {})
    assert states(store, study) == {"done": 1, "leased": 2}


def test_a_run_has_the_tries_of_each_study_that_wants_it(store: RunStore, specs: list[RunSpec]) -> None:
    """A job with one try is no reason why a sweep of another visitor loses a run at once."""
    once = store.studies.submit(Study("me", "a job", tries=1), specs[:1])
    store.studies.submit(Study("you", "a sweep", tries=3), specs[:1])
    for _ in range(3):
        lease = take_lease(store, "w")
        assert lease.specs == tuple(specs[:1])
        end_of_lease(store, lease)
    left = store.queue.take("w")
    while left is not None:
        end_of_lease(store, left)
        left = store.queue.take("w")
    assert states(store, once) == {"lost": 1}


def test_a_late_worker_loses_nothing_and_doubles_nothing(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    study = store.studies.submit(GRID, specs[:3])
    late = take_lease(store, "w1")
    end_of_lease(store, late)
    again = take_lease(store, "w2")
    assert store.records.save(made[specs[0]])  # by the late one
    store.queue.release(late)
    assert states(store, study) == {"done": 1, "leased": 2}  # which the other makes
    assert not store.records.save(made[specs[0]])  # by the other
    for spec in again.specs[1:]:
        assert store.records.save(made[spec])
    store.queue.release(late)  # which it does not hold any more
    assert store.queue.renew(again, {})
    store.queue.release(again)
    assert states(store, study) == {"done": 3}


def test_the_lease_of_a_process_that_has_ended_goes_to_another_at_once(
    store: RunStore, specs: list[RunSpec]
) -> None:
    waits = [sys.executable, "-c", "input()"]
    children = [subprocess.Popen(waits, stdin=subprocess.PIPE) for _ in range(2)]
    store.studies.submit(GRID, specs[:3])
    for name, child in zip(("w1", "w2"), children, strict=True):
        store.queue.register(name, ProcessId.of(child.pid))
    take_lease(store, "w1")
    assert not store.queue.has_work_for("w2")
    children[0].communicate(b"\n")
    assert store.queue.has_work_for("w2")
    assert len(take_lease(store, "w2").specs) == 3
    children[1].communicate(b"\n")


def test_the_run_of_which_workers_die_is_lost_and_the_others_are_made(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    study = store.studies.submit(Study("me", "a grid", tries=2), specs[:3])
    for worker in ("w1", "w2"):
        lease = take_lease(store, worker)
        assert lease.specs == tuple(specs[:3])
        assert store.queue.renew(lease, {"digest": specs[1].hash})
        end_of_lease(store, lease)
    left = take_lease(store, "w3")
    assert left.specs == (specs[0], specs[2])
    save_all(store, left, made)
    status = store.studies.status(study)
    assert status.counts == {"done": 2, "lost": 1}
    assert not status.live
    assert "1 lost" in status.in_words
    row = store.listing.of_study(study, "me").loc[specs[1].hash]
    assert "2 times" in row["reason"]


def test_what_two_studies_want_is_made_once(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    first = store.studies.submit(GRID, specs[:2])
    second = store.studies.submit(GRID, specs[1:3])
    one, other = take_lease(store, "w1"), take_lease(store, "w2")
    assert one.specs == tuple(specs[:2])
    assert other.specs == (specs[2],)
    save_all(store, one, made)
    save_all(store, other, made)
    assert states(store, first) == states(store, second) == {"done": 2}
    assert store.queue.take("w3") is None


def test_sweeps_that_want_the_same_runs_at_once_refuse_each_other_nothing(
    store: RunStore, base: RunSpec
) -> None:
    """Each begins where the other one ends, so each would wait for rows of the other."""
    many = [base.but(C=1.0 + number) for number in range(1500)]
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            for study in pool.map(partial(store.studies.submit, GRID), (many, many[::-1]) * 2):
                store.studies.delete(study, GRID.owner)
        many = [spec.but(C=spec.C + len(many)) for spec in many]


def test_what_was_made_is_not_made_again(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    store.records.keep([made[specs[0]]], "somebody")
    study = store.studies.submit(GRID, specs[:2])
    assert states(store, study) == {"done": 1, "queued": 1}
    assert take_lease(store, "w").specs == (specs[1],)


def test_visitors_take_turns(store: RunStore, base: RunSpec) -> None:
    many = [base.but(seed=seed) for seed in range(5)]
    store.studies.submit(Study("greedy", "many"), many)
    store.studies.submit(Study("modest", "one"), [base.but(seed=9)])
    assert [take_lease(store, f"w{n}").owner for n in range(3)] == ["greedy", "modest", "greedy"]


def test_a_study_that_is_stopped_cancels_what_waits_and_lets_go_of_what_is_made(
    store: RunStore, specs: list[RunSpec]
) -> None:
    study = store.studies.submit(GRID, specs)
    lease = take_lease(store, "w1")
    assert store.queue.renew(lease, {})
    store.studies.stop(study, "me")
    assert states(store, study) == {"leased": 3, "cancelled": 3}
    assert not store.queue.renew(lease, {})
    store.queue.release(lease)
    assert states(store, study) == {"cancelled": 6}
    status = store.studies.status(study)
    assert (status.share, status.in_words) == (0.0, "0 of 6 runs made, 6 stopped.")
    assert store.queue.take("w2") is None
    store.studies.resume(study, "me")
    assert states(store, study) == {"queued": 6}
    assert {*take_lease(store, "w1").specs, *take_lease(store, "w2").specs} == set(specs)


def test_a_stop_does_not_take_runs_from_another_study(store: RunStore, specs: list[RunSpec]) -> None:
    mine = store.studies.submit(GRID, specs[:3])
    theirs = store.studies.submit(Study("you", "the same"), specs[:3])
    lease = take_lease(store, "w1")
    store.studies.stop(mine, "me")
    assert store.queue.renew(lease, {})
    store.queue.release(lease)
    assert states(store, theirs) == {"queued": 3}
    assert take_lease(store, "w2").study == theirs


def test_a_study_that_is_paused_waits(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(GRID, specs[:3])
    store.studies.pause(study, "me")
    assert store.queue.take("w") is None
    status = store.studies.status(study)
    assert status.left == 3
    assert not status.live
    assert status.in_words == "0 of 3 runs made, paused."
    store.studies.resume(study, "me")
    assert len(take_lease(store, "w").specs) == 3


@pytest.mark.parametrize("ended", ["failed", "cancelled"])
def test_runs_that_ended_without_a_record_are_tried_again_for_a_new_study(
    store: RunStore, specs: list[RunSpec], ended: str
) -> None:
    study = store.studies.submit(GRID, specs[:1])
    if ended == "failed":
        store.records.fail(specs[0], "It was too large.")
    else:
        store.studies.stop(study, "me")
    assert states(store, study) == {ended: 1}
    again = store.studies.submit(GRID, specs[:1])
    assert states(store, again) == {"queued": 1}
    assert take_lease(store, "w").specs == (specs[0],)


def test_a_family_is_made_as_a_whole(store: RunStore, specs: list[RunSpec], root: Path) -> None:
    study = store.studies.submit(Study("me", "a grid", roots=(str(root),)), specs[:3])
    FamilyRunner(store).make(take_lease(store, "w"))
    assert states(store, study) == {"done": 3}


def test_a_worker_that_could_not_say_that_it_is_there_is_known_while_it_is_seen(store: RunStore) -> None:
    """A worker whose lease expires unnoticed, as after a full disk or sleep, would otherwise work on."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        for name in ("there", "elsewhere", "not started"):
            store.queue.register(name, ProcessId.of(process.pid))
        with store.database.writing() as connection:
            connection.execute(update(workers).values(until=0.0))
            for name, values in (("elsewhere", {"host": "another"}), ("not started", {"process": ""})):
                connection.execute(update(workers).where(workers.c.id == name).values(**values))
        store.queue.take("w")
        assert known(store) == ["there"]
        process.communicate()
    store.queue.take("w")
    assert known(store) == []


def test_a_machine_that_slept_ends_no_lease_of_a_live_worker(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(GRID, specs[:1])
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        store.queue.register("w", ProcessId.of(process.pid))
        lease = take_lease(store, "w")
        end_of_lease(store, lease)
        with store.database.writing() as connection:
            connection.execute(update(workers).values(until=0.0))
        assert store.queue.take("other") is None
        assert states(store, study) == {"leased": 1}
        assert store.queue.renew(lease, {}), "awake again"
        end_of_lease(store, lease)  # but the worker's presence is renewed
        assert take_lease(store, "other").specs == lease.specs, "it had given the family up"
        process.communicate(b"\n")


def known(store: RunStore) -> list[str]:
    with store.database.reading() as connection:
        return list(connection.execute(select(workers.c.id)).scalars())


def test_addresses_take_turns_before_visitors(store: RunStore, specs: list[RunSpec]) -> None:
    for number, spec in enumerate(specs[:4]):
        store.studies.submit(Study(f"made up {number}", "one", address="one place"), [spec])
    for spec in specs[4:]:
        store.studies.submit(Study("honest", "mine", address="another place"), [spec])
    owners = [take_lease(store, f"w{number}").owner for number in range(4)]
    assert owners == ["made up 0", "honest", "made up 1", "honest"]


def test_who_has_not_been_served_for_longest_goes_before_older_jobs(store: RunStore, base: RunSpec) -> None:
    def ask(seed: int, owner: str, address: str) -> None:
        store.studies.submit(Study(owner, "one", address=address), [base.but(seed=seed)])

    def finish(lease: LeasedFamily) -> str:
        for spec in lease.specs:
            store.records.fail(spec, "It was too large.")
        store.queue.release(lease)
        return lease.owner

    for seed in range(8):
        ask(seed, f"made up {seed // 2}", f"place {seed // 2 % 2}")  # 0 and 2 have one address
    held = [take_lease(store, "w1"), take_lease(store, "w2")]
    ask(8, "new", "a quiet place")
    ask(9, "new", "a quiet place")
    order = list[str]()
    for number in range(8):
        order.append(finish(held.pop(0)))
        held.append(take_lease(store, f"w{number % 2 + 1}"))
    turns = [f"made up {number}" for number in (0, 1, 2, 3, 0, 1, 2, 3)]
    assert [*order, *map(finish, held)] == [*turns[:2], "new", *turns[2:4], "new", *turns[4:]]


def test_who_was_served_while_the_clock_was_ahead_is_served_now(store: RunStore, base: RunSpec) -> None:
    early = store.studies.submit(Study("early", "one", address="a"), [base.but(C=1.0), base.but(C=2.0)])
    lease = take_lease(store, "w")
    with store.database.writing() as connection:
        connection.execute(update(families).where(families.c.study == early).values(since=time.time() + 1e6))
    store.queue.release(lease)
    store.studies.submit(Study("other", "two", address="b"), [base.but(C=3.0, feature_map="linear")])
    with store.database.writing() as connection:
        connection.execute(update(families).where(families.c.study != early).values(since=time.time() - 1))
    assert take_lease(store, "w").owner == "other"
    with store.database.reading() as connection:
        served, _ = _last_served(connection, HERE)
    assert served["a"] <= time.time()


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_choice_among_many_studies_reads_each_once(store: RunStore, base: RunSpec) -> None:
    """PostgreSQL knows nothing of new tables: it must not read all waiting families for each study."""
    waiting = 150
    for number in range(waiting):
        store.studies.submit(Study(f"visitor {number}", "one"), [base.but(seed=number)])
    read = text("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables")
    with store.database.reading() as connection:
        connection.execute(text("SET enable_seqscan = off"))  # which is right for tables as small as these
        before = connection.execute(read).scalar_one()
        assert next_family(connection, HERE) is not None
        rows = connection.execute(read).scalar_one() - before
    assert waiting <= rows <= 10 * waiting


@pytest.mark.parametrize(("roots", "design"), [("7", "["), ("", "[1]"), ("{", "null")])
def test_a_study_that_cannot_be_read_whole_is_still_listed(
    store: RunStore, specs: list[RunSpec], roots: str, design: str
) -> None:
    damaged, sound = (store.studies.submit(GRID, [spec]) for spec in specs[:2])
    with store.database.writing() as connection:
        connection.execute(update(studies).where(studies.c.id == damaged).values(roots=roots, design=design))
    found = {status.id: status.study for status in store.studies.of(GRID.owner)}
    assert found.keys() == {damaged, sound}
    assert (found[damaged].roots, found[damaged].design) == ((), {})
