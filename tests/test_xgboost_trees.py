"""LambdaMART by XGBoost: XGBoost called by hand, and a sentence where it is not installed."""

import numpy as np
import pytest

from rankviz import DataError, Fold, RankingData, XGBoostRanker
from rankviz.datasets import make_fold

xgboost = pytest.importorskip("xgboost")
SMALL = {"n_rounds": 25, "leaves": 6, "leaf_weight": 0.3, "learning_rate": 0.2}


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=40, documents_per_query=(12, 30), n_features=8, seed=3)


def test_scores_are_those_of_xgboost_called_by_hand(fold: Fold) -> None:
    ours = XGBoostRanker(**SMALL).fit_data(fold.train)
    theirs = xgboost.XGBRanker(
        n_estimators=25,
        objective="rank:ndcg",
        tree_method="hist",
        grow_policy="lossguide",
        max_depth=0,
        max_leaves=6,
        min_child_weight=0.3,
        learning_rate=0.2,
        lambdarank_num_pair_per_sample=30,
        lambdarank_pair_method="topk",
        random_state=0,
        n_jobs=1,
    ).fit(fold.train.X, fold.train.y, qid=fold.train.qid)
    for part in fold.parts.values():
        np.testing.assert_allclose(ours.predict(part.X), theirs.predict(part.X), rtol=1e-5, atol=1e-6)
    leaves = theirs.get_booster().predict(xgboost.DMatrix(fold.test.X), pred_leaf=True).astype(int)
    X = fold.test.X.astype(np.float32)
    for t, root in enumerate(ours.trees_.roots):  # every document ends in the same leaf
        np.testing.assert_array_equal(ours.trees_._leaves(X, int(root)) - root, leaves[:, t])
    gains = theirs.get_booster().get_score(importance_type="total_gain")
    own = np.array([gains.get(f"f{j}", 0.0) for j in range(8)])
    np.testing.assert_allclose(ours.feature_importances_, own / own.sum(), rtol=1e-4)


def test_early_stopping_keeps_the_best_round_by_our_measure(fold: Fold) -> None:
    model = XGBoostRanker(**(SMALL | {"n_rounds": 200}), patience=10).fit_watching(fold.train, fold.vali)
    assert model.n_rounds_ == int(model.trace_["validation"][1:].idxmax()) < len(model.trace_) - 1


def test_grades_that_xgboost_does_not_take_are_named() -> None:
    data = RankingData.from_arrays(np.eye(2), [32, 0], [1, 1])
    with pytest.raises(DataError, match="grade 32"):
        XGBoostRanker().fit_data(data)
