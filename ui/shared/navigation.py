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
from rankviz.common.settings import Setting
from rankviz.runs.spec import RunSpec
from ui.shared import reads
from ui.shared.head import head
from ui.shared.runs import errors_as_sentences
from ui.shared.settings import data_from_state, spec_from_state

ICON = Path(__file__).parent / "icon.svg"


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
    unread: Callable[[Setting], str] = reads.by_any
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
    Entry("Data", "dataset", "data", ": queries, grades, features", reads.by_data),
    Entry("Playground", "grid_4x4", "playground", ": drag documents in the plane", reads.by_plane, own=True),
    Entry("Train", "model_training", "train", ": one model's rankings and margins"),
    Entry("Why", "help_center", "why", ": each feature's contribution"),
    Entry("What if", "swap_vert", "what_if", ": change documents or grades"),
    Entry("Weights by hand", "equalizer", "weights", ": move a weight", reads.by_weights),
    Entry("NDCG against m", "show_chart", "ndcg_vs_m", ": how many features are enough?"),
    Entry("Convergence", "trending_down", "convergence", ": losses and solvers"),
    Entry(
        "Influence of C and costs",
        "tune",
        "influence",
        ": quality and training time",
        reads.by_influence,
        reads.no_fold_by_influence,
    ),
    Entry("Sweep", "apps", "sweep", ": vary settings in the background", reads.by_sweep),
    Entry(
        "Kernel approximation",
        "blur_on",
        "kernel_approximation",
        ": how close to exact?",
        reads.by_kernel,
    ),
    Entry("Low rank", "grid_on", "low_rank", ": dual variables"),
    Entry("Side by side", "compare", "side_by_side", ": two models, query by query"),
    Entry("Compare", "rule", "compare", ": models over folds and seeds", reads.by_compare, own=True),
    Entry(
        "Runs",
        "history",
        "runs",
        ": search, compare and share",
        reads.by_runs,
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


TITLE = "page-title"
"""Session key of the current page's title."""


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
