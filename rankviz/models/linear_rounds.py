"""Rankers that grow by rounds and whose scores are w·x, with the measure that they raise on training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import evaluate
from rankviz.metrics.top import TopNDCG
from rankviz.models.ranker import Outcome
from rankviz.models.rounds import MEASURE, RoundRanker
from rankviz.models.trees import Terms


class LinearRounds(RoundRanker):
    """A ranker that grows by rounds, each of which changes some weights of f(x) = w·x.

    Attributes
    ----------
    coef_ : (d,) float64
        w.
    """

    sums = Terms
    trees_: Terms

    @classmethod
    def bytes_for(cls, n: int, d: int, values: Mapping[str, Any]) -> int:
        """Return the bytes of training on n documents of all parts: measures of all features."""
        return 8 * n * (d + 64)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the features, (d,)."""
        return self.trees_.weights(self.n_features_in_)

    def outcome(self) -> Outcome:
        """Add the weights."""
        return replace(super().outcome(), weights=self.coef_, n_components=self.n_features_in_)


@dataclass(eq=False)
class Copies:
    """A part, repeated, so that one call measures several scorings of it at once.

    Equal scores count at the mean over their orders, as everywhere.
    """

    part: RankingData
    measure: str
    times: int = 1

    def __post_init__(self) -> None:
        """Repeat the documents, without features."""
        self._top = TopNDCG(self.part)
        n, k = self.part.n_queries, self.times
        sizes = np.tile(np.diff(self.part.ptr), k)
        y = np.tile(self.part.y, k)
        ptr = np.concatenate(([0], np.cumsum(sizes)))
        self._data = RankingData(np.zeros((len(y), 0)), y, ptr, np.arange(n * k))

    def by_query(self, scores: FloatArray) -> FloatArray:
        """Return the measure of every query for scores (times, n) -> (times, Q)."""
        if self.measure == MEASURE:
            return self._top.by_query(scores)
        found = evaluate(scores.ravel(), self._data, COMPARED, measures=[self.measure])
        values: FloatArray = found.per_query[self.measure].to_numpy()
        return values.reshape(self.times, -1)

    def means(self, scores: FloatArray) -> FloatArray:
        """Return its means over the queries, (times,)."""
        return np.asarray(self.by_query(scores).mean(axis=1), np.float64)
