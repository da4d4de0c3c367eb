"""Effects of C and of the costs of pairs: ranking quality, seconds, and the top of a ranked list."""

import streamlit as st

from ui.influence import choices, views
from ui.shared import reveal
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences
from ui.shared.views import tabs

spec = experiment()
st.title("Influence of C and costs")
part = reveal.part_shown(spec)
with errors_as_sentences():
    spec = choices.model(spec)
settings = choices.controls(spec)
st.markdown(f":gray[{choices.about(spec, settings, part)}]")
tabs(
    {
        "Influence of C": lambda: views.of_C(spec, settings, part),
        "Influence of λ and μ": lambda: views.of_costs(spec, settings, part),
    }
)
