"""Pairs and risks by plain loops, slow and plainly right, and small ranking problems to try them on."""

from __future__ import annotations

import numpy as np

NOTHING_TO_LEARN = {
    "one document": (np.ones((1, 3)), [1]),
    "constant": (np.ones((6, 2)), [0, 1, 2, 0, 1, 2]),
    "zero": (np.zeros((4, 1)), [0, 1, 1, 0]),
    "one grade": (np.arange(4.0)[:, None], [1, 1, 1, 1]),
}
"""Features and grades of one query from which no weights follow."""


def slow_pairs(y: np.ndarray, ptr: np.ndarray) -> list[tuple[int, int]]:
    return [
        (i, j)
        for q in range(len(ptr) - 1)
        for i in range(ptr[q], ptr[q + 1])
        for j in range(ptr[q], ptr[q + 1])
        if y[i] > y[j]
    ]


def pair_matrix(y: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """A (p, n), formed."""
    pairs = slow_pairs(y, ptr)
    A = np.zeros((len(pairs), len(y)))
    for row, (i, j) in enumerate(pairs):
        A[row, i], A[row, j] = 1.0, -1.0
    return A


def slow_risk(f: np.ndarray, y: np.ndarray, ptr: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient (n,) and Hessian (n, n) of Σ max(0, 1 − f_i + f_j)²."""
    value, gradient, hessian = 0.0, np.zeros(len(y)), np.zeros((len(y), len(y)))
    for i, j in slow_pairs(y, ptr):
        t = f[i] - f[j]
        if t < 1:
            value += (1 - t) ** 2
            gradient[[i, j]] += [-2 * (1 - t), 2 * (1 - t)]
            hessian[np.ix_([i, j], [i, j])] += [[2, -2], [-2, 2]]
    return value, gradient, hessian


def offsets(sizes: list[int] | np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def random_grades(
    seed: int, n_grades: int, sizes: tuple[int, int] = (1, 12)
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ptr = offsets(rng.integers(sizes[0], sizes[1] + 1, 7))
    return rng.integers(0, n_grades, ptr[-1]), ptr


def _listed(*queries: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([g for query in queries for g in query], np.int64), offsets([len(q) for q in queries])


GRADES = {
    "no document": (np.zeros(0, np.int64), np.zeros(1, np.int64)),
    "one document": _listed([1]),
    "single documents": _listed([1], [0], [2]),
    "one grade": _listed([2, 2, 2, 2], [0, 0]),
    "no pairs": _listed([1], [0, 0], [2, 2, 2]),
    "one pair": _listed([0, 1]),
    "grades far apart": _listed([0, 1000, 3, 1000], [7]),
    "equal grade at the border": _listed([0, 1], [1, 1, 0], [0, 2]),
    "two grades": random_grades(1, 2),
    "three grades": random_grades(2, 3),
    "five grades": random_grades(3, 5),
    "all grades different": _listed([4, 0, 2, 1, 3], [9, 8, 7]),
}
"""Grades y and query offsets ptr, by what is particular about them."""


def problem(
    seed: int = 0, *, n_queries: int = 8, d: int = 4, n_grades: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, grades that depend on them only in part, and query offsets."""
    rng = np.random.default_rng(seed)
    ptr = offsets(rng.integers(3, 13, n_queries))
    X = rng.normal(size=(ptr[-1], d))
    latent = X[:, 0] + np.sin(2 * X[:, -1]) + rng.normal(size=len(X))
    return X, np.clip(np.floor(latent + n_grades / 2), 0, n_grades - 1).astype(np.int64), ptr


def qid_of(ptr: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(ptr) - 1) + 100, np.diff(ptr))
