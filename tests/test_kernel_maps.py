"""Every kernel under every map that takes it: exact where it should be, nested, unbiased, of any size."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from naive_kernels import KERNELS, InverseDistance, Matern, approximation, repeated, slow_kernel
from scipy import stats

from rankviz.common.errors import SettingError
from rankviz.features import (
    FEATURE_MAPS,
    FREQUENCIES,
    RBF,
    Kernel,
    Laplacian,
    LinearKernel,
    MapSettings,
    Nystroem,
    Polynomial,
    RandomFourier,
    check_combination,
)
from rankviz.features import KERNELS as KINDS
from rankviz.features.kernel_base import mean_diagonal
from rankviz.features.kernels import CAUCHY_SPECTRUM, GAUSSIAN_SPECTRUM
from rankviz.features.nystroem import JITTER
from rankviz.learning.training import FamilyFeatures, MapFamily

RNG = np.random.default_rng(2)
X, Z = RNG.normal(size=(60, 5)) + 0.3, RNG.normal(size=(17, 5)) + 0.3
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
SPECTRAL = {name: kind for name, kind in KINDS.items() if kind.spectrum is not None}
SPECTRAL_KERNELS: list[Kernel] = [*(kind.usual.at(0.1) for kind in SPECTRAL.values()), Matern(0.1)]
each_spectral = pytest.mark.parametrize("kernel", SPECTRAL_KERNELS, ids=[*SPECTRAL, "a stranger"])


def in_unit(kernel: Kernel, unit: float) -> Kernel:
    """With the γ that makes the same of features in another unit, where there is one."""
    K = kernel.matrix(X, Z)
    powers = (p for p in (1, 2) if np.allclose(kernel.at(kernel.gamma / 2**p).matrix(2 * X, 2 * Z), K))
    return kernel.at(kernel.gamma / unit ** next(powers, 0))


# --- Nyström and exact ------------------------------------------------------------------------------------


@each_kernel
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("documents", [X, repeated(X)], ids=["distinct", "repeated"])
def test_all_documents_as_landmarks_give_the_kernel(
    kernel: Kernel, documents: np.ndarray, unit: float
) -> None:
    """In any unit of the features: the jitter is a share of the kernel's size."""
    kernel = in_unit(kernel, unit)
    documents = documents * unit
    K = slow_kernel(kernel, documents, documents)
    for fitted in (
        Nystroem(10_000, kernel).fit(documents),
        Nystroem(10_000, kernel, rank=10_000).fit(documents),
        FEATURE_MAPS["exact"].make(MapSettings(kernel=kernel)).fit(documents),
    ):
        assert 0 < fitted.n_components <= 61
        assert np.abs(approximation(fitted, documents) - K).max() < 1e-8 * mean_diagonal(kernel, documents)


@each_kernel
@pytest.mark.parametrize("rank", [None, 4])
def test_never_above_the_kernel(kernel: Kernel, rank: int | None) -> None:
    documents = repeated(X)
    missing = slow_kernel(kernel, documents, documents) - approximation(
        Nystroem(20, kernel, rank).fit(documents), documents
    )
    assert np.linalg.eigvalsh(missing).min() >= -1e-10 * mean_diagonal(kernel, documents)


@each_kernel
@pytest.mark.parametrize("documents", [X, repeated(X), np.vstack((0 * X[:1], X))], ids=["", "repeated", "0"])
def test_nested_whatever_m_was_asked_for(kernel: Kernel, documents: np.ndarray) -> None:
    """Tolerances are relative to all documents: a map of its own for m is the leading part of a larger."""
    large = Nystroem(len(documents), kernel, seed=2).fit(documents)
    Phi = large.operator(documents).dense()
    for m in (1, 2, 5, 31):
        small = Nystroem(m, kernel, seed=2).fit(documents)
        np.testing.assert_array_equal(small.landmarks, large.leading(m).landmarks)
        features = small.operator(documents).dense()
        atol = 1e-5 * np.abs(Phi).max()  # columns of small pivots magnify the rounding of the kernel
        np.testing.assert_allclose(features, Phi[:, : small.n_components], atol=atol)


