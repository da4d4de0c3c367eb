"""The tabs of the Kernel approximation page: entries, residuals, spectrum, seconds, numbers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.analysis.kernel_error import KernelErrors, Variant, fitted_slope
from rankviz.common.numbers import percent, power_of_two, small, with_minus
from rankviz.common.threads import cores
from rankviz.features import EXACT, KERNELS
from rankviz.plots import kernel_error, kernel_matrices
from rankviz.plots.style import style_of
from ui.controls.widgets import keep_held
from ui.kernel_approximation import work
from ui.kernel_approximation.asked import Asked
from ui.kernel_approximation.views import about, compared
from ui.kernel_approximation.words import (
    ALL_ZERO,
    ALTS,
    CAPTIONS,
    ENTRIES,
    HELP,
    LANDMARKS_KEPT,
    ONE_DOCUMENT,
    RESIDUAL,
    TRACE,
    dimension_words,
    has_landmarks,
    seconds_words,
)
from ui.shell.figures import sentence, show_figure, show_table
from ui.work.folds import normalised


def entries(asked: Asked) -> None:
    """Draw kernel values against their approximations."""
    found = work.at_m(asked)
    pairs = found.n_compared * (found.n_compared - 1) // 2
    if pairs == 0:
        st.info(ONE_DOCUMENT)
        return
    rows = found.deviations.to_dict("records")
    words = [f"{small(row['rms'])} with {style_of(row['map']).name}" for row in rows]
    most = [f"{small(row['largest'])}" for row in rows]
    show_figure(
        kernel_matrices.entries_figure(found.entries),
        found.entries,
        answer=sentence(ENTRIES.format(rms=" and ".join(words), most=" and ".join(most))),
        key="kernel-entries",
        alt=ALTS["kernel-entries"].format(maps=kernel_error.joined_names(asked.shown)),
        caption=CAPTIONS["kernel-entries"].format(
            drawn=_drawn(asked), compared=compared(found.n_compared, found.n_documents), pairs=pairs
        ),
    )


def spectrum(asked: Asked) -> None:
    """Draw the eigenvalues of K and of its approximations, and the effective dimension at the sidebar's C."""
    spec, table, K = asked.spec, work.spectra(asked), work.compared_kernel(asked.spec)
    if table.empty:
        st.info(ALL_ZERO)
        return
    place = st.container()
    bounds = work.spectrum_of_all(spec).effective_dimension(spec.C)
    m, n = spec.n_components, K.n_documents
    sample = len(K.Z) < n
    what, means = dimension_words(
        bounds, power_of_two(spec.C), m, n, has_gamma=KERNELS[spec.kernel].has_gamma
    )
    with place:
        show_figure(
            kernel_matrices.spectrum_figure(table, m, 0.5 / spec.C / work.trace_of_all(asked)),
            table,
            answer=sentence(what),
            key="kernel-spectrum",
            alt=ALTS["kernel-spectrum"],
            caption=CAPTIONS["kernel-spectrum"].format(
                drawn=_drawn(asked),
                compared=compared(len(K.Z), n),
                sample=" The sample's shares are close to those of all documents." if sample else "",
            ),
        )
        st.markdown(f"{means}  \n{_share(table, m)}")


def _share(table: pd.DataFrame, m: int) -> str:
    exact = table.loc[table["map"] == EXACT, "eigenvalue"]
    left = float(exact.iloc[m:].sum() / exact.sum())
    marked = kernel_matrices.mth_eigenvalue(table, m)
    value = f"; eigenvalue {m} is {small(marked)}" if marked is not None else ""
    share = percent(1 - left) if left > 0.01 else f"all but {small(left)}" if left else "all"
    return TRACE.format(m=m, share=share, value=value)


