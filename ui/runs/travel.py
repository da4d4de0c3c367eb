"""Export and import of runs as files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from rankviz.common.errors import DataError
from rankviz.common.memory import return_freed_memory
from rankviz.common.numbers import as_csv, counted
from rankviz.datasets.archives import MB, Upload
from rankviz.datasets.uploads import LIMITS
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.store.exchange import export_runs, import_runs
from rankviz.store.study import DONE, IMPORTED, StoreError
from ui.data import held
from ui.runs.words import EXPORT_HELP, FROM_FILE, IMPORT_HELP, NOT_IMPORTED
from ui.shell.texts import escaped
from ui.shell.visitors import visitor
from ui.work.run_store import run_store

MOST_TAKEN = 1000
"""Largest number of records in one file: each has 30 to 200 kB, all in memory while it is sent."""
_VERSION, _TOLD, _ERROR = "runs-file-version", "runs-file-told", "runs-file-error"


def take_along(table: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw buttons to export the chosen runs as one file, or their rows as a table."""
    made = [digest for digest in chosen if table.loc[digest, "state"] in (DONE, IMPORTED)]
    with st.popover("Export", icon=":material/download:", key="runs-export", disabled=not chosen):
        many = len(made) > MOST_TAKEN
        st.download_button(
            f"{counted(len(made), 'run')} as one file",
            _exported(made, visitor()),
            "runs.rankviz",
            "application/octet-stream",
            key="runs-save",
            on_click="ignore",
            disabled=not made or many,
            width="stretch",
            help=EXPORT_HELP.format(MOST_TAKEN=MOST_TAKEN),
        )
        st.download_button(
            "Table (CSV)",
            lambda: as_csv(flat(table.loc[list(chosen)])),
            "runs.csv",
            "text/csv",
            key="runs-csv",
            on_click="ignore",
            width="stretch",
            help="Settings and metrics.",
        )


def flat(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs as rows of plain cells, their digest first, without metrics of test parts."""
    kept = table[[name for name in table if not name.startswith("test:")]].reset_index()
    return kept.assign(tags=kept["tags"].map(", ".join))


def _exported(digests: Sequence[str], owner: str) -> Callable[[], bytes]:
    """Return a function that makes the file when the button is pressed; the visitor is unknown then."""

    def made() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.rankviz"
            export_runs(run_store(), digests, owner, path)
            return path.read_bytes()

    return made


def bring() -> None:
    """Draw the form to import files of exported runs."""
    with st.popover("Import", icon=":material/upload:", key="runs-import"):
        version = st.session_state.setdefault(_VERSION, 0)
        key = f"runs-file-{version}"
        chosen = st.session_state.get(key, [])
        held.empty(chosen)  # before the widget copies them
        files = st.file_uploader(
            "Exported run files",
            accept_multiple_files=True,
            key=key,
            on_change=_forget,
            help=(IMPORT_HELP.format(limit=LIMITS.upload_bytes // MB, NOT_MADE_HERE=NOT_MADE_HERE)),
        )
        if len(files) < len(chosen):  # the browser shows files that are not here
            _start_over(held.why_not_here())
        if st.button("Import them", type="primary", key="runs-import-now", disabled=not files):
            _take_in([file.file_id for file in files])
        for why in st.session_state.get(_ERROR, []):
            st.error(NOT_IMPORTED.format(why=escaped(why)), icon=":material/error:")
        if _TOLD in st.session_state:
            st.success(st.session_state[_TOLD], icon=":material/check:")


def _take_in(ids: Sequence[str]) -> None:
    """Import the runs of files, report files that cannot be read, and rerun without them."""
    _forget()
    number, why = 0, list[str]()
    with st.spinner("Reading runs …"):
        for upload in held.uploads(ids):
            try:
                number += kept(upload)
            except (DataError, StoreError) as error:
                why.append(str(error))
    if number:
        st.session_state[_TOLD] = FROM_FILE.format(runs=counted(number, "run"))
    _start_over(*why)


def kept(upload: Upload) -> int:
    """Store the runs of a file as this visitor's; `DataError` for an incomplete file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.rankviz"  # a name from the upload is never part of a path
        path.write_bytes(upload.stream.read())
        try:
            return import_runs(run_store(), path, visitor())
        except DataError as error:
            named = {"found": error.found, "expected": error.expected, "remedy": error.remedy}
            raise DataError(**named, path=upload.name) from error
        finally:
            return_freed_memory()


def _start_over(*why: str) -> None:
    """Rerun with an empty form, and a sentence for each error."""
    held.let_go()
    st.session_state[_VERSION] += 1
    if why:
        st.session_state[_ERROR] = list(why)
    st.rerun()


def _forget() -> None:
    for key in (_ERROR, _TOLD):
        st.session_state.pop(key, None)
