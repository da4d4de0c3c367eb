"""The router: page configuration, navigation, shared sidebar. `app.py` serves it."""

import streamlit as st

from ui.data import uploads
from ui.defaults import prepare
from ui.shared.accounts import ask_to_log_in, offer_to_log_out
from ui.shared.history import one_entry_a_page
from ui.shared.in_vain import VERSION, place_for_refusals, say_what_was_not_offered
from ui.shared.link import link_as_opened, say_what_was_not_read
from ui.shared.look import dress, switches
from ui.shared.navigation import configure, entry_of
from ui.shared.runs import datasets, errors_as_sentences
from ui.shared.settings import go_where_asked
from ui.shared.sidebar import show_link, sidebar
from ui.shared.warm import settle

page = configure()
try:
    with errors_as_sentences():
        one_entry_a_page("v", VERSION)
        ask_to_log_in()
        go_where_asked()
        link = link_as_opened()
        uploads.before_sidebar()
        switches()
        entry = entry_of(page)
        sidebar(datasets(), entry.unread, entry.no_fold, folded=entry.own)
        offer_to_log_out()
        vain = place_for_refusals()
        say_what_was_not_offered(link, vain)  # the sidebar's at once, because a page may be slow
        dress()
        place = st.container()
        try:
            page.run()
        finally:  # some pages end early
            say_what_was_not_offered(link, vain)  # first: st.stop() prevents drawing, but this is recorded
            show_link()
            say_what_was_not_read(link, place)
finally:
    settle()
    prepare()
