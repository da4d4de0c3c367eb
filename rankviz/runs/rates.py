"""The speed of this machine, measured within a few hundredths of a second, and that of a common laptop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache

import numpy as np


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
    return _meter().rates()


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
    """Return the seconds of the fastest try within 0.01 s; other work may slow some tries."""
    seconds: list[float] = []
    while len(seconds) < 2 or sum(seconds) < 0.01:
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return max(min(seconds), 1e-9)