def residual(asked: Asked) -> None:
    """Draw κ̃ − κ among the documents of one query that the maps have not seen."""
    part = normalised(asked.spec).parts[work.QUERY_PART]
    queries = [int(q) for q in part.query_ids]
    chosen = st.selectbox(
        "Query",
        queries,
        keep_held("kq", queries),
        key="kq",
        bind="query-params",
        help=HELP["kq"],
        width=240,
    )
    position = queries.index(chosen)
    n = len(part.y[part.query_slice(position)])
    table = work.residuals(asked, position)
    apart = kernel_matrices.residual_rms(table)
    values = {where: _values(apart[where]) for where in ("between", "itself") if apart[where].notna().all()}
    told = [f"{values['between']} between two documents"] if "between" in values else []
    told += [f"{'it is ' * len(told)}{values['itself']} of a document with itself"]
    shown = int(table["row"].max())
    cut = f"all {n} documents" if shown == n else f"{shown} of {n} documents"
    show_figure(
        kernel_matrices.residual_figure(table),
        table,
        answer=sentence(RESIDUAL.format(told="; ".join(told))),
        key="kernel-residual",
        alt=ALTS["kernel-residual"].format(query=chosen),
        caption=CAPTIONS["kernel-residual"].format(drawn=_drawn(asked), query=chosen, cut=cut),
    )


def _values(of_maps: pd.Series) -> str:
    """Format a number for each map: "0.01 with Nyström and 0.1 with random Fourier"."""
    return " and ".join(f"{small(value)} with {style_of(str(name)).name}" for name, value in of_maps.items())


def seconds(asked: Asked, found: KernelErrors, draws: int) -> None:
    """Draw the error against the seconds to make the features."""
    table = kernel_error.seconds_data(kernel_error.error_data(found, asked.norm), work.seconds(asked))
    show_figure(
        kernel_error.seconds_figure(table, asked.norm, asked.spec.n_components, asked.named),
        table,
        answer=sentence(seconds_words(table, draws)),
        key="kernel-seconds",
        alt=ALTS["kernel-seconds"].format(norm=kernel_error.NORM_NAMES[asked.norm]),
        caption=CAPTIONS["kernel-seconds"].format(
            about=about(asked.spec),
            cores=cores(),
            n=found.n_documents,
            compared=compared(found.n_compared, found.n_documents),
        ),
    )


def numbers(asked: Asked, found: KernelErrors) -> None:
    """Draw errors of all maps at each m, and their fitted powers of m."""
    table = kernel_error.error_data(found, asked.norm)
    columns: dict[str, pd.Series] = {}
    landmarks = next(filter(has_landmarks, asked.variants), None)
    if landmarks is not None:
        columns["landmarks kept"] = kernel_error.rows_of(table, landmarks).set_index("m")["used"]
    for variant in asked.variants:
        rows = kernel_error.rows_of(table, variant).set_index("m")
        columns[kernel_error.variant_name(variant)] = rows.apply(_range, axis=1)
    show_table(pd.DataFrame(columns))
    st.caption(CAPTIONS["errors"].format(norm=kernel_error.NORM_NAMES[asked.norm], kept=_kept(landmarks)))
    slopes = [_slope(table, variant, found) for variant in asked.variants]
    show_table(pd.DataFrame(slopes), hide_index=True)
    st.caption(CAPTIONS["slopes"])


def _kept(landmarks: Variant | None) -> str:
    """Explain the landmarks kept, if there are any."""
    if landmarks is None:
        return ""
    name = style_of(landmarks.map).name
    return LANDMARKS_KEPT.format(name=name)


def _range(row: pd.Series) -> str:
    return f"{small(row['mean'])} ({small(row['low'])} to {small(row['high'])})"


def _slope(table: pd.DataFrame, variant: Variant, found: KernelErrors) -> dict[str, str]:
    slope = fitted_slope(table, variant.map, found.n_distinct, variant.choice)
    fitted = "too few points" if slope is None else with_minus(slope.exponent, ".3f")
    where = "" if slope is None else f"{slope.first:,} to {slope.last:,}"
    return {"map": kernel_error.variant_name(variant), "exponent of m": fitted, "fitted over m": where}


def _drawn(asked: Asked) -> str:
    """Describe the maps at the sidebar's m."""
    others = [
        kernel_error.choice_name(variant)
        for variant in asked.shown
        if not kernel_error.is_paper_variant(variant)
    ]
    words = [about(asked.spec), f"m = {asked.spec.n_components}", *others, f"seed {asked.seed}"]
    return ", ".join(words)
