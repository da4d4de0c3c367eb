"""The exact kernel's objective ½βᵀKβ + C·risk(Kβ), in coefficients β of documents (chapelle2010 §6.3).

A vector of this objective is two rows (2, n): coefficients β and their image Kβ. Sums of vectors carry their
images along. So the inner product ⟨a, b⟩ = a[0]·b[1], which equals αᵀKβ, needs no product with K, and a CG
iteration needs only one. The Newton system is S δ = −(β + C ∂risk) with S = I + C R K, self-adjoint and
positive in ⟨·, ·⟩.

See docs/decisions/0009-the-exact-kernel-in-coefficients.md.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.memory import megabytes
from rankviz.common.parallel import product
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.kernel_base import Kernel, mean_diagonal, needed
from rankviz.features.kernel_matrix import KernelMatrix, kernel_matrix
from rankviz.features.maps import FittedMap
from rankviz.features.nystroem import UniformLandmarks, factored
from rankviz.features.operator import FeatureOperator
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.objective import Preconditioner, ScoredPoint, ScoreRay
from rankviz.learning.risk import Risk, RiskFacts, RiskPoint, limit_of
from rankviz.learning.solvers import FROM_LANDMARKS
from rankviz.learning.training import MapFamily, Space, Task

LANDMARKS_PER_ROOT = 5.0
"""Ratio of the first preconditioner's landmarks to √n: forming it, O(n m²), costs a few products with K."""
GROWTH = 3
"""Factor of landmarks if CG is too slow.

Growth to all documents pays: 3,852 of OHSUMED with C = 16 and γ = 1 take 37 s; with the first ones only 73 s.
"""
MOST_LANDMARKS = 10_000
"""Largest number: forming a preconditioner then takes minutes."""
PATIENCE = 40
"""CG iterations that cost about as much as a preconditioner with more landmarks."""


def first_landmarks(n: int) -> int:
    """Return the number of landmarks of the first preconditioner for n documents."""
    return min(n, math.ceil(LANDMARKS_PER_ROOT * math.sqrt(n)))


def preconditioner_bytes(n: int, m: int) -> int:
    """Return the peak bytes of forming a preconditioner with m landmarks: two tall matrices, four squares."""
    return 8 * (2 * n * m + 4 * m**2)


def landmarks_within(n: int, size: float) -> int:
    """Return the largest number of landmarks whose preconditioner needs at most `size` bytes."""
    entries = max(0.0, size) / 8
    return math.floor((math.sqrt(n**2 + 4 * entries) - n) / 4 + 1e-9)


def most_landmarks(n: int, spare: float) -> int:
    """Return the largest number of landmarks for n documents, with `spare` bytes beside the first ones'."""
    first = first_landmarks(n)
    return max(first, min(landmarks_within(n, spare + preconditioner_bytes(n, first)), MOST_LANDMARKS, n))


def growth_bytes(n: int, spare: float) -> int:
    """Return the bytes that more landmarks may take beside the first ones', of `spare` bytes."""
    first, most = first_landmarks(n), most_landmarks(n, spare)
    return preconditioner_bytes(n, most) - preconditioner_bytes(n, first)


def growth_words(more: int) -> str:
    """Say how many bytes more landmarks may take; "" for none."""
    return f"hard Newton steps take up to {megabytes(more)} more" if more else ""


