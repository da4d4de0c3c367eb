"""The solvers beside truncated Newton: against SciPy on the explicit objective, and each by its own rules."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from naive_ranking import GRADES, problem, qid_of, slow_pairs
from scipy.optimize import minimize

from rankviz.costs import pair_costs
from rankviz.datasets import DataError, RankingData, make_data
from rankviz.estimators import RankSVM
from rankviz.experiments.run import model_of
from rankviz.experiments.spec import RunSpec
from rankviz.features import FEATURE_MAPS, MapSettings
from rankviz.losses import LOSSES, PiecewiseQuadratic, SmoothedHinge, SmoothHinge, largest_curvature
from rankviz.objective import RankObjective
from rankviz.progress import Progress, StopRequested
from rankviz.risk import PairRisk, SortedRisk
from rankviz.solvers.choose import SOLVERS, SolverSettings
from rankviz.solvers.lbfgs import LBFGS
from rankviz.solvers.result import Status
from rankviz.solvers.sgd import DampedSteps, PrintedSteps, StochasticGradient
from rankviz.solvers.yuan import NewtonYuan, step_length
from rankviz.stochastic import PairTerms, QueryTerms

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
SMOOTH = [name for name in LOSSES if name != "hinge"]
EXACT = ["newton", "newton_yuan", "lbfgs"]
STOCHASTIC = {"query": QueryTerms, "pair": PairTerms, "single pair": partial(PairTerms, batch=1)}
COSTS = (None, "grade_query", "margin")

each_cost = pytest.mark.parametrize("costs", COSTS)
each_terms = pytest.mark.parametrize("terms", STOCHASTIC.values(), ids=STOCHASTIC)


def objective_of(
    loss: str = "squared_hinge", C: float = 0.25, costs: str | None = None, feature_map: str = "linear"
) -> RankObjective:
    features = FEATURE_MAPS[feature_map](MapSettings(15, 0.3, None, 1)).fit(X).operator(X)
    return RankObjective(features, PairRisk(Y, PTR, LOSSES[loss], pair_costs(costs, Y, PTR)), C)


def slow_optimum(objective: RankObjective) -> float:
    """The minimum of ½‖w‖² + C Σ w_ij b²ℓ(t/b) by BFGS, with the plain loops' pairs."""
    Phi, costs, loss = objective.features.dense(), objective.risk.costs, objective.risk.loss
    i, j = np.array(slow_pairs(Y, PTR)).T
    query, levels = np.repeat(np.arange(len(PTR) - 1), np.diff(PTR)), np.unique(Y)
    at = query[i], np.searchsorted(levels, Y[i]), np.searchsorted(levels, Y[j])
    D, cost, margin = Phi[i] - Phi[j], costs.weights(*at), costs.margins(*at)
    b = np.ones(len(D)) if margin is None else margin

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        t = D @ w / b
        loss_value = (cost * b**2 * loss.value(t)).sum()
        gradient = D.T @ (cost * b * loss.derivative(t))
        return w @ w / 2 + objective.C * loss_value, w + objective.C * gradient

    return float(minimize(value, np.zeros(Phi.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7}).fun)


@pytest.fixture(scope="module")
def optima() -> dict[tuple[str, str | None, str], float]:
    """Optima of all problems here by BFGS on plain loops."""
    return {
        (loss, costs, kind): slow_optimum(objective_of(loss, 0.25, costs, kind))
        for loss in SMOOTH
        for costs in COSTS
        for kind in (["linear", "nystroem"] if loss in ("squared_hinge", "logistic") else ["linear"])
    }


# --- the same optimum ---------------------------------------------------------------------------------------


@each_cost
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("name", EXACT)
def test_reaches_the_optimum(name: str, loss: str, costs: str | None, optima: dict) -> None:
    for kind in ("linear", "nystroem"):
        if (optimum := optima.get((loss, costs, kind))) is not None:
            solver = SOLVERS[name].make(SolverSettings(tol=1e-8))
            result = solver.solve(objective_of(loss, 0.25, costs, kind))
            assert result.status in (Status.CONVERGED, Status.CERTIFIED, Status.RULE)
            assert result.point.value == pytest.approx(optimum, rel=1e-6)
            assert result.point.value >= optimum * (1 - 1e-9)
            last = result.trace[-1]
            assert last.objective * (1 - last.gap) <= optimum * (1 + 1e-9)


