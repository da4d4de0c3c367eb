"""Settings and tabs of the Nyström and Fourier page; its four rows are in kernel_approximation_rows.py."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.kernel_error import DECIDING, NORMS, KernelErrors, Variant, fitted_slope
from rankviz.common.numbers import percent, power_of_two, small, span, with_minus
from rankviz.common.parallel import cores
from rankviz.features import EXACT, FEATURE_MAPS, KERNELS
from rankviz.features.kernel_base import KernelFacts
from rankviz.features.registry import KERNEL, needs_of
from rankviz.learning.losses import LOSS
from rankviz.learning.solvers import SOLVER
from rankviz.plots import kernel_error, kernel_matrices
from rankviz.plots.style import approximations, style_of
from rankviz.runs.description import in_a_sentence
from rankviz.runs.spec import RunSpec
from ui.controls.setting_controls import value_from
from ui.controls.settings import spec_from_state
from ui.controls.widgets import COMPONENTS, Bound
from ui.shell.figures import Figures, capital, show_table
from ui.shell.page import show_subject
from ui.shell.texts import describe, escaped
from ui.study import kernel_approximation_computations as computations
from ui.study import kernel_approximation_words as texts
from ui.study.kernel_approximation_computations import Comparison, errors
from ui.work.folds import fold_of, normalised

FIGURES = Figures(texts.ALTS, texts.CAPTIONS)

DRAWS = 5


def asked(spec: RunSpec, place: DeltaGenerator, top: DeltaGenerator) -> Comparison | None:
    """Describe the comparison in `place` and `top`, draw the controls of the tabs, and return both.

    Return None, with a message, if no map supports the kernel.
    """
    kind = KERNELS[value_from(KERNEL, st.session_state)]
    own = {v.map: spec_for(v, kind) for v in kernel_error.paper_variants(kind)}
    if not own:
        st.info(texts.NO_MAP.format(kernel=kind.label))
        return None
    shown = tuple(drawn_by(one) for one in own.values())
    named = next((variant for variant in shown if variant.map == spec.get("feature_map")), None)
    compared = own[shown[0].map if named is None else named.map].but(digest=fold_of(spec).digest)
    show_subject(place, about(compared))
    with top:
        _what_is_compared(spec, compared, shown)
    norm, others, draws, upto = _controls(kernel_error.other_variants(kind))
    usual = [*kernel_error.paper_variants(kind), *kernel_error.other_variants(kind)]
    variants = tuple(v for v in usual if kernel_error.is_paper_variant(v) or v in others or v == named)
    m = compared.n_components
    grid = tuple(sorted({m, *(k for k in COMPONENTS if k <= max(upto, m))}))
    return Comparison(compared, norm, draws, grid, variants, shown, named)


def spec_for(variant: Variant, kernel: KernelFacts) -> RunSpec:
    """Return the sidebar's settings with this map; sampled as in the paper if its own method does not fit.

    Nothing is trained here, so loss and solver get their defaults, which always fit.
    """
    draws_by, usual = FEATURE_MAPS[variant.map].draws_by, {"loss": LOSS.default, "solver": SOLVER.default}
    if draws_by is not None:
        own = Variant(variant.map, str(value_from(draws_by, st.session_state)))
        usual |= {draws_by.name: (own if own.takes(kernel) else variant).choice}
    return spec_from_state(st.session_state, variant.map, **usual)


def drawn_by(spec: RunSpec) -> Variant:
    """Return the map of a spec, with its sampling method."""
    draws_by = FEATURE_MAPS[spec.feature_map].draws_by
    return Variant(spec.feature_map, "" if draws_by is None else str(spec.get(draws_by.name)))


def _what_is_compared(spec: RunSpec, compared: RunSpec, shown: Sequence[Variant]) -> None:
    """Say which settings of the sidebar are not used here, if any."""
    words = []
    maps = "1 approximation" if len(shown) == 1 else f"{len(shown)} approximations"
    kind = FEATURE_MAPS[spec.feature_map] if "feature_map" in spec else None
    drawn = [variant.map for variant in shown]
    if kind is None or not kind.has_kernel:
        model = escaped(capital(in_a_sentence(spec)))
        words.append(texts.NO_KERNEL.format(model=model, maps=maps))
    elif kind.is_exact:
        words.append(texts.EXACT_KERNEL.format(maps=maps))
    for left_out in (FEATURE_MAPS[name] for name in approximations() if name not in drawn):
        why = needs_of(left_out, KERNELS[str(compared.get(KERNEL.name))])
        words.append(texts.LEFT_OUT.format(map=capital(left_out.label), why=why))
    if compared.get("rank") is not None:
        words.append(texts.NOT_CUT.format(map=FEATURE_MAPS[compared.feature_map].label, rank=compared.rank))
    if words:
        st.caption("  \n".join(words))


def _controls(ways: Sequence[Variant]) -> tuple[str, list[Variant], int, int]:
    place = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    row = Bound(place, texts.HELP)
    norm = row.buttons("errnorm", "Error", {norm: kernel_error.NORM_NAMES[norm] for norm in NORMS})
    about_draws = texts.HELP["draws"].format(deciding=DECIDING)
    draws = row.slider("draws", "Draws", 1, 10, DRAWS, width=170, help=about_draws)
    upto = row.steps("errupto", "Up to m", COMPONENTS[3:], computations.LARGEST_AT_ONCE, width=200)
    return norm, _other_ways(place.expander("More", type="compact"), ways), draws, upto


def _other_ways(place: DeltaGenerator, ways: Sequence[Variant]) -> list[Variant]:
    """Draw a menu of further sampling methods; return the chosen ones."""
    known = {_variant_label(variant, ways): variant for variant in ways}
    chosen = place.pills(
        "Other ways to draw",
        list(known),
        selection_mode="multi",
        key="also",
        bind="query-params",
        disabled=not known,
        help=texts.HELP["also"],
    )
    return [known[words] for words in chosen or ()]


def _variant_label(variant: Variant, ways: Sequence[Variant]) -> str:
    """Name a sampling method, with its map if several maps have it."""
    alike = [other for other in ways if other.choice == variant.choice]
    return kernel_error.choice_name(variant) if len(alike) == 1 else kernel_error.variant_name(variant)


def draws(asked: Comparison) -> None:
    """Draw error against m over several draws with a sentence; rerun the page while draws are missing."""
    place = st.container()  # progress is shown below it: the figure keeps its place
    found, draws = errors(asked)
    table = kernel_error.error_data(found, asked.norm)
    slopes = {v: fitted_slope(table, v.map, found.n_distinct, v.choice) for v in asked.variants}
    m = asked.spec.n_components
    with place:

        def make() -> computations.Made:
            return kernel_error.error_figure(table, slopes, asked.norm, m, asked.named), table

        of = (asked.norm, draws, asked.grid, asked.variants, asked.named)
        FIGURES.show(
            "kernel-error",
            *computations.made_once("error", asked, of, make),
            texts.reading(found, table, slopes, asked.norm, m),
            is_steady=True,
            norm=kernel_error.NORM_NAMES[asked.norm],
            maps=kernel_error.joined_names(asked.variants),
            about=about(asked.spec),
            seeds=_seeds(asked, draws),
            compared=compared(found.n_compared, found.n_documents),
            n=found.n_documents,
            distinct=found.n_distinct,
            below=_below(table),
        )
        words = (
            texts.variant_words(found, table, m),
            texts.kernel_words(found, asked.kernel, parameters(asked.spec)),
        )
        st.markdown("  \n".join(filter(None, words)))
    _finish(asked, draws)


def _seeds(asked: Comparison, draws: int) -> str:
    first, last = asked.seeds[0], asked.seeds[draws - 1]
    if asked.draws == 1:
        return f"Seed {first}"
    words = texts.SEEDS.format(first=first, last=last)
    return words if draws == asked.draws else texts.SO_FAR.format(words=words, draws=draws, of=asked.draws)


def _below(table: pd.DataFrame) -> str:
    hidden = int((table["mean"] < kernel_error.LEAST).sum())
    return texts.BELOW_AXIS.format(hidden=hidden, of=len(table)) if hidden else ""


def _finish(asked: Comparison, draws: int) -> None:
    """Rerun the page while draws are missing: each rerun shows the current ones."""
    if draws < asked.draws:
        st.rerun()


def about(spec: RunSpec) -> str:
    """Describe data, fold, normalisation and kernel."""
    described = describe(spec)
    kernel = ", ".join(filter(None, (KERNEL.format(spec.kernel), parameters(spec))))
    return " · ".join(filter(None, (described.data, described.normalisation, kernel)))


def parameters(spec: RunSpec) -> str:
    """Describe the kernel's parameters: "γ = 2⁻²"."""
    return ", ".join(setting.format(spec.get(setting.name)) for setting in KERNELS[spec.kernel].settings)


