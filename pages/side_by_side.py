"""Nyström beside random Fourier on the same data and the same query."""

import streamlit as st

from ui import reveal, side_by_side_views
from ui.navigation import experiment
from ui.runs import errors_as_sentences, normalised

spec = experiment()
st.title("Side by side")
part = reveal.part_shown(spec)
with errors_as_sentences():
    pair = side_by_side_views.trained(st.session_state, part)
    data = normalised(spec).parts[part]
side_by_side_views.linked(pair, data, part, side_by_side_views.reading(pair, part))
