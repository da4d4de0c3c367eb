"""The regularised dual problem against plain loops, its optimum against a general convex solver."""

import itertools

import numpy as np
import pytest
from naive_low_rank import (
    PARTS,
    PROBLEMS,
    drawn_entries,
    explicit_curvature,
    full_matrix,
    gram_of,
    mask_of,
    regularized_optimum,
    regularized_problem,
)
from naive_ranking import slow_pairs

from rankviz.models import regularized
from rankviz.models.low_rank_blocks import Blocks
from rankviz.models.regularized import Alternating, Fista, RegularizedProblem

SETTINGS = {
    "thresholds bite": (0.05, 0.1, 5.0),
    "nearly plain": (0.05, 1e-3, 0.1),
    "nothing is kept": (0.05, 10.0, 1.0),
    "little coupling": (0.5, 0.2, 0.05),
}
"""C, nuclear and coupling."""

each_problem = pytest.mark.parametrize("name", PROBLEMS)
each_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def slow_best(name: str, A: np.ndarray, tau: float) -> tuple[np.ndarray, float]:
    """D_τ of the block of each query as (n, n), and the sum of nuclear norms."""
    ptr, out, nuclear = PROBLEMS[name][2], np.zeros_like(A), 0.0
    for start, end in itertools.pairwise(ptr):
        U, sigma, Vt = np.linalg.svd(A[start:end, start:end])
        left = np.maximum(sigma - tau, 0.0)
        out[start:end, start:end], nuclear = (U * left) @ Vt, nuclear + left.sum()
    return out, float(nuclear)


def slow_value(problem: RegularizedProblem, name: str, alpha: np.ndarray) -> float:
    """Eq. 15 with the best A, pair by pair and query by query."""
    X, y, ptr = PROBLEMS[name]
    A = full_matrix(problem.blocks, alpha)
    w = sum((A[i, j] * (X[i] - X[j]) for i, j in slow_pairs(y, ptr)), np.zeros(X.shape[1]))
    best, nuclear = slow_best(name, A, problem.nuclear / (2 * problem.coupling))
    apart = float(((A - best) ** 2).sum())
    return float(0.5 * w @ w - A.sum() + problem.nuclear * nuclear + problem.coupling * apart)


@each_problem
@each_setting
def test_value_gradient_and_matrices(name: str, settings: tuple[float, float, float]) -> None:
    problem = regularized_problem(name, *settings)
    alpha, rng = drawn_entries(problem), np.random.default_rng(1)
    point = problem.at(alpha)
    assert point.value == pytest.approx(slow_value(problem, name, alpha), rel=1e-9)
    best, nuclear = slow_best(
        name, full_matrix(problem.blocks, alpha), problem.nuclear / (2 * problem.coupling)
    )
    np.testing.assert_allclose(full_matrix(problem.blocks, point.low.A), best, atol=1e-8)
    assert point.low.nuclear == pytest.approx(nuclear, abs=1e-8)
    for _ in range(4):
        S, h = rng.normal(size=len(alpha)) * problem.blocks.is_pair, 1e-6
        slope = slow_value(problem, name, alpha + h * S) - slow_value(problem, name, alpha - h * S)
        assert point.gradient @ S == pytest.approx(slope / (2 * h), rel=1e-5, abs=1e-6)
    assert not point.gradient[~problem.blocks.is_pair].any()


def test_matrices_have_entries_where_no_pair_is() -> None:
    """With three grades the best A is not zero off the pairs, and its distance counts there too."""
    problem = regularized_problem("three grades")
    point = problem.at(drawn_entries(problem))
    off = ~problem.blocks.is_pair
    assert np.abs(point.low.A[off]).max() > 1e-3
    others = problem.at(point.alpha, point.low)
    assert others.value == point.value
    np.testing.assert_array_equal(others.gradient, point.gradient)
    masked = problem.nuclear * point.low.nuclear + point.dual
    masked += problem.coupling * float(((point.alpha - point.low.A)[~off] ** 2).sum())
    assert point.value > masked


