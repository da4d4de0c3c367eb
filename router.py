"""The router: page configuration, navigation, shared sidebar. `app.py` serves it."""

import streamlit as st

from ui.controls.link import (
    VERSION,
    keep_one_history_entry,
    link_as_opened,
    message_places,
    report_refused,
    report_rejected,
    report_unknown_job,
    report_unread,
)
from ui.controls.navigation import configure, entry_of
from ui.controls.sequence import lock, show_bar
from ui.controls.sidebar import show_link, sidebar
from ui.defaults import prepare
from ui.model import uploads
from ui.shell.errors import errors_as_sentences
from ui.shell.page import add_frame, switch_if_requested, switches
from ui.shell.server import freeze_libraries
from ui.shell.visitors import require_login, show_account
from ui.work.folds import datasets

page = configure()
try:
    with errors_as_sentences():
        keep_one_history_entry("v", VERSION)
        require_login()
        switch_if_requested()
        link = link_as_opened()
        uploads.before_sidebar()
        switches()
        lock()
        entry, lecture = entry_of(page), st.container()
        sidebar(datasets(), entry.unread, entry.no_fold, folded=entry.own, on_page=entry.on_page)
        show_account()
        rejected = message_places()
        report_unknown_job()
        report_rejected(link, rejected)  # the sidebar's at once, because a page may be slow
        add_frame()
        with lecture:  # above settings on the page
            show_bar()
        place = st.container()
        try:
            page.run()
        finally:  # some pages end early
            report_rejected(link, rejected)  # first: st.stop() prevents drawing, but this is recorded
            report_refused()
            show_link()
            report_unread(link, place)
finally:
    freeze_libraries()
    prepare()
