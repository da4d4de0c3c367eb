"""All methods on the same data and features: what they minimise, their metrics, and LETOR's results."""

import streamlit as st

from ui.compare import methods as views
from ui.compare import methods_words as words
from ui.controls.navigation import experiment
from ui.controls.widgets import head_and_part
from ui.shell.errors import errors_as_sentences
from ui.shell.page import show_subject, tabs
from ui.shell.texts import describe, escaped

spec = experiment()
about, part = head_and_part("Methods", spec)
with errors_as_sentences():
    shown = views.chosen(spec, part)
    show_subject(about, escaped(shown.about))
    if not spec.kind.trains:
        st.info(words.GIVEN.format(system=escaped(str(describe(spec, part)))))
    views.tree(shown)
tabs(
    {
        "Table": lambda: views.table(shown),
        "Differences": lambda: views.differences(shown),
    }
)
