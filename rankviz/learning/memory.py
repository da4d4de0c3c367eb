"""Available memory, and the memory of training, computed in advance from array sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rankviz.common.errors import DataError
from rankviz.common.memory import BUDGET_SHARE, free_memory, megabytes
from rankviz.common.parallel import BLOCK_ENTRIES, ROWS
from rankviz.common.settings import Positive, Setting, one_of
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernels import kernel_facts, usual_kernel
from rankviz.features.registry import FEATURE_MAPS, KERNEL, MapKind
from rankviz.learning.feature_space import CLOSED_FORM_COLUMNS, copy_bytes, document_entries, pairs_to_sample
from rankviz.learning.kernel_space import first_landmarks, preconditioner_bytes
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import loss_of
from rankviz.learning.pairs import count_pairs
from rankviz.learning.solvers import SOLVERS, USUAL
from rankviz.learning.sorted_risk import risk_sizes

PAIR_BYTES = 100
"""Peak bytes per listed preference pair: two indices, and the margins, derivatives and active pairs."""
CUT_BYTES = 120
"""Peak bytes per document and other grade if pairs are not listed."""


@dataclass(frozen=True)
class TrainingSizes:
    """Sizes that determine the memory of training.

    Attributes
    ----------
    feature_map : str
        A name in `rankviz.features.FEATURE_MAPS`.
    m : int
        Landmarks or frequencies.
    n, d : int
        Documents and features.
    pairs, cuts : int
        Preference pairs if the risk lists them; else documents times other grades.
    kernel : str or Kernel
        A name in `rankviz.features.KERNELS`, or an object; ignored by maps without a kernel.
    """

    feature_map: str
    m: int
    n: int
    d: int
    pairs: int = 0
    cuts: int = 0
    kernel: str | Kernel = KERNEL.default

    @property
    def kind(self) -> MapKind:
        """The feature map's declaration; `SettingError` for an unknown name."""
        one_of("feature_map", self.feature_map, FEATURE_MAPS)
        return FEATURE_MAPS[self.feature_map]

    @property
    def in_kernel_space(self) -> bool:
        """True if the exact kernel is solved without a factor (see `rankviz.features.exact`)."""
        return self.kind.memory.in_kernel_space(self.n)

    @property
    def width(self) -> int:
        """Columns of the stored feature matrix."""
        return self.kind.memory.width(self.m, self.n, self.d)

    @property
    def bytes(self) -> int:
        """Peak bytes besides the data, and besides the kernel matrix of an exact kernel without a factor."""
        risk = self.pairs * PAIR_BYTES + self.cuts * CUT_BYTES
        return risk + 8 * (self._beside_kernel() if self.in_kernel_space else self._features())

    @property
    def base_bytes(self) -> int:
        """Bytes of stored features among these; shards can store them in other ways."""
        stored = self.kind.memory.base and not self.in_kernel_space
        return 8 * self.n * self.width if stored else 0

    @property
    def copy_bytes(self) -> int:
        """Additional bytes for products in single precision, used if memory allows."""
        nested = not self.in_kernel_space and self.kind.memory.base
        return copy_bytes(self.n, self.width) if nested else 0

    def _beside_kernel(self) -> int:
        """Count entries: the preconditioner, vectors with images, and documents as factors of the kernel."""
        preconditioner = preconditioner_bytes(self.n, first_landmarks(self.n)) // 8
        return preconditioner + self._scratch(self.n) + 40 * self.n + 3 * self.n * self.d

    def _features(self) -> int:
        """Return entries: the base, plus its computation or the preconditioner, whichever is larger."""
        k, kept = self.width, self.kind.memory
        base = self.n * k if kept.base else 0
        inputs = 8 * self.n if kept.factor else 0  # hashes of documents
        inputs = max(inputs, self._scratch(k) if kept.base else 0)
        if k > self.n:
            return base + max(inputs, document_entries(self.n, k))
        beside = 2 * k if k <= CLOSED_FORM_COLUMNS else k + 3 * pairs_to_sample(self.n, k)
        squares = k * ((2 * k if kept.factor else 0) + beside)
        return base + max(inputs, squares)

    def _scratch(self, columns: int) -> int:
        """Return temporary entries for a base with so many columns: in a block, and documents as factors."""
        KERNEL.check(self.kernel)
        scratch = usual_kernel(self.kernel).scratch(self.d) if self.kind.has_kernel else 0
        block = min(max(columns, BLOCK_ENTRIES // (1 + scratch)), self.n * columns)
        return scratch * block + (min(self.n, ROWS) + 2 * columns) * (self.d + 2)


def check_fits(sizes: TrainingSizes, budget: float, extra: float = 0.0) -> None:
    """Raise `DataError` if training needs more than `budget` bytes; `extra` bytes are needed for every m."""
    if sizes.bytes + extra > budget:
        fits = largest_fitting(sizes, lambda narrower: narrower.bytes + extra <= budget)
        raise too_large(sizes, sizes.bytes + extra, budget, fits)


def too_large(sizes: TrainingSizes, need: float, budget: float, fits: int) -> DataError:
    """Return the error for training beyond `budget` bytes; `fits` is the largest m that can."""
    remedy = f"Choose m = {fits} or fewer features." if fits else "Choose a smaller data set."
    if sizes.kind.is_exact:
        remedy = f"Choose {_approximation(sizes.kernel)}, or a smaller data set."
    with_m = f" with m = {sizes.m:,}" if sizes.kind.has_components else ""
    return DataError(
        f"training on {sizes.n:,} documents{with_m} needs about {megabytes(need)} of memory",
        expected=f"at most {megabytes(budget)} (by default {BUDGET_SHARE:.0%} of what is free)",
        remedy=remedy,
    )


def _approximation(kernel: str | Kernel) -> str:
    """Name an approximation of the exact kernel that needs less memory."""
    kinds = FEATURE_MAPS.values()
    found = next((k for k in kinds if k.approximates and k.takes(kernel_facts(kernel))), None)
    return "an approximation" if found is None else f"the {found.label} approximation"


def largest_fitting(sizes: TrainingSizes, fits: Callable[[TrainingSizes], bool]) -> int:
    """Return the largest m with which training fits, to two digits; 0 if none fits or m is not used."""
    if not sizes.kind.has_components:
        return 0
    low, high = 0, sizes.m
    while high - low > max(1, low // 50):  # low fits, high does not
        middle = (low + high) // 2
        low, high = (middle, high) if fits(replace(sizes, m=middle)) else (low, middle)
    text = str(low)
    return int(text[:2] + "0" * (len(text) - 2))


UNCHECKED = 32 << 20
"""Bytes of training for which the system is not asked: its answer takes as long as some of these fits."""


def default_budget(sizes: TrainingSizes | None = None) -> float:
    """Return the default memory limit of training in bytes: 70 % of the free memory.

    Training of small sizes has a fixed limit, unless it may also keep a kernel matrix.
    """
    small = sizes is not None and sizes.bytes <= UNCHECKED and not sizes.in_kernel_space
    return 2.0 * UNCHECKED if small else BUDGET_SHARE * free_memory()


MEMORY_LIMIT = Setting(
    name="memory_limit",
    symbol="memory",
    label="Largest memory, in bytes",
    domain=Positive(optional=True),
    default=None,
    help="None for 70 % of what is free.",
    quiet=True,
    how=True,
)


def training_sizes(
    data: RankingData,
    feature_map: str,
    kernel: str | Kernel,
    m: int,
    loss: str | AnyLoss,
    solver: str = USUAL,
) -> TrainingSizes:
    """Return the sizes that determine the memory of training a RankSVM on data."""
    pairs, cuts = risk_sizes(data.y, data.ptr, loss_of(loss).surrogate())
    if SOLVERS[solver].lists_pairs:
        pairs = int(count_pairs(data.y, data.ptr).sum())
    return TrainingSizes(feature_map, m, data.n_documents, data.n_features, pairs, cuts, kernel)


def refuse_long_lists(pairs: int, budget: float, loss: str | AnyLoss, solver: str) -> None:
    """Raise `DataError` if the listed pairs alone do not fit, with an alternative that needs no list."""
    if pairs * PAIR_BYTES <= budget:
        return
    by_solver, nearest = SOLVERS[solver].lists_pairs, loss_of(loss).unlisted
    instead = f"solver={USUAL!r}" if by_solver else f"loss={nearest!r}" if nearest else ""
    remedy = (
        f"Choose {instead}, which needs no list, or fewer documents."
        if instead
        else "Choose fewer documents."
    )
    raise DataError(
        f"{f'solver={solver!r}' if by_solver else f'loss={loss!r}'} lists its pairs: {pairs:,} take about "
        f"{megabytes(pairs * PAIR_BYTES)}",
        expected=f"at most {megabytes(budget)} of memory",
        remedy=remedy,
    )
