"""A page with runs that continue as an automatic job, for test_tabs.py."""

import math

import streamlit as st

from rankviz.datasets.folds import DEMONSTRATION
from rankviz.runs.spec import RunSpec
from ui.shell.errors import errors_as_sentences
from ui.work import auto_jobs, jobs

auto_jobs.PATIENCE = 12.0
"""Seconds, more than a busy machine takes for a reload."""
jobs.LIVE_LIMIT, jobs.LIVE_IN_ALL = -1.0, math.inf  # all are short, and none is short enough
specs = [RunSpec(DEMONSTRATION, n_components=200, gamma=0.25, seed=seed) for seed in range(1000)]
with errors_as_sentences():
    records = jobs.run_or_submit(specs, title="Many seeds")
st.write(f"{sum(record is not None for record in records)} records are there")
