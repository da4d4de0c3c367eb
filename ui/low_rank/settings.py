"""Shared by the tabs on the factorised and the regularised model: their settings, and records by spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import power_of_two
from rankviz.datasets import DataError
from rankviz.experiments.estimate import check_budget
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.models.low_rank.settings import COUPLING, FACTORS, NUCLEAR
from rankviz.models.methods import USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.plots.style import look_of
from rankviz.risk.settings import LOSS_WEIGHT
from rankviz.solvers.registry import SOLVER
from ui.low_rank.words import HELP
from ui.shared.controls import control_of, value_from
from ui.shared.foreign import escaped
from ui.shared.jobs import predicted
from ui.shared.offers import C_EXPONENTS
from ui.shared.settings import spec_from_state

Records = Mapping[RunSpec, RunRecord | None]
"""The records of `specs`, None where they are not there yet."""

SIDEBAR = "the current model's C"
CS = (SIDEBAR, *range(C_EXPONENTS[0], C_EXPONENTS[1] + 1))
HERE = {
    FACTORS: replace(FACTORS, key="factors"),
    NUCLEAR: replace(NUCLEAR, key="nuclear"),
    COUPLING: replace(COUPLING, key="coupling"),
}
"""The settings of both models, each with keys of this page's own, where it has controls for them."""
HINGE = "hinge"
"""The loss that both models train."""
C_KEY = "clow"
PLAIN = {"hinge": "with the hinge, as the other two", "sidebar": "the current model"}
PLAIN_KEY = "plainmodel"
WIDTH = 175  # pixels: the longest label with its help in one line; what does not fit beside wraps


@dataclass(frozen=True)
class Settings:
    """Settings of both models: K; nuclear and coupling (the paper's γ and λ); C."""

    factors: int
    nuclear: float
    coupling: float
    C: float

    @property
    def threshold(self) -> float:
        """The amount that is cut off the singular values of A."""
        return self.nuclear / (2.0 * self.coupling)


def settings(spec: RunSpec) -> Settings:
    """The settings chosen: the sidebar's where its model has them, else those of the page's own controls.

    Of controls that are not drawn yet, where they start.
    """
    state, has = st.session_state, set(spec.declared().values())
    own = {
        one.name: one.checked(spec.get(one.name) if one in has else value_from(here, state))
        for one, here in HERE.items()
    }
    chosen = state.get(C_KEY, SIDEBAR)
    return Settings(**own, C=own_C(spec) if chosen == SIDEBAR else LOSS_WEIGHT.checked(2.0 ** int(chosen)))


def own_C(spec: RunSpec) -> float:
    """The sidebar's C, also where its model has none."""
    return float(spec.get(LOSS_WEIGHT.name, value_from(LOSS_WEIGHT, st.session_state)))


def controls(spec: RunSpec) -> tuple[DeltaGenerator, Settings]:
    """The row of controls of both models, and what is chosen; those of the sidebar are not drawn again."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for setting, here in HERE.items():
        if setting not in spec.declared().values():
            with row.container(width=WIDTH):
                control_of(here).draw(False, here.help)
    with row.container(width=WIDTH):
        control_of_C()
    return row, settings(spec)


def control_of_C() -> None:
    """C of both models."""
    st.selectbox(
        "C of both",
        CS,
        format_func=lambda c: c if isinstance(c, str) else power_of_two(2.0**c),
        key=C_KEY,
        bind="query-params",
        help=HELP["clow"],
    )


def usual(spec: RunSpec) -> RunSpec:
    """The plain model on the data and features of a run: itself, where it is one."""
    if spec.method == USUAL:
        return spec
    if FEATURE_MAP in spec.declared().values():
        return spec.but(method=USUAL)
    return spec_from_state(st.session_state, value_from(FEATURE_MAP, st.session_state), solver=SOLVER.default)


def plain_with(spec: RunSpec, loss: str, **changes: Any) -> RunSpec:
    """The plain model with a loss, trained by the solver that serves all."""
    return usual(spec).but(loss=loss, solver=SOLVER.default, **changes)


def plain_look(spec: RunSpec) -> str:
    """The look of the plain model on the features of a run."""
    return look_of(usual(spec))


def factorized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """The factorised model with the settings chosen: the sidebar's own run where it is one."""
    if FACTORS in spec.declared().values():
        return spec.but(C=chosen.C)
    return usual(spec).factorized(chosen.factors, chosen.C)


def regularized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """The regularised model with the settings chosen: the sidebar's own run where it is one."""
    if NUCLEAR in spec.declared().values():
        return spec.but(C=chosen.C)
    return usual(spec).regularized(chosen.nuclear, chosen.coupling, chosen.C)


def plain_hinge(spec: RunSpec, C: float) -> RunSpec | None:
    """The plain model that trains what the other two do; None where that is the sidebar's."""
    same = (spec.get("loss"), spec.get("costs"), spec.get("rank"), spec.get("C")) == (HINGE, None, None, C)
    if spec.method == USUAL and same:
        return None
    cut = {"rank": None} if "rank" in usual(spec) else {}
    return plain_with(spec, HINGE, costs=None, C=C, **cut)


def chosen_plain(spec: RunSpec, C: float) -> RunSpec | None:
    """The plain model to train beside the sidebar's, None where the sidebar's is the one."""
    as_here = spec.method != USUAL or st.session_state.get(PLAIN_KEY, "hinge") == "hinge"
    return plain_hinge(spec, C) if as_here else None


def control_of_plain(spec: RunSpec, C: float) -> None:
    """Which plain model stands beside the other two, where there are two to choose from."""
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
    """A spec without the digest of its data, as the page asks for it."""
    return spec.but(digest="")


def refusal(spec: RunSpec) -> str:
    """Why a run does not fit into memory, "" where it does."""
    try:
        check_budget(predicted(spec))
    except DataError as error:
        return str(error)
    return ""


def affordable(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Those that fit into memory."""
    return [spec for spec in specs if not refusal(spec)]


def in_kernel_space(spec: RunSpec) -> bool:
    """Whether an exact kernel is trained without rows of features."""
    return predicted(spec).sizes.in_kernel_space


def found(wanted: Sequence[RunSpec], records: Records) -> list[RunRecord | None]:
    """The records of specs; says which do not fit, and has the page see to those that it did not know of."""
    for words in dict.fromkeys(filter(None, map(refusal, wanted))):
        st.warning(escaped(words), icon=":material/memory:")
    if any(spec not in records for spec in affordable(wanted)):
        st.rerun()
    return [records.get(spec) for spec in wanted]


def wait(what: str = "This figure appears") -> None:
    """Where a record is missing."""
    st.info(
        f"{what} when its models are trained: see the end of the page.", icon=":material/hourglass_empty:"
    )
