"""Report of a program fault: a sentence, and details to copy without server paths."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from pathlib import Path

import streamlit as st

from ui.shared.words import FAULT

LOG = logging.getLogger("rankviz.app")
ROOT = Path(__file__).parents[2]


def show_fault(error: Exception) -> None:
    """Report a program fault with details to copy, and log it."""
    LOG.error("a page failed", exc_info=error)
    st.error(FAULT, icon=":material/bug_report:")
    st.code(details(error), language=None, wrap_lines=True)


def details(error: Exception) -> str:
    """Return the traceback of an error; file names are relative to the project."""
    text = "".join(traceback.format_exception(error))
    folders = [path for path in (ROOT, *map(Path, sys.path)) if path.is_absolute() and path.name]
    for folder in sorted(map(str, folders), key=len, reverse=True):
        text = text.replace(folder + os.sep, "")
    return text
