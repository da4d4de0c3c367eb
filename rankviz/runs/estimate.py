"""What a run will cost, before the fact: seconds and bytes from its sizes and the speed of this machine.

Operations are counted stage by stage and divided by rates that a calibration of a few hundredths of a second
measures once per process. How many steps training takes is not known beforehand; typical numbers, which
solvers and methods declare, stand for them, so that seconds are right within a factor of a few; for the exact
kernel they grow with C and γ. A job corrects them by the steps it takes (`remaining.py`). Bytes are
counts of array sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from rankviz.common.numbers import megabytes
from rankviz.datasets.types import Fold
from rankviz.features import KERNELS
from rankviz.features.kernel_matrix import storage_dtype, storage_words, stored_bytes
from rankviz.learning.effort import Work
from rankviz.learning.feature_space import CLOSED_FORM_COLUMNS, pairs_to_sample
from rankviz.learning.kernel_space import first_landmarks
from rankviz.learning.memory import TrainingSizes, check_fits, default_budget
from rankviz.learning.preconditioner import document_flops
from rankviz.models.feature_ranker import PREDICT_ENTRIES
from rankviz.models.settings import START
from rankviz.runs.families import families
from rankviz.runs.rates import Rates, measured_rates
from rankviz.runs.shape import Shape
from rankviz.runs.spec import DataSpec, RunSpec

PAIR_TRAFFIC = 200
"""Bytes moved per listed pair in one pass, gathers and scatters included."""
CUT_TRAFFIC = 400
"""Bytes moved per document and other grade in one pass where pairs are not listed."""
PLAIN_TRAFFIC = 16
"""Bytes whose moving takes as long as an operation that is part of no matrix product."""
SHARED = ("features", "factor", "evaluate")
"""Stages that runs which differ in m and C only go through once."""
LEARNED = ("preconditioner", "newton")
"""Stages that see no more than the sample that is learned from."""
WARM_SHARE = 0.5
"""Newton seconds of a run that starts from a neighbour's weights over those of one from zero."""
FIXED_SECONDS = 0.01
OVERHEAD = 2.5
"""Seconds of a run over those of its counted operations at the best rates of this machine."""
GUESS = "a guess: nothing is known of how many steps it takes"
KERNEL_OVERHEAD = 1.4
"""The same for an exact kernel, nearly all of it products of large matrices."""


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of one run.

    Attributes
    ----------
    spec : RunSpec
    shape : Shape
    sizes : TrainingSizes
        What of them decides the memory that training takes.
    stages : dict
        Stage -> seconds of its counted operations.
    bytes : int
        Largest memory in use at a time, beyond what the program takes by itself.
    storage : str
        How the exact kernel's matrix would be kept in the memory that is free, in words, or that it would be
        factored; "" for other maps.
    spare : int
        Of these bytes those that a run takes for speed only, where they are free.
    guess : bool
        Whether nothing is declared about the work of its method or solver.
    """

    spec: RunSpec
    shape: Shape
    sizes: TrainingSizes
    stages: dict[str, float]
    bytes: int
    storage: str = ""
    spare: int = 0
    guess: bool = False

    @property
    def seconds(self) -> float:
        """All stages together, and what is not counted."""
        return self.overhead * sum(self.stages.values())

    @property
    def overhead(self) -> float:
        """Seconds over those that are counted."""
        return KERNEL_OVERHEAD if self.storage else OVERHEAD

    def __str__(self) -> str:
        notes = ", ".join(filter(None, (self.storage, GUESS if self.guess else "")))
        return f"about {in_words(self.seconds)} and {megabytes(self.bytes)}{f' ({notes})' if notes else ''}"


def estimate(
    spec: RunSpec, fold: Fold | Shape, rates: Rates | None = None, budget: float | None = None
) -> Estimate:
    """Predict seconds and bytes of a run on data of these sizes.

    By default at this machine's own rates, and with the share of its free memory that training may take.
    """
    shape = fold if isinstance(fold, Shape) else Shape.of(fold)
    rates, sizes = measured_rates() if rates is None else rates, shape.training(spec)
    work = spec.kind.work(spec.values, shape.sizes(sizes))
    evaluation = min(shape.largest_part * sizes.width, PREDICT_ENTRIES) if sizes.kind.kept.base else 0
    data = 8 * shape.documents * shape.d * (1 if spec.normalisation == DataSpec.normalisation else 2)
    data += work.memory
    budget = default_budget() if budget is None else budget
    if not sizes.in_kernel_space:
        copy = sizes.copy_bytes if sizes.copy_bytes <= budget - sizes.bytes else 0
        size = data + max(sizes.bytes + copy, 8 * evaluation)
        storage = "kernel factored" if sizes.kind.is_exact else ""
        stages = _stages(spec, shape, sizes, work, rates)
        stages = {name: s * (spec.share if name in LEARNED else 1.0) for name, s in stages.items()}
        return Estimate(spec, shape, sizes, stages, size, storage, copy, work.guess)
    dtype = storage_dtype(shape.n, budget - sizes.bytes)
    matrix = 0 if dtype is None else stored_bytes(shape.n, np.dtype(dtype).itemsize)
    stages = _kernel_stages(shape, sizes, work, rates, matrix)
    size = data + max(sizes.bytes + matrix, 8 * evaluation)
    return Estimate(spec, shape, sizes, stages, size, storage_words(dtype), guess=work.guess)


def budget_now() -> float:
    """The share of the free memory, in bytes, that training may take: to be asked once for many runs."""
    return default_budget()


def total_seconds(estimates: Iterable[Estimate]) -> float:
    """Seconds of several runs made together: what families of runs share is computed once.

    At one γ these are features, factor and evaluation at the largest m; a warm start saves half the Newton
    steps.
    """
    by_spec = {predicted.spec: predicted for predicted in estimates}
    return sum(
        _together([by_spec[spec] for spec in same_kernel])
        for family in families(by_spec)
        for _, same_kernel in groupby(family, key=lambda spec: spec.get("gamma"))
    )


def total_in_words(estimates: Sequence[Estimate]) -> str:
    """What several runs cost together: seconds, the bytes of the largest, and what the exact kernel adds."""
    words = f"about {in_words(total_seconds(estimates))} and "
    words += megabytes(max((e.bytes for e in estimates), default=0))
    notes = [GUESS] if any(e.guess for e in estimates) else []
    exact = [e for e in estimates if e.storage]
    if exact:
        part = f"{in_words(total_seconds(exact))} for the exact kernel, "
        notes = [(part if len(exact) < len(estimates) else "") + exact[0].storage, *notes]
    return f"{words} ({', '.join(notes)})" if notes else words


def in_words(seconds: float) -> str:
    """A duration with the digits that mean something: "0.4 s", "12 s", "3 min", "1.5 h"."""
    if seconds < 10:
        return f"{max(seconds, 0.1):.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _together(runs: Sequence[Estimate]) -> float:
    """Seconds of runs that differ in m and C only, in the order in which they are made."""
    shared = sum(max(run.stages.get(stage, 0.0) for run in runs) for stage in SHARED)
    newton = [
        run.stages["newton"]
        * (WARM_SHARE if place and getattr(run.spec.option(START.name), "shared", False) else 1.0)
        for place, run in enumerate(runs)
    ]
    counted = shared + sum(newton) + sum(run.stages["preconditioner"] for run in runs)
    return runs[0].overhead * counted


def check_budget(predicted: Estimate, budget: float | None = None) -> None:
    """Raise `DataError` where a run needs more bytes than `budget`, naming an m that would do.

    The default budget is 70 % of the memory that is free.
    """
    beside = predicted.bytes - predicted.spare - predicted.sizes.bytes
    check_fits(predicted.sizes, default_budget() if budget is None else budget, beside)


def _stages(spec: RunSpec, shape: Shape, sizes: TrainingSizes, work: Work, rates: Rates) -> dict[str, float]:
    k, with_factor = sizes.width, sizes.kind.kept.factor
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
    """Whether what the map draws depends on distances between documents."""
    choice = sizes.kind.draws_by
    return choice is not None and getattr(spec.option(choice.name), "measures", False)


def _training(work: Work, product: float, sizes: TrainingSizes, rates: Rates) -> float:
    """Seconds of training's work; `product` is the seconds of one with Φ and one with Φᵀ."""
    pairs = work.passes * _pair_pass(sizes, rates)
    return (
        work.products * product
        + pairs
        + work.flops / rates.flops
        + work.traffic / rates.memory
        + work.seconds
    )


