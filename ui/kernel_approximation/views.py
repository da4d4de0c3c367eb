"""The head of the Kernel approximation page: its controls, and error against m with its reading."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.analysis.kernel_error import CHOICES, MAPS, NORMS, PAPERS, VARIANTS, KernelErrors, Variant
from rankviz.analysis.kernel_summary import DECIDING, fitted_slope
from rankviz.common.numbers import power_of_two
from rankviz.datasets import NORMALISATIONS
from rankviz.experiments.spec import RunSpec
from rankviz.plots import kernel_error, kernel_variants
from rankviz.plots.style import style_of
from ui.kernel_approximation.words import kernel_words, reading, variant_words
from ui.kernel_approximation.work import Asked, errors
from ui.shared.offers import COMPONENTS
from ui.shared.settings import spec_from_state
from ui.shared.show import bold_sentence, show_figure

LARGEST_AT_ONCE = 500
DRAWS = 5
OTHERS = {variant.choice: variant for variant in VARIANTS if variant not in PAPERS}


def asked(spec: RunSpec) -> Asked:
    """Say what is compared, draw the page's own controls, and put both together."""
    shown = {name: spec_from_state(st.session_state, name) for name in MAPS}
    pair = tuple(Variant(name, str(getattr(shown[name], CHOICES[name]))) for name in MAPS)
    named = next((variant for variant in pair if variant.map == spec.feature_map), None)
    kernel = spec if named else shown[MAPS[0]]
    _what_is_compared(spec, kernel)
    norm, others, draws, upto = _controls()
    variants = tuple(v for v in VARIANTS if v in PAPERS or v in others or v == named)
    m = kernel.n_components
    grid = tuple(sorted({m, *(k for k in COMPONENTS if k <= max(upto, m))}))
    return Asked(kernel, norm, draws, grid, variants, (pair[0], pair[1]), named)


def _what_is_compared(spec: RunSpec, kernel: RunSpec) -> None:
    """The line at the top: which kernel is approximated, and what of the sidebar plays no part here."""
    words = f":gray[{about(kernel)} · training documents · m = {kernel.n_components} is marked]"
    if spec.feature_map == "exact":
        words += "  \nThe sidebar's model uses the exact kernel: these are the two maps that approximate it."
    elif spec.feature_map not in MAPS:
        name = style_of(spec.feature_map).name if spec.feature_map in METHODS else spec.feature_map
        words += f"  \nThe {name} model chosen in the sidebar has no kernel; these are the two maps that do."
    if kernel.rank is not None:
        words += f"  \nNyström is shown here with all its eigenvalues, not cut to rank {kernel.rank}."
    st.markdown(words)


def _controls() -> tuple[str, tuple[Variant, ...], int, int]:
    first, second = st.columns(2, gap="medium"), st.columns(2, gap="medium")
    norm = first[0].segmented_control(
        "Error",
        NORMS,
        format_func=kernel_error.NORM_NAMES.__getitem__,
        key="errnorm",
        default=NORMS[0],
        required=True,
        bind="query-params",
        help="Of ‖K − K̃‖ / ‖K‖. Frobenius: root of the sum of all squared entries. Spectral: largest "
        "absolute eigenvalue. Maximum-entry: largest absolute entry, which for K is 1.",
    )
    others = first[1].pills(
        "Other ways to draw",
        list(OTHERS),
        format_func=lambda choice: kernel_variants.choice_name(OTHERS[choice]),
        selection_mode="multi",
        key="also",
        bind="query-params",
        help="k-means++: landmarks spread out, one after another, the likelier the farther from the others. "
        "Orthogonal: frequencies at right angles in blocks. Drawn in the colour of their map.",
    )
    draws = second[0].slider(
        "Draws of each map",
        1,
        10,
        DRAWS,
        key="draws",
        bind="query-params",
        help="Seeds, beginning with the sidebar's. The line is their mean, the band runs from the least to "
        f"the greatest error. From {DECIDING} draws on, bands that do not overlap tell two maps apart.",
    )
    upto = second[1].select_slider(
        "Up to m",
        COMPONENTS[3:],
        LARGEST_AT_ONCE,
        key="errupto",
        bind="query-params",
        help="The largest m of the curves; the m of the sidebar is on them in any case. Time grows with it.",
    )
    return str(norm or NORMS[0]), tuple(OTHERS[choice] for choice in others or ()), int(draws), int(upto)


def headline(asked: Asked) -> tuple[KernelErrors, int]:
    """Error against m with its reading; returns the errors and the draws of each map there are by now."""
    place = st.container()  # progress is told below it, so that the figure stays where it is
    found, draws = errors(asked)
    table = kernel_error.data(found, asked.norm)
    slopes = {v: fitted_slope(table, v.map, found.n_distinct, v.choice) for v in asked.variants}
    m = asked.spec.n_components
    with place:
        show_figure(
            kernel_error.figure(table, slopes, asked.norm, m, asked.named),
            table,
            key="kernel-error",
            alt=f"Relative {kernel_error.NORM_NAMES[asked.norm]} error of the kernel against the number of "
            "features, Nyström and random Fourier, both axes logarithmic.",
            caption=f"{about(asked.spec)}. {_seeds(asked, draws)}. "
            f"{compared(found.n_compared, found.n_documents)}; "
            f"maps fitted on all {found.n_documents:,} ({found.n_distinct:,} distinct). Dotted: fitted power "
            f"of m.{_below(table)}",
        )
        st.markdown(bold_sentence(reading(found, table, slopes, asked.norm, m)))
        words = variant_words(found, table, m), kernel_words(found, power_of_two(asked.spec.gamma))
        st.markdown("  \n".join(filter(None, words)))
    return found, draws


def _seeds(asked: Asked, draws: int) -> str:
    first, last = asked.seeds[0], asked.seeds[draws - 1]
    if asked.draws == 1:
        return f"Seed {first}"
    words = f"Seeds {first} to {last} (line: mean; band: least to greatest)"
    return words if draws == asked.draws else f"{words}: {draws} of {asked.draws} draws, the rest follow"


def _below(table: pd.DataFrame) -> str:
    hidden = int((table["mean"] < kernel_error.LEAST).sum())
    return f" Rounding, so below the axis: {hidden} of {len(table)} points." if hidden else ""


def finish(asked: Asked, draws: int) -> None:
    """Run the page again while draws are missing: each time it shows those there are by then."""
    if draws < asked.draws:
        st.rerun()


def about(spec: RunSpec) -> str:
    """Data, fold, normalisation and kernel in words."""
    fold = spec.fold.replace("Fold", "fold ")
    normal = (
        "" if spec.normalisation == "none" else f" · normalised: {NORMALISATIONS[spec.normalisation].label}"
    )
    return f"{spec.dataset} {fold}{normal} · RBF kernel, γ = {power_of_two(spec.gamma)}"


def compared(n: int, of: int) -> str:
    """On which documents K and K̃ are compared: on n of the `of` there are."""
    if n == of:
        return f"K on all {n:,} training documents"
    return f"K on {n:,} of the {of:,} training documents, drawn at random"
