"""The router: page configuration, navigation, shared sidebar. Start with `make app`."""

import streamlit as st

from ui.navigation import pages
from ui.runs import datasets, errors_as_sentences
from ui.settings import VERSION, sidebar

st.set_page_config(page_title="rankviz", page_icon="ui/icon.svg", layout="wide")
page = st.navigation(pages())
st.query_params["v"] = VERSION
with errors_as_sentences():
    sidebar(datasets())
page.run()
