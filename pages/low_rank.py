"""Low-rank structure of the dual variables of a ranking SVM, query by query."""

import streamlit as st

from ui.low_rank import views
from ui.shared.ends import end_page
from ui.shared.foreign import describe
from ui.shared.head import head
from ui.shared.jobs import run_or_submit
from ui.shared.navigation import experiment
from ui.shared.needs import offered
from ui.shared.runs import errors_as_sentences, normalised

spec = experiment()
head("Low rank", str(describe(spec, "train")))
if not (offered(spec, "duals") and offered(spec, "positive_duals")):
    end_page()
figures, training = st.container(), st.container()
with errors_as_sentences():
    with training:
        wanted = views.specs(spec)
        record, *others = run_or_submit([spec, *wanted], title=f"Low rank, {spec.dataset}")
    if record is not None:
        with figures:
            views.linked(record, normalised(spec).train, dict(zip(wanted, others, strict=True)))
