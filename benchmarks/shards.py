"""Fits in shards beside `fit`, which plans its shards itself: seconds, peak memory, a Dask cluster's cost.

Synthetic documents like those of MSLR-WEB30K: 136 features, 120 documents to a query, its shares of grades.
They are written to a file once and mapped, so that no way holds a copy. Every fit has its own process, and
the ways take turns, on about 42,000 and 420,000 documents and the whole size.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.children import Child, ChildError
from benchmarks.report import timed
from rankviz import RankSVM
from rankviz.common.memory import free_memory, peak_memory
from rankviz.datasets import RankingData
from rankviz.shards.backend import HERE, place_of

QUERIES = {351: 3, 3_513: 2, 31_531: 1}
"""Sizes, and how often each is measured."""
N_FEATURES, FACTORS, BLOCK = 136, 4, 1000
SHARES = (0.516, 0.324, 0.134, 0.019, 0.007)
"""Shares of grades 0 … 4 in MSLR-WEB30K."""
MAPS: dict[str, dict[str, Any]] = {
    "linear": {"feature_map": "linear", "C": 2.0**-11},
    "Nyström, m = 500": {"feature_map": "nystroem", "n_components": 500, "gamma": 2.0**-6, "C": 2.0**-11},
}
WIDE: dict[str, dict[str, Any]] = {
    "Nyström, m = 2,000": {"feature_map": "nystroem", "n_components": 2000, "gamma": 2.0**-6, "C": 2.0**-11}
}
"""Fits that take long at size: each once, by threads of this process."""
WAYS = ("fit", HERE, "local:1", "local:2")


def write_documents(folder: Path, n_queries: int, seed: int = 0) -> None:
    """Documents of so many queries, written block by block: X.bin, and y and ptr as npy."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(60, 181, n_queries)
    ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    mixing, direction = rng.normal(size=(FACTORS, N_FEATURES)), rng.normal(size=N_FEATURES)
    latent = np.empty(ptr[-1])
    with open(folder / "X.bin", "wb") as file:
        for first in range(0, n_queries, BLOCK):
            own = ptr[first : first + BLOCK + 1]
            n = int(own[-1] - own[0])
            X = rng.normal(size=(n, FACTORS)) @ mixing + 0.7 * rng.normal(size=(n, N_FEATURES))
            starts, sizes = own[:-1] - own[0], np.diff(own)
            low, high = np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts)
            X = (X - low.repeat(sizes, axis=0)) / (high - low).repeat(sizes, axis=0)
            found = X @ direction
            latent[own[0] : own[-1]] = (found - found.mean()) / found.std() + rng.normal(size=n)
            file.write(X.tobytes())
    grades = np.searchsorted(np.quantile(latent, np.cumsum(SHARES)[:-1]), latent)
    np.save(folder / "y.npy", grades.astype(np.int64))
    np.save(folder / "ptr.npy", ptr)


def open_documents(folder: Path) -> RankingData:
    """The documents, X mapped from its file."""
    ptr, y = np.load(folder / "ptr.npy"), np.load(folder / "y.npy")
    X = np.memmap(folder / "X.bin", np.float64, "r", shape=(len(y), N_FEATURES))
    return RankingData(X, y, ptr, np.arange(len(ptr) - 1), name="synthetic")


def fit(folder: Path, settings: dict[str, Any], way: str) -> dict[str, Any]:
    """Fit once; return the measurements."""
    data, model = open_documents(folder), RankSVM(**settings)
    with ExitStack() as stack:
        where = None if way == "fit" else stack.enter_context(place_of(way))
        work = model.fit_data if where is None else partial(model.fit_in_shards, where=where)
        model, took = timed(lambda: work(data))
    found = {"seconds": took, "features, s": model.seconds_["features"]}
    found["newton, s"] = model.seconds_["newton"] + model.seconds_.get("start", 0.0)
    found |= {"products": model.trace_["products"].sum(), "peak GB": peak_memory() / 1e9}
    return found | {
        "objective": model.objective_,
        "status": model.status_.name.lower(),
        "plan": model.memory_plan_,
    }


def measured(folder: Path, settings: dict[str, Any], way: str) -> dict[str, Any]:
    """Fit once in a new process; return the measurements, or what went wrong."""
    with Child() as child:
        try:
            found: dict[str, Any] = child.ask(fit, folder, settings, way, seconds=None)
        except ChildError as error:
            found = {"status": str(error)}
    return found


def main() -> None:
    """Measure every size, map and way; write results/shards."""
    rows = []
    for n_queries, times in QUERIES.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_documents(folder, n_queries)
            cases = [(name, way) for name in MAPS for _ in range(times) for way in WAYS]
            for name, way in [*cases, *((name, HERE) for name in WIDE)]:
                about = {"documents": len(np.load(folder / "y.npy")), "map": name, "where": way}
                rows.append(about | measured(folder, (MAPS | WIDE)[name], way))
                print(rows[-1], flush=True)
    about = ["documents", "map", "where"]
    fits = pd.DataFrame(rows).groupby(about, sort=False)
    table = fits.median(numeric_only=True).join(fits[["status", "plan"]].last()).reset_index()
    notes = [
        f"{N_FEATURES} features mapped from a file, 60 to 180 documents to a query, grades in the shares of "
        f"MSLR-WEB30K, C = 2^-11, γ = 2^-6; medians, m = 2,000 once. {free_memory() / 1e9:.0f} GB free at "
        "the end. local:1 and local:2 are one and two worker processes of a Dask cluster on this machine, "
        "whose memory is not in the peak. Peak: of the process, file pages among them."
    ]
    report.write("shards", "Fits in shards", table, notes)
