"""The objective ½‖w‖² + C·risk(Φw), which connects features and risk by the chain rule.

Preconditioners are built here, because they depend on both map and risk. They are factored in the space of
features, (m, m), or of documents, (n, n), whichever is smaller.

Values and gradients are always in double precision. Hessian products and preconditioners only affect
directions. In single precision they take half the time, most of it spent reading Φ. So they use it if memory
allows and rounding does no harm.

See docs/decisions/0006-features-are-an-operator.md.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.common.parallel import BLOCK_ENTRIES, summed
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.operator import Basis, FeatureOperator
from rankviz.learning.objective import Preconditioner, ScoredPoint, ScoreRay
from rankviz.learning.risk import Risk, RiskPoint, limit_of


@dataclass(frozen=True, eq=False)
class CholeskyPreconditioner:
    """M^-1 r by two triangular solves with U, M = UᵀU (m, m).

    `is_inverse` is True if M is the Hessian, but for rounding, at the point that it was built for.
    """

    factor: FloatArray
    kind: str
    is_inverse: bool = False

    @classmethod
    def of(cls, M: FloatArray, kind: str, *, is_inverse: bool = False) -> CholeskyPreconditioner:
        """Factor M, O(m³/3); add to its diagonal if rounding has made M indefinite (C very large).

        Raises `DataError` if only rounding is left of M.
        """
        rounding = len(M) * float(np.finfo(np.float64).eps * np.diag(M).max())
        for shift in (0.0, *(rounding * 10.0 ** np.arange(16))):
            M = M if shift == 0.0 else M + shift * np.eye(len(M))
            with contextlib.suppress(linalg.LinAlgError):
                factor = linalg.cholesky(M.T, check_finite=False)  # M.T has LAPACK's memory order
                return cls(factor, kind, is_inverse and shift == 0.0)
        raise DataError(
            "differences within queries that are lost to rounding, because features or kernel values are so "
            "large (the preconditioner is not positive definite)",
            expected="differences that rounding of the values preserves",
            remedy="Normalise the features first, query by query; for a polynomial kernel choose a smaller "
            "coef0 or degree.",
        )

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r; for one vector two solves by BLAS are several times faster than LAPACK's solve."""
        if r.ndim == 1:
            own: FloatArray = blas.dtrsv(self.factor, blas.dtrsv(self.factor, r, trans=1))
            return own
        half = linalg.solve_triangular(self.factor, r, trans="T", check_finite=False)
        x: FloatArray = linalg.solve_triangular(self.factor, half, check_finite=False)
        return x


@dataclass(frozen=True, eq=False)
class SpectralPreconditioner:
    """(I + C·G)^-1 r by eigenvalues and vectors of G (m, m), for every C: a path over C needs them once."""

    values: FloatArray
    vectors: FloatArray
    C: float
    kind: str = "eigenvectors"
    is_inverse: bool = True

    @classmethod
    def of(cls, G: FloatArray, C: float) -> SpectralPreconditioner:
        """Decompose G: O(m³)."""
        values, vectors = np.linalg.eigh(G)  # faster than SciPy's for small matrices
        return cls(np.maximum(values, 0.0), vectors, C)

    def at(self, C: float) -> SpectralPreconditioner:
        """Return the inverse at another C."""
        return replace(self, C=C)

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return the product with the inverse: (m,) -> (m,), or (m, s) -> (m, s)."""
        inner, shrunk = self.vectors.T @ r, 1.0 + self.C * self.values
        found: FloatArray = self.vectors @ (inner / (shrunk if r.ndim == 1 else shrunk[:, None]))
        return found


@dataclass(frozen=True, eq=False)
class PairPreconditioner:
    """M^-1 r for M = I + B Bᵀ with fewer pairs s than features m, by a factor of I + BᵀB, (s, s).

    Woodbury's identity gives M^-1 r = r − B (I + BᵀB)^-1 Bᵀ r.

    Attributes
    ----------
    B : (m, s) float64
        Weighted differences of pairs.
    inner : CholeskyPreconditioner
        (I + BᵀB)^-1.
    """

    B: FloatArray
    inner: CholeskyPreconditioner
    kind: str = "sampled pairs"

    @classmethod
    def of(cls, B: FloatArray) -> PairPreconditioner:
        """Factor in the space of pairs: O(s²m + s³)."""
        return cls(B, CholeskyPreconditioner.of(np.eye(B.shape[1]) + B.T @ B, "pairs"))

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r: (m,) -> (m,), or (m, s) -> (m, s)."""
        return r - self.B @ self.inner(self.B.T @ r)


