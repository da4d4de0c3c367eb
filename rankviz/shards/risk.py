"""What training asks of the risk of all shards together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rankviz.risk.costs import PairCosts
from rankviz.risk.losses import Loss


@dataclass(frozen=True, eq=False)
class ShardedRisk:
    """The risk of documents that are elsewhere (see `rankviz.risk.RiskFacts`).

    Attributes
    ----------
    loss : Loss
    costs : PairCosts
        Of all pairs.
    n_pairs : int
    total : (Loss) -> float
        Σ c_ij, brought from the shards by whoever asks for it.
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
        """The same with another loss."""
        return replace(self, loss=loss)
