"""The linear model's weights, moved by hand, and their effect on a query's list."""

import streamlit as st

from ui.shared.ends import end_page
from ui.shared.foreign import describe
from ui.shared.head import head
from ui.shared.jobs import run_or_wait
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised
from ui.shared.settings import baseline
from ui.weights import views, words

spec = experiment(baseline).but(costs=None)
row = head("Weights by hand", str(describe(spec, "train")))
with errors_as_sentences():
    train = normalised(spec).train
    if why := views.why_not(spec, train):
        st.info(why)
        end_page()
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        (record,) = run_or_wait([spec], title="Weights by hand")
    with row:
        query = views.query_of(train)
    with figure:
        views.table(record, train, query)
    st.caption(words.ABOUT)
