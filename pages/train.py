"""Train one model and see what it does, beside the linear one."""

import streamlit as st

from ui.shared import reveal
from ui.shared.jobs import predicted, run_or_wait
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised
from ui.shared.settings import baseline
from ui.shared.show import what_is_shown
from ui.train import views
from ui.train.downloads import downloads

spec = experiment()
st.title("Train")
part = reveal.part_shown(spec)
what_is_shown(spec, part)
with errors_as_sentences():
    cost = st.empty()
    cost.caption(f"Predicted for this run: {predicted(spec)}.")
    wanted = [baseline(st.session_state), spec]
    baseline, record = run_or_wait(wanted, title=f"Train, {spec.dataset}")
    data = normalised(spec).parts[part]

cost.caption(views.cost(record, predicted(spec)))
views.headline(baseline, record, data, part)
lists, margins, convergence, numbers = st.tabs(["One query", "Margins", "Convergence", "Numbers"])
with lists:
    views.one_query(baseline, record, data, part)
with margins:
    views.margins(record, data, part)
with convergence:
    views.convergence(baseline, record)
with numbers:
    views.numbers(baseline, record, part)
    downloads(record, data, part)
