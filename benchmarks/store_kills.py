"""Kills at random moments of a sweep: `make soak ARGS="kills"`; `--trials 20`, `--seed 0`.

What is killed is a worker, the program that watches the sweep as the app does together with all workers, or
the database (PostgreSQL, where Debian's package is installed). The sweep must go on by itself once a watcher
and a database are there, keep every record it had, and end with each run made once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
from tools.postgres import PROGRAMS, Server, server

PATIENCE = 120.0
"""Seconds after which a sweep that has not ended is counted as stuck."""
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
"""What the app does for a sweep that somebody looks at."""


@dataclass(frozen=True)
class Trial:
    """What became of one sweep.

    Attributes
    ----------
    killed : str
        What was killed.
    at : int
        Runs that were made by then.
    lost, doubled, unmade : int
        Of these those that are gone or changed; records beyond one a run; runs that were not made at the end.
    seconds : float
        From the kill until a family of a dead worker is made by another; where none died to the next record.
    """

    killed: str
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
        """Start what watches the sweep."""
        self.watcher = subprocess.Popen([sys.executable, "-c", WATCHER, self.study])
        return self.watcher

    def done(self) -> int:
        """How many runs are made; -1 where nobody can say."""
        with suppress(StoreError):
            return self.store.studies.status(self.study).done
        return -1

    def contents(self) -> dict[str, bytes]:
        """The records that are there."""
        made = self.store.records.made([spec.hash for spec in self.specs])
        return {digest: self.store.records.content(digest) for digest in made}

    def held(self) -> dict[int, int]:
        """The families that workers hold, and the numbers of their processes."""
        asked = select(families.c.id, workers.c.process).join(workers, workers.c.id == families.c.worker)
        with suppress(StoreError), self.store.database.reading() as connection:
            return {row.id: json.loads(row.process)["pid"] for row in connection.execute(asked)}
        return {}

    def _taken_up(self, before: dict[int, int], orphans: set[int]) -> bool:
        """Whether of the families of dead workers one is held by another, or all are made."""
        held = self.held()
        return any(held.get(one, before[one]) != before[one] for one in orphans) or self.left() == 0

    def left(self) -> int:
        """How many runs are to be made; -1 where nobody can say."""
        with suppress(StoreError):
            return self.store.studies.status(self.study).left
        return -1

    def wait(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> float:
        """Seconds until something is so; infinity where it is not in time."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                return float("inf")
            time.sleep(0.02)
        return time.monotonic() - began

    def trial(self, killed: str, kill: Callable[[Sweep], None], moment: float) -> Trial:
        """Kill something once this share of the runs is made, and see the sweep to its end."""
        at = int(moment * len(self.specs))
        self.wait(lambda: self.done() >= at)
        before = self.contents()
        held = self.held()
        kill(self)
        made, alive = self.done(), {process.pid for process in at_work(self.store) if process.alive()}
        orphans = {family for family, pid in held.items() if pid not in alive}
        # what nobody makes any more is taken up again; where the workers live, there is another record
        resumed = self.wait(lambda: self._taken_up(held, orphans) if orphans else self.done() > made)
        self.wait(lambda: self.done() == len(self.specs))
        after = self.contents()
        with self.store.database.reading() as connection:
            records = int(connection.exec_driver_sql("SELECT count(*) FROM records").scalar() or 0)
        lost = sum(after.get(digest) != content for digest, content in before.items())
        return Trial(killed, len(before), lost, records - len(after), len(self.specs) - len(after), resumed)

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


def kill_worker(sweep: Sweep) -> None:
    """End a worker that is at work, as the system does where memory runs out."""
    for process in at_work(sweep.store)[:1]:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def kill_app(sweep: Sweep) -> None:
    """End the watcher and all workers, as a machine does that is switched off; then watch again."""
    sweep.watcher.kill()
    sweep.watcher.wait()
    for process in at_work(sweep.store):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    sweep.watch()


def kill_database(postgres: Server) -> Callable[[Sweep], None]:
    """End the database as if it had been killed, and start it again a second later."""

    def kill(_: Sweep) -> None:
        postgres.stop("immediate")
        time.sleep(1.0)
        postgres.start()

    return kill


def trials(kind: str, moments: list[float], folder: Path, seed: int = 0) -> Iterator[Trial]:
    """One sweep for each moment, in which something of this kind is killed."""
    if kind == "database":
        with server() as postgres:
            for number, moment in enumerate(moments):
                yield from _one(
                    postgres.address, folder, kind, kill_database(postgres), moment, seed + number
                )
        return
    kill = {"worker": kill_worker, "app": kill_app}[kind]
    for number, moment in enumerate(moments):
        yield from _one(str(folder / f"{kind}{number}.sqlite"), folder, kind, kill, moment, seed + number)


def _one(
    address: str, folder: Path, kind: str, kill: Callable[[Sweep], None], moment: float, seed: int
) -> Iterator[Trial]:
    with _sweep(address, folder, seed) as sweep:
        yield sweep.trial(kind, kill, moment)


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


def main(arguments: list[str]) -> int:
    """Kill each so many times, and write what became of it."""
    parser = argparse.ArgumentParser(prog='make soak ARGS="kills"', description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    draw = random.Random(chosen.seed)
    kinds = ["worker", "app", *(["database"] if PROGRAMS.is_dir() else [])]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for kind in kinds:
            moments = [draw.uniform(0.02, 0.9) for _ in range(chosen.trials)]
            found = pd.DataFrame(list(trials(kind, moments, Path(name), chosen.seed)))
            sums = {column: int(found[column].sum()) for column in ("lost", "doubled", "unmade")}
            waits = {"goes on after, median s": found["seconds"].median(), "worst s": found["seconds"].max()}
            rows.append({"killed": kind, "times": len(found), "runs of a sweep": 360} | sums | waits)
            print(rows[-1])
    notes = [
        "Each time a sweep of 360 runs in 6 families on two workers; the moment is drawn evenly from 2 % to "
        "90 % of its runs. App: the program that watches and all workers, then a new one. Database: "
        "PostgreSQL ended at once, and started again a second later."
    ]
    report.write("store_kills", "Kills in the middle of a sweep", pd.DataFrame(rows), notes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
