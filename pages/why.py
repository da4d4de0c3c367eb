"""Reasons why one document ranks above another: each feature's exact share of their margin."""

import streamlit as st

from ui.controls import trail
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.model import why as views
from ui.model import why_choices as choices
from ui.shell.errors import errors_as_sentences
from ui.shell.page import tabs

spec = experiment()
about, part = head_and_part("Why", spec)
line = trail.place()
with errors_as_sentences():
    controls, figure, training = (st.container() for _ in range(3))  # the figure keeps its place
    with controls:
        pair, called = choices.controls(spec, part, about, training)
    with figure:
        table = views.shares(pair, called)
tabs(
    {
        "Both documents": lambda: views.values(pair, table),
        "Move a feature": lambda: views.moved(pair, called, table),
        "Landmarks": lambda: views.landmarks(pair),
        "Training queries": lambda: views.training_queries(pair, spec),
        "Down the list": lambda: views.listed(pair, called),
    }
)
trail.show_effect(line, spec, part)
