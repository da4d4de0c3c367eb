"""FactorizedRankSVM and RegularizedRankSVM: every map, weights from dual variables, the gap, bad settings."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from naive_low_rank import PARTS, data_of, dual_optimum
from naive_ranking import NOTHING_TO_LEARN, problem, qid_of, slow_pairs
from sklearn.base import clone

import rankviz
from rankviz import (
    DataError,
    DataWarning,
    FactorizedRankSVM,
    Progress,
    RankingData,
    RegularizedRankSVM,
    StopRequested,
)
from rankviz.features.exact import FittedExact, FittedKernelPCA
from rankviz.features.kernels import rbf_kernel
from rankviz.learning.objective import Status
from rankviz.models import low_rank as estimators
from rankviz.models.low_rank import LowRankRanker
from rankviz.models.low_rank_blocks import Blocks
from rankviz.models.low_rank_settings import DUAL_SOLVERS, FACTOR_SOLVERS

X, Y, PTR = problem(3, n_queries=8)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
C = 0.05
MODELS = {f"factorised, {name}": FactorizedRankSVM(2, C, solver=name) for name in FACTOR_SOLVERS}
MODELS |= {f"regularised, {name}": RegularizedRankSVM(C, 0.1, 5.0, solver=name) for name in DUAL_SOLVERS}
MAPS = {
    "linear": {},
    "nystroem": {"n_components": 20, "gamma": 0.3},
    "fourier": {"n_components": 20, "gamma": 0.3},
    "exact": {"gamma": 0.3},
}
each_model = pytest.mark.parametrize("name", MODELS)
each_map = pytest.mark.parametrize("feature_map", MAPS)


def model(name: str, feature_map: str = "linear", **settings: object) -> LowRankRanker:
    return clone(MODELS[name]).set_params(feature_map=feature_map, **MAPS[feature_map] | settings)


# --- what a fit leaves --------------------------------------------------------------------------------------


@each_map
@each_model
def test_dual_variables_make_the_weights_and_the_gap(name: str, feature_map: str) -> None:
    """w = Σ α_ij (φ_i − φ_j), 0 ≤ α ≤ C, and (P − D)/P from plain loops over pairs."""
    fitted = model(name, feature_map).fit(X, Y, qid=DATA.qid)
    Phi, w, total, loss = fitted.feature_map_.operator(X).dense(), 0.0, 0.0, 0.0
    scores, blocks = fitted.predict(X), rankviz.duals(fitted, DATA)
    for query, block in enumerate(blocks):
        first, A = DATA.query_slice(query).start, block.full()
        assert A.min() >= 0.0
        assert A.max() <= C * (1 + 1e-12)
        for i, j in slow_pairs(block.y, np.array([0, len(block.y)])):
            w = w + A[i, j] * (Phi[first + i] - Phi[first + j])
            total += A[i, j]
            loss += max(0.0, 1.0 - scores[first + i] + scores[first + j])
    np.testing.assert_allclose(fitted.coef_, w, atol=1e-9)
    primal, dual = 0.5 * w @ w + C * loss, total - 0.5 * w @ w
    assert fitted.primal_ == pytest.approx(primal)
    assert fitted.dual_ == pytest.approx(dual)
    assert fitted.gap_ == blocks.gap == pytest.approx((primal - dual) / primal)
    plain = rankviz.RankSVM(feature_map, C=C, loss="hinge", **MAPS[feature_map]).fit_data(DATA)
    assert fitted.dual_ <= plain.objective_ <= fitted.primal_ * (1 + 1e-6)


@each_model
def test_what_a_fit_leaves(name: str) -> None:
    fitted = model(name).fit(X, Y, qid=DATA.qid)
    assert fitted.coef_.shape == (4,)
    assert (fitted.n_features_in_, fitted.n_components_) == (4, 4)
    assert fitted.n_pairs_ == len(slow_pairs(Y, PTR))
    assert fitted.status_ in (Status.STATIONARY, Status.CERTIFIED)
    assert fitted.objective_ == fitted.trace_["objective"].iloc[-1]
    assert fitted.n_iter_ == fitted.trace_["iteration"].iloc[-1] > 0
    assert list(fitted.seconds_) == ["features", "newton"]
    np.testing.assert_allclose(fitted.predict(X), X @ fitted.coef_)
    expected = rankviz.evaluate(fitted.predict(X), DATA, "textbook").mean["NDCG@10"]
    assert fitted.score(X, Y, qid=DATA.qid) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", ["factorised, lbfgs", "regularised, fista"])
def test_the_kernels_own_space_has_the_same_end(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    factored = model(name, "exact", tol=1e-6).fit_data(DATA)
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    own = model(name, "exact", tol=1e-6).fit_data(DATA)
    assert isinstance(factored.feature_map_, FittedKernelPCA)
    assert isinstance(own.feature_map_, FittedExact)
    assert own.objective_ == pytest.approx(factored.objective_, rel=1e-5)
    assert own.gap_ == pytest.approx(factored.gap_, abs=1e-3)
    K = rbf_kernel(X, X, 0.3)
    np.testing.assert_allclose(own.predict(X), K @ own.coef_, atol=1e-10)
    c = rankviz.duals(own, DATA).document_weights()
    np.testing.assert_allclose(own.coef_, c, atol=1e-12)
    assert own.dual_ == pytest.approx(
        sum(b.alpha[b.is_pair].sum() for b in rankviz.duals(own, DATA)) - c @ K @ c / 2
    )


@pytest.mark.parametrize("nuclear", [1e-2, 1e-6])
def test_without_a_nuclear_norm_it_is_the_plain_model(nuclear: float) -> None:
    """Dual value and weights near those of RankSVM with the hinge as `nuclear` goes to 0."""
    plain = rankviz.RankSVM(C=C, loss="hinge").fit_data(DATA)
    fitted = RegularizedRankSVM(C, nuclear, 5.0, tol=1e-7, max_iter=20_000).fit_data(DATA)
    optimum = -dual_optimum(X, Y, PTR, C)
    assert optimum == pytest.approx(plain.objective_, rel=2e-6)
    assert fitted.dual_ <= optimum * (1 + 1e-6)
    if nuclear <= 1e-4:
        assert fitted.dual_ == pytest.approx(optimum, rel=nuclear)
        assert fitted.primal_ == pytest.approx(optimum, rel=1e2 * nuclear)
        np.testing.assert_allclose(fitted.coef_, plain.coef_, atol=0.02 * np.linalg.norm(plain.coef_))


def test_low_rank_blocks_are_the_matrices() -> None:
    fitted = model("regularised, fista").fit_data(DATA)
    ranks = {}
    for query, block in enumerate(fitted.low_rank_blocks(DATA)):
        if block.alpha.size:
            ranks[query] = int((np.linalg.svd(block.alpha, compute_uv=False) > 1e-7).sum())
    order = [query for query, _, _ in Blocks(Y, PTR).queries()]
    assert fitted.ranks_.tolist() == [ranks[query] for query in order]
    assert max(ranks.values()) < max(min(block.alpha.shape) for block in rankviz.duals(fitted, DATA))


@pytest.mark.parametrize("name", ["linear", "exact"])
def test_blocks_of_documents_in_another_order_are_refused(name: str) -> None:
    fitted = RegularizedRankSVM(C, 0.1, 5.0, feature_map=name, gamma=0.3).fit_data(DATA)
    backwards = np.concatenate([np.arange(a, b)[::-1] for a, b in itertools.pairwise(PTR)])
    turned = RankingData.from_arrays(X[backwards], Y[backwards], qid_of(PTR))
    for blocks in (fitted.low_rank_blocks, fitted.duals):
        with pytest.raises(DataError, match="in the order of training"):
            blocks(turned)
    graded = replace(DATA, y=Y.max() - Y)  # the same documents, as many pairs, other winners
    with pytest.raises(DataError):
        fitted.low_rank_blocks(graded)


# --- conventions --------------------------------------------------------------------------------------------


def test_the_order_of_documents_does_not_matter_to_the_convex_model() -> None:
    name = "regularised, fista"
    order = np.random.default_rng(0).permutation(len(X))
    here = model(name, tol=1e-6).fit_data(DATA)
    shuffled = rankviz.RankingData.from_arrays(X[order], Y[order], DATA.qid[order], regroup=True)
    # the alternating steps end at their limit, and fit_data leaves that to the status
    there = model(name, tol=1e-6).fit_data(shuffled)
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=1e-2 * np.abs(here.predict(X)).max())
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-6)


def test_steps_by_query_are_refused_before_a_kernel_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    monkeypatch.setattr(estimators, "kernel_matrix", lambda *args: pytest.fail("it was computed"))
    with pytest.raises(ValueError, match="Choose solver='lbfgs', or feature_map='nystroem'"):
        model("factorised, query_steps", "exact").fit_data(DATA)


# --- memory, stops, odd data --------------------------------------------------------------------------------


@each_map
@each_model
def test_memory_is_counted_before_anything_is_made(name: str, feature_map: str) -> None:
    told: list[Progress] = []
    need = model(name, feature_map).fit_data(DATA).memory_need_
    with pytest.raises(DataError, match="needs about"):
        model(name, feature_map, memory_limit=need - 1.0).fit_data(DATA, callback=told.append)
    assert not told
    assert model(name, feature_map, memory_limit=need).fit_data(DATA).memory_need_ == need


@each_model
def test_stops(name: str) -> None:
    """Before the solver's steps there is no model; during them the last point is one."""
    with pytest.raises(StopRequested):
        model(name).fit_data(DATA, callback=lambda progress: progress.stage == "features")
    at_once = model(name).fit_data(DATA, callback=lambda progress: progress.stage == "newton")
    later = model(name, tol=1e-9).fit_data(
        DATA, callback=lambda progress: (progress.record or {}).get("iteration", 0) > 0
    )
    for stopped in (at_once, later):
        assert stopped.status_ is Status.STOPPED
        assert np.isfinite(stopped.predict(X)).all()
        assert stopped.objective_ == pytest.approx(stopped.trace_["objective"].iloc[-1], rel=1e-12)
        assert len(rankviz.duals(stopped, DATA)) == DATA.n_queries
    assert len(at_once.trace_) == 1


