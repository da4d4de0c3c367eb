"""Pinned settings: short texts in the URL that stand for models on the data that the sidebar names.

`nystroem_m200_g-2_s0_c-4_t6` is Nyström with m = 200, γ = 2^-2, seed 0, C = 2^-4 and tolerance 10^-6; `_r50`
behind it keeps rank 50, `_k` chooses landmarks by k-means++, `_o` makes frequencies orthogonal. The exact
kernel has neither m nor seed (`exact_g-2_c-4_t6`), the linear model no γ either (`linear_c-4_t6`). At the end
stand loss, costs and solver where they are not the usual ones: `_lhinge`, `_wgrade-query` or `_w1x2x1p3` for
λ = 1, 2, 1.3 (`_wu1x2x1p3` with μ), `_xsgd-pair`. Data set, fold and normalisation are the sidebar's, so that
pins compare.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import streamlit as st

from rankviz.common.settings import LARGEST_SEED
from rankviz.experiments.spec import RunSpec
from rankviz.plots.style import triangle
from rankviz.risk.costs import Costs, check_costs
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import check_solver
from rankviz.solvers.settings import TOLERANCES
from ui.shared.costs import numbers, table
from ui.shared.offers import C_EXPONENTS, COMPONENTS, GAMMA_EXPONENTS

KEY = "pins"
MOST = 6

_TOKEN = re.compile(
    r"(?P<map>linear|nystroem|fourier|exact)"
    r"(?:_m(?P<m>\d{1,4}))?(?:_g(?P<g>-?\d{1,2}))?(?:_s(?P<s>\d{1,10}))?"
    r"_c(?P<c>-?\d{1,2})_t(?P<t>\d)(?:_r(?P<r>\d{1,4}))?(?P<choice>_[ko])?"
    r"(?:_l(?P<loss>[a-z-]{1,20}))?(?:_w(?P<costs>[a-z-]{1,20}|u?[\dp]{1,8}(?:x[\dp]{1,8}){0,54}))?"
    r"(?:_x(?P<solver>[a-z-]{1,20}))?"
)
_WORDS = {"map", "choice", "loss", "costs", "solver"}
"""Groups that are no numbers."""


def token(spec: RunSpec) -> str:
    """The text that stands for a spec's model; its C, γ and tolerance are powers, as in the sidebar."""
    rank = "" if spec.rank is None else f"_r{spec.rank}"
    choice = "_k" if spec.landmarks == "kmeans++" else "_o" if spec.frequencies == "orthogonal" else ""
    powers = f"_c{_log2(spec.C)}_t{round(-math.log10(spec.tol))}"
    return f"{spec.feature_map}{_kernel(spec)}{powers}{rank}{choice}{_minimised(spec)}"


def _minimised(spec: RunSpec) -> str:
    """Loss, costs and solver where they are not the usual ones."""
    words = "" if spec.loss == RunSpec.loss else f"_l{_dashed(spec.loss)}"
    if isinstance(spec.costs, str):
        words += f"_w{_dashed(spec.costs)}"
    elif spec.costs is not None:
        values = "x".join(f"{value:g}" for value in triangle(spec.costs)).replace(".", "p")
        words += f"_wu{values}" if spec.costs[0] == "query" else f"_w{values}"
    words += "" if spec.solver == RunSpec.solver else f"_x{_dashed(spec.solver)}"
    return words


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _kernel(spec: RunSpec) -> str:
    gamma = "" if spec.feature_map == "linear" else f"_g{_log2(spec.gamma)}"
    return f"_m{spec.n_components}{gamma}_s{spec.seed}" if spec.feature_map in APPROXIMATE else gamma


def _log2(value: float) -> int:
    return round(math.log2(value))