def test_the_matrices_are_the_best_ones() -> None:
    """Any other A, near or far, has a higher value at the same α."""
    problem, rng = regularized_problem("three grades"), np.random.default_rng(0)
    point = problem.at(drawn_entries(problem))
    for size in (1e-4, 1e-2):
        for _ in range(20):
            A = point.low.A + size * rng.normal(size=problem.blocks.size)
            nuclear = sum(np.linalg.norm(block, "nuc") for s in problem.blocks.stacks for block in s.of(A))
            apart = point.alpha - A
            value = point.dual + problem.nuclear * nuclear + problem.coupling * apart @ apart
            assert value > point.value


@each_problem
def test_small_blocks_are_thresholded_as_many_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = regularized_problem(name)
    alone = problem.best(drawn_entries(problem))
    monkeypatch.setattr(regularized, "SMALL", 0)
    shared = problem.best(drawn_entries(problem))
    np.testing.assert_array_equal(alone.A, shared.A)
    np.testing.assert_array_equal(alone.ranks, shared.ranks)
    assert alone.nuclear == shared.nuclear


@each_problem
def test_a_change_is_as_long_as_explicit_pairs_say(name: str) -> None:
    X, y, ptr = PROBLEMS[name]
    problem = regularized_problem(name)
    change = np.random.default_rng(0).normal(size=problem.blocks.size) * problem.blocks.is_pair
    A = full_matrix(problem.blocks, change)
    w = np.where(mask_of(y, ptr), A, 0.0)
    w = (w.sum(axis=1) - w.sum(axis=0)) @ X
    assert problem.quadratic(change) == pytest.approx(w @ w)
    assert problem.quadratic(change) <= explicit_curvature(X, y, ptr) * change @ change * (1 + 1e-9)


# --- optima -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def optima() -> dict[tuple[str, str], float]:
    return {
        (name, setting): regularized_optimum(*PROBLEMS[name], *values)
        for name in PROBLEMS
        for setting, values in SETTINGS.items()
    }


@each_problem
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("solver", [Fista, Alternating])
def test_reaches_the_optimum_of_a_general_solver(
    solver: type[Fista | Alternating], setting: str, name: str, optima: dict[tuple[str, str], float]
) -> None:
    """To 1e-5 of it, and every gap on the way is a true bound on the distance from it."""
    problem, optimum = regularized_problem(name, *SETTINGS[setting]), optima[name, setting]
    result = solver(tol=1e-5, max_iter=20_000).solve(problem, drawn_entries(problem))
    rounding = 1e-7 * abs(optimum)
    assert optimum - rounding <= result.point.value <= optimum + 1e-5 * abs(optimum) + rounding
    for row in result.trace:
        assert row.objective - optimum <= row.gap * abs(row.objective) + rounding
    assert result.trace[-1].gap <= 1e-5


@each_problem
def test_both_solvers_end_at_one_point(name: str) -> None:
    problem = regularized_problem(name)
    one, other = (
        solver(tol=1e-7, max_iter=50_000).solve(problem, drawn_entries(problem, seed)).point
        for seed, solver in enumerate((Fista, Alternating))
    )
    assert one.value == pytest.approx(other.value, rel=2e-7)
    np.testing.assert_allclose(one.f, other.f, atol=1e-3)
    np.testing.assert_allclose(one.low.A, other.low.A, atol=1e-3 * problem.C)


@pytest.mark.parametrize("part", ["one grade", "single documents", "one document", "no pairs"])
@pytest.mark.parametrize("solver", [Fista, Alternating])
def test_without_pairs_there_is_nothing_to_do(solver: type[Fista | Alternating], part: str) -> None:
    y, ptr = PARTS[part]
    problem = RegularizedProblem(Blocks(y, ptr), gram_of(np.ones((len(y), 2))), 1.0, 1.0, 1.0, 0.0)
    result = solver().solve(problem, np.zeros(problem.blocks.size))
    assert (result.point.value, len(result.trace)) == (0.0, 1)
    assert result.point.low.ranks.size == 0
