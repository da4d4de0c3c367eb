"""Losses on margins: known values, derivatives by finite differences, and what every loss must satisfy."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.losses import LOSSES, Loss

each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@pytest.mark.parametrize(
    ("t", "value", "derivative", "second"),
    [
        (-1.0, 4.0, -4.0, 2.0),
        (0.0, 1.0, -2.0, 2.0),
        (0.5, 0.25, -1.0, 2.0),
        (1.0, 0.0, 0.0, 0.0),
        (3.0, 0, 0, 0),
    ],
)
def test_squared_hinge_by_hand(t: float, value: float, derivative: float, second: float) -> None:
    loss, at = LOSSES["squared_hinge"], np.array([t])
    found = loss.value(at)[0], loss.derivative(at)[0], loss.second_derivative(at)[0]
    assert found == (value, derivative, second)


@each_loss
def test_derivatives_are_those_of_finite_differences(loss: Loss) -> None:
    h, t = 1e-5, np.linspace(-3, 4, 36) + 0.0123  # no point within h of a kink
    slope = (loss.value(t + h) - loss.value(t - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(t), slope, atol=1e-8)
    bend = (loss.derivative(t + h) - loss.derivative(t - h)) / (2 * h)
    np.testing.assert_allclose(loss.second_derivative(t), bend, atol=1e-8)


@each_loss
def test_convex_falling_and_not_negative(loss: Loss) -> None:
    t = np.linspace(-5, 5, 1001)
    assert (loss.value(t) >= 0).all()
    assert (loss.derivative(t) <= 0).all()
    assert (np.diff(loss.derivative(t)) >= 0).all()
    assert (loss.second_derivative(t) >= 0).all()
    assert loss.value(np.zeros(1))[0] > 0


@each_loss
def test_entry_by_entry_and_named(loss: Loss) -> None:
    t = np.array([-2.0, 0.25, 1.0, 7.0])
    for function in (loss.value, loss.derivative, loss.second_derivative):
        assert function(t).dtype == np.float64
        assert function(t).tolist() == [function(t[i : i + 1])[0] for i in range(4)]
        assert function(np.zeros(0)).shape == (0,)
    assert t.tolist() == [-2.0, 0.25, 1.0, 7.0]
    assert loss.label
    assert loss.formula
