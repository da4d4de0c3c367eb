"""Shared by the tabs on the factorised and the regularised model: settings, and records by spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import power_of_two
from rankviz.datasets import DataError
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.solvers import SOLVER
from rankviz.models.low_rank.settings import COUPLING, FACTORS, NUCLEAR
from rankviz.models.methods import USUAL
from rankviz.runs.description import look_of
from rankviz.runs.estimate import check_budget
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.setting_controls import control_of, value_from
from ui.controls.settings import spec_from_state
from ui.controls.widgets import C_EXPONENTS
from ui.low_rank.words import APPEARS, HELP
from ui.shell.texts import escaped
from ui.work.jobs import predicted

Records = Mapping[RunSpec, RunRecord | None]
"""The records of `specs`; None for missing ones."""

SIDEBAR = "the current model's C"
CS = (SIDEBAR, *range(C_EXPONENTS[0], C_EXPONENTS[1] + 1))
HERE = {
    FACTORS: replace(FACTORS, key="factors"),
    NUCLEAR: replace(NUCLEAR, key="nuclear"),
    COUPLING: replace(COUPLING, key="coupling"),
}
"""Settings of both models, with this page's own keys if it has controls for them."""
HINGE = "hinge"
"""The loss of both models."""
C_KEY = "clow"
PLAIN = {"hinge": "with the hinge, as the other two", "sidebar": "the current model"}
PLAIN_KEY = "plainmodel"
WIDTH = 175  # pixels: the longest label with its help fits in one line; the rest wraps


@dataclass(frozen=True)
class Settings:
    """Settings of both models: K; nuclear and coupling (the paper's γ and λ); C."""

    factors: int
    nuclear: float
    coupling: float
    C: float

    @property
    def threshold(self) -> float:
        """The amount subtracted from the singular values of A."""
        return self.nuclear / (2.0 * self.coupling)


def settings(spec: RunSpec) -> Settings:
    """Return the settings: the sidebar's if its model has them, else those of the page's controls.

    Controls that are not drawn yet have their initial values.
    """
    state, has = st.session_state, set(spec.declared().values())
    own = {
        one.name: one.checked(spec.get(one.name) if one in has else value_from(here, state))
        for one, here in HERE.items()
    }
    chosen = state.get(C_KEY, SIDEBAR)
    return Settings(**own, C=own_C(spec) if chosen == SIDEBAR else LOSS_WEIGHT.checked(2.0 ** int(chosen)))


def own_C(spec: RunSpec) -> float:
    """Return the sidebar's C, even if its model has none."""
    return float(spec.get(LOSS_WEIGHT.name, value_from(LOSS_WEIGHT, st.session_state)))


def controls(spec: RunSpec) -> tuple[DeltaGenerator, Settings]:
    """Draw the row of controls of both models, without those of the sidebar; return it with the settings."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for setting, here in HERE.items():
        if setting not in spec.declared().values():
            with row.container(width=WIDTH):
                control_of(here).draw(False, here.help)
    with row.container(width=WIDTH):
        control_of_C()
    return row, settings(spec)


def control_of_C() -> None:
    """Draw the control of C of both models."""
    st.selectbox(
        "C of both",
        CS,
        format_func=lambda c: c if isinstance(c, str) else power_of_two(2.0**c),
        key=C_KEY,
        bind="query-params",
        help=HELP["clow"],
    )


def usual(spec: RunSpec) -> RunSpec:
    """Return the plain model on the data and features of a run: itself if it is plain."""
    if spec.method == USUAL:
        return spec
    if FEATURE_MAP in spec.declared().values():
        return spec.but(method=USUAL)
    return spec_from_state(st.session_state, value_from(FEATURE_MAP, st.session_state), solver=SOLVER.default)


def plain_with(spec: RunSpec, loss: str, **changes: Any) -> RunSpec:
    """Return the plain model with a loss, with the solver that supports all losses."""
    return usual(spec).but(loss=loss, solver=SOLVER.default, **changes)


def plain_look(spec: RunSpec) -> str:
    """Return the look of the plain model on the features of a run."""
    return look_of(usual(spec))


def factorized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """Return the factorised model with these settings: the sidebar's own run if it is factorised."""
    if FACTORS in spec.declared().values():
        return spec.but(C=chosen.C)
    return usual(spec).factorized(chosen.factors, chosen.C)


def regularized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """Return the regularised model with these settings: the sidebar's own run if it is regularised."""
    if NUCLEAR in spec.declared().values():
        return spec.but(C=chosen.C)
    return usual(spec).regularized(chosen.nuclear, chosen.coupling, chosen.C)


def plain_hinge(spec: RunSpec, C: float) -> RunSpec | None:
    """Return the plain model with the loss and C of the other two; None if it is the sidebar's."""
    same = (spec.get("loss"), spec.get("costs"), spec.get("rank"), spec.get("C")) == (HINGE, None, None, C)
    if spec.method == USUAL and same:
        return None
    cut = {"rank": None} if "rank" in usual(spec) else {}
    return plain_with(spec, HINGE, costs=None, C=C, **cut)


def chosen_plain(spec: RunSpec, C: float) -> RunSpec | None:
    """Return the plain model to train besides the sidebar's; None if that is the chosen one."""
    as_here = spec.method != USUAL or st.session_state.get(PLAIN_KEY, "hinge") == "hinge"
    return plain_hinge(spec, C) if as_here else None


def control_of_plain(spec: RunSpec, C: float) -> None:
    """Draw the choice of the plain model, if there are two."""
    if spec.method != USUAL or plain_hinge(spec, C) is None:
        return
    st.segmented_control(
        "Plain model",
        list(PLAIN),
        format_func=PLAIN.__getitem__,
        default="hinge",
        required=True,
        key=PLAIN_KEY,
        bind="query-params",
        help=HELP["plainmodel"],
    )


def bare(spec: RunSpec) -> RunSpec:
    """Return a spec without the digest of its data, as the page requests it."""
    return spec.but(digest="")


def refusal(spec: RunSpec) -> str:
    """Explain why a run does not fit into memory; "" if it does."""
    try:
        check_budget(predicted(spec))
    except DataError as error:
        return str(error)
    return ""


def affordable(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return the specs that fit into memory."""
    return [spec for spec in specs if not refusal(spec)]


def in_kernel_space(spec: RunSpec) -> bool:
    """Return True if an exact kernel is trained without rows of features."""
    return predicted(spec).sizes.in_kernel_space


def found(wanted: Sequence[RunSpec], records: Records) -> list[RunRecord | None]:
    """Return the records of specs; report those that do not fit, and rerun the page for unknown ones."""
    for words in dict.fromkeys(filter(None, map(refusal, wanted))):
        st.warning(escaped(words), icon=":material/memory:")
    if any(spec not in records for spec in affordable(wanted)):
        st.rerun()
    return [records.get(spec) for spec in wanted]


def wait(what: str = "This figure") -> None:
    """Say that a record is missing."""
    st.info(APPEARS.format(what=what), icon=":material/hourglass_empty:")
