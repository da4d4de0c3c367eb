"""Models with every kernel: the optimum, on both ways of the exact map; settings, odd data."""

import numpy as np
import pytest
from conftest_kernels import DATA, PTR, QID, X, Y, each_kernel, kernel_of, model
from naive_kernels import slow_kernel
from naive_ranking import slow_optimum

from rankviz import DataError, FactorizedRankSVM, RankSVM
from rankviz.datasets import RankingData
from rankviz.learning.losses import LOSSES


@each_kernel
def test_every_way_reaches_scipys_optimum(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values, vectors = np.linalg.eigh(slow_kernel(kernel_of(kernel), X, X))
    Phi = vectors * np.sqrt(np.maximum(values, 0.0))
    expected = slow_optimum(Phi, Y, PTR, 0.5, LOSSES["squared_hinge"])[1]
    factored, nystroem = (model(kernel, name).fit_data(DATA) for name in ("exact", "nystroem"))
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    own = model(kernel).fit_data(DATA)
    assert own.feature_map_.in_kernel_space
    assert not factored.feature_map_.in_kernel_space
    for fitted in (factored, nystroem, own):
        assert fitted.objective_ == pytest.approx(expected, rel=1e-6)
        assert fitted.feature_map_.kernel == kernel_of(kernel)
        np.testing.assert_allclose(fitted.predict(X[:9]), own.predict(X[:9]), atol=1e-3)


@pytest.mark.parametrize("limit", [0.0, 0.3, 1.0])
@each_kernel
def test_the_exact_map_in_every_form_of_storage(
    kernel: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = model(kernel, tol=1e-8).fit_data(DATA).objective_
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    need = model(kernel).fit_data(DATA).memory_need_
    room = need + limit * 8 * DATA.n_documents * (DATA.n_documents + 512)
    found = model(kernel, tol=1e-8, memory_limit=room + 1).fit_data(DATA)
    assert found.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("feature_map", ["exact", "nystroem"])
def test_the_linear_kernel_is_the_linear_model(feature_map: str) -> None:
    linear = RankSVM("linear", C=0.5, tol=1e-10).fit_data(DATA)
    found = model("linear", feature_map).fit_data(DATA)
    one = model("polynomial", feature_map, gamma=1.0, degree=1, coef0=0.0).fit_data(DATA)
    for fitted in (found, one):
        assert fitted.objective_ == pytest.approx(linear.objective_, rel=1e-7)
        np.testing.assert_allclose(fitted.predict(X), linear.predict(X), atol=1e-4)
    assert found.gamma_ == linear.gamma_ == 1.0
    assert one.gamma_ == 1.0


def test_gamma_scale_is_one_over_the_variance_for_every_kernel_that_has_gamma() -> None:
    for kernel in ("rbf", "laplacian", "polynomial"):
        fitted = model(kernel, "nystroem", gamma="scale", n_components=9).fit_data(DATA)
        assert fitted.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
        assert fitted.feature_map_.kernel.gamma == fitted.gamma_


# --- settings ---------------------------------------------------------------------------------------------


def test_kernels_beyond_numbers_are_refused() -> None:
    huge = RankingData.from_arrays(X * 1e100, Y, QID)
    for kernel in ("polynomial", "linear"):
        for feature_map in ("exact", "nystroem"):
            with pytest.raises(DataError, match=f"{kernel} kernel values above 1e"):
                model(kernel, feature_map).fit_data(huge)
        with pytest.raises(DataError, match="kernel values above"):
            model(kernel).fit_data(DATA).predict(X * 1e100)
    with pytest.raises(DataError, match="smaller γ, coef0 or degree"):
        FactorizedRankSVM(feature_map="exact", kernel="polynomial", gamma=1.0).fit_data(huge)
    assert model("rbf", gamma="scale").fit_data(huge).n_iter_ > 0
    assert model("polynomial", gamma="scale").fit_data(huge).n_iter_ > 0
