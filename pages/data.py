"""What the data are like: how many documents, grades and pairs, and what the features say."""

import streamlit as st

from ui import data_views, uploads
from ui.navigation import experiment
from ui.runs import errors_as_sentences, fold_of

spec = experiment()
st.title("Data")
uploads.add_data()
part = data_views.part_chosen(spec)
with errors_as_sentences():
    fold = fold_of(spec)

data_views.what_it_is(spec, fold)
uploads.own_data(spec.dataset)
data_views.headline(spec, fold, part)
grades, features, query, scaling, counts = st.tabs(
    ["Grades and pairs", "Features", "One query", "Normalisation", "Counts and download"]
)
with grades:
    data_views.distributions(spec, fold, part)
with features:
    data_views.features(spec, fold, part)
with query:
    data_views.one_query(spec, fold, part)
with scaling:
    data_views.normalisations(spec, fold, part)
with counts:
    data_views.counts(spec, fold, part)