@dataclass(frozen=True, eq=False)
class NystroemPreconditioner:
    """M^-1 r = r + V (H_m^-1 − I) VᵀK r: inverts S on the span of landmarks, and is the identity outside.

    V = E L^-T, where E (n, m) selects the landmarks and K_mm = L Lᵀ. So VᵀKV = I, and VᵀK S V = H_m is the
    Hessian of the Nyström model. It is self-adjoint and positive in ⟨·, ·⟩, and needs no product with K.

    Attributes
    ----------
    index : (m,) int64
        Landmarks' positions among the documents.
    features : FeatureOperator
        K V, its base K[:, index] (n, m) and basis L^-T.
    inverse : Preconditioner
        H_m^-1.
    """

    index: IntArray
    features: FeatureOperator
    inverse: Preconditioner

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r: (2, n) -> (2, n)."""
        projected = self.features.basis.contract(r[1, self.index])
        change = self.features.basis.expand(self.inverse(projected) - projected)
        out = r.copy()
        out[0, self.index] += change
        out[1] += product(self.features.base, change)
        return out


class KernelObjective:
    """½βᵀKβ + C Σ_P ℓ((Kβ)_i − (Kβ)_j): RankSVM with the exact kernel (chen2017 eq. 5 and 6).

    Parameters
    ----------
    X : (n, d) float64
        Documents.
    kernel : Kernel
    K : KernelMatrix
        Kernel matrix (n, n) of the documents.
    risk : Risk
    C : float
    seed : int
        Seed of the preconditioner's landmarks.
    most_landmarks : int
        Largest number that memory allows.
    """

    patience = PATIENCE

    def __init__(
        self,
        X: FloatArray,
        kernel: Kernel,
        K: KernelMatrix,
        risk: Risk,
        C: float,
        seed: int = 0,
        most_landmarks: int = MOST_LANDMARKS,
    ) -> None:
        self.X, self.kernel, self.K = X, kernel, K
        self.risk, self.C, self.seed = risk, C, seed
        self.landmarks = first_landmarks(len(X))
        self.most_landmarks = max(self.landmarks, min(most_landmarks, MOST_LANDMARKS, len(X)))

    @property
    def convex(self) -> bool:
        """True if the loss is."""
        return self.risk.loss.convex

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return self.risk.n_pairs

    def with_risk(self, risk: Risk) -> KernelObjective:
        """Return the same objective with another risk of the same documents."""
        other = copy.copy(self)
        other.risk = risk
        return other

    def start(self) -> FloatArray:
        """Return the initial vector: zeros (2, n)."""
        return np.zeros((2, len(self.X)))

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return ⟨a, b⟩ = a[0]ᵀ K b[0], from the image in b."""
        return float(a[0] @ b[1])

    def at(self, w: FloatArray) -> ScoredPoint:
        """Return value and gradient at w (2, n): one product with K, one pass over the pairs."""
        return self.assemble(w, w[1], self.risk.at(w[1]))

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """Return the point at w with known risk; the gradient in ⟨·, ·⟩ is β + C ∂risk."""
        value = 0.5 * self.inner(w, w) + self.C * risk.value
        return ScoredPoint(w, scores, value, w + self.C * self._with_image(risk.gradient), risk)

    def limit(self, point: ScoredPoint) -> tuple[float, float]:
        """Return the risk of the original loss at a point, and the smoothing term of the gap."""
        return limit_of(self.risk, point.scores, point.risk)

    def hessian_product(self, point: ScoredPoint, s: FloatArray) -> FloatArray:
        """Return S s = s + C R K s: (2, n) -> (2, n), one product with K."""
        return s + self.C * self._with_image(point.risk.hessian_product(s[1]))

    def ray(self, point: ScoredPoint, s: FloatArray) -> ScoreRay:
        """Return the objective from a point along s (2, n)."""
        return ScoreRay(self, point, s, s[1])

    def nystroem(self, report: Report = silent) -> tuple[IntArray, RankObjective]:
        """Return landmarks (m,) and this objective in their span, ½‖w‖² + C·risk(KVw) with β = Vw."""

        def within(progress: Progress) -> None:
            report(Progress("newton"))

        index = UniformLandmarks().choose(self.X, self.landmarks, self.seed)
        kept, basis = factored(self.X[index], self.kernel, mean_diagonal(self.kernel, self.X), within)
        index = index[kept]
        features = FeatureOperator(self.kernel.matrix(self.X, self.X[index], within), basis)
        return index, RankObjective(features, self.risk, self.C, self.seed)

    def preconditioner(self, point: ScoredPoint, report: Report = silent) -> NystroemPreconditioner:
        """Return the Nyström model's inverse Hessian at the point's active pairs."""
        index, model = self.nystroem(report)
        return NystroemPreconditioner(index, model.features, model.exact_preconditioner(point, report))

    def exact_preconditioner(self, point: ScoredPoint, report: Report = silent) -> NystroemPreconditioner:
        """Return the same with more landmarks; it becomes exact as they approach all documents."""
        self.landmarks = min(GROWTH * self.landmarks, self.most_landmarks)
        return self.preconditioner(point, report)

    def _with_image(self, v: FloatArray) -> FloatArray:
        return np.stack((v, self.K.product(v)))


