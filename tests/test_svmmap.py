"""SVM-MAP: its most violated ranking against all rankings, its gap, and cutting planes."""

from functools import cache
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from rankviz import RankingData, RankSVM, RunSpec, SettingError, evaluate, execute, fit_curve, load, save
from rankviz.datasets import make_data, make_fold
from rankviz.learning.cutting_planes import best_weights, bracket
from rankviz.learning.map_loss import MapHinge
from rankviz.learning.sorted_risk import risk_of
from rankviz.shards import Here
from rankviz.whatif.changes import QueryOut
from rankviz.whatif.refits import PlainRefits, refits_of

LOSS = MapHinge()


def precision(order: tuple[int, ...], y: np.ndarray) -> float:
    ranks = [place for place, document in enumerate(order, 1) if y[document] > 0]
    return float(np.mean([hits / rank for hits, rank in enumerate(ranks, 1)]))


def planes(y: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """1 − AP and the coefficients of the scores, for all rankings of one query."""
    return _planes(tuple(y.tolist()))


@cache
def _planes(grades: tuple[int, ...]) -> list[tuple[float, np.ndarray]]:
    y = np.array(grades)
    good, bad = np.flatnonzero(y > 0), np.flatnonzero(y == 0)
    found = []
    for order in permutations(range(len(y))):
        place, slope = np.argsort(order), np.zeros(len(y))
        for i, j in product(good, bad):
            if place[j] < place[i]:
                slope[i] -= 2 / (len(good) * len(bad))
                slope[j] += 2 / (len(good) * len(bad))
        found.append((1 - precision(order, y), slope))
    return found


def brute_force(f: np.ndarray, y: np.ndarray) -> float:
    if not (y > 0).any() or (y > 0).all():
        return 0.0
    return max(loss + float(slope @ f) for loss, slope in planes(y))


def small(seed: int, n_queries: int = 8) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    y = rng.integers(0, 3, len(qid)) * rng.integers(0, 2, len(qid))
    return RankingData.from_arrays(rng.standard_normal((len(qid), 3)), y, qid)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 5.0])
def test_the_most_violated_ranking_is_the_worst_of_all_rankings(seed: int, scale: float) -> None:
    data = small(seed)
    f = np.round(scale * np.random.default_rng(seed + 50).standard_normal(data.n_documents), 1)  # some equal
    at = risk_of(data.y, data.ptr, LOSS).at(f)
    queries = [slice(a, b) for a, b in pairwise(data.ptr)]
    assert at.value == pytest.approx(sum(brute_force(f[q], data.y[q]) for q in queries), abs=1e-12)
    for q in queries:  # the gradient is that of one of the worst rankings
        if (data.y[q] > 0).any() and (data.y[q] == 0).any():
            worst = brute_force(f[q], data.y[q])
            found = [slope for loss, slope in planes(data.y[q]) if loss + slope @ f[q] > worst - 1e-9]
            assert any(np.allclose(at.gradient[q], slope, atol=1e-12) for slope in found)
        else:
            assert not at.gradient[q].any()


def test_the_loss_bounds_one_minus_average_precision() -> None:
    data = make_data(n_queries=12, documents_per_query=(8, 40), seed=1)
    f = np.random.default_rng(0).standard_normal(data.n_documents)
    values = LOSS.terms(f, data.y, risk_of(data.y, data.ptr, LOSS).queries).value
    mean = evaluate(f, data, measures=["MAP"]).per_query["MAP"].to_numpy()
    both = np.array([0 < (data.y[a:b] > 0).sum() < b - a for a, b in pairwise(data.ptr)])
    assert (values[both] >= 1 - mean[both] - 1e-12).all()


def test_blocks_do_not_change_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_data(n_queries=30, documents_per_query=(2, 40), seed=2)
    f = np.random.default_rng(0).standard_normal(data.n_documents)
    whole = risk_of(data.y, data.ptr, LOSS).at(f)
    monkeypatch.setattr("rankviz.learning.map_loss.BLOCK", 1)
    parts = risk_of(data.y, data.ptr, LOSS).at(f)
    assert parts.value == pytest.approx(whole.value, rel=1e-14)
    np.testing.assert_array_equal(parts.gradient, whole.gradient)


