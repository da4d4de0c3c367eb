"""What uploads hold in the memory of the server: bounded for all visitors together, and given back soon.

Streamlit takes any number of files and keeps each in memory for as long as its visitor may come back. So
`ui.data.serving` has them counted here before they are read; one beyond `Bounds.held_bytes` is refused, and
those are let go that nobody has had checked for a while, or whose visitor has left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from threading import Lock

from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

from rankviz.common.bounds import bounds
from rankviz.common.numbers import megabytes
from rankviz.datasets.members import Upload
from rankviz.datasets.uploads import LIMITS
from ui.data import words

AWAY_SECONDS = 30
"""Files of a visitor whose page has been closed, or cut off, for so long are let go."""
WAITING_SECONDS = 15 * 60
"""Files that have been here for so long and were not checked are let go."""

LET_GO = words.let_go(WAITING_SECONDS // 60, AWAY_SECONDS)


@dataclass
class _File:
    """One file: its bytes, when it arrived (None while it is on its way), whether it is still wanted."""

    size: int
    arrived: float | None = None
    wanted: bool = True


class Held:
    """The files in memory or on their way there, by session and file; safe in all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[tuple[str, str], _File] = {}
        self._seen: dict[str, float] = {}
        self._refused: dict[str, str] = {}

    def admit(self, session: str, file: str, size: int) -> str | None:
        """Count a file that is about to arrive; or why it is refused, which `refusal` gives once more."""
        most = bounds().held_bytes
        with self._lock:
            held = sum(one.size for one in self._files.values())
            own = sum(one.size for (of, _), one in self._files.items() if of == session)
            if (session, file) in self._files:
                why = words.ALREADY
            elif own + size > LIMITS.upload_bytes:
                why = words.too_large(megabytes(LIMITS.upload_bytes))
            elif held + size > most:
                why = words.memory_full(megabytes(held), megabytes(most))
            else:
                self._files[session, file] = _File(size)
                return None
            self._refused[session] = why
            return why

    def settle(self, session: str, file: str, there: bool) -> bool:
        """Note that a file has arrived, or has not; whether it is to stay."""
        with self._lock:
            one = self._files[session, file]
            if there and one.wanted:
                one.arrived = time.monotonic()
                return True
            del self._files[session, file]
            return False

    def forget(self, session: str, file: str | None = None) -> None:
        """Note that a file was removed, or all of a session; one on its way is to be when it arrives."""
        with self._lock:
            for key in [key for key in self._files if key[0] == session and file in (None, key[1])]:
                if self._files[key].arrived is None:
                    self._files[key].wanted = False
                else:
                    del self._files[key]

    def let_go(self, session: str, manager: UploadedFileManager) -> None:
        """Remove all files of a session."""
        manager.remove_session_files(session)
        self.forget(session)

    def refusal(self, session: str) -> str | None:
        """Why a file of this session was refused, if one was; said once."""
        with self._lock:
            return self._refused.pop(session, None)

    def look(self, active: Callable[[str], bool], manager: UploadedFileManager, now: float) -> bool:
        """Let go what nobody has had checked for a while, and files of who has left; whether any were."""
        with self._lock:
            arrived: dict[str, float] = {}
            for (session, _), one in self._files.items():
                arrived[session] = max(arrived.get(session, 0.0), now if one.arrived is None else one.arrived)
            here = {session for session in (*arrived, *self._refused) if active(session)}
            self._refused = {session: why for session, why in self._refused.items() if session in here}
            self._seen = {of: now if of in here else self._seen.get(of, now) for of in arrived}
            away = [of for of in arrived if now - self._seen[of] > AWAY_SECONDS]
            waited = [of for of in arrived if now - arrived[of] > WAITING_SECONDS]
        gone = {*away, *waited}
        for session in gone:
            self.let_go(session, manager)
        return bool(gone)


HELD = Held()
"""One for the server."""


# What the Data page asks, of the visitor whose page it is.


def empty(chosen: Iterable[object]) -> None:
    """Take the bytes out of what a widget has for files: of its own it would keep and copy them.

    They stay with Streamlit's manager, where `uploads` finds them and from where they can be removed.
    """
    for file in chosen:
        if isinstance(file, BytesIO):
            file.truncate(0)


def uploads(files: Sequence[str]) -> list[Upload]:
    """These files of this page, as far as they are here, to be read; their bytes are not copied."""
    page = _page()
    found = page.uploaded_file_mgr.get_files(page.session_id, files)
    return [Upload(file.name, BytesIO(file.data)) for file in found]


def let_go() -> None:
    """Remove all files of this page."""
    page = _page()
    HELD.let_go(page.session_id, page.uploaded_file_mgr)


def why_not_here() -> str:
    """Why files that the browser shows are not here."""
    return HELD.refusal(_page().session_id) or LET_GO


def _page() -> ScriptRunContext:
    page = get_script_run_ctx()
    assert page is not None, "called outside of a page"
    return page
