"""Definitions of metrics: why tools print different numbers for the same ranking, term by term."""

import streamlit as st

from ui.compare import definitions as views
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.shell.errors import errors_as_sentences
from ui.shell.page import tabs

spec = experiment()
about, part = head_and_part("Definitions", spec)
with errors_as_sentences():
    controls, figure, training = (st.container() for _ in range(3))  # the figure keeps its place
    with controls:
        shown = views.chosen(spec, part, about, training)
    with figure:
        views.headline(shown)
tabs(
    {
        "Rules": lambda: views.rules(shown),
        "Terms": lambda: views.products(shown),
        "All measures": lambda: views.measures(shown),
        "Effect on the mean": lambda: views.effects(shown),
    }
)
