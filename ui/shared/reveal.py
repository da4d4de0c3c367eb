"""Validation by default; the test part only on request, with a count of looks."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from rankviz.experiments.spec import RunSpec

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
        help="Choose settings on the validation part. Every look at the test part that leads to another "
        "choice makes its figures less honest, so looks are counted.",
    )
    looks = note_looks(spec.hash for spec in specs if revealed)
    if looks:
        times = "once" if len(looks) == 1 else f"{len(looks)} times"
        st.caption(f"test part looked at {times} (each experiment counts once)", width="content")
    return "test" if revealed else "vali"


def note_looks(digests: Iterable[str]) -> set[str]:
    """Record experiments whose test results are shown; return all of this session."""
    looks: set[str] = st.session_state.setdefault("looks", set())
    looks.update(digests)
    return looks