@dataclass(frozen=True, eq=False)
class DocumentPreconditioner:
    """H^-1 r for H = I + C ΦᵀRΦ with fewer documents n than features m, by a factor of at most (n, n).

    With R = S Sᵀ and UᵀU = I + C SᵀΦΦᵀS, Woodbury's identity gives H^-1 r = r − Φᵀ YᵀY Φ r, Y = √C U^-T Sᵀ.

    Attributes
    ----------
    features : FeatureOperator
        Φ (n, m).
    half : (s, n) float64
        Y.
    """

    features: FeatureOperator
    half: FloatArray
    kind: str = "documents"

    @classmethod
    def of(cls, features: FeatureOperator, roots: Sequence[FloatArray], C: float) -> DocumentPreconditioner:
        """Factor H in the space of documents: O(n²m + n³).

        `roots` has the block of S of each query in turn (see `curvature_roots`), because pairs are within
        queries.
        """
        ends = np.cumsum([len(S) for S in roots])
        rows = [slice(int(end) - len(S), int(end)) for S, end in zip(roots, ends, strict=True)]
        left = [S.T @ features.kernel[own] for S, own in zip(roots, rows, strict=True)]
        SK = np.concatenate([np.zeros((0, features.shape[0])), *left])
        right = [SK[:, own] @ S for S, own in zip(roots, rows, strict=True)]
        W = np.concatenate([np.zeros((len(SK), 0)), *right], axis=1)
        W *= C
        W[np.diag_indices(len(W))] += 1.0
        half = linalg.block_diag(*(S.T for S in roots)) * np.sqrt(C)
        if len(W):
            U = CholeskyPreconditioner.of(W, "documents").factor
            half = linalg.solve_triangular(U, half, trans="T", check_finite=False)
        return cls(features, half)

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return H^-1 r: (m,) -> (m,), or (m, s) -> (m, s)."""
        return r - self.features.adjoint(self.half.T @ (self.half @ self.features.product(r)))


def document_entries(n: int, m: int) -> int:
    """Return the peak entries of a preconditioner for n documents: six squares, and a block of features."""
    return 6 * n * n + 2 * min(n * m, max(BLOCK_ENTRIES, m))


def document_flops(n: int, m: int) -> float:
    """Return its operations for m features: kernel of documents, factor, and solve."""
    return float(n) * n * m + 3.0 * float(n) ** 3


def curvature_roots(product: Callable[[FloatArray], FloatArray], ptr: IntArray) -> list[FloatArray]:
    """Return S_q (n_q, s_q) of each query with R_q = S_q S_qᵀ, from products v -> R v (n,).

    R has one block per query, so one product gives one column of every block. Each block is factored with
    pivots (LAPACK's dpstrf). Its rank s_q is at most n_q − 1 and at most the number of active pairs.
    """
    sizes, n = np.diff(ptr), int(ptr[-1])
    columns = np.zeros((int(sizes.max(initial=0)), n))
    for j in range(len(columns)):
        v = np.zeros(n)
        v[ptr[:-1][sizes > j] + j] = 1.0
        columns[j] = product(v)
    return [_root(columns[: end - start, start:end]) for start, end in itertools.pairwise(ptr)]


def _root(R: FloatArray) -> FloatArray:
    """Return S (k, rank) with R = S Sᵀ for a positive semidefinite R (k, k)."""
    if not R.any():
        return np.zeros((len(R), 0))
    factor, pivots, rank, _ = lapack.dpstrf(R, lower=1)
    S = np.zeros((len(R), int(rank)))
    S[pivots - 1] = np.tril(factor)[:, :rank]
    return S


LARGE = 2**24
"""Number of entries of a base (134 MB) from which products are limited by memory, so a copy in single
precision pays."""

NOISE = 0.02
"""Largest relative change of √(sᵀHs) by single precision. CG then takes as many iterations as in double
precision, and its decrement is right to a few per cent."""

POWER_STEPS = 6
"""Number of power iterations: they give a norm to a factor of two."""


def copy_bytes(n: int, k: int) -> int:
    """Return the bytes of a copy of a base (n, k) in single precision; 0 if it would not pay."""
    return 4 * n * k if n * k >= LARGE else 0


def curvature_features(
    features: FeatureOperator, risk: RiskPoint, C: float, spare: float, largest: float = 1.0
) -> FeatureOperator:
    """Return Φ for Hessian products at a point, in single precision if it fits in memory and is accurate.

    `largest` (at least 1) bounds the entries of the base.
    """
    fits = 4.0 * features.base.size <= spare
    return features.single if fits and largest * single_noise(features, risk, C) <= NOISE else features


def single_noise(features: FeatureOperator, risk: RiskPoint, C: float) -> float:
    """Return the largest relative change of √(sᵀHs), H = I + C ΦᵀRΦ, with Φ's base rounded to float32.

    By the triangle inequality it is at most √(C‖R‖)·‖E T‖, because ‖s‖² ≤ sᵀHs. The errors E (n, k) of
    entries in [−1, 1] are at most 2^-25 and nearly independent, so ‖E‖ is about 2^-25 (√n + √k). T multiplies
    them by at most ‖T‖, which is large for an ill-conditioned kernel.
    """
    n, k = features.base.shape
    spread = spread_of_basis(features.basis)
    return noise_of(n, k, C * largest_eigenvalue(risk.hessian_product, n) * spread)


def noise_of(n: int, k: int, stiffness: float) -> float:
    """Return the same for a base (n, k), from C‖R‖·‖T‖²."""
    return 2.0**-25 * (math.sqrt(n) + math.sqrt(k)) * math.sqrt(stiffness)


def spread_of_basis(basis: Basis) -> float:
    """Return ‖T‖² of a basis change T (k, m), roughly."""
    return largest_eigenvalue(lambda u: basis.expand(basis.contract(u)), basis.shape[0])


def largest_eigenvalue(product: Callable[[FloatArray], FloatArray], size: int) -> float:
    """Estimate the largest eigenvalue of a positive semidefinite matrix from below, by power iteration."""
    v = np.random.default_rng(0).normal(size=size)
    value = float(np.linalg.norm(v))
    for _ in range(POWER_STEPS):
        if value == 0.0:
            break
        v = product(v / value)
        value = float(np.linalg.norm(v))
    return value


EXACT_COLUMNS_PER_ITERATION = 8
"""Forming the Hessian costs about as much as k/8 CG iterations: its n·k² products run at processor speed, the
4·n·k of an iteration at memory speed."""

CLOSED_FORM_COLUMNS = 256
"""Up to this many stored columns the closed-form preconditioner, O(n k²) once, is better than sampled
pairs."""

SPECTRAL_COLUMNS = 1000
"""Up to this many columns the constant Hessian of a quadratic loss is decomposed, for all C at once."""

PAIRS_PER_COLUMN = 64
"""Largest number of sampled pairs per column; CG then takes one or two iterations."""


def pairs_to_sample(n: int, m: int) -> int:
    """Return the number of active pairs to precondition (n, m): m, or more if they cost at most a product.

    s pairs take about 3·s·m² operations; a Hessian product takes 4·n·m at memory speed, a tenth of processor
    speed.
    """
    return min(max(m, 10 * n // max(m, 1)), PAIRS_PER_COLUMN * m)


def wider_than_tall(n: int, basis: tuple[int, int]) -> bool:
    """Return True if n is below stored columns k and features m; factors are then of documents."""
    return n < min(basis)


@dataclass(eq=False)
class RankObjective:
    """½‖w‖² + C Σ_P ℓ((Φw)_i − (Φw)_j), chen2017 eq. 22 for the squared hinge.

    Attributes
    ----------
    features : FeatureOperator
        Φ (n, m).
    risk : Risk
    C : float
        Factor of the plain loss (without ½).
    seed : int
        Seed of the pairs of the sampled preconditioner.
    spare : float
        Bytes allowed for a copy of Φ in single precision (see `rankviz.learning.feature_space`).
    largest : float
        Bound of the base's entries, at least 1.
    """

    features: FeatureOperator
    risk: Risk
    C: float
    seed: int = 0
    spare: float = 0.0
    largest: float = 1.0
    _rng: np.random.Generator = field(init=False, repr=False)
    _curved: FeatureOperator | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Create the sampled preconditioner's random stream."""
        self._rng = np.random.default_rng(self.seed)

    @property
    def convex(self) -> bool:
        """True if the loss is."""
        return self.risk.loss.convex

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return self.risk.n_pairs

    def with_risk(self, risk: Risk) -> RankObjective:
        """Return the same objective with another risk of the same documents."""
        return replace(self, risk=risk)

    def start(self) -> FloatArray:
        """Return the initial weights: zeros (m,)."""
        return np.zeros(self.features.shape[1])

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return the Euclidean inner product aᵀb."""
        return float(a @ b)

    def at(self, w: FloatArray) -> ScoredPoint:
        """Return value and gradient at w (m,): one product with Φ, one with Φᵀ, one pass over the pairs."""
        scores = self.features.product(w) if w.any() else np.zeros(self.features.shape[0])
        return self.assemble(w, scores, self.risk.at(scores))

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """Return the point at w with known scores and risk: one product with Φᵀ."""
        value = 0.5 * float(w @ w) + self.C * risk.value
        gradient = w + self.C * self.features.adjoint(risk.gradient)
        return ScoredPoint(w, scores, value, gradient, risk)

    def limit(self, point: ScoredPoint) -> tuple[float, float]:
        """Return the risk of the original loss at a point, and the smoothing term of the gap."""
        return limit_of(self.risk, point.scores, point.risk)

    def hessian_product(self, point: ScoredPoint, s: FloatArray) -> FloatArray:
        """Return H s = s + C Φᵀ R Φ s (chen2017 eq. 25): (m,) -> (m,)."""
        features = self._curvature_features(point)
        return s + self.C * features.adjoint(point.risk.hessian_product(features.product(s)))

    def ray(self, point: ScoredPoint, s: FloatArray) -> ScoreRay:
        """Return the objective from a point along s (m,)."""
        return ScoreRay(self, point, s, self.features.product(s))

    def preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """Return an approximate inverse Hessian: closed form for narrow maps, sampled pairs for wide ones.

        It takes up to three products of m³ operations; `report` is called between them. With more features
        than documents it is exact.
        """
        if wider_than_tall(len(self.features.base), self.features.basis.shape):
            return self.exact_preconditioner(point, report)
        if self.risk.loss.quadratic and self.features.basis.shape[0] <= SPECTRAL_COLUMNS:
            gram = self.features.reduce(point.risk.gram(self.features.base))
            return SpectralPreconditioner.of(gram, self.C)
        if self.features.basis.shape[0] <= CLOSED_FORM_COLUMNS:
            return self._closed_form(point)
        return self._sampled(point, report)

    @property
    def _blocks(self) -> IntArray:
        """Offsets of the blocks of the risk's Hessian: queries, or all documents as one."""
        return self.risk.ptr if self.risk.loss.by_query else np.array([0, len(self.risk.y)])

    @property
    def patience(self) -> int:
        """Number of CG iterations that cost about as much as forming the Hessian."""
        n, k = len(self.features.base), self.features.basis.shape[0]
        return math.ceil(min(n, k) / EXACT_COLUMNS_PER_ITERATION)

    def exact_preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """Return the inverse of the Hessian at a point, I + C ΦᵀRΦ with its active pairs: O(p k + n k²).

        With more features than documents it is factored in the space of documents: O(n²m + n³).
        """
        if wider_than_tall(len(self.features.base), self.features.basis.shape):
            report(Progress("newton"))
            roots = curvature_roots(point.risk.hessian_product, self._blocks)
            report(Progress("newton"))
            return DocumentPreconditioner.of(self.features, roots, self.C)
        gram = point.risk.gram(self.features.base)
        report(Progress("newton"))
        M = self.C * self.features.reduce(gram)
        M[np.diag_indices(len(M))] += 1.0
        report(Progress("newton"))
        return CholeskyPreconditioner.of(M, "exact")

    def _closed_form(self, point: ScoredPoint) -> CholeskyPreconditioner:
        """Return the inverse of I + C·share·ΦᵀL₀Φ with all pairs, share = Σ c·ℓ''/Σ c.

        If every pair has the same curvature, as at w = 0, it is the Hessian; later the share scales it.
        """
        every = self.risk.all_pairs
        share = point.risk.total_curvature / every.weight if every.weight > 0 else 0.0
        M = self.C * share * self.features.reduce(every.gram(self.features.base))
        M[np.diag_indices(len(M))] += 1.0
        return CholeskyPreconditioner.of(M, "closed form", is_inverse=not point.w.any())

    def _sampled(self, point: ScoredPoint, report: Report) -> Preconditioner:
        """Invert I + C·(active/sampled) Σ_sample ℓ''(φ_i − φ_j)(φ_i − φ_j)ᵀ over active pairs."""
        (n, m), n_active = self.features.shape, point.risk.n_active
        pairs = point.risk.sample_active(self._rng, pairs_to_sample(n, m))
        B = self._curvature_features(point).row_differences(pairs.winner, pairs.loser)
        report(Progress("newton"))
        B *= np.sqrt(self.C * n_active / max(len(pairs.winner), 1) * pairs.curvature)
        if 0 < 2 * B.shape[1] <= m:
            return PairPreconditioner.of(B.astype(np.float64, copy=False))
        M = summed(lambda own: B[:, own] @ B[:, own].T, B.shape[1], np.zeros((m, m)))
        M[np.diag_indices(m)] += 1.0
        report(Progress("newton"))
        return CholeskyPreconditioner.of(M, "sampled pairs")

    def _curvature_features(self, point: ScoredPoint) -> FeatureOperator:
        """Return Φ in the precision that suits the first point."""
        if self._curved is None:
            limits = self.spare, self.largest
            self._curved = curvature_features(self.features, point.risk, self.C, *limits)
        return self._curved
