"""What the run store costs: overhead of a run, beside training alone; workers on one store.

PostgreSQL is measured where Debian's package is installed.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from benchmarks import report
from rankviz import RunSpec, execute_all
from rankviz.datasets import Fold, find_datasets, make_fold, open_fold, write_letor
from rankviz.store import RunStore, Study
from rankviz.store.database import ENVIRONMENT
from rankviz.store.execution import LocalWorkers
from rankviz.store.making import Making
from rankviz.store.roster import at_work
from tools.postgres import PROGRAMS, server

RUNS, ROUNDS = 1000, 3
WORKERS = (2, 4, 8)


def main() -> None:
    """Overhead and workers, on each database."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "data"
        fold = _small(root)
        specs = _specs(fold)
        overheads, counted = [], []
        with _databases(Path(folder)) as databases:
            for name, address in databases.items():
                overheads.append({"database": name, **_overhead(address, specs, root)})
                counted += [
                    {"database": name, **_by_workers(address, specs, root, number)} for number in WORKERS
                ]
    notes = [
        f"{RUNS:,} runs of a small made fold (20 queries): Nyström m = 10, C × γ × seed, in families of 40. "
        "Alone: `execute_all` in one process. Stored: the same taken from the store family by family, saved "
        f"run by run. Medians of {ROUNDS} rounds by turns, each in an empty store."
    ]
    report.write("store_overhead", "Overhead of the run store", pd.DataFrame(overheads), notes)
    notes = [
        f"The same {RUNS:,} runs by worker processes, from asking to the last record. Made: runs that are "
        "done. Records: how many are kept; more would be runs made twice."
    ]
    report.write("store_workers", "Workers on one store", pd.DataFrame(counted), notes)


def _small(root: Path) -> Fold:
    folder = root / "small" / "Fold1"
    folder.mkdir(parents=True)
    for name, part in make_fold(n_queries=20, documents_per_query=(5, 15), seed=1).parts.items():
        write_letor(part, folder / f"{name}.txt")
    return open_fold(find_datasets([root])["small"], "Fold1")


def _specs(fold: Fold) -> list[RunSpec]:
    base = RunSpec("small", digest=fold.digest, feature_map="nystroem", n_components=10)
    places = [(seed, g, C) for seed in range(25) for g in range(-4, 1) for C in range(-4, 4)]
    return [base.but(seed=seed, gamma=2.0**g, C=2.0**C) for seed, g, C in places][:RUNS]


@contextmanager
def _databases(folder: Path) -> Iterator[dict[str, str]]:
    """Addresses of databases to fill."""
    found = {"SQLite": str(folder / "runs.sqlite")}
    if not PROGRAMS.is_dir():
        yield found
        return
    with server() as postgres:
        yield found | {"PostgreSQL": postgres.address}


def _emptied(address: str) -> RunStore:
    """The store there, without anything in it."""
    from rankviz.store.tables import metadata

    store = RunStore(address)
    with store.database.writing() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    return store


def _overhead(address: str, specs: list[RunSpec], root: Path) -> dict[str, float]:
    fold = open_fold(find_datasets([root])["small"], "Fold1")
    alone, asked, stored = [], [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in execute_all(specs, fold=fold):
            pass
        alone.append(time.perf_counter() - began)
        store = _emptied(address)
        began = time.perf_counter()
        study = store.studies.submit(Study("me", "grid", roots=(str(root),)), specs)
        asked.append(time.perf_counter() - began)
        making = Making(store)
        while (lease := store.queue.take("w")) is not None:
            making.make(lease)
        stored.append(time.perf_counter() - began)
        assert store.studies.status(study).counts == {"done": len(specs)}
        store.close()
    per_run = 1000 / len(specs)
    return {
        "alone, ms a run": statistics.median(alone) * per_run,
        "stored, ms a run": statistics.median(stored) * per_run,
        "overhead, ms a run": (statistics.median(stored) - statistics.median(alone)) * per_run,
        "of that asking, ms a run": statistics.median(asked) * per_run,
    }


def _by_workers(address: str, specs: list[RunSpec], root: Path, number: int) -> dict[str, float]:
    os.environ[ENVIRONMENT] = address
    store = _emptied(address)
    execution = LocalWorkers(store, number)
    began = time.perf_counter()
    study = execution.submit(Study("me", "grid", roots=(str(root),)), specs)
    while (status := execution.watch(study)).left:
        time.sleep(0.1)
    seconds = time.perf_counter() - began
    found = store.records.made([spec.hash for spec in specs])
    with store.database.reading() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM records").scalar()
    for process in at_work(store):
        process.terminate()
        process.wait(5.0)
    store.close()
    assert status.counts == {"done": len(specs)}
    return {
        "workers": number,
        "seconds": seconds,
        "runs": len(specs),
        "made": len(found),
        "records": int(kept or 0),
    }


if __name__ == "__main__":
    main()
