"""Shapley values of features in a difference of two scores, exact where scores are sums of products.

In this game f(A) − f(B) a feature that is "on" has A's value, one that is "off" has B's. With f(x) = Re Σ_i
c_i Π_l k_il(x_l) the mean over all orders of switching features on is an integral,

    v_j = Re Σ_i c_i (k_ij(A_j) − k_ij(B_j)) ∫₀¹ Π_{l≠j} [(1 − t) k_il(B_l) + t k_il(A_l)] dt,

of a polynomial in t. Its degree is one less than the number d of features that differ, so ⌈d/2⌉
Gauss–Legendre nodes are exact. Products without one factor are the product of all before it and all after it.
Division would fail if factors vanish or underflow.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.features.maps import Form, ProductForm, SumForm

ENTRIES = 300_000
"""Number of products in memory: features · nodes · terms, about the size of outer caches."""


def shapley_values(form: Form, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Shapley values (d,) of the features of a and b (d,) in f(a) − f(b); 0 where they are equal."""
    values, moved = np.zeros(len(a)), np.flatnonzero(a != b)
    if isinstance(form, SumForm):
        values[moved] = form.differences(a, b)[moved]
    elif len(moved):
        values[moved] = _of_products(form, a, b, moved)
    return values


def _of_products(form: ProductForm, a: FloatArray, b: FloatArray, moved: NDArray[np.intp]) -> FloatArray:
    nodes, weights = _rule((len(moved) + 1) // 2)
    step = max(1, ENTRIES // (len(nodes) * len(moved)))
    kept = np.setdiff1d(np.arange(len(a)), moved)
    values = np.zeros(len(moved))
    with np.errstate(under="ignore"):
        for start in range(0, len(form.coefficients), step):
            terms = slice(start, start + step)
            on, off = form.factors(a, terms), form.factors(b, terms)
            c = form.coefficients[terms] * off[:, kept].prod(axis=1)
            values += _of_terms(c, on[:, moved].T, off[:, moved].T, nodes, weights)
    return values


def _of_terms(
    c: NDArray[Any], on: NDArray[Any], off: NDArray[Any], nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return values (d,) from terms (m,) with factors (d, m), by products at the nodes."""
    t = nodes[:, None]
    between = (1 - t) * off[:, None, :] + t * on[:, None, :]
    before = np.empty_like(between)  # [j]: the product of all factors before the j-th
    before[0] = 1.0
    for j in range(len(on) - 1):
        np.multiply(before[j], between[j], out=before[j + 1])
    after, values = np.ones_like(between[0]), np.empty(len(on))
    for j in reversed(range(len(on))):
        before[j] *= after
        values[j] = ((weights @ before[j]) @ (c * (on[j] - off[j]))).real
        after *= between[j]
    return values


@cache
def _rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Return the n Gauss–Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2
