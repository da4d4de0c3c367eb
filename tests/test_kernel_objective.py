"""The exact kernel's objective in coefficients: derivatives, inner product, preconditioner, optimum."""

import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from rankviz import RankSVM
from rankviz.common.memory import megabytes
from rankviz.common.progress import Progress, Report, silent
from rankviz.datasets import make_data
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_matrix import KernelMatrix, KernelPanels, RecomputedKernel, StoredKernel
from rankviz.features.kernels import RBF, rbf_kernel
from rankviz.learning.kernel_space import (
    KernelObjective,
    KernelSpace,
    NystroemPreconditioner,
    first_landmarks,
    growth_bytes,
    landmarks_within,
    preconditioner_bytes,
)
from rankviz.learning.losses import LOSSES
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import ScoredPoint, Status
from rankviz.learning.risk import PairRisk
from rankviz.learning.training import MapFamily, Task

GAMMA, C = 2.0**-3, 0.5


def data_of(n_queries: int = 12) -> RankingData:
    return make_data(n_queries=n_queries, documents_per_query=(5, 15), n_features=6, seed=3)


def objective_of(
    data: RankingData, C: float = C, gamma: float = GAMMA, kernel: KernelMatrix | None = None
) -> KernelObjective:
    kernel = StoredKernel.of(KernelPanels(data.X, RBF(gamma)), np.float64) if kernel is None else kernel
    risk = PairRisk(data.y, data.ptr, LOSSES["squared_hinge"])
    return KernelObjective(data.X, RBF(gamma), kernel, risk, C)


def vector(objective: KernelObjective, seed: int) -> np.ndarray:
    """Random coefficients with their image."""
    beta = np.random.default_rng(seed).standard_normal(len(objective.X)) * 0.1
    return np.stack((beta, objective.K.product(beta)))


def test_value_and_gradient_by_the_formula_and_by_differences() -> None:
    objective = objective_of(data_of())
    K = rbf_kernel(objective.X, objective.X, GAMMA)
    w, v, h = vector(objective, 1), vector(objective, 2), 1e-6
    point = objective.at(w)
    assert point.value == pytest.approx(0.5 * w[0] @ K @ w[0] + C * objective.risk.at(K @ w[0]).value)
    slope = (objective.at(w + h * v).value - objective.at(w - h * v).value) / (2 * h)
    assert objective.inner(point.gradient, v) == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(point.gradient[1], K @ point.gradient[0], atol=1e-10)
    bend = (objective.at(w + h * v).gradient - objective.at(w - h * v).gradient) / (2 * h)
    np.testing.assert_allclose(objective.hessian_product(point, v), bend, rtol=1e-4, atol=1e-5)


def test_hessian_and_preconditioner_are_self_adjoint_and_positive_in_the_kernel_inner_product() -> None:
    objective = objective_of(data_of())
    objective.landmarks = 30
    point = objective.at(vector(objective, 1))
    precondition = objective.preconditioner(point)
    a, b = vector(objective, 4), vector(objective, 5)
    K = rbf_kernel(objective.X, objective.X, GAMMA)
    for operator in (lambda v: objective.hessian_product(point, v), precondition):
        assert objective.inner(a, operator(b)) == pytest.approx(objective.inner(b, operator(a)), rel=1e-8)
        assert objective.inner(a, operator(a)) > 0
        np.testing.assert_allclose(operator(a)[1], K @ operator(a)[0], atol=1e-8)


def test_a_preconditioner_is_told_as_part_of_training() -> None:
    objective, told = objective_of(data_of()), []
    point = objective.at(vector(objective, 1))
    objective.preconditioner(point, lambda progress: told.append(progress.stage))
    objective.exact_preconditioner(point, lambda progress: told.append(progress.stage))
    assert set(told) == {"newton"}


def test_with_all_documents_as_landmarks_the_preconditioner_is_the_inverse() -> None:
    objective = objective_of(data_of(), gamma=2.0)
    objective.landmarks = len(objective.X)
    point, v = objective.at(vector(objective, 1)), vector(objective, 2)
    inverted = objective.preconditioner(point)(objective.hessian_product(point, v))
    np.testing.assert_allclose(inverted[1], v[1], atol=1e-6)


@pytest.mark.parametrize("gamma", [2.0**-12, 2.0**-6, 1.0])
def test_float32_entries_and_recomputed_ones_reach_the_same_objective(gamma: float) -> None:
    data = data_of(40)
    panels = KernelPanels(data.X, RBF(gamma))
    values = {}
    for kernel in (
        StoredKernel.of(panels, np.float64),
        StoredKernel.of(panels, np.float32),
        RecomputedKernel(panels),
    ):
        result = TruncatedNewton(tol=1e-8).solve(objective_of(data, 16.0, gamma, kernel))
        assert result.status is Status.CONVERGED
        beta = result.point.w[0]
        f = rbf_kernel(data.X, data.X, gamma) @ beta  # judged by the kernel itself, not by its rounding
        risk = PairRisk(data.y, data.ptr, LOSSES["squared_hinge"]).at(f)
        values[kernel.storage] = float(0.5 * beta @ f + 16.0 * risk.value)
    assert max(values.values()) <= min(values.values()) * (1 + 1e-6)


@pytest.mark.parametrize("n", [3, 500, 9219])
def test_as_many_landmarks_as_memory_allows(n: int) -> None:
    for m in (1, 77, 481):
        assert landmarks_within(n, preconditioner_bytes(n, m)) == m
        assert landmarks_within(n, preconditioner_bytes(n, m) - 1) == m - 1
    assert landmarks_within(n, 0) == 0


