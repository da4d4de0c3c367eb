"""Actions on selected runs: mark, hide, export, open."""

from __future__ import annotations

import io
import tempfile
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.common.files import zip_entry
from rankviz.common.memory import return_freed_memory
from rankviz.common.numbers import as_csv, counted
from rankviz.datasets.archives import MB, Upload
from rankviz.datasets.uploads import LIMITS
from rankviz.runs.given import write_run
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.runs.spec import RunSpec
from rankviz.store.exchange import export_runs, import_runs
from rankviz.store.records import NOTE_LENGTH
from rankviz.store.study import DONE, IMPORTED, StoreError
from ui.compare import runs_words as words
from ui.compare.runs_words import (
    ALL_DELETED,
    EXPORT_HELP,
    FROM_FILE,
    NO_DATA,
    NOT_ON_TRAIN,
    OTHER_DATA,
    TREC_HELP,
)
from ui.controls.imported import train_again
from ui.controls.navigation import ENTRIES
from ui.controls.settings import open_run, state_of
from ui.model import upload_memory
from ui.shell.errors import errors_as_sentences
from ui.shell.server import MOST_DOWNLOADS, bytes_of_downloads
from ui.shell.texts import escaped
from ui.shell.visitors import address, visitor
from ui.work.folds import datasets, digest_of, fold_later
from ui.work.run_store import run_store
from ui.work.runs import CHECKING, turn

_GONE = "runs-gone"
MOST_COMPARED = 100
"""Largest number of runs in the address of the Compare page."""
MOST_TAKEN = 1000
"""Largest number of records in one file: each has 30 to 200 kB, all in memory while it is sent."""
MOST_OF_ONE, RECENT_SECONDS = 512 << 20, 600.0
"""Most bytes of files of an address, or of a visitor without one, in so many seconds."""
_taken = deque[tuple[float, str, int]]()
"""Time, address or visitor, and bytes of the latest files of runs."""
CHOSEN, TIMES_CHOSEN = "runs-chosen", "runs-version"
"""Session keys of the digests of the chosen runs, and of a number that grows when a button chooses runs."""
_VERSION, _DONE, _ERROR = "runs-file-version", "runs-file-done", "runs-file-error"


def chosen_of(table: pd.DataFrame) -> list[str]:
    """Return the chosen runs of a table."""
    return [digest for digest in st.session_state.get(CHOSEN, []) if digest in table.index]


def choose(digests: Iterable[str]) -> None:
    """Choose runs, and redraw the table with them (a callback)."""
    st.session_state[CHOSEN] = list(digests)
    st.session_state[TIMES_CHOSEN] = st.session_state.get(TIMES_CHOSEN, 0) + 1


