"""How fast training converges, and what preconditioner and C change about it."""

import streamlit as st

from ui import convergence_play, convergence_views
from ui.navigation import experiment
from ui.runs import errors_as_sentences
from ui.show import what_is_shown

spec = experiment()
st.title("Convergence")
what_is_shown(spec, "train")
with errors_as_sentences():
    choice = convergence_views.controls(spec)
    records, table = convergence_views.runs(spec, choice)

convergence_views.headline(records, table, choice)
play, summary, trace = st.tabs(["Play", "Runs", "Iterations"])
with play, errors_as_sentences():
    convergence_play.playback(spec)
with summary:
    convergence_views.summary(records, table)
with trace:
    convergence_views.iterations(table)