def from_token(text: str, data: RunSpec) -> RunSpec | None:
    """The spec that a text stands for, on the data of another spec; None where it is none of ours."""
    found = _TOKEN.fullmatch(text)
    if found is None or _settings_of(found["map"]) != {name for name in "mgs" if found[name] is not None}:
        return None
    values = {name: int(value) for name, value in found.groupdict().items() if value and name not in _WORDS}
    minimised = _what_is_minimised(found)
    if minimised is None or not _in_range(values):
        return None
    spec = replace(
        data,
        **minimised,
        feature_map=found["map"],
        n_components=values.get("m", 1),
        gamma=2.0 ** values.get("g", 0),
        seed=values.get("s", 0),
        C=2.0 ** values["c"],
        tol=10.0 ** -values["t"],
        rank=values.get("r") if found["map"] == "nystroem" else None,
        landmarks="kmeans++" if (found["map"], found["choice"]) == ("nystroem", "_k") else RunSpec.landmarks,
        frequencies="orthogonal"
        if (found["map"], found["choice"]) == ("fourier", "_o")
        else RunSpec.frequencies,
    )
    if spec.feature_map == "exact":
        return spec.exact()
    return spec.linear(spec.C) if spec.feature_map == "linear" else spec


def _what_is_minimised(found: re.Match[str]) -> dict[str, Any] | None:
    """Loss, costs and solver of a token; None where one is not known or they do not go together."""
    loss = (found["loss"] or RunSpec.loss).replace("-", "_")
    solver = (found["solver"] or RunSpec.solver).replace("-", "_")
    try:
        costs = _costs(found["costs"])
        check_solver(solver, loss)
        check_costs(costs)
    except ValueError:
        return None
    return {"loss": loss, "costs": costs, "solver": solver} if loss in LOSSES else None


def _costs(text: str | None) -> Costs:
    if text is None or not text[-1].isdigit():
        return text.replace("-", "_") if text else None
    values = numbers(text.removeprefix("u").replace("p", ".").replace("x", " "))
    return table(values, by_query=text.startswith("u"))


def _settings_of(feature_map: str) -> set[str]:
    """Which of m, γ and seed a map has."""
    return set("mgs") if feature_map in APPROXIMATE else set("g") if feature_map == "exact" else set()


def _in_range(values: dict[str, int]) -> bool:
    return (
        values.get("m", COMPONENTS[0]) in COMPONENTS
        and C_EXPONENTS[0] <= values["c"] <= C_EXPONENTS[1]
        and GAMMA_EXPONENTS[0] <= values.get("g", GAMMA_EXPONENTS[0]) <= GAMMA_EXPONENTS[1]
        and values.get("s", 0) <= LARGEST_SEED
        and values["t"] in [round(-math.log10(tol)) for tol in TOLERANCES]
        and 1 <= values.get("r", 1) <= max(COMPONENTS)
    )


def pinned(spec: RunSpec) -> list[RunSpec]:
    """The models that are pinned, on the data of `spec`; told in the URL, and remembered between pages."""
    if KEY not in st.session_state:
        st.session_state[KEY] = [text for text in st.query_params.get(KEY, "").split(".") if text]
    texts = st.session_state[KEY]
    found = [from_token(text, spec) for text in texts]
    st.session_state[KEY] = [text for text, one in zip(texts, found, strict=True) if one is not None][:MOST]
    if len(st.session_state[KEY]) < len(texts):
        st.warning(f"Up to {MOST} pins are shown; pins in the address that cannot be read are left out.")
    if st.session_state[KEY]:
        st.query_params[KEY] = ".".join(st.session_state[KEY])
    elif KEY in st.query_params:
        del st.query_params[KEY]
    return [one for one in found if one is not None][:MOST]


def buttons(spec: RunSpec) -> None:
    """Buttons that pin the sidebar's model and let all pins go; pinning beyond the most drops the oldest."""
    pins = st.session_state[KEY]
    st.button(
        "Pin this run",
        key="pin",
        icon=":material/keep:",
        on_click=_pin,
        args=(token(spec),),
        disabled=token(spec) in pins,
        help=f"Keep this model on the figure while the sidebar moves on; up to {MOST}. Pins follow the data "
        "set, fold and normalisation of the sidebar, and are part of the address.",
    )
    st.button("Clear pins", key="unpin", on_click=_clear, disabled=not pins)


def _pin(text: str) -> None:
    st.session_state[KEY] = [*st.session_state[KEY], text][-MOST:]


def _clear() -> None:
    st.session_state[KEY] = []
