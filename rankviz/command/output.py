"""Output of commands: tables and JSON on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import pandas as pd

from rankviz.runs.estimate import roughly

WIDTH = 30
OWNER = "command line"
"""Owner of the runs that commands make; every visitor of the app on this machine may see them."""


def print_text(text: str = "") -> None:
    """Print a line on standard output."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"{text}\n")


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinity become null."""
    print_text(json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as a list of its rows."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def print_table(table: pd.DataFrame) -> None:
    """Print a table as text."""
    with pd.option_context("display.width", None, "display.max_columns", None, "display.max_rows", None):
        print_text(table.to_string(float_format=lambda value: f"{value:.4g}"))


class Bar:
    """Progress on one line of a terminal; prints nothing elsewhere."""

    def __init__(self, total: int, what: str = "runs") -> None:
        self._total, self._what = total, what
        self._shown, self._began = sys.stderr.isatty(), time.monotonic()
        self._first: int | None = None

    def update(self, done: int, detail: str = "") -> None:
        """Show the number done."""
        if self._first is None:
            self._first = done
        if not self._shown:
            return
        filled = WIDTH * done // max(self._total, 1)
        words = [f"{done:,} of {self._total:,} {self._what}", detail, self._left(done)]
        line = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {', '.join(filter(None, words))}"
        sys.stderr.write(f"\r{line:<100}")
        sys.stderr.flush()

    def _left(self, done: int) -> str:
        new = done - (self._first or 0)
        if not new > 0 or done >= self._total:
            return ""
        return f"{roughly((time.monotonic() - self._began) / new * (self._total - done))} left"

    def end(self) -> None:
        """Begin a new line."""
        if self._shown:
            sys.stderr.write("\n")
