"""The low-rank problems with every pair listed, slow and plainly right; their optima by a general solver."""

import cvxpy as cp
import numpy as np
from naive_ranking import GRADES, pair_matrix, problem, qid_of, slow_pairs

from rankviz.datasets import RankingData
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.models.factorized import FactorProblem
from rankviz.models.low_rank_blocks import Blocks, Cells, FeatureGram, pair_curvature
from rankviz.models.regularized import RegularizedProblem

PARTS = GRADES | {"empty query": (np.array([1, 0, 2, 0]), np.array([0, 2, 2, 4, 4]))}
"""Grades y and query offsets ptr, by what is particular about them."""

PROBLEMS = {
    "two grades": problem(2, n_queries=4, n_grades=2),
    "three grades": problem(5, n_queries=5, n_grades=3),
    "four grades": problem(9, n_queries=3, d=6, n_grades=4),
}
"""Features, grades and query offsets of problems small enough for a general solver."""


def data_of(name: str) -> RankingData:
    X, y, ptr = PROBLEMS[name]
    return RankingData.from_arrays(X, y, qid_of(ptr))


def gram_of(X: np.ndarray) -> FeatureGram:
    return FeatureGram(FeatureOperator(X, IdentityBasis(X.shape[1])))


def factor_problem(name: str, C: float = 0.05, rank: int = 3) -> FactorProblem:
    X, y, ptr = PROBLEMS[name]
    return FactorProblem(Cells(y, ptr), gram_of(X), C, rank)


def regularized_problem(
    name: str, C: float = 0.05, nuclear: float = 0.1, coupling: float = 5.0
) -> RegularizedProblem:
    X, y, ptr = PROBLEMS[name]
    gram = gram_of(X)
    return RegularizedProblem(Blocks(y, ptr), gram, C, nuclear, coupling, pair_curvature(gram, Cells(y, ptr)))


def full_matrix(blocks: Blocks, entries: np.ndarray) -> np.ndarray:
    """Entries (E,) at their places in one (n, n) matrix of documents."""
    A = np.zeros((blocks.n, blocks.n))
    for stack in blocks.stacks:
        for rows, columns, block in zip(stack.rows, stack.columns, stack.of(entries), strict=True):
            A[np.ix_(rows, columns)] = block
    return A


def mask_of(y: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return a mask of the preference pairs (i, j), shape (n, n)."""
    mask = np.zeros((len(y), len(y)), bool)
    for i, j in slow_pairs(y, ptr):
        mask[i, j] = True
    return mask


def explicit_curvature(X: np.ndarray, y: np.ndarray, ptr: np.ndarray) -> float:
    """The largest eigenvalue of M, formed."""
    D = pair_matrix(y, ptr) @ X
    return float(np.linalg.eigvalsh(D @ D.T)[-1])


def dual_optimum(X: np.ndarray, y: np.ndarray, ptr: np.ndarray, C: float) -> float:
    """min ½αᵀMα − eᵀα over 0 ≤ α ≤ C: the hinge's dual problem, turned round."""
    D = pair_matrix(y, ptr) @ X
    alpha = cp.Variable(len(D))
    goal = 0.5 * cp.sum_squares(D.T @ alpha) - cp.sum(alpha)
    return _minimum(goal, [alpha >= 0, alpha <= C])


def regularized_optimum(
    X: np.ndarray, y: np.ndarray, ptr: np.ndarray, C: float, nuclear: float, coupling: float
) -> float:
    """The minimum of eq. 15 over α and one matrix A for each query with pairs."""
    D, pairs = pair_matrix(y, ptr) @ X, slow_pairs(y, ptr)
    alpha = cp.Variable(len(pairs))
    goal = 0.5 * cp.sum_squares(D.T @ alpha) - cp.sum(alpha)
    for query in range(len(ptr) - 1):
        own = [k for k, (i, _) in enumerate(pairs) if ptr[query] <= i < ptr[query + 1]]
        if own:
            n = int(ptr[query + 1] - ptr[query])
            A = cp.Variable((n, n))
            place = np.zeros((n * n, len(pairs)))
            for k in own:
                i, j = np.array(pairs[k]) - ptr[query]
                place[i * n + j, k] = 1.0
            goal += nuclear * cp.normNuc(A)
            goal += coupling * cp.sum_squares(cp.vec(A, order="C") - place @ alpha)
    return _minimum(goal, [alpha >= 0, alpha <= C])


def _minimum(goal: cp.Expression, constraints: list[cp.Constraint]) -> float:
    found = cp.Problem(cp.Minimize(goal), constraints)
    value = found.solve(solver=cp.CLARABEL)
    assert found.status == cp.OPTIMAL
    return float(value)


def drawn_entries(problem: RegularizedProblem, seed: int = 0) -> np.ndarray:
    """α drawn at random, 0 where no pair is."""
    return np.random.default_rng(seed).uniform(0, problem.C, problem.blocks.size) * problem.blocks.is_pair
