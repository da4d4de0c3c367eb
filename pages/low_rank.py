"""Low-rank structure of the dual variables of a ranking SVM, query by query."""

import streamlit as st

from ui.controls import trail
from ui.controls.models import supports
from ui.controls.navigation import experiment
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head
from ui.shell.texts import describe
from ui.study import low_rank as views
from ui.work.folds import normalised
from ui.work.jobs import note_waiting, run_or_submit

spec = experiment()
head("Low rank", str(describe(spec, "train")))
line = trail.place()
if not (supports(spec, "duals") and supports(spec, "positive_duals")):
    end_page()
figures, training = st.container(), st.container()
with errors_as_sentences():
    with training:
        wanted = views.specs(spec)
        record, *others = run_or_submit([spec, *wanted], title=f"Low rank, {spec.dataset}")
    if record is None:
        note_waiting()
    else:
        with figures:
            views.linked(record, normalised(spec).train, dict(zip(wanted, others, strict=True)))
trail.show_effect(line, spec)
