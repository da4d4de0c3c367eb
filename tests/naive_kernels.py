"""The kernels by scikit-learn, a kernel that is in no registry, and one as its author would write it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from sklearn.metrics import pairwise

from rankviz.features import RBF, Kernel, Laplacian, LinearKernel, Polynomial
from rankviz.features.kernel_base import BlockKernel, Fill

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.2),
    "polynomial": Polynomial(0.4, 3, 1.5),
    "homogeneous": Polynomial(0.4, 2, 0.0),
    "fifth": Polynomial(0.2, 5, 0.5),
    "linear": LinearKernel(),
}
"""With their parameters."""

_SLOW: dict[type, Callable[..., np.ndarray]] = {
    RBF: pairwise.rbf_kernel,
    Laplacian: pairwise.laplacian_kernel,
    Polynomial: pairwise.polynomial_kernel,
    LinearKernel: pairwise.linear_kernel,
}


def slow_kernel(kernel: Kernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """What scikit-learn makes of the same parameters."""
    settings = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    return _SLOW[type(kernel)](X, Z, **settings)


@dataclass(frozen=True)
class InverseDistance(BlockKernel):
    """κ(x, z) = 1/(1 + γ‖x − z‖₁): positive semidefinite, for 1/(1 + t) is a mixture of exp(−st).

    Its arguments are differences of all features at once: as much memory again for each feature.
    """

    gamma: float = 0.5

    label: ClassVar[str] = "inverse distance"
    formula: ClassVar[str] = "1/(1 + γ‖x − z‖₁)"

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
