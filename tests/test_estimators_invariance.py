"""RankSVM: what must not matter to it (order, blocks, units, the preconditioner), and odd data."""

import numpy as np
import pandas as pd
import pytest
from conftest_estimators import MAPS, QID, X, Y, each_map, fitted, model
from naive_ranking import NOTHING_TO_LEARN

from rankviz import DataWarning
from rankviz.learning.objective import Status
from rankviz.models import feature_ranker

# --- repeatable, and indifferent to order -----------------------------------------------------------------


def test_other_random_states() -> None:
    draws = [fitted("fourier", random_state=np.random.RandomState(3)).predict(X) for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    state = np.random.RandomState(3)
    first, second = (fitted("fourier", random_state=state).predict(X) for _ in range(2))
    assert not np.array_equal(first, second)
    assert fitted("fourier", random_state=None).status_ is Status.CONVERGED
    np.testing.assert_array_equal(
        fitted("fourier", random_state=np.int64(2)).coef_, fitted("fourier", random_state=2).coef_
    )


@each_map
def test_the_order_of_documents_and_queries_does_not_matter(name: str) -> None:
    # landmarks are drawn by position, so all documents are taken; the truncated map drops some of them again
    settings = {"tol": 1e-10} | ({"n_components": len(X)} if MAPS[name].get("n_components") else {})
    order = np.random.default_rng(0).permutation(len(X))
    here, there = fitted(name, **settings), model(name, **settings).fit(X[order], Y[order], qid=QID[order])
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-7)
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=1e-4)


@each_map
def test_scores_belong_to_their_rows(name: str) -> None:
    svm, order = fitted(name), np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(svm.predict(X[order]), svm.predict(X)[order], atol=1e-12)
    assert svm.score(X[order], Y[order], qid=QID[order]) == pytest.approx(svm.score(X, Y, qid=QID))
    assert svm.predict(X[:0]).shape == (0,)
    np.testing.assert_allclose(svm.predict(pd.DataFrame(X)), svm.predict(X.tolist()))


@each_map
@pytest.mark.parametrize("entries", [1, 100, 10_000])
def test_predicting_in_blocks_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, entries: int
) -> None:
    svm = fitted(name)
    whole = svm.predict(X)
    monkeypatch.setattr(feature_ranker, "PREDICT_ENTRIES", entries)
    np.testing.assert_allclose(svm.predict(X), whole, rtol=1e-12, atol=1e-13)


# --- odd data ---------------------------------------------------------------------------------------------


@each_map
@pytest.mark.parametrize(("features", "grades"), NOTHING_TO_LEARN.values(), ids=NOTHING_TO_LEARN)
def test_data_with_nothing_to_learn(name: str, features: np.ndarray, grades: list[int]) -> None:
    one_grade = len(set(grades)) == 1
    with pytest.warns(DataWarning, match="no query" if one_grade else "every weight is 0"):
        svm = model(name, gamma="scale").fit(features, grades, qid=[1] * len(grades))
    assert svm.status_ is Status.CONVERGED
    assert svm.objective_ == pytest.approx(0.1 * svm.n_pairs_)
    np.testing.assert_allclose(svm.predict(features), 0, atol=1e-9)


def test_scale_gamma_makes_the_unit_of_features_irrelevant() -> None:
    one, other = (model("nystroem", gamma="scale").fit(s * X, Y, qid=QID) for s in (1.0, 1e5))
    assert one.gamma_ == pytest.approx(1 / (4 * X.var()))
    assert other.gamma_ == pytest.approx(1e-10 * one.gamma_)
    np.testing.assert_allclose(other.predict(1e5 * X), one.predict(X), atol=1e-6)
    assert fitted("nystroem", gamma=1).gamma_ == 1.0
