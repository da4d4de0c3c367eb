"""Computations of the Kernel approximation page: kept by digest and settings, with progress shown meanwhile.

Moving γ leaves the draws as they are; asking for more draws or another variant adds to what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.analysis.feature_seconds import feature_seconds
from rankviz.analysis.kernel_error import ComparedKernel, KernelErrors, Variant, errors_of
from rankviz.analysis.kernel_spectrum import KernelSpectrum, kernel_spectrum
from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report
from rankviz.datasets import Fold
from rankviz.experiments.spec import RunSpec
from rankviz.features import RBF, Drawn, Kernel
from rankviz.plots import kernel_entries, kernel_residual
from rankviz.plots import kernel_spectrum as spectrum_plot
from ui.shared.runs import fold_of, normalised

PART, QUERY_PART = "train", "vali"
SECONDS_AT_ONCE = 0.8
"""Draws are computed for this long before what there is gets drawn; the rest follows."""
LARGEST_BLOCK = 100  # documents in a heat map: two of them have 20,000 cells
TOGETHER = {
    "frobenius": ("frobenius", "maximum"),
    "maximum": ("frobenius", "maximum"),
    "spectral": ("spectral",),
}
"""Which norms are computed with one: the spectral one takes longer than the rest of a draw."""


@dataclass(frozen=True)
class Asked:
    """The page's settings.

    Attributes
    ----------
    spec : RunSpec
        The sidebar's settings with a kernel map in any case.
    norm : str
    draws : int
    grid : tuple of int
    variants : tuple of Variant
        Maps of the curves.
    pair : tuple of Variant
        Nyström and random Fourier as the sidebar has them drawn, for the tabs.
    named : Variant or None
        The sidebar's model, where it is one of these maps.
    """

    spec: RunSpec
    norm: str
    draws: int
    grid: tuple[int, ...]
    variants: tuple[Variant, ...]
    pair: tuple[Variant, Variant]
    named: Variant | None

    @property
    def seeds(self) -> range:
        """Of the draws, beginning with the sidebar's."""
        return range(self.spec.seed, self.spec.seed + self.draws)


@dataclass(frozen=True)
class AtM:
    """Figures' data for the m of the sidebar, on the compared documents."""

    entries: pd.DataFrame
    deviations: pd.DataFrame
    n_compared: int
    n_documents: int


def kernel_of(spec: RunSpec) -> Kernel:
    """The kernel that is approximated."""
    return RBF(spec.gamma)


def _train(spec: RunSpec) -> FloatArray:
    return normalised(spec).parts[PART].X


def _progress(words: str) -> tuple[Report, Callable[[], object]]:
    """A report that shows a bar under these words, and what takes it away."""
    line = st.empty()

    def tell(progress: Progress) -> None:
        line.progress(min(1.0, progress.fraction or 0.0), words)

    return tell, line.empty


def compared_kernel(spec: RunSpec) -> ComparedKernel:
    """K of the documents that are compared."""
    return _compared(fold_of(spec).digest, spec.normalisation, kernel_of(spec), _train(spec))


@st.cache_resource(max_entries=8, show_spinner=False)
def _compared(digest: str, normalisation: str, kernel: Kernel, _X: FloatArray) -> ComparedKernel:
    return ComparedKernel.of(_X, kernel)


@st.cache_resource(max_entries=256, show_spinner=False)
def _drawn(
    digest: str, normalisation: str, variant: Variant, m: int, kernel: Kernel, seed: int, _X: FloatArray
) -> Drawn:
    """Landmarks or frequencies: the same for every γ, so `kernel` is given with γ = 1."""
    return variant.draw(_X, m, kernel, seed)


def _drawn_for(spec: RunSpec, variant: Variant, m: int, seed: int) -> Drawn:
    data = fold_of(spec).digest, spec.normalisation
    return _drawn(*data, variant, m, kernel_of(spec).at(1.0), seed, _train(spec))


@st.cache_resource(max_entries=4096, show_spinner=False)
def _kept_errors(
    digest: str,
    normalisation: str,
    gamma: float,
    grid: tuple[int, ...],
    norms: tuple[str, ...],
    variant: Variant,
    seed: int,
) -> list[pd.DataFrame]:
    """A place for the errors of one draw; filled outside, where progress can be shown."""
    return []


def errors(asked: Asked) -> tuple[KernelErrors, int]:
    """Errors of the draws there are by now, one or more, and how many these are of each map.

    Draws that are missing are computed until `SECONDS_AT_ONCE` have passed, at least one of each map.
    """
    compared, deadline = compared_kernel(asked.spec), time.monotonic() + SECONDS_AT_ONCE
    tell, clear = _progress("Comparing kernels")
    found: list[pd.DataFrame] = []
    done = computed = 0
    for done, seed in enumerate(asked.seeds):
        places = [_place(asked, variant, seed) for variant in asked.variants]
        if not all(places):
            if computed and time.monotonic() > deadline:
                break
            computed += 1
        for position, (variant, place) in enumerate(zip(asked.variants, places, strict=True)):
            before = done + position / len(places)

            def further(progress: Progress, before: float = before) -> None:
                share = (progress.fraction or 0.0) / len(asked.variants)
                tell(Progress("kernel error", (before + share) / asked.draws))

            if not place:
                place.append(_errors_of(asked, variant, seed, compared, further))
            found.append(place[0])
    else:
        done = asked.draws
    clear()
    return compared.with_errors(pd.concat(found, ignore_index=True)), done


