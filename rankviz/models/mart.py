"""MART: boosted regression trees on grades (friedman2001), by scikit-learn's histogram gradient boosting."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.models.rounds import BoostedTrees, Grown, Watch, shares
from rankviz.models.trees import LEAF, Trees

CHUNK, QUICK = 10, 0.25
"""Rounds of the first call of scikit-learn, and seconds below which the next call has twice as many.

Each call sorts the features into bins; training can stop between calls. Trees do not depend on the calls.
"""


class MART(BoostedTrees):
    """MART: each tree fits the residuals y − f(x) of the grades; it minimises Σ (y − f(x))², pointwise.

    The trace has the mean of (y − f(x))² on the training part as `loss`.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of trees, and rounds without a higher validation NDCG@10 before training ends.
    leaves, leaf_documents : int
        Most leaves of a tree, and least documents of a leaf.
    learning_rate : float
    random_state : int
        Used only with more than 200,000 documents, whose bins come from a sample.
    n_threads : int

    Examples
    --------
    >>> from rankviz import MART
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = MART(n_rounds=20, leaves=4).fit(data.X, data.y, qid=data.qid)
    >>> model.status_
    'trained 20 rounds, and kept all of them'
    """

    library = "scikit-learn"
    measured_later = True
    traced = ("loss", "mean of (y − f)²")

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Boost by scikit-learn, a few rounds at a time, or all at once if nobody looks."""
        from sklearn.ensemble import HistGradientBoostingRegressor  # here: the import is slow

        boosting = HistGradientBoostingRegressor(
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.leaf_documents,
            early_stopping=False,
            warm_start=True,
            random_state=self.random_state,
        )
        trees, chunk, ended = list[NDArray[Any]](), self.n_rounds if watch.later else CHUNK, False
        scores: list[FloatArray] = []
        with threadpool_limits(self.n_threads):
            while not ended and len(trees) < self.n_rounds:
                boosting.max_iter, began = min(len(trees) + chunk, self.n_rounds), time.perf_counter()
                boosting.fit(parts[0].X, parts[0].y)
                chunk *= 2 if time.perf_counter() - began < QUICK else 1
                base = float(boosting._baseline_prediction.item())
                if not (trees or watch.later):
                    scores = [np.full(part.n_documents, base) for part in parts]
                    watch.rows[0] |= self.lowered(parts[0], scores[0])
                for (predictor,) in boosting._predictors[len(trees) :]:
                    trees.append(predictor.nodes)
                    for f, part in zip(scores, parts, strict=False):
                        f += Trees.of([_columns(predictor.nodes)]).scores(part.X)
                    if ended := watch(scores, **({} if watch.later else self.lowered(parts[0], scores[0]))):
                        break

        def grown(kept: int) -> tuple[Trees, FloatArray]:
            splits = [nodes[nodes["is_leaf"] == 0] for nodes in trees[:kept]]
            gains = np.zeros((kept, parts[0].n_features))
            for own, of_tree in zip(splits, gains, strict=True):
                np.add.at(of_tree, own["feature_idx"], own["gain"])
            return Trees.of([_columns(nodes) for nodes in trees[:kept]], base=base), shares(gains.sum(axis=0))

        return grown

    def lowered(self, part: RankingData, scores: FloatArray) -> dict[str, float]:
        """Return the mean of (y − f)² at scores f (n,)."""
        return {"loss": float(np.square(part.y - scores).mean())}


def _columns(nodes: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the nodes of one of scikit-learn's trees, as `Trees` has them."""
    feature = np.where(nodes["is_leaf"], LEAF, nodes["feature_idx"].astype(np.int64))
    return [feature, nodes["num_threshold"], nodes["left"], nodes["right"], nodes["value"]]
