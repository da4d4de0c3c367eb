"""Additions to Streamlit's server: it counts uploads, frees unused memory, and answers without waiting.

See docs/decisions/0021-uploads-in-memory.md.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.starlette import App

from rankviz.common.memory import return_freed_memory
from rankviz.common.parallel import single_blas
from ui.model import data_words as words
from ui.model.upload_memory import UPLOADS
from ui.model.what_if_models import memory
from ui.shell.server import (
    bound_log,
    bound_messages,
    end_left_sessions,
    look_up_single_values,
    raise_file_limit,
    refuse_impossible_values,
    send_at_once,
)
from ui.shell.visitors import address_of, believe_no_forwarded_address
from ui.work.folds import FOLDS
from ui.work.run_store import continue_sweeps

LOG = logging.getLogger("rankviz.server")
LOOK_SECONDS = 5
UPLOAD_RATE = 16_000
"""Bytes that an upload must send per second."""
GRACE_SECONDS, STALL_SECONDS = 10.0, 30.0
"""Seconds without a byte, at the start and later, after which an upload is too slow."""
_UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")


class BoundedUploads:
    """Middleware that counts uploads as they arrive."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept or discard an upload; pass on all other requests."""
        found = _UPLOAD.search(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self.app(scope, receive, send)
        elif scope["method"] == "PUT" and runtime.get_instance().is_active_session(found["session"]):
            await self._put(found["session"], found["file"], scope, receive, send)
        else:
            await self.app(scope, receive, send)
            gone = not runtime.get_instance().uploaded_file_mgr.get_files(found["session"], [found["file"]])
            if scope["method"] == "DELETE" and gone:  # Streamlit may have refused
                UPLOADS.forget(found["session"], found["file"])

    async def _put(self, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers, client = Headers(scope=scope), scope.get("client")
        size = headers.get("content-length", "")
        if not size.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        address = address_of(client[0] if client else None, headers.getlist("x-forwarded-for"))
        why = UPLOADS.admit(session, file, int(size), address)
        body, manager = _Body(session, file, receive, why), runtime.get_instance().uploaded_file_mgr
        try:
            await self.app(scope, body, send)  # it answers with the status of an `HTTPException` of the body
        except ClientDisconnect:
            LOG.debug("A browser has left during an upload.")  # no fault, and nobody can answer
        finally:
            if why is None and not UPLOADS.finish(session, file, bool(manager.get_files(session, [file]))):
                manager.remove_file(session, file)


class _Body:
    """The body of an upload as it arrives: counted, discarded if there is no room, ended if it is slow."""

    def __init__(self, session: str, file: str, receive: Receive, why: str | None) -> None:
        self._key, self._receive, self._why = (session, file), receive, why
        self._until = time.monotonic() + GRACE_SECONDS

    async def __call__(self) -> Message:
        """Return the next part. Raises `HTTPException` for an upload that does not go on."""
        message = await self._next()
        if self._why is None:
            self._why = UPLOADS.arrive(*self._key, len(message.get("body", b"")))
        if self._why is None:
            return message
        while message.get("more_body"):  # browsers read no answer before all is sent
            message = await self._next()
        # a success for the browser: only then does it reload the page, which says why
        raise HTTPException(202, self._why)

    async def _next(self) -> Message:
        """Return the next part; each gives time for the following ones."""
        waiting = asyncio.ensure_future(self._receive())
        try:  # at least a second: a busy server sees late what came in time
            await asyncio.wait({waiting}, timeout=max(1.0, self._until - time.monotonic()))
            message = waiting.result() if waiting.done() else None
        finally:
            waiting.cancel()
        now, size = time.monotonic(), 0 if message is None else len(message.get("body", b""))
        self._until = min(self._until + size / UPLOAD_RATE, now + STALL_SECONDS)
        counts = self._why is None
        if message is None or self._until < now or (counts and UPLOADS.is_over(*self._key)):
            if counts:
                UPLOADS.forget(*self._key)  # its place is free at once
            raise HTTPException(408, words.TOO_SLOW, {"Connection": "close"})
        return message


@asynccontextmanager
async def free_memory(_: App) -> AsyncIterator[None]:
    """Collect garbage, free files and folds, and continue sweeps, every few seconds while the server runs.

    Fits that a page waits for are short and follow a pause. BLAS threads then wait for a core longer than
    they help: on a busy machine with two cores, a step of C on Train took 2.7 s with two, 0.3 s with one.
    """
    send_at_once()
    bound_messages()
    believe_no_forwarded_address()
    bound_log()
    raise_file_limit()
    look_up_single_values()
    refuse_impossible_values()
    with single_blas():
        watch = asyncio.create_task(_housekeeping())
        try:
            yield
        finally:
            watch.cancel()


async def _housekeeping() -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            await _free_and_continue()
        except Exception:  # else one fault would end all of it
            LOG.exception("What the server does every %d s failed; it tries again.", LOOK_SECONDS)


async def _free_and_continue() -> None:
    if any(gc.get_count()[1:]):  # something was made since the last time
        gc.collect()
    end_left_sessions()
    server, now = runtime.get_instance(), time.monotonic()
    files = UPLOADS.free_old(server.is_active_session, server.uploaded_file_mgr, now)
    models = memory().free_idle(now)
    if FOLDS.free_idle(now) or files or models:
        await asyncio.to_thread(return_freed_memory)
    await asyncio.to_thread(continue_sweeps)
