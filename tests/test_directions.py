"""Conjugate gradients and the line search, on matrices and functions made to be awkward."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from rankviz.learning.newton import (
    MAX_TRIALS,
    SLOPE_TOLERANCE,
    conjugate_gradients,
    exact_step,
    unpreconditioned,
)

# --- conjugate gradients ----------------------------------------------------------------------------------


def positive(n: int, seed: int, condition: float) -> np.ndarray:
    """A matrix with eigenvalues 1 … condition."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    return (Q * np.geomspace(1, condition, n)) @ Q.T


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e4])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_cg_solves(condition: float, *, preconditioned: bool) -> None:
    H, b = positive(20, 0, condition), np.random.default_rng(1).normal(size=20)
    M_inv = np.diag(1 / np.diag(H)) if preconditioned else np.eye(20)
    found = conjugate_gradients(H.__matmul__, b, M_inv.__matmul__, rtol=1e-10, max_iterations=200)
    assert found.converged
    np.testing.assert_allclose(H @ found.s, b, atol=1e-7)


def test_cg_with_the_inverse_itself_takes_one_product() -> None:
    H, b = positive(20, 0, 1e6), np.random.default_rng(1).normal(size=20)
    found = conjugate_gradients(H.__matmul__, b, np.linalg.inv(H).__matmul__, rtol=0.1, max_iterations=50)
    assert (found.iterations, found.converged) == (1, True)
    np.testing.assert_allclose(H @ found.s, b, atol=1e-6)


def test_cg_counts_products_and_gives_up() -> None:
    H, b = positive(30, 2, 1e4), np.random.default_rng(3).normal(size=30)
    products: list[np.ndarray] = []

    def product(p: np.ndarray) -> np.ndarray:
        products.append(p)
        return H @ p

    found = conjugate_gradients(product, b, unpreconditioned, rtol=1e-12, max_iterations=7)
    assert (found.iterations, len(products), found.converged) == (7, 7, False)
    assert b @ found.s > 0
    # the energy error falls with every iteration: the iterate is the best of its Krylov space
    errors = []
    for k in range(8):
        s = conjugate_gradients(H.__matmul__, b, unpreconditioned, rtol=0, max_iterations=k).s
        errors.append((s - np.linalg.solve(H, b)) @ H @ (s - np.linalg.solve(H, b)))
    assert (np.diff(errors) < 0).all()


def test_cg_of_nothing_is_nothing() -> None:
    found = conjugate_gradients(unpreconditioned, np.zeros(3), unpreconditioned, rtol=0.1, max_iterations=9)
    assert (found.s.tolist(), found.iterations, found.converged) == ([0, 0, 0], 0, True)


def test_cg_without_iterations() -> None:
    found = conjugate_gradients(unpreconditioned, np.ones(3), unpreconditioned, rtol=0.1, max_iterations=0)
    assert (found.s.tolist(), found.iterations, found.converged) == ([0, 0, 0], 0, False)


def test_cg_ends_where_rounding_leaves_no_curvature() -> None:
    found = conjugate_gradients(np.zeros_like, np.ones(3), unpreconditioned, rtol=0.1, max_iterations=9)
    assert (found.s.tolist(), found.iterations, found.converged) == ([0, 0, 0], 1, False)


def test_cg_proves_that_a_decrement_is_below_the_floor() -> None:
    """A preconditioner blind to the soft direction, in which nearly all of the decrement lies."""
    H, b = np.diag([4.0, 1e8]), np.array([2.0, 1e4])
    blind = np.diag([1e-9, 1e-8])
    true = b @ np.linalg.solve(H, b) / 2

    def decrement(floor: float) -> float:
        found = conjugate_gradients(
            H.__matmul__, b, blind.__matmul__, rtol=0.1, max_iterations=50, floor=floor
        )
        assert found.converged
        return b @ found.s / 2

    assert decrement(0.0) < 0.51 * true  # what the residual in the preconditioned norm is content with
    assert decrement(0.8 * true) > 0.8 * true  # proved to be above
    assert decrement(1.2 * true) == pytest.approx(true)  # or below: then with what is missing


# --- line search ------------------------------------------------------------------------------------------


@dataclass
class FakeRay:
    """φ'(τ) of a convex function, counting trials and curvatures."""

    slope: object
    curvature: object
    trials: int = 0
    curvatures: int = 0

    def at(self, tau: float) -> tuple[float, Callable[[], float], float]:
        self.trials += 1

        def curvature() -> float:
            self.curvatures += 1
            return self.curvature(tau)

        return self.slope(tau), curvature, tau


@pytest.mark.parametrize("root", [1e-6, 1e-3, 0.3, 1.0, 1.004, 40.0, 1e5])
@pytest.mark.parametrize(
    ("slope", "curvature"),
    [
        (lambda r: r - 1, lambda r: 1.0),  # a parabola: one Newton step
        (lambda r: r**3 - 1, lambda r: 3 * r**2),
        (lambda r: np.tanh(9 * r - 9), lambda r: 9 / np.cosh(min(9 * r - 9, 300)) ** 2),  # Newton overshoots
        (lambda r: -1.0 if r < 0.5 else 2 * r - 2, lambda r: 1e-3),  # the curvature misleads
    ],
    ids=["parabola", "cubic", "saturated", "misled"],
)
def test_exact_step_finds_the_root(root: float, slope: object, curvature: object) -> None:
    ray = FakeRay(lambda tau: slope(tau / root), lambda tau: max(curvature(tau / root) / root, 1e-300))
    tau, risk = exact_step(ray, slope(0.0))
    assert risk == tau, "the risk handed back is that of the step"
    assert abs(ray.slope(tau)) <= SLOPE_TOLERANCE * abs(slope(0.0))
    assert ray.curvatures == ray.trials - 1, "the accepted step needs no curvature"


def test_a_newton_step_out_of_the_bracket_is_bisected() -> None:
    visited: list[float] = []

    def slope(tau: float) -> float:
        visited.append(tau)
        return -1.0 if tau < 0.3 else 1.0 if tau > 0.3001 else 0.0

    tau, _ = exact_step(FakeRay(slope, lambda tau: 1e-9), -1.0)
    assert 0.3 <= tau <= 0.3001
    assert visited[:3] == [1.0, 0.5, 0.25]


def test_the_step_is_doubled_until_the_slope_turns() -> None:
    visited: list[float] = []

    def slope(tau: float) -> float:
        visited.append(tau)
        return -1.0 if tau < 90 else 0.0 if tau < 100 else 1.0

    # a curvature below what the function has, as beside a kink: Newton's step would go back
    tau, _ = exact_step(FakeRay(slope, lambda tau: -1e-3), -1.0)
    assert visited == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 96.0]
    assert tau == 96.0


def test_the_search_gives_up_after_enough_trials() -> None:
    ray = FakeRay(lambda tau: -1.0 if tau <= 0.3 else 1.0, lambda tau: 1e-9)
    tau, risk = exact_step(ray, -1.0)
    assert ray.trials == MAX_TRIALS + 1
    assert tau == risk == pytest.approx(0.3, abs=1e-6)
