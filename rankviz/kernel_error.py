"""How far K̃ = ΦΦᵀ is from the exact kernel matrix K, against the number of features m.

Maps are fitted as for training: landmarks come from all training documents, whichever of them are compared.
K and K̃ are compared on all of these, or on a sample drawn independently of the landmarks: a document of the
sample is a landmark as often as any other, so Nyström, which is exact at landmarks, gains nothing by it.
One fit at the largest m gives the error at every smaller one, for both maps are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse.linalg import eigsh

from rankviz._typing import FloatArray, IntArray
from rankviz.features import FEATURE_MAPS, MapSettings, rbf_kernel
from rankviz.features.landmarks import UniformLandmarks, distinct_rows
from rankviz.features.maps import FittedMap, FittedNystroem
from rankviz.progress import Progress, Report, silent

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


@dataclass(frozen=True, eq=False)
class KernelErrors:
    """Relative errors over m and seeds, and what they were computed on.

    Attributes
    ----------
    table : DataFrame
        One row per map, seed and m: map, seed, m, used (feature dimensions there are at m), and the relative
        errors frobenius, spectral and maximum.
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
) -> KernelErrors:
    """Errors ‖K − K̃‖/‖K‖ of maps fitted on documents X (n, d), for each m of `grid` and each seed.

    ‖A‖ is √Σ a_ij² (frobenius), the largest |eigenvalue| (spectral) or max |a_ij| (maximum; 1 for K, whose
    diagonal is 1). K is that of the documents `rows` (by default what `compared_documents` chooses). Costs
    per map and seed one fit at the largest m and N²·m multiplications for N documents compared.
    """
    rows = compared_documents(len(X)) if rows is None else rows
    grid = sorted(set(grid))
    Z = X[rows]
    K = rbf_kernel(Z, Z, gamma)
    norms_of_K = matrix_norms(K)
    found = []
    total = len(seeds) * len(MAPS)
    for done, (seed, name) in enumerate((seed, name) for seed in seeds for name in MAPS):

        def tell(step: float, done: int = done) -> None:
            report(Progress("kernel error", (done + step) / total))

        tell(0.0)
        fitted = FEATURE_MAPS[name](MapSettings(grid[-1], gamma, seed=seed)).fit(X, lambda _: tell(0.0))
        used = _dimensions(fitted, X, grid, seed)
        Phi = fitted.operator(Z, lambda _: tell(0.3)).dense()
        for m, k, approximate in zip(grid, used, _nested(Phi, used, name), strict=True):
            norms = matrix_norms(K - approximate)
            errors = {norm: norms[norm] / norms_of_K[norm] for norm in NORMS}
            found.append({"map": name, "seed": seed, "m": m, "used": k} | errors)
            tell(0.5 + 0.5 * m / grid[-1])
    return KernelErrors(
        table=pd.DataFrame(found),
        n_documents=len(X),
        n_distinct=len(distinct_rows(X)),
        n_compared=len(Z),
        mean_kernel=_mean_off_diagonal(K),
    )


def _dimensions(fitted: FittedMap, X: FloatArray, grid: Sequence[int], seed: int) -> list[int]:
    """Feature dimensions that a map fitted at the largest m has at each m of the grid.

    Nyström skips landmarks that earlier ones already span, so there may be fewer than m.
    """
    if not isinstance(fitted, FittedNystroem):
        return list(grid)
    drawn = X[UniformLandmarks().choose(X, grid[-1], seed)] + 0.0
    position = {row.tobytes(): i for i, row in enumerate(drawn)}
    kept = [position[row.tobytes()] for row in fitted.landmarks + 0.0]
    return [int(k) for k in np.searchsorted(kept, grid)]


def _nested(Phi: FloatArray, used: Sequence[int], name: str) -> Iterator[FloatArray]:
    """K̃ from the first k columns of Φ (N, m), for each k of `used`, with Fourier's factor m/k."""
    K, before = np.zeros((len(Phi), len(Phi))), 0
    for k in used:
        columns = Phi[:, before:k]
        K += columns @ columns.T
        before = k
        yield K * (Phi.shape[1] / k) if name == "fourier" else K


def features_of(name: str, X: FloatArray, Z: FloatArray, gamma: float, m: int, seed: int) -> FloatArray:
    """Φ of documents Z (N, d) under the map `name` fitted on documents X (n, d): K̃ is ΦΦᵀ."""
    return FEATURE_MAPS[name](MapSettings(m, gamma, seed=seed)).fit(X).operator(Z).dense()


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


def eigenvalues(Phi: FloatArray) -> FloatArray:
    """The N eigenvalues of ΦΦᵀ for Φ (N, m), largest first: those of the smaller of ΦΦᵀ and ΦᵀΦ, then 0."""
    n, m = Phi.shape
    small = Phi @ Phi.T if n <= m else Phi.T @ Phi
    values = np.linalg.eigvalsh(small)[::-1]
    return np.concatenate((np.maximum(values, 0.0), np.zeros(n - len(values))))


def over_seeds(table: pd.DataFrame, norm: str) -> pd.DataFrame:
    """Errors in one norm summarised over seeds: columns map, m, used, mean, low (least), high (greatest)."""
    groups = table.groupby(["map", "m"], sort=False)
    columns = {
        "used": groups["used"].min(),
        "mean": groups[norm].mean(),
        "low": groups[norm].min(),
        "high": groups[norm].max(),
    }
    return pd.DataFrame(columns).reset_index()


def fitted_slope(summary: pd.DataFrame, name: str, below: int | None = None) -> Slope | None:
    """The slope of log mean error against log m for one map of `over_seeds`; None with fewer than 3 points.

    Left out are errors below FLOOR, and m ≥ `below`: there all distinct documents are landmarks and nothing
    is approximated.
    """
    rows = summary[(summary["map"] == name) & (summary["mean"] > FLOOR)]
    if below is not None:
        rows = rows[rows["m"] < below]
    if len(rows) < 3:
        return None
    exponent, constant = np.polyfit(np.log(rows["m"]), np.log(rows["mean"]), 1)
    return Slope(float(exponent), float(constant), int(rows["m"].min()), int(rows["m"].max()))


def _mean_off_diagonal(K: FloatArray) -> float:
    n = len(K)
    return float((K.sum() - np.trace(K)) / (n * (n - 1))) if n > 1 else float("nan")
