"""Kernels of products of features far from zero: right, or refused."""

from typing import Any

import numpy as np
import pytest

from rankviz import DataError, FactorizedRankSVM, RankSVM

RNG = np.random.default_rng(1)
X = RNG.normal(size=(900, 10))
QID = np.repeat(np.arange(30), 30)
Y = np.clip(np.round(X[:, 0]), 0, 2).astype(int)
KERNELS: dict[str, dict[str, Any]] = {"linear": {}, "polynomial": {"degree": 2, "gamma": 0.1}}


def moved(offset: float, by_query: bool = False) -> np.ndarray:
    """The features with an offset on one column, the same for all queries or another for each."""
    there = X.copy()
    there[:, 3] += offset * (1 + QID if by_query else 1)
    return there


@pytest.mark.parametrize("by_query", [False, True])
@pytest.mark.parametrize("offset", [1e5, 1e12])
@pytest.mark.parametrize("feature_map", ["nystroem", "exact"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_what_rounding_leaves_nothing_of_is_refused(
    kernel: str, feature_map: str, offset: float, by_query: bool
) -> None:
    m = {"n_components": 60} if feature_map == "nystroem" else {}
    model = RankSVM(feature_map, kernel=kernel, C=0.01, **m, **KERNELS[kernel])
    with pytest.raises(DataError, match="Normalise the features first"):
        model.fit(moved(offset, by_query), Y, qid=QID)


def test_low_rank_models_refuse_it_too() -> None:
    with pytest.raises(DataError, match="within a query"):
        FactorizedRankSVM(feature_map="nystroem", kernel="linear").fit(moved(1e6), Y, qid=QID)


@pytest.mark.parametrize("feature_map", ["nystroem", "exact"])
def test_what_is_not_that_far_is_trained(feature_map: str) -> None:
    m = {"n_components": 60} if feature_map == "nystroem" else {}
    model = RankSVM(feature_map, kernel="linear", C=0.01, **m)
    there = model.fit(moved(1e3), Y, qid=QID).score(moved(1e3), Y, qid=QID)
    assert there == pytest.approx(model.fit(X, Y, qid=QID).score(X, Y, qid=QID), abs=0.01)


@pytest.mark.parametrize("by_query", [False, True])
def test_the_linear_map_takes_it(by_query: bool) -> None:
    far = moved(1e7, by_query)
    assert RankSVM(C=0.01).fit(far, Y, qid=QID).score(far, Y, qid=QID) > 0.99
