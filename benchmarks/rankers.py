"""Rankers of the tables on five folds, beside LETOR's official rows and beside linear RankSVM.

Run: python -m benchmarks.rankers --letor FOLDER --baselines FOLDER [--kept FILE]. It writes docs/rankers.md.
The folder of baselines has letor3_all.csv and letor4_all.csv: dataset, algorithm, split, fold, metric and
value. The file keeps results per query; methods that it has are not trained again.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from rankviz import (
    MART,
    AdaRankMAP,
    AdaRankNDCG,
    ApproxNDCG,
    CoordinateAscent,
    Fold,
    FRank,
    HiddenLayer,
    LambdaLoss,
    LambdaMART,
    LambdaRank,
    RandomForest,
    RankBoost,
    RankSVM,
    SmoothRank,
    XGBoostRanker,
    fit_curve,
)
from rankviz.common.numbers import power_of_two, with_minus
from rankviz.datasets import load_fold
from rankviz.metrics import evaluate
from rankviz.metrics.definitions import DEFINITIONS
from rankviz.metrics.paired_tests import holm, paired_tests
from rankviz.metrics.significance import Interval, compare
from rankviz.models.ranker import Ranker
from rankviz.models.rounds import RoundRanker

SETS = {"OHSUMED": ("letor3", "letor3_all.csv"), "MQ2008": ("letor", "letor4_all.csv")}
GRID = tuple(2.0**k for k in range(-24, 7, 2))
UNPENALISED = (2.0**14,)
LISTS = tuple(2.0**k for k in range(-9, 10, 3))
REWEIGHTED = tuple(2.0**k for k in range(-15, 6, 5))
"""Values of C for losses of at most 1 per query, and for LambdaRank's weights."""


@dataclass(frozen=True)
class Entry:
    """A method of the table.

    Attributes
    ----------
    model : Ranker
        Unfitted.
    kind : str
        Its family.
    grid : mapping
        Values of its parameters to choose from on the validation part.
    official : str
        LETOR's name of the method; "" without a row.
    """

    model: Ranker
    kind: str
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: {"C": GRID})
    official: str = ""


RANKSVM = "RankSVM (squared hinge)"
TREES = {"leaves": (4, 10), "leaf_documents": (50,)}
METHODS = {
    "Regression": Entry(RankSVM(loss="least_squares"), "pointwise", {"C": UNPENALISED}, "Regression"),
    "Ridge": Entry(RankSVM(loss="least_squares"), "pointwise", official="Regression-Reg"),
    "Logistic on relevance": Entry(RankSVM(loss="logistic_relevance"), "pointwise"),
    "Ordinal thresholds": Entry(RankSVM(loss="ordinal"), "pointwise"),
    RANKSVM: Entry(RankSVM(), "pairwise", official="RankSVM"),
    "RankNet": Entry(RankSVM(loss="ranknet"), "pairwise"),
    "RankRLS": Entry(RankSVM(loss="rankrls"), "pairwise"),
    "CRR": Entry(
        RankSVM(loss="crr"), "pointwise and pairwise", {"C": GRID, "alpha": (0.1, 0.25, 0.5, 0.75, 0.9)}
    ),
    "ListNet": Entry(RankSVM(loss="listnet"), "listwise", official="ListNet"),
    "LambdaRank": Entry(LambdaRank(), "listwise", {"C": REWEIGHTED}),
    "LambdaLoss": Entry(LambdaLoss(), "listwise", {"C": REWEIGHTED}),
    "ApproxNDCG": Entry(ApproxNDCG(), "listwise", {"C": LISTS}),
    "SmoothRank": Entry(SmoothRank(starts=1), "listwise", {"C": LISTS}, "SmoothRank"),
    "Hidden layer": Entry(
        HiddenLayer(n_components=50, gamma=0.125, starts=1),
        "pairwise",
        {"C": tuple(2.0**k for k in range(-15, 1, 3))},
    ),
    "LambdaMART": Entry(LambdaMART(), "boosting", TREES),
    "MART": Entry(MART(), "boosting", TREES),
    "Random forest": Entry(RandomForest(), "pointwise", {"leaf_documents": (5, 20)}),
    "LambdaMART (XGBoost)": Entry(XGBoostRanker(), "boosting", {"leaves": (4, 10)}),
    "RankBoost": Entry(RankBoost(), "boosting", {}, "RankBoost"),
    "FRank": Entry(FRank(), "boosting", {}, "FRank"),
    "AdaRank-NDCG": Entry(AdaRankNDCG(), "boosting", {}, "AdaRank-NDCG"),
    "AdaRank-MAP": Entry(AdaRankMAP(), "boosting", {}, "AdaRank-MAP"),
    "Coordinate ascent": Entry(CoordinateAscent(n_rounds=12, patience=4), "listwise", {}),
    "SVM-MAP": Entry(
        RankSVM(loss="svmmap", solver="cutting_planes", tol=1e-3),
        "listwise",
        {"C": tuple(2.0**k for k in range(-6, 7, 3))},
        "SVMMAP",
    ),
}
"""Methods of the first tables."""

