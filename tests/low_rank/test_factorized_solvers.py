"""All ways to minimise over factors: stationary ends, seeds, stops, progress, and what stays at zero."""

from functools import cache

import numpy as np
import pytest
from naive_low_rank import PROBLEMS, factor_problem, gram_of

from rankviz.common.progress import Progress, StopRequested
from rankviz.features import RBF
from rankviz.features.kernel_matrix import kernel_matrix
from rankviz.learning.objective import Status
from rankviz.models.factorized import BoxedLBFGS, FactorPoint, FactorProblem, FactorSolver, Nested, QuerySteps
from rankviz.models.low_rank_blocks import Cells, KernelGram
from rankviz.models.low_rank_trace import LowRankResult

SOLVERS = {"lbfgs": BoxedLBFGS, "nested": Nested, "query_steps": QuerySteps}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def solved(
    solver: type[FactorSolver], name: str = "three grades", seed: int = 0, **settings: object
) -> LowRankResult[FactorPoint]:
    problem = factor_problem(name)
    limits = {"tol": 1e-5, "max_iter": 5000} | settings
    chosen = solver(**limits)
    return chosen.solve(problem, chosen.start(problem, seed))


solved_once = cache(solved)
"""The same for tests that look at what others have solved."""


def projected_gradient(problem: FactorProblem, point: FactorPoint) -> np.ndarray:
    """The part of the gradient that the box lets a step follow."""
    inside = np.clip(point.V - 1e-6 * point.gradient, 0.0, problem.ceiling)
    return (point.V - inside) / 1e-6


@each_solver
@each_problem
def test_ends_are_stationary(solver: type[FactorSolver], name: str) -> None:
    problem, result = factor_problem(name), solved_once(solver, name)
    assert result.status is Status.STATIONARY
    first = projected_gradient(problem, problem.at(problem.start(0)))
    assert np.abs(projected_gradient(problem, result.point)).max() <= 3e-3 * np.abs(first).max()
    last = result.trace[-1]
    assert last.gap <= 1e-5
    assert last.objective == result.point.value == problem.at(result.point.V).value
    assert last.objective < result.trace[0].objective < 0.0


@each_problem
def test_objectives_fall_steadily(name: str) -> None:
    for solver in SOLVERS.values():
        values = np.array([row.objective for row in solved_once(solver, name).trace])
        assert (np.diff(values) <= 1e-12 * np.abs(values[1:])).all()


@each_problem
def test_all_end_at_about_the_same_height(name: str) -> None:
    """Not at the same: the problem is not convex. The best of a few starts are within two in a hundred."""
    best = [
        min(solved_once(solver, name, seed).point.value for seed in range(4)) for solver in SOLVERS.values()
    ]
    assert best == pytest.approx([best[0]] * len(SOLVERS), rel=2e-2)


@each_solver
def test_a_trace_has_a_row_for_each_iteration(solver: type[FactorSolver]) -> None:
    result = solved_once(solver)
    frame = result.frame
    assert frame["iteration"].tolist() == list(range(len(frame)))
    assert frame["seconds"].is_monotonic_increasing
    assert (frame["gap"] >= 0.0).all()
    assert frame.dtypes.to_dict() == {"iteration": int, "objective": float, "gap": float, "seconds": float}


@each_solver
def test_zero_factors_stay(solver: type[FactorSolver]) -> None:
    problem = factor_problem("three grades")
    result = solver().solve(problem, np.zeros((problem.cells.n, problem.rank)))
    assert (result.status, len(result.trace)) == (Status.STATIONARY, 1)
    assert not result.point.V.any()


@each_solver
def test_few_iterations_are_said_to_be_too_few(solver: type[FactorSolver]) -> None:
    """Three for each number of factors; from one factor to three, the step to more is one as well."""
    result = solved(solver, max_iter=3)
    assert result.status is Status.MAX_ITERATIONS
    assert result.frame["iteration"].iloc[-1] == (3 + 1 + 3 if solver is Nested else 3)


