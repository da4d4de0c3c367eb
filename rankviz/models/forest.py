"""Random forest on grades (breiman2001), by scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankviz.common.numbers import counted
from rankviz.common.settings import SEED, Setting, Share, Steps, Typed
from rankviz.datasets.types import RankingData
from rankviz.models.rounds import LEAF_DOCUMENTS, ROUNDS, Grown, RoundRanker, Watch
from rankviz.models.trees import LEAF, Trees

TREES = replace(
    ROUNDS,
    label="Trees",
    default=100,
    help="Number of trees; their mean is the score. More trees never fit more closely.",
    key="trees",
    offer=Typed(1, 2000, 50),
    caption=lambda n: counted(n, "tree"),
)

FEATURE_SHARE = Setting(
    name="feature_share",
    symbol="features",
    label="Share of features",
    domain=Share(positive=True),
    default=0.3,
    help="Share of the features, drawn anew, among which each split chooses.",
    key="featureshare",
    offer=Steps((0.1, 0.2, 0.3, 0.5, 0.7, 1.0)),
    caption=lambda share: f"{share:.0%} of features",
)


@dataclass(eq=False, repr=False)
class RandomForest(RoundRanker):
    """Random forest: the mean of trees on grades, each on a bootstrap sample of documents; pointwise.

    Parameters
    ----------
    n_rounds : int
        Number of trees.
    feature_share : float
        Share of features among which each split chooses.
    leaf_documents : int
        Least documents of a leaf.
    random_state, n_threads : int

    Examples
    --------
    >>> from rankviz import RandomForest
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = RandomForest(n_rounds=20).fit(data.X, data.y, qid=data.qid)
    >>> print(f"{model.feature_importances_.sum():.3f}")
    1.000
    """

    n_rounds: int = 100
    feature_share: float = 0.3
    leaf_documents: int = 20
    random_state: int = 0
    n_threads: int = 1

    settings = (TREES, FEATURE_SHARE, LEAF_DOCUMENTS, SEED)
    library = "scikit-learn"
    measured_later = True

    @classmethod
    def bytes_for(cls, n: int, d: int, values: Mapping[str, Any]) -> int:
        """Return the bytes of training: documents in single precision, and the nodes of all trees."""
        nodes: int = 2 * n // values[LEAF_DOCUMENTS.name] + 1
        return n * (4 * d + 64) + 160 * nodes * int(values[TREES.name])

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Grow tree by tree, or all at once if nobody looks; the score after a round is the mean so far."""
        from sklearn.ensemble import RandomForestRegressor  # here: the import is slow

        forest = RandomForestRegressor(
            max_features=self.feature_share,
            min_samples_leaf=self.leaf_documents,
            n_jobs=self.n_threads,
            warm_start=True,
            random_state=self.random_state,
        )
        documents = [part.X.astype(np.float32) for part in parts]
        sums = [np.zeros(part.n_documents) for part in parts]
        if watch.later:
            forest.set_params(n_estimators=self.n_rounds).fit(documents[0], parts[0].y)
            for _ in forest.estimators_:
                watch([])
        for n in range(watch.rounds + 1, self.n_rounds + 1):
            forest.n_estimators = n
            forest.fit(documents[0], parts[0].y)
            tree = forest.estimators_[-1].tree_
            sums = [s + tree.predict(X)[:, 0] for s, X in zip(sums, documents, strict=True)]
            if watch([s / n for s in sums]):
                break

        def grown(kept: int) -> tuple[Trees, np.ndarray]:
            forest.estimators_ = forest.estimators_[:kept]
            nodes = [_nodes(tree.tree_) for tree in forest.estimators_]
            return Trees.of(nodes, divisor=float(kept), single=True), forest.feature_importances_

        return grown


def _nodes(tree: Any) -> list[np.ndarray]:
    """Return the nodes of one of scikit-learn's trees."""
    feature = np.where(tree.children_left < 0, LEAF, tree.feature)
    return [feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0]]
