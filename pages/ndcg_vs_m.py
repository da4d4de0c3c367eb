"""How many features are enough: ranking quality against m for both approximations."""

import streamlit as st

from ui import ndcg_vs_m_views, reveal
from ui.navigation import experiment
from ui.runs import errors_as_sentences, normalised

spec = experiment()
st.title("NDCG against m")
part = reveal.part_shown(spec)
settings = ndcg_vs_m_views.settings(spec)
st.markdown(f":gray[{ndcg_vs_m_views.in_short(settings, part)}]")
with errors_as_sentences():
    records = ndcg_vs_m_views.records(spec, settings)
    ndcg_vs_m_views.headline(spec, settings, records, normalised(spec).parts[part], part)
ndcg_vs_m_views.numbers(settings, records, part)
