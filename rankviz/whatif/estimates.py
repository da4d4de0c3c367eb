"""First-order estimates of leaving out each training query, for all queries at once.

At the optimum ∇(½‖w‖² + C Σ_q ℓ_q) = 0. Without query q the gradient there is −C∇ℓ_q, so w moves by about
H⁻¹·C∇ℓ_q, with H the Hessian that includes the query. One factor of H serves all queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Progress, Stopwatch, reporter
from rankviz.features.maps import FittedMap
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import loss_of
from rankviz.learning.pairs import count_pairs
from rankviz.models.ranker import Ranker
from rankviz.whatif.changes import QueryOut
from rankviz.whatif.explanations import one_pair
from rankviz.whatif.refits import RankSVMRefits, Refits


@dataclass(frozen=True, eq=False)
class QueryEffects:
    """First-order changes of the weights when each training query is left out.

    Attributes
    ----------
    queries : (Q,) array
        Labels of the queries.
    changes : (Q, m) float64
        Change of w without each query.
    map : FittedMap
        φ of the weights.
    """

    queries: Any
    changes: FloatArray
    map: FittedMap

    def of_scores(self, X: FloatArray) -> FloatArray:
        """Return the change of the scores of documents X (n, d) without each query -> (Q, n)."""
        features = self.map.operator(np.asarray(X, np.float64))
        scores: FloatArray = (features.base @ features.basis.expand(self.changes.T)).T
        return scores

    def of_margin(self, A: ArrayLike, B: ArrayLike) -> FloatArray:
        """Return the change of f(A) − f(B) of two documents (d,) without each query -> (Q,)."""
        scores = self.of_scores(np.stack((np.asarray(A, np.float64), np.asarray(B, np.float64))))
        return scores[:, 0] - scores[:, 1]

    @property
    def sizes(self) -> FloatArray:
        """‖Δw‖ without each query, (Q,)."""
        return np.asarray(np.linalg.norm(self.changes, axis=1))


def effects_of_queries(refits: Refits) -> QueryEffects:
    """Estimate the change of the weights without each training query.

    Costs of pairs that depend on queries stay the same. Raises `SettingError` for models whose Hessian is not
    formed: the hinge (it has none), the exact kernel in its own space, and rankers other than RankSVM.
    """
    if not isinstance(refits, RankSVMRefits):
        raise SettingError(
            "estimates of left-out queries need the Hessian of a RankSVM; train again without each"
        )
    model, objective = refits.optimum.model, refits.optimum.objective
    if not loss_of(model.loss).by_query:
        raise SettingError(
            f"loss={model.loss!r} has an intercept common to all queries, which these estimates leave out; "
            "train again without each query, or choose loss='rankrls'"
        )
    if loss_of(model.loss).by_continuation:
        raise SettingError(
            f"loss={model.loss!r} has no second derivative to estimate with; train again without each query, "
            "or choose loss='huber'"
        )
    if not isinstance(objective, RankObjective):
        raise SettingError(
            "the Hessian of the exact kernel of so many documents is not formed; train again without each "
            "query, or choose feature_map='nystroem'"
        )
    features, risk = objective.features, objective.risk.at(refits.optimum.fit.result.point.scores)
    pulls = np.empty((features.base.shape[1], refits.data.n_queries))
    for q in range(refits.data.n_queries):
        own = refits.data.query_slice(q)
        pulls[:, q] = risk.gradient[own] @ features.base[own]
    gradients = objective.C * features.basis.contract(pulls)
    return QueryEffects(refits.data.query_labels, refits.curvature(gradients).T, model.feature_map_)


def margins_without_queries(
    refits: Refits,
    A: ArrayLike,
    B: ArrayLike,
    *,
    most: int = 10,
    seconds: float = math.inf,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """Return f(A) − f(B) of two documents (d,) without each training query.

    One row per query, sorted by the size of the estimate: query, pairs, `margin` without a change, `estimate`
    of its change, and `refit`, the change after retraining without the query. Refits cover the first `most`
    queries, or as many as begin within `seconds`, but at least one; others are NaN. `after` is the margin
    without the query, from the refit if there is one. Raises like `effects_of_queries` and `Refits.refit`.
    """
    table = _estimated(refits, A, B)
    found = _refitted(refits, A, B, table.head(most), seconds, callback)
    table["refit"] = found + [math.nan] * (len(table) - len(found))
    return table.assign(after=table["margin"] + table["refit"].fillna(table["estimate"]))


def _estimated(refits: Refits, A: ArrayLike, B: ArrayLike) -> pd.DataFrame:
    """Return the queries sorted by the size of their estimates: query, pairs, margin, estimate."""
    one_pair(refits.before.model, A, B)
    effects, data = effects_of_queries(refits), refits.data
    table = pd.DataFrame(
        {
            "query": list(effects.queries),
            "pairs": count_pairs(data.y, data.ptr),
            "margin": _margin(refits.before.model, A, B),
            "estimate": effects.of_margin(A, B),
        }
    )
    order = table["estimate"].abs().sort_values(ascending=False, kind="stable").index
    return table.reindex(order).reset_index(drop=True)


def _refitted(
    refits: Refits, A: ArrayLike, B: ArrayLike, table: pd.DataFrame, seconds: float, callback: Callback | None
) -> list[float]:
    """Return the changes of the margin after retraining without each query of a table, while time allows."""
    report, clock = reporter(callback), Stopwatch()
    found: list[float] = []
    for k, (query, margin) in enumerate(zip(table["query"], table["margin"], strict=True)):
        report(Progress("newton", k / len(table)))
        clock.lap("refits")
        if k and clock.laps["refits"] > seconds:
            break
        found.append(_margin(refits.refit([QueryOut(query)]).model, A, B) - margin)
    return found


def _margin(model: Ranker, A: ArrayLike, B: ArrayLike) -> float:
    pair = np.stack((np.asarray(A, np.float64), np.asarray(B, np.float64)))
    return float(-np.diff(model.predict(pair))[0])
