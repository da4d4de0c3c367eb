"""Workers and servers killed at random moments: every job ends; nothing is lost, made twice or left over."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, idle, wait_for
from conftest_kills import apart, hidden_files, processes_on

from rankviz.experiments import leftovers
from rankviz.experiments.job_errors import JobError
from rankviz.experiments.job_files import STARTING, belongs_to_a_store
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.run_folder import RunFolder

pytestmark = [
    pytest.mark.usefixtures("own_cache"),
    pytest.mark.skipif(sys.platform != "linux", reason="who is left is read in /proc"),
]
KILLS = Counter(server=32, importing=12, training=10, waiting=6)


def serve(folder: Path, root: Path, seed: int) -> None:
    """What a server does for its visitors, without a pause, until it is killed."""
    rng, store = random.Random(seed), JobStore(folder, workers=2)
    while True:
        live = store.live()
        if len(live) < 3:
            specs = [SPEC.but(C=rng.uniform(0.1, 1)) for _ in range(rng.randint(1, 4))]
            specs += [SPEC.but(feature_map="fourier", n_components=2, seed=rng.randrange(1000))]
            with contextlib.suppress(JobError):
                store.submit(specs, owner=rng.choice("abc"), title="A job", roots=[root])
        elif rng.random() < 0.02:
            chosen = rng.choice(live)
            store.stop(chosen.id, chosen.owner)
        time.sleep(rng.uniform(0, 0.05))


class Workers:
    """The workers of a store by what they are doing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def doing(self, what: str) -> list[int]:
        """Processes that do this now."""
        desks = {int(file.stem.split("-")[0]) for file in (self._folder / ".desks").glob("*.idle")}
        there = set(processes_on(self._folder))
        stages = dict[int, str]()
        for run in runs_of(self._folder):
            worker, latest = run.worker(), run.latest()
            if worker is not None and not run.ended():
                stages[worker.process.pid] = "starting" if latest is None else latest["stage"]
        if what == "waiting":
            return sorted(there & desks)
        busy = {pid for pid, stage in stages.items() if (stage == "starting") == (what == "importing")}
        return sorted(there & busy)


def runs_of(folder: Path) -> list[RunFolder]:
    return [RunFolder(path) for path in sorted(folder.glob("*")) if belongs_to_a_store(path)]


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_sixty_kills(
    folder: Path, root: Path, bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(idle_seconds=3, turn_seconds=0.05, worker_jobs=5)
    folder.mkdir()
    rng, workers, servers, killed = random.Random(13), Workers(folder), list[Any](), Counter[str]()
    while killed.total() < KILLS.total():
        while len(servers) < 2:  # two share the store; now and then their settings differ
            monkeypatch.setenv("RANKVIZ_OF_THE_TEST", str(rng.random() < 0.1))
            servers.append(apart(serve, folder, root, rng.randrange(10**6)))
        what = rng.choice(sorted((KILLS - killed).elements()))
        if what == "server":
            time.sleep(rng.uniform(0, 0.2))
            victim = servers.pop(rng.randrange(2))
            victim.kill()
            victim.join()
        else:
            pids = wait_for(lambda what=what: workers.doing(what))
            time.sleep(rng.uniform(0, 0.1))
            kill(rng.choice(pids))
        killed[what] += 1
    wait_for(lambda: finished_in(folder) > 10)
    for server in servers:
        server.kill()
        server.join()
    assert killed == KILLS
    assert_all_is_well(folder, killed.total() - killed["server"])
    monkeypatch.setattr(leftovers, "LEFT_SECONDS", -1.0)
    JobStore(folder)
    assert idle(folder) == []
    assert hidden_files(folder) == []


def finished_in(folder: Path) -> int:
    """How many jobs have every run, however few a slow machine gets done between two kills."""
    outcomes = [outcome for run in runs_of(folder) if (outcome := run.outcome()) is not None]
    return sum(outcome.state == "finished" for outcome in outcomes)


def assert_all_is_well(folder: Path, worker_kills: int) -> None:
    store = JobStore(folder, workers=2)
    wait_for(lambda: not store.live())
    jobs = [job for owner in "abc" for job in store.jobs(owner)]
    ways = Counter(job.state for job in jobs)
    assert len(jobs) == len(runs_of(folder))
    assert set(ways) <= {"finished", "stopped", "failed"}
    assert ways["finished"] > 10
    assert ways["failed"] <= worker_kills, "who was not hit is not harmed"
    for job in jobs:
        assert job.reason
        assert job.state != "failed" or job.reason.startswith("The worker process ended without a result; ")
        assert job.seconds <= job.ended - job.created + 0.1
        rows = store.progress(job.id)
        turns = [index for index, _ in groupby(row["index"] for row in rows if row["stage"] != STARTING)]
        assert len(set(turns)) == len(turns), "no two processes worked on it at once"
        finished = [row["index"] for row in rows if row["stage"] == "finished"]
        assert len(set(finished)) == len(finished), "nothing was made twice"
        assert set(finished) <= set(job.finished)
        assert all(store.record(job.id, index) is not None for index in job.finished)
        assert job.state != "finished" or len(job.finished) == job.total
    wait_for(lambda: not list(processes_on(folder)))
