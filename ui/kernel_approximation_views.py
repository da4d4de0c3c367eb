"""The views of the Kernel approximation page: error against m, entries, spectrum and residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from rankviz._typing import FloatArray
from rankviz.datasets import NORMALISATIONS, Fold
from rankviz.experiments.spec import RunSpec
from rankviz.features import rbf_kernel
from rankviz.kernel_error import (
    MAPS,
    NORMS,
    KernelErrors,
    compared_documents,
    features_of,
    fitted_slope,
    kernel_errors,
    over_seeds,
)
from rankviz.plots import kernel_entries, kernel_error, kernel_residual, kernel_spectrum
from rankviz.plots.style import METHODS, choices, power_of_two, small, with_minus
from rankviz.progress import Progress
from ui.kernel_approximation_words import kernel_words, reading
from ui.runs import fold_of, normalised
from ui.settings import COMPONENTS, spec_from_state
from ui.show import bold_sentence, show_figure

LARGEST_AT_ONCE = 500
DRAWS = 5
PART = "train"
QUERY_PART = "vali"
LARGEST_BLOCK = 100  # documents in a heat map: two of them have 20,000 cells


@dataclass(frozen=True)
class Settings:
    """What this page adds to the sidebar."""

    norm: str
    draws: int
    grid: tuple[int, ...]


@dataclass(frozen=True)
class AtM:
    """What the tabs show for the m of the sidebar, on the compared documents."""

    entries: pd.DataFrame
    spectrum: pd.DataFrame
    n_compared: int
    n_documents: int


def kernel_of(spec: RunSpec) -> RunSpec:
    """The experiment with a kernel map in any case: this page shows both, whichever the sidebar has."""
    return spec if spec.feature_map != "linear" else spec_from_state(st.session_state, MAPS[0])


def what_is_compared(spec: RunSpec) -> None:
    """The line at the top: which kernel is approximated, and what of the sidebar plays no part here."""
    words = f":gray[{_about(spec)} · training documents · both maps at m = {spec.n_components}]"
    if st.session_state["map"] == "linear":
        words += "  \nThe linear model chosen in the sidebar has no kernel; these are the two maps that do."
    if spec.rank is not None:
        words += f"  \nNyström is shown here with all its eigenvalues, not cut to rank {spec.rank}."
    if choices(replace(spec, rank=None)):
        words += "  \nShown here with uniform landmarks and Gaussian frequencies, whatever the sidebar has."
    st.markdown(words)


def settings(spec: RunSpec) -> Settings:
    """Draw the page's own controls."""
    left, middle, right = st.columns([4, 3, 3], vertical_alignment="bottom")
    norm = left.radio(
        "Norm",
        NORMS,
        format_func=kernel_error.NORM_NAMES.__getitem__,
        key="errnorm",
        bind="query-params",
        horizontal=True,
        help="Of ‖K − K̃‖ / ‖K‖. Frobenius: root of the sum of all squared entries. Spectral: largest "
        "absolute eigenvalue. Maximum-entry: largest absolute entry, which for K is 1.",
    )
    draws = middle.slider(
        "Draws of each map",
        1,
        10,
        DRAWS,
        key="draws",
        bind="query-params",
        help="Seeds, beginning with the sidebar's. The line is their mean, the band runs from the least to "
        "the greatest error.",
    )
    upto = right.select_slider(
        "Up to m",
        COMPONENTS[3:],
        LARGEST_AT_ONCE,
        key="errupto",
        bind="query-params",
        help="The largest m of the curves; the m of the sidebar is on them in any case. Time grows with it.",
    )
    grid = tuple(m for m in COMPONENTS if m <= max(upto, spec.n_components))
    return Settings(str(norm), int(draws), grid)


