"""Negative distances between documents, in blocks: the arguments of shift-invariant kernels."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from rankviz.common.arrays import FloatArray
from rankviz.features.kernel_base import Fill, Panels
from rankviz.features.row_blocks import ROWS, shared


def squared_blocks(Z: FloatArray, scale: float) -> Fill:
    """Return a function that fills blocks with −scale·‖x_i − z_j‖² for Z (m, d).

    It is one matrix product with two more columns, [x, ‖x‖², 1]·[2sz, −s, −s‖z‖²]ᵀ, after moving the origin
    to the mean c of Z: a large common offset would cost digits. Values rounded above 0 become 0. An absolute
    rounding error of about 1e-15·s‖x − c‖² remains, so scale features first.
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
    """Return a function that makes row panels of −scale·‖x_i − x_j‖² about the mean of X (n, d)."""
    X = X - X.mean(axis=0)
    squares, ones = np.einsum("ij,ij->i", X, X), np.ones(len(X))
    left = np.column_stack((X, squares, ones))
    right = np.vstack((2 * scale * X.T, -scale * ones, -scale * squares))

    def panel(start: int, end: int) -> FloatArray:
        found: FloatArray = left[start:end] @ right[:, :end]
        return np.minimum(found, 0.0, out=found)

    return panel


def city_blocks(Z: FloatArray) -> Fill:
    """Return a function that fills blocks with −‖x_i − z_j‖₁ for Z (m, d), without cancellation."""
    Z = np.ascontiguousarray(Z)

    def work(X: FloatArray, part: FloatArray) -> None:
        cdist(X, Z, "cityblock", out=part)
        np.negative(part, out=part)

    return lambda X, block: shared(work, X, block)
