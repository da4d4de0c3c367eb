"""Maps of one draw: leading columns, other γ, padded weights; and preconditioners handed on."""

import numpy as np
import pytest
from naive_ranking import problem

from rankviz.features import FEATURE_MAPS, MapSettings
from rankviz.features.operator import CosineBasis, DenseBasis
from rankviz.learning.training import FamilyFeatures, MapFamily

X, Y, PTR = problem(n_queries=12)
MAPS = ("linear", "nystroem", "fourier")


def family(name: str, m: int, documents: np.ndarray = X, **settings: object) -> MapFamily:
    return MapFamily(FEATURE_MAPS[name].make(MapSettings(m, **settings)), documents)


@pytest.mark.parametrize("name", ["nystroem", "fourier"])
def test_padded_weights_keep_the_scores(name: str) -> None:
    maps = family(name, 40)
    features = FamilyFeatures(maps, X)
    w = np.random.default_rng(0).normal(size=12)
    small, wide = features.operator(12, 0.2), features.operator(40, 0.2)
    np.testing.assert_allclose(wide.product(wide.basis.padded(w)), small.product(w), atol=1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_leading_columns_are_not_copied(name: str) -> None:
    operator = FamilyFeatures(family(name, 20), X).operator(20, 0.5)
    k = operator.base.shape[1] // 2
    part = operator.leading(k)
    assert part.shape == (len(X), k)
    assert np.shares_memory(part.base, operator.base)


def test_truncated_maps_are_not_nested() -> None:
    maps = family("nystroem", 20, rank=5)
    assert maps.map(20, 0.5) is not None
    with pytest.raises(ValueError, match="not nested"):
        maps.map(10, 0.5)
    with pytest.raises(ValueError, match="not nested"):
        DenseBasis(np.eye(3)).padded(np.ones(2))
    assert CosineBasis(4).leading(2) == CosineBasis(2)


def test_shares_of_seconds_go_with_columns() -> None:
    maps = family("fourier", 40)
    features = FamilyFeatures(maps, X)
    features.operator(10, 0.5)
    assert features.seconds(maps.map(10, 0.5)) == pytest.approx(features.seconds(maps.map(40, 0.5)) / 4)
    assert 0 < maps.seconds(maps.map(10, 0.5)) < maps.seconds(maps.map(40, 0.5))
