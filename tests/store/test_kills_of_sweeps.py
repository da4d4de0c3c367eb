"""A kill in the middle of a sweep: it goes on by itself, keeps every record, and makes each run once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from conftest_jobs import end_workers, wait_for
from sqlalchemy import select

from rankviz import RunSpec
from rankviz.store import RunStore, StoreError, Study
from rankviz.store.database import ENVIRONMENT
from rankviz.store.execution import worker_processes
from rankviz.store.tables import families, workers
from tools import postgres

pytestmark = pytest.mark.story
WATCHER = """
import sys, time
from rankviz.store import RunStore, StoreError
from rankviz.store.execution import LocalWorkers
execution = None
while True:
    try:
        execution = execution or LocalWorkers(RunStore(), 2)
        execution.watch(sys.argv[1])
    except StoreError:
        pass
    time.sleep(0.1)
"""
"""The app does this for a sweep on a page."""


class Sweep:
    """A sweep of 360 runs in six families on a store, and the program that watches it."""

    def __init__(self, store: RunStore, root: Path, base: RunSpec) -> None:
        places = [(s, g, C) for s in range(6) for g in range(-4, 2) for C in range(-4, 6)]
        start = base.but(n_components=60)
        self.specs = [start.but(seed=seed, gamma=2.0**g, C=2.0**C) for seed, g, C in places]
        self.store = store
        self.study = store.studies.submit(Study("me", "kills", roots=(str(root),)), self.specs)
        self.watch()

    def watch(self) -> None:
        self.watcher = subprocess.Popen([sys.executable, "-c", WATCHER, self.study])

    def done(self) -> int:
        with suppress(StoreError):
            return self.store.studies.status(self.study).done
        return -1

    def contents(self) -> dict[str, bytes]:
        made = self.store.records.made([spec.hash for spec in self.specs])
        return {digest: self.store.records.content(digest) for digest in made}

    def held(self) -> dict[int, int]:
        asked = select(families.c.id, workers.c.process).join(workers, workers.c.id == families.c.worker)
        with suppress(StoreError), self.store.database.reading() as connection:
            return {row.id: json.loads(row.process)["pid"] for row in connection.execute(asked)}
        return {}

    def end(self) -> None:
        self.watcher.kill()
        self.watcher.wait()

    def kill_workers(self, most: int | None = None) -> None:
        """Kill workers that are at work, as the system does without memory."""
        for process in worker_processes(self.store)[:most]:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def kill_app(self) -> None:
        """Kill the watcher and all workers, as when a machine loses power; then watch again."""
        self.end()
        self.kill_workers()
        self.watch()


def outlives(sweep: Sweep, kill: Callable[[], object]) -> None:
    """Kill once a third of the runs is made, see the sweep to its end, and check its records."""
    total = len(sweep.specs)
    wait_for(lambda: sweep.done() >= 0.3 * total)
    before, held = sweep.contents(), sweep.held()
    kill()
    made, alive = sweep.done(), {process.pid for process in worker_processes(sweep.store) if process.alive()}
    orphans = {family for family, pid in held.items() if pid not in alive}

    def resumed() -> bool:
        """Another worker has a family of a dead one, or else there is a new record."""
        now = sweep.held() if orphans else {}
        taken = any(now.get(one, held[one]) != held[one] for one in orphans)
        return taken or sweep.done() == total or (not orphans and sweep.done() > made)

    wait_for(resumed, 30)
    wait_for(lambda: sweep.done() == total)
    after = sweep.contents()
    with sweep.store.database.reading() as connection:
        records = connection.exec_driver_sql("SELECT count(*) FROM records").scalar()
    assert 0 < len(before) < total
    assert before.items() <= after.items(), "records of before are gone or changed"
    assert len(after) == records == total, "each run is made once"


@pytest.mark.parametrize("kind", ["worker", "app"])
def test_a_sweep_outlives_a_kill(store: RunStore, root: Path, base: RunSpec, kind: str) -> None:
    sweep = Sweep(store, root, base)
    try:
        outlives(sweep, sweep.kill_app if kind == "app" else lambda: sweep.kill_workers(1))
    finally:
        sweep.end()


def test_a_sweep_outlives_the_end_of_its_postgresql_server(
    root: Path, base: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "RANKVIZ_TEST_POSTGRES" not in os.environ:
        pytest.skip("RANKVIZ_TEST_POSTGRES is not set: make test-postgres starts a server")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with postgres.server() as server:
        monkeypatch.setenv(ENVIRONMENT, server.address)
        store = RunStore()
        sweep = Sweep(store, root, base)

        def kill() -> None:
            server.stop("immediate")
            time.sleep(1.0)
            server.start()

        try:
            outlives(sweep, kill)
        finally:
            sweep.end()
            end_workers(store)
            store.close()
