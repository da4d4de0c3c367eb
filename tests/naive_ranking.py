"""Pairs and risks by plain loops, slow and plainly right, and small ranking problems to try them on."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from rankviz.learning.pairs import pair_costs

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


def slow_optimum(
    Phi: np.ndarray, y: np.ndarray, ptr: np.ndarray, C: float, loss: Any, costs: Any = None
) -> tuple[np.ndarray, float]:
    """w and the least value of ½‖w‖² + C Σ c b²ℓ(t/b) over listed pairs, by SciPy."""
    i, j = np.array(slow_pairs(y, ptr)).T
    query, levels = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), np.unique(y)
    at = query[i], np.searchsorted(levels, y[i]), np.searchsorted(levels, y[j])
    found, D = pair_costs(costs, y, ptr), Phi[i] - Phi[j]
    cost, margin = found.weights(*at), found.margins(*at)
    b = np.ones(len(D)) if margin is None else margin

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        t = D @ w / b
        value = 0.5 * w @ w + C * (cost * b**2 * loss.value(t)).sum()
        return value, w + C * D.T @ (cost * b * loss.derivative(t))

    options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000, "maxfun": 20_000}
    best = minimize(objective, np.zeros(Phi.shape[1]), jac=True, method="L-BFGS-B", options=options)
    return best.x, float(best.fun)


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
