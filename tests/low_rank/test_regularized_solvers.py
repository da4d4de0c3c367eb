"""FISTA and alternating steps: falling objectives, wrong curvatures, stops, progress, seeds."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from naive_low_rank import PROBLEMS, drawn_entries, explicit_curvature, regularized_problem

from rankviz.common.progress import Progress, StopRequested
from rankviz.learning.objective import Status
from rankviz.models.low_rank_trace import LowRankResult
from rankviz.models.regularized import Alternating, DualPoint, Fista

SOLVERS = {"fista": Fista, "alternating": Alternating}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def solved(
    solver: type[Fista | Alternating], name: str = "three grades", seed: int = 0, **settings: object
) -> LowRankResult[DualPoint]:
    problem = regularized_problem(name)
    return solver(**{"tol": 1e-5, "max_iter": 5000} | settings).solve(problem, drawn_entries(problem, seed))


@each_problem
@pytest.mark.parametrize("inner", [1, 10])
def test_alternating_steps_never_raise_the_objective(name: str, inner: int) -> None:
    values = np.array([row.objective for row in solved(Alternating, name, inner=inner, max_iter=200).trace])
    assert (np.diff(values) <= 1e-12 * np.abs(values[1:])).all()


@each_problem
@pytest.mark.parametrize("share", [1e-6, 1e-2, 0.5])
def test_alternating_steps_put_a_curvature_right_that_is_too_small(name: str, share: float) -> None:
    problem = regularized_problem(name)
    problem = replace(problem, curvature=share * explicit_curvature(*PROBLEMS[name]))
    result = Alternating(tol=1e-9, max_iter=100).solve(problem, drawn_entries(problem))
    values = np.array([row.objective for row in result.trace])
    assert (np.diff(values) <= 1e-12 * np.abs(values[1:])).all()


@cache
def optimum(name: str) -> float:
    problem = regularized_problem(name)
    return Fista(tol=1e-6, max_iter=5000).solve(problem, drawn_entries(problem)).point.value


@each_problem
@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1, 100.0])
def test_a_wrong_curvature_is_put_right(name: str, share: float) -> None:
    problem = regularized_problem(name)
    expected = optimum(name)
    wrong = replace(problem, curvature=share * problem.curvature)
    result = Fista(tol=1e-6, max_iter=20_000).solve(wrong, drawn_entries(problem))
    assert result.status is Status.CERTIFIED
    assert result.point.value == pytest.approx(expected, rel=2e-6)
    assert max(row.objective for row in result.trace) <= max(result.trace[0].objective, 0.0)


@each_solver
@each_problem
def test_points_stay_in_the_box(solver: type[Fista | Alternating], name: str) -> None:
    point, problem = solved(solver, name, max_iter=7, tol=1e-12).point, regularized_problem(name)
    assert point.alpha.min() >= 0.0
    assert point.alpha.max() <= problem.C
    assert not point.alpha[~problem.blocks.is_pair].any()


@each_solver
def test_a_trace_has_a_row_for_each_look(solver: type[Fista | Alternating]) -> None:
    result = solved(solver)
    frame = result.frame
    assert result.status is Status.CERTIFIED
    assert frame["iteration"].iloc[0] == 0
    assert frame["iteration"].is_monotonic_increasing
    assert frame["iteration"].is_unique
    assert frame["seconds"].is_monotonic_increasing
    assert frame["objective"].iloc[-1] == result.point.value
    assert (frame["gap"] >= 0.0).all()


@each_solver
@pytest.mark.parametrize("most", [1, 3, 7])
def test_few_iterations_are_said_to_be_too_few(solver: type[Fista | Alternating], most: int) -> None:
    result = solved(solver, max_iter=most, tol=1e-12)
    assert result.status is Status.MAX_ITERATIONS
    assert result.frame["iteration"].iloc[-1] == most


@each_solver
def test_the_end_does_not_depend_on_the_start(solver: type[Fista | Alternating]) -> None:
    one, same, other = solved(solver), solved(solver), solved(solver, seed=1)
    np.testing.assert_array_equal(one.point.alpha, same.point.alpha)
    assert one.point.value == pytest.approx(other.point.value, rel=2e-5)


def stopping(solver: Fista | Alternating, at: int) -> tuple[LowRankResult[DualPoint], list[Progress]]:
    """A run that is stopped when it tells for the `at`-th time, and what it told."""
    told: list[Progress] = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) == at:
            raise StopRequested

    problem = regularized_problem("three grades")
    return solver.solve(problem, drawn_entries(problem), report), told


@each_solver
@pytest.mark.parametrize("at", [1, 2, 9, 20])
def test_a_stop_returns_the_last_look(solver: type[Fista | Alternating], at: int) -> None:
    result, told = stopping(solver(tol=1e-12), at)
    assert (result.status, len(told)) == (Status.STOPPED, at)
    assert result.trace[-1].objective == result.point.value <= result.trace[0].objective


@each_solver
def test_every_look_is_told_with_its_scores(solver: type[Fista | Alternating]) -> None:
    result, told = stopping(solver(max_iter=30), -1)
    rows = [progress for progress in told if progress.scores is not None]
    assert [progress.record["iteration"] for progress in rows] == result.frame["iteration"].tolist()
    np.testing.assert_array_equal(rows[-1].scores, result.point.f)
    assert {progress.stage for progress in told} == {"newton"}
    assert len(told) > len(rows)
