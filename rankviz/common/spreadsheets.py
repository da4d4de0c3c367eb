"""CSV tables that are safe in a spreadsheet: it runs no cell as a formula."""

from __future__ import annotations

import re

import pandas as pd

_FORMULA = re.compile(r"[=+\-@\t\r]")


def as_csv(table: pd.DataFrame) -> str:
    """Format a table as CSV, without its index; put an apostrophe before texts that look like formulas."""
    texts = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].map(_in_a_cell) for name in texts}).to_csv(index=False)


def _in_a_cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
