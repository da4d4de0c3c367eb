"""Weights of feature maps whose documents are in shards."""

from __future__ import annotations

import math

import numpy as np

from rankviz.common.arrays import IntArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import RankingData
from rankviz.features.family import MapFamily
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import FittedMap
from rankviz.fitting.centring import FAR
from rankviz.fitting.spaces import MapSpace, Task
from rankviz.objectives.precision import copy_bytes
from rankviz.risk.costs import PairCosts
from rankviz.risk.losses import Loss
from rankviz.risk.pairs import count_pairs
from rankviz.shards import part as work
from rankviz.shards.backend import Backend, Held
from rankviz.shards.cutting import cut
from rankviz.shards.objective import ShardedObjective
from rankviz.shards.risk import ShardedRisk


class ShardedSpace(MapSpace):
    """Weights of feature maps, with objectives that are sums over shards; each γ has features computed once.

    Parameters
    ----------
    family : MapFamily
        Of maps that are not in the kernel's own space.
    data : RankingData
    loss : Loss
        The one that training begins with.
    costs : PairCosts
    backend : Backend
    count : int
        Shards.
    budget : float
        Bytes that may be taken for speed.
    """

    def __init__(
        self,
        family: MapFamily,
        data: RankingData,
        loss: Loss,
        costs: PairCosts,
        backend: Backend,
        count: int,
        budget: float = 0.0,
    ) -> None:
        super().__init__(family, data.X)
        self.backend, self._costs, self._loss, self._budget = backend, costs, loss, budget
        self._n_pairs = int(count_pairs(data.y, data.ptr).sum())
        self._parts = backend.deal(cut(data, count, loss, costs))
        self._of: FittedMap | None = None
        self._shards: Held | None = None
        self._featured_seconds = 0.0

    def risk(self) -> ShardedRisk:
        """What is known of the risk of all documents."""
        return ShardedRisk(self._loss, self._costs, self._n_pairs, self._total_cost)

    def objective(
        self, task: Task, risk: ShardedRisk, seed: int, report: Report = silent
    ) -> ShardedObjective:
        """½‖w‖² + C·risk(Φw) over shards."""
        fitted = self.map(task, report)
        shards = self._featured(task.gamma, report)
        (n, _), k = self.X.shape, fitted.basis.shape[0]
        needed = copy_bytes(n, k) if fitted.basis.nested else 0
        largest = max(1.0, largest_value(fitted.kernel, self.X))
        copies = 0 < needed <= self._budget
        return ShardedObjective(self.backend, shards, n, fitted.basis, risk, task.C, seed, copies, largest)

    def seconds(self, task: Task) -> float:
        """The draw, and the share of factor and features that the map's columns are."""
        fitted = self.map(task)
        return self.family.seconds(fitted) + self.family.share(fitted) * self._featured_seconds

    def _featured(self, gamma: float, report: Report) -> Held:
        """The shards with the features of the widest map at γ."""
        widest = self.family.widest(gamma, report)
        if self._shards is None or self._of is not widest:
            self._shards, clock = None, Stopwatch()
            far = self._far_columns() if widest.kernel is None else np.zeros(0, np.int64)
            tell = lambda done, of: report(Progress("features", done / of))  # noqa: E731
            self._of, self._shards = (
                widest,
                self.backend.each(work.featured, self._parts, widest, far, tell=tell),
            )
            clock.lap("features")
            self._featured_seconds = clock.laps["features"]
        return self._shards

    def _far_columns(self) -> IntArray:
        """Columns of X that are further from zero than FAR times the largest spread within a query."""
        seen = self.backend.bring(work.glimpse, self._parts)
        size, spread = (np.max(found, axis=0) for found in zip(*seen, strict=True))
        likely = np.flatnonzero(size > FAR * spread)
        if len(likely) == 0:
            return likely
        widest = np.max(self.backend.bring(work.spread_of, self._parts, likely), axis=0)
        return np.asarray(likely[size[likely] > FAR * widest], np.int64)

    def _total_cost(self, loss: Loss) -> float:
        return math.fsum(self.backend.bring(work.total_cost, self._parts, loss))
