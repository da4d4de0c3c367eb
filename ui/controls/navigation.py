"""The pages of the app, the start of every page, and the settings that each page does not use.

See docs/decisions/0032-how-a-page-is-built.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.common.errors import DataError, SettingError
from rankviz.common.settings import Setting
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.pairs import COSTS
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.spec import RunSpec
from ui.controls.settings import BASELINE_C, NORMALISATION, baseline_is_set, spec_from_state
from ui.controls.widgets import ALL, THIS
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import TITLE, head
from ui.shell.steady import RUN

OF_COSTS = "Influence of λ and μ"
"""The Influence page's tab with a ranked list, which depends on the fold."""
LINEAR_MODEL, CURRENT_MODEL = FEATURE_MAPS[LINEAR].label, "current model"
"""The two models that the Influence page offers."""


Unused = Callable[[Setting], str]
"""Function that returns why a page does not read a setting of the sidebar; "" if it does."""


def not_used(setting: Setting) -> str:
    """Return the reason of pages with their own documents, models or runs."""
    return words.NOT_USED


def not_used_on_data(setting: Setting) -> str:
    """Return why the Data page does not read a setting: it shows only data, and each normalisation."""
    return "" if setting is NORMALISATION else words.NOT_USED


def not_used_on_influence(setting: Setting) -> str:
    """Return why Influence does not read a setting: it starts with the linear model."""
    of_page = {NORMALISATION, BASELINE_C, *_of_linear()} - {FEATURE_MAP, LOSS_WEIGHT}
    if setting in of_page or _chosen("model", LINEAR_MODEL) == CURRENT_MODEL:
        return ""
    return words.ONLY_LINEAR_BASELINE.format(model=CURRENT_MODEL)


def fold_not_used_on_influence() -> str:
    """Return why Influence does not read the fold: it starts with all folds pooled."""
    reads = _chosen("scope", ALL) == THIS or _chosen("view", "") == OF_COSTS
    return "" if reads else words.ALL_FOLDS.format(this=THIS)


def not_used_on_weights(setting: Setting) -> str:
    """Return why Weights does not read a setting: its model is linear, with all pairs weighted equally."""
    if setting is LOSS_WEIGHT and not baseline_is_set(st.session_state):
        return words.OTHER_C
    of_page = {NORMALISATION, BASELINE_C, *_of_linear()} - {COSTS, FEATURE_MAP}
    return "" if setting in of_page else words.NOT_BY_LINEAR


def not_used_on_sweep(setting: Setting) -> str:
    """Return why Sweep does not read a setting: a started sweep has its own."""
    if st.session_state.get("study", st.query_params.get("study", "")):
        return words.SWEEP_HAS_ITS_OWN
    return words.NOT_USED if setting is BASELINE_C else ""


def not_used_on_kernel(setting: Setting) -> str:
    """Return why Nyström and Fourier does not read a setting: it trains no linear model."""
    return words.NOT_USED if setting is BASELINE_C else ""


def _chosen(key: str, default: str) -> str:
    """Return the value of a control; in the first run it is still in the address."""
    return str(st.session_state.get(key, st.query_params.get(key, default)))


def _of_linear() -> set[Setting]:
    """Return the settings of the linear model."""
    active = METHODS[USUAL].active(lambda one: LINEAR if one is FEATURE_MAP else one.first)
    return {setting for setting, _ in active}


ICON = Path(__file__).parents[1] / "icon.svg"


@dataclass(frozen=True)
class Entry:
    """A page of the app.

    Attributes
    ----------
    title : str
    section : str
        Its group in the menu; empty for Home.
    icon : str
        A Material icon.
    file : str
        The script in `pages/`, without extension.
    about : str
        The question that it answers, in the menu and on Home; empty for Home.
    unread : callable
        Function that explains why it does not read a setting of the sidebar; "" if it does.
    no_fold : callable
        Function that explains why it does not read the fold; "" if it does.
    own : bool
        True if it has its own documents and model, so that the sidebar's settings are folded.
    on_page : tuple of Setting
        Settings of the sidebar that are drawn on the page instead.
    """

    title: str
    section: str
    icon: str
    file: str
    about: str = ""
    unread: Unused = lambda _: ""
    no_fold: Callable[[], str] = lambda: ""
    own: bool = False
    on_page: tuple[Setting, ...] = ()

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
        """The title in bold, with the question."""
        return f"**{self.title}**: {self.about}"