@pytest.mark.parametrize("feature_map", ["linear", "exact"])
@each_model
@pytest.mark.parametrize(("features", "grades"), NOTHING_TO_LEARN.values(), ids=NOTHING_TO_LEARN)
def test_data_with_nothing_to_learn(
    name: str, feature_map: str, features: np.ndarray, grades: list[int]
) -> None:
    one_grade = len(set(grades)) == 1
    with pytest.warns(DataWarning, match="no query" if one_grade else "every weight is 0"):
        fitted = model(name, feature_map, gamma="scale").fit(features, grades, qid=[1] * len(grades))
    assert np.isfinite(fitted.objective_)
    np.testing.assert_allclose(fitted.predict(features), 0.0, atol=1e-9)
    data = RankingData.from_arrays(features, grades, [1] * len(grades))
    assert rankviz.duals(fitted, data).block(0).n_pairs == fitted.n_pairs_
    if one_grade:
        steps = 1 if name == "factorised, lbfgs" else 0  # from one factor to two
        assert (fitted.objective_, fitted.gap_, fitted.primal_, fitted.n_iter_) == (0.0, 0.0, 0.0, steps)


@pytest.mark.parametrize("part", ["one pair", "grades far apart", "five grades"])
@each_model
def test_odd_grades(name: str, part: str) -> None:
    y, ptr = PARTS[part]
    features = np.random.default_rng(0).normal(size=(len(y), 3))
    data = RankingData.from_arrays(features, y, qid_of(ptr))
    fitted = model(name).fit_data(data)
    assert fitted.dual_ <= -dual_optimum(features, y, ptr, C) * (1 + 1e-6)
    assert 0.0 <= fitted.gap_ < 1.0


