"""The end of a page's run: early on purpose, with a sentence for an error, with details for a fault.

See docs/decisions/0003-two-errors-for-users.md.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.errors import FragmentHandledException
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import StopRequested
from rankviz.datasets.folds import DEMONSTRATION
from rankviz.store.study import StoreError
from ui.shell.texts import escaped
from ui.shell.words import FAULT, OTHER_DATA, STOPPED


def end_page() -> NoReturn:
    """End this run of a page: everything above stays, nothing follows.

    Unlike `st.stop`, this keeps clicks made during the run, such as a button in a fragment that stops a job.
    Fragments of earlier runs that this one has not drawn are dropped. Streamlit drops them only after runs
    that end by themselves. A late request for one would draw into a place that is gone: a blank page.
    """
    context = get_script_run_ctx()
    if context is not None and not context.fragment_ids_this_run:
        context.fragment_storage.clear(new_fragment_ids=context.shared.new_fragment_ids.snapshot())
    raise StopException


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


def _offer_other_data(error: Exception) -> None:
    """Draw a button that chooses the demonstration data if the chosen data set is at fault."""
    chosen, path = st.session_state.get("data"), getattr(error, "path", None)
    if chosen != DEMONSTRATION and path is not None and chosen in Path(path).parts:
        st.button(OTHER_DATA.format(name=DEMONSTRATION), key="other-data", on_click=_choose_other_data)


def _choose_other_data() -> None:
    """Choose the demonstration data (a callback)."""
    st.session_state["data"] = DEMONSTRATION


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Show errors of data, settings or the store as a sentence with a remedy, and end the page.

    Any other exception is a program fault: it is logged and shown with details to copy. Blocks may be nested:
    an error shown by an inner one ends the outer ones too. As a decorator it covers the function's calls.
    Fragments and callbacks need this, because they run separately.
    """
    try:
        yield
    except (DataError, SettingError, StoreError) as error:
        st.error(escaped(error), icon=":material/error:")
        _offer_other_data(error)
        end_page()
    except StopRequested:
        st.info(STOPPED)
        end_page()
    except FragmentHandledException:  # Streamlit has already shown an exception from a fragment
        raise
    except Exception as error:  # signals such as that of `end_page` are BaseExceptions
        show_fault(error)
        end_page()