def test_the_rank_of_the_linear_kernel_is_that_of_the_features() -> None:
    """Keep about as many of 60 landmarks as there are features: the others depend on these."""
    fitted = Nystroem(60, LinearKernel()).fit(X)
    assert 5 <= fitted.n_components <= 15
    assert (np.diag(fitted.basis.L) ** 2 > 2 * JITTER * mean_diagonal(LinearKernel(), X)).all()


@each_kernel
@pytest.mark.parametrize("rank", [None, 2])
def test_documents_of_zeros(kernel: Kernel, rank: int | None) -> None:
    """The linear kernel of these is 0, diagonal and all: one feature stays, which is 0."""
    zeros = np.zeros((6, 3))
    for settings in (Nystroem(10, kernel, rank), FEATURE_MAPS["exact"].make(MapSettings(kernel=kernel))):
        fitted = settings.fit(zeros)
        assert fitted.n_components == 1
        np.testing.assert_allclose(approximation(fitted, zeros), slow_kernel(kernel, zeros, zeros), atol=1e-8)
        assert np.isfinite(fitted.operator(X[:, :3]).dense()).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_landmark_of_zeros_comes_first_or_not(seed: int) -> None:
    few = np.vstack((np.zeros((1, 5)), X[:3]))
    fitted = Nystroem(4, LinearKernel(), seed=seed).fit(few)
    np.testing.assert_allclose(approximation(fitted, few), few @ few.T, atol=1e-8)
    for m in (1, 2, 3, 4):
        alone, leading = Nystroem(m, LinearKernel(), seed=seed).fit(few), fitted.leading(m)
        assert alone.n_components == leading.n_components >= 1
        np.testing.assert_allclose(approximation(alone, few), approximation(leading, few), atol=1e-12)


@each_kernel
@pytest.mark.parametrize("name", ["nystroem", "fourier", "exact"])
@pytest.mark.parametrize("keep", [True, False])
def test_a_family_serves_every_gamma(kernel: Kernel, name: str, *, keep: bool) -> None:
    if not FEATURE_MAPS[name].takes(kernel):
        return
    settings = MapSettings(40, kernel, seed=4)
    maps = MapFamily(FEATURE_MAPS[name].make(settings), X)
    features = FamilyFeatures(maps, Z, keep_arguments=keep)
    for gamma, m in ((0.3, 40), (2.0**-6, 7), (2.0**-6, 40), (0.3, 1)):
        m = 40 if name == "exact" else m
        alone = FEATURE_MAPS[name].make(replace(settings, n_components=m, kernel=kernel.at(gamma))).fit(X)
        expected = alone.operator(Z).dense()
        found = features.operator(m, gamma)
        assert maps.map(m, gamma).kernel == kernel.at(gamma)
        assert maps.map(m, gamma).n_components == alone.n_components
        np.testing.assert_allclose(found.dense(), expected, atol=1e-5 * np.abs(expected).max())


# --- random Fourier ---------------------------------------------------------------------------------------


@each_spectral
@pytest.mark.parametrize("frequencies", FREQUENCIES.values(), ids=FREQUENCIES)
def test_random_features_have_the_kernel_as_their_mean(kernel: Kernel, frequencies: Any) -> None:
    """The mean of K̃ over 400 seeds lies within five standard errors of K, entry by entry."""
    if not frequencies.takes(kernel):
        return
    few = X[:8]
    maps = [RandomFourier(12, kernel, seed, frequencies).fit(few) for seed in range(400)]
    draws = np.array([approximation(fitted, few) for fitted in maps])
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - slow_kernel(kernel, few, few)) < 5 * standard_error + 1e-12).all()


@each_spectral
def test_the_error_falls_as_the_root_of_m(kernel: Kernel) -> None:
    few = X[:20]
    K = slow_kernel(kernel, few, few)

    def error(m: int) -> float:
        draws = [approximation(RandomFourier(m, kernel, seed=s).fit(few), few) - K for s in range(40)]
        return float(np.sqrt(np.mean(np.square(draws))))

    assert error(32) / error(2048) == pytest.approx(8, rel=0.15)


