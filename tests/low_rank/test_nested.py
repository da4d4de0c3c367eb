"""Factors from few to many: never worse than fewer, and the step that parts copies of a column."""

from dataclasses import replace

import numpy as np
import pytest
from naive_low_rank import PARTS, PROBLEMS, factor_problem, gram_of, mask_of

from rankviz.common.progress import Progress, StopRequested
from rankviz.learning.objective import Status
from rankviz.models.factorized import BoxedLBFGS, FactorPoint, FactorProblem, Nested, copied, more_factors
from rankviz.models.low_rank_blocks import Cells

each_problem = pytest.mark.parametrize("name", PROBLEMS)


def ended(name: str, rank: int, C: float = 0.05, tol: float = 1e-4) -> FactorPoint:
    problem = factor_problem(name, C, rank)
    solver = Nested(tol, 3000)
    return solver.solve(problem, solver.start(problem, 0)).point


# --- objectives by K ----------------------------------------------------------------------------------------


@each_problem
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_never_above_a_divisor_of_the_rank(name: str, C: float) -> None:
    values = {rank: ended(name, rank, C).value for rank in (1, 2, 3, 4, 6, 8, 12)}
    for rank, value in values.items():
        for fewer in values:
            if rank % fewer == 0:
                assert value <= values[fewer] + 1e-12 * abs(value)


def test_more_factors_do_lower_it() -> None:
    """Not by rounding alone, where factors of a query lie between zero and the ceiling."""
    one, two, four = (ended("four grades", rank, tol=1e-6).value for rank in (1, 2, 4))
    assert one - two > 1e-5 * abs(one)
    assert two - four > 1e-6 * abs(two)


@each_problem
def test_the_first_factor_is_the_same_for_every_rank(name: str) -> None:
    starts = [Nested().start(factor_problem(name, rank=rank), 3) for rank in (1, 2, 7)]
    assert starts[0].shape == (len(PROBLEMS[name][1]), 1)
    for start in starts[1:]:
        np.testing.assert_array_equal(start, starts[0])


@each_problem
def test_one_factor_is_trained_as_ever(name: str) -> None:
    problem = factor_problem(name, rank=1)
    plain = BoxedLBFGS(1e-4).solve(problem, problem.start(0)).point
    np.testing.assert_array_equal(Nested(1e-4).solve(problem, problem.start(0)).point.V, plain.V)


# --- the step to more factors -------------------------------------------------------------------------------


@each_problem
def test_bend_is_the_second_derivative_at_copies(name: str) -> None:
    """D(V + hE) − D(V) is ½h²·tr(Eᵀ(T + Tᵀ)E) + O(h⁴) where E sums to zero over equal columns."""
    problem, y, ptr = factor_problem(name, rank=3), *PROBLEMS[name][1:]
    rng = np.random.default_rng(0)
    V = copied(problem, rng.uniform(0.0, np.sqrt(problem.C), (len(y), 1)))
    point, E = problem.at(V), rng.normal(size=V.shape)
    E -= E.mean(axis=1, keepdims=True)
    T = np.where(mask_of(y, ptr), point.f[:, None] - point.f[None, :] - 1.0, 0.0)
    np.testing.assert_allclose(problem.bend(point.f, E), (T + T.T) @ E, atol=1e-10)
    np.testing.assert_allclose(problem.bend(point.f, V), point.gradient, atol=1e-10)
    bend, h = 0.5 * float(np.vdot(E, problem.bend(point.f, E))), 1e-4
    assert problem.at(V + h * E).value - point.value == pytest.approx(bend * h**2, rel=1e-3)


@each_problem
@pytest.mark.parametrize("copies", [2, 3])
def test_more_factors_start_lower_and_in_the_box(name: str, copies: int) -> None:
    """From drawn factors, all between zero and the ceiling."""
    problem, few = factor_problem(name, rank=2 * copies), factor_problem(name, rank=2).start(0)
    same = problem.at(copied(problem, few))
    np.testing.assert_allclose(same.V @ same.V.T, few @ few.T, atol=1e-12)
    V = more_factors(problem, few)
    assert V.min() >= 0.0
    assert V.max() <= problem.ceiling
    assert problem.at(V).value < same.value - 1e-3 * abs(same.value)
    np.testing.assert_array_equal(V, more_factors(problem, few))


@each_problem
def test_the_step_is_the_best_along_its_direction(name: str) -> None:
    """Longer or shorter ones in the box are no lower: D is a parabola in the square of the step."""
    few, problem = factor_problem(name, 1.0, 1).start(0), factor_problem(name, 1.0, 2)
    W, V = copied(problem, few), more_factors(problem, few)
    lowest = problem.at(V).value
    for times in (0.5, 0.9, 0.99, 1.01, 1.1, 1.5):
        other = W + times * (V - W)
        if other.min() >= 0.0 and other.max() <= problem.ceiling:
            assert problem.at(other).value >= lowest - 1e-12 * abs(lowest)


def test_without_room_or_pairs_copies_stay() -> None:
    """At zero and at the ceiling no copy can leave the others; without pairs there is nothing to gain."""
    problem = factor_problem("three grades", rank=4)
    n, few = problem.cells.n, replace(problem, rank=2)
    for value in (0.0, few.ceiling):
        V = np.full((n, 2), value)
        np.testing.assert_array_equal(more_factors(problem, V), copied(problem, V))
    for part in ("one grade", "single documents", "one document", "no pairs"):
        y, ptr = PARTS[part]
        problem = FactorProblem(Cells(y, ptr), gram_of(np.ones((len(y), 2))), 1.0, 2)
        V = np.full((len(y), 1), 0.5)
        np.testing.assert_array_equal(more_factors(problem, V), copied(problem, V))


# --- traces and stops ---------------------------------------------------------------------------------------


def test_the_trace_runs_on_through_all_numbers_of_factors() -> None:
    problem, told = factor_problem("three grades", rank=4), []
    result = Nested(1e-4).solve(problem, Nested().start(problem, 0), told.append)
    one = Nested(1e-4).solve(replace(problem, rank=1), replace(problem, rank=1).start(0))
    frame = result.frame
    assert len(frame) > len(one.trace)
    assert frame["objective"].tolist()[: len(one.trace)] == one.frame["objective"].tolist()
    assert (np.diff(frame["objective"]) <= 1e-12 * np.abs(frame["objective"].iloc[1:])).all()
    assert frame["iteration"].tolist() == list(range(len(frame)))
    assert [p.record["iteration"] for p in told if p.scores is not None] == frame["iteration"].tolist()


@pytest.mark.parametrize("at", [0, 2, 10**9])
def test_a_stop_at_few_factors_returns_their_copies(at: int) -> None:
    """Also one that is asked for at the first iteration with two factors of four."""
    problem = factor_problem("three grades", rank=4)
    start = Nested().start(problem, 0)
    last = len(Nested(1e-4).solve(replace(problem, rank=1), start).trace)

    def report(progress: Progress) -> None:
        if (progress.record or {}).get("iteration") == min(at, last):
            raise StopRequested

    result = Nested(1e-4).solve(problem, start, report)
    assert result.status is Status.STOPPED
    assert result.point.V.shape == (problem.cells.n, 4)
    assert result.point.value == pytest.approx(result.trace[-1].objective, rel=1e-12)
    assert result.trace[-1].iteration == min(at, last)
