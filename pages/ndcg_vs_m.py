"""How many features are enough: ranking quality against m of both approximations and the exact kernel."""

import streamlit as st

from ui import ndcg_vs_m_tabs, ndcg_vs_m_views, reveal
from ui.navigation import experiment
from ui.runs import errors_as_sentences

spec = experiment()
st.title("NDCG against m")
part = reveal.part_shown(spec)
with errors_as_sentences():
    settings = ndcg_vs_m_views.settings(spec)
    st.markdown(f":gray[{ndcg_vs_m_views.in_short(settings, part)}]")
    records = ndcg_vs_m_views.records(spec, settings)
    ndcg_vs_m_views.headline(spec, settings, records, part)

one_query, ranking_error, numbers = st.tabs(
    ["One query as m grows", "Distance from the exact model", "Numbers"]
)
with one_query:
    ndcg_vs_m_tabs.one_query(spec, records, part)
with ranking_error:
    ndcg_vs_m_tabs.ranking_error(spec, settings, records, part)
with numbers:
    ndcg_vs_m_tabs.numbers(settings, records, part)