def _kernel_stages(
    shape: Shape, sizes: TrainingSizes, work: Work, rates: Rates, matrix: int
) -> dict[str, float]:
    """Of the exact kernel without a factor, its matrix kept in `matrix` bytes, or not at all."""
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


def _pair_pass(sizes: TrainingSizes, rates: Rates) -> float:
    return (sizes.pairs * PAIR_TRAFFIC + sizes.cuts * CUT_TRAFFIC) / rates.memory


def _spread(shape: Shape, k: int, rates: Rates) -> float:
    """Choosing k landmarks by k-means++: the distance of every document to each of them, written and read."""
    return shape.n * k * (2 * shape.d / rates.flops + 16 / rates.memory)


def _entry(sizes: TrainingSizes, rates: Rates) -> float:
    """One entry of the base: a kernel value, or a cosine; nothing where the base is X itself."""
    if not sizes.kind.kept.base:
        return 0.0
    cost = sizes.kind.entry_cost(KERNELS[sizes.kernel].usual, sizes.d)
    own = 2 * cost.products / rates.flops + cost.exp / rates.exp + cost.cos / rates.cos
    return own + (PLAIN_TRAFFIC * cost.plain + 24) / rates.memory


def _preconditioner(n: int, k: int, rates: Rates) -> float:
    if k > n:
        return document_flops(n, k) / rates.flops
    if k <= CLOSED_FORM_COLUMNS:
        return 2 * n * k**2 / rates.flops + 4 * n * k * 8 / rates.memory
    return 3 * pairs_to_sample(n, k) * k**2 / rates.flops
