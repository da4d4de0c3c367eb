"""Learning from pairs: losses, costs, the empirical risk, objectives, solvers and fits that share work.

The empirical risk of scores f (n,) has a value, a gradient (n,), and Hessian products (n,) -> (n,):
risk(f) = Σ_{(i,j) ∈ P} c_ij·ℓ(f_i − f_j). It depends on documents, pairs and costs, but not on features or
kernels. Two classes share one interface: `risk.PairRisk` lists the pairs, `sorted_risk.SortedRisk` does not.
"""

from typing import TYPE_CHECKING

from rankviz.common import submodules

if not TYPE_CHECKING:  # a type checker that saw this would accept any name
    __getattr__, __dir__ = submodules(globals())
