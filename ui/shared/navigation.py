"""The pages of the app, and what every page begins with."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from rankviz.experiments.spec import RunSpec
from ui.shared.runs import errors_as_sentences
from ui.shared.settings import spec_from_state

ICON = Path(__file__).parent / "icon.svg"
READABLE_BUTTONS = """<style>
[data-testid="stBaseButton-primary"] * { color: light-dark(#fff, #10201e) !important; }
</style>"""
"""Streamlit writes white on primary buttons, unreadable on the light accent of the dark theme."""


def configure() -> st.Page:
    """Configure the app and announce its pages; returns the one that was asked for.

    The icon is a file of ours: Material icons and emoji would be fetched from another host.
    """
    st.set_page_config(page_title="rankviz", page_icon=str(ICON), layout="wide")
    st.html(READABLE_BUTTONS)
    return st.navigation(
        [
            st.Page("pages/home.py", title="Home", icon=":material/home:", default=True),
            st.Page("pages/data.py", title="Data", icon=":material/dataset:"),
            st.Page("pages/train.py", title="Train", icon=":material/model_training:"),
            st.Page("pages/ndcg_vs_m.py", title="NDCG against m", icon=":material/show_chart:"),
            st.Page("pages/convergence.py", title="Convergence", icon=":material/trending_down:"),
            st.Page("pages/influence.py", title="Influence of C and costs", icon=":material/tune:"),
            st.Page("pages/kernel_approximation.py", title="Kernel approximation", icon=":material/blur_on:"),
            st.Page("pages/low_rank.py", title="Low rank", icon=":material/grid_on:"),
            st.Page("pages/side_by_side.py", title="Side by side", icon=":material/compare:"),
        ]
    )


def experiment() -> RunSpec:
    """The experiment that the sidebar describes.

    The very first visit to a server may be a link to a page: Streamlit then runs that page from `pages/`
    alone, without app.py. Announcing the navigation ends that for good, and the run starts again with app.py.
    """
    if "data" not in st.session_state:
        configure()
        st.rerun()
    with errors_as_sentences():
        return spec_from_state(st.session_state)
