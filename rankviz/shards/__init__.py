"""Shards: whole queries' documents in parts, each processed where it is stored; a fit sums over them.

Pairs never cross queries. So a fit uses documents only through sums over parts of whole queries: scores,
adjoints, the risk and its Hessian products, Gram matrices, samples of active pairs. Each round sends out one
m-vector and gets one back. Landmarks, their factor and the preconditioner are stored once.
"""

from rankviz.shards.backend import Backend, Here, PerShard
from rankviz.shards.objective import ShardedObjective, ShardedSpace
from rankviz.shards.part import Part, cut

__all__ = ["Backend", "Here", "Part", "PerShard", "ShardedObjective", "ShardedSpace", "cut"]
