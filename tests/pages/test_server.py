"""The server around the pages: its garbage collector passes over the libraries, and BLAS has one thread."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import app as served
from rankviz.common.threads import _libraries, single_blas
from ui.model import data_serving
from ui.shell.assets import Assets
from ui.shell.server import Headers, SameOrigin, freeze_libraries, raise_file_limit


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


def answer(path: str, kind: str = "http", method: str = "GET", **headers: str) -> Any:
    """What the server's guard answers: a status, "closed", or "through" to the application."""
    sent = list[Any]()

    async def application(*_: object) -> None:
        sent.append({"status": "through"})

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "headers": named}
    asyncio.run(SameOrigin(application)(scope, receive, send))
    return "closed" if sent[0].get("type") == "websocket.close" else sent[0]["status"]


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        (None, True),
        ("http://localhost:8501", True),
        ("http://localhost:8502", False),
        ("http://localhost", False),
        ("http://elsewhere.example.net:8501", False),
        ("null", False),
    ],
)
def test_only_pages_of_this_host_and_port_open_sessions_and_send_files(origin: str | None, own: bool) -> None:
    headers = {"host": "localhost:8501"} | ({} if origin is None else {"origin": origin})
    assert answer("/_stcore/stream", "websocket", **headers) == ("through" if own else "closed")
    assert answer("/_stcore/upload_file/1", method="PUT", **headers) == ("through" if own else 403)
    assert answer("/index.html", **headers) == "through"


def test_counts_of_sessions_are_closed_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer("/_stcore/metrics") == answer("/below/_stcore/metrics") == 404
    assert answer("/_stcore/health") == "through"
    monkeypatch.setenv("RANKVIZ_METRICS", "1")
    assert answer("/_stcore/metrics") == "through"


def test_the_limit_of_open_files_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1]), before[1]))
        raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_server_has_our_additions() -> None:
    kinds = [one.cls for one in served.middleware]
    assert kinds.index(Headers) < kinds.index(SameOrigin) < kinds.index(Assets)
    assert kinds.index(Headers) < kinds.index(Assets), "compressed files have the security headers, too"
