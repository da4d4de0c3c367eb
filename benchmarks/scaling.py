"""How seconds and memory of a fit grow with the documents and with m, with fitted exponents.

Synthetic documents, 46 features, 42 to a query, γ = 2^-5, C = 2^-2 as in training.py. Writes
results/scaling.csv and .md, and docs/scaling.md with its figure.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.children import REPETITIONS, Measured, side_by_side
from benchmarks.methods import Ours
from benchmarks.scaling_figure import LABELS, telling, write_page
from rankviz.datasets import RankingData, make_data
from rankviz.features import FEATURE_MAPS

C, GAMMA, PER_QUERY, N_FEATURES = 2.0**-2, 2.0**-5, 42, 46
DOCUMENTS = (10_000, 20_000, 40_000, 80_000, 160_000)
COMPONENTS = (125, 250, 500, 1000, 2000)
N_FIXED, M_FIXED = 20_000, 500
OVER_N = ("linear", "nystroem", "fourier")
OVER_M = ("nystroem", "fourier")
"""A map of its own cost joins one of these; what has no m cannot grow with it."""


def main() -> None:
    rows: list[dict[str, object]] = []
    began = time.perf_counter()
    for n in DOCUMENTS:
        print(f"# {n:,} documents, {time.perf_counter() - began:.0f} s so far", flush=True)
        rows += _measure("n", n, [Ours(kind, M_FIXED, C, GAMMA) for kind in OVER_N])
    print(f"# m at {N_FIXED:,} documents", flush=True)
    rows += _measure("m", N_FIXED, [Ours(kind, m, C, GAMMA) for m in COMPONENTS for kind in OVER_M])
    table = pd.DataFrame(rows)
    slopes = exponents(table)
    notes = [sentence(table, slopes, growing) for growing in ("n", "m")]
    notes += _failures(table)
    notes.append(
        f"Medians of {REPETITIONS} fits; over n at m = {M_FIXED}, over m at n = {N_FIXED:,} documents; "
        f"{N_FEATURES} features, {PER_QUERY} documents to a query, C = 2^-2, γ = 2^-5, seeds 0. Memory: what "
        "the first fit adds at its peak to a process that holds the data. Exponents: least squares of "
        "logarithms over all sizes."
    )
    report.write("scaling", "How a fit grows with n and m", _with_labels(table), notes)
    write_page(table, slopes, notes)


def documents(n: int) -> RankingData:
    """About n documents: whole queries only."""
    return make_data(
        n_queries=round(n / PER_QUERY),
        documents_per_query=(PER_QUERY, PER_QUERY),
        n_features=N_FEATURES,
        seed=0,
    )


def _measure(growing: str, n: int, methods: Iterable[Ours]) -> list[dict[str, object]]:
    data = documents(n)
    by_name = {method.label: method for method in methods}
    found = side_by_side(by_name, data)
    return [_row(growing, data.n_documents, by_name[name], measured) for name, measured in found.items()]


def _row(growing: str, n: int, method: Ours, measured: Measured) -> dict[str, object]:
    seconds = measured.seconds() or [np.nan]
    return {
        "growing": growing,
        "map": method.feature_map,
        "n": n,
        "m": method.m if FEATURE_MAPS[method.feature_map].has_components else N_FEATURES,
        "seconds": measured.median(),
        "min": min(seconds),
        "max": max(seconds),
        "fits": len(measured.runs),
        "features": measured.median("features"),
        "newton": measured.median("newton"),
        "memory": measured.memory / 1e6,
        "failure": measured.failure,
    }


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Slope and intercept of log2(quantity) on log2(size), for each growing size, map and quantity."""
    rows = []
    for (growing, kind), part in table.groupby(["growing", "map"], sort=False):
        for quantity in LABELS:
            kept = telling(part, quantity)
            if len(kept) < 3:
                continue
            slope, start = np.polyfit(
                np.log2(kept[growing].astype(float)), np.log2(kept[quantity].astype(float)), 1
            )
            rows.append(
                {"growing": growing, "map": kind, "quantity": quantity, "slope": slope, "start": start}
            )
    return pd.DataFrame(rows)


def sentence(table: pd.DataFrame, slopes: pd.DataFrame, growing: str) -> str:
    """The exponents over one size in words."""
    sizes = table.loc[table["growing"] == growing, growing]
    kinds = slopes.loc[slopes["growing"] == growing, "map"].unique()
    found = slopes[slopes["growing"] == growing].set_index(["map", "quantity"])["slope"]
    said = []
    for kind in kinds:
        grown = [
            f"{quantity} as {growing}^{found[kind, quantity]:.2f}"
            for quantity in ("seconds", "memory")
            if (kind, quantity) in found
        ]
        said += [f"{_name(kind)} takes {' and '.join(grown)}"] if grown else []
    return f"From {growing} = {sizes.min():,} to {sizes.max():,}, {'; '.join(said)}."


def _failures(table: pd.DataFrame) -> list[str]:
    """A sentence for each row that could not be measured to the end."""
    failed = table[table["failure"] != ""]
    return [
        f"{_name(row.map)} at n = {row.n:,}, m = {row.m:,}: {row.failure}."
        for row in failed.itertuples(index=False)
    ]


def _name(kind: str) -> str:
    return FEATURE_MAPS[kind].label if kind in FEATURE_MAPS else kind


def _with_labels(table: pd.DataFrame) -> pd.DataFrame:
    named = table.assign(map=[_name(kind) for kind in table["map"]], growing=table["growing"] + " grows")
    named = named.drop(columns="failure")
    heads = {
        "growing": "",
        "map": "map",
        "features": "features s",
        "newton": "Newton s",
        "memory": "peak MB",
    }
    return named.rename(columns=heads)
