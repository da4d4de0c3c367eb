"""The chain rule between features and risk, rays, and the preconditioners against the Hessian formed."""

import numpy as np
import pytest
from naive_ranking import problem, slow_risk
from scipy import linalg

from rankviz.common.errors import DataError
from rankviz.features import FEATURE_MAPS, RBF, MapSettings
from rankviz.learning import feature_space as module
from rankviz.learning.feature_space import CholeskyPreconditioner, RankObjective
from rankviz.learning.losses import LOSSES
from rankviz.learning.objective import ScoredPoint
from rankviz.learning.risk import PairRisk

MAPS = ("linear", "nystroem", "fourier")
each_map = pytest.mark.parametrize("feature_map", MAPS)


def objective_of(
    feature_map: str = "linear", C: float = 0.25, *, m: int = 15, rank: int | None = None, seed: int = 0
) -> RankObjective:
    X, y, ptr = problem(seed)
    features = FEATURE_MAPS[feature_map].make(MapSettings(m, RBF(0.5), rank, 3)).fit(X).operator(X)
    return RankObjective(features, PairRisk(y, ptr, LOSSES["squared_hinge"]), C)


def dense_hessian(objective: RankObjective, point: ScoredPoint) -> np.ndarray:
    """I + C Φᵀ R Φ with R from the plain loops."""
    Phi = objective.features.dense()
    R = slow_risk(point.scores, objective.risk.y, objective.risk.ptr)[2]
    return np.eye(Phi.shape[1]) + objective.C * Phi.T @ R @ Phi


def weights(objective: RankObjective, seed: int = 1, scale: float = 0.3) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=objective.features.shape[1])


@each_map
def test_value_gradient_and_hessian_product_by_the_formula(feature_map: str) -> None:
    objective = objective_of(feature_map)
    w = weights(objective)
    point, Phi = objective.at(w), objective.features.dense()
    value, gradient, _ = slow_risk(Phi @ w, objective.risk.y, objective.risk.ptr)
    assert point.value == pytest.approx(w @ w / 2 + 0.25 * value)
    np.testing.assert_allclose(point.gradient, w + 0.25 * Phi.T @ gradient, atol=1e-9)
    np.testing.assert_allclose(point.scores, Phi @ w, atol=1e-10)
    v = weights(objective, 5)
    expected = dense_hessian(objective, point) @ v
    np.testing.assert_allclose(objective.hessian_product(point, v), expected, atol=1e-8)
    assert v @ expected >= v @ v


@each_map
def test_rays(feature_map: str) -> None:
    objective, h, tau = objective_of(feature_map), 1e-6, 0.7
    point, s = objective.at(weights(objective)), weights(objective, 8)
    ray = objective.ray(point, s)
    slope, curvature, risk = ray.at(tau)
    there, ahead, behind = (objective.at(point.w + t * s) for t in (tau, tau + h, tau - h))
    assert slope == pytest.approx(there.gradient @ s)
    assert slope == pytest.approx((ahead.value - behind.value) / (2 * h), rel=1e-5)
    assert curvature() == pytest.approx(s @ objective.hessian_product(there, s))
    end = ray.end(tau, risk)
    assert end.value == pytest.approx(there.value)
    np.testing.assert_allclose(end.gradient, there.gradient, atol=1e-9)
    np.testing.assert_allclose(end.w, point.w + tau * s)


@each_map
@pytest.mark.parametrize("C", [2.0**-11, 1.0, 16.0])
def test_closed_form_is_the_hessian_at_zero(feature_map: str, C: float) -> None:
    objective = objective_of(feature_map, C)
    point = objective.at(objective.start())
    preconditioner = objective.preconditioner(point)
    assert preconditioner.kind == "closed form"
    H = dense_hessian(objective, point)
    np.testing.assert_allclose(preconditioner.factor.T @ preconditioner.factor, H, rtol=1e-9, atol=1e-8)
    r = weights(objective)
    np.testing.assert_allclose(H @ preconditioner(r), r, atol=1e-7)


