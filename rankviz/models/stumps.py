"""Weak rankers that are thresholds of single features, and the boosting that adds one in each round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import Setting, Steps, Whole
from rankviz.datasets.types import RankingData
from rankviz.learning.pairs import PreferencePairs
from rankviz.models.rounds import PATIENCE, ROUNDS, Grown, RoundRanker, Watch, shares
from rankviz.models.trees import Trees, stump

THRESHOLDS = Setting(
    name="thresholds",
    symbol="thresholds",
    label="Thresholds",
    domain=Whole(1, 60_000),
    default=255,
    help="Largest number of thresholds of a feature. With fewer distinct values all of them are tried, "
    "otherwise quantiles.",
    key="thresholds",
    offer=Steps((10, 30, 100, 255, 1000)),
    caption=lambda n: f"{n} thresholds",
    quiet=True,
)


class Threshold(NamedTuple):
    """The best threshold: above it, documents have the sum `total` of what was asked."""

    feature: int
    threshold: float
    total: float


class Stumps:
    """All thresholds of all features: documents' codes, (d, n), so that a sum above each is one count.

    A threshold lies halfway between two neighbouring values of its feature.
    """

    def __init__(self, X: FloatArray, most: int) -> None:
        self._X = X
        self._cuts = [_cuts(column, most) for column in X.T]
        kind = np.uint8 if most < 256 else np.uint16
        self._codes = np.empty(X.T.shape, kind)
        for codes, cuts, column in zip(self._codes, self._cuts, X.T, strict=True):
            codes[:] = np.searchsorted(cuts, column)  # thresholds below the value

    def sums(self, v: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield each feature with thresholds, and Σ v over the documents above each of them."""
        for feature, cuts in enumerate(self._cuts):
            if len(cuts):
                yield feature, self._sum(self._codes[feature], v, len(cuts))

    @staticmethod
    def _sum(codes: IntArray, v: FloatArray, n: int) -> FloatArray:
        """Return Σ v over codes above each of n thresholds, (n,)."""
        total: FloatArray = v.sum() - np.cumsum(np.bincount(codes, v, n + 1))[:-1]
        return total

    def crossed(
        self, pairs: PreferencePairs, v: FloatArray, features: Sequence[int] | None = None
    ) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield features, with two sums of v over the pairs that each threshold parts, (p,) -> twice (K,).

        The first has the sign − for pairs whose preferred document is below; O(n) apart from a sum over the
        pairs with both documents above.
        """
        sides = (pairs.winner, pairs.loser)
        won, lost = (np.bincount(side, v, pairs.n).astype(np.float64) for side in sides)
        for feature, cuts in enumerate(self._cuts):
            if not len(cuts) or (features is not None and feature not in features):
                continue
            codes = self._codes[feature]
            above, below = (self._sum(codes, side, len(cuts)) for side in (won, lost))
            lower = np.minimum(codes[pairs.winner], codes[pairs.loser])
            yield feature, above - below, above + below - 2.0 * self._sum(lower, v, len(cuts))

    def best(self, v: FloatArray) -> Threshold | None:
        """Return the threshold with the largest |Σ v over documents above it|, the first of equals.

        None if no feature has a threshold.
        """
        found = None
        for feature, above in self.sums(v):
            k = int(np.abs(above).argmax())
            if found is None or abs(above[k]) > abs(found.total):
                found = self.at(feature, k, float(above[k]))
        return found

    def at(self, feature: int, k: int, total: float = 0.0) -> Threshold:
        """Return the k-th threshold of a feature."""
        return Threshold(feature, float(self._cuts[feature][k]), total)

    def above(self, at: Threshold) -> FloatArray:
        """Return 1.0 for the documents above a threshold, 0.0 for the others: (n,)."""
        return (self._X[:, at.feature] > at.threshold).astype(np.float64)


def _cuts(column: FloatArray, most: int) -> FloatArray:
    """Return at most so many thresholds of a feature, ascending."""
    values = np.unique(column)
    cuts = 0.5 * values[:-1] + 0.5 * values[1:]
    if len(cuts) > most:
        shares = np.quantile(column, np.arange(1, most + 1) / (most + 1), method="lower")
        cuts = np.unique(cuts[np.minimum(np.searchsorted(values, shares), len(cuts) - 1)])
    return cuts


class Step(NamedTuple):
    """One round: a threshold, the number added above it, and the loss after it; `last` ends training."""

    at: Threshold
    alpha: float
    loss: float
    last: bool = False


@dataclass(eq=False, repr=False)
class StumpBoosting(RoundRanker):
    """Boosting of thresholds of single features: f(x) = Σ_t α_t [x_{j_t} > θ_t].

    A subclass chooses the step of a round.
    """

    n_rounds: int = 300
    patience: int = 50
    thresholds: int = 255

    settings = (ROUNDS, THRESHOLDS, PATIENCE)

    @classmethod
    def bytes_for(cls, n: int, d: int, values: Mapping[str, Any]) -> int:
        """Return the bytes of training on n documents of all parts: codes, sorting, and sums."""
        return n * (2 * d + 128) + 16 * d * int(values[THRESHOLDS.name])

    @abstractmethod
    def steps(self, data: RankingData, stumps: Stumps) -> Any:
        """Return an object with `loss` (before any round) and `step`: scores (n,) -> `Step` or None."""

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Add a threshold in each round, until none lowers the loss."""
        boosting = self.steps(parts[0], Stumps(parts[0].X, self.thresholds))
        scores = [np.zeros(part.n_documents) for part in parts]
        trees: list[Any] = []
        gains = np.zeros((self.n_rounds, parts[0].n_features))
        watch.rows[0]["loss"] = loss = boosting.loss
        for t in range(self.n_rounds):
            step = boosting.step(scores[0])
            if step is None:
                if not trees:  # all scores stay equal
                    trees.append(stump(0, 0.0, 0.0))
                    watch(scores, loss=loss)
                break
            trees.append(stump(step.at.feature, step.at.threshold, step.alpha))
            for own, part in zip(scores, parts, strict=True):
                own += step.alpha * (part.X[:, step.at.feature] > step.at.threshold)
            gains[t, step.at.feature] = max(loss - step.loss, 0.0)
            loss = step.loss
            if watch(scores, loss=loss) or step.last:
                break
        return lambda kept: (Trees.of(trees[:kept]), shares(gains[:kept].sum(axis=0)))
