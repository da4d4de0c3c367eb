"""One query's ranked list, changed by hand, and the retrained model's ranking."""

import streamlit as st

from ui.shared.foreign import describe
from ui.shared.head import head
from ui.shared.jobs import run_or_wait
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences
from ui.what_if import views
from ui.why.views import pair_of_a_list

spec = experiment()
head("What if", str(describe(spec)))
with errors_as_sentences():
    if views.answers_at_once(spec):
        list_, training = st.container(), st.container()  # the list keeps its place
        with training:
            run_or_wait([spec], title=f"What if, {spec.dataset}")
        with list_:
            views.show(spec, pair_of_a_list)