def test_closed_form_away_from_zero_is_scaled_by_the_active_share() -> None:
    objective = objective_of("linear", 1.0)
    point, start = objective.at(weights(objective, scale=2.0)), objective.at(objective.start())
    share = point.risk.n_active / objective.n_pairs
    assert 0.1 < share < 0.9
    factor = objective.preconditioner(point).factor
    full = dense_hessian(objective, start) - np.eye(4)
    np.testing.assert_allclose(factor.T @ factor, np.eye(4) + share * full, atol=1e-9)


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier"])
@pytest.mark.parametrize("scale", [0.0, 0.5])
def test_sampled_pairs_are_the_hessian_when_all_are_drawn(
    monkeypatch: pytest.MonkeyPatch, feature_map: str, scale: float
) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", 0)
    monkeypatch.setattr(module, "wider_than_tall", lambda n, basis: False)  # else documents are factored
    X, y, ptr = problem(n_queries=3)
    features = (
        FEATURE_MAPS[feature_map]
        .make(MapSettings(400, RBF(2.0), None, 3))
        .fit(np.vstack((X, np.random.default_rng(0).normal(size=(400, 4)))))
    )
    objective = RankObjective(features.operator(X), PairRisk(y, ptr, LOSSES["squared_hinge"]), 2.0)
    point = objective.at(weights(objective, scale=scale))
    assert 0 < point.risk.n_active <= objective.features.shape[1]
    preconditioner = objective.preconditioner(point)
    assert preconditioner.kind == "sampled pairs"
    H, r = dense_hessian(objective, point), weights(objective, 5)
    np.testing.assert_allclose(preconditioner(H @ r), r, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("pairs", [1, 7, 20])
def test_few_pairs_are_factored_in_their_own_space(pairs: int) -> None:
    B = np.random.default_rng(0).normal(size=(40, pairs))
    found, H = module.PairPreconditioner.of(B), np.eye(40) + B @ B.T
    assert found.inner.factor.shape == (pairs, pairs)
    R = np.random.default_rng(1).normal(size=(40, 3))
    np.testing.assert_allclose(found(H @ R), R, atol=1e-10)
    np.testing.assert_allclose(found(H @ R[:, 0]), R[:, 0], atol=1e-10)


def test_few_active_pairs_need_no_factor_of_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", 0)
    objective = objective_of("fourier", 1.0, m=30)
    point = objective.at(weights(objective))
    few = point.risk.sample_active(np.random.default_rng(0), 15)
    monkeypatch.setattr(type(point.risk), "sample_active", lambda risk, rng, size: few)
    assert isinstance(objective.preconditioner(point), module.PairPreconditioner)


def test_sampled_pairs_have_the_hessian_as_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", 0)
    objective = objective_of("nystroem", 1.0, m=30)
    point = objective.at(weights(objective))
    assert point.risk.n_active > objective.features.shape[1]
    factors = [objective.preconditioner(point).factor for _ in range(400)]
    mean = np.mean([F.T @ F for F in factors], axis=0)
    H = dense_hessian(objective, point)
    assert np.abs(mean - H).max() < 0.1 * np.abs(H).max()
    assert np.abs(factors[0] - factors[1]).max() > 0  # the pairs are drawn anew each time


@pytest.mark.parametrize(
    ("n", "m", "pairs"),
    [
        (9630, 500, 500),
        (100_000, 1000, 1000),
        (200_000, 1000, 2000),
        (1_000_000, 500, 20_000),
        (3_779_525, 500, 32_000),
        (0, 0, 0),
    ],
)
def test_more_pairs_are_drawn_where_documents_are_many(n: int, m: int, pairs: int) -> None:
    assert module.pairs_to_sample(n, m) == pairs


def test_more_pairs_make_a_better_preconditioner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", 0)

    def condition(most: int) -> float:
        monkeypatch.setattr(module, "PAIRS_PER_COLUMN", most)
        objective = objective_of("nystroem", 50.0, m=5)
        point = objective.at(objective.start())
        M = objective.preconditioner(point).factor
        eigenvalues = linalg.eigvalsh(dense_hessian(objective, point), M.T @ M)
        return eigenvalues[-1] / eigenvalues[0]

    assert 1.0 < condition(40) < 0.5 * condition(1)


def test_a_form_that_rounding_made_indefinite_is_factored_all_the_same() -> None:
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 3))
    M = np.eye(40) + 1e18 * B @ B.T
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(M)
    kept = M.copy()
    precondition = CholeskyPreconditioner.of(M, "test")
    np.testing.assert_array_equal(M, kept)
    r = B[:, 0]
    assert r @ precondition(r) > 0
    np.testing.assert_allclose(M @ precondition(r), r, rtol=1e-3, atol=1e-3)


def test_a_form_that_is_no_preconditioner_is_refused() -> None:
    with pytest.raises(DataError, match="not positive definite"):
        CholeskyPreconditioner.of(-np.eye(3), "test")