def compared(n: int, of: int) -> str:
    """Say on which documents K and K̃ are compared: on n of `of`."""
    if n == of:
        return texts.ON_ALL.format(n=n)
    return texts.ON_SOME.format(n=n, of=of)


def entries(asked: Comparison) -> None:
    """Draw kernel values against their approximations."""
    found = computations.at_m(asked)
    pairs = found.n_compared * (found.n_compared - 1) // 2
    if pairs == 0:
        st.info(texts.ONE_DOCUMENT)
        return
    rows = found.deviations.to_dict("records")
    words = [f"{small(row['rms'])} with {style_of(row['map']).name}" for row in rows]
    most = [f"{small(row['largest'])}" for row in rows]
    FIGURES.show(
        "kernel-entries",
        kernel_matrices.entries_figure(found.entries),
        found.entries,
        texts.ENTRIES.format(rms=" and ".join(words), most=" and ".join(most)),
        maps=kernel_error.joined_names(asked.shown),
        drawn=drawn(asked),
        compared=compared(found.n_compared, found.n_documents),
        pairs=pairs,
    )


def spectrum(asked: Comparison) -> None:
    """Draw the eigenvalues of K and of its approximations, and the effective dimension at the sidebar's C."""
    spec, table, K = asked.spec, computations.spectra(asked), computations.compared_kernel(asked.spec)
    if table.empty:
        st.info(texts.ALL_ZERO)
        return
    place = st.container()
    bounds = computations.spectrum_of_all(spec).effective_dimension(spec.C)
    m, n = spec.n_components, K.n_documents
    sample = len(K.Z) < n
    what, means = texts.dimension_words(
        bounds, power_of_two(spec.C), m, n, has_gamma=KERNELS[spec.kernel].has_gamma
    )
    with place:
        FIGURES.show(
            "kernel-spectrum",
            kernel_matrices.spectrum_figure(table, m, 0.5 / spec.C / computations.trace_of_all(asked)),
            table,
            what,
            drawn=drawn(asked),
            compared=compared(len(K.Z), n),
            sample=" The sample's shares are close to those of all documents." if sample else "",
        )
        st.markdown(f"{means}  \n{_share(table, m)}")


