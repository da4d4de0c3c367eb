"""All solvers against SciPy on the explicit objective, how they stop, and what goes together."""

from functools import partial

import numpy as np
import pytest
from conftest_solvers import COSTS, DATA, PTR, Y, each_cost, each_terms, objective_of
from naive_ranking import GRADES, qid_of, slow_optimum

from rankviz.common.progress import Progress, StopRequested
from rankviz.datasets import DataError, RankingData
from rankviz.learning.losses import LOSSES
from rankviz.learning.objective import Status
from rankviz.learning.sgd import StochasticGradient
from rankviz.learning.solvers import SOLVERS, SolverSettings
from rankviz.learning.stochastic import PairTerms, QueryTerms
from rankviz.models.ranksvm import RankSVM

SMOOTH = [name for name in LOSSES if name != "hinge"]


@pytest.fixture(scope="module")
def optima() -> dict[tuple[str, str | None, str], float]:
    def optimum(loss: str, costs: str | None, kind: str) -> float:
        objective = objective_of(loss, 0.25, costs, kind)
        return slow_optimum(objective.features.dense(), Y, PTR, 0.25, objective.risk.loss, costs)[1]

    return {
        (loss, costs, kind): optimum(loss, costs, kind)
        for loss in SMOOTH
        for costs in COSTS
        for kind in (["linear", "nystroem"] if loss in ("squared_hinge", "logistic") else ["linear"])
    }


# --- the same optimum ---------------------------------------------------------------------------------------


@each_cost
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("name", ["newton_yuan", "lbfgs"])
def test_reaches_the_optimum(name: str, loss: str, costs: str | None, optima: dict) -> None:
    for kind in ("linear", "nystroem"):
        if (optimum := optima.get((loss, costs, kind))) is not None:
            solver = SOLVERS[name].make(SolverSettings(LOSSES["squared_hinge"], tol=1e-8))
            result = solver.solve(objective_of(loss, 0.25, costs, kind))
            assert result.status in (Status.CONVERGED, Status.CERTIFIED, Status.RULE)
            assert result.point.value == pytest.approx(optimum, rel=1e-6)
            assert result.point.value >= optimum * (1 - 1e-9)
            last = result.trace[-1]
            assert last.objective * (1 - last.gap) <= optimum * (1 + 1e-9)


@pytest.mark.parametrize(
    ("loss", "costs"), [("squared_hinge", None), ("squared_hinge", "margin"), ("logistic", "grade_query")]
)
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
@pytest.mark.parametrize("name", [*SOLVERS, "hinge"])
def test_without_pairs_the_weights_are_zero(name: str, case: str) -> None:
    y, ptr = GRADES[case]
    chosen = {"loss": "hinge"} if name == "hinge" else {"solver": name}
    svm = RankSVM(**chosen).fit_data(RankingData.from_arrays(np.ones((len(y), 2)), y, qid_of(ptr)))
    assert (svm.coef_.tolist(), svm.objective_, svm.gap_) == ([0.0, 0.0], 0.0, 0.0)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_stop_keeps_the_weights_so_far(name: str) -> None:
    def stop(progress: Progress) -> bool:
        return progress.record is not None and progress.record["iteration"] >= 1

    svm = RankSVM(C=4.0, solver=name).fit_data(DATA, callback=stop)
    assert svm.status_ is Status.STOPPED
    assert np.isfinite(svm.coef_).all()
    assert svm.objective_ == pytest.approx(svm.trace_["objective"].iloc[-1]) or name.startswith("newton")


# --- what goes together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "newton"])
def test_the_hinge_is_for_the_continuation_only(name: str) -> None:
    with pytest.raises(ValueError, match="choose solver='newton', which can train it"):
        RankSVM(loss="hinge", solver=name).fit_data(DATA)


@pytest.mark.parametrize("name", [name for name, choice in SOLVERS.items() if choice.needs_features])
def test_a_kernel_space_is_not_for_solvers_that_need_features(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    with pytest.raises(ValueError, match="coefficients of documents; choose solver='newton', or"):
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
