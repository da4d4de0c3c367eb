"""Which of the two ways to compute a risk."""

from __future__ import annotations

from rankviz._typing import IntArray
from rankviz.costs import PLAIN, PairCosts
from rankviz.losses import Loss, PiecewiseQuadratic
from rankviz.pairs import count_pairs, grade_codes
from rankviz.risk.explicit import PairRisk
from rankviz.risk.point import Risk
from rankviz.risk.sorted import SortedRisk

PAIRS_PER_CUT = 1.0
"""Listed pairs that cost about as much as one cut of the sorted form."""


def sorts(y: IntArray, ptr: IntArray, loss: Loss) -> bool:
    """Whether sorting is the faster way for grades y (n,) in queries with offsets ptr (Q + 1,)."""
    if not isinstance(loss, PiecewiseQuadratic):
        return False
    cuts = (len(grade_codes(y, ptr).levels) - 1) * len(y) * len(loss.zones)
    return int(count_pairs(y, ptr).sum()) > PAIRS_PER_CUT * cuts


def risk_of(y: IntArray, ptr: IntArray, loss: Loss, costs: PairCosts = PLAIN) -> Risk:
    """The risk of grades y (n,) in queries with offsets ptr (Q + 1,), computed the faster way."""
    if isinstance(loss, PiecewiseQuadratic) and sorts(y, ptr, loss):
        return SortedRisk(y, ptr, loss, costs)
    return PairRisk(y, ptr, loss, costs)
