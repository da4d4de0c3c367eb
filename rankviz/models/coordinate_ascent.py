"""Coordinate ascent on a measure itself (metzler2007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import SEED, Choice, Setting, Typed, Whole
from rankviz.datasets.types import RankingData
from rankviz.models.linear_rounds import Copies, LinearRounds
from rankviz.models.rounds import MEASURE, PATIENCE, ROUNDS, Grown, Watch, shares
from rankviz.models.trees import Terms

STEPS = np.concatenate((-(2.0 ** np.arange(2, -4, -1)), 2.0 ** np.arange(-3, 3)))
"""Changes of a weight that are tried, in units of the mean size of the weights."""
LEAST = 1e-9
"""Smallest gain that counts: less is rounding."""


@dataclass(frozen=True)
class Raised:
    """A measure to raise."""

    label: str
    column: str


MEASURES = {"ndcg": Raised("NDCG@10", MEASURE), "map": Raised("MAP", "MAP")}
"""Measures by their names in `CoordinateAscent(measure=...)`."""

RAISED = Setting(
    name="measure",
    symbol="measure",
    label="Measure",
    domain=Choice(MEASURES),
    default="ndcg",
    help="Measure that training raises. Early stopping reads NDCG@10 in any case.",
    key="measure",
)

STARTS = Setting(
    name="starts",
    symbol="starts",
    label="Starts",
    domain=Whole(1, 1000),
    default=2,
    help="The first has equal weights, the others random ones. The best on the training part counts.",
    key="ascents",
    offer=Typed(1, 20, 1),
    caption=lambda n: f"{n} starts",
    quiet=True,
)

PASSES = replace(
    ROUNDS,
    label="Passes",
    default=25,
    help="Largest number of passes over all features, of all starts together.",
    key="passes",
    offer=Typed(1, 200, 5),
    caption=lambda n: f"{n} passes",
)
PASS_PATIENCE = replace(PATIENCE, default=10, key="passpatience", offer=Typed(0, 100, 5))


@dataclass(eq=False, repr=False)
class CoordinateAscent(LinearRounds):
    """Coordinate ascent: change one weight of f(x) = w·x after the other, if NDCG@10 or MAP rises.

    A measure is constant between jumps, so there are no derivatives. A round is a pass over all features, in
    random order. For each feature twelve changes of its weight, and its removal, are measured at once, and
    the best one is kept if the measure rises. A pass without a gain ends a start; the next one begins with
    random weights. The model is the best so far on the training part, so its measure never falls.

    The trace has that measure as `raised`.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of passes, and passes without a higher validation NDCG@10 before training ends.
    measure : {"ndcg", "map"}
    starts : int
    random_state : int
        Seed of the order of features, and of random weights.

    Examples
    --------
    >>> from rankviz import CoordinateAscent
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = CoordinateAscent(n_rounds=3).fit(data.X, data.y, qid=data.qid)
    >>> bool((model.trace_["raised"].diff()[1:] >= 0).all())
    True
    """

    n_rounds: int = 25
    patience: int = 10
    measure: str = "ndcg"
    starts: int = 2
    random_state: int = 0

    settings = (PASSES, RAISED, STARTS, PASS_PATIENCE, SEED)
    traced = ("raised", "raised measure (NDCG@10 or MAP), training")

    @classmethod
    def bytes_for(cls, n: int, d: int, values: Mapping[str, Any]) -> int:
        """Return the bytes of training on n documents of all parts: many lists are measured at once."""
        return n * (8 * d + 200 * (len(STEPS) + 1))

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Pass over the features until no start gains."""
        rng, d = np.random.default_rng(self.random_state), parts[0].n_features
        ascent = Ascent(parts[0], MEASURES[self.measure].column)
        best, changes, left = np.zeros(d), list[FloatArray](), self.starts - 1
        watch.rows[0]["raised"] = highest = ascent.value(best)
        w = np.full(d, 1.0 / d)
        for _ in range(self.n_rounds):
            w, gained = ascent.passed(w, rng.permutation(d).tolist())
            change = w - best
            if (value := ascent.value(best + change)) <= highest:
                change, value = np.zeros(d), highest
            changes.append(change)
            best, highest = best + change, value
            if watch([part.X @ best for part in parts], raised=highest) or not (gained or left):
                break
            if not gained:
                left, w = left - 1, rng.standard_normal(d) / d

        def grown(kept: int) -> tuple[Terms, FloatArray]:
            return Terms.of(changes[:kept]), shares(np.abs(np.sum(changes[:kept], axis=0)))

        return grown


class Ascent:
    """One part, and the measure of w·x on it."""

    def __init__(self, part: RankingData, measure: str) -> None:
        self._X = part.X
        self._one, self._many = Copies(part, measure), Copies(part, measure, len(STEPS) + 1)

    def value(self, w: FloatArray) -> float:
        """Return the measure at weights w (d,)."""
        return float(self._one.means((self._X @ w)[None])[0])

    def passed(self, w: FloatArray, order: IntArray) -> tuple[FloatArray, bool]:
        """Try to change each weight once; return the weights, and whether their measure rose."""
        first = value = self.value(w)
        now, f = w.copy(), self._X @ w
        for j in order:
            changes = np.append(STEPS * np.abs(now).mean(), -now[j])
            found = self._many.means(f + changes[:, None] * self._X[:, j])
            k = int(found.argmax())
            if found[k] > value + LEAST:
                now[j] += changes[k]
                f, value = self._X @ now, float(found[k])
        rose = self.value(now) > first  # rounding may part or join documents of equal scores
        return (now, True) if rose else (w, False)
