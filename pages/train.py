"""Train one model and see what it does, beside the linear one."""

import streamlit as st

from ui import reveal, train_views
from ui.jobs import predicted, run_or_wait
from ui.navigation import experiment
from ui.runs import errors_as_sentences, normalised
from ui.settings import linear_C
from ui.show import what_is_shown
from ui.train_downloads import downloads

spec = experiment()
st.title("Train")
part = reveal.part_shown(spec)
what_is_shown(spec, part)
with errors_as_sentences():
    cost = st.empty()
    cost.caption(f"Predicted for this run: {predicted(spec)}.")
    wanted = [spec.linear(linear_C(st.session_state)), spec]
    baseline, record = run_or_wait(wanted, title=f"Train, {spec.dataset}")
    data = normalised(spec).parts[part]

cost.caption(train_views.cost(record, predicted(spec)))
train_views.headline(baseline, record, data, part)
lists, margins, convergence, numbers = st.tabs(["One query", "Margins", "Convergence", "Numbers"])
with lists:
    train_views.one_query(baseline, record, data, part)
with margins:
    train_views.margins(record, data, part)
with convergence:
    train_views.convergence(baseline, record)
with numbers:
    train_views.numbers(baseline, record, part)
    downloads(record, data, part)
