"""More features than documents: only documents are factored, and the model stays the same."""

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from naive_ranking import problem, qid_of, slow_risk
from scipy import linalg

from rankviz import RankingData, RankSVM, fit_curve, refits_of
from rankviz.common.errors import DataError, SettingError
from rankviz.features import operator
from rankviz.features.operator import CholeskyBasis, CosineBasis, DenseBasis, FeatureOperator, IdentityBasis
from rankviz.learning import feature_space
from rankviz.learning.feature_space import DocumentPreconditioner, RankObjective, curvature_roots
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.risk import PairRisk
from rankviz.learning.solvers import SOLVERS
from rankviz.learning.sorted_risk import risk_of
from rankviz.models.low_rank import RegularizedRankSVM
from rankviz.shards import Here
from rankviz.whatif.changes import FeatureOff, GradeSet, OnlyQueries, QueryOut
from rankviz.whatif.estimates import effects_of_queries

X, Y, PTR = problem(4, n_queries=12)
X[1] = X[0]  # documents that repeat
N = len(Y)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
WIDE = RankingData.from_arrays(np.random.default_rng(0).normal(size=(N, 700)) / 50, Y, qid_of(PTR))
SHARDS = Here(3)


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The rows of all that is factored while a test runs."""
    seen: list[int] = []
    whole = linalg.cholesky

    def counted(M: np.ndarray, **options: Any) -> np.ndarray:
        seen.append(len(M))
        return whole(M, **options)

    monkeypatch.setattr(feature_space.linalg, "cholesky", counted)
    return seen


def in_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factor features, (m, m), as is done where they are fewer than documents."""
    monkeypatch.setattr(feature_space, "wider_than_tall", lambda n, basis: False)


def basis_of(kind: str, rng: np.random.Generator) -> Any:
    L = np.tril(rng.normal(size=(150, 150))) / 12 + 2 * np.eye(150)
    return {
        "identity": IdentityBasis(150),
        "cosine": CosineBasis(150),
        "cholesky": CholeskyBasis(L),
        "dense": DenseBasis(rng.normal(size=(150, 130)) / 10),
    }[kind]


@pytest.mark.parametrize("C", [2.0**-8, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["identity", "cosine", "cholesky", "dense"])
def test_the_inverse_in_documents_is_that_of_the_hessian(kind: str, C: float) -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=(N, 150))
    base[3] = base[2]
    features = FeatureOperator(base, basis_of(kind, rng))
    objective = RankObjective(features, PairRisk(Y, PTR, LOSSES["squared_hinge"]), C)
    point = objective.at(0.1 * rng.normal(size=features.shape[1]))
    inverse = objective.preconditioner(point)
    assert isinstance(inverse, DocumentPreconditioner)
    assert inverse.half.shape[0] < inverse.half.shape[1] == N < features.shape[1]
    Phi = features.dense()
    np.testing.assert_allclose(features.kernel, Phi @ Phi.T, atol=1e-9)
    R = slow_risk(point.scores, Y, PTR)[2]
    H = np.eye(Phi.shape[1]) + C * Phi.T @ R @ Phi
    s = rng.normal(size=(features.shape[1], 3))
    np.testing.assert_allclose(inverse(H @ s), s, atol=1e-10 * np.linalg.norm(H))
    np.testing.assert_allclose(inverse(s[:, 0]), inverse(s)[:, 0], atol=1e-12)


def test_the_kernel_of_documents_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    base = np.random.default_rng(3).normal(size=(20, 30))
    whole = FeatureOperator(base, CosineBasis(30)).kernel
    monkeypatch.setattr(operator, "BLOCK_ENTRIES", 7 * 30)
    np.testing.assert_allclose(FeatureOperator(base, CosineBasis(30)).kernel, whole, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_roots_of_the_curvature(loss: str) -> None:
    f = np.random.default_rng(2).normal(size=N)
    point = risk_of(Y, PTR, LOSSES[loss]).at(f)
    roots = curvature_roots(point.hessian_product, PTR)
    S = linalg.block_diag(*roots)
    np.testing.assert_allclose(S @ S.T @ f, point.hessian_product(f), atol=1e-10)
    assert [len(root) for root in roots] == np.diff(PTR).tolist()
    assert all(root.shape[1] < len(root) for root in roots)
    assert S.shape[1] <= point.n_active


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("settings", [{"feature_map": "fourier", "n_components": 2 * N}, {}], ids=str)
def test_the_model_is_that_of_factored_features(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], loss: str
) -> None:
    data = DATA if settings else WIDE
    tol = 1e-8 if LOSSES[loss].by_continuation else 1e-13
    settings = settings | {"gamma": 0.3, "loss": loss, "C": 1.0, "tol": tol}
    found = RankSVM(**settings).fit_data(data)
    in_features(monkeypatch)
    before = RankSVM(**settings).fit_data(data)
    proved = found.gap_ + before.gap_ if tol > 1e-10 else 0.0
    assert proved < 1e-7
    assert found.objective_ == pytest.approx(before.objective_, rel=1e-10 + proved)
    apart = sum(np.sqrt(2 * one.gap_ * one.objective_) for one in (found, before))
    assert np.linalg.norm(found.coef_ - before.coef_) <= apart + 1e-9
    np.testing.assert_allclose(found.predict(data.X), before.predict(data.X), atol=2 * apart + 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_solver_factors_more_than_documents(sizes: list[int], solver: str) -> None:
    model = RankSVM("fourier", 4_000, gamma=0.3, C=1.0, solver=solver, max_iter=20).fit_data(DATA)
    assert model.n_components_ == 4_000
    assert max(sizes, default=0) <= N
    optimum = RankSVM("fourier", 4_000, gamma=0.3, C=1.0, tol=1e-9).fit_data(DATA)
    assert optimum.objective_ * (1 - 1e-9) <= model.objective_
    if solver in ("newton", "newton_yuan", "lbfgs"):
        assert model.objective_ == pytest.approx(optimum.objective_, rel=1e-4)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: RankSVM("fourier", 5000, loss="hinge", gamma=0.3, C=0.1, tol=1e-3).fit_data(DATA),
        lambda: RankSVM(C=1.0).fit_data(WIDE),
        lambda: RankSVM("fourier", 5000, gamma=0.3, C=1.0).fit_in_shards(DATA, SHARDS),
        lambda: RegularizedRankSVM(feature_map="fourier", n_components=5000, gamma=0.3, C=1.0).fit_data(DATA),
        lambda: list(fit_curve(RankSVM("fourier", gamma=0.3), DATA, n_components=[2000, 5000], C=[0.1, 1.0])),
    ],
    ids=["hinge", "linear", "shards", "regularised", "curve"],
)
def test_no_way_of_training_factors_more_than_documents(sizes: list[int], fit: Any) -> None:
    fit()
    assert 0 < max(sizes) <= N


