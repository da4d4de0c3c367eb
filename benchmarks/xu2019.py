"""xu2019's Tables 2, 4, 6, 7, 8 and Figure 2 beside ours; needs RANKVIZ_LETOR.

Standard features, linear; five folds; settings chosen on the validation part alone, by MAP (the paper does
not say by what), from the grids of `benchmarks.xu2019_cells`. Metrics by the definition of the collection
that a set belongs to. Table 6 and Figure 2 are in `benchmarks.xu2019_ranks`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks import report, xu2019_ranks, xu2019_sensitivity
from benchmarks.xu2019_cells import (
    CS,
    FOLDS,
    GRIDS,
    MAX_ITER,
    SETS,
    Setting,
    Settings,
    Trained,
    grid,
    trained,
)
from benchmarks.xu2019_figures import METRICS, TABLES_2_AND_4
from rankviz.metrics.significance import Comparison, compare

CRITERIA = ("MAP", "NDCG@5")
SEEDS, LONGER = 5, 5
PLAIN, SQUARED, FACTORISED, REGULARISED = GRIDS
FEW = "plain, the six C of the other two"


def main() -> None:
    if not os.environ.get("RANKVIZ_LETOR"):
        print("# RANKVIZ_LETOR is not set: xu2019's figures need the real folds")
        return
    for name in SETS:
        choices = {criterion: chosen_by(name, criterion) for criterion in CRITERIA}
        _write(name, choices)
    xu2019_sensitivity.main()
    xu2019_ranks.main()


@dataclass(frozen=True)
class Chosen:
    """The settings of one method that a fold's validation part chose, and their training."""

    settings: Settings
    trained: Trained


Choice = dict[str, list[Chosen]]
"""By method, one for each fold."""


def chosen_by(name: str, criterion: str) -> Choice:
    """Choose the settings of every method on each validation part."""
    folds = range(1, FOLDS + 1)
    found = {method: [_best(name, k, method, criterion) for k in folds] for method in GRIDS}
    found[FEW] = [_best(name, k, PLAIN, criterion, few=True) for k in folds]
    return found


def _best(name: str, fold: int, method: str, criterion: str, few: bool = False) -> Chosen:
    cells = [Chosen(*cell) for cell in grid(name, fold, method)]
    kept = [cell for cell in cells if not few or np.isclose(cell.settings["C"], CS).any()]
    return max(kept, key=lambda cell: cell.trained.vali[criterion])


def _write(name: str, choices: dict[str, Choice]) -> None:
    number = {"OHSUMED": 2, "MQ2008": 4}[name]
    by_map, stem = choices["MAP"], f"xu2019_table{number}"
    notes = [_PROTOCOL, *claims(name, by_map), statuses(name)]
    title = f"xu2019 Table {number}: {name}, mean of five test folds"
    report.write(stem, title, means(name, choices), notes)
    report.write(f"{stem}_differences", f"{name}: differences from plain RankSVM", differences(name, by_map))
    report.write(f"{stem}_chosen", f"{name}: settings chosen by validation MAP", settings(by_map))
    title = f"{name}: factorised RankSVM from {SEEDS} seeds, at the settings chosen by validation MAP"
    report.write(f"{stem}_seeds", title, seeds(name, by_map[FACTORISED]))
    title = f"{name}: settings chosen by validation MAP, trained up to {LONGER} times as long, or as printed"
    report.write(f"{stem}_longer", title, longer(name, by_map))


_PROTOCOL = (
    f"Grids: plain, {len(GRIDS[PLAIN])} C from 1e-6 to {max(cell['C'] for cell in GRIDS[PLAIN]):.3g}, with "
    "the hinge (the paper's) and with the squared hinge; factorised, K in 1, 5, 10, 20 and six C from 1e-6 "
    f"to 0.1, from one factor through the divisors of K, at most {MAX_ITER['factorised']} iterations each; "
    "regularised, the same six C, nuclear in 5, 50 and coupling·C in 1, 10, at most "
    f"{MAX_ITER['regularised']} steps. sd of folds is the spread of MAP."
)


def means(name: str, choices: dict[str, Choice]) -> pd.DataFrame:
    """Means of the five test folds beside the printed ones."""
    rows = [
        {"method": method, "figures": "xu2019", **dict(zip(METRICS, values, strict=True))}
        for method, values in TABLES_2_AND_4[name].items()
    ]
    for criterion, choice in choices.items():
        for method, folds in choice.items():
            values = _folds([one.trained for one in folds])
            rows.append(
                {"method": method, "figures": f"rankviz, chosen by {criterion}", **values.mean().round(4)}
            )
            rows[-1]["sd of folds"] = round(float(values["MAP"].std()), 4)
    order = {method: place for place, method in enumerate([*GRIDS, FEW])}
    return pd.DataFrame(rows).sort_values("method", kind="stable", key=lambda names: names.map(order))


def _folds(trainings: list[Trained]) -> pd.DataFrame:
    """Mean metrics of each test part, (5, 4)."""
    return pd.DataFrame([one.test.mean() for one in trainings])


def per_query(folds: list[Chosen]) -> pd.DataFrame:
    """Metrics of all queries, each where it is tested."""
    return pd.concat([one.trained.test for one in folds])


