"""Two models on the same data, query by query: by default both approximations of the kernel."""

import streamlit as st

from ui.compare import side_by_side as views
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.shell.errors import errors_as_sentences
from ui.work.folds import normalised

spec = experiment()
about, part = head_and_part("Two models", spec)
choice = views.controls(spec)
with errors_as_sentences():
    figures, training = st.container(), st.container()  # the figures keep their places
    with training:
        pair = views.trained(choice, part, about)
    data = normalised(spec).parts[part]
    with figures:
        views.linked(pair, data, part, choice.metric)
