"""Train one model and compare it with the linear one or a pinned one."""

import streamlit as st

from ui.controls.widgets import part_shown
from ui.shared.foreign import describe
from ui.shared.head import head
from ui.shared.imported import say_of
from ui.shared.jobs import predicted, run_or_wait
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised
from ui.shared.views import tabs
from ui.train import views
from ui.train.views import downloads

spec = experiment()
row = head("Train")
about = row.container(width="content")
with row:
    part = part_shown(spec)
about.caption(str(describe(spec, part)), width="content")
with errors_as_sentences():
    beside, curve, place = views.controls(st.session_state, spec)
    told, figure, training = st.container(), st.container(), st.container()  # the figure keeps its place
    with training:
        other, record = run_or_wait([beside, spec], title=f"Train, {spec.dataset}", place=place)
    with told:
        say_of(record)
    data = normalised(spec).parts[part]

with figure:
    views.headline(other, record, data, part, curve)
st.caption(views.cost(record, predicted(spec)))
tabs(
    {
        "One query": lambda: views.one_query(other, record, data, part),
        "Margins": lambda: views.margins(record, data, part),
        "Convergence": lambda: views.convergence(record),
        "Numbers": lambda: (views.numbers(other, record, part), downloads(record, part)),
    }
)
