"""The factorised dual problem: value and gradient against plain loops, and what its optimum can be."""

import numpy as np
import pytest
from naive_low_rank import PARTS, PROBLEMS, data_of, dual_optimum, factor_problem, gram_of, mask_of
from naive_ranking import slow_pairs

from rankviz.datasets import RankingData
from rankviz.models.factorized import BoxedLBFGS, FactorProblem, box_gap
from rankviz.models.low_rank_blocks import Cells, factor_duals

each_problem = pytest.mark.parametrize("name", PROBLEMS)


def slow_value(name: str, V: np.ndarray, w_rest: np.ndarray | None = None) -> float:
    """½‖w_rest + Σ ⟨v_i, v_j⟩(x_i − x_j)‖² − ½‖w_rest‖² − Σ ⟨v_i, v_j⟩, pair by pair."""
    X, y, ptr = PROBLEMS[name]
    w_rest = np.zeros(X.shape[1]) if w_rest is None else w_rest
    w, total = w_rest.copy(), 0.0
    for i, j in slow_pairs(y, ptr):
        alpha = V[i] @ V[j]
        w += alpha * (X[i] - X[j])
        total += alpha
    return float(0.5 * w @ w - 0.5 * w_rest @ w_rest - total)


def drawn(problem: FactorProblem, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, problem.ceiling, (problem.cells.n, problem.rank))


@each_problem
@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside other weights"])
def test_value_and_gradient(name: str, others: bool) -> None:
    problem, X = factor_problem(name), PROBLEMS[name][0]
    V, rng = drawn(problem), np.random.default_rng(1)
    w_rest = rng.normal(size=X.shape[1]) if others else None
    point = problem.at(V, None if w_rest is None else X @ w_rest)
    assert point.value == pytest.approx(slow_value(name, V, w_rest), rel=1e-10)
    for _ in range(5):
        S, h = rng.normal(size=V.shape), 1e-5
        slope = (slow_value(name, V + h * S, w_rest) - slow_value(name, V - h * S, w_rest)) / (2 * h)
        assert np.vdot(point.gradient, S) == pytest.approx(slope, rel=1e-6)


