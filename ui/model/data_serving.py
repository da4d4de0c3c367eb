"""Additions to Streamlit's server: it counts uploads, frees unused memory, and answers without waiting.

See docs/decisions/0021-uploads-in-memory.md.
"""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.starlette import App

from rankviz.common.memory import return_freed_memory
from rankviz.common.parallel import single_blas
from ui.model.upload_memory import UPLOADS
from ui.model.what_if_models import memory
from ui.shell.server import look_up_single_values, raise_file_limit, send_at_once
from ui.work.folds import FOLDS
from ui.work.run_store import continue_sweeps

LOOK_SECONDS = 5
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
            if scope["method"] == "DELETE":
                UPLOADS.forget(found["session"], found["file"])

    async def _put(self, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        size = Headers(scope=scope).get("content-length", "")
        if not size.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        why = UPLOADS.admit(session, file, int(size))
        if why is not None:
            while (await receive()).get("more_body"):  # browsers read no answer before all is sent
                pass
            # a success for the browser: only then does it reload the page, which says why
            await PlainTextResponse(why, 202)(scope, receive, send)
            return
        manager = runtime.get_instance().uploaded_file_mgr
        try:
            await self.app(scope, receive, send)
        finally:
            if not UPLOADS.finish(session, file, bool(manager.get_files(session, [file]))):
                manager.remove_file(session, file)


@asynccontextmanager
async def free_memory(_: App) -> AsyncIterator[None]:
    """Collect garbage, free files and folds, and continue sweeps, every few seconds while the server runs.

    Fits that a page waits for are short and follow a pause. BLAS threads then wait for a core longer than
    they help: on a busy machine with two cores, a step of C on Train took 2.7 s with two, 0.3 s with one.
    """
    send_at_once()
    raise_file_limit()
    look_up_single_values()
    with single_blas():
        watch = asyncio.create_task(_housekeeping())
        try:
            yield
        finally:
            watch.cancel()


async def _housekeeping() -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if any(gc.get_count()[1:]):  # something was made since the last time
            gc.collect()
        server, now = runtime.get_instance(), time.monotonic()
        files = UPLOADS.free_old(server.is_active_session, server.uploaded_file_mgr, now)
        models = memory().free_idle(now)
        if FOLDS.free_idle(now) or files or models:
            await asyncio.to_thread(return_freed_memory)
        await asyncio.to_thread(continue_sweeps)
