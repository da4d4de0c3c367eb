"""The router: page configuration, navigation, shared sidebar. `app.py` serves it."""

import streamlit as st

from ui.controls.link import (
    VERSION,
    link_as_opened,
    message_places,
    one_entry_a_page,
    say_what_was_not_offered,
    say_what_was_not_read,
)
from ui.controls.navigation import configure, entry_of
from ui.controls.settings import go_where_asked
from ui.controls.sidebar import show_link, sidebar
from ui.data import uploads
from ui.defaults import prepare
from ui.shell.errors import errors_as_sentences
from ui.shell.page import add_styles, switches
from ui.shell.server import settle
from ui.shell.visitors import ask_to_log_in, offer_to_log_out
from ui.work.folds import datasets

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
        vain = message_places()
        say_what_was_not_offered(link, vain)  # the sidebar's at once, because a page may be slow
        add_styles()
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
