"""Train one model and compare it with the linear one or a pinned one."""

import streamlit as st

from ui.controls import trail
from ui.controls.imported import report_agreement
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.model import train as views
from ui.model.train import downloads
from ui.shell.errors import errors_as_sentences
from ui.shell.page import tabs
from ui.shell.texts import describe
from ui.work.folds import normalised
from ui.work.jobs import predicted, run_or_wait

spec = experiment()
about, part = head_and_part("Train", spec)
line = trail.place()
about.caption(str(describe(spec, part)), width="content")
with errors_as_sentences():
    beside, metric, place = views.controls(st.session_state, spec)
    verdict, figure, training = st.container(), st.container(), st.container()  # the figure keeps its place
    with training:
        other, record = run_or_wait([beside, spec], title=f"Train, {spec.dataset}", place=place)
    with verdict:
        report_agreement(record)
    data = normalised(spec).parts[part]

with figure:
    views.headline(other, record, data, part, metric)
if spec.kind.trains:
    st.caption(views.cost(record, predicted(spec)))
tabs(
    {
        "One query": lambda: views.one_query(other, record, data, part, metric),
        "Margins": lambda: views.margins(record, data, part),
        "Convergence": lambda: views.convergence(record),
        **({"Features": lambda: views.importance(record, other, data)} if spec.offers.importance else {}),
        "Numbers": lambda: (views.numbers(other, record, part), downloads(record, part)),
    }
)
trail.show_effect(line, spec, part, metric)
