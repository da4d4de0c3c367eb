"""How far K̃ = ΦΦᵀ is from the exact kernel matrix K, against the number of features m.

Maps are fitted as for training: landmarks come from all training documents, whichever of them are compared.
K and K̃ are compared on all of these, or on a sample drawn independently of the landmarks: a document of the
sample is a landmark as often as any other, so Nyström, which is exact at landmarks, gains nothing by it.
One fit at the largest m gives the error at every smaller one, for both maps are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import pandas as pd
from scipy.sparse.linalg import eigsh

from rankviz._typing import FloatArray, IntArray
from rankviz.features import FEATURE_MAPS, FeatureMap, MapSettings, rbf_kernel
from rankviz.features.blocks import BLOCK_ENTRIES
from rankviz.features.landmarks import distinct_rows
from rankviz.progress import Progress, Report, silent
from rankviz.timing import Stopwatch

MAPS = ("nystroem", "fourier")
NORMS = ("frobenius", "spectral", "maximum")
ALL_UP_TO = 2000
"""Documents up to which all are compared."""
SAMPLE = 1000
"""Documents compared where there are more: a million kernel values."""
FLOOR = 1e-9
"""Relative errors below this are near the jitter on the landmarks' kernel (1e-10); slopes leave them out."""
LANCZOS_TOLERANCE = 1e-4
LANCZOS_VECTORS = 10  # half the products that scipy's default of 20 needs on residuals of both maps
DENSE_UP_TO = 32  # rows below which all eigenvalues are found at once
ENOUGH_SECONDS, MOST_REPEATS = 0.2, 5  # what is over sooner is timed several times
CHOICES = {"nystroem": "landmarks", "fourier": "frequencies"}
"""Which field of `MapSettings` says how a map draws."""


@dataclass(frozen=True)
class Variant:
    """A kernel map and how it draws: landmarks or frequencies by a name that `RankSVM` knows."""

    map: str
    choice: str

    def at(self, m: int, gamma: float, seed: int) -> FeatureMap:
        """Its settings with m features."""
        settings = MapSettings(m, gamma, seed=seed)
        if CHOICES[self.map] == "landmarks":
            return FEATURE_MAPS[self.map](replace(settings, landmarks=self.choice))
        return FEATURE_MAPS[self.map](replace(settings, frequencies=self.choice))


PAPERS = (Variant("nystroem", "uniform"), Variant("fourier", "gaussian"))
"""The maps as chen2017 draws them."""
VARIANTS = (*PAPERS, Variant("nystroem", "kmeans++"), Variant("fourier", "orthogonal"))
"""All ways to draw."""


@dataclass(frozen=True, eq=False)
class KernelErrors:
    """Relative errors over m and seeds, and what they were computed on.

    Attributes
    ----------
    table : DataFrame
        One row per map, way to draw, seed and m: map, choice, seed, m, used (feature dimensions there are at
        m), and the relative errors frobenius, spectral and maximum.
    n_documents, n_distinct : int
        Documents the maps were fitted on, and how many of them are distinct.
    n_compared : int
        Documents on which K and K̃ were compared.
    mean_kernel : float
        Mean of κ over pairs of compared documents (NaN where there is one document only).
    """

    table: pd.DataFrame
    n_documents: int
    n_distinct: int
    n_compared: int
    mean_kernel: float


@dataclass(frozen=True)
class Slope:
    """The line log error = exponent · log m + constant through mean errors, least squares.

    Attributes
    ----------
    exponent : float
    constant : float
        Natural logarithm of the error at m = 1.
    first, last : int
        The smallest and the largest m that took part.
    """

    exponent: float
    constant: float
    first: int
    last: int

    @property
    def level(self) -> bool:
        """Whether the error hardly changes with m: an exponent between ∓0.05."""
        return abs(self.exponent) < 0.05

    def at(self, m: float) -> float:
        """The fitted error at m."""
        return float(np.exp(self.constant + self.exponent * np.log(m)))


def compared_documents(
    n: int, seed: int = 0, *, all_up_to: int = ALL_UP_TO, sample: int = SAMPLE
) -> IntArray:
    """Sorted indices of the documents to compare: all n where n ≤ all_up_to, else `sample` drawn uniformly.

    The stream of random numbers is another than that of landmarks: with the same one and the same seed
    the sample would consist of the landmarks.
    """
    if n <= all_up_to:
        return np.arange(n, dtype=np.int64)
    rng = np.random.default_rng([seed, 1])
    return np.sort(rng.choice(n, sample, replace=False)).astype(np.int64)


