"""Shared by the tabs on the factorised and the regularised model: their settings, and records by spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from rankviz.common.numbers import power_of_two
from rankviz.datasets import DataError
from rankviz.experiments.estimate import check_budget
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from ui.shared.jobs import predicted
from ui.shared.offers import C_EXPONENTS

Records = Mapping[RunSpec, RunRecord | None]
"""The records of `specs`, None where they are not there yet."""

SIDEBAR = "the sidebar's C"
CS = (SIDEBAR, *range(C_EXPONENTS[0], C_EXPONENTS[1] + 1))
NUCLEAR = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
COUPLING = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
MOST_FACTORS = 50
FACTORS_KEY, NUCLEAR_KEY, COUPLING_KEY, C_KEY = "factors", "nuclear", "coupling", "clow"
PLAIN = {"hinge": "with the hinge, as the other two", "sidebar": "as in the sidebar"}
PLAIN_KEY = "plainmodel"
WIDTH = 210  # pixels: the longest label with its help in one line; what does not fit beside wraps


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
    """The settings; for controls that are not drawn yet, the values they start with."""
    state = st.session_state
    chosen = state.get(C_KEY, SIDEBAR)
    return Settings(
        int(state.get(FACTORS_KEY, RunSpec.factors)),
        float(state.get(NUCLEAR_KEY, RunSpec.nuclear)),
        float(state.get(COUPLING_KEY, RunSpec.coupling)),
        spec.C if chosen == SIDEBAR else 2.0 ** int(chosen),
    )


def controls(spec: RunSpec) -> Settings:
    """The four controls of both models."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with row.container(width=WIDTH):
        _factors()
    row.container(width=WIDTH).select_slider(
        "Regularised: nuclear (γ)",
        NUCLEAR,
        RunSpec.nuclear,
        format_func=lambda value: f"{value:g}",
        key=NUCLEAR_KEY,
        bind="query-params",
        help="Weight of the nuclear norm Σσ of the matrices A, xu2019's γ. The singular values of A are "
        "those of α less nuclear/(2·coupling), and 0 below: the larger, the lower the rank.",
    )
    row.container(width=WIDTH).select_slider(
        "Regularised: coupling (λ)",
        COUPLING,
        RunSpec.coupling,
        format_func=lambda value: f"{value:g}",
        key=COUPLING_KEY,
        bind="query-params",
        help="Weight of the distance ‖α − A‖², xu2019's λ. The larger, the closer A and α are.",
    )
    with row.container(width=190):
        control_of_C()
    return settings(spec)


def _factors() -> None:
    st.slider(
        "Factorised: K",
        1,
        MOST_FACTORS,
        RunSpec.factors,
        key=FACTORS_KEY,
        bind="query-params",
        help="Length of the vectors v with αᵢⱼ = ⟨vᵢ, vⱼ⟩, one for each document. It bounds the rank of each "
        "query's block: K with two grades, (R − 1)·K with R grades.",
    )


def control_of_C() -> None:
    """C of both models."""
    st.selectbox(
        "C of both",
        CS,
        format_func=lambda c: c if isinstance(c, str) else power_of_two(2.0**c),
        key=C_KEY,
        bind="query-params",
        help="Weight of the hinge in both models, and the largest α. Losses weigh pairs differently: where "
        "the sidebar's loss is another one, the best C may be too.",
    )


def plain_hinge(spec: RunSpec, C: float) -> RunSpec | None:
    """The plain model that trains what the other two do; None where that is the sidebar's."""
    same = (spec.loss, spec.costs, spec.rank, spec.C) == ("hinge", None, None, C)
    return None if same else spec.but(loss="hinge", costs=None, rank=None, solver=RunSpec.solver, C=C)


def chosen_plain(spec: RunSpec, C: float) -> RunSpec | None:
    """The plain model to train beside the sidebar's, None where the sidebar's is the one."""
    return plain_hinge(spec, C) if st.session_state.get(PLAIN_KEY, "hinge") == "hinge" else None


def control_of_plain(spec: RunSpec, C: float) -> None:
    """Which plain model stands beside the other two, where there are two to choose from."""
    if plain_hinge(spec, C) is None:
        return
    st.segmented_control(
        "Plain model",
        list(PLAIN),
        format_func=PLAIN.__getitem__,
        default="hinge",
        required=True,
        key=PLAIN_KEY,
        bind="query-params",
        help="The factorised and the regularised model train the hinge. With the same loss, C and pairs in "
        "the plain model, only the models differ; the sidebar's may differ in its loss as well.",
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
        st.warning(words, icon=":material/memory:")
    if any(spec not in records for spec in affordable(wanted)):
        st.rerun()
    return [records.get(spec) for spec in wanted]


def wait(what: str = "This figure appears") -> None:
    """Where a record is missing."""
    st.info(
        f"{what} once its models are trained: see the end of the page.", icon=":material/hourglass_empty:"
    )
