"""Predicted cost of a run: seconds and bytes from its sizes and this machine's speed, and the remaining time.

Operations are counted stage by stage, and divided by rates that are measured in a few hundredths of a second.
The number of training steps is unknown beforehand, so solvers and methods declare typical numbers. Seconds
are right within a factor of a few; with the exact kernel they grow with C and γ. `Remaining` corrects them
during training. Bytes are counts of array sizes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np

from rankviz.common.memory import megabytes
from rankviz.datasets.types import Fold
from rankviz.features import LINEAR
from rankviz.features.fourier import cosines
from rankviz.features.kernel_matrix import planned_matrix
from rankviz.features.kernels import usual_kernel
from rankviz.features.registry import FEATURE_MAP, KERNEL, N_COMPONENTS
from rankviz.learning.feature_space import CLOSED_FORM_COLUMNS, document_flops, pairs_to_sample
from rankviz.learning.kernel_space import first_landmarks, growth_bytes, growth_words
from rankviz.learning.losses import LOSS, LOSSES
from rankviz.learning.memory import TrainingSizes, check_fits, default_budget
from rankviz.learning.pairs import count_pairs, grade_codes
from rankviz.learning.solvers import SOLVER, START, Sizes, SolverChoice, Work
from rankviz.learning.sorted_risk import stored_entries
from rankviz.models.feature_ranker import PREDICT_ENTRIES
from rankviz.models.low_rank_blocks import rectangle_entries
from rankviz.runs.families import families
from rankviz.runs.spec import DataSpec, RunSpec
from rankviz.shards.storage import STORAGES, fastest_here, plan_here


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
        factored = training.kind.memory.factor
        landmarks = first_landmarks(self.n) if in_kernel_space else 0
        more = self.queries, self.entries, in_kernel_space, factored, self.d, landmarks
        return Sizes(self.n, columns, *more)

    def _risk(self, spec: RunSpec) -> tuple[int, int]:
        """Return (pairs, 0) if pairs are listed, else (0, n (grades − 1)); (0, 0) without a risk."""
        if not (spec.offers.pair_objective or spec.option(LOSS.name)):
            return 0, 0
        cuts = max(self.grades - 1, 0) * self.n
        loss = spec.option(LOSS.name) or LOSSES[LOSS.default]
        by_solver = getattr(spec.option(SOLVER.name), "lists_pairs", False)
        return (self.pairs, 0) if by_solver else stored_entries(self.pairs, cuts, self.n, loss.surrogate())


@dataclass(frozen=True)
class Rates:
    """Rates per second: floating point operations of a matrix product, exp and cos entries, bytes."""

    flops: float
    exp: float
    cos: float
    memory: float


LAPTOP = Rates(flops=6e10, exp=5e8, cos=7e7, memory=4e10)
"""A current laptop. Its constant rates decide which runs are made while a visitor waits."""


def measured_rates() -> Rates:
    """Return this machine's best speed, measured at the first call and sometimes again.

    A measurement takes about 0.04 s. Other work on the machine slows it, so the best one counts.
    """
    return _METER.rates()


class _Meter:
    """The best rates so far, measured at most every twenty seconds and ten times in all."""

    def __init__(self) -> None:
        slowest = Rates(*(rate / 4 for rate in astuple(LAPTOP)))  # a lower rate means a busy machine
        self._best, self._times, self._last = slowest, 0, -math.inf

    def rates(self) -> Rates:
        """Return the best rates so far."""
        if self._times < 10 and time.monotonic() - self._last > 20:
            new = _measure()
            self._best = Rates(*map(max, astuple(self._best), astuple(new)))
            self._times, self._last = self._times + 1, time.monotonic()
        return self._best


_METER = _Meter()


def _measure() -> Rates:
    """Time four small kernels."""
    rng = np.random.default_rng(0)
    A, x, out = rng.standard_normal((256, 256)), rng.standard_normal(20_000), np.empty(20_000)
    B, v = np.ones((2000, 1000)), np.ones(1000)  # 16 MB: beyond the inner caches
    return Rates(
        flops=2 * 256**3 / _fastest(lambda: A @ A),
        exp=len(x) / _fastest(lambda: np.exp(x, out=out)),
        cos=len(x) / _fastest(lambda: cosines(x.copy()[:, None])),
        memory=B.nbytes / _fastest(lambda: B @ v),
    )


def _fastest(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest try within 0.01 s; other work may slow some tries."""
    seconds: list[float] = []
    while len(seconds) < 2 or sum(seconds) < 0.01:
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return max(min(seconds), 1e-9)


