"""Controls of the Influence page: model, metric and folds, and whether a model has the varied settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.models.methods import METHODS
from rankviz.runs.description import Description, in_a_sentence
from rankviz.runs.spec import RunSpec
from ui.influence import words
from ui.shared.folds import ALL, chosen_folds
from ui.shared.foreign import describe, escaped
from ui.shared.offers import C_EXPONENTS
from ui.shared.reads import CURRENT_MODEL
from ui.shared.settings import baseline
from ui.shared.show import capital

METRICS = ("NDCG@10", "NDCG@1", "NDCG@3", "NDCG@5", "MeanNDCG", "MAP", "P@10")
VARIED = {"C": "no C to vary", "costs": "no costs of pairs"}
"""Varied settings, and words for a model without them."""


@dataclass(frozen=True)
class Settings:
    """Controls that the page adds to the sidebar: metric and folds."""

    metric: str
    folds: tuple[str, ...]


def controls(spec: RunSpec) -> tuple[RunSpec, Settings]:
    """Draw the controls of both tabs: model, metric, and folds."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    spec = _model(row, spec)
    metric = row.selectbox(
        "Metric", METRICS, key="metric", bind="query-params", width=160, help=words.HELP["metric"]
    )
    folds = chosen_folds(
        row,
        spec,
        default=ALL,
        key="scope",
        told=words.HELP["scope"],
    )
    return spec, Settings(metric, folds)


def _model(row: DeltaGenerator, spec: RunSpec) -> RunSpec:
    """Return the linear model, whose paths are computed at once, or the sidebar's, as chosen."""
    plain, linear = baseline(st.session_state), FEATURE_MAPS[LINEAR].label
    chosen = row.segmented_control(
        "Model",
        [linear, CURRENT_MODEL],
        default=linear,
        required=True,
        key="model",
        bind="query-params",
        disabled=spec == plain,
        help=words.HELP["model"],
    )
    if chosen != linear:
        return spec
    if spec.method != plain.method:
        lacking = [told for name, told in VARIED.items() if name not in spec]
        why = f"has {' and '.join(lacking)}" if lacking else "is not chosen under Model"
        if len(lacking) < len(VARIED):
            why += f"; choose “{CURRENT_MODEL}” above to see it"
        st.caption(
            words.CAPTIONS["other"].format(
                model=in_a_sentence(spec), why=why, shown=f"{linear} {plain.kind.label}"
            )
        )
    return plain


def has(spec: RunSpec, name: str) -> bool:
    """Return True if a model has a setting to vary; otherwise say so, and name models that have it."""
    if name in spec:
        return True
    able = [kind.label for method, kind in METHODS.items() if name in kind.resolve({})]
    st.info(
        words.INFOS["nothing"].format(
            model=capital(in_a_sentence(spec)),
            lacking=VARIED[name],
            linear=FEATURE_MAPS[LINEAR].label,
            able=", ".join(able),
        ),
        icon=":material/info:",
    )
    return False


def warm(spec: RunSpec) -> bool:
    """Return True if runs that differ in C share features and starting weights."""
    return "C" in spec.kind.varying(spec.values)


def path(spec: RunSpec) -> list[float]:
    """Return the values of C to draw, including the current one.

    Every exponent of the sidebar if a path is fast, else every second one.
    """
    quick = warm(spec) and spec.offers.input_weights
    every, (first, last) = 1 if quick else 2, C_EXPONENTS
    first += (round(np.log2(spec.C)) - first) % every
    return [2.0**c for c in range(first, last + 1, every)]


def about(spec: RunSpec, settings: Settings, part: str) -> Description:
    """Describe the page's subject, like `describe`, for all folds."""
    described = describe(spec, part)
    if len(settings.folds) == 1:
        return described
    return replace(described, data=f"{escaped(spec.dataset)}, {len(settings.folds)} folds pooled")
