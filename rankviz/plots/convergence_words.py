"""Sentences on convergence: the effort of a run, and the runs that approached their best objective."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from rankviz.common.numbers import small
from rankviz.learning.result import Status
from rankviz.plots.convergence import AXES, data, told
from rankviz.runs.record import RunRecord

_ENDS = tuple(status for status in Status if status.converged)
"""Status values of converged runs."""
UNITS = {
    "iteration": ("iterations", "iteration", ",.0f"),
    "products": ("products", "product", ",.0f"),
    "seconds": ("seconds", "second", ".2f"),
    "cg": ("CG iterations", "CG iteration", ",.0f"),
}
"""Units of axes: plural, singular, and number format."""


def reading(record: RunRecord, plain: RunRecord | None = None, counted: str = "cg") -> str:
    """Describe a run's effort on an axis (in `AXES`), with and without preconditioner, in one sentence.

    Count iterations if there are no CG iterations, or if the trace lacks the axis. A sentence on seconds says
    that they come from one run, because they vary.
    """
    own = _Effort.of(record, counted)
    if plain is None:
        return f"{own.start}{own.words} {own.verb} {own.aim}"
    other = _Effort.of(plain, counted)
    start = f"{own.start}{'w' if own.start else 'W'}ith the preconditioner"
    if own.converged and other.converged and own.unit == other.unit:
        return f"{start} {own.words} {own.verb} {own.aim}, without it {other.number}"
    return f"{start} {own.words} {own.verb} {own.aim}; without it {other.words} {other.verb} {other.aim}"


def race(table: pd.DataFrame, counted: str = "products", within: float = 1e-4) -> str:
    """Describe which runs come within a share of their own best objective, and their effort on an axis.

    Count products if some traces lack the axis, seconds if some lack products too.
    """
    unit = next((name for name in (counted, "products") if _all_tell(table, name)), "seconds")
    (_, column, _), (name, _, form) = AXES[unit], UNITS[unit]
    came, missed = [], []
    for _, rows in table.groupby("label", sort=False):
        run, near = str(rows["short"].iloc[0]), rows[column][rows["gap"] <= within]
        if len(near):
            came.append((float(near.iloc[0]), run))
        else:
            missed.append(run)
    share = small(within).removeprefix("1.0 × ")
    if not came:
        return f"No run comes within {share} of its own best objective in the steps it was given"
    words = ", ".join(f"{label} after {effort:{form}}" for effort, label in sorted(came))
    never = [f"{', '.join(missed)} not within the steps it was given"] if missed else []
    title = f"{name[0].upper()}{name[1:]}{' in this one run' * (unit == 'seconds')}"
    return "; ".join([f"{title} until within {share} of its own best objective: {words}", *never])


def _all_tell(table: pd.DataFrame, axis: str) -> bool:
    return bool(told(table, "gap", axis)["label"].nunique() == table["label"].nunique())


@dataclass(frozen=True)
class _Effort:
    """A run's effort on an axis, and its convergence."""

    unit: str
    number: str
    words: str
    singular: bool
    aim: str
    converged: bool

    @classmethod
    def of(cls, record: RunRecord, axis: str) -> _Effort:
        """Return a trace's effort; in iterations if the axis is missing or zero."""
        last, solver = data([record]).iloc[-1], record.spec.option("solver")
        amount, unit = float(last[AXES[axis][2]]), axis
        if math.isnan(amount) or (axis == "cg" and not amount):
            amount, unit = float(last["iteration"]), "iteration"
        many, one, form = UNITS[unit]
        if unit == "iteration":
            one = getattr(solver, "steps", one)
            many = "passes" if one == "pass" else f"{one}s"
        number = f"{amount:{form}}"
        aim = "the solver's own rule" if getattr(solver, "own_rule", False) else "the tolerance"
        singular = unit != "seconds" and number == "1"
        words = f"{number} {one if singular else many}"
        return cls(unit, number, words, singular, aim, _converged(record))

    @property
    def start(self) -> str:
        """The words "In this one run, " before seconds."""
        return "In this one run, " if self.unit == "seconds" else ""

    @property
    def verb(self) -> str:
        """The verb of the outcome: "reach", "reaches" or "do not reach"."""
        if not self.converged:
            return "do not reach"
        return "reaches" if self.singular else "reach"


def _converged(record: RunRecord) -> bool:
    return record.status in [status.value for status in _ENDS]
