"""Validation by default; the test part only on request, with a count of looks."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from rankviz.runs.spec import RunSpec
from ui.shared import words

KEY = "test"


def part_shown(*specs: RunSpec) -> str:
    """Draw the "Reveal test" switch and return the part to show, "vali" or "test".

    A look is one experiment whose test result was shown in this session; repeated looks at the same one count
    once.
    """
    revealed = st.toggle(
        "Reveal test",
        key=KEY,
        bind="query-params",
        help=words.REVEAL,
    )
    looks = note_looks(spec.hash for spec in specs if revealed)
    if looks:
        st.caption(f"looks at the test part: {len(looks)}", width="content")
    return "test" if revealed else "vali"


def note_looks(digests: Iterable[str]) -> set[str]:
    """Record experiments whose test results are shown; return all of this session."""
    looks: set[str] = st.session_state.setdefault("looks", set())
    looks.update(digests)
    return looks
