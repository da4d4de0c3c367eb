"""Main views of the Kernel approximation page: its controls, and error against m with a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.kernel_error import DECIDING, NORMS, KernelErrors, Variant, fitted_slope
from rankviz.features import FEATURE_MAPS, KERNELS
from rankviz.features.kernel_base import KernelFacts
from rankviz.features.registry import KERNEL, needs_of
from rankviz.learning.losses import LOSS
from rankviz.learning.solvers import SOLVER
from rankviz.plots import kernel_error
from rankviz.plots.style import approximations
from rankviz.runs.spec import RunSpec
from ui.controls.setting_controls import value_from
from ui.controls.settings import spec_from_state
from ui.controls.widgets import COMPONENTS
from ui.kernel_approximation.asked import Asked
from ui.kernel_approximation.words import (
    ALTS,
    BELOW_AXIS,
    CAPTIONS,
    EXACT_KERNEL,
    HELP,
    LEFT_OUT,
    NO_KERNEL,
    NO_MAP,
    NOT_CUT,
    ON_ALL,
    ON_SOME,
    SEEDS,
    SO_FAR,
    kernel_words,
    reading,
    variant_words,
)
from ui.kernel_approximation.work import errors
from ui.shell.figures import capital, sentence, show_figure
from ui.shell.texts import describe

LARGEST_AT_ONCE = 500
DRAWS = 5


def asked(spec: RunSpec, place: DeltaGenerator) -> Asked | None:
    """Describe the comparison in `place`, draw the page's controls, and return both.

    Return None, with a message, if no map supports the kernel.
    """
    kind = KERNELS[value_from(KERNEL, st.session_state)]
    own = {v.map: spec_for(v, kind) for v in kernel_error.paper_variants(kind)}
    if not own:
        st.info(NO_MAP.format(kernel=kind.label))
        return None
    shown = tuple(drawn_by(one) for one in own.values())
    named = next((variant for variant in shown if variant.map == spec.get("feature_map")), None)
    compared = own[shown[0].map if named is None else named.map]
    place.caption(CAPTIONS["head"].format(about=about(compared), m=compared.n_components), width="content")
    _what_is_compared(spec, compared, shown)
    norm, others, draws, upto = _controls(kernel_error.other_variants(kind))
    usual = [*kernel_error.paper_variants(kind), *kernel_error.other_variants(kind)]
    variants = tuple(v for v in usual if kernel_error.is_paper_variant(v) or v in others or v == named)
    m = compared.n_components
    grid = tuple(sorted({m, *(k for k in COMPONENTS if k <= max(upto, m))}))
    return Asked(compared, norm, draws, grid, variants, shown, named)


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
        model = spec.kind.label if kind is None else f"{kind.label} model"
        words.append(NO_KERNEL.format(model=model, maps=maps))
    elif kind.is_exact:
        words.append(EXACT_KERNEL.format(maps=maps))
    for left_out in (FEATURE_MAPS[name] for name in approximations() if name not in drawn):
        why = needs_of(left_out, KERNELS[str(compared.get(KERNEL.name))])
        words.append(LEFT_OUT.format(map=capital(left_out.label), why=why))
    if compared.get("rank") is not None:
        words.append(NOT_CUT.format(map=FEATURE_MAPS[compared.feature_map].label, rank=compared.rank))
    if words:
        st.caption("  \n".join(words))


def _controls(ways: Sequence[Variant]) -> tuple[str, list[Variant], int, int]:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    norm = row.segmented_control(
        "Error",
        NORMS,
        format_func=kernel_error.NORM_NAMES.__getitem__,
        key="errnorm",
        default=NORMS[0],
        required=True,
        bind="query-params",
        help=HELP["errnorm"],
    )
    draws = row.container(width=170).slider(
        "Draws",
        1,
        10,
        DRAWS,
        key="draws",
        bind="query-params",
        help=HELP["draws"].format(deciding=DECIDING),
    )
    upto = row.container(width=200).select_slider(
        "Up to m",
        COMPONENTS[3:],
        LARGEST_AT_ONCE,
        key="errupto",
        bind="query-params",
        help=HELP["errupto"],
    )
    others = _other_ways(row.popover("More", help=HELP["more"]), ways)
    return str(norm or NORMS[0]), others, int(draws), int(upto)


def _other_ways(place: DeltaGenerator, ways: Sequence[Variant]) -> list[Variant]:
    """Draw a menu of further sampling methods; return the chosen ones."""
    known = {_told(variant, ways): variant for variant in ways}
    chosen = place.pills(
        "Other ways to draw",
        list(known),
        selection_mode="multi",
        key="also",
        bind="query-params",
        disabled=not known,
        help=HELP["also"],
    )
    return [known[words] for words in chosen or ()]


def _told(variant: Variant, ways: Sequence[Variant]) -> str:
    """Name a sampling method, with its map if several maps have it."""
    alike = [other for other in ways if other.choice == variant.choice]
    return kernel_error.choice_name(variant) if len(alike) == 1 else kernel_error.variant_name(variant)


def headline(asked: Asked) -> tuple[KernelErrors, int]:
    """Draw error against m with a sentence; return the errors, and the current draws of each map."""
    place = st.container()  # progress is shown below it: the figure keeps its place
    found, draws = errors(asked)
    table = kernel_error.error_data(found, asked.norm)
    slopes = {v: fitted_slope(table, v.map, found.n_distinct, v.choice) for v in asked.variants}
    m = asked.spec.n_components
    with place:
        show_figure(
            kernel_error.error_figure(table, slopes, asked.norm, m, asked.named),
            table,
            answer=sentence(reading(found, table, slopes, asked.norm, m)),
            key="kernel-error",
            alt=ALTS["kernel-error"].format(
                norm=kernel_error.NORM_NAMES[asked.norm], maps=kernel_error.joined_names(asked.variants)
            ),
            caption=CAPTIONS["kernel-error"].format(
                about=about(asked.spec),
                seeds=_seeds(asked, draws),
                compared=compared(found.n_compared, found.n_documents),
                n=found.n_documents,
                distinct=found.n_distinct,
                below=_below(table),
            ),
        )
        words = variant_words(found, table, m), kernel_words(found, asked.kernel, parameters(asked.spec))
        st.markdown("  \n".join(filter(None, words)))
    return found, draws


def _seeds(asked: Asked, draws: int) -> str:
    first, last = asked.seeds[0], asked.seeds[draws - 1]
    if asked.draws == 1:
        return f"Seed {first}"
    words = SEEDS.format(first=first, last=last)
    return words if draws == asked.draws else SO_FAR.format(words=words, draws=draws, of=asked.draws)


def _below(table: pd.DataFrame) -> str:
    hidden = int((table["mean"] < kernel_error.LEAST).sum())
    return BELOW_AXIS.format(hidden=hidden, of=len(table)) if hidden else ""


def finish(asked: Asked, draws: int) -> None:
    """Rerun the page while draws are missing: each rerun shows the current ones."""
    if draws < asked.draws:
        st.rerun()


def about(spec: RunSpec) -> str:
    """Describe data, fold, normalisation and kernel."""
    described = describe(spec)
    kernel = ", ".join(filter(None, (KERNEL.told(spec.kernel), parameters(spec))))
    return " · ".join(filter(None, (described.data, described.normalisation, kernel)))


def parameters(spec: RunSpec) -> str:
    """Describe the kernel's parameters: "γ = 2⁻²"."""
    return ", ".join(setting.told(spec.get(setting.name)) for setting in KERNELS[spec.kernel].settings)


def compared(n: int, of: int) -> str:
    """Say on which documents K and K̃ are compared: on n of `of`."""
    if n == of:
        return ON_ALL.format(n=n)
    return ON_SOME.format(n=n, of=of)
