"""The settings in the sidebar: their ranges, their help texts, and the RunSpec they stand for.

Every widget is bound to the URL under its key, so the address of a page is its whole state. A value equal to
its default is left out of the URL; `v` there says which set of defaults is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from rankviz.datasets import NORMALISATIONS, DataError, Dataset
from rankviz.experiments.spec import RunSpec
from rankviz.features import FREQUENCIES, LANDMARKS
from rankviz.losses import LOSSES
from rankviz.plots.style import APPROXIMATE, METHODS
from rankviz.solvers.choose import SOLVERS, check_solver
from ui.costs import CHOICES, DEFAULT_TABLE, TABLE, TABLE_QUERY, costs_of, state_of_costs

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


def sidebar(datasets: dict[str, Dataset]) -> None:
    """Draw the shared sidebar; `spec_from_state` says what experiment it describes."""
    with st.sidebar:
        _data_settings(datasets)
        _model_settings()
        with st.expander("More settings"):
            _more_settings()
        _presets_and_link()


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
    return {"v": VERSION} | {key: _LABELS.get(key, str)(value) for key, value in values.items()}


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


_LABELS: dict[str, Callable[[Any], str]] = {
    "map": lambda name: METHODS[name].name + (" (RBF)" if name == "exact" else ""),
    "norm": lambda name: NORMALISATIONS[name].label,
    "tol": _tolerance,
    "landmarks": lambda name: LANDMARKS[name].label,
    "freq": lambda name: FREQUENCIES[name].label,
    "loss": lambda name: LOSSES[name].label,
    "solver": lambda name: SOLVERS[name].label,
    "costs": CHOICES.__getitem__,
}


def _data_settings(datasets: dict[str, Dataset]) -> None:
    if not datasets:
        raise DataError(
            "no data set below the data folders",
            expected="folders such as NAME/Fold1/train.txt",
            remedy="Start the app with a data folder that has some: make app DATA=folder.",
        )
    names = list(datasets)
    chosen = st.selectbox(
        "Data set",
        names,
        key="data",
        bind="query-params",
        help="Found below the data folders. The bundled set is synthetic; put LETOR folds beside it or start "
        "with `make app DATA=folder`.",
    )
    folds = list(datasets[chosen].folds)
    st.selectbox(
        "Fold",
        folds,
        _default("fold", folds),
        key="fold",
        bind="query-params",
        help="Each fold has a training part to fit on, a validation part to choose settings on, and a test "
        "part to judge by, once.",
    )


def _model_settings() -> None:
    st.selectbox(
        "Feature map",
        MAPS,
        _default("map", MAPS),
        format_func=_LABELS["map"],
        key="map",
        bind="query-params",
        help="linear: the features themselves. Nyström: the RBF kernel through m landmark documents. Random "
        "Fourier: the RBF kernel through m random frequencies. exact kernel: the RBF kernel itself, without "
        "approximation; its time and memory grow with the square of the documents.",
    )
    chosen = st.session_state["map"]
    st.select_slider(
        "Features m",
        COMPONENTS,
        COMPONENTS[_default("m", COMPONENTS)],
        key="m",
        bind="query-params",
        disabled=chosen not in APPROXIMATE,
        help="Landmarks (Nyström) or frequencies (random Fourier). More come closer to the exact kernel and "
        "take longer. The linear model and the exact kernel have none: m is greyed out there, and counts "
        "only where a figure draws the approximations too.",
    )
    st.slider(
        "C",
        *C_EXPONENTS,
        DEFAULTS["c"],
        step=1,
        format="2^%d",
        key="c",
        bind="query-params",
        help="Weight of the loss against ½‖w‖². It multiplies the plain loss, as in chen2017 "
        "eq. 22: larger fits the training pairs more closely.",
    )
    st.slider(
        "γ",
        *GAMMA_EXPONENTS,
        DEFAULTS["g"],
        step=1,
        format="2^%d",
        key="g",
        bind="query-params",
        disabled=chosen == "linear",
        help="Width of the RBF kernel exp(−γ‖x − z‖²): larger makes it narrower and the model rougher.",
    )
    st.selectbox(
        "Loss",
        list(LOSSES),
        _default("loss", list(LOSSES)),
        format_func=_LABELS["loss"],
        key="loss",
        bind="query-params",
        help="What a pair with margin t = f(preferred) − f(other) costs. "
        + " ".join(f"{loss.label}: {loss.formula}." for loss in LOSSES.values())
        + " C means something else with each.",
    )


def _more_settings() -> None:
    _cost_settings()
    st.selectbox(
        "Solver",
        list(SOLVERS),
        _default("solver", list(SOLVERS)),
        format_func=_LABELS["solver"],
        key="solver",
        bind="query-params",
        help="Truncated Newton serves every loss and map. The others are here to compare with, best on the "
        "Convergence page: most of them come less close to the optimum.",
    )
    st.selectbox(
        "Normalisation",
        list(NORMALISATIONS),
        _default("norm", list(NORMALISATIONS)),
        format_func=_LABELS["norm"],
        key="norm",
        bind="query-params",
        help=" ".join(f"{n.label}: {n.description}" for n in NORMALISATIONS.values()),
    )
    st.number_input(
        "Seed",
        0,
        LARGEST_SEED,
        DEFAULTS["seed"],
        step=1,
        key="seed",
        bind="query-params",
        disabled=st.session_state["map"] not in APPROXIMATE,
        help="Of the landmarks or frequencies that are drawn. The same seed gives the same model. For the "
        "linear model and the exact kernel nothing is drawn: it is greyed out there, and counts only where a "
        "figure draws the approximations too.",
    )
    st.slider(
        "C of the linear baseline",
        *C_EXPONENTS,
        DEFAULTS["clin"],
        step=1,
        format="2^%d",
        key="clin",
        bind="query-params",
        disabled=st.session_state["map"] == "linear",
        help="The dotted linear model is trained with a C of its own: the best C differs between maps.",
    )
    st.select_slider(
        "Tolerance",
        TOLERANCES,
        TOLERANCES[_default("tol", TOLERANCES)],
        format_func=_LABELS["tol"],
        key="tol",
        bind="query-params",
        help="Training stops when the Newton decrement is below this share of the objective.",
    )
    st.number_input(
        "Rank of the Nyström map (0: all)",
        0,
        max(COMPONENTS),
        DEFAULTS["rank"],
        step=1,
        key="rank",
        bind="query-params",
        disabled=st.session_state["map"] != "nystroem",
        help="Keep only the largest eigenvalues of the landmarks' kernel matrix (chen2017 eq. 16–18).",
    )
    st.selectbox(
        "Landmarks of the Nyström map",
        list(LANDMARKS),
        _default("landmarks", list(LANDMARKS)),
        format_func=_LABELS["landmarks"],
        key="landmarks",
        bind="query-params",
        disabled=st.session_state["map"] != "nystroem",
        help="uniform: any distinct document, as in chen2017. k-means++: one after another, the likelier the "
        "farther a document lies from the landmarks before it.",
    )
    st.selectbox(
        "Frequencies of random Fourier",
        list(FREQUENCIES),
        _default("freq", list(FREQUENCIES)),
        format_func=_LABELS["freq"],
        key="freq",
        bind="query-params",
        disabled=st.session_state["map"] != "fourier",
        help="Gaussian: independent, as in chen2017. orthogonal: at right angles in blocks of as many as "
        "there are features, each still Gaussian by itself, so that the kernel stays unbiased.",
    )


def _cost_settings() -> None:
    st.selectbox(
        "Costs of pairs",
        list(CHOICES),
        _default("costs", list(CHOICES)),
        format_func=_LABELS["costs"],
        key="costs",
        bind="query-params",
        help="What multiplies the loss of a pair. λ by grades: (r − s) + 0.3·s for grade r preferred to s "
        "(he2009: 1, 1.3 and 2). μ by query: more for queries with few pairs (he2009 §4.2). Slack rescaling: "
        "what swapping the two costs in DCG; margin rescaling: that is the margin asked for (chapelle2010 "
        "§6.2).",
    )
    st.text_input(
        "λ₁₀, λ₂₀, λ₂₁, …",
        DEFAULTS["lam"],
        key="lam",
        bind="query-params",
        disabled=st.session_state["costs"] not in (TABLE, TABLE_QUERY),
        help="Costs by grades of your own: what a document of grade 1 preferred to one of grade 0 costs, "
        "then 2 to 0, 2 to 1, then 3 to 0, … Used where the costs are “λ as below”.",
    )


def _default(key: str, options: Sequence[Any]) -> int:
    """Position of a widget's default among its options, which the widget takes where they changed under it.

    The default is given to the widget itself: one set through the session state alone would leave the
    widget's own first option unreachable from the URL, for Streamlit drops values equal to that one.
    """
    position = options.index(DEFAULTS[key]) if DEFAULTS[key] in options else 0
    if st.session_state.get(key, options[position]) not in options:
        st.session_state[key] = options[position]
    return position


def _presets_and_link() -> None:
    with st.popover("Presets and link", width="stretch"):
        for name, values in PRESETS.items():
            st.button(name, on_click=_apply, args=(values,), width="stretch")
        st.markdown("The address of this page is this experiment. With every setting spelled out:")
        st.code(frozen_link(), language=None, wrap_lines=True)


def _apply(values: dict[str, Any]) -> None:
    for key, value in values.items():
        if key != "fold":
            st.session_state[key] = value
