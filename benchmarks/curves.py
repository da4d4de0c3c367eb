"""Many fits together against the same fits one by one: 42,000 synthetic documents, training only.

The curve over m is set against its last and costliest point alone; a path over C and a grid over γ against
their separate fits. All are measured in one process, one after the other in each round, so that the load of
the machine is about the same for all; medians of rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd

from benchmarks.report import write
from rankviz import RankSVM, fit_curve
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data

GRID = (25, 50, 100, 200, 500, 1000, 2000)
CS = tuple(2.0**k for k in range(-5, 2))
GAMMAS = tuple(2.0**k for k in range(-8, -2, 2))
SETTINGS = {"gamma": 2.0**-5, "C": 2.0**-2}
NARROW = 500
"""m of the path over C and of the grid over γ."""
ROUNDS = 5

Work = Callable[[], object]

CURVE = f"curve, m = {GRID[0]} to {GRID[-1]}, against m = {GRID[-1]} alone"
PATH = f"path over {len(CS)} values of C, m = {NARROW}, against separate fits"
PLANE = f"grid over {len(GAMMAS)} values of γ, m = {NARROW}, against separate fits"


def main() -> None:
    data = make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)
    rounds = [row for _ in range(ROUNDS) for name in ("nystroem", "fourier") for row in _round(name, data)]
    table = rows_of(rounds)
    sizes = f"{data.n_documents:,} documents in {data.n_queries:,} queries, {data.n_features} features"
    write("curves", "Fits that share features and starts", table, [f"{sizes}; medians of {ROUNDS} rounds."])


def rows_of(rounds: list[dict[str, object]]) -> pd.DataFrame:
    """Medians over rounds, the ratio from pairs of the same round."""
    table = pd.DataFrame(rounds)
    table["ratio"] = table["together, s"] / table["alone, s"]
    return table.groupby(["map", "what"], sort=False).median().reset_index()


def _round(name: str, data: RankingData) -> list[dict[str, object]]:
    wide, narrow = (RankSVM(name, n_components=m, **SETTINGS) for m in (GRID[-1], NARROW))
    pairs = {
        CURVE: (lambda: _fit(wide, data), lambda: list(fit_curve(wide, data, n_components=GRID))),
        PATH: (lambda: [_fit(narrow, data, C=C) for C in CS], lambda: list(fit_curve(narrow, data, C=CS))),
        PLANE: (
            lambda: [_fit(narrow, data, gamma=gamma) for gamma in GAMMAS],
            lambda: list(fit_curve(narrow, data, gamma=GAMMAS)),
        ),
    }
    return [_row(name, what, *works) for what, works in pairs.items()]


def _row(
    name: str, what: str, alone: Callable[[], object], together: Callable[[], object]
) -> dict[str, object]:
    measured = {"map": name, "what": what}
    return measured | _measured("alone", alone) | _measured("together", together)


def _fit(model: RankSVM, data: RankingData, **settings: float) -> RankSVM:
    return RankSVM(**model.get_params() | settings).fit_data(data)


def _measured(name: str, work: Work) -> dict[str, float]:
    reset_peak_memory()
    began = time.perf_counter()
    work()
    return {f"{name}, s": time.perf_counter() - began, f"{name}, peak GB": peak_memory() / 1e9}