@each_spectral
@pytest.mark.parametrize("m", [1, 3, 50])
@pytest.mark.parametrize("frequencies", FREQUENCIES)
def test_random_features_are_nested(kernel: Kernel, frequencies: str, m: int) -> None:
    """However many numbers a kernel draws for one frequency, and from however many distributions."""
    if not FREQUENCIES[frequencies].takes(kernel):
        return
    large, small = (RandomFourier(k, kernel, 9, FREQUENCIES[frequencies]).fit(X) for k in (64, m))
    Phi = large.operator(X).dense()
    np.testing.assert_allclose(small.operator(X).dense(), np.sqrt(64 / m) * Phi[:, :m], atol=1e-12)
    np.testing.assert_allclose(small.frequencies, large.leading(m).frequencies, rtol=1e-12, atol=1e-12)
    assert large.basis.weight(m) == pytest.approx(np.sqrt(64 / m))


@each_spectral
def test_lengths_are_those_of_frequencies(kernel: Kernel) -> None:
    if kernel.spectrum.length is None:
        with pytest.raises(ValueError, match="directions have different distributions"):
            kernel.spectrum.lengths(3, 5, RNG)
        return
    lengths, columns = (draw(3, 2000, RNG) for draw in (kernel.spectrum.lengths, kernel.spectrum.columns))
    assert stats.ks_2samp(lengths, np.linalg.norm(columns, axis=0)).pvalue > 0.001


def test_frequencies_follow_the_spectral_density() -> None:
    gamma, none = 0.3, np.zeros((1, 2))
    kernels = RBF(gamma), Laplacian(gamma)
    maps = [RandomFourier(4000, kernel, seed=0).fit(none) for kernel in kernels]
    rbf, laplacian = (fitted.frequencies for fitted in maps)
    assert stats.kstest(maps[0].phases, stats.uniform(scale=2 * np.pi).cdf).pvalue > 0.001
    assert stats.kstest(rbf.ravel(), stats.norm(scale=np.sqrt(2 * gamma)).cdf).pvalue > 0.001
    assert stats.kstest(laplacian.ravel(), stats.cauchy(scale=gamma).cdf).pvalue > 0.001
    assert stats.spearmanr(*np.abs(laplacian)).pvalue > 0.001  # entries are independent, lengths too
    assert CAUCHY_SPECTRUM.length is None
    assert GAUSSIAN_SPECTRUM.length is not None


# --- what goes together -----------------------------------------------------------------------------------


def refusal(feature_map: str, **values: Any) -> str:
    with pytest.raises(SettingError) as caught:
        check_combination(feature_map, values)
    return str(caught.value)


def test_combinations_that_have_no_features_are_refused_with_what_would_do() -> None:
    round_ones = (name for name, kind in SPECTRAL.items() if kind.spectrum.length is not None)
    spectral, rotation_invariant = (" or ".join(map(repr, names)) for names in (SPECTRAL, round_ones))
    assert refusal("fourier", kernel="polynomial") == (
        "feature_map='fourier' needs a kernel that is shift-invariant, with a known spectral density, and "
        f"the polynomial kernel is not shift-invariant; choose kernel={spectral}, or feature_map='nystroem' "
        "or 'exact'"
    )
    assert refusal("fourier", kernel="linear").startswith("feature_map='fourier' needs")
    assert refusal("fourier", kernel="laplacian", frequencies="orthogonal") == (
        "frequencies='orthogonal' needs a kernel that is rotation-invariant, and the Laplacian kernel is "
        f"not; choose kernel={rotation_invariant}, or frequencies='gaussian'"
    )
    for feature_map, values in (
        ("linear", {"kernel": "polynomial"}),
        ("nystroem", {"kernel": "linear", "frequencies": "orthogonal"}),
        ("exact", {"kernel": "laplacian"}),
        ("fourier", {"kernel": "laplacian"}),
        ("fourier", {"frequencies": "orthogonal"}),
        ("fourier", {}),
    ):
        check_combination(feature_map, values)


def test_maps_refuse_what_was_not_checked() -> None:
    with pytest.raises(SettingError, match="the polynomial kernel is not shift-invariant, so it has no freq"):
        RandomFourier(5, Polynomial(1.0)).fit(X)
    with pytest.raises(SettingError, match="the inverse distance kernel has no known spectral density, so"):
        RandomFourier(5, InverseDistance(1.0)).fit(X)
    with pytest.raises(SettingError, match="need a kernel that is rotation-invariant"):
        RandomFourier(5, Laplacian(1.0), 0, FREQUENCIES["orthogonal"]).fit(X)
