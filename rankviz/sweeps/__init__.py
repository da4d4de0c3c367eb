"""Sweeps: designs of runs, selection of cells, the effect of each setting, and advice on the next cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankviz.common.lazy import names_of, submodules
from rankviz.sweeps.axes import Range, Values, powers
from rankviz.sweeps.designs import Design
from rankviz.sweeps.plan import Cost, cost
from rankviz.sweeps.rules import RULES
from rankviz.sweeps.selection import Selection, select
from rankviz.sweeps.table import runs_table

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
    __getattr__ = submodules(__name__)


def __dir__() -> list[str]:
    """List the names, including modules not imported yet."""
    return sorted({*globals(), *names_of(__path__)})
