"""Computations of the Nyström and Fourier page, cached by digest and settings, with progress.

A new γ keeps the draws; more draws or another variant add to the existing ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from rankviz.analysis.kernel_error import ComparedKernel, KernelErrors, Variant, errors_of, feature_seconds
from rankviz.analysis.kernel_spectrum import KernelSpectrum, kernel_spectrum
from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report
from rankviz.common.settings import SEED
from rankviz.features import KERNELS, Drawn, FittedMap, Kernel
from rankviz.plots import kernel_matrices, nystroem_fourier
from rankviz.plots import kernel_matrices as spectrum_plot
from rankviz.plots.style import evenly
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import COMPONENTS
from ui.shell.page import progress_bar
from ui.work.folds import fold_of, normalised

Made = tuple[go.Figure, pd.DataFrame]
PART, QUERY_PART = "train", "vali"
LARGEST_AT_ONCE = 500
"""Largest m of the curves, unless the sidebar's is larger."""
SECONDS_AT_ONCE = 0.8
"""Seconds of computing draws before the figure is drawn; the rest follows."""
MOST_POINTS = 500  # documents in the plane
LARGEST_BLOCK = 100  # most documents in a heat map: two of them have 20,000 cells
TOGETHER = {
    "frobenius": ("frobenius", "maximum"),
    "maximum": ("frobenius", "maximum"),
    "spectral": ("spectral",),
}
"""Norms computed together: the spectral one takes longer than the rest of a draw."""


@dataclass(frozen=True)
class Comparison:
    """The page's settings.

    Attributes
    ----------
    spec : RunSpec
        The sidebar's settings, always with a kernel map.
    norm : str
    draws : int
    grid : tuple of int
    variants : tuple of Variant
        Maps of the curves.
    shown : tuple of Variant
        The maps that approximate the kernel, with the sidebar's sampling methods, for the tabs.
    named : Variant or None
        The current model, if it is one of these maps.
    """

    spec: RunSpec
    norm: str
    draws: int
    grid: tuple[int, ...]
    variants: tuple[Variant, ...]
    shown: tuple[Variant, ...]
    named: Variant | None

    @property
    def kernel(self) -> Kernel:
        """The kernel that is approximated."""
        return kernel_of(self.spec)

    @property
    def seed(self) -> int:
        """Seed of the first draw: the sidebar's."""
        return int(self.spec.get(SEED.name, SEED.default))

    @property
    def seeds(self) -> range:
        """Seeds of the draws."""
        return range(self.seed, self.seed + self.draws)


def kernel_of(spec: RunSpec) -> Kernel:
    """Return the kernel that is approximated."""
    kernel: Kernel = KERNELS[spec.kernel].make(spec.values)
    return kernel


@dataclass(frozen=True)
class AtM:
    """Data of the figures at the sidebar's m, on the compared documents."""

    entries: pd.DataFrame
    deviations: pd.DataFrame
    n_compared: int
    n_documents: int


def _train(spec: RunSpec) -> FloatArray:
    return normalised(spec).parts[PART].X


def _data(spec: RunSpec) -> tuple[str, str]:
    """Return the cache key of the data; a comparison knows the digest, without a look at the files."""
    return spec.digest or fold_of(spec).digest, spec.normalisation


def _named(spec: RunSpec) -> tuple[str, str, str]:
    """Return the cache key of data and kernel: the kernel's name and parameters."""
    return *_data(spec), repr(kernel_of(spec))


_cached_by_kernel = partial(st.cache_resource, show_spinner=False, hash_funcs={RunSpec: _named})
_cached_at_any_gamma = partial(
    st.cache_resource,
    show_spinner=False,
    hash_funcs={RunSpec: lambda spec: (*_data(spec), repr(kernel_of(spec).at(1.0)))},
)


@_cached_by_kernel(max_entries=8)
def compared_kernel(spec: RunSpec) -> ComparedKernel:
    """Return K of the compared documents."""
    return ComparedKernel.of(_train(spec), kernel_of(spec))


@_cached_at_any_gamma(max_entries=256)
def _drawn_for(spec: RunSpec, variant: Variant, m: int, seed: int) -> Drawn:
    """Return landmarks or frequencies, the same for every γ: the kernel has γ = 1."""
    return variant.draw(_train(spec), m, kernel_of(spec).at(1.0), seed)


@_cached_by_kernel(max_entries=4096)
def _kept_errors(
    spec: RunSpec, grid: tuple[int, ...], norms: tuple[str, ...], variant: Variant, seed: int
) -> tuple[list[pd.DataFrame], AbstractContextManager[object]]:
    """Return a cached list for the errors of one draw, and its lock; filled outside, with progress."""
    return [], Lock()


