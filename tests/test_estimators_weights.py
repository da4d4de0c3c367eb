"""Weights of queries in fit: the same as repeating them, for every loss, solver, cost and map."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest_estimators import QID, X, Y

from rankviz import (
    NDCG,
    DataError,
    DataWarning,
    FactorizedRankSVM,
    RankingData,
    RankSVM,
    RegularizedRankSVM,
    duals,
    load,
    save,
)
from rankviz.common.errors import SettingError
from rankviz.datasets.parts import take_queries
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import RULES
from rankviz.learning.solvers import SOLVERS

TIMES = np.array([0, 3, 1, 2] * 3)
"""How often each of the twelve queries is meant to stand there."""
IDS = np.unique(QID)
WEIGHTS = TIMES[np.searchsorted(IDS, QID)]
COPIES = [q for q, times in zip(IDS, TIMES, strict=True) for _ in range(times)]
REPEATED = np.concatenate([np.flatnonzero(q == QID) for q in COPIES])
REPEATED_QID = np.repeat(np.arange(len(COPIES)), [np.sum(q == QID) for q in COPIES])

CASES: list[dict[str, Any]] = [
    *({"loss": name} for name in LOSSES),
    *({"costs": name} for name in RULES),
    {"costs": ("query", ((0, 0, 0), (1, 0, 0), (2, 1.5, 0))), "loss": "hinge"},
    *({"solver": name} for name, one in SOLVERS.items() if not one.lists_pairs),
    {"feature_map": "nystroem", "gamma": 0.3, "n_components": 1000},
    {"feature_map": "fourier", "gamma": 0.3, "n_components": 40},
    {"feature_map": "exact", "gamma": 0.3},
    {"feature_map": "exact", "gamma": 0.3, "loss": "hinge"},
]


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_a_whole_weight_is_the_query_so_many_times(settings: dict[str, Any]) -> None:
    settings = {"C": 0.1} | ({} if settings.get("solver") == "newton_yuan" else {"tol": 1e-8}) | settings
    weighed = RankSVM(**settings).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    repeated = RankSVM(**settings).fit(X[REPEATED], Y[REPEATED], qid=REPEATED_QID)
    rel = 1e-6 if settings.get("solver") == "newton_yuan" else 1e-7
    assert weighed.objective_ == pytest.approx(repeated.objective_, rel=rel)
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), atol=2e-3)
    plain = RankSVM(**settings).fit(X, Y, qid=QID)
    assert weighed.objective_ != pytest.approx(plain.objective_, rel=1e-2)


@pytest.mark.parametrize("solver", [name for name, one in SOLVERS.items() if one.lists_pairs])
def test_solvers_that_draw_come_to_the_weighed_optimum(solver: str) -> None:
    if "printed" in solver:
        pytest.skip("the printed steps stay far from any optimum")
    best = RankSVM(C=0.1, tol=1e-9).fit(X, Y, qid=QID, sample_weight=WEIGHTS).objective_
    drawn = RankSVM(C=0.1, solver=solver, tol=1e-2, max_iter=1000).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    assert best * (1 - 1e-9) <= drawn.objective_ <= best * 1.02


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_fractions_weigh_too(loss: str) -> None:
    """Weights and C trade: s times C is C and s times weights."""
    here = RankSVM(C=0.1, loss=loss, tol=1e-9).fit(X, Y, qid=QID, sample_weight=0.5 * WEIGHTS)
    there = RankSVM(C=0.05, loss=loss, tol=1e-9).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    assert here.objective_ == pytest.approx(there.objective_, rel=1e-9)
    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-6)


def test_weight_one_is_no_weight_and_weight_zero_is_no_query() -> None:
    ones = RankSVM(C=0.1).fit(X, Y, qid=QID, sample_weight=np.ones(len(Y)))
    assert np.array_equal(ones.predict(X), RankSVM(C=0.1).fit(X, Y, qid=QID).predict(X))
    there = WEIGHTS > 0
    settings: dict[str, Any] = {
        "feature_map": "nystroem",
        "n_components": 15,
    }  # γ and landmarks are of documents
    left = RankSVM(**settings).fit(X, Y, qid=QID, sample_weight=there)
    without = RankSVM(**settings).fit(X[there], Y[there], qid=QID[there])
    assert np.array_equal(left.predict(X), without.predict(X))
    assert (left.gamma_, left.n_pairs_) == (without.gamma_, without.n_pairs_)


def test_weights_go_with_their_documents_where_queries_stand_apart() -> None:
    order = np.random.default_rng(0).permutation(len(Y))
    here = RankSVM(C=0.1, tol=1e-9).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    there = RankSVM(C=0.1, tol=1e-9).fit(X[order], Y[order], qid=QID[order], sample_weight=WEIGHTS[order])
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-8)
    shuffled = here.score(X[order], Y[order], qid=QID[order], sample_weight=WEIGHTS[order])
    assert shuffled == pytest.approx(here.score(X, Y, qid=QID, sample_weight=WEIGHTS))


def test_weights_of_a_part_are_in_its_own_order() -> None:
    """Its `rows` are those of the whole, and no places in the list of weights."""
    data, model = RankingData.from_arrays(X, Y, QID), RankSVM(C=0.1).fit(X, Y, qid=QID)
    counted = np.flatnonzero(NDCG(10).per_query(model.predict(X), data).notna())
    part = take_queries(data, counted[[-1, 2]])
    weights = np.repeat([1.0, 3.0], np.diff(part.ptr))
    values = NDCG(10).per_query(model.predict(part.X), part)
    mean = NDCG(10)(model.predict(part.X), part, sample_weight=weights)
    assert mean == pytest.approx((values.iloc[0] + 3 * values.iloc[1]) / 4)


def test_dual_variables_of_a_weighed_model_make_its_weights(tmp_path: Path) -> None:
    there = WEIGHTS > 0
    data = RankingData.from_arrays(X[there], Y[there], QID[there])
    model = RankSVM(C=0.1, tol=1e-10).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    for one in (model, load(save(model, tmp_path / "model.npz"))):
        found = duals(one, data)
        w = np.zeros(X.shape[1])
        for q in range(data.n_queries):
            block = found.block(q)
            rows = data.X[data.query_slice(q)]
            w += (block.alpha[:, :, None] * (rows[block.winners][:, None] - rows[block.losers][None])).sum(
                (0, 1)
            )
        np.testing.assert_allclose(w, model.coef_, atol=2e-4)  # apart by the gradient that is left
        with pytest.raises(DataError, match="with a positive weight"):
            duals(one, RankingData.from_arrays(X, Y, QID))
        with pytest.raises(DataError, match="order of queries differ"):
            duals(one, take_queries(data, np.arange(data.n_queries)[::-1]))
        named = RankingData.from_arrays(X[there], Y[there], [f"query {q}" for q in QID[there]])
        assert np.array_equal(duals(one, named).document_weights(), found.document_weights())


def test_a_fit_without_weights_forgets_them() -> None:
    model = RankSVM(C=0.1).fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    assert model.query_weights_.tolist() == TIMES[TIMES > 0].tolist()
    assert model.fit(X, Y, qid=QID).query_weights_ is None


@pytest.mark.parametrize("ranker", [FactorizedRankSVM, RegularizedRankSVM])
def test_models_that_cannot_weigh_say_why(ranker: type) -> None:
    with pytest.raises(SettingError, match="no sample_weight: all its dual variables share the bound C"):
        ranker().fit(X, Y, qid=QID, sample_weight=WEIGHTS)


@pytest.mark.parametrize("weights", [np.arange(len(Y)), -WEIGHTS, np.where(WEIGHTS == 1, np.nan, 1.0)])
def test_weights_that_are_none_of_queries_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(DataError, match="sample_weight"):
        RankSVM().fit(X, Y, qid=QID, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e150, 1e-200])
def test_extreme_weights_are_refused_or_train(factor: float) -> None:
    if factor > 1:
        with pytest.raises(SettingError, match="C up to"):
            RankSVM(C=0.1).fit(X, Y, qid=QID, sample_weight=factor * WEIGHTS)
    else:
        with pytest.warns(DataWarning, match="every weight is 0.*C is too small"):
            model = RankSVM(C=0.1).fit(X, Y, qid=QID, sample_weight=factor * WEIGHTS)
        assert np.isfinite(model.predict(X)).all()