@each_problem
def test_what_a_point_knows(name: str) -> None:
    problem, (X, y, ptr) = factor_problem(name), PROBLEMS[name]
    V = drawn(problem)
    A, point = np.where(mask_of(y, ptr), V @ V.T, 0.0), problem.at(V)
    np.testing.assert_allclose(point.c, A.sum(axis=1) - A.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(point.f, X @ (X.T @ point.c), atol=1e-12)
    assert (point.total, point.dual) == (pytest.approx(A.sum()), point.value)


@each_problem
@pytest.mark.parametrize("C", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("rank", [1, 2, 5])
def test_never_below_the_dual_optimum(name: str, C: float, rank: int) -> None:
    """Whatever the factors, α is feasible; at the start, at random and at the end."""
    problem, least = factor_problem(name, C, rank), dual_optimum(*PROBLEMS[name], C)
    start = problem.start(0)
    end = BoxedLBFGS(tol=1e-6).solve(problem, start).point
    assert end.V.min() >= 0.0
    assert end.V.max() <= problem.ceiling
    room = 1e-6 * abs(least)
    assert least - room <= end.value <= problem.at(start).value
    assert least - room <= problem.at(drawn(problem, 3)).value


@each_problem
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_ranks_and_the_ceiling_of_blocks(name: str, rank: int) -> None:
    """The rank of a block is K at most with two grades and (R − 1)·K with R, which is reached; 0 ≤ α ≤ C."""
    data, y = data_of(name), PROBLEMS[name][1]
    problem = factor_problem(name, 0.05, rank)
    blocks = list(factor_duals(data, np.zeros(len(y)), 0.05, drawn(problem)))
    ranks = [int(np.linalg.matrix_rank(b.alpha, tol=1e-9)) if b.alpha.size else 0 for b in blocks]
    for block, found in zip(blocks, ranks, strict=True):
        assert found <= (len(np.unique(block.y)) - 1) * rank
        assert (block.alpha[block.is_pair] > 0.0).all()
        assert (block.alpha <= 0.05 * (1 + 1e-12)).all()
        assert not block.alpha[~block.is_pair].any()
    if name != "two grades":
        assert max(ranks) > rank or rank > 2  # so few documents leave no room for more


def test_masks_of_many_grades_reach_their_bound() -> None:
    y, K = np.repeat(np.arange(4), 12), 3
    data = RankingData.from_arrays(np.zeros((48, 1)), y, np.zeros(48, np.int64))
    V = np.random.default_rng(0).uniform(size=(48, K))
    alpha = factor_duals(data, np.zeros(48), 1.0, V).block(0).alpha
    assert np.linalg.matrix_rank(alpha) == 3 * K


# --- starts -------------------------------------------------------------------------------------------------


@each_problem
def test_starts_are_positive_seeded_and_below_zero_factors(name: str) -> None:
    """The scaled start is no worse than V = 0, whose value is 0, and no worse than the one that is drawn."""
    problem = factor_problem(name, C=10.0)
    V = problem.start(4)
    np.testing.assert_array_equal(V, problem.start(4))
    assert not np.array_equal(V, problem.start(5))
    assert V.min() > 0.0
    assert V.max() <= problem.ceiling
    assert problem.at(V).value <= min(0.0, problem.at(drawn(problem, 4)).value)


@pytest.mark.parametrize("part", ["one grade", "single documents", "one document", "no pairs"])
def test_without_pairs_nothing_moves(part: str) -> None:
    y, ptr = PARTS[part]
    problem = FactorProblem(Cells(y, ptr), gram_of(np.ones((len(y), 2))), 1.0, 2)
    point = problem.at(problem.start(0))
    assert (point.value, point.total) == (0.0, 0.0)
    assert not point.gradient.any()
    assert box_gap(point.gradient, point.V, problem.ceiling) == 0.0


# --- larger K -----------------------------------------------------------------------------------------------


@each_problem
@pytest.mark.parametrize("times", [2, 5])
def test_minima_fall_along_multiples_of_the_rank(name: str, times: int) -> None:
    """Each column repeated and divided by √times gives the same α within the smaller ceiling √(C/(times·K)).

    So the minimum for times·K is not above that for K, and a run from there ends no higher. (A column of
    zeros would not do: the ceiling falls with K, and what is at the ceiling for K could not be kept.)
    """
    small, large = factor_problem(name, rank=2), factor_problem(name, rank=2 * times)
    end = BoxedLBFGS(tol=1e-5).solve(small, small.start(0)).point
    V = np.repeat(end.V, times, axis=1) / np.sqrt(times)
    assert V.max() <= large.ceiling * (1 + 1e-12)
    same = large.at(np.minimum(V, large.ceiling))
    assert same.value == pytest.approx(end.value, rel=1e-12)
    assert BoxedLBFGS(tol=1e-5).solve(large, same.V).point.value <= same.value


def test_no_rank_reaches_every_dual_optimum() -> None:
    """α_ij = C asks for v_i = v_j = (√(C/K), …), so stairs of C, which optima are made of, are out of reach.

    Here α is C for three pairs of two preferred documents and two others, and 0 for the fourth: the first
    three leave no v below the ceiling, and the fourth would be C too.
    """
    X, C = np.array([[0.0], [1.0], [0.0], [-1.0]]), 0.3
    y, ptr = np.array([1, 1, 0, 0]), np.array([0, 4])
    least = dual_optimum(X, y, ptr, C)
    assert least == pytest.approx(-0.72, rel=1e-6)  # w = 2C = 0.6, margins 0, 0.6, 0.6 and 1.2
    for rank in (1, 2, 8, 32):
        problem = FactorProblem(Cells(y, ptr), gram_of(X), C, rank)
        ends = [BoxedLBFGS(tol=1e-8).solve(problem, problem.start(seed)).point.value for seed in range(5)]
        assert min(ends) > 0.95 * least


# --- where it ends ------------------------------------------------------------------------------------------


def test_the_gap_is_zero_at_stationary_points_only() -> None:
    ceiling, x = 2.0, np.array([0.0, 1.0, 2.0])
    assert box_gap(np.array([3.0, 0.0, -1.0]), x, ceiling) == 0.0
    assert box_gap(np.array([-3.0, 0.0, -1.0]), x, ceiling) == 6.0
    assert box_gap(np.array([3.0, 0.5, 1.0]), x, ceiling) == 2.5
