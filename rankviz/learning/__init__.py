"""Learning from pairs: losses, costs, the empirical risk, objectives, solvers and fits that share work.

The empirical risk of scores f (n,) has a value, a gradient (n,), and Hessian products (n,) -> (n,):
risk(f) = Σ_{(i,j) ∈ P} c_ij·ℓ(f_i − f_j). It depends on documents, pairs and costs, but not on features or
kernels. Two classes share one interface: `PairRisk` lists the pairs, `SortedRisk` does not.
"""

from typing import TYPE_CHECKING

from rankviz.common.lazy import names_of, submodules
from rankviz.learning.pair_risk import PairRisk
from rankviz.learning.risk_forms import risk_of, risk_sizes, sorting_pays
from rankviz.learning.risk_limits import adapted_risk, limit_of, smoothed_risk
from rankviz.learning.risk_point import ActivePairs, Risk, RiskFacts, RiskPoint, RiskSums
from rankviz.learning.sorted_risk import SortedRisk

__all__ = [
    "ActivePairs",
    "PairRisk",
    "Risk",
    "RiskFacts",
    "RiskPoint",
    "RiskSums",
    "SortedRisk",
    "adapted_risk",
    "limit_of",
    "risk_of",
    "risk_sizes",
    "smoothed_risk",
    "sorting_pays",
]

if not TYPE_CHECKING:
    __getattr__ = submodules(__name__)


def __dir__() -> list[str]:
    """List all names, including modules that are not imported yet."""
    return sorted({*globals(), *names_of(__path__)})
