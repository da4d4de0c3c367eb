"""The risk in score space against plain loops, finite differences and the formed pair matrix."""

import numpy as np
import pytest
from naive_ranking import GRADES, slow_risk

from rankviz.learning.losses import LOSSES
from rankviz.learning.risk import PairRisk

each_case = pytest.mark.parametrize(("y", "ptr"), GRADES.values(), ids=GRADES)


def risk_of(y: np.ndarray, ptr: np.ndarray) -> PairRisk:
    return PairRisk(y, ptr, LOSSES["squared_hinge"])


def dyadic(n: int, seed: int = 0) -> np.ndarray:
    """Scores whose differences are exact, many of them exactly 1, where the squared hinge has its kink."""
    return np.random.default_rng(seed).integers(-8, 9, n) / 4.0


@each_case
@pytest.mark.parametrize("scores", ["normal", "dyadic", "zero", "perfect"])
def test_equals_the_plain_loops(y: np.ndarray, ptr: np.ndarray, scores: str) -> None:
    f = {
        "normal": np.random.default_rng(0).normal(size=len(y)),
        "dyadic": dyadic(len(y)),
        "zero": np.zeros(len(y)),
        "perfect": 2.0 * y,
    }[scores]
    value, gradient, hessian = slow_risk(f, y, ptr)
    point = risk_of(y, ptr).at(f)
    assert point.value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(point.gradient, gradient, atol=1e-12)
    found = np.array([point.hessian_product(e) for e in np.eye(len(y))]).reshape(len(y), len(y))
    np.testing.assert_allclose(found, hessian, atol=1e-12)
    assert point.n_active == len(point.curvature) == np.trace(hessian) / 4


@each_case
def test_gradient_and_hessian_by_finite_differences(y: np.ndarray, ptr: np.ndarray) -> None:
    rng, risk, h = np.random.default_rng(3), risk_of(y, ptr), 1e-6
    f, v = rng.normal(size=len(y)), rng.normal(size=len(y))
    ahead, behind, here = risk.at(f + h * v), risk.at(f - h * v), risk.at(f)
    scale = 1 + 20 * risk.n_pairs
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(here.gradient @ v, abs=1e-9 * scale)
    if ahead.n_active == behind.n_active:  # no kink in between
        bend = (ahead.gradient - behind.gradient) / (2 * h)
        np.testing.assert_allclose(here.hessian_product(v), bend, atol=1e-8 * scale)
