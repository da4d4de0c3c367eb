"""Nyström and random Fourier features side by side: kernels, landmarks and waves, curves, rankings."""

import streamlit as st

from ui.controls.navigation import experiment
from ui.controls.sidebar import head_place
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head, tabs
from ui.study import kernel_approximation as views
from ui.study import kernel_approximation_rows as rows

spec = experiment()
with head_place():
    about = head("Nyström and Fourier").container(width="content")
top, details = st.container(), st.container()
with errors_as_sentences():
    with details:
        asked = views.asked(spec, about, top)
    if asked is None:
        end_page()
    with top:
        hold_ahead = rows.draw(asked)

tabs(
    {
        "Error over draws": lambda: views.draws(asked),
        "κ against κ̃": lambda: views.entries(asked),
        "Residuals of one query": lambda: views.residual(asked),
        "Spectrum": lambda: views.spectrum(asked),
        "Error against seconds": lambda: views.seconds(asked),
        "Numbers": lambda: views.numbers(asked),
    }
)
with errors_as_sentences():
    hold_ahead()
