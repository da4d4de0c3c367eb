"""Rankers of the tables on five folds, linear, C chosen on validation, beside LETOR's official rows.

Run: python -m benchmarks.rankers --letor FOLDER --baselines FOLDER. It writes docs/rankers.md. The folder of
baselines has letor3_all.csv and letor4_all.csv: dataset, algorithm, split, fold, metric and value.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from rankviz import RankSVM, fit_curve
from rankviz.datasets import load_fold
from rankviz.learning.losses import EVERY_LOSS
from rankviz.metrics import evaluate

SETS = {"OHSUMED": ("letor3", "letor3_all.csv"), "MQ2008": ("letor", "letor4_all.csv")}
GRID = tuple(2.0**k for k in range(-24, 7, 2))
UNPENALISED = (2.0**14,)
METHODS = {
    "Regression": ("least_squares", UNPENALISED, "Regression"),
    "Ridge": ("least_squares", GRID, "Regression-Reg"),
    "Logistic on relevance": ("logistic_relevance", GRID, ""),
    "RankSVM (squared hinge)": ("squared_hinge", GRID, "RankSVM"),
    "RankNet": ("ranknet", GRID, ""),
    "RankRLS": ("rankrls", GRID, ""),
    "CRR": ("crr", GRID, ""),
    "ListNet": ("listnet", GRID, "ListNet"),
}
"""Name -> loss, values of C, and LETOR's name of the method."""

OTHER_NAMES = {("MQ2008", "RankSVM"): "RankSVM-Struct", ("MQ2008", "ListNet"): "ListNet(francelabs copy)"}
"""LETOR's names that differ by set."""

ALPHAS = (0.1, 0.25, 0.5, 0.75, 0.9)
METRICS = ("NDCG@10", "MAP")
DOCUMENT = Path("docs/rankers.md")
TEXT = """# Rankers of the tables

Each method minimises ½‖w‖² + C·loss on the same linear features, normalised by query as LETOR has them. C,
and α of CRR, have the best MAP on the validation part. Figures are means over the test parts of five folds,
by LETOR 3.0's definitions for OHSUMED and 4.0's for MQ2008, which keep the order of the file for ties.
"Official" is the mean of LETOR's own rows; ± is the standard error of the difference over the five
folds. Seconds are those of all fits of a fold, for all values of C. `python -m benchmarks.rankers` writes the
tables.

"""


def fold_row(root: Path, name: str, fold: int, method: str) -> dict[str, object]:
    """Return the test metrics of a method on one fold, with C chosen on validation."""
    loss, Cs, _ = METHODS[method]
    data, definition = load_fold(root / name, fold), SETS[name][0]
    best, began = (-1.0, None), time.perf_counter()
    for alpha in ALPHAS if loss == "crr" else (0.5,):
        chosen = {"alpha": alpha} if loss == "crr" else {}
        for model in fit_curve(RankSVM(loss=loss, **chosen), data.train, C=Cs):
            value = evaluate(model.predict(data.vali.X), data.vali, definition).mean["MAP"]
            best = max(best, (float(value), model), key=lambda one: one[0])
    seconds, model = time.perf_counter() - began, best[1]
    assert model is not None
    means = evaluate(model.predict(data.test.X), data.test, definition).mean
    found = {metric: float(means[metric]) for metric in METRICS}
    return {"set": name, "method": method, "fold": fold, "C": np.log2(model.C), "alpha": model.alpha} | (
        found | {"seconds": seconds}
    )


def official(folder: Path, name: str, method: str, metric: str) -> np.ndarray | None:
    """Return LETOR's figures of a method on the five test parts; None without a row."""
    table = pd.read_csv(folder / SETS[name][1])
    theirs = OTHER_NAMES.get((name, METHODS[method][2]), METHODS[method][2])
    rows = table[(table["dataset"] == name) & (table["algorithm"] == theirs) & (table["split"] == "test")]
    folds = [f"Fold{k}" for k in range(1, 6)]
    values = rows[rows["metric"] == metric].set_index("fold")["value"].reindex(folds)
    return None if values.isna().any() else values.to_numpy(float)


def markdown(table: pd.DataFrame, folder: Path, name: str) -> str:
    """Return the table of a set, one row per method."""
    head = ["method", "kind"]
    for metric in METRICS:
        head += [f"test {metric}", "official", "difference"]
    lines = [f"## {name}", "", f"| {' | '.join([*head, 'log₂ C', 'seconds'])} |", "|---" * 10 + "|"]
    for method, (loss, *_) in METHODS.items():
        rows = table[(table["set"] == name) & (table["method"] == method)].sort_values("fold")
        cells = [method, EVERY_LOSS[loss].family]
        for metric in METRICS:
            ours, theirs = rows[metric].to_numpy(float), official(folder, name, method, metric)
            cells += (
                [f"{ours.mean():.4f}", "–", "–"]
                if theirs is None
                else [
                    f"{ours.mean():.4f}",
                    f"{theirs.mean():.4f}",
                    f"{(ours - theirs).mean():+.4f} ± {(ours - theirs).std(ddof=1) / 5**0.5:.4f}",
                ]
            )
        cells += [", ".join(f"{c:g}" for c in rows["C"]), f"{rows['seconds'].mean():.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the tables before the first paragraph of findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--letor", type=Path, default=Path(os.environ.get("RANKVIZ_LETOR", ".")))
    parser.add_argument("--baselines", type=Path, required=True)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # unpenalised fits of constant features need not end
    rows = [
        fold_row(chosen.letor, name, fold, method)
        for name in SETS
        for method in METHODS
        for fold in range(1, 6)
    ]
    table = pd.DataFrame(rows)
    print(table.to_string())
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    findings = old[old.index("## Findings") :] if "## Findings" in old else ""
    tables = [markdown(table, chosen.baselines, name) for name in SETS]
    DOCUMENT.write_text(TEXT + "\n".join([*tables, findings]), encoding="utf-8")


if __name__ == "__main__":
    main()