ENTRIES = (
    Entry("Home", "", "home", "home"),
    Entry(
        "Lessons",
        "Learn",
        "school",
        "lessons",
        "How does learning to rank work?",
        not_used,
        own=True,
    ),
    Entry(
        "Playground",
        "Learn",
        "grid_4x4",
        "playground",
        "How do documents in a plane shape a model?",
        not_used,
        own=True,
    ),
    Entry("Weights by hand", "Learn", "equalizer", "weights", "What does a weight do?", not_used_on_weights),
    Entry(
        "Lecture",
        "Learn",
        "co_present",
        "lecture",
        "How do I lead a class through pages?",
        not_used,
        own=True,
    ),
    Entry(
        "Data",
        "One model",
        "dataset",
        "data",
        "What do queries, grades and features look like?",
        not_used_on_data,
    ),
    Entry("Train", "One model", "model_training", "train", "How well does a model rank?"),
    Entry("Why", "One model", "help_center", "why", "Why is one document above another?"),
    Entry("What if", "One model", "swap_vert", "what_if", "What if the data were different?"),
    Entry(
        "Nyström and Fourier",
        "Study",
        "blur_on",
        "kernel_approximation",
        "How close to the exact kernel?",
        not_used_on_kernel,
        on_page=(N_COMPONENTS, GAMMA),
    ),
    Entry("NDCG against m", "Study", "show_chart", "ndcg_vs_m", "How many features are enough?"),
    Entry(
        "C and costs",
        "Study",
        "tune",
        "influence",
        "How do C and costs change the ranking?",
        not_used_on_influence,
        fold_not_used_on_influence,
    ),
    Entry("Convergence", "Study", "trending_down", "convergence", "Which solver is fastest?"),
    Entry("Low rank", "Study", "grid_on", "low_rank", "How many directions do the dual variables need?"),
    Entry("Sweep", "Study", "apps", "sweep", "Which settings are best?", not_used_on_sweep),
    Entry("Two models", "Compare", "compare", "side_by_side", "Where do two models disagree?"),
    Entry(
        "Several models",
        "Compare",
        "rule",
        "compare",
        "Which is significantly better?",
        not_used,
        own=True,
    ),
    Entry("Methods", "Compare", "account_tree", "methods", "Pairs, lists or trees?"),
    Entry("Definitions", "Compare", "balance", "definitions", "Why do the numbers differ?"),
    Entry("Runs", "Compare", "history", "runs", "What has been trained?", not_used, own=True),
)
"""All pages in the order of the menu, the start page first."""


def entry_of(page: st.Page) -> Entry:
    """Return the entry of a page returned by `configure`; Home's for an unknown page."""
    return next((entry for entry in ENTRIES if entry.title == page.title), ENTRIES[0])


def links() -> None:
    """Draw links to all pages but Home, by section, which keep the settings."""
    places = st.columns(2, gap="medium")
    for k, section in enumerate(dict.fromkeys(entry.section for entry in ENTRIES[1:])):
        with places[k // 2]:
            st.subheader(section, anchor=False)
            for entry in ENTRIES:  # Streamlit adds bound parameters itself
                if entry.section == section:
                    st.page_link(entry.script, label=entry.sentence, icon=entry.material, help=" ")


_UNKNOWN = "unknown-page"


def _unknown_page() -> list[st.Page]:
    """Return the page for an address without one, hidden from the menu; none for a known address.

    Without it Streamlit shows Home below a dialog.
    """
    context = get_script_run_ctx()
    asked = str(context.pages_manager.intended_page_name or "") if context is not None else ""
    asked = asked.strip("/ ").rpartition("/")[2].strip()  # a page's address has no "/", or Streamlit fails
    if asked and asked not in [entry.file for entry in ENTRIES]:
        st.session_state[_UNKNOWN] = asked
    asked = st.session_state.get(_UNKNOWN, "")
    return [st.Page(_no_page, title=words.NO_PAGE, url_path=asked, visibility="hidden")] if asked else []


def _no_page() -> None:
    head(words.NO_PAGE)
    st.header(words.NO_PAGE_HERE, anchor=False)
    links()


def configure() -> st.Page:
    """Configure the app and announce its pages; return the requested one.

    The icon is our own file, because Material icons and emoji would be fetched from another host.
    """
    st.set_page_config(page_title="rankviz", page_icon=str(ICON), layout="wide")
    menu: dict[str, list[st.Page]] = {}
    for one in ENTRIES:
        page = st.Page(
            one.script, title=one.title, icon=one.material, default=one is ENTRIES[0], help=one.about
        )
        menu.setdefault(one.section, []).append(page)
    menu[""] += _unknown_page()
    page = st.navigation(menu, position="top", expanded=True)
    st.set_page_config(page_title=f"{page.title} · rankviz")
    st.session_state[TITLE] = page.title
    st.session_state[RUN] = st.session_state.get(RUN, 0) + 1
    return page


def experiment(read: Callable[[Mapping[str, Any]], RunSpec] = spec_from_state) -> RunSpec:
    """Return the experiment of the sidebar's settings, by default its current model.

    If its settings are invalid, the page ends with a sentence.
    """
    with errors_as_sentences():
        try:
            return read(st.session_state)
        except (DataError, SettingError):
            head(st.session_state[TITLE])  # else the page would start with its first figure
            raise
