"""chen2017's grid of C and γ on OHSUMED and MQ2008: hours, what is chosen, whether kernels beat linear.

Nyström and random Fourier, m = 500, five folds, C = 2^-12 … 2^6 and γ = 2^-12 … 2^2: 5,700 runs, and the
linear model with the same C, and with smaller ones too. Worker processes make them in a run store; settings
are chosen on validation parts, and what was chosen is compared on the test parts, query by query. Needs
RANKVIZ_LETOR.

`python -m benchmarks.grid --store FILE` keeps the store, and a second start makes only what is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from benchmarks import grid_figure, grid_sharing, report
from benchmarks.grid_choices import (
    CRITERIA,
    METRICS,
    Outcome,
    Tried,
    best_cells,
    differences,
    outcomes,
    printed_beside,
    test_table,
    verdicts,
)
from benchmarks.grid_studies import grids, make, note_start
from benchmarks.settings import FOURIER, NYSTROEM, PRIMAL
from rankviz.analysis.comparing.comparison import LEVEL
from rankviz.store import RunStore
from rankviz.store.database import ENVIRONMENT

WORKERS = 2
TABLE_4 = {
    "RankSVM-Primal (linear), chen2017": PRIMAL,
    "RankNyström, chen2017": NYSTROEM,
    "RankRandomFourier, chen2017": FOURIER,
}
_KEPT = ("fold", "feature_map", "gamma", "C", "seconds")


def main(arguments: Sequence[str] = ()) -> None:
    """Make what is missing, choose, compare, and measure what was shared."""
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("# RANKVIZ_LETOR is not set: the grid is one of the real folds")
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid")
    parser.add_argument("--store", type=Path, help="the file of the run store, which is kept")
    kept = parser.parse_args(list(arguments)).store
    with ExitStack() as stack:
        path = kept or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "grid.sqlite"
        os.environ[ENVIRONMENT] = str(path)  # the workers' store
        store = RunStore(path)
        stack.callback(store.close)
        wanted = grids(Path(root))
        made = make(store, wanted, Path(root), WORKERS)
        starts = note_start(path.with_suffix(".starts.csv"), made)
        tried = [Tried(store, grid) for grid in wanted]
        tell_choices(tried)
        kernels = [grid for grid in wanted if grid.kernel]
        tell_hours(starts, grid_sharing.measured(kernels, Path(root)))


def tell_choices(tried: Sequence[Tried]) -> None:
    """Write all tables of what was chosen, the figure, and every run."""
    sets = list(dict.fromkeys(one.grid.dataset for one in tried))
    found = [one for name in sets for one in outcomes([t for t in tried if t.grid.dataset == name])]
    notes = ["Means over the test queries of all folds, with 95 % bootstrap intervals over queries."]
    title = "chen2017's grid: what validation chooses, and its test parts"
    report.write("grid", title, test_table(found), notes)
    _write_differences(differences(found))
    _write_best(tried)
    _write_printed([one for one in found if one.dataset == "OHSUMED"])
    every = pd.concat([runs(one) for one in tried])
    report.write_csv("grid_runs", every[~every.index.duplicated()], digits=4)
    grid_figure.draw([one for one in tried if one.grid.kernel], CRITERIA[0])


def _write_differences(table: pd.DataFrame) -> None:
    title = "chen2017's grid: kernel minus linear on the test parts"
    notes = [
        "Each model has the choice of the same way. Paired randomisation and Wilcoxon tests over queries. "
        "Holm: over the kernels and metrics of one choice; of all: over all choices, sets, kernels and "
        "metrics against that linear model."
    ]
    report.write("grid_differences", title, table, notes)
    title = f"chen2017's grid: how many differences hold (adjusted p ≤ {LEVEL:g})"
    report.write("grid_verdicts", title, verdicts(table), notes)


def _write_best(tried: Sequence[Tried]) -> None:
    rows, notes = [], []
    for kernel in (one for one in tried if one.grid.kernel):
        same = (one for one in tried if one.grid.dataset == kernel.grid.dataset and not one.grid.kernel)
        for one in (chosen for linear in same for chosen in best_cells(kernel, linear)):
            own = one.table.set_index("label").loc[one.label]
            row = {"set": kernel.grid.dataset, "metric": one.metric, "queries": one.queries}
            row |= {"best cell": one.label, "of cells": len(one.table), "against": one.baseline}
            rows.append(row | own[["mean", "difference", "p", "p_chosen"]].round(4).to_dict())
            notes.append(f"{kernel.grid.dataset}: {one.sentence()}.")
    title = "chen2017's grid: the best cell on the validation parts, with the choice counted"
    report.write("grid_validation", title, pd.DataFrame(rows), notes)


def _write_printed(found: Sequence[Outcome]) -> None:
    notes = [
        "Means of the five test folds of OHSUMED. chen2017 says neither by which metric its settings were "
        "chosen nor whether for all folds or for each; its kernel rows have m = 500 as ours. The linear "
        "model has the C of the grid, or smaller ones too (from 2^-20)."
    ]
    report.write("grid_table4", "chen2017 Table 4 beside ours", printed_beside(found, TABLE_4), notes)


def runs(one: Tried) -> pd.DataFrame:
    """Every run of a grid: settings, training seconds, means on the validation and the test part."""
    metrics = [f"{part}:{metric}" for part in ("vali", "test") for metric in METRICS]
    told = one.table.reindex(columns=[*_KEPT, *metrics])
    return told.assign(dataset=one.grid.dataset)[["dataset", *told.columns]]


def tell_hours(starts: pd.DataFrame, shared: pd.DataFrame) -> None:
    """Write what the grid took and what sharing saved."""
    total = starts.sum()
    alone, together = shared["each alone, s"].sum(), shared["together, s"].sum()
    loads = f"load {starts['load_before'].iloc[0]:.1f} before, {starts['load_after'].iloc[-1]:.1f} at the end"
    notes = [
        f"{int(total['runs']):,} runs by {WORKERS} worker processes of one thread each, from asking to the "
        f"last record in the store, in {len(starts)} start(s): {total['wall_seconds'] / 3600:.3f} h of the "
        f"clock, {total['cpu_seconds'] / 3600:.3f} h of processors ({loads}).",
        f"The sample: the first fold at one of {grid_sharing.STEP} γ, all C, one process of one thread, "
        f"processor seconds, medians of {grid_sharing.ROUNDS} rounds by turns. Each alone: training and "
        "evaluation of one run after the other with the fold open, which shares nothing. Together: as one "
        f"family. {alone:.1f} s against {together:.1f} s: alone takes {alone / together:.2f} times as long. "
        "The hours of the grid are these seconds times its runs over the sample's: that other folds and γ "
        "take as long is assumed, not measured.",
    ]
    report.write("grid_sharing", "chen2017's grid: hours, and what sharing saved", shared, notes)


if __name__ == "__main__":
    main(sys.argv[1:])
