"""he2009's figures on OHSUMED of LETOR 2.0 beside ours, by his protocol; needs RANKVIZ_LETOR.

Fold K trains on the part S_K alone, chooses C on the next part by AvgNDCG in two stages, and tests on the
other three (his Table 1). P and MAP count only grade 2 as relevant (§4.2). He says nothing of scaling the
features: "raw" takes them as they are, "query min-max" scales them to [0, 1] in each query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.report import letor, seconds, timed
from rankviz import RankingData, RankSVM, evaluate, load_fold
from rankviz.datasets.normalise import normalise
from rankviz.learning.pairs import count_pairs
from rankviz.metrics.significance import compare

FOLDS = 5
NAME = "OHSUMED-LETOR2"
TABLE_1 = (80_889, 123_612, 163_162, 135_942, 78_983)
METRICS = ["AvgPrec", "MAP", "AvgNDCG"]
TABLE_2 = {  # fold 2: C, then METRICS
    "RankSVM": (1.0e-3, 0.333, 0.307, 0.482),
    "RSVM-QL": (1.2e-3, 0.339, 0.310, 0.501),
    "cs-sRSVM": (8.0e-3, 0.341, 0.312, 0.502),
}
TABLE_5 = {  # seconds of one training, mean of the nine of the choice of C
    3: {"RankSVM": 7604.0, "RSVM-QL": 17385.0, "cs-sRSVM": 2.3},
    5: {"RankSVM": 2710.0, "RSVM-QL": 7052.0, "cs-sRSVM": 1.2},
}
TABLE_6 = {1: (2570, 1.14), 2: (5646, 4.04), 3: (9219, 6.22), 4: (12_757, 8.39), 5: (16_140, 9.75)}
"""Parts that are trained on: documents, and seconds of cs-sRSVM."""
SETTINGS: dict[str, dict[str, str]] = {
    "RankSVM": {"loss": "hinge"},
    "RSVM-QL": {"loss": "hinge", "costs": "grade_query"},
    "cs-sRSVM": {"loss": "smooth_hinge", "costs": "grade_query", "solver": "newton_yuan"},
}
SAME_BY_NEWTON = {"costs": "grade_query"}
"""The problem whose smoothing cs-sRSVM is (his problem 3), by truncated Newton."""
SCALINGS = {"none": "raw", "query_minmax": "query min-max"}
CLAIMS = (("RSVM-QL", "RankSVM"), ("cs-sRSVM", "RankSVM"), ("cs-sRSVM", "RSVM-QL"))
COARSE = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
FINE = (0.6, 0.8, 1.2, 1.4)
WIDE = tuple(10.0 ** (k / 2) for k in range(-14, 3))
ROUNDS = 5


def main() -> None:
    root = letor(f"he2009's study of {NAME}")
    if root is None:
        return
    parts = load_parts(root / NAME)
    report.write("he2009_table1", "he2009 Table 1: preference pairs of the parts of OHSUMED", pairs(parts))
    runs = {
        (label, name): [run(name, [normalise(part, how) for part in parts], k) for k in range(1, FOLDS + 1)]
        for how, label in SCALINGS.items()
        for name in SETTINGS
    }
    title = "he2009 Table 2: OHSUMED fold 2, trained on S2, tested on S4, S5, S1"
    note = (
        "“Most of any C” is the largest value of each metric over his C and 17 others, two to a power of ten "
        f"from {WIDE[0]:g} to {WIDE[-1]:g}, found on the test parts themselves; the row below it is the same "
        "for models that were trained on these parts as well."
    )
    report.write("he2009_table2", title, table_2(runs, parts), [note, *claims_2(parts)])
    title = "he2009's protocol on OHSUMED, mean of five folds"
    report.write("he2009_folds", title, means(runs), claims(runs))
    note = "Mean of the nine trainings of the choice of C, raw features; reading the files is left out."
    report.write("he2009_table5", "he2009 Table 5: seconds of one training", table_5(runs), [note])
    title, note = "he2009 Table 6: seconds of cs-sRSVM at C = 0.008", f"Medians of {ROUNDS} trainings."
    report.write("he2009_table6", title, table_6(parts), [note])


@dataclass(frozen=True, eq=False)
class Run:
    """One method on one fold: the chosen C, metrics by query of the test parts, and all nine trainings."""

    C: float
    per_query: pd.DataFrame
    seconds: tuple[float, ...]
    steps: tuple[int, ...]


def load_parts(folder: Path) -> list[RankingData]:
    """S1 … S5, from the test files: fold K tests on S_(K − 1), fold 1 on S5."""
    return [load_fold(folder, k % FOLDS + 1).test for k in range(1, FOLDS + 1)]


def parts_of(fold: int, parts: list[RankingData]) -> tuple[RankingData, RankingData, list[RankingData]]:
    """The parts that a fold trains on, validates on, and tests on (his Table 1)."""
    turn = [parts[(fold - 1 + k) % FOLDS] for k in range(FOLDS)]
    return turn[0], turn[1], turn[2:]


def pairs(parts: list[RankingData]) -> pd.DataFrame:
    """Preference pairs of each part, beside Table 1's."""
    ours = [int(count_pairs(part.y, part.ptr).sum()) for part in parts]
    names = [f"S{k}" for k in range(1, FOLDS + 1)]
    return pd.DataFrame({"part": names, "he2009": TABLE_1, "rankviz": ours})


