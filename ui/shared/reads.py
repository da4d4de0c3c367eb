"""Reasons why pages do not read a setting of the sidebar; "" if they do."""

from __future__ import annotations

import streamlit as st

from rankviz.common.settings import SEED, Setting, every
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.features.settings import KERNEL
from rankviz.learning.risk_settings import COSTS, LOSS_WEIGHT
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from ui.controls.widgets import ALL, THIS
from ui.shared import words
from ui.shared.settings import BASELINE_C, NORMALISATION, baseline_is_set

OF_COSTS = "Influence of λ and μ"
"""The Influence page's tab with a ranked list, which depends on the fold."""
LINEAR_MODEL, CURRENT_MODEL = FEATURE_MAPS[LINEAR].label, "current model"
"""The two models that the Influence page offers."""


def by_any(setting: Setting) -> str:
    """Return "": pages that train the current model read all its settings."""
    return ""


def by_data(setting: Setting) -> str:
    """Explain that the Data page shows only data, and each normalisation."""
    return "" if setting is NORMALISATION else words.NOT_USED


def by_influence(setting: Setting) -> str:
    """Explain that the Influence page starts with the linear model."""
    chosen = _asked("model", LINEAR_MODEL)
    of_linear = [one for one, _ in METHODS[USUAL].active(_linear)]
    if chosen == CURRENT_MODEL or setting in (NORMALISATION, BASELINE_C):
        return ""
    if setting in of_linear and setting not in (FEATURE_MAP, LOSS_WEIGHT):
        return ""
    return words.not_by_linear(CURRENT_MODEL)


def no_fold_by_influence() -> str:
    """Explain that the Influence page starts with all folds pooled."""
    if _asked("scope", ALL) == THIS or _asked("view", "") == OF_COSTS:
        return ""
    return words.all_folds(THIS)


def by_weights(setting: Setting) -> str:
    """Explain that the Weights page shows the linear model, with all pairs weighted equally."""
    if setting is LOSS_WEIGHT and not baseline_is_set(st.session_state):
        return words.OTHER_C
    of_linear = {one for one, _ in METHODS[USUAL].active(_linear)} - {COSTS, FEATURE_MAP}
    if setting in {NORMALISATION, BASELINE_C, *of_linear}:
        return ""
    return words.NOT_BY_LINEAR


def by_sweep(setting: Setting) -> str:
    """Explain that a started sweep has its own settings, and that settings on axes have many values."""
    if st.session_state.get("study", st.query_params.get("study", "")):
        return words.SWEEP_HAS_ITS_OWN
    if setting is BASELINE_C:
        return words.NOT_USED
    return ""


def by_plane(setting: Setting) -> str:
    """Explain that the playground has its own documents and model."""
    return words.NOT_USED


def by_compare(setting: Setting) -> str:
    """Explain that the Compare page shows existing runs."""
    return words.NOT_USED


def by_runs(setting: Setting) -> str:
    """Explain that the list of runs shows existing runs."""
    return words.NOT_USED


def _asked(key: str, default: str) -> str:
    """Return the value of a control; in the first run it is still in the address."""
    return str(st.session_state.get(key, st.query_params.get(key, default)))


def _linear(setting: Setting) -> object:
    return LINEAR if setting is FEATURE_MAP else setting.first


def by_kernel(setting: Setting) -> str:
    """Explain that the Kernel approximation page trains nothing, but uses C for eigenvalues."""
    read = {FEATURE_MAP, KERNEL, NORMALISATION, SEED, LOSS_WEIGHT, *every([FEATURE_MAP])}
    return "" if setting in read else words.NOT_USED
