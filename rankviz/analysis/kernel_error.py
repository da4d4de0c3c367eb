"""The distance of K̃ = ΦΦᵀ from the exact kernel matrix K, against the number of features m.

Maps are fitted as for training: landmarks come from all training documents. K and K̃ are compared on all
documents, or on a sample independent of the landmarks. A sampled document is a landmark as often as any
other, so Nyström, which is exact at landmarks, gains nothing. One fit at the largest m gives the error at
every smaller m, because both maps are nested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.linalg import eigsh

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.parallel import BLOCK_ENTRIES
from rankviz.common.progress import Progress, Report, Stopwatch, silent
from rankviz.features import FEATURE_MAPS, Drawn, FeatureMap, Kernel, MapSettings
from rankviz.features.kernel_base import KernelFacts
from rankviz.features.nystroem import distinct_rows
from rankviz.features.registry import supports_kernel

MAPS = tuple(name for name, kind in FEATURE_MAPS.items() if kind.approximates)
"""Feature maps that approach a kernel as m grows."""
NORMS = ("frobenius", "spectral", "maximum")
ALL_UP_TO = 2000
"""Largest number of documents for a comparison on all."""
SAMPLE = 1000
"""Documents compared if there are more: a million kernel values."""
LANCZOS_TOLERANCE = 1e-4
LANCZOS_VECTORS = 10  # on residuals of both maps half the products of scipy's default, 20
DENSE_UP_TO = 32  # up to this many rows compute all eigenvalues


@dataclass(frozen=True)
class Variant:
    """A kernel map and its draw: landmarks or frequencies by their name in `RankSVM`."""

    map: str
    choice: str

    def at(self, m: int, kernel: Kernel, seed: int) -> FeatureMap:
        """Return its settings for m features of a kernel."""
        draws_by = FEATURE_MAPS[self.map].draws_by
        how = {} if draws_by is None else {draws_by.name: self.choice}
        settings: dict[str, Any] = {"n_components": m, "kernel": kernel, "seed": seed} | how
        return FEATURE_MAPS[self.map].make(MapSettings(**settings))

    def draw(self, X: FloatArray, m: int, kernel: Kernel, seed: int) -> Drawn:
        """Draw for documents X (n, d): the same for every γ, and leading parts for fewer than m."""
        return self.at(m, kernel, seed).draw(X)

    def takes(self, kernel: KernelFacts) -> bool:
        """Return True if the map with this draw supports a kernel."""
        kind = FEATURE_MAPS[self.map]
        return supports_kernel(kind, kernel) and supports_kernel(
            kind.draws_by and kind.draws_by.options.get(self.choice), kernel
        )

    @property
    def columns(self) -> dict[str, str]:
        """Its two columns in tables."""
        return {"map": self.map, "choice": self.choice}


def draws_of(feature_map: str) -> list[Variant]:
    """Return all draws of a map, the papers' first; one if there is no choice."""
    choice = FEATURE_MAPS[feature_map].draws_by
    if choice is None:
        return [Variant(feature_map, "")]
    others = [name for name in choice.options if name != choice.default]
    return [Variant(feature_map, str(name)) for name in (choice.default, *others)]


PAPERS = tuple(draws_of(name)[0] for name in MAPS)
"""The maps with the draws of chen2017."""
VARIANTS = (*PAPERS, *(variant for name in MAPS for variant in draws_of(name)[1:]))
"""All maps with all draws."""


def variants_of(kernel: KernelFacts, among: Sequence[Variant] = VARIANTS) -> tuple[Variant, ...]:
    """Return the variants that support a kernel."""
    return tuple(variant for variant in among if variant.takes(kernel))


@dataclass(frozen=True, eq=False)
class KernelErrors:
    """Relative errors over m and seeds, and the documents compared.

    Attributes
    ----------
    table : DataFrame
        One row per map, draw, seed and m: map, choice, seed, m, used (actual feature dimensions at m), and
        the relative errors frobenius, spectral and maximum.
    n_documents, n_distinct : int
        Documents the maps were fitted on, and how many of them are distinct.
    n_compared : int
        Documents on which K and K̃ were compared.
    mean_kernel : float
        Mean of κ over pairs of compared documents (NaN for a single document).
    """

    table: pd.DataFrame
    n_documents: int
    n_distinct: int
    n_compared: int
    mean_kernel: float


