"""scikit-learn's own checks of estimators: all of them pass, for every estimator.

Its checks know no queries, so each estimator is wrapped as one that takes all documents for those of one
query. Weights are of queries, and stay outside: within one query there is nothing to weigh.
"""

from typing import Any

import numpy as np
import pytest
from conftest_estimators import QID, X, Y
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankviz import DataError, FactorizedRankSVM, RankingData, RankSVM, RegularizedRankSVM


class OfOneQuery:
    """All documents are of one query."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y, qid=_zeros(X))  # type: ignore[misc]

    def score(self, X: Any, y: Any) -> float:
        return float(super().score(X, y, qid=_zeros(X)))  # type: ignore[misc]


class Plain(OfOneQuery, RankSVM):
    pass


class Factorized(OfOneQuery, FactorizedRankSVM):
    pass


class Regularized(OfOneQuery, RegularizedRankSVM):
    pass


WRAPPED = {RankSVM: Plain, FactorizedRankSVM: Factorized, RegularizedRankSVM: Regularized}


def _zeros(X: Any) -> np.ndarray:
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), int)


each = pytest.mark.parametrize("ranker", WRAPPED)


@pytest.mark.filterwarnings("ignore::rankviz.SettingWarning")  # checks set n_components where they find it
@parametrize_with_checks([wrapped() for wrapped in WRAPPED.values()])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@each
def test_the_wrapper_hides_nothing_but_qid(ranker: type) -> None:
    wrapped, plain = WRAPPED[ranker]().fit(X, Y), ranker().fit(X, Y, qid=np.zeros(len(Y)))
    np.testing.assert_array_equal(wrapped.coef_, plain.coef_)


@each
def test_query_ids_that_are_missing_are_asked_for(ranker: type) -> None:
    with pytest.raises(DataError, match=r"qid is None.*Pass qid=.*set_fit_request\(qid=True\).*zeros"):
        ranker().fit(X, Y)
    with pytest.raises(DataError, match="qid is None"):
        ranker().fit(X, Y, qid=QID).score(X, Y)


def test_a_data_set_in_the_place_of_features_is_told_what_to_pass() -> None:
    data, model = RankingData.from_arrays(X, Y, QID), RankSVM().fit(X, Y, qid=QID)
    for wrong in (
        lambda: model.predict(data),
        lambda: model.fit(data, Y, qid=QID),
        lambda: model.score(data, Y, qid=QID),
    ):
        with pytest.raises(DataError, match=r"a RankingData instead of features.*Pass its features: data\.X"):
            wrong()


def test_grades_as_scikit_learn_takes_them() -> None:
    expected = RankSVM().fit(X, Y, qid=QID).coef_
    np.testing.assert_array_equal(RankSVM().fit(X, Y.astype(object), qid=QID).coef_, expected)
    np.testing.assert_array_equal(RankSVM().fit(X, Y.astype(float), qid=QID).coef_, expected)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = RankSVM().fit(X, Y[:, None], qid=QID)
    np.testing.assert_array_equal(model.coef_, expected)
    for wrong, words in (
        (Y.astype(str), "not numbers"),
        (np.where(Y == 2, "a", Y.astype(object)), "not numbers"),
        (Y + 1j, "not numbers"),
        (None, "the target y is None"),
        (Y[:, None].repeat(2, 1), "shape"),
    ):
        with pytest.raises(DataError, match=words):
            RankSVM().fit(X, wrong, qid=QID)
