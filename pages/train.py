"""Train one model and see what it does, beside the linear one or a pinned one."""

import streamlit as st

from ui.shared import reveal
from ui.shared.jobs import predicted, run_or_wait
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised
from ui.shared.show import what_is_shown
from ui.shared.views import tabs
from ui.train import views
from ui.train.downloads import downloads

spec = experiment()
st.title("Train")
part = reveal.part_shown(spec)
what_is_shown(spec, part)
with errors_as_sentences():
    cost = st.empty()
    cost.caption(f"Predicted for this run: {predicted(spec)}.")
    beside = views.beside(st.session_state, spec)
    other, record = run_or_wait([beside, spec], title=f"Train, {spec.dataset}")
    data = normalised(spec).parts[part]

cost.caption(views.cost(record, predicted(spec)))
views.headline(other, record, data, part)
tabs(
    {
        "One query": lambda: views.one_query(other, record, data, part),
        "Margins": lambda: views.margins(record, data, part),
        "Convergence": lambda: views.convergence(record),
        "Numbers": lambda: (views.numbers(other, record, part), downloads(record, part)),
    }
)
