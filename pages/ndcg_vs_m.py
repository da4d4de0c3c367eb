"""How many features are enough: ranking quality against m of both approximations and the exact kernel."""

import streamlit as st

from ui.ndcg_vs_m import tabs, views
from ui.shared import reveal
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences

spec = experiment()
st.title("NDCG against m")
part = reveal.part_shown(spec)
with errors_as_sentences():
    settings = views.settings(spec)
    st.markdown(f":gray[{views.in_short(settings, part)}]")
    records = views.records(spec, settings)
    views.headline(spec, settings, records, part)

one_query, ranking_error, numbers = st.tabs(
    ["One query as m grows", "Distance from the exact model", "Numbers"]
)
with one_query, errors_as_sentences():
    tabs.one_query(spec, records, part)
with ranking_error, errors_as_sentences():
    tabs.ranking_error(spec, settings, records, part)
with numbers, errors_as_sentences():
    tabs.numbers(settings, records, part)
