"""Make tables of a design's runs with metrics from a formula, without training."""

import math
from collections.abc import Callable

import pandas as pd

from rankviz import RunSpec
from rankviz.runs import Design, Values

SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, seed=3)
LINEAR = SPEC.linear(1.0)
GRID = Design(SPEC, (Values("C", (0.25, 1.0, 4.0)), Values("gamma", (0.5, 2.0))), folds=("a", "b", "c"))


def made_up(
    design: Design, value: Callable[[RunSpec], float], test: Callable[[RunSpec], float] | None = None
) -> pd.DataFrame:
    """The table of a design's runs: "vali:MAP" by one formula, "test:MAP" by another, seconds by m."""
    rows = {}
    for spec in design.specs():
        row = {name: getattr(spec, name) for name in ("dataset", "fold", "normalisation", "method")}
        row |= {"seconds": spec.get("n_components", 1) / 10, "vali:MAP": value(spec)}
        rows[spec.hash] = row | {"test:MAP": test(spec) if test else math.nan} | spec.values
    return pd.DataFrame.from_dict(rows, orient="index")


def bowl(spec: RunSpec) -> float:
    """Best at C = 1, γ = 2^-2; a fold adds the same to all."""
    away = math.log2(spec.C) ** 2 + (math.log2(spec.get("gamma", 0.25)) + 2) ** 2
    return 0.5 - 0.001 * away + 0.05 * "abc".index(spec.fold)
