"""The pages of the app, and what every page begins with."""

from __future__ import annotations

import streamlit as st

from rankviz.experiments.spec import RunSpec
from ui.settings import spec_from_state


def pages() -> list[st.Page]:
    """The pages in the order of the navigation."""
    return [
        st.Page("pages/home.py", title="Home", icon=":material/home:", default=True),
        st.Page("pages/train.py", title="Train", icon=":material/model_training:"),
    ]


def experiment() -> RunSpec:
    """The experiment that the sidebar describes.

    The very first visit to a server may be a link to a page: Streamlit then runs that page from `pages/`
    alone, without app.py. Announcing the navigation ends that for good, and the run starts again with app.py.
    """
    if "data" not in st.session_state:
        st.navigation(pages())
        st.rerun()
    return spec_from_state(st.session_state)
