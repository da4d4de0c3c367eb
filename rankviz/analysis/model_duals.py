"""Dual variables of models: of an estimator with its training data, or of a stored run."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sklearn.utils.validation import check_is_fitted

from rankviz.common.errors import DataError, SettingError
from rankviz.datasets.parts import documents_digest
from rankviz.datasets.types import RankingData, require_data
from rankviz.learning.pairs import count_pairs, pair_costs
from rankviz.models.dual_variables import Duals, SlopeDuals, end_of_training
from rankviz.models.low_rank_blocks import entry_duals, factor_duals
from rankviz.models.methods import WORDS
from rankviz.models.ranker import Ranker
from rankviz.runs.record import RunRecord


@runtime_checkable
class HasDuals(Protocol):
    """A fitted model with dual variables."""

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
    if not isinstance(model, HasDuals):
        raise ValueError(f"the dual variables of {type(model).__name__} are not known")
    check_is_fitted(model, ["coef_", "n_features_in_"], all_or_any=any)
    _refuse_other_pairs(model, data)
    own: Duals = model.duals(data)
    return own


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
        raise SettingError(f"{record.spec.kind.label} has no matrices besides its dual variables")
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
        loss, gap = end_of_training(spec.loss, spec.C, train, costs, record.trace)
        super().__init__(train, record.scores["train"], spec.C, loss, costs, gap)


def _refuse_other_pairs(model: Ranker, data: RankingData) -> None:
    weights = getattr(model, "query_weights_", None)
    if weights is not None and len(weights) != data.n_queries:
        raise DataError(
            f"{data.n_queries:,} queries",
            expected=f"the {len(weights):,} queries with a positive weight in training",
            remedy="Give the training part without the queries of weight 0.",
            path=data.name or None,
        )
    if weights is not None and getattr(model, "weighed_digest_", "") != documents_digest(data):
        raise DataError(
            "documents or order of queries differ from training",
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
            remedy="Give the documents that `fit` received.",
            path=data.name or None,
        )
