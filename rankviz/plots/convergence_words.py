"""How training went, in a sentence: what a run took, and which of several came near their best objective."""

from __future__ import annotations

import pandas as pd

from rankviz.common.numbers import small
from rankviz.experiments.record import RunRecord
from rankviz.plots.convergence import told
from rankviz.solvers.result import Status

_ENDS = tuple(status for status in Status if status.converged)
"""Ends at the solver's own aim."""


def reading(record: RunRecord, plain: RunRecord | None = None) -> str:
    """Iterations of a run, with and without preconditioner, in one sentence.

    What is counted is the same in every run; seconds are not, and no such sentence rests on them.
    """
    if plain is None:
        return _effort(record)
    if _converged(record) and _converged(plain):
        return f"With the preconditioner {_effort(record)}, without it {_cg(plain)}"
    return f"With the preconditioner {_effort(record)}; without it {_effort(plain)}"


def race(table: pd.DataFrame, within: float = 1e-4) -> str:
    """Which runs come within a share of the best objective of their own, after how many products.

    After how many seconds, where not all traces tell products.
    """
    counted = told(table, "gap", "products")["label"].nunique() == table["label"].nunique()
    unit, form = ("products", ",.0f") if counted else ("seconds", ".2f")
    came, missed = [], []
    for _, rows in table.groupby("label", sort=False):
        name, near = str(rows["short"].iloc[0]), rows[f"reached_{unit}"][rows["gap"] <= within]
        if len(near):
            came.append((float(near.iloc[0]), name))
        else:
            missed.append(name)
    share = small(within).removeprefix("1.0 × ")
    if not came:
        return f"No run comes within {share} of its own best objective in the steps it was given"
    words = ", ".join(f"{label} after {effort:{form}}" for effort, label in sorted(came))
    never = [f"{', '.join(missed)} not within the steps it was given"] if missed else []
    return "; ".join([f"{unit.capitalize()} until within {share} of its own best objective: {words}", *never])


def _effort(record: RunRecord) -> str:
    solver, trace = record.spec.option("solver"), record.trace
    if getattr(solver, "newton", False) and trace["cg_iterations"].sum():
        n, unit = int(trace["cg_iterations"].sum()), "CG iteration"
    else:
        n, unit = int(trace["iteration"].iloc[-1]), getattr(solver, "steps", "iteration")
    noun = unit if n == 1 else "passes" if unit == "pass" else f"{unit}s"
    aim = "the solver's own rule" if getattr(solver, "own_rule", False) else "the tolerance"
    verb = ("reaches" if n == 1 else "reach") if _converged(record) else "do not reach"
    return f"{n:,} {noun} {verb} {aim}"


def _cg(record: RunRecord) -> str:
    return f"{int(record.trace['cg_iterations'].sum()):,}"


def _converged(record: RunRecord) -> bool:
    return record.status in [status.value for status in _ENDS]
