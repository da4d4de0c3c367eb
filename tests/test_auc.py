"""AUC against scikit-learn's and plain loops, and the risk as a bound of its complement."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rankviz import RankingData, RankSVM
from rankviz.learning import SortedRisk, risk_of
from rankviz.learning.losses import LOSSES, SmoothedHinge, SmoothHinge
from rankviz.metrics import auc

BOUNDS = LOSSES | {"smoothed": SmoothedHinge(0.4), "narrow": SmoothHinge(1e-3)}


def binary(n: int, seed: int = 0, d: int = 3) -> RankingData:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0.7).astype(np.int64)
    return RankingData.from_arrays(X, y, np.zeros(n, np.int64))


def slow_auc(f: np.ndarray, y: np.ndarray, ties: float) -> float:
    pairs = [(a, b) for a in f[y == 1] for b in f[y == 0]]
    return sum(1.0 if a > b else ties if a == b else 0.0 for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("n", [40, 1200, 300_000])
@pytest.mark.parametrize("digits", [15, 1, 0])
def test_equals_scikit_learn_with_ties_as_halves(n: int, digits: int) -> None:
    data = binary(n)
    f = np.round(data.X[:, 0], digits)
    assert auc(f, data) == pytest.approx(roc_auc_score(data.y, f), abs=1e-12)


@pytest.mark.parametrize("ties", [0.0, 0.5, 1.0])
def test_equals_loops_whatever_ties_count(ties: float) -> None:
    data = binary(60)
    f = np.round(data.X[:, 0], 0)
    assert auc(f, data, ties=ties) == pytest.approx(slow_auc(f, data.y, ties), abs=1e-15)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("seed", range(5))
def test_risk_over_pairs_bounds_the_complement(name: str, seed: int) -> None:
    loss, data = BOUNDS[name], binary(300, seed)
    at_zero = float(loss.value(np.zeros(1))[0])
    for f in (data.X[:, 0], -data.X[:, 1], 10 * data.X[:, 0], np.round(data.X[:, 0]), 0 * data.X[:, 0]):
        risk = sum(loss.value(f[i] - f[data.y == 0]).sum() for i in np.flatnonzero(data.y))
        pairs = data.y.sum() * (1 - data.y).sum()
        assert 1 - auc(f, data, ties=0.0) <= risk / (pairs * at_zero) * (1 + 1e-12)


def test_the_losses_at_zero_are_what_the_documentation_says() -> None:
    for name in ("squared_hinge", "hinge", "huber", "smooth_hinge", "narrow"):
        assert BOUNDS[name].value(np.zeros(1))[0] == pytest.approx(1.0)
    assert LOSSES["logistic"].value(np.zeros(1))[0] == pytest.approx(np.log(2))
    assert SmoothedHinge(0.4).value(np.zeros(1))[0] == pytest.approx(0.8)


def test_training_on_many_examples_lists_no_pair() -> None:
    data = binary(300_000)
    assert isinstance(risk_of(data.y, data.ptr, LOSSES["squared_hinge"]), SortedRisk)
    svm = RankSVM(C=1e-9, max_iter=5).fit_data(data)
    assert svm.n_pairs_ == int(data.y.sum()) * int((1 - data.y).sum())
    found = auc(svm.predict(data.X), data)
    assert found == pytest.approx(roc_auc_score(data.y, svm.predict(data.X)), abs=1e-12)
    loss = (svm.objective_ - svm.coef_ @ svm.coef_ / 2) / svm.C
    assert 1 - found <= loss / svm.n_pairs_
    assert found > 0.7


def test_without_a_pair_there_is_none() -> None:
    data = RankingData.from_arrays(np.ones((3, 1)), [1, 1, 1], [0, 0, 0])
    assert np.isnan(auc(np.arange(3.0), data))


@pytest.mark.parametrize(("y", "qid"), [([0, 1, 2], [0, 0, 0]), ([0, 1, 1], [0, 1, 1])])
def test_other_data_are_refused(y: list[int], qid: list[int]) -> None:
    with pytest.raises(ValueError, match="one query with two grades"):
        auc(np.arange(3.0), RankingData.from_arrays(np.ones((3, 1)), y, qid))
