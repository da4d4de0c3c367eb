"""How many features are enough: ranking quality against m for both approximations."""

import streamlit as st

from ui import ndcg_vs_m_views, reveal
from ui.navigation import experiment
from ui.runs import errors_as_sentences, normalised
from ui.show import what_is_shown

spec = experiment()
st.title("NDCG against m")
part = reveal.part_shown(spec)
what_is_shown(spec, part)
settings = ndcg_vs_m_views.settings(spec)
with errors_as_sentences():
    records = ndcg_vs_m_views.records(spec, settings)
    ndcg_vs_m_views.headline(spec, settings, records, normalised(spec).parts[part], part)
ndcg_vs_m_views.numbers(settings, records, part)
