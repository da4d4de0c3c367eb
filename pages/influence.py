"""What C and the costs of pairs change: ranking quality, seconds, and the top of a ranked list."""

import streamlit as st

from ui import influence_views, reveal
from ui.navigation import experiment
from ui.runs import errors_as_sentences

spec = experiment()
st.title("Influence of C and costs")
part = reveal.part_shown(spec)
spec = influence_views.model(spec)
settings = influence_views.controls(spec)
st.markdown(f":gray[{influence_views.about(spec, settings, part)}]")
loss_weight, costs = st.tabs(["Influence of C", "Influence of λ and μ"], key="view", bind="query-params")
if loss_weight.open:
    with loss_weight, errors_as_sentences():
        influence_views.of_C(spec, settings, part)
if costs.open:
    with costs, errors_as_sentences():
        influence_views.of_costs(spec, settings, part)
