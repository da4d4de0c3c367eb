"""The kernels by scikit-learn, two that are in no registry, what a map makes of them, documents to try."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from rankviz.features import KERNELS as KINDS
from rankviz.features import RBF, Kernel, Laplacian, LinearKernel, Polynomial
from rankviz.features.kernel_base import Fill, Spectrum
from rankviz.features.kernels import squared_blocks

RNG = np.random.default_rng(0)
DOCUMENTS = RNG.normal(size=(60, 5))
OTHERS = RNG.normal(size=(17, 5))


def repeated(X: np.ndarray) -> np.ndarray:
    """Every document twice, and zero rows of both signs, in no particular order."""
    zeros = np.zeros((6, X.shape[1])) * np.where(np.arange(6) % 2, 1.0, -1.0)[:, None]
    return np.random.default_rng(1).permutation(np.vstack((X, X, zeros)))


def kernel(X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    """The RBF kernel by SciPy's distances."""
    return np.exp(-gamma * cdist(X, Z, "sqeuclidean"))


def approximation(fitted: object, X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
    """K̃ = Φ(X) Φ(Z)ᵀ."""
    Phi = fitted.operator(X).dense()
    return Phi @ (Phi if Z is None else fitted.operator(Z).dense()).T


KNOWN: dict[str, Kernel] = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.2),
    "polynomial": Polynomial(0.4, 3, 1.5),
    "homogeneous": Polynomial(0.4, 2, 0.0),
    "fifth": Polynomial(0.2, 5, 0.5),
    "linear": LinearKernel(),
}
"""Those that scikit-learn has, with their parameters."""
KERNELS = KNOWN | {name: kind.usual for name, kind in KINDS.items() if name not in KNOWN}
"""With all others that can be chosen."""

_SLOW: dict[type, Callable[..., np.ndarray]] = {
    RBF: pairwise.rbf_kernel,
    Laplacian: pairwise.laplacian_kernel,
    Polynomial: pairwise.polynomial_kernel,
    LinearKernel: pairwise.linear_kernel,
}


def slowly(kernel_of_distances: Callable[..., np.ndarray], metric: str) -> Callable[..., np.ndarray]:
    """A kernel of SciPy's distances, which scikit-learn has not."""
    return lambda X, Z, gamma: kernel_of_distances(gamma * cdist(X, Z, metric))


def slow_kernel(kernel: Kernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the kernel matrix by scikit-learn or by loops; every kernel has such a slow version."""
    assert type(kernel) in _SLOW, f"{type(kernel).__name__} has no slow version to be compared with"
    settings = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    return _SLOW[type(kernel)](X, Z, **settings)


@dataclass(frozen=True)
class InverseDistance(Kernel):
    """κ(x, z) = 1/(1 + γ‖x − z‖₁): positive semidefinite, for 1/(1 + t) is a mixture of exp(−st).

    Its arguments are differences of all features at once: as much memory again for each feature.
    """

    gamma: float = 0.5

    label: ClassVar[str] = "inverse distance"
    formula: ClassVar[str] = "1/(1 + γ‖x − z‖₁)"
    shift_invariant: ClassVar[bool] = True

    def argument_blocks(self, Z: np.ndarray) -> Fill:
        return lambda X, block: np.abs(X[:, None, :] - Z).sum(axis=2, out=block)

    def apply(self, arguments: np.ndarray, out: np.ndarray) -> None:
        np.multiply(arguments, self.gamma, out=out)
        out += 1.0
        np.reciprocal(out, out=out)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))

    def scratch(self, d: int) -> int:
        return 2 * d


@dataclass(frozen=True)
class Matern(Kernel):
    """κ(x, z) = (1 + √3γ‖x − z‖) exp(−√3γ‖x − z‖): expressions as they come, and no word on memory.

    Its frequencies follow Student's t with 3 degrees of freedom, drawn from one generator.
    """

    gamma: float = 0.5

    label: ClassVar[str] = "Matérn-3/2"
    formula: ClassVar[str] = "(1 + √3γ‖x − z‖) exp(−√3γ‖x − z‖)"
    shift_invariant: ClassVar[bool] = True
    spectrum: ClassVar[Spectrum | None] = Spectrum(
        column=lambda d, rng: rng.standard_normal(d) / np.sqrt(rng.chisquare(3) / 3),
        length=lambda d, rng: float(np.sqrt(rng.chisquare(d) / (rng.chisquare(3) / 3))),
    )

    def argument_blocks(self, Z: np.ndarray) -> Fill:
        return squared_blocks(Z, 1.0)

    def apply(self, arguments: np.ndarray, out: np.ndarray) -> None:
        t = self.gamma * np.sqrt(-3 * arguments)
        np.multiply(1 + t, np.exp(-t), out)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))


_SLOW[InverseDistance] = slowly(lambda t: 1.0 / (1.0 + t), "cityblock")
_SLOW[Matern] = slowly(lambda t: (1.0 + np.sqrt(3.0) * t) * np.exp(-np.sqrt(3.0) * t), "euclidean")
