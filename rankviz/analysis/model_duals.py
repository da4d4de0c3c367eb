"""Dual variables of models: of an estimator with its training data, or of a stored run."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from rankviz.common.errors import SettingError
from rankviz.datasets.query_weights import documents_digest
from rankviz.datasets.types import DataError, RankingData, require_data
from rankviz.learning.all_pairs import AllPairs
from rankviz.learning.costs import PairCosts, frozen_costs, pair_costs
from rankviz.learning.losses import LOSSES, Loss
from rankviz.learning.pairs import count_pairs
from rankviz.models.dual_variables import Duals, SlopeDuals
from rankviz.models.low_rank.duals import entry_duals, factor_duals
from rankviz.models.offers import WORDS
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.runs.record import RunRecord


@runtime_checkable
class HasDuals(Protocol):
    """A fitted model that solved for dual variables itself."""

    def duals(self, data: RankingData) -> Duals:
        """Return its dual variables; `data` is its training data."""
        ...


def duals(model: Ranker, data: RankingData) -> Duals:
    """Return the dual variables α of a fitted model, one block per query, each computed on request.

    `data` is the training data, in the same order. Any loss, costs and feature map; for the hinge they belong
    to the last smoothed hinge, and prove the model's duality gap. Raises `DataError` for data with other
    pairs, and, if a model solved for α itself, for other documents or another order of them; ValueError if
    the model's dual variables are unknown or were dropped. Source: xu2019 eq. 4–7.

    Examples
    --------
    >>> from rankviz import RankingData, RankSVM, duals
    >>> data = RankingData.from_arrays([[1.0], [0.0]], y=[1, 0], qid=[1, 1])
    >>> model = RankSVM(C=1.0).fit(data.X, data.y, qid=data.qid)
    >>> block = duals(model, data).block(0)  # one pair of margin t = w, so w = α = 2C(1 − w)
    >>> block.alpha.round(4).tolist()
    [[0.6667]]
    """
    require_data(data, "Call duals(model, data) with the data that the model was trained on.")
    if not isinstance(model, HasDuals | RankSVM):
        raise ValueError(f"the dual variables of {type(model).__name__} are not known")
    check_is_fitted(model, ["coef_", "n_features_in_"], all_or_any=any)
    _refuse_other_pairs(model, data)
    if isinstance(model, HasDuals):
        own: Duals = model.duals(data)
        return own
    trace = getattr(model, "trace_", pd.DataFrame())
    costs = pair_costs(frozen_costs(model.costs), data.y, data.ptr)
    if model.query_weights_ is not None:
        costs = costs.weighed(model.query_weights_)
    loss = _trained_loss(model.loss, model.C, data, costs, trace)
    return SlopeDuals(data, model.predict(data.X), float(model.C), loss, costs, _last(trace, "gap"))


def run_duals(record: RunRecord, train: RankingData) -> Duals:
    """Return the dual variables of a run; `train` is its training part, normalised.

    Raises `SettingError` if the run's method has none.
    """
    if not record.spec.offers.duals:
        raise SettingError(f"{record.spec.kind.label} has no {WORDS['duals']}")
    if "factors" in record.solution:
        scores, gap = record.scores["train"], float(record.solution["gap"][0])
        return factor_duals(train, scores, record.spec.C, record.solution["factors"], gap)
    return _entries(record, train, "alpha") if "alpha" in record.solution else RunDuals(record, train)


def thresholded_blocks(record: RunRecord, train: RankingData) -> Duals:
    """Return the low-rank matrices A of a run of the regularised model, beside its dual variables."""
    if "low_rank" not in record.solution:
        raise SettingError(f"{record.spec.kind.label} has no matrices beside its dual variables")
    return _entries(record, train, "low_rank")


def _entries(record: RunRecord, train: RankingData, name: str) -> Duals:
    solution = record.solution
    scores, gap = record.scores["train"], float(solution["gap"][0])
    return entry_duals(train, scores, record.spec.C, solution[name], gap)


class RunDuals(SlopeDuals):
    """Dual variables of a run, from its training scores, its loss and its costs.

    For the hinge they belong to the last smoothed hinge, and prove the run's duality gap.
    """

    def __init__(self, record: RunRecord, train: RankingData) -> None:
        spec = record.spec
        costs = pair_costs(spec.costs, train.y, train.ptr)
        loss = _trained_loss(spec.loss, spec.C, train, costs, record.trace)
        super().__init__(train, record.scores["train"], spec.C, loss, costs, _last(record.trace, "gap"))


def _trained_loss(name: str, C: float, train: RankingData, costs: PairCosts, trace: pd.DataFrame) -> Loss:
    """Return the loss at the end of training; its slopes are the dual variables."""
    adapted = LOSSES[name].at(C, lambda: AllPairs(train.y, train.ptr, costs).weight)
    return adapted.ended_with(_last(trace, "smoothing"))


def _last(trace: pd.DataFrame, column: str) -> float:
    """Return the last entry of a trace's column, NaN if there is none."""
    return float(trace[column].iloc[-1]) if column in trace and len(trace) else math.nan


def _refuse_other_pairs(model: Ranker, data: RankingData) -> None:
    weights = model.query_weights_ if isinstance(model, RankSVM) else None
    if weights is not None and len(weights) != data.n_queries:
        raise DataError(
            f"{data.n_queries:,} queries",
            expected=f"the {len(weights):,} queries that weighed more than 0 in training",
            remedy="Give the training part without the queries of weight 0.",
            path=data.name or None,
        )
    if isinstance(model, RankSVM) and weights is not None and model.weighed_digest_ != documents_digest(data):
        raise DataError(
            "other documents than in training, or another order of the queries",
            expected="the documents of training, so that each query has its own weight",
            remedy="Give RankingData.from_arrays(X, y, qid, regroup=True) of what `fit` was given, without "
            "the queries of weight 0. A model saved before their order was kept has to be trained again.",
            path=data.name or None,
        )
    pairs = int(count_pairs(data.y, data.ptr).sum())
    trained = getattr(model, "n_pairs_", pairs)  # a ranker need not count them
    if pairs != trained:
        raise DataError(
            f"{pairs:,} preference pairs",
            expected=f"the {trained:,} pairs that the model was trained on",
            remedy="Give the training part, the very documents that `fit` was given.",
            path=data.name or None,
        )