def compared(choice: Choice, method: str, metric: str, other: str = PLAIN) -> Comparison:
    """A method minus another, plain RankSVM by default, query by query."""
    return compare(per_query(choice[method])[metric], per_query(choice[other])[metric])


def differences(name: str, choice: Choice) -> pd.DataFrame:
    """Differences from plain RankSVM with their paired intervals, beside the printed differences."""
    rows = []
    for method in (SQUARED, FACTORISED, REGULARISED):
        for place, metric in enumerate(METRICS):
            found, printed = compared(choice, method, metric), np.nan
            if method in TABLES_2_AND_4[name]:
                printed = TABLES_2_AND_4[name][method][place] - TABLES_2_AND_4[name][PLAIN][place]
            low, high = found.interval.low, found.interval.high
            ours = {"rankviz": found.difference, "95 % low": low, "95 % high": high}
            rows.append({"method": method, "metric": metric, "printed": printed} | ours)
            rows[-1]["reading"] = _reading(found, printed)
    return pd.DataFrame(rows).round(4)


def _reading(found: Comparison, printed: float) -> str:
    word = "distinguishable" if found.distinguishable else "not distinguishable"
    if np.isnan(printed):
        return word
    inside = found.interval.low <= printed <= found.interval.high
    return f"{word}; the printed difference is {'within' if inside else 'outside'} the interval"


def claims(name: str, choice: Choice) -> list[str]:
    """Sentences on the paper's claims, and how many of its gains are ruled out."""
    told = []
    for method in (FACTORISED, REGULARISED):
        for metric in METRICS:
            told.append(f"{compared(choice, method, metric).sentence(method, PLAIN, metric)}.")
    for method in (FACTORISED, REGULARISED):
        for metric in METRICS:
            found = compared(choice, method, metric, FEW).interval
            told.append(
                f"{method} − {FEW}: {found.mean:+.4f} [{found.low:+.4f}, {found.high:+.4f}] {metric}."
            )
    table = differences(name, choice).dropna()
    better = int(((table["95 % low"] > 0) & table["reading"].str.startswith("dist")).sum())
    above = int((table["printed"] > table["95 % high"]).sum())
    told.append(
        f"Of the {len(table)} comparisons of the two methods with plain RankSVM (95 % each, not corrected "
        f"for their number) {better} show a gain; in {above} the printed gain is above our interval."
    )
    return told


def statuses(name: str) -> str:
    """How many trainings of the grids converged."""
    parts = []
    for method in GRIDS:
        runs = [run for k in range(1, FOLDS + 1) for _, run in grid(name, k, method)]
        ended = pd.Series([run.status.lower().replace("_", " ") for run in runs]).value_counts()
        how = ", ".join(f"{count} {status}" for status, count in ended.items())
        parts.append(f"{method}: {how}, {sum(run.seconds for run in runs):,.0f} s in all")
    return f"How the trainings of the grids ended (five folds). {'; '.join(parts)}."


def settings(choice: Choice) -> pd.DataFrame:
    """The settings chosen, fold by fold, and how that training ended."""
    rows = []
    for method, folds in choice.items():
        for fold, one in enumerate(folds, start=1):
            told = {key: one.settings.get(key, np.nan) for key in ("C", "rank", "nuclear", "coupling")}
            ended = {"validation MAP": one.trained.vali["MAP"], "status": one.trained.status.lower()}
            rows.append({"method": method, "fold": fold} | told | ended | {"steps": one.trained.steps})
    return pd.DataFrame(rows)


def seeds(name: str, folds: list[Chosen]) -> pd.DataFrame:
    """Five-fold means of factorised RankSVM from several starts: mean, sd of a seed, least and most."""
    runs = pd.DataFrame([_seed(name, folds, seed) for seed in range(SEEDS)])[METRICS]
    kinds = {"mean": runs.mean(), "sd of a seed": runs.std(), "least": runs.min(), "most": runs.max()}
    return pd.DataFrame(kinds).T.round(5).reset_index(names="of the seeds")


def _seed(name: str, folds: list[Chosen], seed: int) -> pd.Series:
    again = [
        trained(name, fold, FACTORISED, one.settings | {"random_state": seed})
        for fold, one in enumerate(folds, start=1)
    ]
    return _folds(again).mean()


def longer(name: str, choice: Choice) -> pd.DataFrame:
    """Whether it matters that some of the chosen trainings did not converge, and where the paper's way ends.

    That way, query by query from K drawn factors, is repeated for the factorised model, which is not convex.
    """
    rows = []
    for method in (FACTORISED, REGULARISED):
        more: dict[str, Setting] = {"max_iter": LONGER * MAX_ITER[method]}
        ways = {"as chosen": {}, "longer": more}
        if method == FACTORISED:
            ways["query by query, longer"] = more | {"solver": "query_steps"}
        for label, way in ways.items():
            runs = [
                trained(name, fold, method, one.settings | way)
                for fold, one in enumerate(choice[method], start=1)
            ]
            ended = sum(run.status in ("CERTIFIED", "STATIONARY") for run in runs)
            rows.append({"method": method, "training": label, "folds converged": ended})
            rows[-1] |= _folds(runs).mean().round(4).to_dict()
    return pd.DataFrame(rows)
