"""Every loss with every cost through `RankSVM`, against SciPy on the objective summed pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
import strangers
from naive_ranking import problem, qid_of
from scipy.optimize import minimize

from rankviz.datasets import DataError, RankingData, find_datasets, open_fold
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.learning import sorted_risk as module
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES, SMOOTHING_ERROR, PiecewiseQuadratic, SmoothHinge
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import Status
from rankviz.learning.pairs import RULES, AllPairs, pair_costs
from rankviz.learning.risk import PairRisk, adapted_risk
from rankviz.learning.sorted_risk import SortedRisk
from rankviz.models.ranksvm import RankSVM

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
SMOOTH = {name: loss for name, loss in LOSSES.items() if name != "hinge"}
TABLE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (5.0, 2.0, 0.0))

each_cost = pytest.mark.parametrize("costs", [None, *RULES, TABLE, ("query", TABLE)], ids=str)


def slow_optimum(name: str, costs: object, C: float) -> tuple[np.ndarray, float]:
    found = pair_costs(costs, Y, PTR)
    risk = adapted_risk(PairRisk(Y, PTR, LOSSES[name], found), C)
    loss = risk.loss
    D = X[risk.pairs.winner] - X[risk.pairs.loser]
    w = 1.0 if risk._weight is None else risk._weight
    b = 1.0 if risk._margin is None else risk._margin

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        t = D @ v / b
        value = 0.5 * v @ v + C * (w * b * b * loss.value(t)).sum()
        return value, v + C * D.T @ (w * b * loss.derivative(t))

    options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000, "maxfun": 20_000}
    best = minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=options)
    return best.x, float(best.fun)


@each_cost
@pytest.mark.parametrize("C", [2.0**-6, 1.0])
@pytest.mark.parametrize("loss", SMOOTH)
def test_reaches_the_optimum(loss: str, C: float, costs: object) -> None:
    svm = RankSVM(C=C, loss=loss, costs=costs, tol=1e-10).fit(X, Y, qid=DATA.qid)
    w, value = slow_optimum(loss, costs, C)
    assert svm.status_ is Status.CONVERGED
    assert svm.objective_ == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(svm.coef_, w, atol=1e-3 * np.abs(w).max())
    assert svm.gap_ >= 0
    assert svm.objective_ * (1 - svm.gap_) <= value * (1 + 1e-12)


@each_cost
@pytest.mark.parametrize("feature_map", ["linear", "nystroem"])
@pytest.mark.parametrize(
    "loss", [name for name, loss in LOSSES.items() if isinstance(loss, PiecewiseQuadratic)]
)
def test_sorted_and_listed_pairs_train_the_same_model(
    monkeypatch: pytest.MonkeyPatch, feature_map: str, loss: str, costs: object
) -> None:
    values = []
    for least, form in ((10**9, PairRisk), (-1, SortedRisk)):
        monkeypatch.setattr(module, "LEAST_PAIRS", least)
        monkeypatch.setattr(module, "PAIRS_PER_READ", 0.0)
        svm = RankSVM(feature_map, 12, gamma=0.3, C=0.25, loss=loss, costs=costs, tol=1e-10)
        assert isinstance(svm._risk(DATA), form)
        values.append(svm.fit_data(DATA).objective_)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("eta", [0.9, 0.3, 1e-3])
@pytest.mark.parametrize("costs", [None, "grade_query"])
def test_the_smooth_hinge_is_as_near_as_theorem_2_says(costs: str | None, eta: float) -> None:
    """he2009: ‖w_smooth − w‖² ≤ C Σc_ij·0.0515η²."""
    found, C = pair_costs(costs, Y, PTR), 0.5
    smooth, sharp = (
        TruncatedNewton(tol=1e-14)
        .solve(RankObjective(FeatureOperator(X, IdentityBasis(4)), PairRisk(Y, PTR, loss, found), C))
        .point
        for loss in (SmoothHinge(eta), LOSSES["squared_hinge"])
    )
    bound = C * AllPairs(Y, PTR, found).weight * SMOOTHING_ERROR * eta**2
    assert ((smooth.w - sharp.w) ** 2).sum() <= bound
    assert sharp.value <= smooth.value * (1 + 1e-12) <= (sharp.value + bound) * (1 + 2e-12)


def test_eta_is_chosen_for_a_bound_of_one_hundred_thousandth() -> None:
    svm = RankSVM(C=0.5, loss="smooth_hinge", costs="grade", tol=1e-13).fit(X, Y, qid=DATA.qid)
    sharp = RankSVM(C=0.5, costs="grade", tol=1e-13).fit(X, Y, qid=DATA.qid)
    assert ((svm.coef_ - sharp.coef_) ** 2).sum() <= 1e-5


def test_the_piecewise_logistic_objective_is_near_the_logistic_one() -> None:
    one, other = (RankSVM(C=0.5, loss=loss).fit(X, Y, qid=DATA.qid) for loss in ("logistic", "logistic_pwq"))
    assert abs(one.objective_ - other.objective_) <= 0.5 * 0.0013 * one.n_pairs_


@pytest.mark.parametrize("loss", [name for name, loss in LOSSES.items() if loss.unlisted])
def test_too_many_pairs_to_list_are_refused_with_what_would_fit(loss: str) -> None:
    with pytest.raises(DataError, match=f"Choose loss='{LOSSES[loss].unlisted}'"):
        RankSVM(loss=loss, memory_limit=1000.0).fit(X, Y, qid=DATA.qid)


def test_lists_that_do_not_fit_are_the_cause_also_without_a_loss_that_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(LOSSES, "stranger", strangers.LOSS)
    with pytest.raises(DataError, match=r"loss='stranger' lists its pairs.*Choose fewer documents\."):
        RankSVM(loss="stranger", memory_limit=1000.0).fit(X, Y, qid=DATA.qid)


def test_a_table_that_does_not_fit_the_grades_is_named() -> None:
    with pytest.raises(ValueError, match="grades up to 2; give 3 rows"):
        RankSVM(costs=((0.0, 0.0), (1.0, 0.0))).fit(X, Y, qid=DATA.qid)


def test_costs_change_what_is_learned() -> None:
    found = [RankSVM(C=0.5, costs=costs).fit(X, Y, qid=DATA.qid).coef_ for costs in (None, *RULES, TABLE)]
    for k, one in enumerate(found):
        assert all(np.abs(one - other).max() > 1e-4 for other in found[:k])


@pytest.mark.letor
def test_ohsumed_is_fast_because_no_pair_is_listed(letor_root) -> None:
    train = open_fold(find_datasets([str(letor_root)])["OHSUMED"], "Fold1").train
    svm = RankSVM(C=2.0**-11).fit_data(train)
    assert svm.n_pairs_ == 367_663
    assert svm.objective_ == pytest.approx(161.3243, abs=1e-4)
    assert isinstance(svm._risk(train), SortedRisk)
