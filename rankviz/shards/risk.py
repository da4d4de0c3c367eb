"""Facts about the risk of all shards together, for training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rankviz.learning.costs import PairCosts
from rankviz.learning.losses import Loss


@dataclass(frozen=True, eq=False)
class ShardedRisk:
    """The risk of documents in shards (see `rankviz.learning.RiskFacts`).

    Attributes
    ----------
    loss : Loss
    costs : PairCosts
        Costs of all pairs.
    n_pairs : int
    total : (Loss) -> float
        Σ c_ij, fetched from the shards on demand.
    """

    loss: Loss
    costs: PairCosts
    n_pairs: int
    total: Callable[[Loss], float]

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        return self.total(self.loss)

    def with_loss(self, loss: Loss) -> ShardedRisk:
        """Return the same with another loss."""
        return replace(self, loss=loss)
