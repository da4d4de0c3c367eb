"""Base class of rankers with the feature maps of RankSVM, and an objective of their own.

A subclass is a dataclass with its own settings, and trains in `train`. Checks, memory, features, Stop, trace,
files and pages follow.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.memory import reuse_freed_memory
from rankviz.common.npz import Arrays
from rankviz.common.parallel import single_blas
from rankviz.common.progress import Callback, Report, reporter
from rankviz.common.settings import Setting
from rankviz.datasets.types import RankingData
from rankviz.features.maps import FittedMap
from rankviz.features.registry import FEATURE_MAP, FEATURE_MAPS
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.memory import PAIR_BYTES, TrainingSizes, check_fits, default_budget
from rankviz.learning.objective import Status
from rankviz.learning.pairs import count_pairs
from rankviz.learning.risk import Risk
from rankviz.learning.solvers import TOL, Sizes, Work
from rankviz.learning.training import FeatureSpace, MapFamily, Task
from rankviz.models.feature_ranker import (
    FeatureRanker,
    refuse_huge_kernel,
    refuse_huge_weight,
    refuse_long_documents,
)
from rankviz.models.ranker import refuse_unusable


@dataclass(frozen=True, eq=False)
class Problem:
    """Documents with their feature map drawn.

    Attributes
    ----------
    data : RankingData
    validation : RankingData or None
    space : FeatureSpace
    task : Task
    seed : int
    """

    data: RankingData
    validation: RankingData | None
    space: FeatureSpace
    task: Task
    seed: int

    def objective(self, risk: Risk, report: Report) -> RankObjective:
        """Return ½‖w‖² + C·risk(Φw)."""
        return self.space.objective(self.task, risk, self.seed, report)


@dataclass(frozen=True, eq=False)
class Trained:
    """The end of training.

    Attributes
    ----------
    map : FittedMap
    weights : (m,) float64
    objective : float
    status : Status
    trace : DataFrame
    """

    map: FittedMap
    weights: FloatArray
    objective: float
    status: Status
    trace: pd.DataFrame


@dataclass(eq=False, repr=False)
class MapRanker(FeatureRanker):
    """A ranker f(x) = w·φ(x) on any feature map, which a subclass trains."""

    settings: ClassVar[tuple[Setting, ...]] = (LOSS_WEIGHT, FEATURE_MAP, TOL)
    kept: ClassVar[tuple[str, ...]] = ()
    """Names in `solution`."""
    least_objective = 0.0

    feature_map: str = "linear"
    n_components: int = 500
    gamma: float | str = "scale"
    C: float = 2.0**-7
    random_state: int | np.random.RandomState | None = 0
    rank: int | None = None
    landmarks: str = "uniform"
    frequencies: str = "gaussian"
    kernel: Any = "rbf"
    degree: int = 3
    coef0: float = 1.0
    tol: float = 1e-6
    max_iter: int | None = None
    memory_limit: float | None = None

    @abstractmethod
    def train(self, problem: Problem, report: Report) -> Trained:
        """Train; a stop through `report` during iterations keeps the current weights."""

    @abstractmethod
    def entries(self, data: RankingData) -> int:
        """Return the number of listed pairs of documents that decides the memory."""

    @property
    def keeps_documents(self) -> bool:
        """True for the exact kernel, whose model is coefficients of documents."""
        kind = FEATURE_MAPS.get(self.feature_map)
        return kind is None or kind.is_exact

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`; see `fit`."""
        return self.fit_watching(data, None, callback)

    def fit_watching(
        self, data: RankingData, validation: RankingData | None, callback: Callback | None = None
    ) -> Self:
        """Train; rankers that stop early read the validation part too."""
        report, seed = reporter(callback), self.seed()
        self.check_settings()
        self.memory_need_ = self._refuse_large(data)
        reuse_freed_memory()
        began = time.perf_counter()
        self.gamma_ = self.gamma_for(data.X)
        refuse_huge_kernel(self.kernel_at(self.gamma_), data.X)
        self.n_pairs_ = int(count_pairs(data.y, data.ptr).sum())
        refuse_huge_weight(float(self.C), self.n_pairs_)
        with single_blas():
            space = FeatureSpace(MapFamily(self.unfitted_map(1.0, seed), data.X, report), data.X)
            task = Task(int(self.n_components), self.gamma_, float(self.C))
            space.map(task, report)
            features = time.perf_counter() - began
            end = self.train(Problem(data, validation, space, task, seed), report)
        self.feature_map_, self.coef_, self.objective_ = end.map, end.weights, end.objective
        self.n_components_, self.status_, self.trace_ = end.map.n_components, end.status, end.trace
        self.n_iter_, self.start_ = max(len(end.trace) - 1, 0), "zero"
        self.seconds_ = {"features": features, "newton": time.perf_counter() - began - features}
        self.gap_ = float("nan")
        self.learned(data.n_features)
        return self

    def restore(self, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Set what `solution` has from a file; KeyError or ValueError if invalid."""
        self.keep({name: arrays[name] for name in self.kept})

    def _refuse_large(self, data: RankingData) -> int:
        """Return the bytes of training; raise `DataError` or `SettingError` for data that it cannot use."""
        refuse_unusable(data)
        refuse_long_documents(self.kernel_at(1.0), data)
        n, m = data.n_documents, int(self.n_components)
        sizes = TrainingSizes(self.feature_map, m, n, data.n_features, self.entries(data), 0, self.kernel)
        if sizes.in_kernel_space:
            raise SettingError(
                f"the exact kernel of {n:,} documents is trained in coefficients of documents, by Newton "
                f"steps on a fixed convex loss, and {type(self).__name__} has none; choose "
                "feature_map='nystroem', or fewer documents"
            )
        check_fits(sizes, default_budget(sizes) if self.memory_limit is None else float(self.memory_limit))
        return sizes.bytes


def work_of(products: float, passes: float) -> Any:
    """Return the work of a method with so many products with Φ, and passes over its lists."""
    return lambda values, sizes: _work(sizes, products, passes)


def _work(sizes: Sizes, products: float, passes: float) -> Work:
    if sizes.in_kernel_space:
        return Work()  # it is refused before any work
    listed = sizes.n * sizes.n / max(sizes.queries, 1)
    seconds, memory = passes * listed * PAIR_SECONDS, int(listed * PAIR_BYTES)
    return Work(products=products, seconds=seconds, memory=memory, preconditioned=True)


PAIR_SECONDS = 8e-9
"""Seconds of a pass per pair of documents of a query; about half of all pairs are listed."""
