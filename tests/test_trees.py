"""MART and random forest against scikit-learn called by hand; trees as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from rankviz import MART, Fold, LambdaMART, RandomForest
from rankviz.datasets import make_fold
from rankviz.models.rounds import RoundRanker

MODELS: dict[str, RoundRanker] = {
    "lambdamart": LambdaMART(n_rounds=12, leaves=5, leaf_documents=5),
    "mart": MART(n_rounds=23, leaves=6, leaf_documents=5, patience=0),
    "forest": RandomForest(n_rounds=12, leaf_documents=3),
}
each = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=30, documents_per_query=(12, 30), n_features=8, seed=5)


def by_hand(name: str, n: int) -> Any:
    if name == "mart":
        return HistGradientBoostingRegressor(
            max_iter=n, max_leaf_nodes=6, min_samples_leaf=5, early_stopping=False, random_state=0
        )
    return RandomForestRegressor(n, max_features=0.3, min_samples_leaf=3, random_state=0)


@pytest.mark.parametrize("name", ["mart", "forest"])
def test_scores_are_those_of_scikit_learn_called_by_hand(name: str, fold: Fold) -> None:
    ours = MODELS[name].fit_data(fold.train)
    theirs = by_hand(name, ours.n_rounds).fit(fold.train.X, fold.train.y)
    for part in fold.parts.values():
        np.testing.assert_array_equal(ours.predict(part.X), theirs.predict(part.X))
    if name == "forest":
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


def test_mart_keeps_the_best_round_of_the_validation_part(fold: Fold) -> None:
    model = MART(n_rounds=200, leaves=6, leaf_documents=5, patience=8).fit_watching(fold.train, fold.vali)
    best = int(model.trace_["validation"][1:].idxmax())
    assert model.n_rounds_ == best == len(model.trace_) - 1 - 8
    theirs = by_hand("mart", best).fit(fold.train.X, fold.train.y)
    np.testing.assert_array_equal(model.predict(fold.test.X), theirs.predict(fold.test.X))


def test_a_forest_keeps_all_trees(fold: Fold) -> None:
    model = RandomForest(n_rounds=9, leaf_documents=3).fit_watching(fold.train, fold.vali)
    assert model.n_rounds_ == len(model.trees_.roots) == 9
    assert "validation" in model.trace_


@each
def test_the_score_after_each_round_is_measured(name: str, fold: Fold) -> None:
    """The last row of the trace is the score of the whole model."""
    model = MODELS[name].fit_data(fold.train)
    found = model.score(fold.train.X, fold.train.y, qid=fold.train.qid, definition="letor")
    with_ties = model.trace_["training"].iloc[-1]
    assert found == pytest.approx(with_ties, abs=0.02)


@each
def test_stop_between_rounds_keeps_those_so_far(name: str, fold: Fold) -> None:
    model = MODELS[name]
    model.fit_data(fold.train, callback=lambda p: p.record is not None and p.record["iteration"] == 5)
    assert model.outcome().stopped
    assert model.n_rounds_ == len(model.trees_.roots) == 5
    assert "stopped on request after 5 rounds" in model.status_
