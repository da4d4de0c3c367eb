"""The end of a page's run where there is no more to show.

See docs/decisions/0003-two-errors-for-users.md.
"""

from __future__ import annotations

from typing import NoReturn

from streamlit.runtime.scriptrunner import StopException


def end_page() -> NoReturn:
    """End this run of a page: what is above stands, nothing follows.

    `st.stop` does that too, but it forgets what waits for the run to end: the press of a button in a
    fragment, such as the one that stops a job, while the page was being drawn.
    """
    raise StopException
