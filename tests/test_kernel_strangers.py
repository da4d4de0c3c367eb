"""A kernel that the project does not know: training, files, errors, spectrum, memory; and those it knows."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest_kernels import DATA, SETTINGS, X, model
from naive_kernels import InverseDistance, Matern

import rankviz
from rankviz import DataError, FactorizedRankSVM
from rankviz.analysis.kernel_error import NORMS, VARIANTS, feature_seconds, kernel_errors, variants_of
from rankviz.analysis.kernel_spectrum import kernel_spectrum
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data
from rankviz.features import KERNELS, KernelKind, Laplacian, LinearKernel, Polynomial
from rankviz.features.kernels import GAMMA
from rankviz.learning.memory import TrainingSizes
from rankviz.models.dual_truncation import Truncator


@pytest.fixture
def stranger() -> Iterator[str]:
    """A kernel that exists nowhere in the project, and beside it another, "matern"."""
    KERNELS["inverse"], KERNELS["matern"] = (KernelKind(kind, (GAMMA,)) for kind in (InverseDistance, Matern))
    yield "inverse"
    del KERNELS["inverse"], KERNELS["matern"]


def test_a_stranger_is_trained_like_any_other(
    stranger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factored, nystroem = (model(stranger, name).fit_data(DATA) for name in ("exact", "nystroem"))
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    own = model(stranger).fit_data(DATA)
    assert own.objective_ == pytest.approx(factored.objective_, rel=1e-6)
    assert nystroem.objective_ == pytest.approx(factored.objective_, rel=1e-6)
    for fitted in (factored, nystroem, own):
        again = rankviz.load(rankviz.save(fitted, tmp_path / "m"))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        truncated = Truncator(rankviz.duals(fitted, DATA), fitted.feature_map_).every_query((1, 2))
        np.testing.assert_allclose(truncated.scores(X)[:, -1], fitted.predict(X), atol=1e-3)
    low = FactorizedRankSVM(2, C=0.05, feature_map="exact", kernel=stranger).fit_data(DATA)
    assert low.objective_ < 0
    assert low.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
    with pytest.raises(
        SettingError,
        match=r"the inverse distance kernel has no known spectral density; choose kernel='rbf' or 'lapl",
    ):
        model(stranger, "fourier").fit_data(DATA)


def test_a_stranger_is_forgotten_and_its_files_are_refused(tmp_path: Path) -> None:
    KERNELS["inverse"] = KernelKind(InverseDistance, (GAMMA,))
    try:
        fitted = model("inverse", "nystroem", n_components=9).fit_data(DATA)
        path = rankviz.save(fitted, tmp_path / "m")
    finally:
        del KERNELS["inverse"]
    with pytest.raises(DataError, match="'inverse' is not known"):
        rankviz.load(path)
    with pytest.raises(ValueError, match=r"InverseDistance.*KERNELS"):
        rankviz.save(fitted, tmp_path / "again")


@pytest.mark.parametrize(
    "kernel", [InverseDistance(0.4), Laplacian(0.2), Polynomial(0.4, 3, 1.0), LinearKernel()], ids=repr
)
def test_errors_spectrum_and_seconds_of_any_kernel(kernel: Any) -> None:
    papers = ["nystroem", "fourier"] if kernel.spectrum is not None else ["nystroem"]
    errors = kernel_errors(X, kernel, (2, 10, 80), (0, 1))
    assert errors.table["map"].unique().tolist() == papers
    table = errors.table[errors.table["map"] == "nystroem"].groupby("m")[list(NORMS)].mean()
    assert (np.diff(table, axis=0) <= 1e-12).all()
    assert (table.loc[80] < 1e-8).all()
    K = kernel.matrix(X, X)
    assert errors.mean_kernel == pytest.approx((K.sum() - np.trace(K)) / (len(X) * (len(X) - 1)))
    exact, bracket = (kernel_spectrum(X, kernel, m=20, all_up_to=limit) for limit in (2000, 0))
    np.testing.assert_allclose(exact.values, np.linalg.eigvalsh(K)[::-1], atol=1e-10 * np.trace(K))
    assert bracket.missing == pytest.approx(np.trace(K) - bracket.values.sum(), abs=1e-6 * np.trace(K))
    low, high = bracket.effective_dimension(0.1)
    assert low - 1e-6 <= exact.effective_dimension(0.1)[0] <= high + 1e-6
    assert feature_seconds(X, kernel, (5,))["map"].tolist() == papers
    choices = {"fourier": ["gaussian"], "nystroem": ["uniform", "kmeans++"]}
    for name in papers:
        assert [v.choice for v in variants_of(kernel, VARIANTS) if v.map == name] == choices[name]


def test_errors_of_a_kernel_that_is_zero() -> None:
    table = kernel_errors(np.zeros((9, 3)), LinearKernel(), (1, 4), (0,)).table
    assert (table[list(NORMS)] == 0.0).all(axis=None)


# --- memory -----------------------------------------------------------------------------------------------

MANY = make_data(n_queries=60, documents_per_query=(30, 40), n_features=30, seed=1)


@pytest.mark.parametrize("feature_map", ["nystroem", "exact"])
@pytest.mark.parametrize("kernel", [*SETTINGS, "inverse", "matern"])
def test_the_memory_that_is_counted_is_enough(
    kernel: str, feature_map: str, stranger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside what is there; a kernel with temporary arrays is counted with them."""
    monkeypatch.setattr("rankviz.features.exact.SMALL", 100)
    settings = {"n_components": 60, "tol": 1e-3, "C": 0.01, "memory_limit": 1e9}
    model(kernel, feature_map, **settings).fit_data(MANY)
    tracemalloc.start()
    try:
        fitted = model(kernel, feature_map, **settings).fit_data(MANY)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    matrix = 4 * MANY.n_documents * (MANY.n_documents + 512) if feature_map == "exact" else 0
    assert peak <= fitted.memory_need_ + matrix + 2e6
    assert fitted.memory_need_ <= 3 * peak + 2e6


def test_scratch_is_counted_by_the_kernel(stranger: str) -> None:
    for feature_map in ("nystroem", "exact"):
        plain, more = (
            TrainingSizes(feature_map, 300, 9000, 45, kernel=kernel).bytes for kernel in ("rbf", stranger)
        )
        assert 20e6 < more - plain < 40e6  # a block of 32 MB, whatever n is
    sizes = [TrainingSizes("linear", 300, 9000, 45, kernel=kernel).bytes for kernel in ("rbf", stranger)]
    assert sizes[0] == sizes[1]