@each_cost
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "huber"])
@each_terms
def test_stochastic_gradients_come_within_two_percent(
    terms: object, loss: str, costs: str | None, optima: dict
) -> None:
    """Their stated accuracy after 200 passes; most are ten times nearer."""
    result = StochasticGradient(terms, seed=1, max_iter=200).solve(objective_of(loss, 0.25, costs))
    optimum = optima[loss, costs, "linear"]
    assert optimum * (1 - 1e-9) <= result.point.value <= 1.02 * optimum
    row = result.trace[-1]
    assert row.objective * (1 - row.gap) <= optimum * (1 + 1e-9)
    assert row.products == 0.0
    assert len(result.trace) == 201


@pytest.mark.parametrize("name", [name for name in SOLVERS if not name.endswith("printed")])
def test_through_fit(name: str) -> None:
    best = RankSVM(C=0.05).fit_data(DATA).objective_
    svm = RankSVM(C=0.05, solver=name).fit_data(DATA)
    assert svm.objective_ == pytest.approx(best, rel=2e-2 if name.startswith("sgd") else 1e-5)
    assert svm.objective_ * (1 - svm.gap_) <= best
    assert svm.trace_["seconds"].is_monotonic_increasing
    assert svm.trace_["iteration"].tolist() == list(range(len(svm.trace_)))
    assert (svm.trace_["step"].iloc[:-1] > 0).all()
    assert svm.trace_["step"].iloc[-1] == 0
    assert (svm.trace_["products"].iloc[:-1] >= 1).all()


@pytest.mark.parametrize("case", ["one grade", "single documents", "one document"])
@pytest.mark.parametrize("name", SOLVERS)
def test_without_pairs_the_weights_are_zero(name: str, case: str) -> None:
    y, ptr = GRADES[case]
    svm = RankSVM(solver=name).fit_data(RankingData.from_arrays(np.ones((len(y), 2)), y, qid_of(ptr)))
    assert (svm.coef_.tolist(), svm.objective_, svm.gap_) == ([0.0, 0.0], 0.0, 0.0)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_stop_keeps_the_weights_so_far(name: str) -> None:
    def stop(progress: Progress) -> bool:
        return progress.record is not None and progress.record["iteration"] >= 1

    svm = RankSVM(C=4.0, solver=name).fit_data(DATA, callback=stop)
    assert svm.status_ is Status.STOPPED
    assert np.isfinite(svm.coef_).all()
    assert svm.objective_ == pytest.approx(svm.trace_["objective"].iloc[-1]) or name.startswith("newton")


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "newton"])
def test_few_iterations_are_said_to_be_too_few(name: str) -> None:
    svm = RankSVM(C=4.0, solver=name, max_iter=2).fit_data(DATA)
    assert svm.status_ in (Status.MAX_ITERATIONS, Status.RULE)
    assert svm.n_iter_ <= 2


# --- Newton-YUAN --------------------------------------------------------------------------------------------


def transcribed(objective: RankObjective, steps: int) -> list[np.ndarray]:
    """he2009 §2.3, steps 1 to 5, with the Hessian summed pair by pair."""
    Phi, loss = objective.features.dense(), objective.risk.loss
    w = np.zeros(Phi.shape[1])
    found = [w]
    for k in range(1, steps + 1):
        g, H = w.copy(), np.eye(len(w))
        for i, j in slow_pairs(Y, PTR):
            x = Phi[i] - Phi[j]
            t = np.array([x @ w])
            g += objective.C * loss.derivative(t)[0] * x
            H += objective.C * loss.second_derivative(t)[0] * np.outer(x, x)
        length = math.sqrt(g @ g)
        if length <= 1e-4:
            return found
        d = -np.linalg.solve(H, g)
        if math.sqrt(d @ d) <= 1e-4:
            return found
        w = w + d / (math.sqrt(length) + 1) if k % 3 == 0 else w + d
        found.append(w)
    return found


@pytest.mark.parametrize("loss", ["squared_hinge", "smooth_hinge", "logistic", "logistic_pwq"])
@pytest.mark.parametrize("C", [0.01, 0.25, 4.0])
def test_newton_yuan_is_the_paper_step_by_step(loss: str, C: float) -> None:
    objective = objective_of(loss, C)
    expected = transcribed(objective, 12)
    for steps, w in enumerate(expected[1:], start=1):
        result = NewtonYuan(max_iter=steps).solve(objective)
        np.testing.assert_allclose(result.point.w, w, atol=1e-9)
    if len(expected) <= 12:
        assert NewtonYuan().solve(objective).status is Status.RULE
        assert len(NewtonYuan().solve(objective).trace) == len(expected)


