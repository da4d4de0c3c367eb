"""Speed of convergence, and the effects of preconditioner and C."""

import streamlit as st

from ui.controls import trail
from ui.controls.models import supports
from ui.controls.navigation import experiment
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head, tabs
from ui.shell.texts import describe
from ui.study import convergence as views
from ui.study import convergence_playback as playback

spec = experiment()
head("Convergence", str(describe(spec, "train")))
line = trail.place()
if spec.offers.rounds:
    views.rounds(spec)
    end_page()
if not supports(spec, *views.NEEDED):
    end_page()
with errors_as_sentences():
    choice = views.controls(spec)
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        records, table = views.runs(spec, choice)
with figure:
    views.headline(records, table, choice)
tabs(
    {
        "Play": lambda: playback.playback(spec),
        "Runs": lambda: views.summary(records, table),
        "Iterations": lambda: views.iterations(table),
    }
)
trail.show_effect(line, spec)
