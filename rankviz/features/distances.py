"""Distances between documents, negative and in blocks: what shift-invariant kernels are functions of."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from rankviz.common.arrays import FloatArray
from rankviz.features.kernel_base import Fill, Panels
from rankviz.features.row_blocks import ROWS, shared


def squared_blocks(Z: FloatArray, scale: float) -> Fill:
    """What fills blocks with −scale·‖x_i − z_j‖² for Z (m, d).

    It is one matrix product with two more columns, [x, ‖x‖², 1]·[2sz, −s, −s‖z‖²]ᵀ, after moving the origin
    to the mean of Z (a large common offset would cost digits); rounding above 0 is cut off. What is left of
    rounding is an absolute error of about 1e-15·s‖x − c‖², c that origin: scale features first.
    """
    centre, d = Z.mean(axis=0), Z.shape[1]
    Z = Z - centre
    right = np.vstack((2 * scale * Z.T, np.full(len(Z), -scale), -scale * np.einsum("ij,ij->i", Z, Z)))

    def fill(X: FloatArray, block: FloatArray) -> None:
        for start in range(0, len(block), ROWS):
            part = block[start : start + ROWS]
            left = np.ones((len(part), d + 2))
            centred = np.subtract(X[start : start + len(part)], centre, out=left[:, :d])
            left[:, d] = np.einsum("ij,ij->i", centred, centred)
            np.matmul(left, right, out=part)
            np.minimum(part, 0.0, out=part)

    return fill


def squared_panels(X: FloatArray, scale: float) -> Panels:
    """What makes row panels of −scale·‖x_i − x_j‖², as `squared_blocks` does, about the mean of X (n, d)."""
    X = X - X.mean(axis=0)
    squares, ones = np.einsum("ij,ij->i", X, X), np.ones(len(X))
    left = np.column_stack((X, squares, ones))
    right = np.vstack((2 * scale * X.T, -scale * ones, -scale * squares))

    def panel(start: int, end: int) -> FloatArray:
        found: FloatArray = left[start:end] @ right[:, :end]
        return np.minimum(found, 0.0, out=found)

    return panel


def city_blocks(Z: FloatArray) -> Fill:
    """What fills blocks with −‖x_i − z_j‖₁ for Z (m, d): no matrix product, but no cancellation either."""
    Z = np.ascontiguousarray(Z)

    def work(X: FloatArray, part: FloatArray) -> None:
        cdist(X, Z, "cityblock", out=part)
        np.negative(part, out=part)

    return lambda X, block: shared(work, X, block)
