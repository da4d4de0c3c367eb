"""Are the dual variables of a ranking SVM low-rank, query by query?"""

import streamlit as st

from ui import low_rank_views
from ui.jobs import run_or_wait
from ui.navigation import experiment
from ui.runs import errors_as_sentences, normalised
from ui.show import what_is_shown

spec = experiment()
st.title("Low rank")
what_is_shown(spec, "train")
st.markdown(
    "Training gives every preference pair a weight, its dual variable α, and the model is "
    "w = Σ α (φᵢ − φⱼ). Written as a matrix for each query, are the α low-rank, as xu2019 found?"
)
matrix = low_rank_views.matrix_choice()
with errors_as_sentences():
    (record,) = run_or_wait([spec], title=f"Low rank, {spec.dataset}")
    train = normalised(spec).train
    found = low_rank_views.spectra_of(record, train, matrix)

low_rank_views.headline(record, found)
one_query, energy, why, numbers = st.tabs(["One query", "Energy", "Why so low?", "Numbers"])
with one_query:
    low_rank_views.one_query(record, train, found, matrix)
with energy:
    low_rank_views.energy(record, found)
with why:
    low_rank_views.why(record, found)
with numbers:
    low_rank_views.numbers(record, found)