def errors(asked: Comparison) -> tuple[KernelErrors, int]:
    """Return the errors of the current draws, one or more, and their number for each map.

    Missing draws are computed until `SECONDS_AT_ONCE` have passed, at least one of each map.
    """
    compared, deadline = compared_kernel(asked.spec), time.monotonic() + SECONDS_AT_ONCE
    found: list[pd.DataFrame] = []
    done = computed = 0
    with progress_bar("Comparing kernels") as tell:
        for done, seed in enumerate(asked.seeds):
            places = [_place(asked, variant, seed) for variant in asked.variants]
            if not all(kept for kept, _ in places):
                if computed and time.monotonic() > deadline:
                    break
                computed += 1
            for position, (variant, (kept, lock)) in enumerate(zip(asked.variants, places, strict=True)):
                before = done + position / len(places)

                def further(progress: Progress, before: float = before) -> None:
                    share = (progress.fraction or 0.0) / len(asked.variants)
                    tell(Progress("kernel error", (before + share) / asked.draws))

                with lock:  # a class that comes at once computes it once
                    if not kept:
                        kept.append(_errors_of(asked, variant, seed, compared, further))
                found.append(kept[0])
        else:
            done = asked.draws
    return compared.with_errors(pd.concat(found, ignore_index=True)), done


def _place(
    asked: Comparison, variant: Variant, seed: int
) -> tuple[list[pd.DataFrame], AbstractContextManager[object]]:
    return _kept_errors(asked.spec, asked.grid, TOGETHER[asked.norm], variant, seed)


def _errors_of(
    asked: Comparison, variant: Variant, seed: int, compared: ComparedKernel, report: Report
) -> pd.DataFrame:
    report(Progress("kernel error", 0.0))
    drawn = _drawn_for(asked.spec, variant, asked.grid[-1], seed)
    table = errors_of(drawn, compared, asked.grid, report, TOGETHER[asked.norm])
    return table.assign(**variant.columns, seed=seed)


def grid_of(m: int) -> tuple[int, ...]:
    """Return the values of m of the curves: one draw at the largest gives all of them."""
    return tuple(k for k in COMPONENTS if k <= max(LARGEST_AT_ONCE, m))


def whole_draw(asked: Comparison, seed: int) -> Comparison:
    """Return the comparison of one draw at all m: the same for every m of the sidebar."""
    grid = grid_of(asked.spec.n_components)
    spec = asked.spec.but(n_components=grid[-1], seed=seed)
    return replace(asked, spec=spec, norm="frobenius", draws=1, grid=grid, variants=asked.shown)


def maps(asked: Comparison) -> dict[str, FittedMap]:
    """Return the sidebar's maps at its m and seed: the leading parts of the largest."""
    largest = _largest_maps(whole_draw(asked, asked.seed))
    return {name: fitted.leading(asked.spec.n_components) for name, fitted in largest.items()}


def features(asked: Comparison, Z: FloatArray) -> dict[str, FloatArray]:
    """Return Φ of documents Z (N, d) under the sidebar's maps."""
    return {name: fitted.operator(Z).dense() for name, fitted in maps(asked).items()}


def _at(asked: Comparison) -> tuple[str, str, str, int, int, tuple[Variant, ...]]:
    """Return the cache key of results at the sidebar's m."""
    return *_named(asked.spec), asked.spec.n_components, asked.seed, asked.shown


_cached_at_m = partial(st.cache_resource, hash_funcs={Comparison: _at})


@_cached_at_m(max_entries=256, show_spinner=False)
def made_once(name: str, asked: Comparison, of: tuple[object, ...], _make: Callable[[], Made]) -> Made:
    """Return what `_make` makes for a figure, such as its table: a class that comes at once makes it once.

    `of` has all that it depends on, besides data, kernel, m, seed and the maps shown.
    """
    return _make()


@_cached_at_m(max_entries=64, show_spinner=False)
def _largest_maps(whole: Comparison) -> dict[str, FittedMap]:
    drawn = {one.map: _drawn_for(whole.spec, one, whole.grid[-1], whole.seed) for one in whole.shown}
    return {name: one.fitted(whole.kernel.gamma) for name, one in drawn.items()}


@dataclass(frozen=True)
class Matrices:
    """K of documents in order of the first principal component, and their features at the largest m.

    Attributes
    ----------
    K : (N, N) float64
    features : dict
        Map -> Φ (N, m).
    maps : dict
        Map -> the map at the largest m.
    n_documents : int
        Documents of the error: K shows at most `LARGEST_BLOCK` of them.
    """

    K: FloatArray
    features: dict[str, FloatArray]
    maps: dict[str, FittedMap]
    n_documents: int

    def approximate(self, m: int) -> dict[str, FloatArray]:
        """Return K̃ (N, N) of each map at m, from its leading columns."""
        found = {}
        for name, Phi in self.features.items():
            k = self.maps[name].leading(m).n_components
            found[name] = Phi[:, :k] @ Phi[:, :k].T * self.maps[name].basis.weight(k) ** 2
        return found


