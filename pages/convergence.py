"""Speed of convergence, and the effects of preconditioner and C."""

import streamlit as st

from ui.convergence import playback, views
from ui.shared.ends import end_page
from ui.shared.foreign import describe
from ui.shared.head import head
from ui.shared.navigation import experiment
from ui.shared.needs import offered
from ui.shared.runs import errors_as_sentences
from ui.shared.views import tabs

spec = experiment()
head("Convergence", str(describe(spec, "train")))
if not offered(spec, *views.NEEDED):
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
