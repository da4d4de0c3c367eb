"""How close the approximate kernels come to the exact one, and how that depends on m."""

import streamlit as st

from ui import kernel_approximation_views as views
from ui.navigation import experiment
from ui.runs import errors_as_sentences

spec = experiment()
st.title("Kernel approximation")
spec = views.kernel_of(spec)
views.what_is_compared(spec)
settings = views.settings(spec)
with errors_as_sentences():
    errors = views.errors(spec, settings)
    at_m = views.at_m(spec)
    views.headline(spec, settings, errors)

entries, spectrum, residual, numbers = st.tabs(
    ["κ against κ̃", "Spectrum", "Residuals of one query", "Numbers"]
)
with entries:
    views.entries(spec, at_m)
with spectrum:
    views.spectrum(spec, at_m)
with residual:
    views.residual(spec)
with numbers:
    views.numbers(errors)
