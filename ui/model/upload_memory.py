"""Memory of uploads on the server: bounded over all visitors, and freed soon.

Streamlit accepts any number of files, and keeps each in memory while its visitor may return. So
`ui.model.data_serving` counts here what has arrived of them. What is only announced takes no place. A file
beyond `Bounds.held_bytes`, or beyond the share of its address, is refused. Files are removed if they are not
checked for a while, sooner if memory is scarce, or if their visitor has left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

from rankviz.common.bounds import bounds
from rankviz.common.memory import megabytes
from rankviz.datasets.archives import Upload
from rankviz.datasets.uploads import LIMITS
from ui.model import data_words as words

AWAY_SECONDS = 30
"""Seconds after which files of a closed or disconnected page are removed."""
WAITING_SECONDS = 15 * 60
"""Seconds that an upload may take; also those after which unchecked files are removed."""
CROWDED = 0.5
"""Share of the memory beyond which uploads have less time."""
CROWDED_SECONDS = 120
"""The same, while more than `CROWDED` of the memory, or of the share of the address, is taken."""

RELEASED = words.UPLOAD_EXPIRED.format(
    minutes=WAITING_SECONDS // 60, crowded=CROWDED_SECONDS // 60, seconds=AWAY_SECONDS
)


@dataclass
class _File:
    """One file: announced bytes, start, address, bytes so far, arrival (or None), and a flag to keep it."""

    announced: int
    began: float
    address: str = ""
    size: int = 0
    arrived: float | None = None
    wanted: bool = True

    def drop(self) -> None:
        """Free its place; the upload ends with its next part."""
        self.announced = self.size = 0
        self.wanted = False

    def out_of_time(self, now: float, crowded: bool) -> bool:
        """Return True if it has waited, or is being uploaded, for too long."""
        since = self.began if self.arrived is None else self.arrived
        return now - since > (CROWDED_SECONDS if crowded else WAITING_SECONDS)


class UploadMemory:
    """Files in memory or being uploaded, by session and file; thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[tuple[str, str], _File] = {}
        self._seen: dict[str, float] = {}
        self._refused: dict[str, str] = {}

    def admit(self, session: str, file: str, size: int, address: str = "") -> str | None:
        """Count a file before its upload; or return the reason for refusing it (`refusal` repeats it).

        `address` is as in `ui.shell.visitors.address`; "" has no share of its own.
        """
        with self._lock:
            one = _File(size, time.monotonic(), address)
            own = sum(one.announced for (of, _), one in self._files.items() if of == session)
            if (session, file) in self._files:
                why = words.ALREADY
            elif own + size > LIMITS.upload_bytes:
                why = words.TOO_LARGE.format(most=megabytes(LIMITS.upload_bytes))
            elif not (why := self._full(one, size)):
                self._files[session, file] = one
                return None
            self._refused[session] = why
            return why

    def arrive(self, session: str, file: str, size: int) -> str | None:
        """Count bytes as they arrive; or free the place of the file and return the reason for refusing it."""
        with self._lock:
            one = self._files[session, file]
            if not (why := self._full(one, size)):
                one.size += size
                return None
            one.drop()
            self._refused[session] = why
            return why

    def _full(self, one: _File, size: int) -> str:
        """Return why there is no room for more bytes of a file; "" if there is.

        The last tenth is for addresses that hold nothing else, as with jobs.
        """
        most, held, near = bounds(), self._held(), self._held(one.address) if one.address else 0
        if near + size > most.held_bytes_address:
            told = megabytes(near), megabytes(most.held_bytes_address)
            return words.SHARE_FULL.format(held=told[0], most=told[1])
        kept = most.held_bytes // 10 if near > one.size else 0
        if held + size > most.held_bytes - kept:
            return words.MEMORY_FULL.format(held=megabytes(held), most=megabytes(most.held_bytes))
        return ""

    def is_over(self, session: str, file: str) -> bool:
        """Return True if an upload in progress was dropped."""
        with self._lock:
            one = self._files.get((session, file))
            return one is not None and one.arrived is None and not one.wanted

    def _held(self, address: str | None = None) -> int:
        return sum(one.size for one in self._files.values() if address in (None, one.address))

    def _crowded(self) -> Callable[[str], bool]:
        """Return a test whether memory is scarce: all of it, or the share of an address."""
        share = CROWDED * bounds().held_bytes_address
        if self._held() > CROWDED * bounds().held_bytes:
            return lambda _: True
        full = {one for one in {file.address for file in self._files.values()} if self._held(one) > share}
        return lambda address: bool(address) and address in full

    def finish(self, session: str, file: str, there: bool) -> bool:
        """Record that a file has arrived, or has not; return True if it is kept."""
        with self._lock:
            one = self._files[session, file]
            if there and one.wanted:
                one.arrived = time.monotonic()
                return True
            del self._files[session, file]
            return False

    def forget(self, session: str, file: str | None = None) -> None:
        """Record that a file, or all of a session, was removed; uploads in progress end on arrival."""
        with self._lock:
            for key in [key for key in self._files if key[0] == session and file in (None, key[1])]:
                if self._files[key].arrived is None:
                    self._files[key].drop()
                else:
                    del self._files[key]

    def release(self, session: str, manager: UploadedFileManager) -> None:
        """Remove all files of a session."""
        manager.remove_session_files(session)
        self.forget(session)

    def refusal(self, session: str) -> str | None:
        """Return once why a file of this session was refused, if any was."""
        with self._lock:
            return self._refused.pop(session, None)

    def free_old(self, active: Callable[[str], bool], manager: UploadedFileManager, now: float) -> bool:
        """Remove files that were not checked for a while or whose visitor left; return True if any were."""
        with self._lock:
            sessions = {session for session, _ in self._files}
            here = {session for session in (*sessions, *self._refused) if active(session)}
            self._refused = {session: why for session, why in self._refused.items() if session in here}
            self._seen = {of: now if of in here else self._seen.get(of, now) for of in sessions}
            crowded = self._crowded()
            late = {of for (of, _), one in self._files.items() if one.out_of_time(now, crowded(one.address))}
        gone = late | {of for of in sessions if now - self._seen[of] > AWAY_SECONDS}
        for session in gone:
            self.release(session, manager)
        return bool(gone)


