"""Newton's steps from given weights to the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz import RankSVM
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data
from rankviz.whatif.path import newton_path

DATA = make_data(n_queries=12, documents_per_query=(8, 20), n_features=5, seed=1)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "huber"])
def test_a_walk_begins_where_one_stands_and_ends_at_the_optimum(loss: str) -> None:
    start = np.array([3.0, -2.0, 0.0, 1.0, 0.5])
    path = newton_path(RankSVM("linear", C=0.5, loss=loss), DATA, start)
    optimum = RankSVM("linear", C=0.5, loss=loss, tol=1e-9).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.array_equal(path[0], start)
    assert len(path) > 2
    assert np.linalg.norm(path[-1] - optimum.coef_) <= 1e-2 * np.linalg.norm(optimum.coef_)


def test_who_stands_at_the_optimum_stays_there() -> None:
    model = RankSVM("linear", C=0.5)
    here = newton_path(model, DATA, np.zeros(5))[-1]
    assert np.allclose(
        newton_path(RankSVM("linear", C=0.5), DATA, here), here, atol=1e-2 * np.abs(here).max()
    )


def test_a_map_with_a_kernel_is_walked_too() -> None:
    model = RankSVM("nystroem", n_components=10, gamma=0.5, C=0.5)
    path = newton_path(model, DATA, np.full(10, 0.1))
    assert np.array_equal(path[0], np.full(10, 0.1))
    assert np.array_equal(path[-1], model.coef_)


@pytest.mark.parametrize("start", [[1.0], np.zeros(6), [0, 0, 0, 0, np.nan]])
def test_weights_of_other_features_are_refused(start: list[float]) -> None:
    with pytest.raises(SettingError, match="5 finite numbers, one for each feature"):
        newton_path(RankSVM("linear"), DATA, start)
