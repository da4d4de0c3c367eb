"""Default settings of a data set: chosen beforehand for known sets, otherwise computed from the data.

Those of known sets were chosen on validation parts, never on test parts
(benchmarks/results/starting_points.md). For other sets, γ = 1 / median squared distance of documents, and a
few fits choose C of the linear model. The kernel model's C weighs the loss as in the linear one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.settings import Powers, Setting
from rankviz.datasets.folds import recognise_fold
from rankviz.datasets.normalise import normalise
from rankviz.datasets.types import Fold
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.runs.estimate import LAPTOP, Shape, estimate, total_seconds
from rankviz.runs.run import execute_all
from rankviz.runs.spec import RunSpec

METRIC = "NDCG@10"
LINEAR_CS = tuple(2.0**k for k in range(-15, 4, 3))
MOST_SECONDS = 0.5
"""Longest time of all linear fits on a current laptop; longer ones are left out."""
SAMPLE = 500
"""Documents whose distances are computed."""


@dataclass(frozen=True)
class StartingPoint:
    """Default settings of a data set by name, and their source.

    Attributes
    ----------
    values : mapping of str to float
        m, C and γ of the model.
    linear : float or None
        C of the linear baseline.
    source : str
        Their source, as a sentence without full stop; "" without settings.
    """

    values: Mapping[str, float]
    linear: float | None = None
    source: str = ""


NO_START = StartingPoint({})
"""No own settings: the app's defaults apply."""

_CHOSEN = {
    "OHSUMED": {"C": 2.0**-13, "gamma": 2.0**-4, "linear": 2.0**-15},
    "MQ2008": {"C": 2.0**-7, "gamma": 2.0**-4, "linear": 2.0**-13},
}
_RELEASES = {"OHSUMED": "LETOR 3.0", "MQ2008": "LETOR 4.0"}
_CHOSEN_M = 500


def starting_point(fold: Fold) -> StartingPoint:
    """Return the default settings for the data set of a fold (as read), the same on every machine."""
    return _of_a_known_set(fold) or _of_data(normalise(fold, RunSpec(fold.name).normalisation))


def _of_a_known_set(fold: Fold) -> StartingPoint | None:
    """Return the chosen settings of a known set; None unless the fold is its usual, complete copy."""
    found = recognise_fold(fold.name, fold)
    if not found.complete or found.known is None or found.version:
        return None
    if _RELEASES.get(found.known.name) != found.known.release:
        return None
    chosen = _CHOSEN[found.known.name]
    values = {N_COMPONENTS.name: _CHOSEN_M, LOSS_WEIGHT.name: chosen["C"], GAMMA.name: chosen["gamma"]}
    source = f"Settings chosen on {found.known.name}’s validation parts"
    return StartingPoint(values, chosen["linear"], source)


def _of_data(fold: Fold) -> StartingPoint:
    """Return settings from training distances, and from a few linear fits on validation."""
    distances = _distances(fold.train.X)
    if not len(distances):
        return NO_START
    gamma = nearest_power(GAMMA, 1.0 / float(np.median(distances)))
    found = StartingPoint({GAMMA.name: gamma}, source="γ by the median heuristic")
    C = _linear_C(fold)
    if C is None:
        return found
    gain = float(np.mean(distances) / 2 / np.mean(-np.expm1(-gamma * distances)))
    source = f"γ by the median heuristic, C by {len(LINEAR_CS)} linear fits"
    return StartingPoint({**found.values, LOSS_WEIGHT.name: nearest_power(LOSS_WEIGHT, C * gain)}, C, source)


def _distances(X: FloatArray) -> FloatArray:
    """Return positive squared distances between documents evenly spread over the rows."""
    rows = X[np.unique(np.linspace(0, len(X) - 1, min(SAMPLE, len(X))).astype(int))] if len(X) else X
    found = pdist(rows, "sqeuclidean")
    return found[(found > 0) & np.isfinite(found)]


def _linear_C(fold: Fold) -> float | None:
    """Return the linear model's C by validation; None if that takes long or cannot be judged."""
    specs = [RunSpec(fold.name).linear(C) for C in LINEAR_CS]
    shape = Shape.of(fold)
    if total_seconds(estimate(spec, shape, LAPTOP, math.inf) for spec in specs) > MOST_SECONDS:
        return None
    try:
        runs = dict(execute_all(specs, fold=fold))
    except DataError:  # no preference pairs; pages report this
        return None
    means = {float(spec.C): float(np.mean(run.metrics["vali"][METRIC])) for spec, run in runs.items()}
    if math.isnan(sum(means.values())) or len(set(means.values())) == 1:  # no queries, or equal models
        return None
    return max(sorted(means), key=lambda C: means[C])


def nearest_power(setting: Setting, value: float) -> float:
    """Return the nearest power to a value among those that a setting's control offers."""
    assert isinstance(setting.offer, Powers)
    base = float(setting.offer.base)
    within = min(max(value, base**setting.offer.low), base**setting.offer.high)
    return base ** round(math.log(within, base))