def compared_documents(
    n: int, seed: int = 0, *, all_up_to: int = ALL_UP_TO, sample: int = SAMPLE
) -> IntArray:
    """Return sorted indices of documents to compare: all n if n ≤ all_up_to, else `sample` at random.

    The random stream differs from the landmarks' stream. Otherwise an equal seed would draw the landmarks
    themselves.
    """
    if n <= all_up_to:
        return np.arange(n, dtype=np.int64)
    rng = np.random.default_rng([seed, 1])
    return np.sort(rng.choice(n, sample, replace=False)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ComparedKernel:
    """The exact kernel matrix for comparisons, and its documents.

    Attributes
    ----------
    Z : (N, d) float64
        Compared documents.
    kernel : Kernel
    K : (N, N) float64
    n_documents, n_distinct : int
        Documents the maps are fitted on, and how many of them are distinct.
    """

    Z: FloatArray
    kernel: Kernel
    K: FloatArray
    n_documents: int
    n_distinct: int

    @classmethod
    def of(cls, X: FloatArray, kernel: Kernel, rows: IntArray | None = None) -> ComparedKernel:
        """Compute K of the documents `rows` of X (n, d), by default `compared_documents(n)`."""
        Z = X[compared_documents(len(X)) if rows is None else rows]
        return cls(Z, kernel, kernel.matrix(Z, Z), len(X), len(distinct_rows(X)))

    @cached_property
    def norms(self) -> dict[str, float]:
        """Frobenius, spectral and maximum norm of K."""
        return matrix_norms(self.K)

    @cached_property
    def mean(self) -> float:
        """Mean of κ over pairs of different documents; NaN for a single one."""
        n = len(self.K)
        return float((self.K.sum() - np.trace(self.K)) / (n * (n - 1))) if n > 1 else float("nan")

    def with_errors(self, table: pd.DataFrame) -> KernelErrors:
        """Combine a table of errors with the facts about this K."""
        return KernelErrors(table, self.n_documents, self.n_distinct, len(self.Z), self.mean)


def kernel_errors(
    X: FloatArray,
    kernel: Kernel,
    grid: Sequence[int],
    seeds: Sequence[int],
    rows: IntArray | None = None,
    report: Report = silent,
    variants: Sequence[Variant] | None = None,
) -> KernelErrors:
    """Return errors ‖K − K̃‖/‖K‖ of maps fitted on documents X (n, d), for each m of `grid` and each seed.

    The maps are `variants`, by default the papers' maps that support the kernel. ‖A‖ is √Σ a_ij² (frobenius),
    the largest |eigenvalue| (spectral) or max |a_ij| (maximum; 1 for K with unit diagonal). K belongs to the
    documents `rows` (default: `compared_documents`). Costs per variant and seed: one fit at the largest m and
    N²·m multiplications for N compared documents.
    """
    compared = ComparedKernel.of(X, kernel, rows)
    variants = variants_of(kernel, PAPERS) if variants is None else variants
    cases, found = [(seed, variant) for seed in seeds for variant in variants], []
    for done, (seed, variant) in enumerate(cases):

        def tell(progress: Progress, done: int = done) -> None:
            report(replace(progress, fraction=(done + (progress.fraction or 0.0)) / len(cases)))

        drawn = variant.draw(X, max(grid), kernel, seed)
        found.append(errors_of(drawn, compared, grid, tell).assign(**variant.columns, seed=seed))
    return compared.with_errors(pd.concat(found, ignore_index=True))


def errors_of(
    drawn: Drawn,
    compared: ComparedKernel,
    grid: Sequence[int],
    report: Report = silent,
    norms: Sequence[str] = NORMS,
) -> pd.DataFrame:
    """Return errors of the maps of one draw, valid for every γ: columns m, used and the relative `norms`.

    If K is zero, the error is 0 if K̃ is zero too, else infinite.
    """

    def tell(share: float) -> None:
        report(Progress("kernel error", share))

    grid, found = sorted(set(grid)), []
    tell(0.0)
    fitted = drawn.fitted(compared.kernel.gamma, lambda _: tell(0.0))
    used = [fitted.leading(m).n_components for m in grid]
    Phi = fitted.operator(compared.Z, lambda _: tell(0.3)).dense()
    weights = [fitted.basis.weight(k) for k in used]
    for m, k, residual in zip(grid, used, _residuals(compared.K, Phi, used, weights), strict=True):
        errors = {norm: _share(_NORM[norm](residual), compared.norms[norm]) for norm in norms}
        found.append({"m": m, "used": k} | errors)
        tell(0.5 + 0.5 * m / grid[-1])
    return pd.DataFrame(found)


def _share(part: float, whole: float) -> float:
    """Return part/whole; for a whole of 0: 0 if the part is 0, else infinity."""
    return part / whole if whole > 0 else 0.0 if part == 0 else float("inf")


def _residuals(
    K: FloatArray, Phi: FloatArray, used: Sequence[int], weights: Sequence[float]
) -> Iterator[FloatArray]:
    """Yield K − K̃ for each k of `used`, with K̃ from the first k weighted columns of Φ (N, m).

    All results share one array: use it before the next one.
    """
    approximate, residual, product, before = np.zeros_like(K), np.empty_like(K), np.empty_like(K), 0
    for k, weight in zip(used, weights, strict=True):
        columns = Phi[:, before:k]
        approximate += np.matmul(columns, columns.T, out=product)  # nested maps: add only the new columns
        np.multiply(approximate, weight**2, out=residual)
        before = k
        yield np.subtract(K, residual, out=residual)


def features_of(
    name: str, X: FloatArray, Z: FloatArray, kernel: Kernel, m: int, seed: int, choice: str | None = None
) -> FloatArray:
    """Return Φ of documents Z (N, d) under the map `name` fitted on documents X (n, d): K̃ is ΦΦᵀ.

    `choice` names the draw, by default the papers'.
    """
    return Variant(name, choice or draws_of(name)[0].choice).at(m, kernel, seed).fit(X).operator(Z).dense()


def matrix_norms(A: FloatArray) -> dict[str, float]:
    """Return Frobenius, spectral and maximum norm of a symmetric matrix A (N, N)."""
    return {name: norm(A) for name, norm in _NORM.items()}


def spectral_norm(A: FloatArray) -> float:
    """Return the largest |eigenvalue| of a symmetric A (N, N), by Lanczos to 1e-4 relative for larger N."""
    if len(A) <= DENSE_UP_TO:
        return float(np.abs(np.linalg.eigvalsh(A)).max())
    if not A.any():
        return 0.0
    start = np.random.default_rng(0).standard_normal(len(A))
    largest = eigsh(
        A,
        1,
        which="LM",
        v0=start,
        ncv=LANCZOS_VECTORS,
        tol=LANCZOS_TOLERANCE,
        return_eigenvectors=False,
    )
    return float(np.abs(largest).max())


_NORM: dict[str, Callable[[FloatArray], float]] = {
    "frobenius": lambda A: float(np.linalg.norm(A)),
    "spectral": spectral_norm,
    "maximum": lambda A: float(max(A.max(), -A.min())),
}


FLOOR = 1e-9
"""Relative errors below this are near the jitter on the landmarks' kernel (1e-10); slopes omit them."""
DECIDING = 4
"""Draws of each of two maps from which disjoint ranges of errors are significant.

With n draws each from one distribution, all of one lie below all of the other with probability 2·(n!)²/(2n)!:
0.1 for 3 draws, 0.03 for 4.
"""


@dataclass(frozen=True)
class Slope:
    """The line log error = exponent · log m + constant through mean errors, least squares.

    Attributes
    ----------
    exponent : float
    constant : float
        Natural logarithm of the error at m = 1.
    first, last : int
        The smallest and the largest fitted m.
    """

    exponent: float
    constant: float
    first: int
    last: int

    @property
    def level(self) -> bool:
        """True if the error hardly changes with m: |exponent| < 0.05."""
        return abs(self.exponent) < 0.05

    def at(self, m: float) -> float:
        """Return the fitted error at m."""
        return float(np.exp(self.constant + self.exponent * np.log(m)))


def over_seeds(table: pd.DataFrame, norm: str) -> pd.DataFrame:
    """Return errors in one norm over seeds: columns map, choice, m, used, mean, low (min), high (max)."""
    groups = table.groupby(["map", "choice", "m"], sort=False)
    columns = {
        "used": groups["used"].min(),
        "mean": groups[norm].mean(),
        "low": groups[norm].min(),
        "high": groups[norm].max(),
    }
    return pd.DataFrame(columns).reset_index()


def fitted_slope(
    summary: pd.DataFrame, name: str, below: int | None = None, choice: str | None = None
) -> Slope | None:
    """Fit log mean error against log m for one map of `over_seeds`; None with fewer than 3 points.

    `choice` selects one of several variants. Errors below FLOOR are left out, and m ≥ `below`: there all
    distinct documents are landmarks and nothing is approximated.
    """
    rows = summary[(summary["map"] == name) & (summary["mean"] > FLOOR)]
    if choice is not None:
        rows = rows[rows["choice"] == choice]
    if below is not None:
        rows = rows[rows["m"] < below]
    if len(rows) < 3:
        return None
    exponent, constant = np.polyfit(np.log(rows["m"]), np.log(rows["mean"]), 1)
    return Slope(float(exponent), float(constant), int(rows["m"].min()), int(rows["m"].max()))


def summary_at(summary: pd.DataFrame, variant: Variant, m: int) -> pd.Series:
    """Return the row of one map and m of `over_seeds`."""
    own = (summary["map"] == variant.map) & (summary["choice"] == variant.choice) & (summary["m"] == m)
    return summary[own].iloc[0]


def lower_error(summary: pd.DataFrame, first: Variant, second: Variant, m: int) -> Variant | None:
    """Return the map with errors below all of the other's at m; None if their ranges overlap.

    With `DECIDING` draws of each, chance alone does this less than once in 20.
    """
    one, other = summary_at(summary, first, m), summary_at(summary, second, m)
    if one["high"] < other["low"]:
        return first
    return second if other["high"] < one["low"] else None


ENOUGH_SECONDS, LEAST_REPEATS, MOST_REPEATS = 0.2, 3, 12  # short cases repeat more


def feature_seconds(
    X: FloatArray,
    kernel: Kernel,
    grid: Sequence[int],
    variants: Sequence[Variant] | None = None,
    seed: int = 0,
    report: Report = silent,
) -> pd.DataFrame:
    """Measure seconds to fit maps on documents X (n, d) and to compute their features.

    The default is the papers' maps, if they support the kernel. Columns map, choice, m, seconds, slowest. The
    time covers drawing landmarks or frequencies, factoring their kernel, and filling the base of Φ (n × m, in
    blocks that are discarded). All (variant, m) are timed in turn, each three to twelve times until 0.2 s
    have passed, which spreads out a busy spell. seconds is the minimum, because other work only adds time;
    slowest is the maximum.
    """
    variants = variants_of(kernel, PAPERS) if variants is None else variants
    cases = [(variant, m) for variant in variants for m in sorted(set(grid))]
    seconds: dict[tuple[Variant, int], list[float]] = {case: [] for case in cases}
    for turn in range(MOST_REPEATS):
        waiting = [case for case in cases if turn < LEAST_REPEATS or sum(seconds[case]) < ENOUGH_SECONDS]
        for done, (variant, m) in enumerate(waiting):

            def tell(_: object = None, share: float = (turn + done / len(waiting)) / MOST_REPEATS) -> None:
                report(Progress("timing", share))

            clock = Stopwatch()
            _make_features(variant.at(m, kernel, seed), X, m, tell)
            clock.lap("features")
            seconds[variant, m].append(clock.laps["features"])
    report(Progress("timing", 1.0))
    return pd.DataFrame(
        [
            {
                "map": variant.map,
                "choice": variant.choice,
                "m": m,
                "seconds": min(tries),
                "slowest": max(tries),
            }
            for (variant, m), tries in seconds.items()
        ]
    )


def _make_features(settings: FeatureMap, X: FloatArray, m: int, report: Report) -> None:
    fitted, step = settings.fit(X, report), max(1, 4 * BLOCK_ENTRIES // m)
    for start in range(0, len(X), step):
        fitted.operator(X[start : start + step], report)