def best_C(score: Callable[[float], float]) -> float:
    """The C of his two stages (§4.2): the best of five powers of ten, then of that and 0.6 … 1.4 times it."""
    coarse = max(COARSE, key=score)
    return max([coarse, *(factor * coarse for factor in FINE)], key=score)


def run(name: str, parts: list[RankingData], fold: int) -> Run:
    """Choose C on the validation part and test."""
    train, vali, tests = parts_of(fold, parts)
    took, steps = list[float](), list[int]()

    @cache
    def fitted(C: float) -> RankSVM:
        model, one = timed(lambda: fit(name, C, train))
        took.append(one)
        steps.append(model.n_iter_)
        return model

    best = best_C(cache(lambda C: float(tested(fitted(C), [vali])["AvgNDCG"].mean())))
    return Run(best, tested(fitted(best), tests), tuple(took), tuple(steps))


def fit(name: str, C: float, train: RankingData) -> RankSVM:
    """A method of the paper, trained at C."""
    return RankSVM(C=C, **SETTINGS[name]).fit_data(train)


def tested(model: RankSVM, parts: list[RankingData]) -> pd.DataFrame:
    """His metrics by query, (queries of all parts, 3)."""
    found = [evaluate(model.predict(part.X), part, "he2009", at=[]).per_query for part in parts]
    return pd.concat(found)[METRICS]


def table_2(runs: dict[tuple[str, str], list[Run]], parts: list[RankingData]) -> pd.DataFrame:
    """Fold 2: the printed rows, ours at his C and at ours, and what no choice of C surpasses."""
    rows = [_row(name, "he2009", C, values) for name, (C, *values) in TABLE_2.items()]
    for how, label in SCALINGS.items():
        train, _, tests = parts_of(2, [normalise(part, how) for part in parts])
        for name, (C, *_) in TABLE_2.items():
            chosen, his = runs[label, name][1], tested(fit(name, C, train), tests)
            rows += [
                _row(name, f"rankviz, {label}, his C", C, his.mean()),
                _row(name, f"rankviz, {label}, C by validation", chosen.C, chosen.per_query.mean()),
                _row(name, f"rankviz, {label}, most of any C", np.nan, most(name, train, tests)),
            ]
            also = f"… and trained on the test parts, {label}"
            rows.append(_row(name, also, np.nan, most(name, joined(tests), tests)))
    order = list(SETTINGS)
    return pd.DataFrame(rows).sort_values("method", kind="stable", key=lambda names: names.map(order.index))


