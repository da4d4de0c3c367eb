"""The widgets of the sidebar, with their help texts; what they stand for is in `ui.shared.settings`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from rankviz.datasets import NORMALISATIONS, DataError, Dataset
from rankviz.features import FREQUENCIES, LANDMARKS
from rankviz.plots.style import APPROXIMATE
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import SOLVERS
from ui.shared.costs import CHOICES, TABLE, TABLE_QUERY
from ui.shared.settings import (
    C_EXPONENTS,
    COMPONENTS,
    DEFAULTS,
    GAMMA_EXPONENTS,
    LABELS,
    LARGEST_SEED,
    MAPS,
    PRESETS,
    TOLERANCES,
    frozen_link,
)


def sidebar(datasets: dict[str, Dataset]) -> None:
    """Draw the shared sidebar; `spec_from_state` says what experiment it describes."""
    with st.sidebar:
        _data_settings(datasets)
        _model_settings()
        with st.expander("More settings"):
            _more_settings()
        _presets_and_link()


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
    _choice(
        "Feature map",
        "map",
        MAPS,
        hint="linear: the features themselves. Nyström: the RBF kernel through m landmark documents. Random "
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
    _choice(
        "Loss",
        "loss",
        LOSSES,
        hint="What a pair with margin t = f(preferred) − f(other) costs. "
        + " ".join(f"{loss.label}: {loss.formula}." for loss in LOSSES.values())
        + " C means something else with each.",
    )


def _more_settings() -> None:
    _cost_settings()
    _choice(
        "Solver",
        "solver",
        SOLVERS,
        hint="Truncated Newton serves every loss and map. The others are here to compare with, best on the "
        "Convergence page: most of them come less close to the optimum.",
    )
    _choice(
        "Normalisation",
        "norm",
        NORMALISATIONS,
        hint=" ".join(f"{n.label}: {n.description}" for n in NORMALISATIONS.values()),
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
        format_func=LABELS["tol"],
        key="tol",
        bind="query-params",
        help="Training stops when the Newton decrement is below this share of the objective.",
    )
    _map_settings()


def _map_settings() -> None:
    """What one of the approximations draws and keeps."""
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
    _choice(
        "Landmarks of the Nyström map",
        "landmarks",
        LANDMARKS,
        disabled=st.session_state["map"] != "nystroem",
        hint="uniform: any distinct document, as in chen2017. k-means++: one after another, the likelier the "
        "farther a document lies from the landmarks before it.",
    )
    _choice(
        "Frequencies of random Fourier",
        "freq",
        FREQUENCIES,
        disabled=st.session_state["map"] != "fourier",
        hint="independent: one after another, as in chen2017. orthogonal: at right angles in blocks of as "
        "many as there are features, each still of the same law, so that the kernel stays unbiased.",
    )


def _cost_settings() -> None:
    _choice(
        "Costs of pairs",
        "costs",
        CHOICES,
        hint="What multiplies the loss of a pair. λ by grades: (r − s) + 0.3·s for grade r preferred to s "
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


def _choice(label: str, key: str, options: Iterable[str], *, hint: str, disabled: bool = False) -> None:
    """A menu whose options have labels, bound to the URL under its key."""
    listed = list(options)
    st.selectbox(
        label,
        listed,
        _default(key, listed),
        format_func=LABELS[key],
        key=key,
        bind="query-params",
        disabled=disabled,
        help=hint,
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
