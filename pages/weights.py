"""The linear model's weights, moved by hand, and their effect on a query's list."""

import streamlit as st

from ui.controls.navigation import experiment
from ui.controls.settings import baseline
from ui.learn import weights as views
from ui.learn import weights_words as words
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head
from ui.shell.texts import describe
from ui.work.folds import normalised
from ui.work.jobs import run_or_wait

spec = experiment(baseline).but(costs=None)
row = head("Weights by hand", str(describe(spec, "train")))
with errors_as_sentences():
    train = normalised(spec).train
    if why := views.not_supported(spec, train):
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
