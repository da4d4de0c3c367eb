"""One query's ranked list, changed by hand, and the retrained model's ranking."""

import streamlit as st

from ui.controls import trail
from ui.controls.navigation import experiment
from ui.model import what_if as views
from ui.model.what_if_models import at_optimum
from ui.model.what_if_words import SETTINGS, TIGHTER
from ui.model.why import pair_of_a_list
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head
from ui.shell.texts import describe
from ui.work.jobs import run_or_wait
from ui.work.metrics import metric_now

spec = experiment()
head("What if", str(describe(spec)))
line = trail.place()
with errors_as_sentences():
    if views.answers_at_once(spec):
        list_, training = st.container(), st.container()  # the list keeps its place
        with training:
            run_or_wait([spec], title=f"What if, {spec.dataset}")
        metric = metric_now()
        with list_:
            views.show(spec, pair_of_a_list, metric)
        hint = TIGHTER if spec.offers.refits else ""
        trail.show_effect(line, spec, metric=metric, measure=at_optimum, hint=hint, title=SETTINGS)