def _share(table: pd.DataFrame, m: int) -> str:
    exact = table.loc[table["map"] == EXACT, "eigenvalue"]
    left = float(exact.iloc[m:].sum() / exact.sum())
    marked = kernel_matrices.mth_eigenvalue(table, m)
    value = f"; eigenvalue {m} is {small(marked)}" if marked is not None else ""
    share = percent(1 - left) if left > 0.01 else f"all but {small(left)}" if left else "all"
    return texts.TRACE.format(m=m, share=share, value=value)


def residual(asked: Comparison) -> None:
    """Draw κ̃ − κ among the documents of one query that the maps have not seen."""
    part = normalised(asked.spec).parts[computations.QUERY_PART]
    queries = [int(q) for q in part.query_ids]
    chosen = int(st.session_state["kq"])
    position = queries.index(chosen)
    n = len(part.y[part.query_slice(position)])
    table = computations.residuals(asked, position)
    apart = kernel_matrices.residual_rms(table)
    values = {where: _values(apart[where]) for where in ("between", "itself") if apart[where].notna().all()}
    parts = [f"{values['between']} between two documents"] if "between" in values else []
    parts += [f"{'it is ' * len(parts)}{values['itself']} of a document with itself"]
    shown = int(table["row"].max())
    cut = f"all {n} documents" if shown == n else f"{shown} of {n} documents"
    FIGURES.show(
        "kernel-residual",
        kernel_matrices.residual_figure(table),
        table,
        texts.RESIDUAL.format(told="; ".join(parts)),
        query=chosen,
        drawn=drawn(asked),
        cut=cut,
    )