@each_model
@pytest.mark.parametrize("feature_map", ["linear", "exact"])
def test_dual_variables_of_documents_in_another_order_are_refused(name: str, feature_map: str) -> None:
    """`fit` regroups, sorting by query id gives another order: α was dealt to the wrong documents."""
    shuffled = np.random.default_rng(0).permutation(len(Y))
    features, y, qid = X[shuffled], Y[shuffled], DATA.qid[shuffled]
    fitted = model(name).set_params(feature_map=feature_map).fit(features, y, qid=qid)
    regrouped = RankingData.from_arrays(features, y, qid, regroup=True)
    assert rankviz.duals(fitted, regrouped).n_queries == DATA.n_queries
    by_id = np.argsort(qid, kind="stable")
    with pytest.raises(DataError, match=r"do not match the dual variables.*regroup=True"):
        rankviz.duals(fitted, RankingData.from_arrays(features[by_id], y[by_id], qid[by_id]))
    turned = regrouped.X.copy()
    turned[regrouped.query_slice(0)] = turned[regrouped.query_slice(0)][::-1]
    with pytest.raises(DataError, match="do not match the dual variables"):
        rankviz.duals(fitted, replace(regrouped, X=turned))


@each_model
def test_dual_variables_of_other_documents_are_refused(name: str) -> None:
    fitted = model(name).fit_data(DATA)
    with pytest.raises(DataError, match="pairs that the model was trained on"):
        rankviz.duals(fitted, data_of("two grades"))
    longer = RankingData.from_arrays(
        np.vstack((X, X[:3])), np.append(Y, [1, 1, 1]), np.append(DATA.qid, [9, 9, 9])
    )
    if name.startswith("factorised"):  # the entries of pairs are as many
        with pytest.raises(DataError, match="documents that need"):
            rankviz.duals(fitted, longer)