def most(name: str, train: RankingData, tests: list[RankingData]) -> pd.Series:
    """The largest value of each metric over his C and a wide range of others."""
    grid = (TABLE_2[name][0], *WIDE)
    return pd.DataFrame([tested(fit(name, C, train), tests).mean() for C in grid]).max()


def claims_2(parts: list[RankingData]) -> list[str]:
    """Sentences on the order of Table 2's rows at his C, query by query."""
    found = []
    for how, label in SCALINGS.items():
        train, _, tests = parts_of(2, [normalise(part, how) for part in parts])
        values = {name: tested(fit(name, C, train), tests) for name, (C, *_) in TABLE_2.items()}
        found += sentences(f"{label}, his C", values, "AvgNDCG")
    return found


def _row(name: str, source: str, C: float, values: object) -> dict[str, object]:
    return {"method": name, "figures": source, "C": C} | dict(zip(METRICS, np.round(values, 3), strict=True))


def means(runs: dict[tuple[str, str], list[Run]]) -> pd.DataFrame:
    """Means of the five folds, the range of C, and Newton steps of the trainings."""
    rows = []
    for (label, name), folds in runs.items():
        values = pd.DataFrame([one.per_query.mean() for one in folds]).mean()
        chosen, steps = [one.C for one in folds], [step for one in folds for step in one.steps]
        spread = {"least C": min(chosen), "largest C": max(chosen)}
        counts = {"least steps": min(steps), "most steps": max(steps)}
        rows.append({"features": label, "method": name, **values.round(4), **spread, **counts})
    return pd.DataFrame(rows)


def claims(runs: dict[tuple[str, str], list[Run]]) -> list[str]:
    """Sentences on his claims: paired differences by query, each the mean of its three test folds."""
    found = ["Every query is in three test sets; its three values are averaged before queries are compared."]
    for label in SCALINGS.values():
        values = {name: by_query(runs[label, name]) for name in SETTINGS}
        for metric in ("AvgNDCG", "MAP"):
            found += sentences(label, values, metric)
    return found


def sentences(label: str, values: dict[str, pd.DataFrame], metric: str) -> list[str]:
    """Each claim in words, from metrics by query."""
    told = [compare(values[a][metric], values[b][metric]).sentence(a, b, metric) for a, b in CLAIMS]
    return [f"{label}: {sentence}." for sentence in told]


def by_query(folds: list[Run]) -> pd.DataFrame:
    """Mean over the folds that test a query, (106, 3)."""
    return pd.concat([one.per_query for one in folds]).groupby(level=0).mean()


def table_5(runs: dict[tuple[str, str], list[Run]]) -> pd.DataFrame:
    """Seconds of one training, his beside ours."""
    rows = []
    for fold, published in TABLE_5.items():
        for name, theirs in published.items():
            ours = float(np.mean(runs["raw", name][fold - 1].seconds))
            rows.append({"fold": fold, "method": name, "he2009, s": theirs, "rankviz, s": ours})
    return pd.DataFrame(rows)


def table_6(parts: list[RankingData]) -> pd.DataFrame:
    """Seconds of cs-sRSVM on S1, S1 and S2, …, by his algorithm and by truncated Newton."""
    rows = []
    for count, (documents, published) in TABLE_6.items():
        data = joined(parts[:count])
        yuan, newton = (
            np.median(seconds(partial(RankSVM(C=8e-3, **settings).fit_data, data), ROUNDS))
            for settings in (SETTINGS["cs-sRSVM"], SAME_BY_NEWTON)
        )
        sizes = {"documents, he2009": documents, "documents": data.n_documents}
        rows.append({**sizes, "he2009, s": published, "Newton-YUAN, s": yuan, "truncated Newton, s": newton})
    return pd.DataFrame(rows)


def joined(parts: list[RankingData]) -> RankingData:
    """The documents of several parts as one."""
    X, y, qid = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qid"))
    return RankingData.from_arrays(X, y, qid)
