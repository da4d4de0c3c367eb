"""Intervals of a mean over few queries: how often they cover it, ours and seven other methods.

A cell says in how many of 100 samples an interval covers the mean, in how many the mean lies below and above
it, and the mean width. Samples count where ours gives an interval ("given", in percent). The first column of
the method before counts all samples, for that method gave an interval for each. A row is of 4,000 samples, so
that a coverage of 95 has a standard error of 0.3. Gaffke's method and betting know that values lie in [0, 1],
and differences in [−1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import report
from rankviz.common.arrays import BoolArray, FloatArray
from rankviz.metrics.significance import interval

SIZES = (8, 15, 21, 40, 63, 106)
SAMPLES, RESAMPLES, BATCH = 4000, 999, 200
TAIL = 0.025
Ends = tuple[FloatArray, FloatArray]
OURS, BEFORE = "ours", "percentile bootstrap, widened (before)"


def _zeros(share: float) -> Callable[[np.random.Generator, tuple[int, int]], FloatArray]:
    return lambda rng, size: rng.random(size) * (rng.random(size) >= share)


def _differences(share: float) -> Callable[[np.random.Generator, tuple[int, int]], FloatArray]:
    """Return a function that draws differences of two correlated metrics; a share of the values is 0."""

    def drawn(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
        one = rng.beta(1, 2, size)
        other = np.clip(one + rng.laplace(0.03, 0.12, size), 0, 1)
        return (other - one) * (rng.random(size) >= share)

    return drawn


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "normal": lambda rng, size: rng.normal(0.5, 0.1, size),
    "uniform": lambda rng, size: rng.random(size),
    "0 or 1, a fifth are 1": lambda rng, size: (rng.random(size) < 0.2).astype(np.float64),
    "80 % zeros, rest uniform": _zeros(0.8),
    "skewed, log-normal": lambda rng, size: np.minimum(np.exp(rng.normal(-2.5, 1.0, size)), 1.0),
    "skewed, beta(0.3, 2.7)": lambda rng, size: rng.beta(0.3, 2.7, size),
    "differences, 60 % zeros": _differences(0.6),
    "differences, 70 % zeros": _differences(0.7),
    "differences, 80 % zeros": _differences(0.8),
}


def main() -> None:
    """Simulate every shape and size; write results/intervals."""
    table = pd.DataFrame([_row(name, n) for name in SHAPES for n in SIZES])
    report.write("intervals", "Intervals of means over few queries", table, [__doc__.split("\n\n")[1]])


def _row(name: str, n: int) -> dict[str, object]:
    """Return a cell for each method, of the samples that ours gives an interval for."""
    draw = SHAPES[name]
    mean = float(draw(np.random.default_rng(99), (4000, 2000)).mean())
    rng, lowest = np.random.default_rng([5, n]), -1.0 if "differences" in name else 0.0
    counts = _counts(n)
    batches = [_all(draw(rng, (BATCH, n)), counts, lowest) for _ in range(SAMPLES // BATCH)]
    ends = {method: np.hstack([batch[method] for batch in batches]) for method in batches[0]}
    given = ~np.isnan(ends[OURS][0])
    row = {"values": name, "queries": n, "given": round(100 * given.mean(), 1)}
    row["before, every sample"] = _covered(ends[BEFORE], mean)
    return row | {method: _covered(both[:, given], mean) for method, both in ends.items()}


def _covered(ends: FloatArray, mean: float) -> str:
    """Return how many samples in 100 cover a mean (below it + above it), and the mean width."""
    low, high = ends
    slack = 1e-9  # an end may be the mean itself
    below, above = 100 * np.mean(mean < low - slack), 100 * np.mean(mean > high + slack)
    return f"{100 - below - above:.1f} ({below:.1f} + {above:.1f}), {np.mean(high - low):.3f}"


def _counts(n: int) -> FloatArray:
    """Count each of n values in every resample."""
    rng = np.random.default_rng(0)
    return rng.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)


def _all(values: FloatArray, counts: FloatArray, lowest: float) -> dict[str, Ends]:
    """The ends by every method, of samples (s, n)."""
    ours = [interval(sample) for sample in values]
    own = (np.array([one.low for one in ours]), np.array([one.high for one in ours]))
    return {
        OURS: own,
        "Student": _student(values),
        **_by_bootstrap(values, counts),
        "sign flips": _sign_flips(values),
        "Gaffke": _gaffke(values, lowest),
        "betting": _betting(values, lowest),
    }


def _standardised(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, standard deviations (1 where it is 0), and the values in these, turned: (n, s)."""
    mean, spread = values.mean(axis=1), values.std(axis=1)
    z = ((values - mean[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]).T
    return mean, spread, z


def _student(values: FloatArray) -> Ends:
    n = values.shape[1]
    mean, spread, _ = _standardised(values)
    reach = spread * stats.t.ppf(1 - TAIL, n - 1) / math.sqrt(n - 1)
    return mean - reach, mean + reach


def _by_bootstrap(values: FloatArray, counts: FloatArray) -> dict[str, Ends]:
    n = values.shape[1]
    mean, spread, z = _standardised(values)
    means, squares = counts @ z / n, counts @ z**2 / n
    variance = np.maximum(squares - means**2, 0.0)
    flat = variance < 1e-12
    t = np.where(flat, np.sign(means) * 1e6, means / np.sqrt(np.where(flat, 1.0, variance)))
    upper, lower = _order(t)
    widened = stats.norm.sf(stats.t.ppf(1 - TAIL, n - 1) * math.sqrt(n / (n - 1)))
    low, high = np.quantile(means, [widened, 1 - widened], axis=0)
    bca = [np.nan_to_num(spread * end) for end in _bca(means, z)]
    return {
        "bootstrap t": (mean - spread * lower, mean - spread * upper),
        "BCa": (mean + bca[0], mean + bca[1]),
        BEFORE: (mean + spread * low, mean + spread * high),
    }


def _bca(means: FloatArray, z: FloatArray) -> list[FloatArray]:
    """Quantiles of resampled means at levels that are corrected for bias and acceleration (Efron 1987)."""
    bias = stats.norm.ppf(np.clip(((means < 0).mean(axis=0) + (means <= 0).mean(axis=0)) / 2, 1e-4, 1 - 1e-4))
    acceleration = (z**3).sum(axis=0) / (6 * np.maximum((z**2).sum(axis=0), 1e-12) ** 1.5)
    ordered, found = np.sort(means, axis=0), []
    for quantile in stats.norm.ppf([TAIL, 1 - TAIL]):
        moved = bias + quantile
        level = stats.norm.cdf(bias + moved / (1 - acceleration * moved))
        places = np.clip((level * len(means)).astype(int), 0, len(means) - 1)
        found.append(np.take_along_axis(ordered, places[None], axis=0)[0])
    return found


def _order(draws: FloatArray) -> Ends:
    """The quantiles at both tails of each column, as values that were drawn."""
    k = int((len(draws) + 1) * TAIL)
    ordered = np.sort(draws, axis=0)
    return ordered[k - 1], ordered[-k]


def _sign_flips(values: FloatArray) -> Ends:
    """The means that a test by sign flips does not refuse: between quantiles of means of half samples."""
    halves = np.random.default_rng(1).integers(0, 2, (RESAMPLES, values.shape[1])).astype(np.float64)
    halves = halves[halves.any(axis=1)]
    return _order(halves @ values.T / halves.sum(axis=1)[:, None])


def _gaffke(values: FloatArray, lowest: float) -> Ends:
    """Means of the ordered values and a bound, randomly weighted (Learned-Miller and Thomas 2019)."""
    weights = np.random.default_rng(2).dirichlet(np.ones(values.shape[1] + 1), RESAMPLES)
    ordered, bound = np.sort(values, axis=1), np.ones((len(values), 1))
    low = _order(weights @ np.hstack([lowest * bound, ordered]).T)[0]
    return low, _order(weights @ np.hstack([ordered, bound]).T)[1]


def _betting(values: FloatArray, lowest: float) -> Ends:
    """Means against which a gambler does not grow rich: hedged capital (Waudby-Smith and Ramdas 2024)."""
    x = (np.clip(values, lowest, 1.0) - lowest) / (1.0 - lowest)
    n = x.shape[1]
    grid = np.linspace(0.0, 1.0, 401)[1:-1]
    sums, squares = np.full(len(x), 0.5), np.full(len(x), 0.25)
    up, down = np.zeros((len(x), len(grid))), np.zeros((len(x), len(grid)))
    for k in range(n):
        variance = np.maximum(squares / (k + 1), 1e-6)
        bet = np.sqrt(2 * math.log(1 / TAIL) / (variance * n))[:, None]
        moved = x[:, k, None] - grid
        up += np.log1p(np.minimum(bet, 0.5 / grid) * moved)
        down += np.log1p(-np.minimum(bet, 0.5 / (1 - grid)) * moved)
        sums += x[:, k]
        squares += (x[:, k] - sums / (k + 2)) ** 2
    kept: BoolArray = np.maximum(up, down) + math.log(0.5) < math.log(1 / (2 * TAIL))
    step = grid[1] - grid[0]
    low, high = grid[kept.argmax(axis=1)] - step, grid[len(grid) - 1 - kept[:, ::-1].argmax(axis=1)] + step
    return lowest + (1 - lowest) * low, lowest + (1 - lowest) * high
