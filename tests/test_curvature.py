"""Curvature in single precision: the same objective, nearly the same Hessian, and where it is refused."""

import numpy as np
import pytest

from rankviz.datasets import make_data
from rankviz.features import FEATURE_MAPS, RBF, MapSettings
from rankviz.features.operator import FeatureOperator
from rankviz.learning import feature_space as curvature
from rankviz.learning import feature_space as objectives
from rankviz.learning.feature_space import (
    RankObjective,
    copy_bytes,
    curvature_features,
    largest_eigenvalue,
    single_noise,
)
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.sorted_risk import risk_of
from rankviz.models.ranksvm import RankSVM

DATA = make_data(n_queries=60, documents_per_query=(20, 30), n_features=8, seed=0)
RISK = risk_of(DATA.y, DATA.ptr, LOSSES["squared_hinge"])
each_map = pytest.mark.parametrize("feature_map", ["nystroem", "fourier"])


def features_of(feature_map: str, m: int = 300, gamma: float = 1.0) -> FeatureOperator:
    return FEATURE_MAPS[feature_map].make(MapSettings(m, RBF(gamma), None, 3)).fit(DATA.X).operator(DATA.X)


@each_map
@pytest.mark.parametrize("C", [2.0**-8, 2.0**-2, 2.0**6])
def test_the_objective_agrees(feature_map: str, C: float) -> None:
    features = features_of(feature_map)
    objective = RankObjective(features, RISK, C, spare=np.inf)
    rounded = TruncatedNewton().solve(objective)
    exact = TruncatedNewton(tol=1e-10).solve(RankObjective(features, RISK, C))
    assert objective._curvature_features(rounded.point).base.dtype == np.float32
    assert rounded.point.value == pytest.approx(exact.point.value, rel=2e-6)  # the tolerance is 1e-6
    at = RankObjective(features, RISK, C).at(rounded.point.w)
    assert rounded.point.value == pytest.approx(at.value, rel=1e-12)  # values are in double precision
    np.testing.assert_allclose(rounded.point.gradient, at.gradient, rtol=1e-6, atol=1e-9 * C)


@each_map
def test_products_agree_to_the_noise_that_was_predicted(feature_map: str) -> None:
    features, C = features_of(feature_map), 4.0
    single, double = (RankObjective(features, RISK, C, spare=spare) for spare in (np.inf, 0.0))
    s = np.random.default_rng(0).normal(size=features.shape[1])
    point = double.at(0.1 * s)
    expected, found = double.hessian_product(point, s), single.hessian_product(point, s)
    assert found.dtype == np.float64
    noise = single_noise(features, point.risk, C)
    assert 0 < abs(s @ found - s @ expected) <= 2 * noise * (s @ expected)
    B, rounded = (f.row_differences(RISK.y[:5], RISK.y[5:10]) for f in (features, features.single))
    np.testing.assert_allclose(rounded, B, atol=1e-3)


def test_single_precision_is_refused_where_rounding_tells_or_memory_is_short() -> None:
    well, ill = features_of("nystroem"), features_of("nystroem", gamma=2.0**-12)
    risk, size = RISK.at(np.zeros(RISK.y.size)), 4 * well.base.size
    assert curvature_features(well, risk, 1.0, size).base.dtype == np.float32
    assert curvature_features(well, risk, 1.0, size - 1) is well
    assert single_noise(ill, risk, 1.0) > curvature.NOISE > single_noise(well, risk, 1.0)
    assert curvature_features(ill, risk, 1.0, np.inf) is ill


def test_single_precision_takes_as_many_iterations() -> None:
    """Counts differ by a few either way, by rounding alone, and between seeds by more; their sums agree."""
    features = features_of("nystroem")
    assert features.basis.shape[0] > objectives.CLOSED_FORM_COLUMNS  # the preconditioner is single too

    def iterations(spare: float) -> int:
        runs = [TruncatedNewton().solve(RankObjective(features, RISK, 1.0, seed, spare)) for seed in range(6)]
        return sum(row.cg_iterations for run in runs for row in run.trace)

    assert iterations(np.inf) == pytest.approx(iterations(0.0), rel=0.05)


def test_wide_maps_of_many_documents_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert copy_bytes(42_000, 2000) == 4 * 42_000 * 2000
    assert copy_bytes(4000, 2000) == 0
    seen: list[np.dtype] = []

    def noted(*given: object) -> FeatureOperator:
        seen.append((features := curvature_features(*given)).base.dtype)
        return features

    monkeypatch.setattr(objectives, "curvature_features", noted)
    settings = {"feature_map": "nystroem", "n_components": 300, "gamma": 1.0, "C": 1.0}
    double = RankSVM(**settings).fit_data(DATA)
    monkeypatch.setattr(curvature, "LARGE", 1)
    single = RankSVM(**settings).fit_data(DATA)
    assert set(seen) == {np.dtype(np.float64), np.dtype(np.float32)}
    assert single.objective_ == pytest.approx(double.objective_, rel=2e-6)
    seen.clear()
    RankSVM(**settings, memory_limit=single.memory_need_ + 1e4).fit_data(DATA)
    RankSVM("linear").fit_data(DATA)  # whose entries may be of any size
    assert set(seen) == {np.dtype(np.float64)}


def test_values_beyond_one_are_rounded_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A base of 1e6 in single precision is off by 0.1: what it is at most counts for its noise."""
    well, risk = features_of("nystroem"), RISK.at(np.zeros(RISK.y.size))
    assert curvature_features(well, risk, 1.0, np.inf).base.dtype == np.float32
    assert curvature_features(well, risk, 1.0, np.inf, 1e6) is well
    monkeypatch.setattr(curvature, "LARGE", 1)
    told: list[float] = []

    def noted(*given: float) -> FeatureOperator:
        told.append(given[-1])
        return curvature_features(*given)

    monkeypatch.setattr(objectives, "curvature_features", noted)
    for kernel, least in (("polynomial", 100.0), ("laplacian", 1.0)):
        settings = {"n_components": 300, "kernel": kernel, "gamma": 5.0, "C": 1e-4}
        fitted = RankSVM("nystroem", **settings).fit_data(DATA)
        base = fitted.feature_map_.operator(DATA.X).base
        assert least <= np.abs(base).max() * (1 + 1e-12)
        assert told[-1] == pytest.approx(max(1.0, fitted.feature_map_.kernel.diagonal(DATA.X).max()))
        assert np.abs(base).max() <= told[-1] * (1 + 1e-12)
        exact = RankSVM("nystroem", **settings, tol=1e-9).fit_data(DATA)
        assert fitted.objective_ == pytest.approx(exact.objective_, rel=3e-6)


def test_sizes() -> None:
    for feature_map, expected in {"nystroem": 4 * 50_000 * 1000, "fourier": 4 * 50_000 * 1000}.items():
        assert TrainingSizes(feature_map, 1000, 50_000, 46).copy_bytes == expected
    assert TrainingSizes("linear", 1000, 50_000, 700).copy_bytes == 0
    assert TrainingSizes("exact", 1000, 50_000, 46).copy_bytes == 0
    assert TrainingSizes("nystroem", 100, 50_000, 46).copy_bytes == 0


def test_largest_eigenvalue() -> None:
    A = np.random.default_rng(1).normal(size=(30, 30))
    assert largest_eigenvalue(lambda v: A.T @ (A @ v), 30) == pytest.approx(
        np.linalg.norm(A, 2) ** 2, rel=0.2
    )
    assert largest_eigenvalue(np.zeros_like, 30) == 0.0
    assert largest_eigenvalue(lambda v: v, 0) == 0.0
