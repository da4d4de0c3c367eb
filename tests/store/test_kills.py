"""Random kills of workers, of servers and in sweeps: every job ends; nothing is lost or made twice."""

import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, end_workers, wait_for
from conftest_warm import apart
from sqlalchemy import select

from rankviz.store import RunStore, StoreError
from rankviz.store.environment import FOLDER_ENVIRONMENT
from rankviz.store.execution import LocalWorkers, worker_processes
from rankviz.store.queue import LEASE_SECONDS, parse_process
from rankviz.store.tables import families, records, runs, workers
from rankviz.store.watched import WatchedStudies

pytestmark = [
    pytest.mark.story,
    pytest.mark.usefixtures("own_cache"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are ended by SIGKILL"),
]
KILLS = Counter(server=10, importing=4, training=4, waiting=2)


def serve(root: Path, seed: int) -> None:
    """Submit and read jobs like a busy server, until killed."""
    rng, jobs = random.Random(seed), WatchedStudies(LocalWorkers(RunStore(), 2))
    while True:
        live = jobs.live()
        if len(live) < 3:
            specs = [SPEC.but(C=rng.uniform(0.1, 1)) for _ in range(rng.randint(1, 4))]
            specs += [SPEC.but(feature_map="fourier", n_components=2, seed=rng.randrange(1000))]
            with contextlib.suppress(StoreError):
                jobs.submit(specs, owner=rng.choice("abc"), title="A job", roots=[root])
        elif rng.random() < 0.02:
            chosen = rng.choice(live)
            jobs.stop(chosen.id, chosen.owner)
        time.sleep(rng.uniform(0, 0.05))


def doing(store: RunStore, what: str) -> list[int]:
    """Worker processes by what they are doing now."""
    with store.database.reading() as connection:
        busy = set(connection.execute(select(families.c.worker)).scalars())
        rows = connection.execute(select(workers)).all()
    found = dict[str, list[int]](importing=[], training=[], waiting=[])
    for row in rows:
        process = parse_process(row.process)
        if process is None or not process.alive():
            continue
        importing = row.until > time.time() + LEASE_SECONDS  # it has not said yet that it is there
        kind = "importing" if importing else "training" if row.id in busy else "waiting"
        found[kind].append(process.pid)
    return found[what]


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    monkeypatch.setenv(FOLDER_ENVIRONMENT, str(tmp_path))
    monkeypatch.setenv("RANKVIZ_STORE", "")
    store = RunStore()
    yield store
    end_workers(store)


def test_twenty_kills(store: RunStore, root: Path, bounded: Callable[..., None]) -> None:
    bounded(idle_seconds=3, worker_jobs=5)
    rng, servers, killed = random.Random(13), list[Any](), Counter[str]()
    while killed.total() < KILLS.total():
        while len(servers) < 2:  # two share the store
            servers.append(apart(serve, root, rng.randrange(10**6)))
        what = rng.choice(sorted((KILLS - killed).elements()))
        if what == "server":
            time.sleep(rng.uniform(0, 0.2))
            victim = servers.pop(rng.randrange(2))
            victim.kill()
            victim.join()
        else:
            pids = wait_for(lambda what=what: doing(store, what))
            time.sleep(rng.uniform(0, 0.1))
            kill(rng.choice(pids))
        killed[what] += 1
    jobs = WatchedStudies(LocalWorkers(RunStore(), 2))
    wait_for(lambda: sum(job.state == "finished" for job in every(jobs)) > 10)
    for server in servers:
        server.kill()
        server.join()
    assert killed == KILLS
    assert_all_is_well(jobs, killed.total() - killed["server"])


def every(jobs: WatchedStudies) -> list[Any]:
    return [job for owner in "abc" for job in jobs.of(owner)]


def assert_all_is_well(jobs: WatchedStudies, worker_kills: int) -> None:
    wait_for(lambda: not jobs.live())
    store, found = jobs._execution.store, every(jobs)
    ways = Counter(job.state for job in found)
    assert set(ways) <= {"finished", "stopped", "failed"}
    assert ways["finished"] > 10
    assert ways["failed"] <= 2 * worker_kills, "who was not hit is not harmed"
    table = store.listing.every()
    assert (table.state == "lost").sum() <= worker_kills, "of each worker the run that it was making"
    for job in found:
        assert job.reason
        assert job.state != "failed" or job.reason.startswith("The worker process that made it ended without")
        assert job.seconds <= job.ended - job.created + 0.1
        assert len(store.records.find([job.specs[index] for index in job.finished])) == len(job.finished)
        assert job.state != "finished" or len(job.finished) == job.total
    with store.database.reading() as connection:
        made = connection.execute(select(runs.c.id).where(runs.c.state == "done")).scalars().all()
        kept = connection.execute(select(records.c.run)).scalars().all()
        held = connection.execute(select(families.c.id).where(families.c.worker.is_not(None))).all()
    assert (sorted(made), held) == (sorted(kept), []), "a record for each run, and no lease is left"
    wait_for(lambda: not worker_processes(store))