def errors(spec: RunSpec, chosen: Settings) -> KernelErrors:
    """The errors over the whole grid of m, all norms at once: remembered, or computed with progress shown."""
    fold = fold_of(spec)
    seeds = tuple(range(spec.seed, spec.seed + chosen.draws))
    kept = _kept_errors(fold.digest, spec.normalisation, spec.gamma, seeds, chosen.grid)
    if not kept:
        line = st.empty()

        def tell(progress: Progress) -> None:
            line.progress(progress.fraction or 0.0, "Comparing kernels")

        X = normalised(spec).parts[PART].X
        kept.append(kernel_errors(X, spec.gamma, chosen.grid, seeds, report=tell))
        line.empty()
    return kept[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept_errors(
    digest: str, normalisation: str, gamma: float, seeds: tuple[int, ...], grid: tuple[int, ...]
) -> list[KernelErrors]:
    """A place for one result; filled outside, where progress can be shown."""
    return []


def headline(spec: RunSpec, chosen: Settings, found: KernelErrors) -> None:
    """Error against m for both maps, and in words how fast it falls and what the kernel is like."""
    table = kernel_error.data(found, chosen.norm)
    slopes = {name: fitted_slope(table, name, found.n_distinct) for name in MAPS}
    seeds = (
        f"seed {spec.seed}" if chosen.draws == 1 else f"seeds {spec.seed} to {spec.seed + chosen.draws - 1}"
    )
    band = "" if chosen.draws == 1 else " (line: mean; band: least to greatest)"
    show_figure(
        kernel_error.figure(table, slopes, chosen.norm, spec.n_components),
        table,
        key="kernel-error",
        alt=f"Relative {kernel_error.NORM_NAMES[chosen.norm]} error of the kernel against the number of "
        "features, Nyström and random Fourier, both axes logarithmic.",
        caption=f"{_about(spec)}, {seeds}{band}. {_compared(found)}; maps "
        f"fitted on all {found.n_documents:,} ({found.n_distinct:,} distinct). Dashed: fitted power of m."
        + _below(table),
    )
    st.markdown(bold_sentence(reading(found, table, slopes, chosen.norm, spec.n_components)))
    st.markdown(kernel_words(found, power_of_two(spec.gamma)))


def _below(table: pd.DataFrame) -> str:
    hidden = int((table["mean"] < kernel_error.LEAST).sum())
    return f" Below the axis, for it is rounding: {hidden} of {len(table)} points." if hidden else ""


def at_m(spec: RunSpec) -> AtM:
    """Entries and eigenvalues of K and of both approximations at the m of the sidebar."""
    data = normalised(spec).parts[PART]
    return _at_m(fold_of(spec).digest, spec.normalisation, spec.gamma, spec.n_components, spec.seed, data.X)


@st.cache_resource(max_entries=64, show_spinner="Comparing kernel entries …")
def _at_m(digest: str, normalisation: str, gamma: float, m: int, seed: int, _X: FloatArray) -> AtM:
    Z = _X[compared_documents(len(_X))]
    K = rbf_kernel(Z, Z, gamma)
    features = {name: features_of(name, _X, Z, gamma, m, seed) for name in MAPS}
    return AtM(kernel_entries.data(K, features), kernel_spectrum.data(K, features), len(Z), len(_X))


def entries(spec: RunSpec, found: AtM) -> None:
    """Kernel values against their approximations."""
    pairs = found.n_compared * (found.n_compared - 1) // 2
    shown = len(found.entries) // len(MAPS)
    if pairs == 0:
        st.info("There is one document, so there are no pairs to compare.")
        return
    count = f"{shown:,} of {pairs:,} pairs drawn at random" if shown < pairs else f"all {pairs:,} pairs"
    show_figure(
        kernel_entries.figure(found.entries),
        found.entries,
        key="kernel-entries",
        alt="Approximate against exact kernel values, Nyström and random Fourier, with the line of equals.",
        caption=f"{_drawn(spec)}. {_compared(found)}; "
        f"{count} of different documents. On the line the approximation is exact.",
    )
    st.markdown(bold_sentence(_spread(found.entries)))


def _spread(table: pd.DataFrame) -> str:
    words = []
    for name, rows in table.groupby("map", sort=False):
        rms = float(np.sqrt(np.mean(np.square(rows["approximate"] - rows["exact"]))))
        words.append(f"{small(rms)} with {METHODS[str(name)].name}")
    return f"The root mean square of κ̃ − κ over these pairs is {' and '.join(words)}"


def spectrum(spec: RunSpec, found: AtM) -> None:
    """Eigenvalues of K and of both approximations."""
    m = spec.n_components
    show_figure(
        kernel_spectrum.figure(found.spectrum, m),
        found.spectrum,
        key="kernel-spectrum",
        alt="Eigenvalues of the exact and of both approximate kernel matrices, largest first.",
        caption=f"{_drawn(spec)}. {_compared(found)}. "
        "Eigenvalues that are rounding are left out; a map with m features has at most m.",
    )
    exact = found.spectrum.loc[found.spectrum["map"] == "exact", "eigenvalue"]
    left = float(exact.iloc[m:].sum() / exact.sum())
    marked = kernel_spectrum.mth_eigenvalue(found.spectrum, m)
    value = f"; the {m}th eigenvalue is {small(marked)}" if marked is not None else ""
    share = f"{1 - left:.0%}" if left > 0.01 else f"all but {small(left)}" if left else "all"
    st.markdown(bold_sentence(f"The first {m} eigenvalues of K hold {share} of its trace{value}"))


def residual(spec: RunSpec) -> None:
    """K − K̃ among the documents of one query that the maps have not seen."""
    part = normalised(spec).parts[QUERY_PART]
    queries = [int(q) for q in part.query_ids]
    if st.session_state.get("kq") not in queries:
        st.session_state["kq"] = queries[0]
    chosen = st.selectbox(
        "Query",
        queries,
        key="kq",
        bind="query-params",
        help="A query of the validation part: none of its documents is a landmark.",
    )
    n = len(part.y[part.query_slice(queries.index(chosen))])
    table = _residuals(
        fold_of(spec).digest,
        spec.normalisation,
        spec.gamma,
        spec.n_components,
        spec.seed,
        queries.index(chosen),
        normalised(spec),
    )
    shown = int(table["row"].max())
    cut = f"all its {n} documents" if shown == n else f"the {shown} of highest grade of its {n} documents"
    show_figure(
        kernel_residual.figure(table),
        table,
        key="kernel-residual",
        alt=f"Heat maps of the kernel's residual among the documents of query {chosen}, one for each map.",
        caption=f"{_drawn(spec)}. Query {chosen} of validation, {cut}, "
        "highest grade first; maps fitted on the training part. One colour scale for both: a map with a "
        "far smaller residual looks blank; its largest stands above it.",
    )
    largest = {name: float(rows["residual"].abs().max()) for name, rows in table.groupby("map", sort=False)}
    words = " and ".join(f"{small(value)} with {METHODS[name].name}" for name, value in largest.items())
    st.markdown(bold_sentence(f"The largest residual in this query is {words}"))


@st.cache_resource(max_entries=32, show_spinner=False)
def _residuals(
    digest: str, normalisation: str, gamma: float, m: int, seed: int, query: int, _fold: Fold
) -> pd.DataFrame:
    part, train = _fold.parts[QUERY_PART], _fold.parts[PART].X
    rows = part.query_slice(query)
    order = np.argsort(-part.y[rows], kind="stable")[:LARGEST_BLOCK]
    X = part.X[rows][order]
    features = {name: features_of(name, train, X, gamma, m, seed) for name in MAPS}
    return kernel_residual.data(rbf_kernel(X, X, gamma), features, part.y[rows][order])


def numbers(found: KernelErrors) -> None:
    """Means over seeds in every norm, and the features Nyström has at each m."""
    used = over_seeds(found.table, NORMS[0]).set_index("m")
    columns = {"landmarks kept": used.loc[used["map"] == "nystroem", "used"]}
    for norm in NORMS:
        table = over_seeds(found.table, norm).set_index("m")
        for name in MAPS:
            label = f"{METHODS[name].name}, {kernel_error.NORM_NAMES[norm]}"
            columns[label] = table.loc[table["map"] == name, "mean"].map(
                lambda error: with_minus(error, ".3g")
            )
    st.dataframe(pd.DataFrame(columns))
    st.caption(
        "Means over seeds of ‖K − K̃‖ / ‖K‖. Landmarks kept, the least over seeds: Nyström skips those that "
        "earlier ones already span."
    )


def _about(spec: RunSpec) -> str:
    fold = spec.fold.replace("Fold", "fold ")
    normal = (
        "" if spec.normalisation == "none" else f" · normalised: {NORMALISATIONS[spec.normalisation].label}"
    )
    return f"{spec.dataset} {fold}{normal} · RBF kernel, γ = {power_of_two(spec.gamma)}"


def _drawn(spec: RunSpec) -> str:
    return f"{_about(spec)}, m = {spec.n_components}, seed {spec.seed}"


def _compared(found: KernelErrors | AtM) -> str:
    n, of = found.n_compared, found.n_documents
    if n == of:
        return f"K on all {n:,} training documents"
    return f"K on {n:,} of the {of:,} training documents, drawn at random"
