"""Weights of feature maps whose documents are in shards."""

from __future__ import annotations

import math

import numpy as np

from rankviz.common.arrays import IntArray
from rankviz.common.mapped import let_pages_go
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import RankingData
from rankviz.features.family import MapFamily
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import FittedMap
from rankviz.learning.centring import FAR
from rankviz.learning.costs import PairCosts
from rankviz.learning.losses import Loss
from rankviz.learning.pairs import count_pairs
from rankviz.learning.precision import copy_bytes
from rankviz.learning.spaces import MapSpace, Task
from rankviz.shards import part as work
from rankviz.shards.backend import Backend, Held, Tell
from rankviz.shards.cutting import cut
from rankviz.shards.objective import ShardedObjective
from rankviz.shards.plan import Plan
from rankviz.shards.risk import ShardedRisk


class ShardedSpace(MapSpace):
    """Weights of feature maps, with objectives that are sums over shards; features are computed once per γ.

    Parameters
    ----------
    family : MapFamily
        Maps outside the kernel's own space.
    data : RankingData
    loss : Loss
        The first loss of training.
    costs : PairCosts
    backend : Backend
    plan : Plan
    """

    def __init__(
        self,
        family: MapFamily,
        data: RankingData,
        loss: Loss,
        costs: PairCosts,
        backend: Backend,
        plan: Plan,
    ) -> None:
        super().__init__(family, data.X)
        self.backend, self._costs, self._loss, self.plan = backend, costs, loss, plan
        self._n_pairs = int(count_pairs(data.y, data.ptr).sum())
        self._parts = backend.deal(cut(data, plan.shards, loss, costs))
        self._of: FittedMap | None = None
        self._shards: Held | None = None
        self._featured_seconds = 0.0

    def risk(self) -> ShardedRisk:
        """Return the facts about the risk of all documents."""
        return ShardedRisk(self._loss, self._costs, self._n_pairs, self._total_cost)

    def objective(
        self, task: Task, risk: ShardedRisk, seed: int, report: Report = silent
    ) -> ShardedObjective:
        """Return ½‖w‖² + C·risk(Φw) over shards."""
        fitted = self.map(task, report)
        shards, basis = self._featured(task.gamma, report), self.plan.keeping.basis(fitted.basis)
        n, k = len(self.X), basis.shape[0]
        # a single-precision copy pays if features are stored in double precision, and memory allows
        kept = self.plan.keeping.bytes(n, k) == 8 * n * k and fitted.basis.nested
        copies = kept and 0 < copy_bytes(n, k) <= self.plan.left
        largest = max(1.0, largest_value(fitted.kernel, self.X))
        return ShardedObjective(self.backend, shards, n, basis, risk, task.C, seed, copies, largest, report)

    def seconds(self, task: Task) -> float:
        """Return the seconds of the draw, and of the map's share of factor and features."""
        fitted = self.map(task)
        return self.family.seconds(fitted) + self.family.share(fitted) * self._featured_seconds

    def _featured(self, gamma: float, report: Report) -> Held:
        """Return the shards with the features of the widest map at γ."""
        widest = self.family.widest(gamma, report)
        if self._shards is None or self._of is not widest:
            self._shards, clock = None, Stopwatch()

            def tell(done: int, of: int) -> None:
                report(Progress("features", done / of, shards=(done, of)))

            let_pages_go(self.X)  # free pages read by checks of the data: features need the memory
            self._of, self._shards = widest, self._with_features(widest, tell)
            clock.lap("features")
            self._featured_seconds = clock.laps["features"]
        return self._shards

    def _with_features(self, widest: FittedMap, tell: Tell) -> Held:
        if widest.kernel is None:  # the documents are the features: nothing to compute or store
            return self.backend.each(work.moved, self._parts, self._far_columns(), tell=tell)
        return self.backend.each(work.featured, self._parts, widest, self.plan.keeping, tell=tell)

    def _far_columns(self) -> IntArray:
        """Return the columns of X whose largest value exceeds FAR times the largest spread within a query."""
        seen = self.backend.bring(work.glimpse, self._parts)
        size, spread = (np.max(found, axis=0) for found in zip(*seen, strict=True))
        likely = np.flatnonzero(size > FAR * spread)
        if len(likely) == 0:
            return likely
        widest = np.max(self.backend.bring(work.spread_of, self._parts, likely), axis=0)
        return np.asarray(likely[size[likely] > FAR * widest], np.int64)

    def _total_cost(self, loss: Loss) -> float:
        return math.fsum(self.backend.bring(work.total_cost, self._parts, loss))