def test_rounding_of_a_formed_hessian_does_not_mislead_newton_yuan() -> None:
    """A smooth kernel's matrix is nearly constant: its Hessian, formed, has few digits left."""
    data = make_data(n_queries=40, documents_per_query=(20, 40), n_features=10, seed=2)
    best, svm = (
        RankSVM("nystroem", 200, gamma=2.0**-9, C=1.0, solver=solver).fit_data(data)
        for solver in ("newton", "newton_yuan")
    )
    assert svm.status_ is Status.RULE
    assert svm.n_iter_ < 10  # without care it does not end within 100
    assert svm.objective_ == pytest.approx(best.objective_, rel=1e-5)


def test_every_third_step_is_shortened() -> None:
    assert [step_length(k, 9.0) for k in range(1, 7)] == [1.0, 1.0, 0.25, 1.0, 1.0, 0.25]
    trace = NewtonYuan(max_iter=7, tol=0.0).solve(objective_of("logistic", 4.0)).trace
    for k, row in enumerate(trace[:-1], start=1):
        assert row.step == (1 / (math.sqrt(row.gradient_norm) + 1) if k % 3 == 0 else 1.0)


def test_its_steps_may_raise_the_objective() -> None:
    """A full Newton step on a nearly piecewise-linear loss overshoots; the status warns of that."""
    objective = objective_of(C=4.0).with_risk(PairRisk(Y, PTR, SmoothedHinge(1e-3)))
    values = [row.objective for row in NewtonYuan(max_iter=10).solve(objective).trace]
    assert max(np.diff(values)) > 0
    assert "may raise the objective" in Status.RULE.value


# --- stochastic gradients -----------------------------------------------------------------------------------


@each_cost
@each_terms
def test_the_terms_sum_to_the_objective(terms: object, costs: str | None) -> None:
    """Weighted by how often each is drawn, their gradients have the risk's as mean."""
    objective = objective_of("squared_hinge", 0.25, costs)
    w = np.random.default_rng(2).normal(size=X.shape[1])
    found, rng = terms(objective), np.random.default_rng(0)
    drawn = [term.gradient(w) for _ in range(400) for term in found.passed(rng)]
    expected = objective.at(w).gradient - w
    error = found.count * np.mean(drawn, axis=0) - expected
    spread = found.count * np.std(drawn, axis=0) / math.sqrt(len(drawn))
    assert (np.abs(error) <= 5 * spread).all()


@each_cost
def test_query_terms_sum_exactly(costs: str | None) -> None:
    objective = objective_of("logistic", 0.25, costs, "fourier")
    w = np.random.default_rng(2).normal(size=15)
    terms = QueryTerms(objective)
    total = w + sum(term.gradient(w) for term in terms._terms)
    np.testing.assert_allclose(total, objective.at(w).gradient, atol=1e-12)


@each_cost
@each_terms
def test_no_term_is_more_curved_than_the_bound(terms: object, costs: str | None) -> None:
    objective = objective_of("squared_hinge", 0.25, costs)
    found = terms(objective)
    for term in found.passed(np.random.default_rng(0)):
        H = np.array([term.gradient(1e-6 * e) - term.gradient(0 * e) for e in np.eye(X.shape[1])]) / 1e-6
        assert np.linalg.eigvalsh((H + H.T) / 2).max() <= found.curvature * (1 + 1e-6)


def test_the_printed_steps_blow_up_where_the_damped_ones_do_not() -> None:
    objective = objective_of(C=50.0)
    printed, damped = (
        StochasticGradient(QueryTerms, steps, max_iter=20).solve(objective)
        for steps in (PrintedSteps(), DampedSteps())
    )
    at_zero = damped.trace[0].objective
    assert printed.status is Status.DIVERGED or max(row.objective for row in printed.trace) > 10 * at_zero
    assert max(row.objective for row in damped.trace) <= at_zero
    assert printed.point.value > 2 * damped.point.value


def test_what_grows_without_bound_is_said_so() -> None:
    result = StochasticGradient(QueryTerms, PrintedSteps(), max_iter=50).solve(objective_of(C=1e6))
    assert result.status is Status.DIVERGED
    assert np.isfinite(result.point.value)