@each_solver
def test_rounding_ends_it_at_last(solver: type[FactorSolver]) -> None:
    """A gap of nothing at all cannot be asked for: that is said, or it is reached; it never runs on."""
    result = solved(solver, tol=1e-17, max_iter=800)
    assert result.status in (Status.STALLED, Status.MAX_ITERATIONS, Status.STATIONARY)
    assert result.trace[-1].gap < 1e-5
    assert result.point.value <= solved_once(solver).point.value


def test_queries_at_rest_keep_their_step_length() -> None:
    """Doubled with each pass, it would overflow after a thousand, and factors would not be numbers."""
    problem = factor_problem("two grades", 1.0)
    result = QuerySteps(tol=1e-17, max_iter=1200).solve(problem, problem.start(0))
    assert result.status is Status.MAX_ITERATIONS
    assert np.isfinite(result.point.V).all()
    assert np.isfinite(result.frame["objective"]).all()


def stopping(solver: FactorSolver, at: int) -> tuple[LowRankResult[FactorPoint], list[Progress]]:
    """A run that is stopped when it tells of iteration `at`, and what it told."""
    told: list[Progress] = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if (progress.record or {}).get("iteration") == at:
            raise StopRequested

    problem = factor_problem("three grades")
    return solver.solve(problem, solver.start(problem, 0), report), told


@each_solver
@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_stop_returns_the_last_point(solver: type[FactorSolver], at: int) -> None:
    result, told = stopping(solver(tol=1e-9), at)
    assert result.status is Status.STOPPED
    assert [row.iteration for row in result.trace] == list(range(at + 1))
    assert result.trace[-1].gap >= 0.0
    assert told[-1].record is not None
    assert told[-1].record["iteration"] == at
    assert result.point.value <= result.trace[0].objective


@each_solver
def test_every_iteration_is_told_with_its_scores(solver: type[FactorSolver]) -> None:
    result, told = stopping(solver(), -1)
    rows = [progress for progress in told if progress.scores is not None]
    assert [progress.record["iteration"] for progress in rows] == result.frame["iteration"].tolist()
    np.testing.assert_allclose(rows[-1].scores, result.point.f, atol=1e-12)
    assert {progress.stage for progress in told} == {"newton"}
    assert len(told) >= 2 * len(rows) - 1  # signs of life between


def test_steps_by_query_need_rows_of_features() -> None:
    X, y, ptr = PROBLEMS["three grades"]
    problem = FactorProblem(Cells(y, ptr), KernelGram(kernel_matrix(X, RBF(0.5), 1e9), RBF(0.5)), 0.1, 2)
    with pytest.raises(ValueError, match="Choose solver='lbfgs'"):
        QuerySteps().solve(problem, problem.start(0))
    assert BoxedLBFGS().solve(problem, problem.start(0)).status is Status.STATIONARY


@pytest.mark.parametrize("C", [1e-8, 1e8])
@each_solver
def test_the_ends_of_the_range_of_c(solver: type[FactorSolver], C: float) -> None:
    problem = factor_problem("three grades", C)
    chosen = solver(tol=1e-2, max_iter=300)
    result = chosen.solve(problem, chosen.start(problem, 0))
    assert np.isfinite(result.point.V).all()
    assert result.point.value <= problem.at(problem.start(0)).value <= 0.0


@each_solver
def test_features_of_any_size(solver: type[FactorSolver]) -> None:
    """No step size is set by hand: features a thousand times as large end as well."""
    X, y, ptr = PROBLEMS["two grades"]
    for scale in (1e-3, 1e3):
        problem = FactorProblem(Cells(y, ptr), gram_of(scale * X), 0.05 / scale**2, 2)
        chosen = solver(max_iter=2000)
        values = [row.objective for row in chosen.solve(problem, chosen.start(problem, 0)).trace]
        assert values[-1] <= values[0] < 0.0
