"""Parts of every page: head, tabs, styles, and the switches of large type and of one figure alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import unbroken
from rankviz.common.progress import Progress, Report
from ui.shell.components import SCRIPTS
from ui.shell.errors import errors_as_sentences
from ui.shell.locks import unlocked
from ui.shell.terms import show_glossary


def head(title: str, about: str = "") -> DeltaGenerator:
    """Draw title, glossary and subject; return their row."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-head")
    row.title(title, width="content", anchor=False)
    with row:
        show_glossary()
    if about:
        show_subject(row, about)
    st.session_state.pop(_JOBS, None)
    return row


def make_job_place() -> None:
    """Make a place for jobs here, where figures that appear do not push them down."""
    st.session_state[_JOBS] = st.container(key=f"{KEPT_ALONE}-jobs", gap=None)


def job_place() -> DeltaGenerator:
    """Return the page's place for jobs; a container here if it has none."""
    return st.session_state.get(_JOBS) or st.container()


def show_subject(place: DeltaGenerator, about: str) -> None:
    """Draw the subject of a page beside its title; "m = 50" stays on one line."""
    place.caption(unbroken(about), width="content")


_JOBS = "job-place"
TITLE = "page-title"
"""Session key of the current page's title."""
VIEW = "view"
"""The query parameter that names the open tab."""
_OF = "view-of-page"


def tabs(draw: Mapping[str, Callable[[], object]]) -> None:
    """Draw tabs by their names; errors appear in their tab."""
    close_other_tab()
    places = st.tabs(list(draw), key=VIEW, bind="query-params", on_change="rerun")
    for tab, drawn in zip(places, draw.values(), strict=True):
        if tab.open:
            with tab, errors_as_sentences():
                drawn()


@contextmanager
def progress_bar(words: str) -> Iterator[Report]:
    """Show a progress bar with these words until the end of the block, which reports its progress."""
    line = st.empty()

    def tell(progress: Progress) -> None:
        line.progress(min(1.0, progress.fraction or 0.0), words)

    yield tell
    line.empty()


def close_other_tab() -> None:
    """Close a tab that was opened on another page, before tabs are drawn."""
    here = st.session_state.get(TITLE)
    if st.session_state.setdefault(_OF, here) != here and VIEW not in st.query_params:
        st.session_state.pop(VIEW, None)
    st.session_state[_OF] = here


def go_to(page: str) -> None:
    """Go to a page, by the name of its script (a callback; `switch_if_requested` then switches)."""
    st.session_state[_DESTINATION] = f"pages/{page}.py"


def switch_if_requested() -> None:
    """Switch to the page chosen by a callback, with the sidebar's settings.

    Fragments with such callbacks call this too, because they run without the router.
    """
    if _DESTINATION in st.session_state:
        st.switch_page(st.session_state.pop(_DESTINATION), query_params={})


_DESTINATION = "go-to"


KEPT_ALONE = "ways"
"""Key prefix of containers that a page without results needs, even when only its figure is shown."""
LARGE, ALONE = "large", "alone"
"""Keys of the switches for large type, and for the first figure alone."""
AT = "at"
"""Parameter of the address in a view of a lecture, whose bar is above the page: its number, from 1."""
SWITCHES = (
    (LARGE, "Large type", "For projectors: large letters, thick lines, black on white."),
    (ALONE, "First figure alone", "Hides everything else but the controls beside it."),
)
"""Keys, labels and help texts of the switches."""


def _css(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_SCRIPT = (SCRIPTS / "shell" / "frame.js").read_text(encoding="utf-8")
_STYLE = _css("page.css")
_STYLE_OF = {LARGE: _css("page-large.css"), ALONE: _css("page-alone.css")}


def is_on(key: str) -> bool:
    """Return True if a switch is on; in the first run its widget has not read the address yet."""
    asked = st.query_params.get(key, "").lower() == "true"
    return bool(st.session_state.get(key, asked))


def add_frame() -> None:
    """Put the app's script and styles on the page, including those of active switches."""
    styles = [_STYLE, *(_STYLE_OF[key] for key in _STYLE_OF if is_on(key))]
    st.html(f"<style>{''.join(styles)}</style><script>{_SCRIPT}</script>", unsafe_allow_javascript=True)


def switches() -> None:
    """Draw the switches of a presentation in the head of the sidebar."""
    place = st.sidebar.container(key="look").popover("Presentation", type="tertiary")
    for key, label, hint in SWITCHES:
        st.session_state[key] = is_on(key)  # keeps it in the address of the next page
        with unlocked():
            place.toggle(label, key=key, bind="query-params", help=hint)
