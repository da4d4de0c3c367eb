"""Kills at random moments of a sweep: `make soak ARGS="kills"`.

A worker is killed, or the program that watches the sweep together with all workers, or the database
(PostgreSQL, where Debian's package is installed). The sweep must go on by itself, keep every record, and end
with each run made once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from sqlalchemy import select

from benchmarks import report
from rankviz import RunSpec
from rankviz.datasets import Fold, find_datasets, make_fold, open_fold, write_letor
from rankviz.store import RunStore, StoreError, Study
from rankviz.store.database import ENVIRONMENT
from rankviz.store.roster import at_work
from rankviz.store.tables import families, workers
from tools.postgres import PROGRAMS, server

TRIALS, PATIENCE = 20, 120.0
"""Kills of each kind, and seconds after which a sweep that has not ended is counted as stuck."""
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


@dataclass(frozen=True)
class Trial:
    """The end of one sweep.

    Attributes
    ----------
    at : int
        Runs that were made before the kill.
    lost, doubled, unmade : int
        Records of these that are gone or changed; records beyond one a run; runs not made at the end.
    seconds : float
        From the kill until another worker has a family of a dead one, or else to the next record.
    """

    at: int
    lost: int
    doubled: int
    unmade: int
    seconds: float


class Sweep:
    """A sweep on a store, and the program that watches it."""

    def __init__(self, address: str, folder: Path, seed: int) -> None:
        os.environ[ENVIRONMENT] = address
        fold = small_fold(folder / "data")
        base = RunSpec("small", digest=fold.digest, feature_map="nystroem", n_components=60)
        places = [(s, g, C) for s in range(6) for g in range(-4, 2) for C in range(-4, 6)]
        self.specs = [base.but(seed=100 * seed + s, gamma=2.0**g, C=2.0**C) for s, g, C in places]
        self.store = RunStore(address)
        self.study = self.store.studies.submit(
            Study("me", "kills", roots=(str(folder / "data"),)), self.specs
        )
        self.watcher = self.watch()

    def watch(self) -> subprocess.Popen[bytes]:
        """Start the program that watches the sweep."""
        self.watcher = subprocess.Popen([sys.executable, "-c", WATCHER, self.study])
        return self.watcher

    def done(self) -> int:
        """Return how many runs are made; -1 where the store cannot be read."""
        with suppress(StoreError):
            return self.store.studies.status(self.study).done
        return -1

    def contents(self) -> dict[str, bytes]:
        """Return the records."""
        made = self.store.records.made([spec.hash for spec in self.specs])
        return {digest: self.store.records.content(digest) for digest in made}

    def held(self) -> dict[int, int]:
        """Return the families that workers hold, with their process ids."""
        asked = select(families.c.id, workers.c.process).join(workers, workers.c.id == families.c.worker)
        with suppress(StoreError), self.store.database.reading() as connection:
            return {row.id: json.loads(row.process)["pid"] for row in connection.execute(asked)}
        return {}

    def wait(self, condition: Callable[[], bool]) -> float:
        """Return the seconds until a condition holds; infinity where it does not in time."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > PATIENCE:
                return float("inf")
            time.sleep(0.02)
        return time.monotonic() - began

    def trial(self, kill: Callable[[Sweep], None], moment: float) -> Trial:
        """Kill once this share of the runs is made, and see the sweep to its end."""
        total = len(self.specs)
        self.wait(lambda: self.done() >= int(moment * total))
        before, held = self.contents(), self.held()
        kill(self)
        made, alive = self.done(), {process.pid for process in at_work(self.store) if process.alive()}
        orphans = {family for family, pid in held.items() if pid not in alive}

        def resumed() -> bool:
            now = self.held() if orphans else {}
            taken = any(now.get(one, held[one]) != held[one] for one in orphans)
            return taken or self.done() == total or (not orphans and self.done() > made)

        seconds = self.wait(resumed)
        self.wait(lambda: self.done() == total)
        after = self.contents()
        with self.store.database.reading() as connection:
            records = int(connection.exec_driver_sql("SELECT count(*) FROM records").scalar() or 0)
        lost = sum(after.get(digest) != content for digest, content in before.items())
        return Trial(len(before), lost, records - len(after), total - len(after), seconds)

    def end(self) -> None:
        """End all processes."""
        self.watcher.kill()
        self.watcher.wait()
        for process in at_work(self.store):
            process.terminate()
            process.wait(5.0)
        self.store.close()


def small_fold(root: Path) -> Fold:
    """A small data set below a data root."""
    folder = root / "small" / "Fold1"
    if not folder.is_dir():
        folder.mkdir(parents=True)
        for name, part in make_fold(n_queries=30, documents_per_query=(5, 15), seed=1).parts.items():
            write_letor(part, folder / f"{name}.txt")
    return open_fold(find_datasets([root])["small"], "Fold1")


def kill_workers(sweep: Sweep, most: int | None = None) -> None:
    """Kill workers that are at work, as the system does without memory."""
    for process in at_work(sweep.store)[:most]:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def kill_app(sweep: Sweep) -> None:
    """Kill the watcher and all workers, as when a machine loses power; then watch again."""
    sweep.watcher.kill()
    sweep.watcher.wait()
    kill_workers(sweep)
    sweep.watch()


def trials(kind: str, moments: list[float], folder: Path) -> Iterator[Trial]:
    """Run one sweep for each moment, and kill something of this kind in it."""
    with server() if kind == "database" else nullcontext() as postgres:

        def kill_database(_: Sweep) -> None:
            postgres.stop("immediate")
            time.sleep(1.0)
            postgres.start()

        kill = {"worker": partial(kill_workers, most=1), "app": kill_app, "database": kill_database}[kind]
        for number, moment in enumerate(moments):
            address = postgres.address if postgres else str(folder / f"{kind}{number}.sqlite")
            with _sweep(address, folder, number) as sweep:
                yield sweep.trial(kill, moment)


@contextmanager
def _sweep(address: str, folder: Path, seed: int) -> Iterator[Sweep]:
    sweep = Sweep(address, folder, seed)
    try:
        yield sweep
    finally:
        sweep.end()
        store = RunStore(address)
        with store.database.writing() as connection:  # the next sweep counts its own records
            for name in ("records", "members", "marks", "families", "studies", "runs"):
                connection.exec_driver_sql(f"DELETE FROM {name}")
        store.close()


def main() -> None:
    """Kill each 20 times at moments drawn at random, and write the table."""
    draw, rows = random.Random(0), []
    with tempfile.TemporaryDirectory() as name:
        for kind in ["worker", "app", *(["database"] if PROGRAMS.is_dir() else [])]:
            moments = [draw.uniform(0.02, 0.9) for _ in range(TRIALS)]
            found = pd.DataFrame(trials(kind, moments, Path(name)))
            sums = found[["lost", "doubled", "unmade"]].sum().to_dict()
            waits = {"goes on after, median s": found["seconds"].median(), "worst s": found["seconds"].max()}
            rows.append({"killed": kind, "times": len(found), "runs of a sweep": 360} | sums | waits)
    notes = [
        "Each time a sweep of 360 runs in 6 families on two workers; the moment is drawn evenly from 2 % to "
        "90 % of its runs. App: the program that watches and all workers, then a new one. Database: "
        "PostgreSQL ended at once, and started again a second later."
    ]
    report.write("store_kills", "Kills in the middle of a sweep", pd.DataFrame(rows), notes)
