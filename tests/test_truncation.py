"""Blocks cut down to rank k against dense decompositions and plain loops over pairs."""

import numpy as np
import pytest
from naive_dual import part_of
from naive_ranking import problem, qid_of, random_grades, slow_pairs

import rankviz
from rankviz.datasets import RankingData
from rankviz.features import exact
from rankviz.learning.losses import LOSSES
from rankviz.models.dual_truncation import BlockSVD, Truncator
from rankviz.models.dual_variables import SlopeDuals

MAPS = {
    "linear": {},
    "nystroem": {"feature_map": "nystroem", "n_components": 20, "gamma": 0.3},
    "fourier": {"feature_map": "fourier", "n_components": 20, "gamma": 0.3},
}


def data_of(seed: int, n_grades: int) -> RankingData:
    X, y, ptr = problem(seed, n_queries=6, n_grades=n_grades)
    return RankingData.from_arrays(X, y, qid_of(ptr))


def slow_cut(
    duals: rankviz.models.dual_variables.Duals, Phi: np.ndarray, k: int, queries: list[int]
) -> dict[str, object]:
    """w_k, ‖α^k − α‖², ‖α‖² and Σ_{i≤k} σ² of some queries' blocks, pair by pair."""
    train, w, lost, size, kept = duals.train, np.zeros(Phi.shape[1]), 0.0, 0.0, 0.0
    for query in range(train.n_queries):
        first, A = train.query_slice(query).start, duals.block(query).full()
        U, s, Vt = np.linalg.svd(A)
        cut = (U[:, :k] * s[:k]) @ Vt[:k] if query in queries else A
        kept += (s[:k] ** 2).sum() if query in queries else 0.0
        for i, j in slow_pairs(duals.block(query).y, np.array([0, len(A)])):
            w += cut[i, j] * (Phi[first + i] - Phi[first + j])
            lost += (cut[i, j] - A[i, j]) ** 2
            size += A[i, j] ** 2 if query in queries else 0.0
    return {"w": w, "lost": lost, "size": size, "kept": kept}


@pytest.mark.parametrize("n_grades", [2, 3, 5])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("one", [None, 2])
def test_what_is_lost_is_what_plain_loops_find(name: str, n_grades: int, one: int | None) -> None:
    data = data_of(1, n_grades)
    model = rankviz.RankSVM(C=0.5, loss="hinge", **MAPS[name]).fit_data(data)
    duals, Phi = rankviz.duals(model, data), model.feature_map_.operator(data.X).dense()
    truncator = Truncator(duals, model.feature_map_)
    found = truncator.every_query((2, 1, 3, 2)) if one is None else truncator.one_query(one, (1, 2, 3))
    queries = list(range(data.n_queries)) if one is None else [one]
    whole = slow_cut(duals, Phi, 99, queries)
    assert found.table["k"].tolist()[:2] == [1, 2]
    for column, row in enumerate(found.table.itertuples()):
        slow = slow_cut(duals, Phi, row.k, queries)
        np.testing.assert_allclose(found.weights[:, column], slow["w"], atol=1e-12)
        assert row.energy == pytest.approx(slow["kept"] / slow["size"], abs=1e-12)
        assert row.alpha_error == pytest.approx(np.sqrt(slow["lost"] / slow["size"]), abs=1e-7)
        apart = np.linalg.norm(slow["w"] - whole["w"]) / np.linalg.norm(whole["w"])
        assert row.w_error == pytest.approx(apart, abs=1e-12)
        np.testing.assert_allclose(found.scores(data.X)[:, column], Phi @ slow["w"], atol=1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_at_full_rank_nothing_is_lost(name: str) -> None:
    """The weights are the model's own less its gradient, and the ranking is exactly theirs."""
    data = data_of(2, 4)
    model = rankviz.RankSVM(C=0.5, tol=1e-12, **MAPS[name]).fit_data(data)
    truncator = Truncator(rankviz.duals(model, data), model.feature_map_)
    table = truncator.every_query().ranked(data)
    own = rankviz.evaluate(model.feature_map_.operator(data.X).product(truncator.w), data).mean
    last = table.iloc[-1]
    assert (last["energy"], last["alpha_error"], last["w_error"]) == (1, 0, 0)
    assert (last["NDCG@10"], last["MAP"]) == (own["NDCG@10"], own["MAP"])
    np.testing.assert_allclose(truncator.w, model.coef_, atol=1e-4 * np.linalg.norm(model.coef_))
    assert table["energy"].is_monotonic_increasing
    two = Truncator(rankviz.duals(model, data), model.feature_map_).one_query(0)
    assert two.table["k"].tolist() == list(range(1, len(two.table) + 1))


def test_the_exact_kernels_own_space_loses_what_its_features_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data, settings = data_of(3, 3), {"feature_map": "exact", "gamma": 0.3, "C": 0.5, "tol": 1e-12}
    tables = []
    for small in (exact.SMALL, 1):
        monkeypatch.setattr(exact, "SMALL", small)
        model = rankviz.RankSVM(**settings).fit_data(data)
        truncator = Truncator(rankviz.duals(model, data), model.feature_map_)
        tables.append((truncator.every_query().ranked(data), truncator.one_query(1).ranked(data)))
    assert isinstance(model.feature_map_, exact.FittedExact)
    for features, kernel in zip(*tables, strict=True):
        np.testing.assert_allclose(kernel, features, atol=1e-5)


@pytest.mark.parametrize("n_grades", [2, 4])
def test_two_grades_leave_exactly_the_tail_and_more_at_most_that(n_grades: int) -> None:
    y, ptr = random_grades(4, n_grades, sizes=(5, 15))
    part, f = part_of(y, ptr), np.random.default_rng(4).normal(size=len(y))
    duals = SlopeDuals(part, f, 0.5, LOSSES["squared_hinge"])
    for block in duals:
        whole = BlockSVD.of(block)
        for k in range(1, 6):
            lost = np.sum((whole.truncated(k).alpha - block.alpha) ** 2)
            tail = np.sum(whole.values[k:] ** 2)
            assert lost <= tail + 1e-12
            assert n_grades > 2 or lost == pytest.approx(tail, abs=1e-12)
            assert np.linalg.matrix_rank(whole.truncated(k).alpha, tol=1e-10) <= k * (n_grades - 1)


def test_without_pairs_nothing_is_there_to_lose() -> None:
    data = RankingData.from_arrays(np.ones((3, 2)), np.zeros(3), np.array([1, 1, 2]))
    model = rankviz.RankSVM().fit_data(data)
    table = Truncator(rankviz.duals(model, data), model.feature_map_).every_query().ranked(data)
    assert table.to_numpy().tolist() == [[1, 1, 0, 0, 0, 0]]
