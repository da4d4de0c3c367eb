"""The early end of a page's run.

See docs/decisions/0003-two-errors-for-users.md.
"""

from __future__ import annotations

from typing import NoReturn

from streamlit.runtime.scriptrunner import StopException


def end_page() -> NoReturn:
    """End this run of a page: everything above stays, nothing follows.

    Unlike `st.stop`, this keeps clicks made during the run, such as a button in a fragment that stops a job.
    """
    raise StopException
