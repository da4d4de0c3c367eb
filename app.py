"""The router: page configuration, navigation, shared sidebar. Start with `make app`."""

import streamlit as st

from ui import uploads
from ui.navigation import configure
from ui.runs import datasets, errors_as_sentences
from ui.settings import VERSION, sidebar

page = configure()
st.query_params["v"] = VERSION
with errors_as_sentences():
    uploads.before_sidebar()
    sidebar(datasets())
page.run()
