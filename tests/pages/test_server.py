"""The server around the pages: its garbage collector passes over the libraries, and BLAS has one thread."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

import app as served
from rankviz.common.threads import _libraries, single_blas
from ui.model import data_serving
from ui.shell.assets import Assets
from ui.shell.server import Headers, freeze_libraries


def test_what_was_loaded_is_passed_over_after_the_first_page(open_page: Callable[..., AppTest]) -> None:
    freeze_libraries.cache_clear()
    gc.unfreeze()
    tracked = len(gc.get_objects())
    open_page("train", m=5)
    assert gc.get_freeze_count() > 0.9 * tracked > 10_000
    assert len(gc.get_objects()) < 0.5 * tracked
    frozen = gc.get_freeze_count()
    open_page("train", m=6)
    assert gc.get_freeze_count() <= frozen, "once: what a visitor leaves behind is collected"


def test_live_fits_use_one_blas_thread_while_the_server_runs() -> None:
    def threads() -> list[int]:
        return [library.num_threads for library in _libraries()]

    async def serve() -> list[int]:
        async with data_serving.free_memory(SimpleNamespace()):
            with single_blas():  # a fit's own limit does not lift the server's
                pass
            return threads()

    before = threads()
    assert set(asyncio.run(serve())) == {1}
    assert threads() == before


def test_the_server_has_our_additions() -> None:
    kinds = [one.cls for one in served.middleware]
    assert kinds.index(Headers) < kinds.index(Assets), "compressed files have the security headers, too"
