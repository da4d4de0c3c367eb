"""Pinned settings: short texts in the URL that stand for models on the data that the sidebar names.

`nystroem_m200_g-2_s0_c-4_t6` is Nyström with m = 200, γ = 2^-2, seed 0, C = 2^-4 and tolerance 10^-6; `_r50`
behind it keeps rank 50, `_k` chooses landmarks by k-means++, `_o` makes frequencies orthogonal. The exact
kernel has neither m nor seed (`exact_g-2_c-4_t6`), the linear model no γ either (`linear_c-4_t6`). Data set,
fold and normalisation are the sidebar's, so that pins compare.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import streamlit as st

from rankviz.experiments.spec import RunSpec
from rankviz.plots.style import APPROXIMATE
from ui.settings import C_EXPONENTS, COMPONENTS, GAMMA_EXPONENTS, LARGEST_SEED, TOLERANCES

KEY = "pins"
MOST = 6

_TOKEN = re.compile(
    r"(?P<map>linear|nystroem|fourier|exact)"
    r"(?:_m(?P<m>\d{1,4}))?(?:_g(?P<g>-?\d{1,2}))?(?:_s(?P<s>\d{1,10}))?"
    r"_c(?P<c>-?\d{1,2})_t(?P<t>\d)(?:_r(?P<r>\d{1,4}))?(?P<choice>_[ko])?"
)


def token(spec: RunSpec) -> str:
    """The text that stands for a spec's model; its C, γ and tolerance are powers, as in the sidebar."""
    rank = "" if spec.rank is None else f"_r{spec.rank}"
    choice = "_k" if spec.landmarks == "kmeans++" else "_o" if spec.frequencies == "orthogonal" else ""
    return f"{spec.feature_map}{_kernel(spec)}_c{_log2(spec.C)}_t{round(-math.log10(spec.tol))}{rank}{choice}"


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
    numbers = {name: value for name, value in found.groupdict().items() if name not in ("map", "choice")}
    values = {name: int(value) for name, value in numbers.items() if value}
    if not _in_range(values):
        return None
    spec = replace(
        data,
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