def test_equal_seeds_give_equal_weights() -> None:
    one, same, other = (
        RankSVM(C=0.05, solver="sgd_pair", random_state=seed, max_iter=3).fit_data(DATA).coef_
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0


def test_sorted_pairs_are_listed_for_them() -> None:
    objective = objective_of()
    sorts = objective.with_risk(SortedRisk(Y, PTR, LOSSES["squared_hinge"]))
    one, other = (StochasticGradient(QueryTerms, max_iter=5).solve(o).point.w for o in (objective, sorts))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_largest_curvature_of_each_loss() -> None:
    t = np.arange(-9, 9, 1e-4)
    for loss in (*LOSSES.values(), SmoothHinge(1e-4), SmoothedHinge(1e-3)):
        found = largest_curvature(loss)
        assert found >= loss.second_derivative(t).max() * (1 - 1e-4)
        if isinstance(loss, PiecewiseQuadratic):
            assert found == max(2 * zone.bend for zone in loss.zones)
    assert largest_curvature(LOSSES["logistic"]) == pytest.approx(0.25)


# --- L-BFGS -------------------------------------------------------------------------------------------------


def test_lbfgs_stops_at_a_proved_gap() -> None:
    result = LBFGS(tol=1e-4).solve(objective_of())
    assert result.status is Status.CERTIFIED
    gaps = [row.gap for row in result.trace]
    assert gaps[-1] <= 1e-4 < min(gaps[:-1])
    assert result.point.gradient @ result.point.gradient / 2 == pytest.approx(gaps[-1] * result.point.value)


def test_lbfgs_stalls_where_rounding_ends_it() -> None:
    result = LBFGS(tol=1e-300).solve(objective_of())
    assert result.status in (Status.STALLED, Status.CERTIFIED)


def test_lbfgs_starts_where_it_is_told() -> None:
    objective = objective_of()
    best = LBFGS(tol=1e-12).solve(objective).point.w
    assert len(LBFGS(tol=1e-6).solve(objective, best).trace) == 1


# --- what goes together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "newton"])
def test_the_hinge_is_for_the_continuation_only(name: str) -> None:
    with pytest.raises(ValueError, match="choose solver='newton', which trains it by"):
        RankSVM(loss="hinge", solver=name).fit_data(DATA)


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "newton"])
def test_a_kernel_space_is_for_newton_only(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    with pytest.raises(ValueError, match="coefficients of documents; choose solver='newton', which can, or"):
        RankSVM("exact", solver=name).fit_data(DATA)
    assert RankSVM("exact").fit_data(DATA).status_ is Status.CONVERGED


@pytest.mark.parametrize("name", SOLVERS)
def test_few_documents_with_the_exact_kernel_are_for_all(name: str) -> None:
    best = RankSVM("exact", C=0.01, gamma=0.3).fit_data(DATA).objective_
    assert RankSVM("exact", C=0.01, gamma=0.3, solver=name).fit_data(DATA).objective_ < 1.2 * best


def test_stochastic_gradients_refuse_lists_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="Choose solver='newton', which needs no list"):
        RankSVM(solver="sgd_query", memory_limit=1000.0).fit_data(DATA)


def test_a_space_without_features_is_refused() -> None:
    with pytest.raises(TypeError, match="rows of features"):
        StochasticGradient(QueryTerms).solve(object())  # type: ignore[arg-type]


def test_every_solver_has_a_name_to_show() -> None:
    assert len({choice.label for choice in SOLVERS.values()}) == len(SOLVERS)


def test_a_spec_names_its_solver() -> None:
    spec = RunSpec("made up", solver="lbfgs")
    assert model_of(spec).solver == "lbfgs"
    assert RunSpec.from_json(spec.to_json()) == spec
    assert RunSpec.from_dict({"dataset": "old"}).solver == "newton"


def test_a_request_to_stop_ends_a_pass() -> None:
    calls = []

    def report(progress: Progress) -> None:
        calls.append(progress)
        if len(calls) > 3:
            raise StopRequested

    result = StochasticGradient(partial(PairTerms, batch=1), max_iter=1000).solve(
        objective_of(), None, report
    )
    assert result.status is Status.STOPPED
    assert len(result.trace) < 5


@pytest.mark.parametrize("name", SOLVERS)
def test_scores_are_told_once_where_an_iteration_begins(name: str) -> None:
    told: list[Progress] = []
    svm = RankSVM(C=1.0, solver=name, max_iter=5).fit_data(DATA, callback=told.append)
    told = [progress for progress in told if progress.scores is not None]
    assert len(told) == len(svm.trace_)
    np.testing.assert_allclose(told[-1].scores, DATA.X @ svm.coef_, atol=1e-12)
