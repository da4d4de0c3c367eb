"""What a run will cost, before the fact: seconds and bytes from its sizes and the speed of this machine.

Operations are counted stage by stage and divided by rates that a calibration of a few hundredths of a second
measures once per process. How many Newton steps and CG iterations it takes is not known beforehand; typical
numbers stand for them, so that seconds are right within a factor of a few. Bytes are counts of array sizes.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from rankviz.datasets.types import DataError, Fold
from rankviz.estimators import PREDICT_ENTRIES
from rankviz.experiments.spec import RunSpec
from rankviz.objective import CLOSED_FORM_COLUMNS
from rankviz.pairs import count_pairs

NEWTON_STEPS = 5
CG_ITERATIONS = 8
"""In one Newton step with the preconditioner."""
PLAIN_CG_ITERATIONS = 30
"""In one Newton step without it."""
PAIR_BYTES = 100
"""Peak bytes per preference pair: two indices, and the margins, derivatives and active pairs of one point."""
PAIR_TRAFFIC = 200
"""Bytes moved per pair in one pass, gathers and scatters included."""
BUDGET_SHARE = 0.7
"""Of the memory that is free a run may take this much."""
FIXED_SECONDS = 0.01
OVERHEAD = 2.5
"""Seconds of a run over those of its counted operations at the best rates of this machine."""


@dataclass(frozen=True)
class Shape:
    """Sizes that decide what a run costs.

    Attributes
    ----------
    n, d, pairs : int
        Documents, features and preference pairs of the training part.
    documents, largest_part : int
        Documents of all parts together and of the largest one.
    """

    n: int
    d: int
    pairs: int
    documents: int
    largest_part: int

    @classmethod
    def of(cls, fold: Fold) -> Shape:
        """The sizes of a fold."""
        sizes = [part.n_documents for part in fold.parts.values()]
        train = fold.train
        pairs = int(count_pairs(train.y, train.ptr).sum()) if train.n_documents else 0
        return cls(train.n_documents, train.n_features, pairs, sum(sizes), max(sizes))


@dataclass(frozen=True)
class Rates:
    """What this machine does in a second: floating point operations of a matrix product, entries, bytes."""

    flops: float
    exp: float
    cos: float
    memory: float


LAPTOP = Rates(flops=6e10, exp=5e8, cos=7e7, memory=4e10)
"""A laptop of these years. What runs while a visitor waits is decided by these, the same on every day."""


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of one run.

    Attributes
    ----------
    spec : RunSpec
    shape : Shape
    stages : dict
        Stage -> seconds of its counted operations.
    bytes : int
        Largest memory in use at a time, beyond what the program takes by itself.
    """

    spec: RunSpec
    shape: Shape
    stages: dict[str, float]
    bytes: int

    @property
    def seconds(self) -> float:
        """All stages together, and what is not counted."""
        return OVERHEAD * sum(self.stages.values())

    def __str__(self) -> str:
        return f"about {in_words(self.seconds)} and {megabytes(self.bytes)}"


def estimate(spec: RunSpec, sizes: Fold | Shape, rates: Rates | None = None) -> Estimate:
    """Predict seconds and bytes of a run on data of these sizes, by default at this machine's own rates."""
    shape = sizes if isinstance(sizes, Shape) else Shape.of(sizes)
    rates = measured_rates() if rates is None else rates
    return Estimate(spec, shape, _stages(spec, shape, rates), _bytes(spec, shape))


def total_in_words(estimates: list[Estimate]) -> str:
    """What several runs one after the other cost: the seconds of all, the bytes of the largest."""
    seconds, most = sum(e.seconds for e in estimates), max((e.bytes for e in estimates), default=0)
    return f"about {in_words(seconds)} and {megabytes(most)}"


def in_words(seconds: float) -> str:
    """A duration with the digits that mean something: "0.4 s", "12 s", "3 min", "1.5 h"."""
    if seconds < 10:
        return f"{max(seconds, 0.1):.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def megabytes(size: float) -> str:
    """A size in MB or GB."""
    return f"{max(size / 1e6, 1):.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def check_budget(predicted: Estimate, budget: float | None = None) -> None:
    """Raise `DataError` where a run needs more bytes than `budget`, naming an m that would do.

    The default budget is 70 % of the memory that is free.
    """
    budget = BUDGET_SHARE * free_memory() if budget is None else budget
    if predicted.bytes <= budget:
        return
    fits = _largest_fitting(predicted, budget)
    advice = f"Choose m = {fits} or fewer features." if fits else "Choose a smaller data set."
    raise DataError(
        f"{predicted.shape.n:,} documents with m = {predicted.spec.n_components:,} need about "
        f"{megabytes(predicted.bytes)} of memory",
        expected=f"at most {megabytes(budget)} ({BUDGET_SHARE:.0%} of what is free)",
        remedy=advice,
    )


