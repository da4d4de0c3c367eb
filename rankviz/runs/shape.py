"""The sizes of a fold that determine a run's cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rankviz.datasets.types import Fold
from rankviz.features import LINEAR
from rankviz.features.settings import KERNEL, N_COMPONENTS
from rankviz.learning import sorting_pays
from rankviz.learning.effort import Sizes
from rankviz.learning.kernel_space import first_landmarks
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.pairs import count_pairs, grade_codes
from rankviz.learning.risk_settings import LOSS
from rankviz.learning.solvers import SOLVER
from rankviz.models.low_rank.blocks import rectangle_entries
from rankviz.models.settings import FEATURE_MAP
from rankviz.runs.spec import RunSpec


@dataclass(frozen=True)
class Shape:
    """Sizes that determine a run's cost.

    Attributes
    ----------
    n, d, pairs : int
        Documents, features and preference pairs of the training part.
    grades : int
        Different relevance grades there.
    documents, largest_part : int
        Documents of all parts together and of the largest one.
    queries, entries : int
        Queries of the training part, and entries of the rectangles that hold their pairs.
    """

    n: int
    d: int
    pairs: int
    documents: int
    largest_part: int
    grades: int = 3
    queries: int = 1
    entries: int = 0

    @classmethod
    def of(cls, fold: Fold) -> Self:
        """Return the sizes of a fold."""
        sizes = [part.n_documents for part in fold.parts.values()]
        train = fold.train
        pairs = int(count_pairs(train.y, train.ptr).sum()) if train.n_documents else 0
        grades = len(grade_codes(train.y, train.ptr).levels)
        entries = rectangle_entries(train.y, train.ptr)
        features, documents = train.n_features, sum(sizes)
        return cls(
            train.n_documents, features, pairs, documents, max(sizes), grades, train.n_queries, entries
        )

    def training(self, spec: RunSpec) -> TrainingSizes:
        """Return the sizes that determine the memory of training."""
        return TrainingSizes(
            spec.get(FEATURE_MAP.name, LINEAR),
            spec.get(N_COMPONENTS.name, 1),
            self.n,
            self.d,
            *self._risk(spec),
            spec.get(KERNEL.name, KERNEL.default),
        )

    def sizes(self, training: TrainingSizes) -> Sizes:
        """Return the sizes that determine the work of training."""
        columns, in_kernel_space = training.width, training.in_kernel_space
        factored = training.kind.kept.factor
        landmarks = first_landmarks(self.n) if in_kernel_space else 0
        more = self.queries, self.entries, in_kernel_space, factored, self.d, landmarks
        return Sizes(self.n, columns, *more)

    def _risk(self, spec: RunSpec) -> tuple[int, int]:
        """Return (pairs, 0) if pairs are listed, else (0, n (grades − 1)); (0, 0) without a pairwise risk."""
        if not spec.offers.pair_objective:
            return 0, 0
        cuts = max(self.grades - 1, 0) * self.n
        loss = spec.option(LOSS.name) or LOSSES[LOSS.default]
        by_solver = getattr(spec.option(SOLVER.name), "lists_pairs", False)
        listed = by_solver or not sorting_pays(self.pairs, cuts, loss.surrogate())
        return (self.pairs, 0) if listed else (0, cuts)