OTHER_NAMES = {("MQ2008", "RankSVM"): "RankSVM-Struct", ("MQ2008", "ListNet"): "ListNet(francelabs copy)"}
"""LETOR's names that differ by set."""

WIDE: dict[str, Any] = {"gamma": (2.0**-6, 2.0**-3), "C": tuple(2.0**k for k in range(-16, 3, 3))}
POINTS = {"gamma": WIDE["gamma"], "C": tuple(2.0**k for k in range(-9, 10, 3))}
KERNEL = {
    "Nyström RankSVM": Entry(RankSVM("nystroem", 500), "pairwise", WIDE),
    "Nyström ListNet": Entry(RankSVM("nystroem", 500, loss="listnet"), "listwise", POINTS),
    "Nyström RankRLS": Entry(RankSVM("nystroem", 500, loss="rankrls"), "pairwise", WIDE),
    "Nyström CRR": Entry(RankSVM("nystroem", 500, loss="crr"), "pointwise and pairwise", WIDE),
    "Nyström ApproxNDCG": Entry(ApproxNDCG("nystroem", 500, starts=1), "listwise", POINTS),
    "LambdaMART": METHODS["LambdaMART"],
}
"""Methods with m = 500 Nyström features of the RBF kernel, and trees."""

FOLDS = range(1, 6)
METRICS = ("NDCG@10", "MAP")
BY_FILE = " by file"
"""Columns with equal scores in the order of the file, as in LETOR's own figures."""
CUTOFFS = ("NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "MAP")
DOCUMENT = Path("docs/rankers.md")
TEXT = """# Rankers of the tables

Linear methods minimise ½‖w‖² + C·loss on the same features, normalised by query as LETOR has them. Trees and
the hidden layer read these features too. Settings have the best MAP on the validation part. Figures are means
over the test parts of five folds, by LETOR 3.0's definitions for OHSUMED and 4.0's for MQ2008, with equal
scores at the mean over their orders. "Official" is the mean of LETOR's own rows. For the difference to it,
equal scores keep the order of the file, as in LETOR's rows; ± is its standard error over the five folds. The
difference to RankSVM is paired over the queries of all folds, with a 95 % interval that is not corrected for
several comparisons. Settings are those of the folds; seconds are those of all fits of a fold, on a machine
that did other work too. `python -m benchmarks.rankers` writes the tables.

"""
KERNEL_TEXT = """## Pairs or lists, kernels or trees

All methods but the trees have m = 500 Nyström features of the RBF kernel. γ and C, and the leaves of the
trees, have the best MAP on the validation part. A cell has the mean difference to RankSVM with these features
over the queries of all folds, its 95 % interval, and the p-value of a paired randomisation test, corrected by
Holm for all comparisons of a set.

"""


def models(entry: Entry, fold: Fold) -> Iterator[Ranker]:
    """Yield the models of a grid; those of one RankSVM that differ in C share their features."""
    together = isinstance(entry.model, RankSVM)
    apart = {name: values for name, values in entry.grid.items() if not (together and name == "C")}
    for values in product(*apart.values()):
        model = clone(entry.model).set_params(**dict(zip(apart, values, strict=True)))
        if isinstance(model, RankSVM):
            yield from fit_curve(model, fold.train, C=entry.grid["C"])
        else:
            yield model.fit_watching(fold.train, fold.vali)


def chosen(entry: Entry, name: str, fold: Fold) -> pd.DataFrame:
    """Return the test metrics per query of the model with the best MAP on the validation part."""
    definition = replace(DEFINITIONS[SETS[name][0]], ties="mean")
    best, value, began = None, -1.0, time.perf_counter()
    for model in models(entry, fold):
        found = float(evaluate(model.predict(fold.vali.X), fold.vali, definition).mean["MAP"])
        if found > value:
            best, value = model, found
    seconds = time.perf_counter() - began
    assert best is not None
    own = best.get_params()
    settings = ", ".join(f"{p} {_short(own[p])}" for p, values in entry.grid.items() if len(values) > 1)
    scores = best.predict(fold.test.X)
    table = evaluate(scores, fold.test, definition).per_query[list(CUTOFFS)]
    by_file = evaluate(scores, fold.test, SETS[name][0]).per_query[list(METRICS)].add_suffix(BY_FILE)
    table = table.join(by_file).assign(seconds=seconds, settings=settings)
    return table.rename_axis("query").reset_index()


def _short(value: Any) -> str:
    """Write a power of two as one, other numbers in digits."""
    exact = isinstance(value, float) and math.log2(value).is_integer()
    return power_of_two(value) if exact else f"{value:g}"


def measured(
    name: str, root: Path, kept: pd.DataFrame, file: Path | None, folds: Sequence[int] = FOLDS
) -> pd.DataFrame:
    """Return rows per query of all methods on a set; train those that are not kept, the slow trees last."""
    entries = sorted((METHODS | KERNEL).items(), key=lambda one: isinstance(one[1].model, RoundRanker))
    for (method, entry), fold in product(entries, folds):
        if ((kept["set"] == name) & (kept["method"] == method) & (kept["fold"] == fold)).any():
            continue
        rows = chosen(entry, name, load_fold(root / name, fold)).assign(set=name, method=method, fold=fold)
        kept = pd.concat([kept, rows], ignore_index=True)
        print(name, method, fold, f"{rows['seconds'].iloc[0]:.1f} s", flush=True)
        if file is not None:
            kept.to_csv(file, index=False)
    return kept


def official(folder: Path, name: str, method: str, metric: str) -> np.ndarray | None:
    """Return LETOR's figures of a method on the five test parts; None without a row."""
    table = pd.read_csv(folder / SETS[name][1])
    theirs = OTHER_NAMES.get((name, METHODS[method].official), METHODS[method].official)
    rows = table[(table["dataset"] == name) & (table["algorithm"] == theirs) & (table["split"] == "test")]
    folds = [f"Fold{k}" for k in FOLDS]
    values = rows[rows["metric"] == metric].set_index("fold")["value"].reindex(folds)
    return None if values.isna().any() else values.to_numpy(float)


def in_words(found: Interval) -> str:
    """Format a mean difference with its interval, with the sign −."""
    low, high = (with_minus(end, "+.3f") for end in (found.low, found.high))
    return f"{with_minus(found.mean, '+.4f')} [{low}, {high}]"


def by_query(rows: pd.DataFrame, metric: str) -> pd.Series:
    """Return a metric by fold and query."""
    return rows.set_index(["fold", "query"])[metric]


def markdown(table: pd.DataFrame, folder: Path, name: str) -> str:
    """Return the table of a set, one row per method."""
    head = ["method", "kind"]
    for metric in METRICS:
        head += [f"test {metric}", "official", "difference", "− RankSVM"]
    lines = [f"## {name}", "", f"| {' | '.join([*head, 'settings', 'seconds'])} |", "|---" * 12 + "|"]
    own = dict(iter(table.groupby("method", sort=False)))
    for method, entry in METHODS.items():
        if method not in own:
            continue
        rows, cells = own[method], [method, entry.kind]
        folds = rows.groupby("fold")
        for metric in METRICS:
            theirs = official(folder, name, method, metric)
            cells += [f"{folds[metric].mean().mean():.4f}", "–", "–"]
            if theirs is not None:
                ours = folds[metric + BY_FILE].mean().to_numpy(float)
                error = (ours - theirs).std(ddof=1) / 5**0.5
                cells[-2:] = (
                    f"{theirs.mean():.4f}",
                    f"{with_minus((ours - theirs).mean(), '+.4f')} ± {error:.4f}",
                )
            paired = compare(by_query(rows, metric), by_query(own[RANKSVM], metric)).interval
            cells.append("–" if method == RANKSVM else in_words(paired))
        cells += [
            "; ".join(filter(None, dict.fromkeys(folds["settings"].first().fillna("")))) or "–",
            f"{folds['seconds'].first().mean():.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def apart(table: pd.DataFrame, name: str) -> str:
    """Return the table of differences to RankSVM by measure and cut-off, with corrected p-values."""
    own, first = dict(iter(table.groupby("method", sort=False))), next(iter(KERNEL))
    others = [method for method in KERNEL if method != first and method in own]
    tests = {
        (method, metric): paired_tests(by_query(own[method], metric), by_query(own[first], metric))
        for method in others
        for metric in CUTOFFS
    }
    adjusted = dict(zip(tests, holm([one.randomisation for one in tests.values()]), strict=True))
    lines = [f"### {name}", "", f"| method | {' | '.join(CUTOFFS)} |", "|---" * (1 + len(CUTOFFS)) + "|"]
    means = (f"{own[first].groupby('fold')[metric].mean().mean():.4f}" for metric in CUTOFFS)
    lines.append(f"| {first} | {' | '.join(means)} |")
    for method in others:
        cells = (
            f"{in_words(tests[method, metric].interval)}, p = {adjusted[method, metric]:.3f}"
            for metric in CUTOFFS
        )
        lines.append(f"| {method} − {first} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the tables before the first paragraph of findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--letor", type=Path, default=Path(os.environ.get("RANKVIZ_LETOR", ".")))
    parser.add_argument("--baselines", type=Path, required=True)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--write-only", action="store_true", help="write what the file has; train nothing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # unpenalised fits of constant features need not end
    kept = pd.DataFrame(columns=["set", "method", "fold"])
    if given.kept is not None and given.kept.exists():
        kept = pd.read_csv(given.kept)
    for name in () if given.write_only else SETS:
        kept = measured(name, given.letor, kept, given.kept)
    whole = kept.groupby(["set", "method"])["fold"].transform("nunique") == len(FOLDS)
    kept = kept[whole]
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    findings = old[old.index("## Findings") :] if "## Findings" in old else ""
    parts = dict(iter(kept.groupby("set")))
    tables = [markdown(parts[name], given.baselines, name) for name in SETS]
    first = next(iter(KERNEL))
    more = [apart(parts[name], name) for name in SETS if first in set(parts[name]["method"])]
    text = TEXT + "\n".join(tables) + "\n" + KERNEL_TEXT + "\n".join([*more, findings])
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
