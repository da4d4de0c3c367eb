"""What is left of a run: near the truth from its own first steps on, and never to and fro."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from rankviz.runs.remaining import Remaining, roughly, steps_left

TOL = 1e-6
# seconds and decrement over objective of each Newton step for the exact kernel on the bundled first fold
TRACES = {
    "C = 2^4, γ = 2^-2": [
        (2.1, 0.7230892),
        (13.3, 0.4697701),
        (17.6, 0.1178901),
        (23.9, 0.0280314),
        (25.9, 0.001787),
        (28.1, 4.76e-05),
        (31.7, 9e-07),
    ],
    "C = 1, γ = 1": [
        (0.4, 0.7989965),
        (2.9, 0.5272325),
        (5.6, 0.2153912),
        (8.1, 0.0599205),
        (8.3, 0.006977),
        (8.5, 0.0002822),
        (9.5, 4.7e-06),
        (9.7, 1e-8),
    ],
    "C = 2^-4, γ = 2^2": [
        (0.6, 0.8098782),
        (1.0, 0.274364),
        (2.2, 0.0469608),
        (3.3, 0.0040045),
        (3.6, 0.0001003),
        (3.9, 1.2e-06),
        (4.0, 1e-8),
    ],
}


def row(iteration: int, seconds: float, decrement: float) -> dict[str, float]:
    return {"iteration": iteration, "seconds": seconds, "decrement": decrement, "objective": 1.0}


@pytest.mark.parametrize("name", TRACES)
def test_newton_steps_are_foreseen_from_the_second_on(name: str) -> None:
    decrements = [math.log(ratio / TOL) for _, ratio in TRACES[name]]
    for done, (before, above) in enumerate(pairwise(decrements), start=2):
        truth = len(decrements) - done
        assert steps_left(above, before - above) == pytest.approx(truth, abs=2.0)


@pytest.mark.parametrize("name", TRACES)
def test_a_prediction_far_too_low_is_corrected_by_the_first_steps(name: str) -> None:
    trace = TRACES[name]
    end = trace[-1][0]
    left = Remaining(0.02 * end, TOL, 0.0)
    for iteration, (seconds, ratio) in enumerate(trace[:3]):
        left.note(row(iteration, seconds, ratio), seconds)
    now = trace[2][0]
    assert (end - now) / 3 < left.seconds(now) < 3 * (end - now)


@pytest.mark.parametrize("name", TRACES)
def test_words_do_not_go_to_and_fro(name: str) -> None:
    trace, left = TRACES[name], Remaining(TRACES[name][-1][0], TOL, 0.0)
    rows = {seconds: (k, ratio) for k, (seconds, ratio) in enumerate(trace)}
    told: list[float] = []
    for tick in range(int(10 * trace[-1][0]) + 1):
        if tick / 10 in rows:
            left.note(row(rows[tick / 10][0], tick / 10, rows[tick / 10][1]), tick / 10)
        told.append(left.seconds(tick / 10))
    words = [word for word, after in pairwise([*map(roughly, told), ""]) if word != after]
    assert len(words) <= len(trace), words


def test_a_step_that_takes_long_is_not_said_to_be_over_soon() -> None:
    left = Remaining(2.0, TOL, 100.0)
    assert left.seconds(101.0) == 1.0
    assert left.seconds(140.0) == 40.0


def test_a_correction_that_hardly_differs_is_not_told() -> None:
    left = Remaining(8.0, TOL, 0.0)
    left.note(row(0, 1.0, 0.8), 1.0)
    left.note(row(1, 2.0, 0.4), 2.0)
    assert left.seconds(2.0) == 6.0


def test_first_steps_that_are_cheap_do_not_lower_what_is_told() -> None:
    left = Remaining(60.0, TOL, 0.0)
    for k, ratio in enumerate((0.8, 0.5, 0.2)):
        left.note(row(k, 0.1 * (k + 1), ratio), 0.1 * (k + 1))
    assert left.seconds(1.0) == 59.0
    left.note(row(3, 1.0, 1e-5), 1.0)
    assert left.seconds(1.0) < 1.0, "past half of the way they do"


def test_what_tells_no_decrement_is_counted_down() -> None:
    left = Remaining(10.0, TOL, 0.0)
    left.note({"iteration": 0, "seconds": 1.0, "objective": 1.0}, 1.0)
    assert left.seconds(4.0) == 6.0
    left = Remaining(10.0, None, 0.0)
    left.note(row(0, 1.0, 0.8), 1.0)
    assert left.seconds(4.0) == 6.0


def test_a_decrement_at_the_tolerance_leaves_nothing() -> None:
    assert steps_left(-0.5, 3.0) == 0.0


def test_words() -> None:
    assert [roughly(s) for s in (0.0, 4.9, 7, 35, 61, 95, 170, 7200)] == [
        "a few seconds",
        "a few seconds",
        "about 10 s",
        "about 40 s",
        "about 90 s",
        "about 2 min",
        "about 3 min",
        "about 2.0 h",
    ]
