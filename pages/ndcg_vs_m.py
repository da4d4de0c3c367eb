"""Ranking quality against m of both approximations and the exact kernel: how many features are enough."""

import streamlit as st

from ui.controls import trail
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.shell.errors import errors_as_sentences
from ui.shell.page import show_subject, tabs
from ui.study import ndcg_vs_m as views
from ui.study import ndcg_vs_m_samples as samples

spec = experiment()
about, part = head_and_part("NDCG against m", spec)
line = trail.place()
with errors_as_sentences():
    settings = views.settings(spec)
    show_subject(about, views.in_short(settings, part))
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        wanted = samples.wanted(spec)
        records, beside, whole = views.records(spec, settings, wanted)
    with figure:
        views.headline(spec, settings, records, part, whole=whole)

tabs(
    {
        "One query as m grows": lambda: views.one_query(spec, records, part),
        "Distance from the exact model": lambda: views.ranking_error(spec, settings, records, part),
        "Numbers": lambda: views.numbers(settings, records, part),
        "Learning curve": lambda: samples.draw("Learning curve", spec, settings, wanted, beside, part),
        "Label noise": lambda: samples.draw("Label noise", spec, settings, wanted, beside, part),
    }
)
trail.show_effect(line, spec, part, settings.metrics[0])