def test_a_curve_over_m_gives_the_models_of_single_fits() -> None:
    ms = [N // 2, N + 1, 3 * N, 1500]
    model = RankSVM("fourier", gamma=0.3, C=1.0, tol=1e-12)
    for found in fit_curve(model, DATA, n_components=ms, C=[0.25, 1.0]):
        single = RankSVM("fourier", found.n_components, gamma=0.3, C=found.C, tol=1e-12).fit_data(DATA)
        assert found.objective_ == pytest.approx(single.objective_, rel=1e-10)
        np.testing.assert_allclose(found.predict(X), single.predict(X), atol=1e-5)
        assert single.start_ == "zero", "a start with fewer features would take longer"


@pytest.mark.parametrize("settings", [{"feature_map": "fourier", "n_components": 4 * N}, {}], ids=str)
@pytest.mark.parametrize("C", [2.0**-6, 8.0])
def test_shards_give_the_same_model(settings: dict[str, Any], C: float) -> None:
    data = DATA if settings else WIDE
    settings = settings | {"gamma": 0.3, "C": C, "tol": 1e-12}
    one, model = RankSVM(**settings).fit_data(data), RankSVM(**settings).fit_in_shards(data, SHARDS)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-10)
    assert model.trace_["cg_iterations"].sum() <= one.trace_["cg_iterations"].sum() + 5
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-5)


@pytest.mark.parametrize("feature_map", ["fourier", "nystroem", "linear"])
def test_refits_are_the_models_of_fresh_fits(sizes: list[int], feature_map: str) -> None:
    """There are fewer Nyström features than documents, until queries are left out."""
    data = WIDE if feature_map == "linear" else DATA
    settings = {"feature_map": feature_map, "n_components": 3 * N, "gamma": 0.3, "C": 1.0, "tol": 1e-10}
    model = RankSVM(**settings).fit_data(data)
    refits = refits_of(model, data)
    labels = data.query_labels.tolist()
    changes = [
        [QueryOut(labels[0])],
        [OnlyQueries(tuple(labels[:3]))],
        [GradeSet(labels[1], int(data.rows[PTR[1]]), 4)],
        [FeatureOff(0)],
    ]
    for change in changes:
        after = refits.refit(change)
        assert after.model.status_.converged
        assert after.model.gap_ < 1e-4
        fresh = RankSVM(**settings).fit_data(after.data)
        if feature_map != "nystroem":  # whose fresh fit has landmarks of its own
            assert after.model.objective_ == pytest.approx(fresh.objective_, rel=1e-8)
    assert max(sizes) <= N


def test_estimates_without_queries_are_those_of_factored_features(monkeypatch: pytest.MonkeyPatch) -> None:
    model = RankSVM("fourier", 3 * N, gamma=0.3, C=1.0, tol=1e-10).fit_data(DATA)
    refits = refits_of(model, DATA)
    assert isinstance(refits.curvature, DocumentPreconditioner)
    found = effects_of_queries(refits).changes
    in_features(monkeypatch)
    np.testing.assert_allclose(found, effects_of_queries(refits_of(model, DATA)).changes, atol=1e-7)


@pytest.mark.parametrize("m", [N + 1, 2000, 20_000])
def test_memory_is_counted_for_what_is_factored(m: int) -> None:
    counted = TrainingSizes("fourier", m, N, X.shape[1], 1000).bytes
    assert counted < 8 * (4 * N * m + 20 * N * N) + 64 * m * X.shape[1] + 1e6
    tracemalloc.start()
    RankSVM("fourier", m, gamma=0.3, C=1.0).fit_data(DATA)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < counted + 4e6


def test_one_query_of_many_documents_and_queries_without_pairs() -> None:
    rng = np.random.default_rng(5)
    Z, y = rng.normal(size=(60, 300)) / 10, rng.integers(0, 3, 60)
    few = np.where(np.arange(60) < 20, y, 0)  # four of six queries have one grade
    for qid, grades in ((np.zeros(60, int), y), (np.repeat(np.arange(6), 10), few)):
        data = RankingData.from_arrays(Z, grades, qid)
        model = RankSVM(C=1.0).fit_data(data)
        assert model.status_.converged
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("m", [2**31, 10**400])
def test_no_m_is_too_large_for_a_sentence(m: int) -> None:
    with pytest.raises(SettingError, match="at most 2,147,483,647"):
        RankSVM("fourier", m).fit_data(DATA)
    with pytest.raises(DataError, match="Choose m = "):
        RankSVM("fourier", 2**31 - 1).fit_data(DATA)
