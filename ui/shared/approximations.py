"""Approximations of a kernel that pages compare, with the sidebar's settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.plots.style import approximations
from rankviz.runs.spec import RunSpec
from ui.shared.foreign import escaped
from ui.shared.settings import spec_from_state


def approximate_specs(state: Any) -> tuple[list[RunSpec], list[str]]:
    """Return the runs of all maps that approximate the sidebar's kernel, and reasons for those left out."""
    found, left_out = [], []
    for name in approximations():
        try:
            found.append(spec_from_state(state, name))
        except SettingError as error:
            left_out.append(str(error))
    return found, left_out


def say_what_is_left_out(reasons: list[str]) -> None:
    """Say why approximations are not drawn."""
    for reason in reasons:
        st.caption(f"Not drawn: {escaped(reason)}.")
