"""LambdaMART by XGBoost, where it is installed (chen2016)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.settings import Positive, Setting, Steps
from rankviz.datasets.types import RankingData
from rankviz.models.lambdamart import TRUNCATION
from rankviz.models.rounds import LEARNING_RATE, LEAVES, PATIENCE, ROUNDS, Grown, RoundRanker, Watch, shares
from rankviz.models.trees import LEAF, Trees

HIGHEST = 31
"""Highest grade that XGBoost takes, with gains 2^y − 1."""

LEAF_WEIGHT = Setting(
    name="leaf_weight",
    symbol="weight of a leaf",
    label="Least weight of a leaf",
    domain=Positive(),
    default=1.0,
    help="XGBoost's min_child_weight: each leaf has at least this sum of second derivatives.",
    key="leafweight",
    offer=Steps((0.01, 0.1, 0.3, 1.0, 3.0, 10.0)),
    caption=lambda weight: f"weight {weight:g} in a leaf",
    quiet=True,
)


@dataclass(eq=False, repr=False)
class XGBoostRanker(RoundRanker):
    """LambdaMART by XGBoost: as `LambdaMART`, but with XGBoost's trees and its penalty of leaves.

    XGBoost normalises λ by its own rules, and pairs each of the first documents with all others ("topk").
    It stores features and leaves in single precision. Scores here are sums of the same leaves in double
    precision. Early stopping uses `rankviz.evaluate`, not XGBoost's metric. XGBoost is not required by
    rankviz: without it, `fit` raises `SettingError`.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of trees, and rounds without a higher validation NDCG@10 before training ends.
    leaves : int
        Most leaves of a tree.
    learning_rate : float
    leaf_weight : float
        Least sum of second derivatives in a leaf (min_child_weight).
    truncation : int
        Pairs need a document among the first so many ranks (lambdarank_num_pair_per_sample).
    random_state, n_threads : int

    Examples
    --------
    >>> from rankviz import XGBoostRanker
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = XGBoostRanker(n_rounds=5, leaves=4).fit(data.X, data.y, qid=data.qid)
    >>> model.n_rounds_
    5
    """

    n_rounds: int = 300
    patience: int = 50
    leaves: int = 10
    learning_rate: float = 0.1
    leaf_weight: float = 1.0
    truncation: int = 30
    random_state: int = 0
    n_threads: int = 1

    settings = (ROUNDS, LEAVES, LEARNING_RATE, LEAF_WEIGHT, PATIENCE, TRUNCATION)
    library = "xgboost"
    measured_later = True

    def xgboost_parameters(self) -> dict[str, Any]:
        """Return the parameters given to XGBoost."""
        return {
            "objective": "rank:ndcg",
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": self.truncation,
            "ndcg_exp_gain": True,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_child_weight": self.leaf_weight,
            "seed": self.random_state,
            "nthread": self.n_threads,
            "verbosity": 0,
        }

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Boost by XGBoost, one tree at a time."""
        xgboost = _xgboost()
        _refuse_high(parts[0])
        train = xgboost.DMatrix(parts[0].X, parts[0].y, nthread=self.n_threads)
        train.set_info(group=np.diff(parts[0].ptr))
        booster = xgboost.Booster(self.xgboost_parameters(), [train])
        scores = [np.zeros(part.n_documents) for part in parts]
        for t in range(self.n_rounds):
            booster.update(train, t)
            if not watch.later:
                tree = replace(trees_of(booster[t : t + 1].save_raw("json"))[0], base=0.0)
                scores = [s + tree.scores(p.X) for s, p in zip(scores, parts, strict=True)]
            if watch([] if watch.later else scores):
                break

        def grown(kept: int) -> tuple[Trees, FloatArray]:
            trees, gain = trees_of(booster.save_raw("json"), kept)
            gains, inner = np.zeros((kept, parts[0].n_features)), np.flatnonzero(trees.feature != LEAF)
            own = np.searchsorted(trees.roots, inner, side="right") - 1
            np.add.at(gains, (own, trees.feature[inner]), gain[inner])
            return trees, shares(gains.sum(axis=0))

        return grown


def _xgboost() -> Any:
    """Return XGBoost, imported at the first fit; raise `SettingError` where it is not installed."""
    try:
        import xgboost
    except (ImportError, OSError) as error:
        raise SettingError(
            f"this LambdaMART needs XGBoost, which does not load here ({error}): install xgboost-cpu, or "
            "choose LambdaMART by LightGBM"
        ) from error
    return xgboost


def _refuse_high(data: RankingData) -> None:
    """Raise `DataError` for a grade that XGBoost does not take."""
    if data.y.max() > HIGHEST:
        raise DataError(
            f"grade {data.y.max()}",
            expected=f"grades up to {HIGHEST}, as XGBoost takes no more",
            remedy="Choose LambdaMART by LightGBM, or number the grades 0, 1, 2, …",
            path=data.name or None,
        )


def trees_of(model: bytearray, kept: int | None = None) -> tuple[Trees, FloatArray]:
    """Return the first `kept` trees in XGBoost's JSON text, and the gain of each node.

    XGBoost goes left where x < c in single precision: where x is at most the number before c.
    """
    learner = json.loads(model)["learner"]
    trees = learner["gradient_booster"]["model"]["trees"][:kept]
    base = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
    gains = [np.array(tree["loss_changes"], np.float64) for tree in trees]
    return Trees.of([_nodes(tree) for tree in trees], base=base, single=True), np.concatenate(gains)


def _nodes(tree: dict[str, Any]) -> tuple[NDArray[Any], ...]:
    """Return the nodes of one tree in the text, as `Trees` has them."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    leaf, condition = left < 0, np.array(tree["split_conditions"], np.float32)
    return (
        np.where(leaf, LEAF, tree["split_indices"]),
        np.where(leaf, 0.0, np.nextafter(condition, np.float32(-np.inf))),
        np.where(leaf, 0, left),
        np.where(leaf, 0, right),
        np.where(leaf, condition, 0.0),
    )
