"""What buttons of the page do, and why something was refused: said until something else is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.store import StoreError
from ui.shared.foreign import escaped

_REFUSED = "sweep-refused"


def trying(act: Callable[..., Any]) -> Callable[..., None]:
    """A callback that does something; what is wrong with it is said by `say_what_was_refused`."""

    def tried(*args: Any) -> None:
        st.session_state.pop(_REFUSED, None)
        try:
            act(*args)
        except (DataError, SettingError, StoreError) as error:
            st.session_state[_REFUSED] = str(error)

    return tried


def forget_what_was_refused() -> None:
    """Something else is shown: what was refused before has nothing to do with it."""
    st.session_state.pop(_REFUSED, None)


def say_what_was_refused() -> None:
    """Why what was tried last was not done, where it was not."""
    if _REFUSED in st.session_state:
        st.warning(escaped(st.session_state[_REFUSED]), icon=":material/error:")
