"""The start page: an introduction, one live figure, and links to the pages."""

import streamlit as st

from ui.controls.navigation import experiment
from ui.learn import home as views
from ui.learn import home_words as words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import ALONE, head, is_on
from ui.shell.texts import data_words
from ui.work.folds import normalised

spec = experiment()
about = f"{data_words(spec)} · validation · {words.HOW}"
if is_on(ALONE):
    head(words.TITLE, about)
else:
    head(words.WELCOME)
    views.welcome()
    st.header(words.TITLE, anchor=False)
    st.caption(about)
with errors_as_sentences():
    data = normalised(spec)
    views.headline(st.session_state, data.vali)
views.show_task()
views.show_limits(spec.dataset)
views.show_pages()
