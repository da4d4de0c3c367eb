"""One of two workers of a local cluster is killed at a random moment of a fit, twenty times; the same model?

`python -m benchmarks shard_kills`; the cluster starts another worker in its place each time.
"""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import RankSVM
from rankviz.datasets import RankingData, make_data
from rankviz.shards.cluster import OnCluster, local_cluster

TRIALS = 20
SETTINGS = {"n_components": 300, "gamma": 2.0**-4, "C": 2.0**-6, "tol": 1e-8}
WORKERS_BACK = 300.0
"""Seconds within which two workers are there again."""


def main() -> None:
    """Fit without a kill, then with one each; write results/shard_kills."""
    data = make_data(n_queries=1000, documents_per_query=(10, 60), n_features=46, seed=0)
    rng = np.random.default_rng(0)
    with local_cluster(2, 4e9) as address, OnCluster(address, shards=8) as where:
        quiet = [_fit(data, where) for _ in range(3)]
        model, seconds = quiet[-1][0], float(np.median([taken for _, taken in quiet]))
        rows = [_trial(data, where, model, float(rng.uniform(0, seconds))) for _ in range(TRIALS)]
    table = pd.DataFrame(rows)
    notes = [
        f"{data.n_documents:,} documents, Nyström m = 300, 8 shards on 2 workers, one of which is killed "
        f"(SIGKILL) after a random part of the {seconds:.1f} s that a fit takes without. {TRIALS} trials: "
        f"{int((table['status'] != 'converged').sum())} ended otherwise than converged; median "
        f"{table['seconds'].median():.1f} s, at worst {table['seconds'].max():.1f} s."
    ]
    report.write("shard_kills", "Workers killed in the middle of fits", table, notes)


def _fit(data: RankingData, where: OnCluster) -> tuple[RankSVM, float]:
    began = time.perf_counter()
    model = RankSVM("nystroem", **SETTINGS).fit_in_shards(data, where)
    return model, time.perf_counter() - began


def _trial(data: RankingData, where: OnCluster, quiet: RankSVM, moment: float) -> dict[str, object]:
    """One fit in which a worker is killed at a moment in seconds."""
    _wait_for_two(where)
    pid = where.bring(_process, where.deal([0]))[0]
    killer = threading.Timer(moment, os.kill, (pid, signal.SIGKILL))
    killer.start()
    model, seconds = _fit(data, where)
    killer.join()
    apart = np.abs(model.coef_ - quiet.coef_).max() / np.abs(quiet.coef_).max()
    return {
        "killed at, s": moment,
        "seconds": seconds,
        "objective / without, - 1": model.objective_ / quiet.objective_ - 1,
        "weights apart": apart,
        "status": model.status_.name.lower(),
    }


def _wait_for_two(where: OnCluster) -> None:
    deadline = time.monotonic() + WORKERS_BACK
    while len(where.workers) < 2:
        if time.monotonic() > deadline:
            raise RuntimeError("a killed worker did not come back")
        time.sleep(0.1)


def _process(item: int) -> int:
    return os.getpid()
