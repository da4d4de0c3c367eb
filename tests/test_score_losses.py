"""Losses of scores: derivatives, optima of SciPy and closed forms, shards, threads, files."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from rankviz import Fold, RankSVM, RunRecord, RunSpec, execute, fit_curve, load, save
from rankviz.common.errors import DataWarning, SettingError
from rankviz.common.parallel import ENVIRONMENT
from rankviz.datasets import RankingData
from rankviz.learning.feature_space import SpectralPreconditioner
from rankviz.learning.losses import EVERY_LOSS, SCORE_LOSSES
from rankviz.learning.score_losses import Queries, RankRLS, _log_odds, _sigmoid
from rankviz.learning.score_risk import NOBODY, ScoreRisk
from rankviz.learning.sorted_risk import risk_of
from rankviz.runs.run import model_from
from rankviz.shards import Here

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
QUERIES = Queries(PTR)
EACH = [slice(a, b) for a, b in pairwise(PTR)]

each_loss = pytest.mark.parametrize("name", SCORE_LOSSES)


def regression(f: np.ndarray) -> float:
    return float(min(minimize_scalar(lambda b: ((Y - b - f) ** 2).sum(), tol=1e-14).fun, np.inf))


def relevance(f: np.ndarray) -> float:
    def at(b: float) -> float:
        return float(np.logaddexp(0, np.where(Y > 0, -1, 1) * (f + b)).sum())

    return float(minimize_scalar(at, tol=1e-14).fun)


def all_thresholds(f: np.ndarray, theta: np.ndarray) -> float:
    grades = np.unique(Y)[1:]
    return sum(
        float(np.log1p(np.exp(t - f[i] if Y[i] >= g else f[i] - t)))
        for i in range(len(Y))
        for g, t in zip(grades, theta, strict=True)
    )


def ordinal(f: np.ndarray) -> float:
    def at(g: int) -> Callable[[float], float]:
        return lambda t: float(np.logaddexp(0, np.where(g <= Y, t - f, f - t)).sum())

    return float(sum(minimize_scalar(at(g), tol=1e-14).fun for g in np.unique(Y)[1:]))


def cross_entropy(f: np.ndarray) -> float:
    return float(-sum(softmax(Y[q].astype(float)) @ np.log(softmax(f[q])) for q in EACH))


def differences(f: np.ndarray) -> float:
    pairs = [pair for q in EACH for pair in combinations(range(q.start, q.stop), 2)]
    return float(sum((Y[i] - Y[j] - (f[i] - f[j])) ** 2 for i, j in pairs))


def mixture(f: np.ndarray) -> float:
    pairs = sum((q.stop - q.start) * (q.stop - q.start - 1) // 2 for q in EACH)
    return 0.5 * regression(f) + 0.5 * len(Y) / pairs * differences(f)


NAIVE: dict[str, Callable[[np.ndarray], float]] = {
    "least_squares": regression,
    "logistic_relevance": relevance,
    "ordinal": ordinal,
    "listnet": cross_entropy,
    "rankrls": differences,
    "crr": mixture,
}
"""The losses as they are written, document by document or pair by pair."""


@each_loss
def test_the_value_is_the_sum_as_it_is_written(name: str) -> None:
    for f in (np.zeros(len(Y)), np.random.default_rng(0).normal(size=len(Y)) * 3):
        assert risk_of(Y, PTR, SCORE_LOSSES[name]).at(f).value == pytest.approx(NAIVE[name](f), rel=1e-12)


@each_loss
def test_derivatives_are_those_of_finite_differences(name: str) -> None:
    rng = np.random.default_rng(1)
    risk, f, v, h = (
        risk_of(Y, PTR, SCORE_LOSSES[name]),
        rng.normal(size=len(Y)),
        rng.normal(size=len(Y)),
        1e-5,
    )
    at, up, down = risk.at(f), risk.at(f + h * v), risk.at(f - h * v)
    assert (up.value - down.value) / (2 * h) == pytest.approx(at.gradient @ v, rel=1e-7)
    slope = (up.gradient - down.gradient) / (2 * h)
    np.testing.assert_allclose(at.hessian_product(v), slope, rtol=1e-7, atol=1e-7)
    B = rng.normal(size=(len(Y), 4))
    columns = np.column_stack([at.hessian_product(b) for b in B.T])
    np.testing.assert_allclose(at.gram(B), B.T @ columns, rtol=1e-10, atol=1e-10)
    trace = sum(at.hessian_product(e) @ e for e in np.eye(len(Y)))
    assert 2 * at.total_curvature == pytest.approx(trace, rel=1e-12)


@each_loss
def test_only_pointwise_losses_see_a_shift_of_a_query(name: str) -> None:
    risk, f = risk_of(Y, PTR, SCORE_LOSSES[name]), np.random.default_rng(2).normal(size=len(Y))
    shifted = risk.at(f + QUERIES.spread(np.arange(len(PTR) - 1.0))).value
    assert (shifted == pytest.approx(risk.at(f).value, rel=1e-9)) is SCORE_LOSSES[name].by_query


@each_loss
def test_sampled_pairs_have_the_hessian_as_their_mean(name: str) -> None:
    risk, rng = risk_of(Y, PTR, SCORE_LOSSES[name]), np.random.default_rng(3)
    at = risk.at(rng.normal(size=len(Y)))
    mean, draws = np.zeros((len(Y), len(Y))), 400
    for _ in range(draws):
        drawn = at.sample_active(rng, len(Y))
        e = np.eye(len(Y))[drawn.winner] - np.where(
            (drawn.loser == NOBODY)[:, None], 0.0, np.eye(len(Y))[drawn.loser]
        )
        mean += (e * (drawn.curvature * at.n_active / len(drawn.winner))[:, None]).T @ e / draws
    exact = np.column_stack([at.hessian_product(e) for e in np.eye(len(Y))])
    assert np.linalg.norm(mean - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.parametrize("C", [2.0**-6, 1.0])
@each_loss
def test_reaches_scipys_optimum(name: str, C: float) -> None:
    def objective(w: np.ndarray) -> float:
        return float(0.5 * w @ w + C * NAIVE[name](X @ w))

    def gradient(w: np.ndarray) -> np.ndarray:
        return w + C * X.T @ risk_of(Y, PTR, SCORE_LOSSES[name]).at(X @ w).gradient

    best = minimize(objective, np.zeros(X.shape[1]), jac=gradient, method="BFGS", options={"gtol": 1e-9})
    model = RankSVM(C=C, loss=name, tol=1e-12).fit_data(DATA)
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-5 * np.abs(best.x).max())
    assert 0 <= model.gap_ < 1e-8


def test_rankrls_is_its_closed_form() -> None:
    D = np.array([X[i] - X[j] for q in EACH for i, j in combinations(range(q.start, q.stop), 2)])
    t = np.array([Y[i] - Y[j] for q in EACH for i, j in combinations(range(q.start, q.stop), 2)])
    C = 0.1
    w = np.linalg.solve(np.eye(X.shape[1]) + 2 * C * D.T @ D, 2 * C * D.T @ t)
    model = RankSVM(C=C, loss="rankrls").fit_data(DATA)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-10)
    assert model.n_iter_ == 1


def test_least_squares_is_ridge_regression_with_an_intercept() -> None:
    ridge = Ridge(alpha=1 / (2 * 0.3), solver="cholesky").fit(X, Y)
    model = RankSVM(C=0.3, loss="least_squares").fit_data(DATA)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-8, atol=1e-10)


def test_logistic_on_relevance_is_logistic_regression_with_an_intercept() -> None:
    other = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky").fit(X, Y > 0)
    model = RankSVM(C=0.3, loss="logistic_relevance", tol=1e-12).fit_data(DATA)
    w = other.coef_[0]
    assert 0.5 * w @ w + 0.3 * relevance(X @ w) == pytest.approx(model.objective_, rel=1e-10)
    np.testing.assert_allclose(model.coef_, w, atol=1e-6)


@pytest.mark.parametrize("C", [2.0**-6, 1.0])
def test_thresholds_and_weights_are_scipys_optimum_of_both(C: float) -> None:
    grades, d = np.unique(Y)[1:], X.shape[1]
    above = np.where(Y[:, None] >= grades, 1.0, -1.0)

    def both(z: np.ndarray) -> tuple[float, np.ndarray]:
        w, theta = z[:d], z[d:]
        slope = -C * above * expit(above * (theta - (X @ w)[:, None]))
        gradient = np.concatenate([w + X.T @ slope.sum(axis=1), -slope.sum(axis=0)])
        return 0.5 * w @ w + C * all_thresholds(X @ w, theta), gradient

    best = minimize(both, np.zeros(d + len(grades)), jac=True, method="BFGS", options={"gtol": 1e-9})
    model = RankSVM(C=C, loss="ordinal", tol=1e-12).fit_data(DATA)
    assert model.thresholds_ is not None
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(model.thresholds_, np.column_stack([grades, best.x[d:]]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier", "exact"])
def test_thresholds_ascend_with_every_map(feature_map: str) -> None:
    for C in (1e-3, 1.0, 30.0):
        model = RankSVM(feature_map, 20, gamma=0.3, C=C, loss="ordinal").fit_data(DATA)
        theta = model.thresholds_
        assert theta is not None
        assert (np.diff(theta[:, 1]) > 0).all()
        # at the optimum each threshold leaves the expected number of documents above it
        p = expit(model.predict(X)[:, None] - theta[:, 1])
        np.testing.assert_allclose(p.sum(axis=0), (Y[:, None] >= theta[:, 0]).sum(axis=0), rtol=1e-6)


def test_two_grades_are_logistic_regression_with_an_intercept() -> None:
    two = RankingData.from_arrays(X, 3 * (Y > 0), qid_of(PTR))
    other = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky").fit(X, Y > 0)
    model = RankSVM(C=0.3, loss="ordinal", tol=1e-12).fit_data(two)
    assert model.thresholds_ is not None
    np.testing.assert_allclose(model.thresholds_, [[3.0, -other.intercept_[0]]], atol=1e-6)
    np.testing.assert_allclose(model.coef_, other.coef_[0], atol=1e-6)


def test_runs_and_files_keep_thresholds(tmp_path: Path) -> None:
    fold = Fold(DATA, DATA, DATA)
    spec = RunSpec("x", feature_map="linear", loss="ordinal", C=0.3, normalisation="none")
    record = execute(spec, fold=fold)
    again = RunRecord.load(record.save(tmp_path / "run.npz"))
    expected = RankSVM(C=0.3, loss="ordinal").fit_data(DATA)
    for model in (model_from(again, DATA), load(save(model_from(again, DATA), tmp_path / "model.npz"))):
        np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)
    expected.set_params(loss="listnet").fit_data(DATA)
    assert expected.thresholds_ is None
    assert "thresholds" not in expected.stored


def test_grades_that_are_all_relevant_or_none_leave_nothing_to_learn() -> None:
    for y in (np.zeros_like(Y), np.ones_like(Y)):
        at = risk_of(y, PTR, SCORE_LOSSES["logistic_relevance"]).at(np.arange(len(Y)) * 1.0)
        assert (at.value, at.n_active, np.abs(at.gradient).max()) == (0.0, 0, 0.0)


def test_crr_ends_at_least_squares_and_at_rankrls() -> None:
    def weights(**settings: Any) -> np.ndarray:
        return RankSVM(tol=1e-12, **settings).fit_data(DATA).coef_

    sizes = np.diff(PTR)
    ratio = len(Y) / (sizes * (sizes - 1) // 2).sum()
    one, zero = weights(C=0.5, loss="crr", alpha=1.0), weights(C=0.5, loss="crr", alpha=0.0)
    np.testing.assert_allclose(one, weights(C=0.5, loss="least_squares"), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(zero, weights(C=0.5 * ratio, loss="rankrls"), rtol=1e-9, atol=1e-12)
    half = weights(C=0.5, loss="crr")
    assert min(np.abs(half - one).max(), np.abs(half - zero).max()) > 1e-3


def test_ranknet_is_the_logistic_loss() -> None:
    one, other = (RankSVM(C=0.2, loss=name).fit_data(DATA) for name in ("ranknet", "logistic"))
    assert np.array_equal(one.coef_, other.coef_)
    assert one.objective_ == other.objective_


MAPS: list[dict[str, Any]] = [
    {"feature_map": "linear"},
    {"feature_map": "nystroem", "n_components": 25},
    {"feature_map": "fourier", "n_components": 300},
    {"feature_map": "linear", "solver": "lbfgs"},
    {"feature_map": "linear", "solver": "newton_yuan"},
    {"feature_map": "linear", "preconditioner": "none"},
]


@pytest.mark.parametrize("settings", MAPS, ids=lambda s: " ".join(map(str, s.values())))
@pytest.mark.parametrize("name", ["listnet", "rankrls", "ranknet"])
def test_shards_train_the_same_model(name: str, settings: dict[str, Any]) -> None:
    made = {"gamma": 0.3, "C": 0.02, "loss": name} | settings
    one, other = RankSVM(**made).fit_data(DATA), RankSVM(**made).fit_in_shards(DATA, Here(3))
    apart = sum(np.sqrt(2 * found.gap_ * found.objective_) for found in (one, other))
    assert np.linalg.norm(one.coef_ - other.coef_) <= apart + 1e-12
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-5)


@pytest.mark.parametrize("name", [name for name, loss in SCORE_LOSSES.items() if not loss.by_query])
def test_an_intercept_for_all_queries_is_refused_in_shards(name: str) -> None:
    with pytest.raises(SettingError, match=r"intercept common to all queries.*rankrls"):
        RankSVM(loss=name).fit_in_shards(DATA, Here(2))


@each_loss
def test_more_features_than_documents(name: str) -> None:
    """The preconditioner is then factored in the space of documents."""
    few = RankingData.from_arrays(X[: PTR[3]], Y[: PTR[3]], qid_of(PTR)[: PTR[3]])
    made = {"n_components": few.n_documents + 40, "gamma": 0.3, "C": 0.5, "loss": name, "tol": 1e-10}
    one, plain = (RankSVM("fourier", preconditioner=p, **made).fit_data(few) for p in ("auto", "none"))
    assert one.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    assert one.trace_["cg_iterations"].max() <= 3


@each_loss
def test_features_far_from_zero_are_shifted_only_where_that_changes_nothing(name: str) -> None:
    shift = 1e4 * np.arange(DATA.n_queries).repeat(np.diff(PTR))[:, None]
    far = RankingData.from_arrays(X + shift, Y, qid_of(PTR))
    one, other = (RankSVM(C=0.1, loss=name, tol=1e-9).fit_data(d) for d in (DATA, far))
    same = np.allclose(one.coef_, other.coef_, rtol=1e-5, atol=1e-7)
    assert same is SCORE_LOSSES[name].by_query


@each_loss
def test_the_exact_kernel_is_that_of_all_landmarks(name: str) -> None:
    made = {"gamma": 0.3, "C": 0.1, "loss": name, "tol": 1e-10}
    exact = RankSVM("exact", **made).fit_data(DATA)
    nystroem = RankSVM("nystroem", n_components=len(Y), **made).fit_data(DATA)
    assert exact.objective_ == pytest.approx(nystroem.objective_, rel=1e-6)


@each_loss
def test_equal_for_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setenv(ENVIRONMENT, str(threads))
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(RankSVM("nystroem", 20, gamma=0.3, C=0.1, loss=name).fit_data(DATA).coef_)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@each_loss
def test_query_weights_are_repetitions(name: str) -> None:
    weights = np.where(np.arange(DATA.n_queries) % 2, 2.0, 1.0)
    qid = qid_of(PTR)
    again = np.isin(qid, np.unique(qid)[1::2])
    twice = RankingData.from_arrays(
        np.concatenate([X, X[again]]), np.concatenate([Y, Y[again]]), np.concatenate([qid, qid[again] + 1000])
    )
    one = RankSVM(C=0.1, loss=name, tol=1e-10).fit_weighted(DATA, weights)
    other = RankSVM(C=0.1, loss=name, tol=1e-10).fit_data(twice)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", [*SCORE_LOSSES, "ranknet"])
def test_files_keep_the_model(name: str, tmp_path: Path) -> None:
    alpha = {"alpha": 0.25} if name == "crr" else {}
    model = RankSVM(C=0.1, loss=name, **alpha).fit_data(DATA)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert (again.loss, again.alpha) == (name, model.alpha)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_curve_over_c_equals_single_fits() -> None:
    for name in SCORE_LOSSES:
        base = RankSVM("nystroem", 20, gamma=0.3, loss=name, tol=1e-10)
        for fitted in fit_curve(base, DATA, C=[0.01, 0.1, 1.0]):
            alone = RankSVM("nystroem", 20, gamma=0.3, loss=name, tol=1e-10, C=fitted.C).fit_data(DATA)
            assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-9)


@each_loss
def test_what_needs_pairs_is_refused_with_a_remedy(name: str) -> None:
    with pytest.raises(SettingError, match=r"no sum over preference pairs.*leave out the costs"):
        RankSVM(loss=name, costs="query").fit_data(DATA)
    with pytest.raises(SettingError, match=r"pairs with one margin each.*solver='newton'"):
        RankSVM(loss=name, solver="sgd_pair").fit_data(DATA)
    with pytest.raises(SettingError, match="no pair has a dual variable"):
        RankSVM(loss=name).fit_data(DATA).duals(DATA)
    with pytest.raises(TypeError, match="sum over pairs"):
        ScoreRisk(Y, PTR, RankRLS()).with_loss(EVERY_LOSS["hinge"])


def test_large_scores_do_not_overflow() -> None:
    f = np.random.default_rng(4).normal(size=len(Y)) * 1e4
    for name in SCORE_LOSSES:
        at = risk_of(Y, PTR, SCORE_LOSSES[name]).at(f)
        assert np.isfinite([at.value, at.total_curvature]).all()


def test_settings_of_a_loss_reach_it() -> None:
    assert replace(SCORE_LOSSES["crr"], alpha=0.2) == SCORE_LOSSES["crr"].with_settings(lambda _: 0.2)
    with pytest.raises(SettingError, match="alpha"):
        RankSVM(loss="crr", alpha=1.5).fit_data(DATA)


@pytest.mark.parametrize("name", [name for name, loss in SCORE_LOSSES.items() if loss.quadratic])
def test_a_path_over_c_needs_one_eigendecomposition(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    whole = SpectralPreconditioner.of
    monkeypatch.setattr(SpectralPreconditioner, "of", lambda G, C: made.append(C) or whole(G, C))
    grid = [2.0**k for k in range(-8, 5)]
    for model in fit_curve(RankSVM("nystroem", 20, gamma=0.3, loss=name), DATA, C=grid):
        assert model.n_iter_ == 1
        assert model.gap_ < 1e-12
        assert model.trace_["cg_iterations"].max() <= 1
    assert len(made) == 1


def test_a_pointwise_loss_learns_from_queries_of_one_grade_each() -> None:
    y = np.arange(DATA.n_queries).repeat(np.diff(PTR)) % 3
    model = RankSVM(C=0.3, loss="least_squares").fit(X, y, qid=qid_of(PTR))  # a warning would be an error
    np.testing.assert_allclose(model.coef_, Ridge(alpha=1 / 0.6).fit(X, y).coef_, rtol=1e-7, atol=1e-9)
    with pytest.warns(DataWarning, match="no preference pair"):
        RankSVM(C=0.3, loss="rankrls").fit(X, y, qid=qid_of(PTR))


@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0, 40.0])
def test_the_intercept_needs_few_steps_and_is_exact(spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its derivative is 0: the mean of 1/(1 + e^−(f + b)) is the share of relevant documents."""
    monkeypatch.setattr("rankviz.learning.score_losses.MOST_STEPS", 12)
    rng = np.random.default_rng(0)
    for n in range(300, 400):
        f, relevant = spread * rng.standard_normal(n), rng.random(n) < 0.2
        b = _log_odds(f, relevant, Queries(np.array([0, n])))
        assert float(expit(f + b).mean()) == pytest.approx(relevant.mean(), rel=1e-13)


def test_one_exponential_gives_both_sides_to_full_precision() -> None:
    s = np.array([-800.0, -40.0, -1.0, 0.0, 1e-9, 2.0, 37.0, 800.0])
    p, q, e = _sigmoid(s)
    np.testing.assert_allclose(p, expit(s), rtol=1e-15)
    np.testing.assert_allclose(q, expit(-s), rtol=1e-15)
    np.testing.assert_allclose(e, np.exp(-np.abs(s)), rtol=1e-15)
