"""Choice between the two ways to compute a risk.

See docs/decisions/0004-two-forms-of-a-risk.md.
"""

from __future__ import annotations

from rankviz.common.arrays import IntArray
from rankviz.learning.costs import PLAIN, PairCosts
from rankviz.learning.losses import Loss, PiecewiseQuadratic
from rankviz.learning.pair_risk import PairRisk
from rankviz.learning.pairs import count_pairs, grade_codes
from rankviz.learning.risk_point import Risk
from rankviz.learning.sorted_risk import SortedRisk

PAIRS_PER_READ = 0.7
"""Number of listed pairs that take as long as one read of a cumulative sum. Measured for queries of 3 to 100
documents: break-even was between 0.3 (seven zones) and 1.1 (one zone, two grades)."""

LEAST_PAIRS = 5000
"""With fewer pairs both ways take less than 1 ms, and listing needs less preparation."""


def sorts(y: IntArray, ptr: IntArray, loss: Loss) -> bool:
    """Return True if sorting is faster for grades y (n,) in queries with offsets ptr (Q + 1,)."""
    if not isinstance(loss, PiecewiseQuadratic):
        return False
    cuts = (len(grade_codes(y, ptr).levels) - 1) * len(y)
    return sorting_pays(int(count_pairs(y, ptr).sum()), cuts, loss)


def sorting_pays(pairs: int, cuts: int, loss: Loss) -> bool:
    """Return True if sorting is faster, from the number of pairs and of cuts, (R − 1)·n.

    Each cut needs zones + 1 reads of cumulative sums, at the ends of the zones.
    """
    if not isinstance(loss, PiecewiseQuadratic):
        return False
    return pairs > max(LEAST_PAIRS, PAIRS_PER_READ * cuts * (len(loss.zones) + 1))


def risk_sizes(y: IntArray, ptr: IntArray, loss: Loss) -> tuple[int, int]:
    """Return the entries stored by the faster way: listed pairs and 0, or 0 and (R − 1)·n for sorting."""
    pairs, cuts = int(count_pairs(y, ptr).sum()), (len(grade_codes(y, ptr).levels) - 1) * len(y)
    return (0, cuts) if sorting_pays(pairs, cuts, loss) else (pairs, 0)


def risk_of(y: IntArray, ptr: IntArray, loss: Loss, costs: PairCosts = PLAIN) -> Risk:
    """Return the risk of grades y (n,) in queries with offsets ptr (Q + 1,), in the faster form."""
    if isinstance(loss, PiecewiseQuadratic) and sorts(y, ptr, loss):
        return SortedRisk(y, ptr, loss, costs)
    return PairRisk(y, ptr, loss, costs)
