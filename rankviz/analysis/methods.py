"""All methods beside each other: family, objective, metrics, and the results that LETOR prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from rankviz.analysis.comparison import Comparison, compare, standings_row
from rankviz.analysis.contestants import Contestant, Run
from rankviz.common.numbers import power_of_two
from rankviz.datasets.known import Recognition
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.losses import EVERY_LOSS, LOSS, LOSS_WEIGHT
from rankviz.learning.solvers import SOLVER, suitable_solver
from rankviz.models.methods import METHODS
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

METRICS = ("NDCG@10", "MAP")
"""Metrics of the table; LETOR prints both."""
EXPONENTS = (-15, -12, -9, -6, -3, 0, 3, 6, 9)
"""Powers of 2 of which C is chosen on the validation part."""
_RESULTS = Path(__file__).with_name("letor_results.csv")


@dataclass(frozen=True)
class Listed:
    """A method in the table: a method of runs, for RankSVM with one of its losses.

    Attributes
    ----------
    key : str
        Its name in links.
    label, family, minimises : str
        Name, the key of its family in `FAMILIES`, and its objective in one line.
    changes : mapping
        Method and settings that make a run this method's.
    """

    key: str
    label: str
    family: str
    minimises: str
    changes: Mapping[str, Any]

    def on(self, base: RunSpec, fold: str, digest: str) -> RunSpec:
        """Return its run on a fold, with the settings of another run that it also reads.

        Raises `SettingError` if it cannot have these settings.
        """
        spec = base.but(fold=fold, digest=digest, **self.changes)
        spec.kind.check(spec.values)
        return spec


def catalogue() -> dict[str, Listed]:
    """Return all methods that can be trained, by key, in the order of the registries."""
    return {one.key: one for one in _listed()}


def _listed() -> Iterator[Listed]:
    for name, method in METHODS.items():
        if not method.trains:
            continue
        if LOSS not in method.settings:
            yield Listed(name, method.label, method.family, method.minimises, {"method": name})
            continue
        for key, loss in EVERY_LOSS.items():
            label, objective = loss.label, f"½‖w‖² + C Σ {loss.formula}"
            if loss.of_pairs:
                label = loss.method or f"{method.label}, {loss.label}"
                objective = f"½‖w‖² + C Σ c_ij ℓ(f_i − f_j), ℓ(t) = {loss.formula}"
            changes = {"method": name, LOSS.name: key}
            if suitable_solver(loss) != SOLVER.default:
                changes[SOLVER.name] = suitable_solver(loss)
            yield Listed(key, label, loss.family, objective, changes)


def with_weights(spec: RunSpec) -> list[RunSpec]:
    """Return the run with each C of the grid; the run alone if it has no C."""
    if LOSS_WEIGHT.name not in spec:
        return [spec]
    return [spec.but(**{LOSS_WEIGHT.name: 2.0**exponent}) for exponent in EXPONENTS]


def best_on_validation(records: Sequence[RunRecord], metric: str = METRICS[0]) -> RunRecord:
    """Return the record with the largest mean of a metric on the validation part; the first of equals."""
    return max(records, key=lambda record: float(record.metrics["vali"][metric].mean()))


def printed_means(recognition: Recognition, folds: Sequence[str]) -> pd.DataFrame:
    """Return LETOR's printed means over folds of the test part: index key, a column per metric.

    Empty for a data set that is not complete; a method without all these folds has no row.
    """
    known, table = recognition.known, _results()
    if known is None or not recognition.complete:
        return pd.DataFrame(columns=METRICS)
    own = table["dataset"].eq(known.name) & table["release"].eq(known.release) & table["fold"].isin(folds)
    by_method = table[own].groupby("key")
    return by_method[list(METRICS)].mean()[by_method.size() == len(set(folds))]


@cache
def _results() -> pd.DataFrame:
    return pd.read_csv(_RESULTS)


def compared(
    records: Mapping[str, Sequence[RunRecord]], part: str, baseline: str
) -> tuple[Comparison | None, pd.DataFrame]:
    """Compare methods, given by key with their records on the same folds, with a baseline.

    Return the comparison (None without the baseline and another method), and a table with index key: for each
    metric its mean with low and high, and difference with difference_low, difference_high and holm; seconds
    of one run; features; C of each fold.
    """
    listed = catalogue()
    models = [
        Contestant(listed[key].label, tuple(Run.of(record, part) for record in found))
        for key, found in records.items()
    ]
    name = listed[baseline].label
    found = compare(models, METRICS, name) if baseline in records and len(models) > 1 else None
    rows = {}
    for key, one in zip(records, models, strict=True):
        row: dict[str, Any] = {"seconds": one.seconds, **_settings(records[key])}
        for metric in METRICS:
            standing = standings_row(one, metric, one.by_query(metric).dropna())
            row |= {f"{metric} {kind}": standing[kind] for kind in ("mean", "low", "high")}
            if found is not None and one.label != name:
                delta = found.delta(one.label, metric)
                row |= {f"{metric} {kind}": delta[kind] for kind in ("difference", "holm")}
                row |= {f"{metric} difference_{end}": delta[end] for end in ("low", "high")}
        rows[key] = row
    return found, pd.DataFrame.from_dict(rows, orient="index")


def _settings(records: Sequence[RunRecord]) -> dict[str, str]:
    spec = records[0].spec
    weights = [power_of_two(one.spec.C) for one in records if LOSS_WEIGHT.name in one.spec]
    features = FEATURE_MAPS[spec.feature_map].label if FEATURE_MAP.name in spec else "input features"
    return {"features": features, "C": ", ".join(dict.fromkeys(weights))}
