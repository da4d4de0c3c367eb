"""The router: page configuration, navigation, shared sidebar. Start with `make app`."""

import streamlit as st

from ui.data import uploads
from ui.shared.navigation import configure
from ui.shared.runs import datasets, errors_as_sentences
from ui.shared.settings import VERSION, go_where_asked, link_as_opened, say_what_was_not_offered
from ui.shared.sidebar import sidebar

page = configure()
go_where_asked()
link = link_as_opened()
st.query_params["v"] = VERSION
with errors_as_sentences():
    uploads.before_sidebar()
    sidebar(datasets())
say_what_was_not_offered(link)
page.run()
