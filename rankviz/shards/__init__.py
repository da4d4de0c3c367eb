"""Shards: the documents of whole queries in parts, each worked on where it is, and a fit as sums over them.

Pairs never cross queries, so a fit touches documents only through sums over parts of whole queries: scores,
adjoints, the risk and its Hessian products, Gram matrices, samples of active pairs. An m-vector goes out and
one comes back; landmarks, their factor and the preconditioner are kept once.
"""

from rankviz.shards.backend import Backend, Held, Here
from rankviz.shards.cutting import cut
from rankviz.shards.objective import ShardedObjective
from rankviz.shards.part import Part
from rankviz.shards.space import ShardedSpace

__all__ = ["Backend", "Held", "Here", "Part", "ShardedObjective", "ShardedSpace", "cut"]
