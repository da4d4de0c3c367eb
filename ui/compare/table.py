"""The comparison as a table to export: LaTeX, Markdown, CSV."""

from __future__ import annotations

import streamlit as st

from rankviz.analysis.comparison import Comparison
from rankviz.analysis.tables import as_latex, as_markdown, comparison_csv, sheet

FORMATS = {"LaTeX": ("latex", "tex"), "Markdown": ("markdown", "md"), "CSV": (None, "csv")}
"""Display language and file extension of each format."""


def show(found: Comparison, part: str) -> None:
    """Draw the table in the chosen format, to copy or download."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    chosen = row.segmented_control(
        "Format", list(FORMATS), default="LaTeX", required=True, key="format", bind="query-params"
    )
    name = str(chosen or "LaTeX")
    text = _written(found, part, name)
    language, ending = FORMATS[name]
    row.download_button(
        "Download",
        text,
        f"comparison.{ending}",
        "text/plain",
        key="compared-download",
        icon=":material/download:",
        on_click="ignore",
    )
    st.code(text, language=language, wrap_lines=True, height=420)


def _written(found: Comparison, part: str, name: str) -> str:
    if name == "CSV":
        return comparison_csv(found)
    return {"LaTeX": as_latex, "Markdown": as_markdown}[name](sheet(found, part))
