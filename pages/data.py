"""The data: how many documents, grades and pairs, and what the features say."""

import streamlit as st

from ui.data import uploads, views
from ui.shared.navigation import data_only
from ui.shared.runs import errors_as_sentences, fold_of

spec = data_only()
st.title("Data")
uploads.add_data()
part = views.part_chosen(spec)
with errors_as_sentences():
    fold = fold_of(spec)

views.what_it_is(spec, fold)
uploads.own_data(spec.dataset)
views.headline(spec, fold, part)
grades, features, query, scaling, counts = st.tabs(
    ["Grades and pairs", "Features", "One query", "Normalisation", "Counts and download"]
)
with grades:
    views.distributions(spec, fold, part)
with features:
    views.features(spec, fold, part)
with query:
    views.one_query(spec, fold, part)
with scaling:
    views.normalisations(spec, fold, part)
with counts:
    views.counts(spec, fold, part)