def test_a_plan_says_what_more_landmarks_may_take() -> None:
    first, most = preconditioner_bytes(9219, 481), preconditioner_bytes(9219, 9219)
    assert growth_bytes(9219, 1e12) == most - first
    assert growth_bytes(9219, 0.0) == 0
    assert 0.99e8 < growth_bytes(9219, 1e8) <= 1e8
    data = data_of(400)
    plan = RankSVM(feature_map="exact").plan(data)
    n = data.n_documents
    assert plan.more == preconditioner_bytes(n, n) - preconditioner_bytes(n, first_landmarks(n))
    assert plan.words.endswith(f"; hard Newton steps take up to {megabytes(plan.more)} more.")
    assert "hard" not in RankSVM(n_components=5).plan(data).words


def test_the_old_preconditioner_is_freed_before_a_larger_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.learning.kernel_space.LANDMARKS_PER_ROOT", 0.2)
    monkeypatch.setattr(KernelObjective, "patience", 5)
    made: list[weakref.ref[object]] = []
    usual, larger = KernelObjective.preconditioner, KernelObjective.exact_preconditioner

    def kept(self: KernelObjective, point: ScoredPoint, report: Report = silent) -> NystroemPreconditioner:
        found = usual(self, point, report)
        made.append(weakref.ref(found))
        return found

    def checked(self: KernelObjective, point: ScoredPoint, report: Report = silent) -> NystroemPreconditioner:
        assert made[-1]() is None
        return larger(self, point, report)

    monkeypatch.setattr(KernelObjective, "preconditioner", kept)
    monkeypatch.setattr(KernelObjective, "exact_preconditioner", checked)
    TruncatedNewton(rebuild_after=5).solve(objective_of(data_of(40), 64.0, 1.0))
    assert len(made) > 1


def test_landmarks_stop_growing_where_memory_ends() -> None:
    objective = objective_of(data_of())
    objective.most_landmarks = objective.landmarks + 1
    point = objective.at(vector(objective, 1))
    objective.exact_preconditioner(point)
    objective.exact_preconditioner(point)
    assert objective.landmarks == objective.most_landmarks


def test_slow_conjugate_gradients_get_more_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of(40)
    monkeypatch.setattr("rankviz.learning.kernel_space.LANDMARKS_PER_ROOT", 0.2)
    monkeypatch.setattr(KernelObjective, "patience", 5)
    objective = objective_of(data, 64.0, 1.0)
    few = objective.landmarks
    result = TruncatedNewton(rebuild_after=5).solve(objective)
    assert few < 10
    assert objective.landmarks >= 3 * few
    assert result.status is Status.CONVERGED


def space_of(X: np.ndarray) -> KernelSpace:
    return KernelSpace(MapFamily(RankSVM("exact").unfitted_map(1.0, 0), X), X, 1e9)


def test_weights_of_landmarks_start_at_their_own_objective() -> None:
    data, task = data_of(), Task(1, GAMMA, C)
    space, risk = space_of(data.X), PairRisk(data.y, data.ptr, LOSSES["squared_hinge"])
    exact, rough = (space.objective(each, risk, 0) for each in (task, replace(task, landmarks=30)))
    point = rough.at(np.random.default_rng(1).standard_normal(30))
    start = space.start(task, point.w)
    assert exact.at(start).value == pytest.approx(point.value, rel=1e-7)  # landmarks' factor has a ridge
    np.testing.assert_allclose(start[1], exact.K.product(start[0]), atol=1e-10)
    assert np.count_nonzero(start[0]) == 30
    assert space.start(task, start) is start  # of another C at the same γ


def test_only_large_fits_of_a_convex_loss_start_from_landmarks() -> None:
    task = Task(1, GAMMA, C)
    risks = [
        SimpleNamespace(loss=SimpleNamespace(convex=convex, quadratic=quadratic))
        for convex, quadratic in ((True, False), (True, True), (False, False))
    ]
    small, large = (space_of(np.zeros((n, 1))) for n in (9_999, 10_000))
    assert [small.coarser(task, risk) for risk in risks] == [None, None, None]
    rough = replace(task, landmarks=500)
    assert [large.coarser(task, risk) for risk in risks] == [rough, None, None]
    assert large.coarser(rough, risks[0]) is None


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_start_from_landmarks_leads_to_the_same_optimum_in_fewer_products(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = data_of(60), RankSVM("exact", gamma=GAMMA, C=C, loss=loss, tol=1e-9)
    monkeypatch.setattr("rankviz.features.exact.SMALL", 0)
    monkeypatch.setattr("rankviz.learning.kernel_space.LANDMARKS_PER_ROOT", 8)
    zero, objective = model.fit_data(data).start_, model.objective_
    iterations = int(model.trace_["cg_iterations"].sum())
    monkeypatch.setattr("rankviz.learning.kernel_space.FROM_LANDMARKS", 100)
    told: list[Progress] = []
    model.fit_data(data, callback=told.append)
    assert (zero, model.start_) == ("zero", "the weights for 185 landmarks")
    assert model.objective_ == pytest.approx(objective, rel=1e-8)
    assert model.trace_["cg_iterations"].sum() < 0.7 * iterations
    values = {progress.record["objective"] for progress in told if progress.record}
    assert values <= set(model.trace_["objective"]), "a record of the rough fit"
