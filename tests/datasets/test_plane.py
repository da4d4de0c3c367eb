"""Sets in the plane: what each is there to show holds, at every seed and size."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.common.errors import SettingError
from rankviz.datasets.synthetic import MOST_EACH, PLANES, make_plane


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("each", [1, 2, 16, MOST_EACH])
def test_documents_lie_in_the_square_and_are_repeatable(name: str, each: int) -> None:
    data = make_plane(name, documents_per_query=each, seed=3)
    assert data.X.shape == (3 * each, 2)
    assert np.abs(data.X).max() <= 1
    assert data.n_queries == 3
    assert data.digest == make_plane(name, documents_per_query=each, seed=3).digest
    if each > 2:
        assert data.digest != make_plane(name, documents_per_query=each, seed=4).digest
        assert all(np.ptp(data.y[data.query_slice(q)]) > 0 for q in range(3))


def test_the_noisy_query_is_the_linear_set_with_its_last_grades_dealt_anew() -> None:
    linear, noisy = make_plane("linear", seed=1), make_plane("noisy", seed=1)
    assert np.array_equal(linear.X, noisy.X)
    assert np.array_equal(linear.y[:32], noisy.y[:32])
    assert not np.array_equal(linear.y[32:], noisy.y[32:])
    assert sorted(linear.y[32:]) == sorted(noisy.y[32:])


def test_xor_goes_by_the_signs() -> None:
    data = make_plane("xor", documents_per_query=30, seed=2)
    assert np.array_equal(data.y, (data.X.prod(axis=1) > 0).astype(int))


@pytest.mark.parametrize("arguments", [{"name": "square"}, {"documents_per_query": 0}])
def test_what_there_is_not_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(SettingError, match=r"plane='square'|documents_per_query=0"):
        make_plane(**arguments)
