"""Training seconds, measured several times on request, because one measurement is unreliable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec
from ui.convergence import words
from ui.shell.figures import show_table
from ui.work.folds import fold_of
from ui.work.jobs import predicted
from ui.work.runs import take_turns

REPEATS, LONGEST = 7, 60.0
"""Trainings of each run, and the largest predicted seconds of all together."""
_MEASURED = "measured-seconds"


def measured(records: Sequence[RunRecord], labels: Sequence[str]) -> None:
    """Draw a button that trains every run several times; then median and spread of the seconds."""
    specs = tuple(record.spec for record in records)
    cost = REPEATS * sum(predicted(spec).seconds for spec in specs)
    kept = st.session_state.get(_MEASURED, {})
    if st.button(
        f"Measure the seconds ({REPEATS} trainings)",
        icon=":material/timer:",
        disabled=cost > LONGEST,
        help=words.HELP["measure"].format(repeats=REPEATS),
    ):
        kept = st.session_state[_MEASURED] = {specs: _seconds(specs)}
    if cost > LONGEST:
        st.caption(words.CAPTIONS["long"].format(seconds=cost, most=LONGEST))
    if specs in kept:
        st.markdown(f"**Seconds of {REPEATS} trainings**")
        show_table(spread(labels, kept[specs]), hide_index=True)


def _seconds(specs: Sequence[RunSpec]) -> list[list[float]]:
    """Return the seconds of each run, in turns, so that a slow machine affects all of them."""
    found: list[list[float]] = [[] for _ in specs]
    line, total = st.empty(), REPEATS * len(specs)
    for done in range(total):
        place = done % len(specs)
        line.progress(done / total, f"Training {done + 1} of {total}")
        with take_turns(line):
            record = execute(specs[place], fold=fold_of(specs[place]))
        found[place].append(training_seconds(record))
    line.empty()
    return found


def spread(labels: Sequence[str], seconds: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return median, minimum and maximum of the seconds of each run."""
    return pd.DataFrame(
        [
            {
                "run": label,
                "median s": round(float(np.median(each)), 4),
                "least s": round(min(each), 4),
                "most s": round(max(each), 4),
            }
            for label, each in zip(labels, seconds, strict=True)
        ]
    )
