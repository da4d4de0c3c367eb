"""The start page: what rankviz is, one live figure, and where to go."""

import streamlit as st

from ui.home import views
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences, normalised

spec = experiment()
st.title("Pairwise learning to rank, to look at")
st.markdown(
    "A search engine answers a **query** with **documents**; people grade how relevant each one is. RankSVM "
    "learns scores from **preference pairs**, two documents of one query with different grades, so that the "
    "better one comes first. A kernel makes the scores non-linear, and an **approximation** with m features "
    "makes the kernel affordable. How many features are enough? Move the controls and see."
)
with errors_as_sentences():
    data = normalised(spec)
    views.headline(st.session_state, data.vali)
views.what_is_true(spec.dataset)
views.where_to_go()
