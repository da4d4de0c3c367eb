"""Imported runs on pages: retraining, and agreement of their metrics with the run made here."""

from __future__ import annotations

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store.exchange import Verdict
from ui.controls.settings import open_run, state_of
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.visitors import address, visitor
from ui.work.folds import data_roots_of_visitor
from ui.work.run_store import keeper, run_store
from ui.work.watching import jobs

MOST_SHOWN = 5
"""Largest number of sentences shown; the others are counted."""
_AGAIN, _WAITS, _VERDICTS = "imported-again", "imported-waits", "imported-verdicts"


@errors_as_sentences()
def train_again(spec: RunSpec) -> None:
    """Train an imported run here (a callback).

    This opens Train with its settings, or uses the background if Train does not offer them.
    """
    try:
        state_of(spec)
    except SettingError:
        about = {"owner": visitor(), "title": "Train again", "address": address()}
        jobs().submit([spec], roots=data_roots_of_visitor(), **about)
        st.session_state[_WAITS] = [*st.session_state.get(_WAITS, []), spec.hash]
    else:
        st.session_state[_AGAIN] = spec.hash
        open_run(spec)


def compare() -> None:
    """Compare this visitor's imported runs with runs made here since; `say` reports the result."""
    if found := run_store().imports.compare(visitor()):
        st.session_state[_VERDICTS] = [*st.session_state.get(_VERDICTS, []), *found]
        made = {one.digest for one in found}
        st.session_state[_WAITS] = [one for one in st.session_state.get(_WAITS, []) if one not in made]


def report_agreement(record: RunRecord) -> None:
    """Say on Train whether an imported run agrees with this record of its retraining."""
    if st.session_state.get(_AGAIN) == record.spec.hash:
        keeper().wait()  # the comparison reads the store
        compare()
        del st.session_state[_AGAIN]
    report(record.spec.hash)


def report(digest: str = "") -> None:
    """Report comparisons of imported runs, of one or of all, until the visitor dismisses them."""
    if waits := len(st.session_state.get(_WAITS, [])):
        st.info(words.RETRAINING.format(runs=counted(waits, "imported run")))
    held: list[Verdict] = st.session_state.get(_VERDICTS, [])
    parts = [one for one in held if digest in ("", one.digest)]
    for one in parts[:MOST_SHOWN]:
        if one.agrees:
            st.success(one.sentence, icon=":material/check:")
        else:
            st.warning(one.sentence, icon=":material/warning:")
    if parts:
        more = f", {len(parts) - MOST_SHOWN} more are not shown" if len(parts) > MOST_SHOWN else ""
        st.button(f"Hide{more}", key="imported-hide", on_click=_hide, args=(parts,), type="tertiary")


def _hide(hidden: list[Verdict]) -> None:
    st.session_state[_VERDICTS] = [one for one in st.session_state.get(_VERDICTS, []) if one not in hidden]