@_cached_at_m(max_entries=64, show_spinner=False)
def matrices(whole: Comparison, query: int | None) -> Matrices:
    """Return K and the features of a validation query, or of a sample of the training part."""
    Z, (centre, axes) = _documents(whole.spec, query), plane(whole.spec)
    order = np.argsort((Z - centre) @ axes[:, 0], kind="stable")
    X = Z[order[evenly(len(Z), LARGEST_BLOCK)]]
    found = _largest_maps(whole)
    Phi = {name: one.operator(X).dense() for name, one in found.items()}
    return Matrices(whole.kernel.matrix(X, X), Phi, found, len(Z))


def _documents(spec: RunSpec, query: int | None) -> FloatArray:
    if query is None:
        return compared_kernel(spec).Z
    part = normalised(spec).parts[QUERY_PART]
    return part.X[part.query_slice(query)]


def draw_errors(whole: Comparison, query: int | None) -> pd.DataFrame:
    """Return relative Frobenius errors of a draw at all m: columns map, seed, m, frobenius."""
    return errors(whole)[0].table if query is None else _errors_in_query(whole, query)


@_cached_at_m(max_entries=256, show_spinner=False)
def _errors_in_query(whole: Comparison, query: int) -> pd.DataFrame:
    X, of_all = _documents(whole.spec, query), compared_kernel(whole.spec)
    compared = replace(of_all, Z=X, K=whole.kernel.matrix(X, X))
    drawn = {one: _drawn_for(whole.spec, one, whole.grid[-1], whole.seed) for one in whole.shown}
    tables = [
        errors_of(one, compared, whole.grid, norms=("frobenius",)).assign(**variant.columns, seed=whole.seed)
        for variant, one in drawn.items()
    ]
    return pd.concat(tables, ignore_index=True)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={RunSpec: _data})
def plane(spec: RunSpec) -> tuple[FloatArray, FloatArray]:
    """Return centre and directions of the first two principal components of the training documents."""
    return nystroem_fourier.principal_plane(_train(spec))


def in_plane(asked: Comparison) -> pd.DataFrame:
    """Return documents, landmarks and frequencies at the sidebar's m in the plane of the components."""
    Z = compared_kernel(asked.spec).Z
    return nystroem_fourier.plane_data(Z[evenly(len(Z), MOST_POINTS)], maps(asked), *plane(asked.spec))


@_cached_at_m(max_entries=64, show_spinner="Comparing kernel entries …")
def at_m(asked: Comparison) -> AtM:
    """Return densities of κ̃ against κ, and their deviations."""
    compared = compared_kernel(asked.spec)
    found = features(asked, compared.Z)
    entries, apart = (
        f(compared.K, found) for f in (kernel_matrices.entries_data, kernel_matrices.deviations)
    )
    return AtM(entries, apart, len(compared.Z), compared.n_documents)


@_cached_at_m(max_entries=64, show_spinner="Computing eigenvalues …")
def spectra(asked: Comparison) -> pd.DataFrame:
    """Return the eigenvalues of K and of every K̃ on the compared documents."""
    compared = compared_kernel(asked.spec)
    return spectrum_plot.spectrum_data(compared.K, features(asked, compared.Z))


def spectrum_of_all(spec: RunSpec) -> KernelSpectrum:
    """Return the eigenvalues of K on all training documents, exact or as bounds, for every C and m."""
    kept = _kept_spectrum(spec)
    if not kept:
        with progress_bar("Computing eigenvalues") as tell:
            kept.append(kernel_spectrum(_train(spec), kernel_of(spec), report=tell))
    return kept[0]


@_cached_by_kernel(max_entries=64)
def _kept_spectrum(spec: RunSpec) -> list[KernelSpectrum]:
    return []


def trace_of_all(asked: Comparison) -> float:
    """Return tr K of all training documents."""
    return float(asked.kernel.diagonal(_train(asked.spec)).sum())


def seconds(asked: Comparison) -> pd.DataFrame:
    """Return the seconds of each map at each m of the curves, measured once by `feature_seconds`."""
    kept = _kept_seconds(asked.spec, asked.grid, asked.variants)
    if not kept:
        X = _train(asked.spec)
        with progress_bar("Timing maps") as tell:
            kept.append(feature_seconds(X, asked.kernel, asked.grid, asked.variants, asked.seed, tell))
    return kept[0]


@_cached_by_kernel(max_entries=64)
def _kept_seconds(spec: RunSpec, grid: tuple[int, ...], variants: tuple[Variant, ...]) -> list[pd.DataFrame]:
    return []


@_cached_at_m(max_entries=32, show_spinner="Comparing documents …")
def residuals(asked: Comparison, query: int) -> pd.DataFrame:
    """Return κ̃ − κ among documents of a query of the validation part, by position, highest grade first."""
    part = normalised(asked.spec).parts[QUERY_PART]
    rows = part.query_slice(query)
    order = np.argsort(-part.y[rows], kind="stable")[:LARGEST_BLOCK]
    X = part.X[rows][order]
    K = asked.kernel.matrix(X, X)
    return kernel_matrices.residual_data(K, features(asked, X), part.y[rows][order])