def optimum(data: RankingData, C: float) -> float:
    """½‖w‖² + C Σ ξ_q with a constraint for every ranking of every query, by SciPy."""
    rows = []
    used = [
        q for q in map(slice, data.ptr[:-1], data.ptr[1:]) if 0 < (data.y[q] > 0).sum() < q.stop - q.start
    ]
    for k, q in enumerate(used):
        for loss, slope in planes(data.y[q]):
            rows.append((k, loss, slope @ data.X[q]))
    slack = np.eye(len(used))[[k for k, *_ in rows]]
    A = np.hstack([-np.array([a for *_, a in rows]), slack])
    b = np.array([loss for _, loss, _ in rows])
    d = data.n_features
    weight = np.concatenate([np.zeros(d), np.full(len(used), C)])
    found = minimize(
        lambda x: 0.5 * x[:d] @ x[:d] + weight @ x,
        np.concatenate([np.zeros(d), np.full(len(used), 2.0)]),
        jac=lambda x: np.concatenate([x[:d], np.zeros(len(used))]) + weight,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(found.fun)


@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 10.0)])
def test_reaches_the_optimum_with_all_constraints_and_the_gap_is_a_bound(seed: int, C: float) -> None:
    data = small(seed)
    best = optimum(data, C)
    model = RankSVM(C=C, loss="svmmap", solver="cutting_planes", tol=1e-9).fit_data(data)
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    assert model.gap_ <= 1e-9
    trace = model.trace_
    assert (trace["objective"].diff()[1:] <= 1e-12).all()
    assert (trace["objective"] >= best * (1 - 1e-7)).all()
    assert (trace["objective"] * (1 - trace["gap"]) <= best * (1 + 1e-7)).all()
    assert (trace["gap"].diff()[1:] <= 1e-12).all()


def test_a_stopped_fit_has_a_true_gap() -> None:
    data = small(3)
    model = RankSVM(C=5.0, loss="svmmap", solver="cutting_planes", max_iter=2, tol=1e-12).fit_data(data)
    best = optimum(data, 5.0)
    assert model.gap_ > 1e-6
    assert model.objective_ * (1 - model.gap_) <= best <= model.objective_
    assert "largest number of iterations" in model.status_.value


@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier", "exact"])
def test_trains_on_every_map(feature_map: str, tmp_path: Path) -> None:
    data = make_data(n_queries=12, documents_per_query=(6, 14), n_features=4, seed=3)
    more = {"n_components": 10} if feature_map in ("nystroem", "fourier") else {}
    model = RankSVM(feature_map, C=0.5, loss="svmmap", solver="cutting_planes", tol=1e-4, **more)
    model.fit(data.X, data.y, qid=data.qid)
    assert model.gap_ <= 1e-4
    empty = 0.5 * float(risk_of(data.y, data.ptr, LOSS).at(np.zeros(data.n_documents)).value)
    assert model.objective_ < empty
    again = load(save(model, tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))


def test_trains_in_the_space_of_an_exact_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_data(n_queries=12, documents_per_query=(6, 14), n_features=4, seed=3)
    model = RankSVM("exact", C=0.5, loss="svmmap", solver="cutting_planes", tol=1e-6)
    factored = model.fit_data(data).objective_
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    assert model.fit_data(data).feature_map_.in_kernel_space
    assert model.objective_ == pytest.approx(factored, rel=1e-5)


def test_shards_and_curves_have_the_same_optimum() -> None:
    data = make_data(n_queries=12, documents_per_query=(6, 14), n_features=4, seed=3)
    model = RankSVM(loss="svmmap", solver="cutting_planes", tol=1e-8, C=0.5)
    whole = model.fit_data(data).objective_
    assert model.fit_in_shards(data, Here(3)).objective_ == pytest.approx(whole, rel=1e-7)
    curve = [one.objective_ for one in fit_curve(model, data, C=[0.1, 0.5])]
    assert curve[1] == pytest.approx(whole, rel=1e-7)


