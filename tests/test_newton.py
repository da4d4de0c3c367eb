"""Truncated Newton against dense algebra and a generic optimiser, and every way it ends."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from naive_ranking import GRADES, problem, slow_optimum, slow_risk

from rankviz.common.progress import Progress, StopRequested
from rankviz.datasets import RankingData, make_data
from rankviz.features import FEATURE_MAPS, RBF, MapSettings
from rankviz.learning import feature_space as module
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES
from rankviz.learning.newton import UNPROVED, TruncatedNewton
from rankviz.learning.objective import Status, TraceRow
from rankviz.learning.risk import PairRisk
from rankviz.models.ranksvm import RankSVM

MAPS = ("linear", "nystroem", "fourier")


def objective_of(feature_map: str, C: float, *, m: int = 40, seed: int = 0, **sizes: int) -> RankObjective:
    X, y, ptr = problem(seed, **sizes)
    features = FEATURE_MAPS[feature_map].make(MapSettings(m, RBF(0.3), None, 1)).fit(X).operator(X)
    return RankObjective(features, PairRisk(y, ptr, LOSSES["squared_hinge"]), C)


def exact_decrement(objective: RankObjective, w: np.ndarray) -> float:
    """½ gᵀH^-1g with the Hessian formed."""
    point, Phi = objective.at(w), objective.features.dense()
    R = slow_risk(point.scores, objective.risk.y, objective.risk.ptr)[2]
    H = np.eye(len(w)) + objective.C * Phi.T @ R @ Phi
    return float(point.gradient @ np.linalg.solve(H, point.gradient)) / 2


def stop_after(calls: int) -> tuple[list[Progress], object]:
    told: list[Progress] = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) > calls:
            raise StopRequested

    return told, report


# --- Newton -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("exponent", [-11, -1, 4, 10])
@pytest.mark.parametrize("columns", [0, 256])
def test_the_last_decrement_is_proved(
    monkeypatch: pytest.MonkeyPatch, feature_map: str, exponent: int, columns: int
) -> None:
    """Wherever a solve says that it converged, ½ gᵀH^-1g with the Hessian formed agrees."""
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", columns)
    objective = objective_of(feature_map, 2.0**exponent)
    for preconditioned in (True, False):
        result = TruncatedNewton(tol=1e-6, preconditioned=preconditioned).solve(objective)
        assert result.status is Status.CONVERGED
        last = result.trace[-1]
        true = exact_decrement(objective, result.point.w)
        if last.cg_iterations:
            assert last.decrement <= true * (1 + 1e-6) + 1e-15 * result.point.value
        else:  # the gap alone ended it
            assert true <= last.decrement == pytest.approx(last.gap * result.point.value)
            assert last.decrement <= 1e-6 * result.point.value
        assert true <= 1e-6 * result.point.value * (1 + 1e-9)


def test_a_large_c_is_not_taken_for_converged() -> None:
    """Loose conjugate gradients called this converged at an objective far above the optimum."""
    objective = objective_of("fourier", 2.0**30, m=300)
    result = TruncatedNewton().solve(objective)
    if result.status is Status.CONVERGED:
        assert exact_decrement(objective, result.point.w) <= 2e-6 * result.point.value
    assert np.isfinite(result.point.value)


@pytest.mark.parametrize("feature_map", MAPS)
def test_half_the_squared_gradient_bounds_the_gap(feature_map: str) -> None:
    objective = objective_of(feature_map, 0.5)
    result = TruncatedNewton(tol=1e-12).solve(objective)
    optimum = result.point.value
    for row in result.trace:
        gap = row.objective - optimum
        assert -1e-12 * optimum <= gap <= row.gradient_norm**2 / 2 * (1 + 1e-9) + 1e-12 * optimum
    for seed in range(20):
        w = np.random.default_rng(seed).normal(size=objective.features.shape[1])
        point = objective.at(w)
        assert point.value - optimum <= point.gradient @ point.gradient / 2


def test_the_trace_tells_each_iteration() -> None:
    objective = objective_of("nystroem", 4.0)
    result = TruncatedNewton().solve(objective)
    frame = result.frame
    assert list(frame.columns) == list(TraceRow.__annotations__)
    assert frame["iteration"].tolist() == list(range(len(frame)))
    assert (frame["objective"].diff().dropna() < 0).all()
    assert frame["objective"].iloc[-1] == result.point.value
    assert frame["objective"].iloc[0] == 4.0 * objective.n_pairs
    assert frame["active_share"].iloc[0] == 1.0
    assert (frame["active_pairs"] == (frame["active_share"] * objective.n_pairs).round()).all()
    assert (frame["step"].iloc[:-1] > 0).all()
    assert frame["step"].iloc[-1] == 0
    assert frame["seconds"].is_monotonic_increasing
    assert frame["gradient_norm"].iloc[-1] == pytest.approx(np.linalg.norm(result.point.gradient))


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier"])
@pytest.mark.parametrize("columns", [0, 256])
def test_the_preconditioner_saves_products(
    monkeypatch: pytest.MonkeyPatch, feature_map: str, columns: int
) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", columns)
    data = make_data(n_queries=40, documents_per_query=(5, 40), n_features=10, seed=1)
    features = (
        FEATURE_MAPS[feature_map].make(MapSettings(200, RBF(0.1), None, 1)).fit(data.X).operator(data.X)
    )
    objective = RankObjective(features, PairRisk(data.y, data.ptr, LOSSES["squared_hinge"]), 4.0)
    products = []
    for preconditioned in (True, False):
        result = TruncatedNewton(preconditioned=preconditioned).solve(objective)
        products.append(sum(row.cg_iterations for row in result.trace))
    assert products[0] < 0.5 * products[1]


def test_linear_with_the_closed_form_takes_few_products() -> None:
    result = TruncatedNewton().solve(objective_of("linear", 2.0**-11))
    assert [row.cg_iterations for row in result.trace] == [0, 0]  # an exact direction, then the gap ends it
    assert result.trace[-1].gap <= 1e-6


def test_a_warm_start_takes_fewer_steps() -> None:
    objective = objective_of("nystroem", 2.0)
    cold = TruncatedNewton(tol=1e-10).solve(objective)
    warm = TruncatedNewton().solve(objective, cold.point.w)
    assert len(warm.trace) == 1 < len(cold.trace)
    np.testing.assert_array_equal(warm.point.w, cold.point.w)


def test_the_preconditioner_is_rebuilt_when_it_has_aged(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def counted(name: str) -> Callable[..., object]:
        original = getattr(RankObjective, name)

        def counting(*args: object) -> object:
            built.append(name)
            return original(*args)

        return counting

    for name in ("preconditioner", "exact_preconditioner"):
        monkeypatch.setattr(RankObjective, name, counted(name))
    objective = objective_of("nystroem", 64.0)
    TruncatedNewton(rebuild_after=10_000).solve(objective)
    assert len(built) == 1
    result = TruncatedNewton(rebuild_after=0).solve(objective)
    dear = [row for row in result.trace if row.cg_iterations > objective.patience]
    assert len(dear) > 0
    assert built.count("exact_preconditioner") == len(dear)


def test_the_exact_preconditioner_inverts_the_hessian_at_its_point() -> None:
    objective = objective_of("nystroem", 64.0)
    rng = np.random.default_rng(0)
    point = objective.at(rng.standard_normal(len(objective.start())))
    assert 0 < point.risk.n_active < objective.n_pairs
    v = rng.standard_normal(len(point.w))
    inverted = objective.exact_preconditioner(point)(objective.hessian_product(point, v))
    assert inverted == pytest.approx(v, rel=1e-6, abs=1e-9)


# --- how it ends ------------------------------------------------------------------------------------------


def test_a_tolerance_beyond_rounding_stalls_or_converges() -> None:
    for feature_map in MAPS:
        objective = objective_of(feature_map, 3.0)
        result = TruncatedNewton(tol=1e-40).solve(objective)
        assert result.status in (Status.STALLED, Status.CONVERGED)
        optimum = slow_optimum(objective.features.dense(), *problem()[1:], 3.0, LOSSES["squared_hinge"])[1]
        assert result.point.value == pytest.approx(optimum, rel=1e-9)


def test_a_step_that_does_not_lower_the_objective_stalls() -> None:
    class Uphill(RankObjective):
        def hessian_product(self, point: object, s: np.ndarray) -> np.ndarray:
            return np.zeros_like(s)

    given = objective_of("linear", 1.0)
    result = TruncatedNewton(preconditioned=False).solve(Uphill(given.features, given.risk, 1.0))
    assert result.status is Status.STALLED
    assert result.point.w.tolist() == [0.0] * 4


@pytest.mark.parametrize("calls", [0, 1, 3, 6, 10])
def test_stopping_keeps_the_last_finished_iteration(calls: int) -> None:
    objective = objective_of("nystroem", 16.0)
    whole = TruncatedNewton().solve(objective)
    told, report = stop_after(calls)
    result = TruncatedNewton().solve(replace(objective), report=report)
    assert result.status is Status.STOPPED
    assert "request" in result.status.value
    assert len(told) == calls + 1
    done = len(result.trace)
    assert done < len(whole.trace)
    assert result.point.value == whole.trace[done].objective
    assert [row.step for row in result.trace] == [row.step for row in whole.trace[:done]]
    assert list(result.frame.columns) == list(whole.frame.columns)
    assert (result.frame.dtypes == whole.frame.dtypes).all()


def test_reports_carry_the_latest_row() -> None:
    told: list[Progress] = []
    result = TruncatedNewton().solve(objective_of("nystroem", 16.0), report=told.append)
    assert {p.stage for p in told} == {"newton"}
    assert told[0].record is None
    seen = {p.record["iteration"] for p in told if p.record}
    assert seen == {row.iteration for row in result.trace[:-1]}
    assert len(told) == len(result.trace) + sum(row.cg_iterations for row in result.trace)


@pytest.mark.parametrize("columns", [0, 256])
@pytest.mark.parametrize("name", ["no pairs", "one document", "one grade", "single documents"])
def test_no_pairs(monkeypatch: pytest.MonkeyPatch, name: str, columns: int) -> None:
    monkeypatch.setattr(module, "CLOSED_FORM_COLUMNS", columns)
    y, ptr = GRADES[name]
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    features = FEATURE_MAPS["linear"].make(MapSettings(1, RBF(1.0), None, 0)).fit(X).operator(X)
    objective = RankObjective(features, PairRisk(y, ptr, LOSSES["squared_hinge"]), 1.0)
    result = TruncatedNewton().solve(objective)
    assert (result.status, result.point.value, result.point.w.tolist()) == (Status.CONVERGED, 0.0, [0.0, 0.0])
    assert [(row.cg_iterations, row.decrement, row.active_share) for row in result.trace] == [(0, 0.0, 0.0)]
    away = TruncatedNewton().solve(objective, np.array([3.0, -2.0]))
    assert (away.status, away.point.value) == (Status.CONVERGED, 0.0)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("C", [1e-300, 1e-162, 1e-12, 1e6, 1e12, 1e100])
def test_extreme_c_neither_warns_nor_hangs(feature_map: str, C: float) -> None:
    for columns in (200, 12):  # with and without repeated information in the features
        objective = objective_of(feature_map, C, m=columns, n_queries=5)
        result = TruncatedNewton().solve(objective)
        assert np.isfinite(result.point.w).all()
        assert result.point.value <= C * objective.n_pairs
        if C < 1e-6:
            assert result.status is Status.CONVERGED
            assert result.point.value == pytest.approx(C * objective.n_pairs)


@pytest.mark.parametrize(("C", "scale"), [(1e6, 1.0), (1e12, 1.0), (1.0, 1e12)])
def test_a_large_weight_or_column_converges_to_a_small_gap(C: float, scale: float) -> None:
    data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    X = data.X * np.where(np.arange(data.n_features) == 3, scale, 1.0)
    model = RankSVM("linear", C=C).fit_data(RankingData.from_arrays(X, data.y, data.qid))
    assert model.status_ is Status.CONVERGED
    assert model.gap_ <= UNPROVED * model.tol


@pytest.mark.parametrize("C", [3e7, 1e10])
def test_what_its_gap_gives_the_lie_to_has_not_converged(C: float) -> None:
    for seed in range(12):
        data = make_data(n_queries=5, documents_per_query=(5, 12), seed=seed)
        few = RankingData.from_arrays(data.X[:, :12], data.y, data.qid)
        model = RankSVM("linear", C=C).fit_data(few)
        assert not model.status_.converged or model.gap_ <= UNPROVED * model.tol
