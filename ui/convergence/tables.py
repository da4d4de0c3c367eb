"""Tables of the Convergence page: a summary of each run, and every row of its trace."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from rankviz.common.numbers import small
from rankviz.plots.convergence import REFERENCE_TOL
from rankviz.runs.record import RunRecord
from ui.convergence import words
from ui.convergence.timing import measured
from ui.shared.show import show_table


def summary(records: list[RunRecord], table: pd.DataFrame) -> None:
    """Draw one row per run: its costs and its final status."""
    labels = table.groupby("label", sort=False)
    last, steps = labels.last(), labels["step"].agg(lambda step: int((step > 0).sum()))
    steps = steps.where(last["step"].notna(), last["iteration"])
    shown = pd.DataFrame(
        {
            "run": last.index,
            "steps": steps.to_numpy(),
            "CG iterations": last["cg_total"].to_numpy(),
            "products": last["products_total"].to_numpy(),
            "seconds": last["seconds"].round(3).to_numpy(),
            "objective": [record.objective for record in records],
            "gap to the best": [_scientific(gap) for gap in last["gap"]],
            "duality gap": [_scientific(gap) for gap in last["duality"]],
        }
    )
    show_table(shown.dropna(axis=1, how="all"), hide_index=True, height="content")
    st.caption(_ended(dict(zip(last.index, (record.status for record in records), strict=True))))
    measured(records, list(last.index))


def _ended(statuses: Mapping[str, str]) -> str:
    """Describe how runs ended, by their labels: these sentences are too long for a column."""
    runs = {
        status: [label for label, own in statuses.items() if own == status] for status in statuses.values()
    }
    return words.ended(runs)


def _scientific(gap: float) -> str:
    if math.isnan(gap):
        return "not computed"
    return small(gap) if gap > REFERENCE_TOL else f"≤ {words.LEAST_GAP}"


def iterations(table: pd.DataFrame) -> None:
    """Draw every row of every trace."""
    columns = ["label", "iteration", "objective", "gap", "duality", "gradient_norm", "decrement", "smoothing"]
    columns += ["cg_iterations", "products", "step", "active_pairs", "active_share", "seconds"]
    known = [name for name in columns if name in table]
    if table["step"].isna().all():
        known = [name for name in known if name == "gap" or table[name].notna().any()]
        show_table(table[known], hide_index=True)
        st.caption(words.CAPTIONS["point"])
        return
    show_table(table[known], hide_index=True)
    st.caption(words.CAPTIONS["begin"])
