"""Settings chosen on the validation part, by NDCG@10, from small grids that are stated here. Never timed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TypeVar

from benchmarks.methods import LightGBM, Ours, XGBoost
from rankviz import Fold, evaluate
from rankviz.common.numbers import power_of_two

EXPONENTS_C = (-10, -7, -4, -1)
EXPONENTS_LINEAR_C = (-16, -13, *EXPONENTS_C, 2)
EXPONENTS_GAMMA = (-8, -6, -4, -2)
TUNED_AT = 500
RATES = (0.05, 0.1)
LEAVES = (7, 31)
DEPTHS = (3, 6)
LEAST_DOCUMENTS = (20, 100)
LEAST_WEIGHTS = (1.0, 10.0)
Trees = TypeVar("Trees", LightGBM, XGBoost)

MOST_TREES, PATIENCE = 300, 30


def _powers(exponents: tuple[int, ...]) -> str:
    return ", ".join(power_of_two(2.0**exponent) for exponent in exponents)


def _either(values: tuple[float, ...]) -> str:
    return " or ".join(f"{value:g}" for value in values)


GRIDS = (
    "Settings were chosen by NDCG@10 on the validation part, which is not in the seconds. "
    f"Kernel models: C from {_powers(EXPONENTS_C)} and γ from {_powers(EXPONENTS_GAMMA)} at rankviz Nyström "
    f"m = {TUNED_AT}; linear: C from {_powers(EXPONENTS_LINEAR_C)}; scikit-learn the same. "
    f"LightGBM: {_either(LEAVES)} leaves, learning rate {_either(RATES)}, at least "
    f"{_either(LEAST_DOCUMENTS)} documents per leaf. XGBoost: depth {_either(DEPTHS)}, learning rate "
    f"{_either(RATES)}, min_child_weight {_either(LEAST_WEIGHTS)}. Both up to {MOST_TREES} trees, stopped "
    f"after {PATIENCE} without a better NDCG@10 on the validation part."
)


def kernel(fold: Fold) -> tuple[float, float]:
    """C and γ of the kernel models."""
    grid = product(EXPONENTS_C, EXPONENTS_GAMMA)
    best = _best(fold, (Ours("nystroem", TUNED_AT, 2.0**c, 2.0**gamma) for c, gamma in grid))
    return best.C, best.gamma


def linear(fold: Fold) -> float:
    """C of the linear models."""
    return _best(fold, (Ours("linear", 1, 2.0**c) for c in EXPONENTS_LINEAR_C)).C


def lightgbm(fold: Fold) -> LightGBM:
    """LightGBM with its best settings and number of trees."""
    grid = product(LEAVES, RATES, LEAST_DOCUMENTS)
    return _best_trees(fold, (LightGBM(*settings, MOST_TREES) for settings in grid))


def xgboost(fold: Fold) -> XGBoost:
    """XGBoost with its best settings and number of trees."""
    grid = product(DEPTHS, RATES, LEAST_WEIGHTS)
    return _best_trees(fold, (XGBoost(*settings, MOST_TREES) for settings in grid))


def _best(fold: Fold, methods: Iterable[Ours]) -> Ours:
    return max(methods, key=lambda method: _ndcg(method.fit(fold.train), fold))


def _best_trees(fold: Fold, methods: Iterable[Trees]) -> Trees:
    fitted = [(method, method.fit(fold.train, fold.vali, PATIENCE)) for method in methods]
    method, model = max(fitted, key=lambda entry: _ndcg(entry[1], fold))
    return replace(method, rounds=model.rounds)


def _ndcg(model: object, fold: Fold) -> float:
    return float(evaluate(model.predict(fold.vali.X), fold.vali, at=[10]).mean["NDCG@10"])
