"""Losses on margins: known values, derivatives by finite differences, and what every loss must satisfy."""

import numpy as np
import pytest
from strangers import Exponential, SquaredInsensitive

from rankviz.learning.losses import (
    LOSSES,
    SMOOTHING_ERROR,
    Hinge,
    Loss,
    PiecewiseQuadratic,
    SmoothedHinge,
    SmoothHinge,
    Zone,
    eta_for,
)

EVERY = LOSSES | {"smoothed hinge": SmoothedHinge(0.3), "narrow": SmoothHinge(0.05)}
each_loss = pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY)


@each_loss
def test_derivatives_are_those_of_finite_differences(loss: Loss) -> None:
    h, t = 1e-5, np.linspace(-3, 4, 36) + 0.0123  # no point within h of a kink
    slope = (loss.value(t + h) - loss.value(t - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(t), slope, atol=1e-8)
    bend = (loss.derivative(t + h) - loss.derivative(t - h)) / (2 * h)
    np.testing.assert_allclose(loss.second_derivative(t), bend, atol=1e-8)


@each_loss
def test_convex_and_not_negative(loss: Loss) -> None:
    t = np.linspace(-5, 5, 1001)
    assert (loss.value(t) >= 0).all()
    assert (np.diff(loss.derivative(t)) >= 0).all()
    assert (loss.second_derivative(t) >= 0).all()
    assert loss.value(np.zeros(1))[0] > 0


def falls(loss: Loss) -> bool:
    """Return True if ℓ' is at most 0 on a grid of margins."""
    return bool((loss.derivative(np.linspace(-40, 40, 8001)) <= 0).all())


STRANGERS = {"exponential": Exponential(), "squared ε-insensitive": SquaredInsensitive()}


@pytest.mark.parametrize("loss", (EVERY | STRANGERS).values(), ids=EVERY | STRANGERS)
def test_a_loss_falls_exactly_where_it_declares_so(loss: Loss) -> None:
    assert loss.falling == falls(loss)
    assert not Loss.falling, "a loss that declares nothing is not taken to fall"


@pytest.mark.parametrize("bend", [0.0, -1.0])
def test_zones_that_would_rise_are_refused(bend: float) -> None:
    with pytest.raises(ValueError, match="every bend of the bent loss must be positive"):
        PiecewiseQuadratic("bent", "", (Zone(1.0, 0.0, 1.0), Zone(0.0, -1.0, bend)))


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


PIECEWISE = {name: loss for name, loss in EVERY.items() if isinstance(loss, PiecewiseQuadratic)}


@pytest.mark.parametrize("loss", PIECEWISE.values(), ids=PIECEWISE)
def test_terms_are_shifted_squared_hinges(loss: PiecewiseQuadratic) -> None:
    t = np.linspace(-9, 9, 1801)
    value = sum(a * np.maximum(0.0, b - t) ** 2 for a, b in loss.terms)
    np.testing.assert_allclose(loss.value(t), value, atol=1e-12)
    assert [b for _, b in loss.terms] == sorted((b for _, b in loss.terms), reverse=True)
    for above, below in zip(loss.zones, loss.zones[1:], strict=False):
        assert above.low >= below.high


def test_terms_of_the_papers() -> None:
    assert LOSSES["squared_hinge"].terms == ((1.0, 1.0),)
    assert LOSSES["huber"].terms == ((1.0, 1.0), (-1.0, 0.0))
    assert SmoothedHinge(0.5).terms == ((1.0, 1.0), (-1.0, 0.5))


@pytest.mark.parametrize("h", [1.0, 0.1, 1e-4, 1e-8])
def test_the_smoothed_hinge_is_within_half_its_width(h: float) -> None:
    t = np.concatenate((np.linspace(-3, 3, 601), 1 - h * np.linspace(0, 1, 101), [-1e6]))
    below = Hinge().value(t) - SmoothedHinge(h).value(t)
    rounding = 1e-15 * np.maximum(1, np.abs(t)) * max(1, 1e-1 / h)
    assert (below >= -rounding).all()
    assert (below <= h / 2 + rounding).all()


def test_the_logistic_approximation_is_as_close_as_it_says() -> None:
    loss, exact = LOSSES["logistic_pwq"], LOSSES["logistic"]
    t = np.arange(-30.0, 30.0, 1e-3)
    assert np.abs(loss.value(t) - exact.value(t)).max() == pytest.approx(0.001277, abs=1e-6)
    assert "0.0013" in loss.formula
    t = np.linspace(0, 10, 1001)
    np.testing.assert_allclose(
        loss.value(-t) - loss.value(t), t, atol=1e-12
    )  # as log(1 + e^t) − log(1 + e^−t)


def test_the_logistic_loss_does_not_overflow() -> None:
    t = np.array([-1e4, 1e4])
    assert LOSSES["logistic"].value(t).tolist() == [1e4, 0.0]
    assert LOSSES["logistic"].derivative(t).tolist() == [-1.0, 0.0]


@pytest.mark.parametrize("eta", [0.9, 0.2, 1e-3])
def test_bounds_of_the_smooth_hinge(eta: float) -> None:
    """he2009 theorem 1: p ≥ max(0, 1 − t) and p² − max(0, 1 − t)² ≤ 0.0515η²."""
    t = np.concatenate((1 + eta * np.linspace(-1.5, 1.5, 30001), [-5.0, 4.0]))
    over = SmoothHinge(eta).value(t) - np.maximum(0.0, 1.0 - t) ** 2
    assert over.min() >= -1e-15
    assert over.max() <= SMOOTHING_ERROR * eta**2
    assert over.max() == pytest.approx(0.05149 * eta**2, rel=1e-3)
    assert (1 - t[over.argmax()]) / eta == pytest.approx(0.18895, abs=1e-3)


@pytest.mark.parametrize("eta", [0.4, 0.2])
def test_the_smooth_hinge_is_the_polynomial_that_is_printed(eta: float) -> None:
    t = 1 + eta * np.linspace(-0.999, 0.999, 501)
    printed = -(t + 3 * eta - 1) * (t - 1 - eta) ** 3 / (16 * eta**3)
    np.testing.assert_allclose(SmoothHinge(eta).value(t), printed**2, atol=1e-15)


def test_eta_comes_from_the_bound() -> None:
    eta = eta_for(2.0**-7, 367_663.0)
    assert 0.0515 * eta**2 * 2.0**-7 * 367_663.0 == pytest.approx(1e-5)
    assert eta_for(1e-9, 1.0) == eta_for(1.0, 0.0) == 0.99


def test_only_the_hinge_is_trained_as_another_loss() -> None:
    assert LOSSES["hinge"].surrogate() == SmoothedHinge(1.0)
    assert all(loss.surrogate() is loss for loss in LOSSES.values() if loss.smooth)


def test_width_of_a_zone() -> None:
    assert Zone(1.0, 0.25, 3.0).width == 0.75
    assert Zone(1.0, -np.inf, 1.0).width == np.inf
