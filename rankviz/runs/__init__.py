"""Runs as values (RunSpec in, RunRecord out), and sweeps: designs of runs, selection, effects of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankviz.common import submodules
from rankviz.runs.axes import Range, Values, powers
from rankviz.runs.designs import Cost, Design, cost
from rankviz.runs.selection import RULES, Selection, select
from rankviz.runs.sweep_table import runs_table

__all__ = [
    "RULES",
    "Cost",
    "Design",
    "Range",
    "Selection",
    "Values",
    "cost",
    "powers",
    "runs_table",
    "select",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(globals())
