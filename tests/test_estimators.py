"""RankSVM: scikit-learn's conventions, bad settings and data, progress and stopping, and the real folds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from conftest_estimators import QID, X, Y, each_map, fitted, model
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankviz
from rankviz import DataError, Progress, RankSVM
from rankviz.datasets import RankingData, make_data
from rankviz.features import FEATURE_MAPS
from rankviz.learning.objective import Status

# --- scikit-learn's conventions ---------------------------------------------------------------------------


def test_documents_are_copied_only_for_a_model_that_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    shared: list[bool] = []
    training = RankSVM.training

    def noted(self: RankSVM, data: RankingData, *given: Any, **named: Any) -> Any:
        shared.append(np.shares_memory(data.X, ours))
        assert not data.X.flags.writeable
        return training(self, data, *given, **named)

    monkeypatch.setattr(RankSVM, "training", noted)
    for name in FEATURE_MAPS:
        ours = X.copy()
        before = (RankSVM(name) if name in ("linear", "exact") else model(name)).fit(ours, Y, qid=QID)
        scores = before.predict(X)
        ours[:] = 0.0  # the caller's array is the caller's again
        np.testing.assert_array_equal(before.predict(X), scores)
    assert dict(zip(FEATURE_MAPS, shared, strict=True)) == {name: name != "exact" for name in FEATURE_MAPS}
    apart = np.argsort(np.arange(len(Y)) % 2, kind="stable")  # every query in two runs
    ours = X[apart]
    found = model("nystroem").fit(ours, Y[apart], qid=QID[apart])
    assert not shared[-1]
    assert np.isfinite(found.objective_)


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        RankSVM().predict(X)


@each_map
def test_what_a_fit_leaves(name: str) -> None:
    svm = fitted(name)
    assert svm.coef_.shape == (svm.n_components_,)
    assert (svm.n_features_in_, svm.status_, svm.n_pairs_) == (
        4,
        Status.CONVERGED,
        svm.trace_["active_pairs"][0],
    )
    assert svm.objective_ == svm.trace_["objective"].iloc[-1]
    assert svm.n_iter_ == len(svm.trace_) - 1
    assert list(svm.seconds_) == ["features", "pairs", "newton"]
    assert isinstance(svm.trace_, pd.DataFrame)
    scores = svm.predict(X)
    wrong = [max(0, 1 - scores[i] + scores[j]) ** 2 for i, j in _pairs()]
    assert svm.objective_ == pytest.approx(svm.coef_ @ svm.coef_ / 2 + 0.1 * sum(wrong))


def _pairs() -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(Y)) for j in range(len(Y)) if QID[i] == QID[j] and Y[i] > Y[j]]


def test_grid_search_by_query_chooses_sensibly() -> None:
    """The signal is smooth and has no linear part, so a kernel with enough landmarks wins."""
    data = make_data(
        n_queries=40, documents_per_query=(12, 20), n_features=5, nonlinearity=1, noise=0.1, seed=3
    )
    kernels = {"feature_map": ["nystroem"], "n_components": np.array([2, 80]), "gamma": [2.0], "C": [1.0]}
    with sklearn.config_context(enable_metadata_routing=True):
        svm = RankSVM().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(svm, [{"C": [1e-4, 1e-2]}, kernels], cv=GroupKFold(3))
        search.fit(data.X, data.y, qid=data.qid, groups=data.qid)
    best = search.best_estimator_
    assert (best.feature_map, best.n_components) == ("nystroem", 80)
    scores = search.cv_results_["mean_test_score"]
    assert scores[3] > max(scores[:3]) + 0.02
    assert best.score(data.X, data.y, qid=data.qid) > search.best_score_


def test_in_a_pipeline() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        svm = RankSVM(C=0.1).set_fit_request(qid=True).set_score_request(qid=True)
        pipe = make_pipeline(StandardScaler(), svm).fit(100 * X + 5, Y, qid=QID)
        by_hand = RankSVM(C=0.1).fit(StandardScaler().fit_transform(100 * X + 5), Y, qid=QID)
        np.testing.assert_allclose(
            pipe.predict(100 * X + 5), by_hand.predict(StandardScaler().fit_transform(X))
        )


def test_score_is_the_mean_ndcg_at_10() -> None:
    svm, data = fitted(), rankviz.RankingData.from_arrays(X, Y, QID)
    for chosen, at in (("textbook", 10), ("letor", 10), ("he2009", 3)):
        expected = rankviz.evaluate(svm.predict(X), data, chosen, at=[at]).mean[f"NDCG@{at}"]
        assert svm.score(X, Y, qid=QID, definition=chosen, at=at) == pytest.approx(expected, rel=1e-15)
    assert svm.score(X, Y, qid=QID) == svm.score(X, Y, qid=QID, definition="textbook")


# --- bad settings and bad data ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": X[:, 0]}, "shape"),
        ({"y": Y[:-1]}, "grades"),
        ({"qid": QID[:-1]}, "query ids"),
        ({"X": np.where(np.arange(4) == 2, np.nan, X)}, "feature 3 of document 1"),
        ({"X": X * 1e200}, "beyond"),
        ({"X": X[:, :0]}, "0 features"),
        ({"X": X[:0], "y": Y[:0], "qid": QID[:0]}, "0 documents"),
        ({"y": Y + 0.5}, "grade"),
    ],
)
def test_data_that_cannot_be_fitted(change: dict[str, np.ndarray], words: str) -> None:
    data = {"X": X, "y": Y, "qid": QID} | change
    with pytest.raises(DataError, match=words):
        model().fit(data["X"], data["y"], qid=data["qid"])


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (X[:, :3], r"\(.*, 4\)"),
        (X[0], r"shape \(4,\)"),
        (np.where(np.arange(4) == 1, np.nan, X), "feature 2 of document 1 is nan"),
        (X + 1j, "Complex data not supported"),
        ([[1, 2, 3, 4], [1, 2]], "not numbers"),
        (X * 1e200, "beyond"),
    ],
)
def test_data_that_cannot_be_scored(documents: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        fitted().predict(documents)


# --- progress and stopping --------------------------------------------------------------------------------


def test_stopped_during_newton_keeps_the_weights() -> None:
    svm = model("nystroem", C=10.0).fit(
        X, Y, qid=QID, callback=lambda p: (p.record or {}).get("iteration") == 1
    )
    assert (svm.status_, svm.n_iter_, len(svm.trace_)) == (Status.STOPPED, 2, 2)
    assert svm.objective_ < svm.trace_["objective"].iloc[-1]
    at_once = model().fit(X, Y, qid=QID, callback=lambda p: p.stage == "newton")
    assert (at_once.status_, at_once.n_iter_, len(at_once.trace_)) == (Status.STOPPED, 0, 0)
    assert at_once.predict(X).tolist() == [0.0] * len(X)


# --- the real folds ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ohsumed(letor_root: Path) -> dict[int, rankviz.Fold]:
    return {k: rankviz.load_fold(letor_root / "OHSUMED", k) for k in range(1, 6)}


def mean_of_folds(ohsumed: dict[int, rankviz.Fold], **settings: object) -> pd.Series:
    rows = []
    for fold in ohsumed.values():
        svm = RankSVM(**settings).fit_data(fold.train)
        rows.append(rankviz.evaluate(svm.predict(fold.test.X), fold.test).mean)
    return pd.DataFrame(rows).mean()


def test_ohsumed_linear_table(ohsumed: dict[int, rankviz.Fold]) -> None:
    """chapelle2010 Table 3 prints 0.454."""
    mean = mean_of_folds(ohsumed, C=1e-4)
    assert mean["NDCG@10"] == pytest.approx(0.4536, abs=2e-4)
    assert mean["MAP"] == pytest.approx(0.4471, abs=2e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_ohsumed_nystroem_table(ohsumed: dict[int, rankviz.Fold], seed: int) -> None:
    """chen2017 Table 4, RankNyström."""
    printed = {
        "NDCG@1": 0.5730,
        "NDCG@3": 0.4874,
        "NDCG@5": 0.4780,
        "P@1": 0.6801,
        "P@3": 0.5890,
        "MAP": 0.4473,
    }
    mean = mean_of_folds(
        ohsumed, feature_map="nystroem", n_components=500, gamma=2.0**-6, C=2.0**-7, random_state=seed
    )
    for name, value in printed.items():
        assert mean[name] == pytest.approx(value, abs=6e-4), name


def test_a_fit_counts_its_memory_before_it_starts() -> None:
    told: list[Progress] = []
    fit = model("nystroem").fit(X, Y, qid=QID)
    assert 0 < fit.memory_need_ < 1e9
    small = model("nystroem").set_params(memory_limit=fit.memory_need_ * 0.6)
    with pytest.raises(DataError, match="needs about"):
        small.fit(X, Y, qid=QID, callback=told.append)
    assert not told
    assert model("nystroem").set_params(memory_limit=fit.memory_need_).fit(X, Y, qid=QID).n_iter_ > 0