class KernelSpace(Space):
    """Coefficients β of documents (n, d) in the exact kernel's space; K is computed once for each γ.

    Parameters
    ----------
    family : MapFamily
        Maps in the kernel's space.
    X : (n, d) float64
    budget : float
        Bytes for K (see `kernel_matrix`), besides a preconditioner with `first_landmarks`.
    """

    def __init__(self, family: MapFamily, X: FloatArray, budget: float) -> None:
        super().__init__(family, X)
        self._budget = budget
        self._computed: tuple[Kernel, KernelMatrix] | None = None
        self._nystroem: tuple[IntArray, FeatureOperator] | None = None
        self._seconds = 0.0

    def know(self, gamma: float, K: KernelMatrix) -> None:
        """Store K at γ, already computed."""
        self._computed = needed(self.family.widest(gamma).kernel), K

    def matrix(self, gamma: float, report: Report = silent) -> KernelMatrix:
        """Return K at γ."""
        return self._matrix(needed(self.family.widest(gamma, report).kernel), report)

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """Return the exact map at γ; it has no m."""
        return self.family.widest(task.gamma, report)

    def objective(
        self, task: Task, risk: Risk, seed: int, report: Report = silent
    ) -> KernelObjective | RankObjective:
        """Return ½βᵀKβ + C·risk(Kβ), or the same in the span of the task's landmarks."""
        kernel, n = needed(self.map(task, report).kernel), len(self.X)
        K = self._matrix(kernel, report)
        most = most_landmarks(n, self._budget - K.bytes)
        exact = KernelObjective(self.X, kernel, K, risk, task.C, seed, most)
        if not task.landmarks:
            return exact
        exact.landmarks = task.landmarks
        index, model = exact.nystroem(report)
        self._nystroem = index, model.features
        return model

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Return β with its image: w itself at the same γ, or (Vw, KVw) from weights of landmarks."""
        if w.ndim == 2:
            return w
        if self._nystroem is None:
            raise ValueError("there are no landmarks for these weights: request their objective first")
        (index, features), self._nystroem = self._nystroem, None
        start = np.zeros((2, len(self.X)))
        start[0, index] = features.basis.expand(w)
        start[1] = product(features.base, start[0, index])
        return start

    def coarser(self, task: Task, risk: RiskFacts) -> Task | None:
        """Return the task on the first preconditioner's landmarks if products with K take long.

        A quadratic risk needs one solve only, and without convexity the end depends on the start.
        """
        suits = risk.loss.convex and not risk.loss.quadratic
        if task.landmarks or len(self.X) < FROM_LANDMARKS or not suits:
            return None
        return replace(task, landmarks=first_landmarks(len(self.X)))

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return the coefficients without their image."""
        coefficients: FloatArray = w[0]  # w is β with its image Kβ
        return coefficients

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return the coefficients with their image by the last γ's matrix; ValueError without one."""
        if self._computed is None:
            raise ValueError("there is no kernel matrix yet: request an objective first")
        return np.stack((coefficients, self._computed[1].product(coefficients)))

    def seconds(self, task: Task) -> float:
        """Return the seconds of K."""
        return self._seconds

    def _matrix(self, kernel: Kernel, report: Report) -> KernelMatrix:
        if self._computed is None or kernel != self._computed[0]:
            self._computed = None  # frees the old one first: two need too much memory
            began = time.perf_counter()
            self._computed = kernel, kernel_matrix(self.X, kernel, self._budget, report)
            self._seconds = time.perf_counter() - began
        return self._computed[1]