def kernel_errors(
    X: FloatArray,
    gamma: float,
    grid: Sequence[int],
    seeds: Sequence[int],
    rows: IntArray | None = None,
    report: Report = silent,
    variants: Sequence[Variant] = PAPERS,
) -> KernelErrors:
    """Errors ‖K − K̃‖/‖K‖ of `variants` fitted on documents X (n, d), for each m of `grid` and each seed.

    ‖A‖ is √Σ a_ij² (frobenius), the largest |eigenvalue| (spectral) or max |a_ij| (maximum; 1 for K, whose
    diagonal is 1). K is that of the documents `rows` (by default what `compared_documents` chooses). Costs
    per variant and seed one fit at the largest m and N²·m multiplications for N documents compared.
    """
    rows = compared_documents(len(X)) if rows is None else rows
    grid = sorted(set(grid))
    Z = X[rows]
    K = rbf_kernel(Z, Z, gamma)
    norms_of_K = matrix_norms(K)
    found = []
    total = len(seeds) * len(variants)
    for done, (seed, variant) in enumerate((seed, variant) for seed in seeds for variant in variants):

        def tell(step: float, done: int = done) -> None:
            report(Progress("kernel error", (done + step) / total))

        tell(0.0)
        fitted = variant.at(grid[-1], gamma, seed).fit(X, lambda _: tell(0.0))
        used = [fitted.leading(m).n_components for m in grid]
        Phi = fitted.operator(Z, lambda _: tell(0.3)).dense()
        for m, k, approximate in zip(grid, used, _nested(Phi, used, variant.map), strict=True):
            norms = matrix_norms(K - approximate)
            errors = {norm: norms[norm] / norms_of_K[norm] for norm in NORMS}
            about = {"map": variant.map, "choice": variant.choice, "seed": seed, "m": m, "used": k}
            found.append(about | errors)
            tell(0.5 + 0.5 * m / grid[-1])
    return KernelErrors(
        table=pd.DataFrame(found),
        n_documents=len(X),
        n_distinct=len(distinct_rows(X)),
        n_compared=len(Z),
        mean_kernel=_mean_off_diagonal(K),
    )


def _nested(Phi: FloatArray, used: Sequence[int], name: str) -> Iterator[FloatArray]:
    """K̃ from the first k columns of Φ (N, m), for each k of `used`, with Fourier's factor m/k."""
    K, before = np.zeros((len(Phi), len(Phi))), 0
    for k in used:
        columns = Phi[:, before:k]
        K += columns @ columns.T
        before = k
        yield K * (Phi.shape[1] / k) if name == "fourier" else K


def features_of(
    name: str, X: FloatArray, Z: FloatArray, gamma: float, m: int, seed: int, choice: str | None = None
) -> FloatArray:
    """Φ of documents Z (N, d) under the map `name` fitted on documents X (n, d): K̃ is ΦΦᵀ.

    `choice` says how it draws, by default as the papers do.
    """
    papers = {variant.map: variant.choice for variant in PAPERS}
    return Variant(name, choice or papers[name]).at(m, gamma, seed).fit(X).operator(Z).dense()


def feature_seconds(
    X: FloatArray,
    gamma: float,
    grid: Sequence[int],
    variants: Sequence[Variant] = PAPERS,
    seed: int = 0,
    report: Report = silent,
) -> pd.DataFrame:
    """Seconds to fit a map on documents X (n, d) and to compute their features, to weigh against errors.

    Columns map, choice, m, seconds: landmarks or frequencies drawn, their kernel factored, and the base of Φ
    filled (n × m, blocks of which are thrown away at once). Each (variant, m) is timed by itself, up to five
    times until 0.2 s have passed; the median is told.
    """
    cases = [(variant, m) for variant in variants for m in sorted(set(grid))]
    found = []
    for done, (variant, m) in enumerate(cases):
        settings = variant.at(m, gamma, seed)

        def tell(_: object = None, done: int = done) -> None:
            report(Progress("timing", done / len(cases)))

        seconds: list[float] = []
        while not seconds or (sum(seconds) < ENOUGH_SECONDS and len(seconds) < MOST_REPEATS):
            clock = Stopwatch()
            _make_features(settings, X, m, tell)
            clock.lap("features")
            seconds.append(clock.laps["features"])
        found.append({"map": variant.map, "choice": variant.choice, "m": m, "seconds": median(seconds)})
    report(Progress("timing", 1.0))
    return pd.DataFrame(found)


def _make_features(settings: FeatureMap, X: FloatArray, m: int, report: Report) -> None:
    fitted, step = settings.fit(X, report), max(1, 4 * BLOCK_ENTRIES // m)
    for start in range(0, len(X), step):
        fitted.operator(X[start : start + step], report)


def matrix_norms(A: FloatArray) -> dict[str, float]:
    """Frobenius, spectral and maximum norm of a symmetric matrix A (N, N)."""
    return {
        "frobenius": float(np.linalg.norm(A)),
        "spectral": spectral_norm(A),
        "maximum": float(np.abs(A).max()),
    }


def spectral_norm(A: FloatArray) -> float:
    """The largest |eigenvalue| of a symmetric A (N, N), by Lanczos to 1e-4 of itself for larger N."""
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


def over_seeds(table: pd.DataFrame, norm: str) -> pd.DataFrame:
    """Errors in one norm over seeds: columns map, choice, m, used, mean, low (least), high (greatest)."""
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
    """The slope of log mean error against log m for one map of `over_seeds`; None with fewer than 3 points.

    `choice` tells its variants apart where the summary has more than one of them. Left out are errors below
    FLOOR, and m ≥ `below`: there all distinct documents are landmarks and nothing is approximated.
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


def _mean_off_diagonal(K: FloatArray) -> float:
    n = len(K)
    return float((K.sum() - np.trace(K)) / (n * (n - 1))) if n > 1 else float("nan")
