"""The settings in the sidebar: their ranges and defaults, and the RunSpec that they stand for.

Every widget is bound to the URL under its key, so the address of a page is its whole state. A value equal to
its default is left out of the URL; `v` there says which set of defaults is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from rankviz.datasets import NORMALISATIONS
from rankviz.experiments.spec import RunSpec
from rankviz.features import FREQUENCIES, LANDMARKS
from rankviz.plots.style import APPROXIMATE, METHODS
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import SOLVERS, check_solver
from ui.shared.costs import CHOICES, DEFAULT_TABLE, costs_of, state_of_costs

VERSION = "1"
MAPS = ("linear", "nystroem", "fourier", "exact")
COMPONENTS = (5, 10, 25, 50, 100, 200, 500, 1000, 2000)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
LARGEST_SEED = 2**31 - 1
C_EXPONENTS = (-15, 10)
GAMMA_EXPONENTS = (-12, 4)
DEFAULTS: dict[str, Any] = {
    "map": "nystroem",
    "m": 200,
    "c": -4,
    "g": -2,
    "fold": "Fold1",
    "norm": "none",
    "seed": 0,
    "clin": -10,
    "tol": 1e-6,
    "rank": 0,
    "landmarks": RunSpec.landmarks,
    "freq": RunSpec.frequencies,
    "loss": RunSpec.loss,
    "solver": RunSpec.solver,
    "costs": "none",
    "lam": DEFAULT_TABLE,
}
"""Values the widgets start from, chosen for the bundled folds; part of what VERSION promises."""

PRESETS = {
    "Bundled folds": DEFAULTS,
    "chen2017, Table 4 (OHSUMED)": DEFAULTS | {"m": 500, "c": -7, "g": -6, "clin": -13},
}
"""Settings worth starting from. They change the model, not the data."""


def spec_from_state(state: Any, feature_map: str | None = None) -> RunSpec:
    """The RunSpec that the sidebar's widgets stand for, or the same for another feature map.

    The digest is filled in when the fold is open. Raises ValueError for a solver that cannot train the loss,
    `DataError` for costs that are no numbers.
    """
    feature_map = feature_map or state["map"]
    rank = int(state.get("rank", 0))
    spec = RunSpec(
        dataset=state["data"],
        fold=state["fold"],
        normalisation=state["norm"],
        feature_map=feature_map,
        n_components=int(state.get("m", DEFAULTS["m"])),
        C=2.0 ** int(state["c"]),
        gamma=2.0 ** int(state.get("g", DEFAULTS["g"])),
        seed=int(state["seed"]),
        tol=float(state["tol"]),
        rank=rank if rank and feature_map == "nystroem" else None,
        loss=state.get("loss", RunSpec.loss),
        costs=costs_of(state.get("costs", DEFAULTS["costs"]), state.get("lam", DEFAULTS["lam"])),
        solver=state.get("solver", RunSpec.solver),
    )
    check_solver(spec.solver, spec.loss)
    if feature_map == "nystroem":
        return replace(spec, landmarks=state.get("landmarks", RunSpec.landmarks))
    if feature_map == "fourier":
        return replace(spec, frequencies=state.get("freq", RunSpec.frequencies))
    if feature_map == "exact":
        return spec.exact()
    return spec.linear(spec.C) if feature_map == "linear" else spec


def linear_C(state: Any) -> float:
    """C of the linear model that is drawn as the baseline."""
    return 2.0 ** int(state["c"] if state["map"] == "linear" else state.get("clin", DEFAULTS["clin"]))


def state_of(spec: RunSpec) -> dict[str, Any]:
    """Values of the widgets that its map knows: the inverse of `spec_from_state` for powers of two."""
    state = {"data": spec.dataset, "fold": spec.fold, "norm": spec.normalisation, "map": spec.feature_map}
    state |= {"c": round(math.log2(spec.C)), "tol": spec.tol}
    state |= {"loss": spec.loss, "solver": spec.solver} | state_of_costs(spec.costs)
    if spec.feature_map != "linear":
        state |= {"g": round(math.log2(spec.gamma))}
    if spec.feature_map in APPROXIMATE:
        state |= {"m": spec.n_components, "seed": spec.seed}
    if spec.feature_map == "nystroem":
        state |= {"rank": spec.rank or 0, "landmarks": spec.landmarks}
    if spec.feature_map == "fourier":
        state |= {"freq": spec.frequencies}
    return state


def query_params(values: dict[str, Any]) -> dict[str, str]:
    """Widget values as query parameters; Streamlit reads options there by their labels."""
    return {"v": VERSION} | {key: LABELS.get(key, str)(value) for key, value in values.items()}


def frozen_link() -> str:
    """The address of the page with every setting of the sidebar in it, also those equal to the defaults."""
    state = st.session_state
    sidebar_s = query_params({key: state[key] for key in ("data", *DEFAULTS) if key in state})
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(st.query_params.to_dict() | sidebar_s)}"


def open_run(spec: RunSpec) -> None:
    """Set the sidebar to a spec and go to the Train page (a callback; `go_where_asked` does the going)."""
    for key, value in state_of(spec).items():
        st.session_state[key] = value
    st.session_state[_DESTINATION] = "pages/train.py"


def go_where_asked() -> None:
    """Switch to the page that a callback asked for; the settings of the sidebar go along."""
    if _DESTINATION in st.session_state:
        st.switch_page(st.session_state.pop(_DESTINATION), query_params={})


def link_as_opened() -> dict[str, str]:
    """What the address said when the visitor came, before widgets drop what they do not offer."""
    link: dict[str, str] = st.session_state.setdefault(_LINK, st.query_params.to_dict())
    return link


def say_what_was_not_offered(link: dict[str, str]) -> None:
    """Warn of settings in the link that could not be taken, until the visitor changes one."""
    state = st.session_state
    taken = query_params({key: state[key] for key in DEFAULTS if key in state})
    if state.setdefault(_TAKEN, taken) != taken:
        return
    refused = [key for key in taken if link.get(key, taken[key]) != taken[key]]
    wrong = [f"{key} = {link[key]} ({taken[key]} is used)" for key in refused]
    if wrong:
        text = f"This link asks for what is not offered here: {', '.join(wrong)}."
        st.warning(text, icon=":material/link_off:")


_DESTINATION, _LINK, _TAKEN = "go-to", "link", "taken-from-link"


def _tolerance(tol: float) -> str:
    return f"{tol:.0e}"


LABELS: dict[str, Callable[[Any], str]] = {
    "map": lambda name: METHODS[name].name + (" (RBF)" if name == "exact" else ""),
    "norm": lambda name: NORMALISATIONS[name].label,
    "tol": _tolerance,
    "landmarks": lambda name: LANDMARKS[name].label,
    "freq": lambda name: FREQUENCIES[name].label,
    "loss": lambda name: LOSSES[name].label,
    "solver": lambda name: SOLVERS[name].label,
    "costs": CHOICES.__getitem__,
}
"""What an option is called, in menus and in the URL, by the key of its widget."""
