"""The pages of the app, and the start of every page.

See docs/decisions/0032-how-a-page-is-built.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.common.settings import SEED, Setting, every
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.features.settings import KERNEL
from rankviz.learning.risk_settings import COSTS, LOSS_WEIGHT
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.runs.spec import RunSpec
from ui.controls.settings import BASELINE_C, NORMALISATION, baseline_is_set, data_from_state, spec_from_state
from ui.controls.widgets import ALL, THIS
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import TITLE, head

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


ICON = Path(__file__).parents[1] / "icon.svg"


@dataclass(frozen=True)
class Entry:
    """A page of the app.

    Attributes
    ----------
    title : str
    icon : str
        A Material icon.
    file : str
        The script in `pages/`, without extension.
    about : str
        Its description on Home, after the title; empty for Home.
    unread : callable
        Function that explains why it does not read a setting of the sidebar; "" if it does.
    no_fold : callable
        Function that explains why it does not read the fold; "" if it does.
    own : bool
        True if it has its own documents and model, so that the sidebar's settings are folded.
    """

    title: str
    icon: str
    file: str
    about: str = ""
    unread: Callable[[Setting], str] = by_any
    no_fold: Callable[[], str] = lambda: ""
    own: bool = False

    @property
    def script(self) -> str:
        """Path of the page from the app's folder."""
        return f"pages/{self.file}.py"

    @property
    def material(self) -> str:
        """The icon in Streamlit's notation."""
        return f":material/{self.icon}:"

    @property
    def sentence(self) -> str:
        """The title in bold, with the description."""
        return f"**{self.title}**{self.about}"


ENTRIES = (
    Entry("Home", "home", "home"),
    Entry("Data", "dataset", "data", ": queries, grades, features", by_data),
    Entry("Playground", "grid_4x4", "playground", ": drag documents in the plane", by_plane, own=True),
    Entry("Train", "model_training", "train", ": one model's rankings and margins"),
    Entry("Why", "help_center", "why", ": each feature's contribution"),
    Entry("What if", "swap_vert", "what_if", ": change documents or grades"),
    Entry("Weights by hand", "equalizer", "weights", ": move a weight", by_weights),
    Entry("NDCG against m", "show_chart", "ndcg_vs_m", ": how many features are enough?"),
    Entry("Convergence", "trending_down", "convergence", ": losses and solvers"),
    Entry(
        "Influence of C and costs",
        "tune",
        "influence",
        ": quality and training time",
        by_influence,
        no_fold_by_influence,
    ),
    Entry("Sweep", "apps", "sweep", ": vary settings in the background", by_sweep),
    Entry(
        "Kernel approximation",
        "blur_on",
        "kernel_approximation",
        ": how close to exact?",
        by_kernel,
    ),
    Entry("Low rank", "grid_on", "low_rank", ": dual variables"),
    Entry("Side by side", "compare", "side_by_side", ": two models, query by query"),
    Entry("Compare", "rule", "compare", ": models over folds and seeds", by_compare, own=True),
    Entry(
        "Runs",
        "history",
        "runs",
        ": search, compare and share",
        by_runs,
        own=True,
    ),
)
"""All pages in the order of the menu, the start page first."""


def entry_of(page: st.Page) -> Entry:
    """Return the entry of a page returned by `configure`."""
    return next(entry for entry in ENTRIES if entry.title == page.title)


def configure() -> st.Page:
    """Configure the app and announce its pages; return the requested one.

    The icon is our own file, because Material icons and emoji would be fetched from another host.
    """
    st.set_page_config(page_title="rankviz", page_icon=str(ICON), layout="wide")
    page = st.navigation(
        [
            st.Page(entry.script, title=entry.title, icon=entry.material, default=entry is ENTRIES[0])
            for entry in ENTRIES
        ],
        expanded=True,
    )
    st.set_page_config(page_title=f"{page.title} · rankviz")
    st.session_state[TITLE] = page.title
    return page


def experiment(read: Callable[[Mapping[str, Any]], RunSpec] = spec_from_state) -> RunSpec:
    """Return the experiment of the sidebar's settings, by default its current model.

    If its settings are invalid, the page ends with a sentence.
    """
    announced()
    with errors_as_sentences():
        try:
            return read(st.session_state)
        except (DataError, SettingError):
            head(st.session_state[TITLE])  # else the page would start with its first figure
            raise


def data_only() -> RunSpec:
    """Return the sidebar's data, for a page that trains nothing and so ignores invalid settings."""
    announced()
    return data_from_state(st.session_state)


def announced() -> None:
    """Announce the navigation if nobody has.

    The first visit to a server may be a link to a page. Streamlit then runs that page from `pages/` without
    router.py. Announcing the navigation ends this mode, and the run starts again with it.
    """
    if "data" not in st.session_state:
        configure()
        st.rerun()
