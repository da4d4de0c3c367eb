"""The models that a run can train, by the names that `RunSpec(method=...)` uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rankviz._typing import FloatArray
from rankviz.estimators import RankSVM
from rankviz.experiments.spec import STARTS, RunSpec
from rankviz.low_rank.estimators import (
    DUAL_SOLVERS,
    FACTOR_SOLVERS,
    FactorizedRankSVM,
    RegularizedRankSVM,
)
from rankviz.low_rank.ranker import LowRankRanker
from rankviz.solvers.choose import SOLVERS


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
    return FactorizedRankSVM(
        rank=spec.factors,
        C=spec.C,
        feature_map=spec.feature_map,
        n_components=spec.n_components,
        gamma=spec.gamma,
        random_state=spec.seed,
        landmarks=spec.landmarks,
        frequencies=spec.frequencies,
        tol=spec.tol,
        solver=spec.solver,
    )


def _regularized(spec: RunSpec) -> RegularizedRankSVM:
    return RegularizedRankSVM(
        C=spec.C,
        nuclear=spec.nuclear,
        coupling=spec.coupling,
        feature_map=spec.feature_map,
        n_components=spec.n_components,
        gamma=spec.gamma,
        random_state=spec.seed,
        landmarks=spec.landmarks,
        frequencies=spec.frequencies,
        tol=spec.tol,
        solver=spec.solver,
    )


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
    _known("start", spec.start, STARTS)
    _known("method", spec.method, METHODS)
    method = METHODS[spec.method]
    _known("solver", spec.solver, method.solvers)
    return method.model(spec)


def arrays_of(model: RankSVM | LowRankRanker) -> dict[str, FloatArray]:
    """What a fitted model has found beside its weights: the dual variables of those that solve for them."""
    return model.solution if isinstance(model, LowRankRanker) else {}


def _known(name: str, value: str, allowed: tuple[str, ...] | Mapping[str, object]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, allowed))}")
