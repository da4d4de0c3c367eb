"""The hinge by continuation: against a bounded quadratic program, its certificate, and the papers' costs."""

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from scipy.optimize import minimize

from rankviz.datasets import RankingData, find_datasets, open_fold
from rankviz.features.kernel_matrix import kernel_matrix
from rankviz.features.kernels import RBF, rbf_kernel
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.hinge import HingeContinuation
from rankviz.learning.kernel_space import KernelObjective
from rankviz.learning.losses import LOSSES, SmoothedHinge
from rankviz.learning.objective import Status
from rankviz.learning.pairs import pair_costs
from rankviz.learning.risk import PairRisk, limit_of
from rankviz.learning.sorted_risk import SortedRisk
from rankviz.models.dual_variables import dual_block
from rankviz.models.ranksvm import RankSVM

X, Y, PTR = problem(5, n_queries=5)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
COSTS = (None, "grade_query", "slack", "margin", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (4.0, 2.0, 0.0)))


def differences(costs: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x_i − x_j of all pairs, with weights and margins."""
    risk = PairRisk(Y, PTR, LOSSES["squared_hinge"], pair_costs(costs, Y, PTR))
    D = X[risk.pairs.winner] - X[risk.pairs.loser]
    w = np.ones(len(D)) if risk._weight is None else risk._weight
    return D, w, np.ones(len(D)) if risk._margin is None else risk._margin


def slow_optimum(costs: object, C: float) -> float:
    """min ½‖w‖² + C Σ w·b·ξ, ξ ≥ b − Dw, ξ ≥ 0: the quadratic program with slacks, by a general solver."""
    D, w, b = differences(costs)
    d, unit = D.shape[1], max(C / 0.05, 1.0)  # the solver wants numbers of a size
    scale = C * w * b / unit

    def value(v: np.ndarray) -> float:
        return 0.5 / unit * v[:d] @ v[:d] + scale @ v[d:]

    def gradient(v: np.ndarray) -> np.ndarray:
        return np.concatenate((v[:d] / unit, scale))

    found = minimize(
        value,
        np.concatenate((np.zeros(d), b)),
        jac=gradient,
        bounds=[(None, None)] * d + [(0.0, None)] * len(D),
        constraints={
            "type": "ineq",
            "fun": lambda v: D @ v[:d] + v[d:] - b,
            "jac": lambda v: np.hstack((D, np.eye(len(D)))),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success, found.message
    return unit * float(found.fun)


@pytest.mark.parametrize("C", [2.0**-8, 0.05, 1.0])
@pytest.mark.parametrize("costs", COSTS, ids=["none", "grade_query", "slack", "margin", "table"])
def test_equals_the_quadratic_program(costs: object, C: float) -> None:
    svm = RankSVM(C=C, loss="hinge", costs=costs).fit(X, Y, qid=DATA.qid)
    assert svm.status_ is Status.CERTIFIED
    assert 0 <= svm.gap_ <= 1e-6
    D, w, b = differences(costs)
    primal = svm.coef_ @ svm.coef_ / 2 + C * (w * b * np.maximum(0, b - D @ svm.coef_)).sum()
    assert svm.objective_ == pytest.approx(primal, rel=1e-12)
    optimum = slow_optimum(costs, C)
    assert optimum * (1 - 1e-6) <= svm.objective_ <= optimum * (1 + 2e-6)


@pytest.mark.parametrize("costs", [None, "grade_query", "margin"])
@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier"])
def test_the_certificate_is_the_gap_of_the_dual_variables(feature_map: str, costs: str | None) -> None:
    """α of the last smoothed hinge is feasible, and P − D computed from it is the gap that is reported."""
    C = 0.1
    svm = RankSVM(feature_map, 15, gamma=0.4, C=C, loss="hinge", costs=costs, tol=1e-4).fit_data(DATA)
    f, features = svm.predict(DATA.X), svm.feature_map_.operator(DATA.X)
    last, found = svm.trace_.iloc[-1], pair_costs(costs, Y, PTR)
    loss, listed = SmoothedHinge(last["smoothing"]), PairRisk(Y, PTR, LOSSES["hinge"], found)
    alpha = np.zeros((len(Y), len(Y)))
    for query in range(DATA.n_queries):
        rows = DATA.query_slice(query)
        alpha[rows, rows] = dual_block(f, DATA, query, C, loss, found).full()
    pairs = listed.pairs
    a, (_, w, b) = alpha[pairs.winner, pairs.loser], differences(costs)
    assert alpha.sum() == pytest.approx(a.sum())
    assert (a >= 0).all()
    assert (a <= C * w * b * (1 + 1e-12)).all()
    weights = features.adjoint(pairs.pull_back(a))
    primal = svm.coef_ @ svm.coef_ / 2 + C * listed.at(f).value
    dual = b @ a - weights @ weights / 2
    assert svm.objective_ == pytest.approx(primal)
    assert svm.gap_ * primal == pytest.approx(primal - dual, rel=1e-6)
    assert np.linalg.norm(svm.coef_ - weights) == pytest.approx(last["gradient_norm"], rel=1e-6)


def test_the_trace_tells_of_one_way_through_narrower_hinges() -> None:
    trace = RankSVM(C=0.5, loss="hinge").fit(X, Y, qid=DATA.qid).trace_
    assert trace["iteration"].tolist() == list(range(len(trace)))
    assert (trace["seconds"].diff().dropna() >= 0).all()
    assert (trace["smoothing"].diff().dropna() <= 0).all()
    assert trace["smoothing"].iloc[0] == 1.0
    assert (trace["step"].iloc[:-1] > 0).all()
    assert trace["step"].iloc[-1] == 0
    best = trace["objective"].iloc[-1]
    assert (trace["objective"] * (1 - trace["gap"]) <= best).all()  # every row's bound holds
    assert trace["objective"].iloc[0] == 0.5 * len(differences(None)[0])


def test_an_impossible_tolerance_ends_as_stalled() -> None:
    svm = RankSVM(C=0.5, loss="hinge", tol=1e-16, max_iter=400).fit_data(DATA)
    assert svm.status_ in (Status.STALLED, Status.CERTIFIED)
    assert svm.gap_ < 1e-9


@pytest.mark.letor
def test_ohsumed(letor_root) -> None:
    """The reference objective is 2984.6218, to 1e-7 (a separate implementation)."""
    train = open_fold(find_datasets([str(letor_root)])["OHSUMED"], "Fold1").train
    svm = RankSVM(C=0.01, loss="hinge").fit_data(train)
    assert svm.gap_ <= 1e-6
    assert svm.objective_ == pytest.approx(2984.6218, rel=1e-6)


@pytest.mark.parametrize("form", [PairRisk, SortedRisk])
def test_the_kernels_own_space_has_the_same_optimum(form: type) -> None:
    K = rbf_kernel(X, X, 0.5)
    values, vectors = np.linalg.eigh(K)
    features = FeatureOperator(vectors * np.sqrt(np.maximum(values, 0)), IdentityBasis(len(X)))
    risk = form(Y, PTR, SmoothedHinge(1.0))
    kernel = HingeContinuation().solve(
        KernelObjective(X, RBF(0.5), kernel_matrix(X, RBF(0.5), 1e9), risk, 0.3)
    )
    plain = HingeContinuation().solve(RankObjective(features, risk, 0.3))
    assert kernel.status is plain.status is Status.CERTIFIED
    assert kernel.point.value == pytest.approx(plain.point.value, rel=1e-6)


@pytest.mark.parametrize("feature_map", ["linear", "fourier"])
def test_no_certificate_promises_more_than_there_is(feature_map: str) -> None:
    """Slopes of narrow hinges have rounding errors of ε/h: a gap of 1e-18 was certified 1e-9 too high."""
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(
        rng.normal(size=(120, 3)), rng.integers(0, 3, 120), np.repeat(range(6), 20)
    )
    model = RankSVM(feature_map, n_components=500, gamma=0.5, C=1.0, loss="hinge", random_state=0)
    found = [
        model.set_params(tol=10.0**-k).fit_data(data) and (model.objective_, model.gap_) for k in range(6, 14)
    ]
    best = min(objective for objective, _ in found)
    assert found[-1][1] < 1e-11
    for objective, gap in found:
        assert objective - best <= (gap + 1e-14) * objective


@pytest.mark.parametrize("form", [SortedRisk, PairRisk])
@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("h", [1.0, 1e-2, 1e-6, 1e-9])
def test_the_slack_of_smoothing_is_the_sum_over_pairs(form: type, costs: object, h: float) -> None:
    """Some pairs lie in the narrowest zone: their margin is b − h/2, or b − bh/2."""
    D, w, b = differences(costs)
    direction = np.linalg.lstsq(D[:2], (b * (1 - h / 2))[:2], rcond=None)[0]
    risk = form(Y, PTR, SmoothedHinge(h), pair_costs(costs, Y, PTR))
    f = X @ direction
    t = D @ direction
    u = b - t
    s = np.clip(u / (b * h), 0.0, 1.0)
    expected = float((w * b * (np.maximum(u, 0.0) - s * u)).sum())
    hinge, slack = limit_of(risk, f, risk.at(f))
    assert hinge == pytest.approx(float((w * b * np.maximum(u, 0.0)).sum()), rel=1e-12)
    assert expected > 0.0
    assert slack == pytest.approx(expected, rel=1e-5)
