"""Comparison of several models: runs over folds and seeds against a baseline, with tests."""

import streamlit as st

from ui.compare import compare as views
from ui.compare import compare_controls as controls
from ui.compare import compare_words as words
from ui.compare.chosen_runs import chosen_runs, on_common_folds, opened
from ui.controls.widgets import part_shown
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head, show_subject, tabs
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor
from ui.work.metrics import metric_now

row = head("Several models")
about = row.container(width="content")
with row.container(width="content"):
    controls.clear_button()
with errors_as_sentences():
    waiting = controls.make_sent()
    metric = metric_now()
    what = chosen_runs(metric)
    if what.notes and not waiting:  # a missing run is not lost
        how = {} if what.every else {"icon": ":material/link_off:"}
        (st.caption if what.every else st.warning)(" ".join(map(escaped, what.notes)), **how)
    if not what.every:
        if not waiting:
            left, right = st.columns([2, 3], gap="medium")
            with left:
                controls.no_models(bool(what.notes))
            with right:
                views.example()
        end_page()
    with row:
        part = part_shown(*what.every)
    models, note = on_common_folds(opened(what, part, controls.more_columns()))
    if note:
        st.caption(escaped(note))
    show_subject(about, words.about(models, part))
    with about:
        keep_visitor()  # these runs can then be seen after a reload
    asked = controls.controls(models, what)
    if len(models) == 1:
        views.alone(models[0], asked, part, waiting=waiting)
        controls.with_linear(st.container())
        end_page()
    found = views.compared(what, models, part, asked)
    views.differences(found, asked, part)
tabs(
    {
        "Metrics": lambda: views.metrics(found, part),
        "By rank": lambda: views.by_cutoff(found, asked, part),
        "Win and loss": lambda: views.win_and_loss(found, asked, part),
        "Slices": lambda: views.slices(found, asked, part),
        "Time and quality": lambda: views.time_and_metric(found, asked, part),
        "Settings": lambda: views.settings(models),
        "Table": lambda: views.export(found, part),
    }
)
