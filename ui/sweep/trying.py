"""Actions of the page's buttons, and errors that stay visible until the next action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.store import StoreError
from ui.shell.texts import escaped

_REFUSED = "sweep-refused"


def trying(act: Callable[..., Any]) -> Callable[..., None]:
    """Return a callback for an action; `say_what_was_refused` shows its errors."""

    def tried(*args: Any) -> None:
        st.session_state.pop(_REFUSED, None)
        try:
            act(*args)
        except (DataError, SettingError, StoreError) as error:
            st.session_state[_REFUSED] = str(error)

    return tried


def forget_what_was_refused() -> None:
    """Forget the last error, because something else is shown."""
    st.session_state.pop(_REFUSED, None)


def say_what_was_refused() -> None:
    """Show the error of the last action, if any."""
    if _REFUSED in st.session_state:
        st.warning(escaped(st.session_state[_REFUSED]), icon=":material/error:")
