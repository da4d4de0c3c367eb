"""Newton-YUAN, stochastic gradients and L-BFGS, each by its own rules."""

import math

import numpy as np
import pytest
import strangers
from conftest_solvers import DATA, PTR, X, Y, each_cost, each_terms, objective_of
from naive_ranking import slow_pairs

from rankviz.datasets import RankingData, make_data
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.lbfgs import LBFGS
from rankviz.learning.losses import LOSSES, SmoothedHinge, SmoothHinge
from rankviz.learning.newton import NewtonYuan, step_length
from rankviz.learning.objective import Status
from rankviz.learning.risk import PairRisk
from rankviz.learning.sgd import DampedSteps, PrintedSteps, StochasticGradient
from rankviz.learning.sorted_risk import SortedRisk
from rankviz.learning.stochastic import QueryTerms
from rankviz.models.ranksvm import RankSVM

# --- which ends are ends ------------------------------------------------------------------------------------


def test_every_status_says_whether_the_solver_got_where_its_rule_ends_it() -> None:
    not_there = {Status.TOO_EARLY, Status.MAX_ITERATIONS, Status.STALLED, Status.DIVERGED, Status.STOPPED}
    assert {status for status in Status if not status.converged} == not_there
    for status in Status:
        assert status.converged == status.value.startswith(("converged", "ended by"))


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_solver_that_rounding_keeps_from_its_tolerance_says_so(solver: str) -> None:
    status = RankSVM(solver=solver, tol=1e-300, loss="logistic").fit_data(DATA).status_
    assert status is Status.STALLED
    assert not status.converged


def test_a_rule_that_ends_it_too_early_says_so() -> None:
    """Weights of features as large as 10^8 are all shorter than 10^-4, the direction that ends it."""
    large = RankingData.from_arrays(DATA.X * 1e8, DATA.y, DATA.qid)
    model = RankSVM(solver="newton_yuan").fit_data(large)
    assert (model.status_, model.n_iter_) == (Status.TOO_EARLY, 0)
    assert not model.status_.converged
    assert model.objective_ > 1.1 * RankSVM().fit_data(large).objective_


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
@pytest.mark.parametrize("C", [0.01, 4.0])
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
    drawn = [term.gradient(w) for _ in range(100) for term in found.passed(rng)]
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
    """Compare the declared curvature with second derivatives at margins 1 ± 10^k and on a fine grid."""
    distance = np.concatenate(([0.0], 10.0 ** (np.arange(-2400, 401) / 200.0)))
    t = np.concatenate((1.0 - distance, 1.0 + distance, np.arange(-9, 9, 1e-4)))
    for loss in (*LOSSES.values(), SmoothHinge(1e-4), SmoothedHinge(1e-3), strangers.LOSS):
        if loss.smooth:
            if loss.curvature == np.inf:
                with np.errstate(over="ignore"):
                    reached = [loss.second_derivative(np.linspace(-k, k, 1001)).max() for k in (1, 10, 100)]
                assert (np.diff(reached) > 0).all(), f"{loss.label}: more the farther one looks"
                continue
            reached = loss.second_derivative(t).max()
            assert reached <= loss.curvature <= reached * (1 + 1e-4)
    assert LOSSES["hinge"].curvature == np.inf


# --- L-BFGS -------------------------------------------------------------------------------------------------


def test_lbfgs_stops_at_a_proved_gap() -> None:
    result = LBFGS(tol=1e-4).solve(objective_of())
    assert result.status is Status.CERTIFIED
    gaps = [row.gap for row in result.trace]
    assert gaps[-1] <= 1e-4 < min(gaps[:-1])
    assert result.point.gradient @ result.point.gradient / 2 == pytest.approx(gaps[-1] * result.point.value)


def test_lbfgs_starts_where_it_is_told() -> None:
    objective = objective_of()
    best = LBFGS(tol=1e-12).solve(objective).point.w
    assert len(LBFGS(tol=1e-6).solve(objective, best).trace) == 1