def _values(of_maps: pd.Series) -> str:
    """Format a number for each map: "0.01 with Nyström and 0.1 with random Fourier"."""
    return " and ".join(f"{small(value)} with {style_of(str(name)).name}" for name, value in of_maps.items())


def seconds(asked: Comparison) -> None:
    """Draw the error against the seconds to make the features."""
    found, draws = errors(asked)
    table = kernel_error.seconds_data(kernel_error.error_data(found, asked.norm), computations.seconds(asked))
    FIGURES.show(
        "kernel-seconds",
        kernel_error.seconds_figure(table, asked.norm, asked.spec.n_components, asked.named),
        table,
        texts.seconds_words(table, draws),
        norm=kernel_error.NORM_NAMES[asked.norm],
        about=about(asked.spec),
        cores=cores(),
        n=found.n_documents,
        compared=compared(found.n_compared, found.n_documents),
    )
    _finish(asked, draws)


def numbers(asked: Comparison) -> None:
    """Draw errors of all maps at each m, and their fitted powers of m."""
    found, draws = errors(asked)
    table = kernel_error.error_data(found, asked.norm)
    columns: dict[str, pd.Series] = {}
    kept, landmarks = "", next(filter(texts.has_landmarks, asked.variants), None)
    if landmarks is not None:
        kept = texts.LANDMARKS_KEPT.format(name=style_of(landmarks.map).name)
        columns["landmarks kept"] = kernel_error.rows_of(table, landmarks).set_index("m")["used"]
    for variant in asked.variants:
        rows = kernel_error.rows_of(table, variant).set_index("m")
        columns[kernel_error.variant_name(variant)] = rows.apply(_range, axis=1)
    show_table(pd.DataFrame(columns))
    st.caption(texts.CAPTIONS["errors"].format(norm=kernel_error.NORM_NAMES[asked.norm], kept=kept))
    slopes = [_slope(table, variant, found) for variant in asked.variants]
    show_table(pd.DataFrame(slopes), hide_index=True)
    st.caption(texts.CAPTIONS["slopes"])
    _finish(asked, draws)


def _range(row: pd.Series) -> str:
    return f"{small(row['mean'])} ({span(small(row['low']), small(row['high']))})"


def _slope(table: pd.DataFrame, variant: Variant, found: KernelErrors) -> dict[str, str]:
    slope = fitted_slope(table, variant.map, found.n_distinct, variant.choice)
    fitted = "too few points" if slope is None else with_minus(slope.exponent, ".3f")
    where = "" if slope is None else span(slope.first, slope.last, ",")
    return {"map": kernel_error.variant_name(variant), "exponent of m": fitted, "fitted over m": where}


def drawn(asked: Comparison) -> str:
    """Describe the maps at the sidebar's m."""
    others = [
        kernel_error.choice_name(variant)
        for variant in asked.shown
        if not kernel_error.is_paper_variant(variant)
    ]
    words = [about(asked.spec), f"m = {asked.spec.n_components}", *others, f"seed {asked.seed}"]
    return ", ".join(words)