UPLOADS = UploadMemory()
"""The instance for the server."""


# Functions for the visitor of a page.


def file_field(label: str, key: str, *, multiple: bool = True, **options: Any) -> tuple[list[str], bool]:
    """Draw a field for files; return their ids, and True if the browser shows files that are not here.

    The session keeps no bytes of them, which `UPLOADS` would not count; `uploads` finds them.
    """
    truncate(st.session_state.get(key, []))  # before the widget copies them
    st.file_uploader(label, accept_multiple_files=multiple, key=key, **options)
    given: Any = st.session_state.get(key) or []
    chosen = given if isinstance(given, list) else [given]
    truncate(chosen)  # a first run can bring files, too
    here = [file.file_id for file in chosen if isinstance(file, BytesIO)]
    return here, len(here) < len(chosen)


def truncate(chosen: Any) -> None:
    """Delete the bytes of a widget's file or list of files, which it would keep and copy.

    Streamlit's manager still has them; `uploads` finds them there, and they can be removed there.
    """
    for file in chosen if isinstance(chosen, list) else [chosen]:
        if isinstance(file, BytesIO):
            file.truncate(0)


def uploads(files: Sequence[str]) -> list[Upload]:
    """Return these files of this page, if present, for reading; their bytes are not copied."""
    page = _page()
    found = page.uploaded_file_mgr.get_files(page.session_id, files)
    return [Upload(file.name, BytesIO(file.data)) for file in found]


def release_files() -> None:
    """Remove all files of this page."""
    page = _page()
    UPLOADS.release(page.session_id, page.uploaded_file_mgr)


def reason_missing() -> str:
    """Explain why files shown by the browser are not here."""
    return UPLOADS.refusal(_page().session_id) or RELEASED


def _page() -> ScriptRunContext:
    page = get_script_run_ctx()
    assert page is not None, "called outside of a page"
    return page
