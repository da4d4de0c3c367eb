"""Controls of the Compare page: baseline, metrics, test, and list of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.comparison import TESTS
from rankviz.analysis.contestants import Contestant
from rankviz.features import LINEAR
from rankviz.runs.labels import look_of
from rankviz.runs.spec import RunSpec
from ui.compare import picker, words
from ui.compare.given import Given
from ui.ndcg_vs_m.views import METRICS
from ui.shared.compared import RUNS, STUDIES, choose, chosen
from ui.shared.foreign import escaped
from ui.shared.models import Option, menu

BASELINE, METRIC, FURTHER, TEST = "baseline", "metric", "further", "tested"


@dataclass(frozen=True)
class Asked:
    """Values of the controls: label of the baseline, metrics with the leading one first, and the test."""

    baseline: str
    metrics: tuple[str, ...]
    test: str

    @property
    def metric(self) -> str:
        """The leading metric, of the first figure and of the answers."""
        return self.metrics[0]


def metric_now() -> str:
    """Return the leading metric before its menu is drawn: studies choose their cells by it."""
    asked = st.session_state.get(METRIC, st.query_params.get(METRIC, ""))
    return asked if asked in METRICS else "NDCG@10"


def controls(models: Sequence[Contestant], what: Given) -> Asked:
    """Draw the controls in a row."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    baseline = _baseline(row, models, what.baseline)
    metric = row.container(width=125).selectbox(
        "Metric",
        METRICS,
        METRICS.index("NDCG@10"),
        key=METRIC,
        bind="query-params",
        help=words.METRIC_HELP,
    )
    further = row.container(width=185).multiselect(
        "Further metrics",
        [name for name in METRICS if name != metric],
        key=FURTHER,
        bind="query-params",
        placeholder="none",
        help=words.FURTHER_HELP,
    )
    test = row.container(width=150).selectbox(
        "Test",
        list(TESTS),
        key=TEST,
        bind="query-params",
        help=words.TEST_HELP,
    )
    _models(row, models)
    return Asked(baseline, (metric, *further), test)


def _baseline(row: DeltaGenerator, models: Sequence[Contestant], pinned: str) -> str:
    """Draw the menu of models for the baseline."""
    texts = {run.key: one.key for one in models for run in one.runs}
    state, kept = st.session_state, f"chosen-{BASELINE}"
    asked = state.get(kept, st.query_params.get(BASELINE, ""))
    if asked in texts:
        state[kept] = texts[asked]  # any run of a model represents it
    elif kept in state:
        del state[kept]  # its model was removed
    options = {one.key: Option(one.label, partial(_spec_of, one)) for one in models}
    linear = next((one for one in models if look_of(one.spec) == LINEAR), models[0])
    first = texts.get(pinned, linear.key)
    hint = words.BASELINE_HELP
    return menu(row.container(width=230), "Baseline", options, first, BASELINE, hint).label


def _spec_of(one: Contestant) -> RunSpec:
    return one.spec


def _models(row: DeltaGenerator, models: Sequence[Contestant]) -> None:
    """Draw the list of compared models, to remove some, and a button to add more."""
    with row.popover(f"{len(models)} models" if len(models) > 1 else "1 model", icon=":material/list:"):
        for one in models:
            digests = {run.key for run in one.runs}
            line = st.container(horizontal=True, vertical_alignment="center")
            line.markdown(_told(one), width="stretch")
            line.button(
                "Remove",
                key=f"remove-{one.key}",
                on_click=_remove,
                args=(digests,),
                disabled=not digests & set(chosen(RUNS)),
                help=words.REMOVE_HELP,
            )
        for study in chosen(STUDIES):
            st.button(
                f"Remove study {study[:8]}",
                key=f"remove-{study}",
                on_click=choose,
                args=(STUDIES, [one for one in chosen(STUDIES) if one != study]),
            )
    with row:
        picker.button()


def _told(one: Contestant) -> str:
    runs = len(one.runs)
    return f"{escaped(one.label)} :gray[({runs} run{'s' if runs > 1 else ''})]"


def _remove(digests: set[str]) -> None:
    choose(RUNS, [one for one in chosen(RUNS) if one not in digests])


def start_anew() -> None:
    """Draw a button that removes all models, also if they cannot be compared."""
    if chosen(RUNS) or chosen(STUDIES):
        st.button(
            "Clear comparison",
            key="remove-all",
            type="tertiary",
            icon=":material/close:",
            on_click=_remove_all,
            help=words.CLEAR_HELP,
        )


def _remove_all() -> None:
    choose(RUNS, [])
    choose(STUDIES, [])