def test_query_weights_count_queries_several_times() -> None:
    data = small(4)
    weights = np.array([2.0, 1, 1, 3, 1, 1, 1, 1])
    model = RankSVM(C=1.0, loss="svmmap", solver="cutting_planes", tol=1e-10).fit_weighted(data, weights)
    each = zip(pairwise(data.ptr), weights.astype(int), strict=True)
    blocks = [np.arange(first, end) for (first, end), times in each for _ in range(times)]
    rows = np.concatenate(blocks)
    qid = np.repeat(np.arange(len(blocks)), [len(own) for own in blocks])
    repeated = RankingData.from_arrays(data.X[rows], data.y[rows], qid)
    other = RankSVM(C=1.0, loss="svmmap", solver="cutting_planes", tol=1e-10).fit_data(repeated)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-8)


def test_other_solvers_are_refused_with_the_one_that_can() -> None:
    for solver in ("newton", "lbfgs"):
        with pytest.raises(SettingError, match="choose solver='cutting_planes'"):
            RankSVM(loss="svmmap", solver=solver).fit_data(small(0))
    with pytest.raises(SettingError, match="must not be a limit"):
        RankSVM(loss="hinge", solver="cutting_planes").fit_data(small(0))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "listnet"])
def test_cutting_planes_reach_the_optimum_of_newton(loss: str) -> None:
    data = make_data(n_queries=10, documents_per_query=(6, 12), n_features=4, seed=5)
    newton = RankSVM(C=0.1, loss=loss, tol=1e-12).fit_data(data)
    planes = RankSVM(C=0.1, loss=loss, solver="cutting_planes", tol=1e-8).fit_data(data)
    assert planes.objective_ == pytest.approx(newton.objective_, rel=1e-7)
    trace = planes.trace_
    assert (trace["objective"] * (1 - trace["gap"]) <= newton.objective_ * (1 + 1e-9)).all()


def test_the_quadratic_program_is_solved() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 2, 5, 30):
        A, b = rng.standard_normal((k, 4)), rng.standard_normal(k)
        G, first = A @ A.T, np.eye(k)[0]
        weights = best_weights(G, b, first)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0)
        slopes = b - G @ weights
        assert slopes.max() - slopes @ weights < 1e-9


def test_the_bracket_holds_the_minimum() -> None:
    assert bracket(lambda t: t - 2.0) == (1.0, 1.0)
    low, high = bracket(lambda t: t - 0.3)
    assert low <= 0.3 <= high
    assert high - low == 2.0**-8


def test_a_run_on_a_fold_has_the_trace_of_planes() -> None:
    fold = make_fold(n_queries=12, documents_per_query=(6, 14), n_features=5, seed=2)
    spec = RunSpec("made", feature_map="linear", loss="svmmap", solver="cutting_planes", C=8.0, tol=1e-4)
    record = execute(spec, fold=fold)
    assert record.trace["gap"].iloc[-1] <= 1e-4
    nearest = execute(spec.reference(1e-8), fold=fold)
    assert record.objective * (1 - 1e-4) <= nearest.objective <= record.objective
    stopped = execute(spec, lambda p: p.record is not None and p.record["iteration"] == 2, fold=fold)
    assert stopped.stopped
    assert stopped.trace["gap"].iloc[-1] >= (stopped.objective - record.objective) / stopped.objective - 1e-9


def test_refits_train_again_with_its_own_solver() -> None:
    data = make_data(n_queries=8, documents_per_query=(6, 14), n_features=4, seed=3)
    spec = RunSpec("made", feature_map="linear", loss="svmmap", solver="cutting_planes", tol=1e-6)
    assert not spec.offers.refits
    model = RankSVM(C=0.5, loss="svmmap", solver="cutting_planes").fit_data(data)
    refits = refits_of(model, data)
    assert isinstance(refits, PlainRefits)
    out = QueryOut(data.query_labels[0])
    again = refits.refit([out])
    assert again.data.n_queries == 7
    assert again.model.objective_ < model.objective_