def _largest_fitting(predicted: Estimate, budget: float) -> int:
    """The largest m that fits a budget, to two digits; 0 where none does or m plays no part."""
    if predicted.spec.feature_map == "linear":
        return 0
    low, high = 0, predicted.spec.n_components
    while high - low > max(1, low // 50):  # low fits, high does not
        middle = (low + high) // 2
        fits = _bytes(replace(predicted.spec, n_components=middle), predicted.shape) <= budget
        low, high = (middle, high) if fits else (low, middle)
    text = str(low)
    return int(text[:2] + "0" * (len(text) - 2))


def _width(spec: RunSpec, shape: Shape) -> int:
    """Columns of the stored feature matrix."""
    if spec.feature_map == "linear":
        return shape.d
    return min(spec.n_components, shape.n) if spec.feature_map == "nystroem" else spec.n_components


def _stages(spec: RunSpec, shape: Shape, rates: Rates) -> dict[str, float]:
    k, nystroem = _width(spec, shape), spec.feature_map == "nystroem"
    plain = spec.preconditioner == "none"
    features, factor = _features(spec.feature_map, shape.n, shape.d, k, rates), 0.0
    if nystroem:
        factor = 2.0 * k**3 / rates.flops + 40 * shape.n * shape.d * 8 / rates.memory
        factor += _spread(shape, k, rates) if spec.landmarks == "kmeans++" else 0.0
    product = (2 * shape.n * k * 8 + (k**2 * 8 if nystroem else 0)) / rates.memory
    pair_pass = shape.pairs * PAIR_TRAFFIC / rates.memory
    cg = PLAIN_CG_ITERATIONS if plain else CG_ITERATIONS
    return {
        "features": FIXED_SECONDS + features,
        "factor": factor,
        "preconditioner": 0.0 if plain else _preconditioner(shape.n, k, rates),
        "newton": NEWTON_STEPS * ((cg + 3) * product + (cg / 3 + 3) * pair_pass),
        "evaluate": _features(spec.feature_map, shape.documents, shape.d, k, rates)
        + 20 * shape.documents * shape.d * 8 / rates.memory,
    }


def _spread(shape: Shape, k: int, rates: Rates) -> float:
    """Choosing k landmarks by k-means++: the distance of every document to each of them, written and read."""
    return shape.n * k * (2 * shape.d / rates.flops + 16 / rates.memory)


def _features(feature_map: str, n: int, d: int, k: int, rates: Rates) -> float:
    if feature_map == "linear":
        return 0.0
    entrywise = rates.exp if feature_map == "nystroem" else rates.cos
    return n * k * (2 * d / rates.flops + 1 / entrywise + 24 / rates.memory)


def _preconditioner(n: int, k: int, rates: Rates) -> float:
    if k <= CLOSED_FORM_COLUMNS:
        return 2 * n * k**2 / rates.flops + 4 * n * k * 8 / rates.memory
    return 3 * k**3 / rates.flops


def _bytes(spec: RunSpec, shape: Shape) -> int:
    k, nystroem, exact = _width(spec, shape), spec.feature_map == "nystroem", spec.feature_map == "linear"
    data = shape.documents * shape.d * (2 if spec.normalisation != "none" else 1)
    base = 0 if exact else shape.n * k
    inputs = 2 * shape.n * shape.d if nystroem else 0
    narrow = k <= CLOSED_FORM_COLUMNS
    squares = k**2 * ((2 if nystroem else 0) + (2 if narrow else 4))
    preconditioner = 2 * shape.n * k if narrow else 0
    pairs = shape.pairs * PAIR_BYTES // 8
    training = base + max(inputs, squares + max(preconditioner, pairs))
    evaluation = 0 if exact else min(shape.largest_part * k, PREDICT_ENTRIES)
    return 8 * (data + max(training, evaluation))


def measured_rates() -> Rates:
    """What this machine does in a second, at best: timed on the first call and again now and then.

    A measurement takes about 0.04 s; other work on the machine slows it, so the best of all is kept.
    """
    return _meter().rates()


class _Meter:
    """The best rates seen, measured at most every twenty seconds and ten times in all."""

    def __init__(self) -> None:
        slowest = Rates(*(rate / 4 for rate in astuple(LAPTOP)))  # below it, a machine is busy, not slow
        self._best, self._times, self._last = slowest, 0, -math.inf

    def rates(self) -> Rates:
        """The best so far."""
        if self._times < 10 and time.monotonic() - self._last > 20:
            new = _measure()
            self._best = Rates(*map(max, astuple(self._best), astuple(new)))
            self._times, self._last = self._times + 1, time.monotonic()
        return self._best


@cache
def _meter() -> _Meter:
    return _Meter()


def _measure() -> Rates:
    """Time four small kernels."""
    rng = np.random.default_rng(0)
    A, x, out = rng.standard_normal((256, 256)), rng.standard_normal(20_000), np.empty(20_000)
    B, v = np.ones((2000, 1000)), np.ones(1000)  # 16 MB: beyond the inner caches
    return Rates(
        flops=2 * 256**3 / _fastest(lambda: A @ A),
        exp=len(x) / _fastest(lambda: np.exp(x, out=out)),
        cos=len(x) / _fastest(lambda: np.cos(x, out=out)),
        memory=B.nbytes / _fastest(lambda: B @ v),
    )


def _fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of the tries in a hundredth of a second: others may be at work here."""
    seconds: list[float] = []
    while len(seconds) < 2 or sum(seconds) < 0.01:
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return max(min(seconds), 1e-9)


def free_memory() -> int:
    """Bytes that a program may still take: what the system has available, or its group of processes."""
    available = _meminfo()
    limit = _number(Path("/sys/fs/cgroup/memory.max"))
    used = _number(Path("/sys/fs/cgroup/memory.current"))
    if limit is not None and used is not None:
        available = min(available, max(0, limit - used))
    return available


def _meminfo() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    # no such file: half of all memory is a careful guess
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
