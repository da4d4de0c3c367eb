"""The models that a run can train, by the names that `RunSpec(method=...)` uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rankviz.common.arrays import FloatArray
from rankviz.common.checks import one_of
from rankviz.experiments.spec import STARTS, RunSpec
from rankviz.models.low_rank.base import LowRankRanker
from rankviz.models.low_rank.estimators import (
    DUAL_SOLVERS,
    FACTOR_SOLVERS,
    FactorizedRankSVM,
    RegularizedRankSVM,
)
from rankviz.models.ranksvm import RankSVM
from rankviz.solvers.registry import SOLVERS


@dataclass(frozen=True)
class Method:
    """A model to choose.

    Attributes
    ----------
    label : str
        What to call it.
    model : RunSpec -> RankSVM or LowRankRanker
        The unfitted estimator that a spec describes.
    solvers : mapping of str to str
        Names of its solvers, and what to call them.
    """

    label: str
    model: Callable[[RunSpec], RankSVM | LowRankRanker]
    solvers: Mapping[str, str]


def rank_svm(spec: RunSpec) -> RankSVM:
    """The unfitted RankSVM of a spec."""
    return RankSVM(
        feature_map=spec.feature_map,
        n_components=spec.n_components,
        gamma=spec.gamma,
        C=spec.C,
        loss=spec.loss,
        random_state=spec.seed,
        rank=spec.rank,
        tol=spec.tol,
        preconditioner=spec.preconditioner,
        landmarks=spec.landmarks,
        frequencies=spec.frequencies,
        costs=spec.costs,
        solver=spec.solver,
    )


def _factorized(spec: RunSpec) -> FactorizedRankSVM:
    return FactorizedRankSVM(rank=spec.factors, **_shared(spec))


def _regularized(spec: RunSpec) -> RegularizedRankSVM:
    return RegularizedRankSVM(nuclear=spec.nuclear, coupling=spec.coupling, **_shared(spec))


def _shared(spec: RunSpec) -> dict[str, Any]:
    """Settings that both low-rank models have."""
    names = ("C", "feature_map", "n_components", "gamma", "landmarks", "frequencies", "tol", "solver")
    return {name: getattr(spec, name) for name in names} | {"random_state": spec.seed}


METHODS: dict[str, Method] = {
    "ranksvm": Method("RankSVM", rank_svm, {name: choice.label for name, choice in SOLVERS.items()}),
    "factorized": Method(
        "factorised", _factorized, {name: solver.label for name, solver in FACTOR_SOLVERS.items()}
    ),
    "regularized": Method(
        "regularised", _regularized, {name: solver.label for name, solver in DUAL_SOLVERS.items()}
    ),
}


def model_of(spec: RunSpec) -> RankSVM | LowRankRanker:
    """The unfitted estimator that a spec describes; ValueError for a name that is not known."""
    one_of("start", spec.start, STARTS)
    one_of("method", spec.method, METHODS)
    method = METHODS[spec.method]
    one_of("solver", spec.solver, method.solvers)
    return method.model(spec)


def arrays_of(model: RankSVM | LowRankRanker) -> dict[str, FloatArray]:
    """What a fitted model has found beside its weights: the dual variables of those that solve for them."""
    return model.solution if isinstance(model, LowRankRanker) else {}
