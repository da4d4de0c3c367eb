"""A page with one curve of runs and nothing else, for test_jobs.py."""

import streamlit as st

from rankviz.datasets.folds import DEMONSTRATION
from rankviz.runs.spec import RunSpec
from ui.shell.errors import errors_as_sentences
from ui.work.jobs import run_or_submit

many = RunSpec(DEMONSTRATION, n_components=500, gamma=0.25)
specs = [many.but(seed=seed) for seed in range(300)]
with errors_as_sentences():
    records = run_or_submit(specs, title="Many seeds")
st.write(f"{sum(record is not None for record in records)} records are there")
