"""The RBF kernel κ(x, z) = exp(−γ‖x − z‖²), one matrix product and one exponential per entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.features.row_blocks import fill_rows, in_place

ROWS = 4096
"""Rows of features at a time: a copy of them stays in the cache."""


def rbf_kernel(X: FloatArray, Z: FloatArray, gamma: float, report: Report = silent) -> FloatArray:
    """Kernel matrix K_ij = exp(−γ‖x_i − z_j‖²) of X (n, d) and Z (m, d) -> (n, m) float64.

    −γ‖x − z‖² is one matrix product with two more columns, [x, ‖x‖², 1]·[2γz, −γ, −γ‖z‖²]ᵀ, after moving
    the origin to the mean of Z (a large common offset would cost digits); rounding above 0 is cut off. What
    is left of rounding is an absolute error of about 1e-15·γ‖x − c‖², c that origin: scale features first.
    What `report` raises ends the computation.
    """
    exponents = _exponents(X, Z, gamma)

    def fill(rows: slice, block: FloatArray) -> None:
        exponents(rows, block)
        in_place(np.exp, block)

    return fill_rows(len(X), len(Z), fill, report)


def negative_distances(X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
    """−‖x_i − z_j‖² of X (n, d) and Z (m, d) -> (n, m): what kernels of every γ are made of."""
    return fill_rows(len(X), len(Z), _exponents(X, Z, 1.0), report)


def rbf_of_distances(distances: FloatArray, gamma: float, report: Report = silent) -> FloatArray:
    """Kernel matrix exp(γ·distances) from what `negative_distances` gave: (n, m) -> (n, m)."""

    def fill(rows: slice, block: FloatArray) -> None:
        np.multiply(distances[rows], gamma, out=block)
        in_place(np.exp, block)

    return fill_rows(len(distances), distances.shape[1], fill, report)


def _exponents(X: FloatArray, Z: FloatArray, gamma: float) -> Callable[[slice, FloatArray], None]:
    """What fills blocks of rows with −γ‖x_i − z_j‖²."""
    centre, d = Z.mean(axis=0), Z.shape[1]
    Z = Z - centre
    right = np.vstack((2 * gamma * Z.T, np.full(len(Z), -gamma), -gamma * np.einsum("ij,ij->i", Z, Z)))

    def fill(rows: slice, block: FloatArray) -> None:
        for start in range(0, len(block), ROWS):
            part = block[start : start + ROWS]
            left = np.ones((len(part), d + 2))
            first = rows.start + start
            centred = np.subtract(X[first : first + len(part)], centre, out=left[:, :d])
            left[:, d] = np.einsum("ij,ij->i", centred, centred)
            np.matmul(left, right, out=part)
            np.minimum(part, 0.0, out=part)

    return fill


def scale_gamma(X: FloatArray) -> float:
    """The default γ = 1/(d·Var X) of features X (n, d), with Var over all entries; 1 where Var X is 0."""
    mean, squares = float(X.mean()), 0.0
    for start in range(0, len(X), ROWS):
        centred = X[start : start + ROWS] - mean
        squares += float(np.einsum("ij,ij->", centred, centred))
    return len(X) / squares if squares > 0 else 1.0
