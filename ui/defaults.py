"""Runs for the figures that pages open with, made in advance: `python -m ui.defaults`.

It opens every page with default settings, makes all runs that the page needs, and stores their records in the
run store for all visitors. They are repeated after a change of the code. `make install` runs it, and so does
the app at its first start, in a separate process. A server that has these figures opens its first page once
before it answers anybody.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App
from streamlit.util import calc_hash

from rankviz.common.processes import can_start, start
from rankviz.store import StoreError
from rankviz.store.environment import code_digest, default_folder
from rankviz.store.run_store import keep_for_all, kept_for_all
from ui.controls.navigation import ENTRIES
from ui.model.data_serving import free_memory
from ui.work import jobs
from ui.work.run_store import run_store
from ui.work.runs import remembered

ENVIRONMENT = "RANKVIZ_PREPARE"
"""Set to "no" to make nothing in advance."""
START = ENTRIES[0].file
"""The start page's script."""
ROUTER = Path(__file__).resolve().parents[1] / "router.py"
SECONDS = 600
FIRST_SECONDS = 10
"""Longest wait for the page that a server opens before it answers."""
_MODESTLY = "from rankviz.common.processes import stand_back; stand_back(10)"
"""Lower priority than visitors."""
_LATER = "The figures that pages open with are made when they are asked for"


def main() -> None:
    """Open every page and store its runs, unless they exist."""
    title = _title()
    try:
        if _exist():
            return
    except StoreError as error:
        sys.stderr.write(f"{_LATER}: {error}\n")
        return
    from streamlit import config
    from streamlit.testing.v1 import AppTest  # slow, and not needed by the app

    config.set_option("secrets.files", [])  # nobody logs in here
    os.environ[ENVIRONMENT] = "no"  # the app does not start this again
    logging.disable(logging.WARNING)  # warnings about a missing browser are expected here
    jobs.LIVE_SECONDS = jobs.LIVE_IN_ALL = jobs.LIVE_LIMIT = math.inf  # no limits: nobody waits
    with through_router():
        for entry in ENTRIES:
            app = AppTest.from_file(ROUTER, default_timeout=SECONDS)
            app._page_hash = page_hash(entry.file)
            app.run()
    try:
        keep_for_all(run_store(), remembered(), title)
    except StoreError as error:
        sys.stderr.write(f"{_LATER}: {error}\n")


@contextmanager
def through_router() -> Iterator[None]:
    """Let AppTest run pages through the router, as app.py does; else it would run their scripts alone."""
    from unittest.mock import patch  # slow, and not needed by the app

    begin = PagesManager.__init__

    def as_in_app(manager: PagesManager, *arguments: Any, **named: Any) -> None:
        PagesManager.uses_pages_directory = False  # AppTest forgets it at every run
        begin(manager, *arguments, **named)

    with patch.object(PagesManager, "__init__", as_in_app):
        yield


def page_hash(file: str) -> str:
    """Return the hash by which Streamlit knows a page of `ENTRIES`, from its script's name."""
    return calc_hash("" if file == START else file)


@asynccontextmanager
async def ready(app: App) -> AsyncIterator[None]:
    """Open the first page once, if its figures exist, and then serve: the lifespan of the app.

    What is loaded once would delay the first visitors: modules, records, Plotly's validators; garbage is
    collected too. The first page takes 0.6 s of processor time, the next one 0.04 s.
    """
    async with free_memory(app):
        with suppress(StoreError, OSError):  # this only saves time; pages report a store that fails
            async with asyncio.timeout(FIRST_SECONDS):
                if await asyncio.to_thread(_exist):
                    await _open_first_page()
        yield


async def _open_first_page() -> None:
    server, nobody = runtime.get_instance(), _Nobody()
    session = server.connect_session(nobody, {})
    try:
        server.handle_backmsg(session, BackMsg(rerun_script=ClientState()))
        await nobody.ended.wait()
    finally:
        server.close_session(session)


class _Nobody:
    """The client of a session that no browser shows."""

    client_context = None

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        """Drop a message, and note the end of the script."""
        if msg.WhichOneof("type") == "script_finished":
            self.ended.set()


@cache
def prepare() -> None:
    """Make the default runs in another process once per server, unless they exist or this is disabled."""
    if os.environ.get(ENVIRONMENT) == "no" or not can_start():
        return
    with suppress(StoreError, OSError):  # nothing can be written; pages report it where it matters
        if not _exist():
            command = [sys.executable, "-c", f"{_MODESTLY}; from ui.defaults import main; main()"]
            log = default_folder() / "defaults.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            start(command, os.environ | {"PYTHONPATH": str(ROUTER.parent)}, log)


def _exist() -> bool:
    return kept_for_all(run_store(), _title())


def _title() -> str:
    return f"Figures that pages open with, {code_digest()}"


if __name__ == "__main__":
    main()
