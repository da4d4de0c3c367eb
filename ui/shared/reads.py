"""Why pages do not read a setting of the sidebar, "" where they do: what can be moved does something."""

from __future__ import annotations

import streamlit as st

from rankviz.common.settings import SEED, Setting, every
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.features.settings import KERNEL
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.risk.settings import COSTS, LOSS_WEIGHT
from ui.shared import words
from ui.shared.folds import ALL, THIS
from ui.shared.settings import BASELINE_C, NORMALISATION, baseline_is_set

OF_COSTS = "Influence of λ and μ"
"""The tab of the Influence page with a ranked list, which is of the fold that is set."""
LINEAR_MODEL, CURRENT_MODEL = FEATURE_MAPS[LINEAR].label, "current model"
"""The two models between which the Influence page lets one choose."""


def by_any(setting: Setting) -> str:
    """Pages that train the current model read all that it reads."""
    return ""


def by_data(setting: Setting) -> str:
    """The Data page shows the data themselves, and what each normalisation makes of them."""
    return "" if setting is NORMALISATION else words.NOT_USED


def by_influence(setting: Setting) -> str:
    """The Influence page begins with the linear model."""
    chosen = _asked("model", LINEAR_MODEL)
    of_linear = [one for one, _ in METHODS[USUAL].active(_linear)]
    if chosen == CURRENT_MODEL or setting in (NORMALISATION, BASELINE_C):
        return ""
    if setting in of_linear and setting not in (FEATURE_MAP, LOSS_WEIGHT):
        return ""
    return words.not_by_linear(CURRENT_MODEL)


def no_fold_by_influence() -> str:
    """The Influence page begins with all folds pooled."""
    if _asked("scope", ALL) == THIS or _asked("view", "") == OF_COSTS:
        return ""
    return words.all_folds(THIS)


def by_weights(setting: Setting) -> str:
    """The Weights page shows the linear model, whose pairs all count alike."""
    if setting is LOSS_WEIGHT and not baseline_is_set(st.session_state):
        return words.OTHER_C
    of_linear = {one for one, _ in METHODS[USUAL].active(_linear)} - {COSTS, FEATURE_MAP}
    if setting in {NORMALISATION, BASELINE_C, *of_linear}:
        return ""
    return words.NOT_BY_LINEAR


def by_sweep(setting: Setting) -> str:
    """A sweep that was started has its own settings; before that those on its axes have many values."""
    if st.session_state.get("study", st.query_params.get("study", "")):
        return words.SWEEP_HAS_ITS_OWN
    if setting is BASELINE_C:
        return words.NOT_USED
    return ""


def by_plane(setting: Setting) -> str:
    """The playground has documents and a model of its own."""
    return words.NOT_USED


def by_compare(setting: Setting) -> str:
    """The Compare page has runs that were made."""
    return words.NOT_USED


def by_runs(setting: Setting) -> str:
    """The list of runs has them as they were made."""
    return words.NOT_USED


def _asked(key: str, default: str) -> str:
    """What a control of the page stands at; in the first run it has not taken it from the address yet."""
    return str(st.session_state.get(key, st.query_params.get(key, default)))


def _linear(setting: Setting) -> object:
    return LINEAR if setting is FEATURE_MAP else setting.first


def by_kernel(setting: Setting) -> str:
    """The Kernel approximation page trains nothing, but marks C among eigenvalues."""
    read = {FEATURE_MAP, KERNEL, NORMALISATION, SEED, LOSS_WEIGHT, *every([FEATURE_MAP])}
    return "" if setting in read else words.NOT_USED