def _place(asked: Asked, variant: Variant, seed: int) -> list[pd.DataFrame]:
    spec = asked.spec
    settings = fold_of(spec).digest, spec.normalisation, spec.gamma, asked.grid, TOGETHER[asked.norm]
    return _kept_errors(*settings, variant, seed)


def _errors_of(
    asked: Asked, variant: Variant, seed: int, compared: ComparedKernel, report: Report
) -> pd.DataFrame:
    spec = asked.spec
    report(Progress("kernel error", 0.0))
    drawn = _drawn_for(spec, variant, asked.grid[-1], seed)
    table = errors_of(drawn, compared, asked.grid, report, TOGETHER[asked.norm])
    return table.assign(**variant.columns, seed=seed)


def features(asked: Asked, Z: FloatArray) -> dict[str, FloatArray]:
    """Φ of documents Z (N, d) under both maps as the sidebar has them: one draw at its m and seed."""
    spec, found = asked.spec, {}
    for variant in asked.pair:
        drawn = _drawn_for(spec, variant, spec.n_components, spec.seed)
        found[variant.map] = drawn.fitted(spec.gamma).operator(Z).dense()
    return found


def at_m(asked: Asked) -> AtM:
    """Densities of κ̃ against κ, and how far they lie apart."""
    spec = asked.spec
    settings = fold_of(spec).digest, spec.normalisation, spec.gamma, spec.n_components, spec.seed
    return _at_m(*settings, asked.pair, asked)


@st.cache_resource(max_entries=64, show_spinner="Comparing kernel entries …")
def _at_m(
    digest: str, normalisation: str, gamma: float, m: int, seed: int, pair: tuple[Variant, ...], _asked: Asked
) -> AtM:
    compared = compared_kernel(_asked.spec)
    found = features(_asked, compared.Z)
    entries, apart = (f(compared.K, found) for f in (kernel_entries.data, kernel_entries.deviations))
    return AtM(entries, apart, len(compared.Z), compared.n_documents)


def spectra(asked: Asked) -> pd.DataFrame:
    """Eigenvalues of K and of both K̃ on the compared documents."""
    spec = asked.spec
    settings = fold_of(spec).digest, spec.normalisation, spec.gamma, spec.n_components, spec.seed
    return _spectra(*settings, asked.pair, asked)


@st.cache_resource(max_entries=64, show_spinner="Computing eigenvalues …")
def _spectra(
    digest: str, normalisation: str, gamma: float, m: int, seed: int, pair: tuple[Variant, ...], _asked: Asked
) -> pd.DataFrame:
    compared = compared_kernel(_asked.spec)
    return spectrum_plot.data(compared.K, features(_asked, compared.Z))


def spectrum_of_all(spec: RunSpec) -> KernelSpectrum:
    """Eigenvalues of K on all training documents, exact or bracketed: the same for every C and m."""
    kept = _kept_spectrum(fold_of(spec).digest, spec.normalisation, spec.gamma)
    if not kept:
        tell, clear = _progress("Computing eigenvalues for all documents")
        kept.append(kernel_spectrum(_train(spec), kernel_of(spec), report=tell))
        clear()
    return kept[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept_spectrum(digest: str, normalisation: str, gamma: float) -> list[KernelSpectrum]:
    return []


def seconds(asked: Asked) -> pd.DataFrame:
    """Seconds of each map at each m of the curves, as `feature_seconds` measures them once."""
    spec = asked.spec
    kept = _kept_seconds(fold_of(spec).digest, spec.normalisation, spec.gamma, asked.grid, asked.variants)
    if not kept:
        tell, clear = _progress("Timing each map at each m")
        kept.append(
            feature_seconds(_train(spec), kernel_of(spec), asked.grid, asked.variants, spec.seed, tell)
        )
        clear()
    return kept[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept_seconds(
    digest: str, normalisation: str, gamma: float, grid: tuple[int, ...], variants: tuple[Variant, ...]
) -> list[pd.DataFrame]:
    return []


def residuals(asked: Asked, query: int) -> pd.DataFrame:
    """κ̃ − κ among documents of the query at this position of the validation part, highest grade first."""
    spec = asked.spec
    settings = fold_of(spec).digest, spec.normalisation, spec.gamma, spec.n_components, spec.seed
    return _residuals(*settings, asked.pair, query, asked, normalised(spec))


@st.cache_resource(max_entries=32, show_spinner="Comparing the query's documents …")
def _residuals(
    digest: str,
    normalisation: str,
    gamma: float,
    m: int,
    seed: int,
    pair: tuple[Variant, ...],
    query: int,
    _asked: Asked,
    _fold: Fold,
) -> pd.DataFrame:
    part = _fold.parts[QUERY_PART]
    rows = part.query_slice(query)
    order = np.argsort(-part.y[rows], kind="stable")[:LARGEST_BLOCK]
    X = part.X[rows][order]
    K = kernel_of(_asked.spec).matrix(X, X)
    return kernel_residual.data(K, features(_asked, X), part.y[rows][order])
