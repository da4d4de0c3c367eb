"""xu2019's Tables 7 and 8, what K, γ and λ do on OHSUMED fold 1, beside ours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.xu2019_cells import Trained, fold_of, grid, trained
from benchmarks.xu2019_figures import COUPLING, METRICS, TABLE_7, TABLE_8
from rankviz.features.maps import FittedLinear
from rankviz.metrics.significance import compare
from rankviz.models.low_rank.cells import Cells
from rankviz.models.low_rank.gram import FeatureGram, pair_curvature

SET, FOLD = "OHSUMED", 1
PAPERS_C = {"factorised": 0.1, "regularised": 1.0}
"""Values of the paper's range, 0.1 to 10: its least for K, as larger ones do not converge; 1 for γ and λ."""

CONVERGES = 1e-3
"""Largest C of the grid at which factorised RankSVM ends at a stationary point of this fold for every K."""


def main() -> None:
    report.write("xu2019_table7", "xu2019 Table 7: K in factorised RankSVM, OHSUMED fold 1", *table_7())
    report.write(
        "xu2019_table8", "xu2019 Table 8: γ and λ in regularised RankSVM, OHSUMED fold 1", *table_8()
    )


def chosen_C(method: str) -> float:
    """C of the cell of the method's grid with the largest validation MAP."""
    settings, _ = max(grid(SET, FOLD, method), key=lambda cell: cell[1].vali["MAP"])
    return settings["C"]


def largest_claim(runs: dict[str, Trained], metric: str = "MAP") -> str:
    """Whether the best and the worst of several trainings differ by more than the test queries' chance."""
    order = sorted(runs, key=lambda name: runs[name].test[metric].mean())
    best, worst = order[-1], order[0]
    found = compare(runs[best].test[metric], runs[worst].test[metric])
    return f"{found.sentence(best, worst, metric)} (the extremes of {len(runs)}, not corrected for that)."


def table_7() -> tuple[pd.DataFrame, list[str]]:
    """Metrics by K at the C that validation chose, at one that converges, and at the paper's least."""
    rows, notes = [], []
    for label, C in (
        ("C by validation", chosen_C("factorised")),
        ("a C that converges", CONVERGES),
        ("C of its range", PAPERS_C["factorised"]),
    ):
        runs = {f"K = {K}": _trained("factorised", {"rank": K, "C": C}) for K in TABLE_7}
        for K, run in zip(TABLE_7, runs.values(), strict=True):
            rows.append(
                _row(f"{label}, {C:g}", K, run.test.mean().to_numpy()) | {"status": run.status.lower()}
            )
        notes += [f"At C = {C:g}: {largest_claim(runs, metric)}" for metric in METRICS]
    rows = [_row("xu2019", K, values) for K, values in TABLE_7.items()] + rows
    return pd.DataFrame(rows).fillna("–"), notes


def _row(figures: str, K: int, values: object) -> dict[str, object]:
    return {"figures": figures, "K": K} | dict(zip(METRICS, np.round(values, 4), strict=True))


def table_8() -> tuple[pd.DataFrame, list[str]]:
    """MAP by γ and λ at the C that validation chose, at one of the paper's range, and by γ and λ·C."""
    parts = [_grid("xu2019", {(g, c): value for g, row in TABLE_8.items() for c, value in _by_coupling(row)})]
    notes, best = [_curvature()], chosen_C("regularised")
    for label, C, unit in (
        ("C by validation", best, 1.0),
        ("C of its range", PAPERS_C["regularised"], 1.0),
        ("C by validation, columns λ·C", best, best),
    ):
        runs = {
            (g, c): _trained("regularised", {"C": C, "nuclear": g, "coupling": c / unit}) for g, c in _CELLS
        }
        parts.append(_grid(f"{label}, {C:g}", {cell: run.test["MAP"].mean() for cell, run in runs.items()}))
        notes += _told(C, unit, runs)
    return pd.concat(parts), notes


_CELLS = [(g, c) for g in TABLE_8 for c in COUPLING]


def _by_coupling(row: tuple[float, ...]) -> zip[tuple[float, float]]:
    return zip(COUPLING, row, strict=True)


def _grid(label: str, values: dict[tuple[float, float], float]) -> pd.DataFrame:
    rows = [
        {"figures": label, "γ": g} | {f"λ = {c:g}": round(float(values[g, c]), 4) for c in COUPLING}
        for g in TABLE_8
    ]
    return pd.DataFrame(rows)


def _told(C: float, unit: float, runs: dict[tuple[float, float], Trained]) -> list[str]:
    """How far a table goes, whether its trend is the printed one, and how its trainings ended."""
    values = pd.Series({cell: run.test["MAP"].mean() for cell, run in runs.items()})
    printed = pd.Series({(g, c): value for g, row in TABLE_8.items() for c, value in _by_coupling(row)})
    plain = trained(SET, FOLD, "plain", {"C": C}).test["MAP"].mean()
    means = ", ".join(f"{value:.4f}" for value in values.groupby(level=1).mean())
    theirs = ", ".join(f"{value:.4f}" for value in printed.groupby(level=1).mean())
    done = sum(run.status == "CERTIFIED" for run in runs.values())
    named = {f"γ = {g:g}, λ = {c:g}": run for (g, c), run in runs.items()}
    return [
        f"At C = {C:g}: MAP from {values.min():.4f} to {values.max():.4f}, plain RankSVM {plain:.4f}; "
        f"printed from {printed.min():.4f} to {printed.max():.4f}. By λ, mean over γ: {means}; printed "
        f"{theirs}. λ·C is at most {max(COUPLING) * C / unit:g}. {done} of {len(runs)} trainings converged.",
        largest_claim(named),
    ]


def _trained(method: str, settings: dict[str, float]) -> Trained:
    return trained(SET, FOLD, method, settings)


def _curvature() -> str:
    """λ_max(M) of the fold, beside which the paper's λ is small."""
    train = fold_of(SET, FOLD).train
    gram = FeatureGram(FittedLinear(train.n_features).operator(train.X))
    largest = pair_curvature(gram, Cells(train.y, train.ptr))
    return (
        f"M's largest eigenvalue is about {largest:.2g} and its rank at most {train.n_features}, beside "
        f"2λ ≤ {2 * max(COUPLING):g}. With A = 0 the penalty is λ·Σα², so at its best A it is at most λ·C·Σα."
    )