PAIR_TRAFFIC = 200
"""Bytes moved per listed pair in one pass, gathers and scatters included."""
CUT_TRAFFIC = 400
"""Bytes moved per document and other grade in one pass, if pairs are not listed."""
PLAIN_TRAFFIC = 16
"""Bytes that move in the time of one operation outside matrix products."""
SHARED = ("features", "factor", "evaluate")
"""Stages that are done once for runs that differ only in m and C."""
LEARNED = ("preconditioner", "newton")
"""Stages that see only the sample of the training part."""
WARM_SHARE = 0.5
"""Newton seconds from a neighbour's weights, as a share of those from zero."""
FIXED_SECONDS = 0.01
OVERHEAD = 2.5
"""Seconds of a run, divided by those of its counted operations at the best rates."""
GUESS = "a guess: nothing is known of how many steps it takes"
KERNEL_OVERHEAD = 1.4
"""The same for an exact kernel, which mostly multiplies large matrices."""


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of one run.

    Attributes
    ----------
    spec : RunSpec
    shape : Shape
    sizes : TrainingSizes
        The sizes that determine the memory of training.
    stages : dict
        Stage -> seconds of its counted operations.
    bytes : int
        Largest memory in use at a time, beyond that of the program itself.
    storage : str
        How an exact kernel's matrix, or features that do not fit in double precision, are kept; else "".
    spare : int
        The part of `bytes` that only makes the run faster; it is used if it is free.
    guess : bool
        True if the method or solver declares nothing about its work.
    need : int
        The part of `bytes` that training cannot do without.
    more : int
        Further bytes that an exact kernel may take if its Newton systems are hard to solve.
    """

    spec: RunSpec
    shape: Shape
    sizes: TrainingSizes
    stages: dict[str, float]
    bytes: int
    storage: str = ""
    spare: int = 0
    guess: bool = False
    need: int = 0
    more: int = 0

    @property
    def seconds(self) -> float:
        """Seconds of all stages, with the overhead."""
        return self.overhead * sum(self.stages.values())

    @property
    def overhead(self) -> float:
        """Seconds, divided by the counted ones."""
        return KERNEL_OVERHEAD if self.sizes.kind.is_exact else OVERHEAD

    def __str__(self) -> str:
        notes = ", ".join(filter(None, (self.storage, growth_words(self.more), GUESS if self.guess else "")))
        return f"about {in_words(self.seconds)} and {megabytes(self.bytes)}{f' ({notes})' if notes else ''}"


def estimate(
    spec: RunSpec, fold: Fold | Shape, rates: Rates | None = None, budget: float | None = None
) -> Estimate:
    """Predict seconds and bytes of a run on data of these sizes.

    The defaults are this machine's measured rates, and its memory budget for training.
    """
    shape = fold if isinstance(fold, Shape) else Shape.of(fold)
    rates, sizes = measured_rates() if rates is None else rates, shape.training(spec)
    work = spec.kind.work(spec.values, shape.sizes(sizes))
    evaluation = min(shape.largest_part * sizes.width, PREDICT_ENTRIES) if sizes.kind.memory.base else 0
    data = 8 * shape.documents * shape.d * (1 if spec.normalisation == DataSpec.normalisation else 2)
    data += work.memory
    budget = default_budget() if budget is None else budget
    if not sizes.in_kernel_space:
        need, copy, storage = _planned(spec, shape, sizes, budget)
        storage = "kernel factored" if sizes.kind.is_exact else storage
        size = data + max(need + copy, 8 * evaluation)
        stages = _stages(spec, shape, sizes, work, rates)
        stages = {name: s * (spec.share if name in LEARNED else 1.0) for name, s in stages.items()}
        return Estimate(spec, shape, sizes, stages, size, storage, copy, work.guess, need)
    words, matrix = planned_matrix(shape.n, budget - sizes.bytes)
    more = growth_bytes(shape.n, budget - sizes.bytes - matrix) if work.preconditioned else 0
    stages = _kernel_stages(shape, sizes, work, rates, matrix)
    size = data + max(sizes.bytes + matrix, 8 * evaluation)
    return Estimate(spec, shape, sizes, stages, size, words, guess=work.guess, need=sizes.bytes, more=more)


def _planned(spec: RunSpec, shape: Shape, sizes: TrainingSizes, budget: float) -> tuple[int, int, str]:
    """Return the bytes of training, those of a copy of its features, and their storage in words."""
    if not isinstance(spec.option(SOLVER.name), SolverChoice):  # a low-rank method, which plans its own
        copy = sizes.copy_bytes if sizes.copy_bytes <= budget - sizes.bytes else 0
        return sizes.bytes, copy, ""
    plan, _ = fastest_here(sizes, shape.queries, spec.get(SOLVER.name), budget)
    unusual = sizes.base_bytes > 0 and plan.storage != STORAGES[0]
    return plan.need, plan.spare, plan.storage.words if unusual else ""


def budget_now() -> float:
    """Return the bytes of free memory that training may use; read it once for many runs."""
    return default_budget()


def total_seconds(estimates: Iterable[Estimate]) -> float:
    """Return the seconds of several runs made together.

    Runs of a family at one γ share features, factor and evaluation at the largest m. A warm start saves half
    the Newton steps.
    """
    by_spec = {predicted.spec: predicted for predicted in estimates}
    return sum(
        _together([by_spec[spec] for spec in same_kernel])
        for family in families(by_spec)
        for _, same_kernel in groupby(family, key=lambda spec: spec.get("gamma"))
    )


def total_in_words(estimates: Sequence[Estimate]) -> str:
    """Format the cost of several runs: seconds, bytes of the largest one, share of the exact kernel."""
    words = f"about {in_words(total_seconds(estimates))} and "
    words += megabytes(max((e.bytes for e in estimates), default=0))
    notes = [GUESS] if any(e.guess for e in estimates) else []
    exact = [e for e in estimates if e.sizes.kind.is_exact]
    if exact:
        part = f"{in_words(total_seconds(exact))} for the exact kernel, "
        hard = growth_words(max(e.more for e in exact))
        notes = [
            (part if len(exact) < len(estimates) else "") + exact[0].storage,
            *filter(None, [hard]),
            *notes,
        ]
    return f"{words} ({', '.join(notes)})" if notes else words


def in_words(seconds: float) -> str:
    """Format a duration with its significant digits: "0.4 s", "12 s", "3 min", "1.5 h"."""
    if seconds < 10:
        return f"{max(seconds, 0.1):.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _together(runs: Sequence[Estimate]) -> float:
    """Return the seconds of runs that differ only in m and C, in the order of their family."""
    shared = sum(max(run.stages.get(stage, 0.0) for run in runs) for stage in SHARED)
    newton = [
        run.stages["newton"]
        * (WARM_SHARE if place and getattr(run.spec.option(START.name), "shared", False) else 1.0)
        for place, run in enumerate(runs)
    ]
    counted = shared + sum(newton) + sum(run.stages["preconditioner"] for run in runs)
    return runs[0].overhead * counted


def check_budget(predicted: Estimate, budget: float | None = None) -> None:
    """Raise `DataError` if a run needs more bytes than `budget`, with an m that would fit.

    The default budget is 70 % of the free memory.
    """
    budget = default_budget() if budget is None else budget
    beside = predicted.bytes - predicted.spare - predicted.need
    if not isinstance(predicted.spec.option(SOLVER.name), SolverChoice):
        check_fits(predicted.sizes, budget, beside)
    else:
        solver = predicted.spec.get(SOLVER.name)
        plan_here(predicted.sizes, predicted.shape.queries, solver, budget, beside=beside)


def _stages(spec: RunSpec, shape: Shape, sizes: TrainingSizes, work: Work, rates: Rates) -> dict[str, float]:
    k, with_factor = sizes.width, sizes.kind.memory.factor
    features, factor = shape.n * k * _entry(sizes, rates), 0.0
    if with_factor:
        factor = 2.0 * k**3 / rates.flops + 40 * shape.n * shape.d * 8 / rates.memory
        factor += _spread(shape, k, rates) if _measures(spec, sizes) else 0.0
    product = (2 * shape.n * k * 8 + (k**2 * 8 if with_factor else 0)) / rates.memory
    return {
        "features": FIXED_SECONDS + features,
        "factor": factor,
        "preconditioner": _preconditioner(shape.n, k, rates) if work.preconditioned else 0.0,
        "newton": _training(work, product, sizes, rates),
        "evaluate": shape.documents * k * _entry(sizes, rates)
        + 20 * shape.documents * shape.d * 8 / rates.memory,
    }


def _measures(spec: RunSpec, sizes: TrainingSizes) -> bool:
    """Return True if the map draws by distances between documents."""
    choice = sizes.kind.draws_by
    return choice is not None and getattr(spec.option(choice.name), "measures", False)


def _training(work: Work, product: float, sizes: TrainingSizes, rates: Rates) -> float:
    """Return the seconds of training; `product` is those of one product with Φ and one with Φᵀ."""
    pair_pass = (sizes.pairs * PAIR_TRAFFIC + sizes.cuts * CUT_TRAFFIC) / rates.memory
    return (
        work.products * product
        + work.passes * pair_pass
        + work.flops / rates.flops
        + work.traffic / rates.memory
        + work.seconds
    )


def _kernel_stages(
    shape: Shape, sizes: TrainingSizes, work: Work, rates: Rates, matrix: int
) -> dict[str, float]:
    """Return the stages of an unfactored exact kernel; its matrix takes `matrix` bytes (0: not kept)."""
    n, m, entry = shape.n, first_landmarks(shape.n), _entry(sizes, rates)
    kernel = n**2 / 2 * entry
    product = 2 * matrix / rates.memory if matrix else kernel
    preconditioner = n * m * entry + (2 * n * m**2 + 3 * m**3) / rates.flops
    return {
        "features": FIXED_SECONDS + (kernel if matrix else 0.0),
        "preconditioner": preconditioner if work.preconditioned else 0.0,
        "newton": _training(work, product, sizes, rates),
        "evaluate": (shape.documents - n) * n * entry,
    }


def _spread(shape: Shape, k: int, rates: Rates) -> float:
    """Return the seconds of k-means++ for k landmarks: all distances are computed, written and read."""
    return shape.n * k * (2 * shape.d / rates.flops + 16 / rates.memory)


def _entry(sizes: TrainingSizes, rates: Rates) -> float:
    """Return the seconds of one entry of the base, a kernel value or a cosine; 0 if the base is X itself."""
    if not sizes.kind.memory.base:
        return 0.0
    cost = sizes.kind.entry_cost(usual_kernel(sizes.kernel), sizes.d)
    own = 2 * cost.products / rates.flops + cost.exp / rates.exp + cost.cos / rates.cos
    return own + (PLAIN_TRAFFIC * cost.plain + 24) / rates.memory


def _preconditioner(n: int, k: int, rates: Rates) -> float:
    if k > n:
        return document_flops(n, k) / rates.flops
    if k <= CLOSED_FORM_COLUMNS:
        return 2 * n * k**2 / rates.flops + 4 * n * k * 8 / rates.memory
    return 3 * pairs_to_sample(n, k) * k**2 / rates.flops


BELIEVED = 1.5
"""Factor by which an extrapolation must differ to replace the shown time, so that it stays stable."""
GROWTH = 1.5
"""Growth of a Newton step's gain, in logarithms, over the previous step's: convergence accelerates."""


class Remaining:
    """Remaining seconds of one run, counted down between Newton steps and corrected by them.

    Parameters
    ----------
    predicted : float
        Estimated seconds of the run.
    tol : float or None
        The solver's tolerance: Newton decrement over objective. None disables extrapolation.
    now : float
        Seconds on the same clock as in later calls.
    """

    def __init__(self, predicted: float, tol: float | None, now: float) -> None:
        self._tol, self._until, self._stepped = tol, now + predicted, now
        self._above = self._first = math.inf

    def note(self, row: Mapping[str, Any], now: float) -> None:
        """Read a row of the trace; ignore rows without a Newton decrement."""
        decrement, objective = row.get("decrement"), row.get("objective")
        if self._tol is None or not decrement or not objective:
            return
        before, self._above = self._above, math.log(abs(decrement / objective) / self._tol)
        if before == math.inf:
            self._first = self._above
        estimated, self._stepped = self.seconds(now), now
        gained = before - self._above
        if not 0 < gained < math.inf:
            return
        left = steps_left(self._above, gained) * row["seconds"] / (row["iteration"] + 1)
        # first steps are the cheapest: they may raise the estimate, but lower it only in the second half
        if left > estimated * BELIEVED or (left < estimated / BELIEVED and self._above < self._first / 2):
            self._until = now + left

    def seconds(self, now: float) -> float:
        """Return the remaining seconds; an overlong step counts as half done."""
        return max(self._until - now, now - self._stepped)


def steps_left(above: float, gained: float) -> float:
    """Return the Newton steps to the tolerance, if the latest step gained `gained`.

    `above` is log(decrement / tolerance); each step gains `GROWTH` times the one before.
    """
    if above <= 0:
        return 0.0
    return math.log(1 + above * (GROWTH - 1) / (GROWTH * gained)) / math.log(GROWTH)


def roughly(seconds: float) -> str:
    """Format a rough duration: "a few seconds", "about 40 s", "about 3 min"."""
    if seconds < 5:
        return "a few seconds"
    step = next((one for one in (10, 20, 40, 60, 90) if seconds <= one), None)
    return f"about {in_words(max(seconds, 100)) if step is None else f'{step} s'}"