def marks(table: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw buttons for the chosen runs. Only own runs can be marked."""
    own = [digest for digest in chosen if table.loc[digest, "own"]]
    every = len(chosen) == len(table)
    st.button(
        "None" if every else f"All {len(table):,}",
        key="runs-all",
        icon=":material/select_all:",
        on_click=choose,
        args=([] if every else table.index,),
        help=words.ALL_HELP,
    )
    starred = bool(own) and bool(table.loc[own, "star"].all())
    _button("Unstar" if starred else "Star", "star", own, _star, not starred)
    _tags(table, own)
    _note(table, own)
    made = [digest for digest in own if table.loc[digest, "state"] != IMPORTED]
    shared = bool(made) and bool(table.loc[made, "shared"].all())
    _button("Unshare" if shared else "Share", "group", made, _share, not shared)
    _button("Delete", "delete", own, _delete)


def _button(label: str, icon: str, own: Sequence[str], act: object, *values: object) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        key=f"runs-{icon}",
        on_click=act,  # type: ignore[arg-type]
        args=(list(own), *values),
        disabled=not own,
    )


def _tags(table: pd.DataFrame, own: Sequence[str]) -> None:
    with st.popover("Tag", icon=":material/sell:", disabled=not own, key="runs-tag"):
        given = sorted({tag for tags in table.loc[list(own), "tags"] for tag in tags})
        known = sorted({tag for tags in table["tags"] for tag in tags})
        st.caption(f"Tags of {counted(len(own), 'run')}")
        st.selectbox(
            "Add a tag",
            known,
            index=None,
            key="runs-new-tag",
            accept_new_options=True,
            placeholder="choose or type",
            format_func=str,
            on_change="ignore",
        )
        st.button("Add", key="runs-tag-add", on_click=_tag, args=(list(own),))
        for number, tag in enumerate(given):
            label = f"Remove “{escaped(tag)}”"
            st.button(label, key=f"runs-untag-{number}", on_click=_untag, args=(list(own), tag))


def _note(table: pd.DataFrame, own: Sequence[str]) -> None:
    with st.popover("Note", icon=":material/edit_note:", disabled=not own, key="runs-note"):
        notes = set(table.loc[list(own), "note"])
        first = notes.pop() if len(notes) == 1 else ""
        key = f"runs-note-text-{'-'.join(own[:3])}-{len(own)}"
        label = f"Note of {counted(len(own), 'run')}"
        st.text_area(label, first, key=key, max_chars=NOTE_LENGTH, on_change="ignore")
        st.button("Save", key="runs-note-keep", on_click=_keep_note, args=(list(own), key))


@errors_as_sentences()
def _star(own: Sequence[str], star: bool) -> None:
    run_store().marks.star(visitor(), own, star)


@errors_as_sentences()
def _share(own: Sequence[str], shared: bool) -> None:
    run_store().marks.share(visitor(), own, shared)


@errors_as_sentences()
def _tag(own: Sequence[str]) -> None:
    tag = str(st.session_state.get("runs-new-tag") or "")
    run_store().marks.tag(visitor(), own, tag)
    st.session_state["runs-new-tag"] = None


@errors_as_sentences()
def _untag(own: Sequence[str], tag: str) -> None:
    run_store().marks.untag(visitor(), own, tag)


@errors_as_sentences()
def _keep_note(own: Sequence[str], key: str) -> None:
    run_store().marks.note(visitor(), own, st.session_state[key].strip())


@errors_as_sentences()
def _delete(own: Sequence[str]) -> None:
    run_store().marks.delete(visitor(), own)
    st.session_state[_GONE] = list(own)
    choose([])


@errors_as_sentences()
def restore(digests: Sequence[str]) -> None:
    """Restore deleted runs (a callback)."""
    run_store().marks.restore(visitor(), digests)
    st.session_state.pop(_GONE, None)
    choose([])


def deleted_note() -> None:
    """Name the runs deleted last, with a button to restore them."""
    gone = st.session_state.get(_GONE, [])
    if gone:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = ALL_DELETED.format(runs=counted(len(gone), "run"))
            st.markdown(f":material/delete: {words}", width="content")
            st.button("Undo", key="runs-undo", on_click=restore, args=(gone,))


def next_steps(table: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw further steps for the chosen runs: one opens on Train, several can be compared."""
    specs = run_store().listing.specs(chosen) if len(chosen) == 1 else []
    if specs:
        _open(specs[0], table.loc[chosen[0], "state"] == IMPORTED)
    compare = next((entry for entry in ENTRIES if entry.file == "compare"), None)
    if compare is not None and 2 <= len(chosen) <= MOST_COMPARED:
        label = f"Compare {len(chosen)} runs"
        st.page_link(
            compare.script, label=label, icon=compare.material, query_params={"runs": ",".join(chosen)}
        )


def _open(spec: RunSpec, brought: bool) -> None:
    """Draw a button that opens a run on Train; otherwise explain why not.

    For an imported run (`brought`), it has the run made here.
    """
    found, why = datasets().get(spec.dataset), ""
    try:
        state_of(spec)
    except SettingError as error:
        why = "" if brought else NOT_ON_TRAIN.format(error=error)
    if found is None or spec.fold not in found.folds:
        why = NO_DATA
    elif brought and not spec.kind.trains:
        why = words.NOTHING_TO_TRAIN
    elif brought and digest_of(spec) != spec.digest:
        why = OTHER_DATA
    does = words.TRAIN_AGAIN_HELP if brought else ""
    st.button(
        "Train again" if brought else "Open in Train",
        key="runs-open",
        icon=":material/model_training:" if brought else ":material/open_in_new:",
        on_click=train_again if brought else open_run,
        args=(spec,),
        disabled=bool(why),
        help=escaped(why) if why else does or "Its settings.",
    )


def export_menu(table: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw buttons to export the chosen runs as one file, or their rows as a table."""
    made = [digest for digest in chosen if table.loc[digest, "state"] in (DONE, IMPORTED)]
    with st.popover("Export", icon=":material/download:", key="runs-export", disabled=not chosen):
        who = address() or visitor()
        why = _why_no_file(made, who)
        st.download_button(
            f"{counted(len(made), 'run')} as one file",
            _exported(made, visitor(), who),
            "runs.rankviz",
            "application/octet-stream",
            key="runs-save",
            on_click="ignore",
            disabled=not made or bool(why),
            width="stretch",
            help=why or EXPORT_HELP,
        )
        st.download_button(
            "Scores as TREC runs (zip)",
            _trec_runs(made, who),
            "trec-runs.zip",
            "application/zip",
            key="runs-trec",
            on_click="ignore",
            disabled=not made or bool(why),
            width="stretch",
            help=why or TREC_HELP,
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


def _trec_runs(digests: Sequence[str], who: str) -> Callable[[], bytes]:
    """Return a function that writes the scores of runs made here, as files that `score_files` reads again."""
    specs = [spec for spec in run_store().listing.specs(digests) if spec.dataset in datasets()]
    folds = {spec: fold_later(spec) for spec in specs if spec.fold in datasets()[spec.dataset].folds}

    def made() -> bytes:
        _begin_file(digests, who)
        with zipfile.ZipFile(content := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
            for spec, record in run_store().records.find(list(folds)).items():
                parts, seed = folds[spec]().parts, spec.get("seed", 0)
                for part in record.scores:
                    write_run(record, part, parts[part], text := io.BytesIO())
                    name = f"{spec.hash}/seed{seed}/{spec.fold}/{part}.run"
                    archive.writestr(zip_entry(name), text.getvalue(), zipfile.ZIP_DEFLATED)
        return content.getvalue()

    return made


def flat(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs as rows of plain cells, their digest first, without metrics of test parts."""
    kept = table[[name for name in table if not name.startswith("test:")]].reset_index()
    return kept.assign(tags=kept["tags"].map(", ".join))


def _exported(digests: Sequence[str], owner: str, who: str) -> Callable[[], bytes]:
    """Return a function that makes the file when the button is pressed; the visitor is unknown then."""

    def made() -> bytes:
        _begin_file(digests, who)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.rankviz"
            export_runs(run_store(), digests, owner, path)
            return path.read_bytes()

    return made


def _why_no_file(digests: Sequence[str], who: str) -> str:
    """Say why a visitor or address gets no file of these runs now; "" if it does."""
    size, since = run_store().records.bytes_of(digests), time.monotonic() - RECENT_SECONDS
    if len(digests) > MOST_TAKEN or size > LIMITS.upload_bytes:
        return words.TOO_LARGE.format(runs=MOST_TAKEN, limit=LIMITS.upload_bytes // MB)
    recent = sum(taken for at, one, taken in list(_taken) if one == who and at > since)
    if max(recent + size - MOST_OF_ONE, bytes_of_downloads() + size - MOST_DOWNLOADS) > 0:
        return words.TOO_MANY
    return ""


def _begin_file(digests: Sequence[str], who: str) -> None:
    """Count a file, which stays in memory until its session ends. Raises `SettingError` if there is none."""
    if why := _why_no_file(digests, who):
        raise SettingError(why)
    while _taken and _taken[0][0] < time.monotonic() - RECENT_SECONDS:
        _taken.popleft()
    _taken.append((time.monotonic(), who, run_store().records.bytes_of(digests)))


def import_form() -> None:
    """Draw the form to import files of exported runs."""
    with st.popover("Import", icon=":material/upload:", key="runs-import"):
        version = st.session_state.setdefault(_VERSION, 0)
        key = f"runs-file-{version}"
        about = words.IMPORT_HELP.format(limit=LIMITS.upload_bytes // MB, mark=NOT_MADE_HERE)
        files, missing = upload_memory.file_field("Exported run files", key, on_change=_forget, help=about)
        st.page_link("pages/data.py", label=words.SCORES_ON_DATA, icon=":material/upload:")
        if missing:
            _start_over(upload_memory.reason_missing())
        if st.button("Import them", type="primary", key="runs-import-now", disabled=not files):
            _take_in(files)
        for why in st.session_state.get(_ERROR, []):
            st.error(words.NOT_IMPORTED.format(why=escaped(why)), icon=":material/error:")
        if _DONE in st.session_state:
            st.success(st.session_state[_DONE], icon=":material/check:")


def _take_in(ids: Sequence[str]) -> None:
    """Import the runs of files, report files that cannot be read, and rerun without them."""
    _forget()
    number, why = 0, list[str]()
    with turn(CHECKING, st.empty(), words.WAITING), st.spinner("Reading …"):
        for upload in upload_memory.uploads(ids):
            try:
                number += store_upload(upload)
            except (DataError, StoreError) as error:
                why.append(str(error))
    if number:
        st.session_state[_DONE] = FROM_FILE.format(runs=counted(number, "run"))
    _start_over(*why)


def store_upload(upload: Upload) -> int:
    """Store the runs of a file as this visitor's; `DataError` for an incomplete file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.rankviz"  # a name from the upload is never part of a path
        path.write_bytes(upload.stream.read())
        try:
            return import_runs(run_store(), path, visitor(), address())
        except DataError as error:
            named = {"found": error.found, "expected": error.expected, "remedy": error.remedy}
            raise DataError(**named, path=upload.name) from error
        finally:
            return_freed_memory()


def _start_over(*why: str) -> None:
    """Rerun with an empty form, and a sentence for each error."""
    upload_memory.release_files()
    st.session_state[_VERSION] += 1
    if why:
        st.session_state[_ERROR] = list(why)
    st.rerun()


def _forget() -> None:
    for key in (_ERROR, _DONE):
        st.session_state.pop(key, None)
