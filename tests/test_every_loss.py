"""Every loss with every cost through `RankSVM`, against SciPy on the objective summed pair by pair."""

import numpy as np
import pytest
import strangers
from naive_ranking import problem, qid_of, slow_optimum

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


@each_cost
@pytest.mark.parametrize("C", [2.0**-6, 1.0])
@pytest.mark.parametrize("loss", SMOOTH)
def test_reaches_the_optimum(loss: str, C: float, costs: object) -> None:
    svm = RankSVM(C=C, loss=loss, costs=costs, tol=1e-10).fit(X, Y, qid=DATA.qid)
    adapted = adapted_risk(PairRisk(Y, PTR, LOSSES[loss], pair_costs(costs, Y, PTR)), C).loss
    w, value = slow_optimum(X, Y, PTR, C, adapted, costs)
    assert svm.status_ is Status.CONVERGED
    assert svm.objective_ == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(svm.coef_, w, atol=1e-3 * np.abs(w).max())
    assert svm.gap_ >= 0
    assert svm.objective_ * (1 - svm.gap_) <= value * (1 + 1e-12)


@pytest.mark.parametrize("costs", [None, ("query", TABLE)], ids=str)
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


@pytest.mark.letor
def test_ohsumed_is_fast_because_no_pair_is_listed(letor_root) -> None:
    train = open_fold(find_datasets([str(letor_root)])["OHSUMED"], "Fold1").train
    svm = RankSVM(C=2.0**-11).fit_data(train)
    assert svm.n_pairs_ == 367_663
    assert svm.objective_ == pytest.approx(161.3243, abs=1e-4)
    assert isinstance(svm._risk(train), SortedRisk)
