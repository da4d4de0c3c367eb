"""Two models on the same data, query by query: by default both approximations of the kernel."""

import streamlit as st

from ui.shared import reveal
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised
from ui.side_by_side import views

spec = experiment()
st.title("Side by side")
part = reveal.part_shown(spec)
choice = views.controls(spec)
with errors_as_sentences():
    pair = views.trained(choice, part)
    data = normalised(spec).parts[part]
views.linked(pair, data, part, choice.metric)
