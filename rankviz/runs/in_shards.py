"""Runs that can be made in shards, and their plans."""

from __future__ import annotations

from rankviz.common.errors import SettingError
from rankviz.datasets.normalise import normalise
from rankviz.datasets.types import Fold
from rankviz.models.ranksvm import RankSVM
from rankviz.runs.families import shares
from rankviz.runs.shape import Shape
from rankviz.runs.spec import RunSpec
from rankviz.shards.backend import Backend
from rankviz.shards.plan import Plan, check_solver_in_shards, refuse_coefficients


def ranksvm_in_shards(spec: RunSpec) -> RankSVM:
    """Return the model of a run that supports shards. Raises `SettingError` with the reason for others."""
    model = spec.kind.model(spec.values)
    if not isinstance(model, RankSVM) or not shares(spec) or spec.sample.drawn:
        raise SettingError(
            f"{spec.kind.label} is not trained in shards here; train it without shards, or RankSVM on all "
            "queries"
        )
    check_solver_in_shards(model.solver)
    return model


def plan_in_shards(spec: RunSpec, fold: Fold, where: Backend) -> Plan:
    """Return the plan of a run on a fold (as read). Raise as `ranksvm_in_shards` and `RankSVM.shard_plan`."""
    return ranksvm_in_shards(spec).shard_plan(normalise(fold, spec.normalisation).train, where)


def why_not_in_shards(spec: RunSpec, shape: Shape) -> str:
    """Return why a run on data of this shape cannot use shards, as a sentence; "" if it can."""
    try:
        ranksvm_in_shards(spec)
        refuse_coefficients(shape.training(spec))
    except SettingError as error:
        return str(error)
    return ""
