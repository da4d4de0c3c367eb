"""Workers of a local cluster killed at random moments of fits and of sweeps, and once the scheduler.

`python -m benchmarks shard_kills`. One of two workers is killed in each trial, and another started by their
cluster; fits and runs are compared with those without a kill.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.store_kills import small_fold
from rankviz import Progress, RankSVM, RunRecord, RunSpec
from rankviz.datasets import RankingData, make_data
from rankviz.shards.cluster import ClusterLost, OnCluster, local_cluster
from rankviz.store import RunStore, Study
from rankviz.store.cluster import ClusterWorkers
from tools.cluster import cluster

TRIALS = 20
SETTINGS = {"n_components": 300, "gamma": 2.0**-4, "C": 2.0**-6, "tol": 1e-8}
WORKERS_BACK = 300.0
"""Seconds within which two workers are there again: a busy machine takes its time to start one."""
PATIENCE = 300.0
"""Seconds after which a sweep that has not ended is counted as stuck."""
FAMILIES, RUNS = 6, 30
"""Of a sweep, and in each."""
Kill = Callable[[], object]


def main() -> None:
    """Kill workers in fits and in sweeps, then a scheduler in a fit; write results/shard_kills*."""
    data = make_data(n_queries=1000, documents_per_query=(10, 60), n_features=46, seed=0)
    rng = np.random.default_rng(0)
    with local_cluster(2, 4e9) as address:
        with OnCluster(address, shards=8) as where:
            fits, quiet = _of_fits(data, where, rng)
        with OnCluster(address) as place:
            sweeps, alone = _of_sweeps(place, rng)
    notes = [
        f"{data.n_documents:,} documents, Nyström m = 300, 8 shards on 2 workers, one of which is killed "
        f"(SIGKILL) after a random part of the {quiet:.1f} s that a fit takes without: median "
        f"{fits['seconds'].median():.1f} s, at worst {fits['seconds'].max():.1f} s. "
        f"{(fits['seconds'] < fits['killed at, s']).sum()} had ended by then.",
        _scheduler_killed(data),
    ]
    report.write("shard_kills", "Workers killed in the middle of fits", fits, notes)
    notes = [
        f"{FAMILIES * RUNS} runs in {FAMILIES} families of a run store, made by 2 workers of a cluster, one "
        f"of which is killed (SIGKILL) after a random number of runs; {alone:.1f} s without a kill, with one "
        f"in the median {sweeps['seconds'].median():.1f} s, at worst {sweeps['seconds'].max():.1f} s. Lost "
        "or made twice: records that were there before the kill and are gone or others at the end. Apart: "
        "objectives, by their share, from those without a kill."
    ]
    report.write("shard_kills_sweeps", "Workers killed in the middle of sweeps", sweeps, notes)


def _of_fits(data: RankingData, where: OnCluster, rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """A row for each trial, and seconds without a kill."""
    fits = [_fit(data, where) for _ in range(3)]
    model, seconds = fits[-1][0], float(np.median([taken for _, taken in fits]))
    rows = []
    for _ in range(TRIALS):
        kill = _killer(where, rng)
        rows.append(_fit_with(data, where, model, kill, float(rng.uniform(0, seconds))))
        print(rows[-1], flush=True)
    return pd.DataFrame(rows), seconds


def _fit(data: RankingData, where: OnCluster) -> tuple[RankSVM, float]:
    began = time.perf_counter()
    model = RankSVM("nystroem", **SETTINGS).fit_in_shards(data, where)
    return model, time.perf_counter() - began


def _fit_with(
    data: RankingData, where: OnCluster, quiet: RankSVM, kill: Kill, moment: float
) -> dict[str, object]:
    """One fit in which a worker is killed at a moment in seconds."""
    timer = threading.Timer(moment, kill)
    timer.start()
    model, seconds = _fit(data, where)
    timer.join()
    apart = np.abs(model.coef_ - quiet.coef_).max() / np.abs(quiet.coef_).max()
    return {
        "killed at, s": moment,
        "seconds": seconds,
        "objective / without, - 1": model.objective_ / quiet.objective_ - 1,
        "weights apart": apart,
        "status": model.status_.name.lower(),
    }


def _of_sweeps(place: OnCluster, rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """A row for each trial, and seconds without a kill."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "data"
        base = RunSpec("small", digest=small_fold(root).digest, feature_map="nystroem", n_components=60)
        specs = [base.but(seed=s, C=2.0 ** (k / 2 - 10)) for s in range(FAMILIES) for k in range(RUNS)]
        quiet, found = _sweep(Path(scratch) / "quiet.sqlite", root, specs, place, lambda: None, 0)
        rows = []
        for number in range(TRIALS):
            kill, at = _killer(place, rng), int(rng.uniform(0.02, 0.9) * len(specs))
            row, records = _sweep(Path(scratch) / f"{number}.sqlite", root, specs, place, kill, at)
            apart = [abs(records[spec].objective / found[spec].objective - 1) for spec in records]
            rows.append({"killed at, runs": at} | row | {"apart": max(apart, default=np.nan)})
            print(rows[-1], flush=True)
    return pd.DataFrame(rows), quiet["seconds"]


def _sweep(
    file: Path, root: Path, specs: list[RunSpec], place: OnCluster, kill: Kill, at: int
) -> tuple[dict[str, Any], dict[RunSpec, RunRecord]]:
    """One sweep in which a worker is killed once so many runs are made: what became of it, its records."""
    store, digests = RunStore(str(file)), [spec.hash for spec in specs]
    try:
        workers, began = ClusterWorkers(store, place), time.monotonic()
        study = workers.submit(Study("me", "kills", roots=(str(root),)), specs)
        _wait(lambda: workers.watch(study).done >= at)
        before = {digest: store.records.content(digest) for digest in store.records.made(digests)}
        kill()
        _wait(lambda: not workers.watch(study).left)
        seconds, records = time.monotonic() - began, store.records.find(specs)
        changed = [digest for digest, content in before.items() if store.records.content(digest) != content]
    finally:
        store.close()
    row = {"seconds": seconds, "made": len(records), "of": len(specs), "lost or made twice": len(changed)}
    return row, records


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


def _killer(where: OnCluster, rng: np.random.Generator) -> Kill:
    """What kills one of two workers, which are waited for."""
    deadline = time.monotonic() + WORKERS_BACK
    while time.monotonic() < deadline:
        with suppress(ClusterLost):  # one that was killed just now is known still, and does not answer
            pids = where.on_workers(os.getpid)
            if len(pids) == 2:
                pid = int(rng.choice(sorted(pids)))
                return lambda: os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    raise RuntimeError("a killed worker did not come back")


def _scheduler_killed(data: RankingData) -> str:
    """What is said of a scheduler that is killed after the first step of a fit, and how soon."""
    killed: list[float] = []
    ours = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with (
        tempfile.TemporaryDirectory() as scratch,
        cluster(Path(sys.executable).parent, Path(scratch), ours) as (address, scheduler),
        OnCluster(address, shards=8) as where,
    ):

        def kill(progress: Progress) -> None:
            if progress.record is not None and not killed:
                scheduler.kill()
                killed.append(time.monotonic())

        model = RankSVM("nystroem", **SETTINGS)
        try:
            model.fit_in_shards(data, where, callback=kill)
            said = "it ended as ever"
        except ClusterLost as error:
            said = str(error).replace(address, "tcp://…")
        seconds = time.monotonic() - killed[0]
    weights = "left weights" if hasattr(model, "coef_") else "left no weights"
    return (
        f"With the scheduler killed after the first step, a fit ended {seconds:.1f} s later: {said}. "
        f"It {weights}."
    )
