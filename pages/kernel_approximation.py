"""How close the approximate kernels come to the exact one, and how that depends on m."""

import streamlit as st

from ui.kernel_approximation import tabs, views
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences

spec = experiment()
st.title("Kernel approximation")
with errors_as_sentences():
    asked = views.asked(spec)
    if asked is None:
        st.stop()
    errors, draws = views.headline(asked)

entries, residuals, spectrum, seconds, numbers = st.tabs(
    ["κ against κ̃", "Residuals of one query", "Spectrum", "Error against seconds", "Numbers"],
    key="view",
    bind="query-params",
)
if entries.open:
    with entries:
        tabs.entries(asked)
if residuals.open:
    with residuals:
        tabs.residual(asked)
if spectrum.open:
    with spectrum:
        tabs.spectrum(asked)
if seconds.open:
    with seconds:
        tabs.seconds(asked, errors, draws)
if numbers.open:
    with numbers:
        tabs.numbers(asked, errors)
views.finish(asked, draws)
