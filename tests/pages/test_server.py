"""The server around the pages: its garbage collector passes over the libraries, and BLAS has one thread."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

import app as served
from rankviz.common.threads import _libraries, single_blas
from ui.model import data_serving
from ui.shell import server
from ui.shell.assets import Assets
from ui.shell.server import Headers, SameOrigin, freeze_libraries, look_up_single_values, raise_file_limit


def test_what_was_loaded_is_passed_over_after_the_first_page(
    open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_first_page", Lock())
    gc.unfreeze()
    gc.collect()  # what other tests have left
    tracked = len(gc.get_objects())
    open_page("train", m=5)
    assert gc.get_freeze_count() > 0.9 * tracked > 10_000
    assert len(gc.get_objects()) < 0.5 * tracked
    frozen = gc.get_freeze_count()
    open_page("train", m=6)
    assert gc.get_freeze_count() <= frozen, "once: what a visitor leaves behind is collected"


def test_visitors_who_come_together_collect_garbage_once(monkeypatch: pytest.MonkeyPatch) -> None:
    together, collected = Barrier(10), list[int]()

    def collect() -> None:
        collected.append(1)
        time.sleep(0.05)

    def visit(_: int) -> None:
        together.wait()
        freeze_libraries()

    monkeypatch.setattr(server, "_first_page", Lock())
    monkeypatch.setattr(server, "gc", SimpleNamespace(collect=collect, freeze=lambda: None))
    with ThreadPoolExecutor(10) as visitors:
        list(visitors.map(visit, range(10)))
    assert collected == [1]


def test_widgets_look_up_their_value_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[int] = []
    whole = SessionState.filtered_state.fget

    def copy(state: SessionState) -> dict[str, Any]:
        copies.append(1)
        return dict(whole(state))

    def menus() -> None:
        import streamlit as st

        st.session_state.setdefault("empty", None)
        st.session_state["own"] = 1
        assert st.selectbox("Empty", [1, 2], key="empty") is None
        assert st.selectbox("Full", [1, 2], key="full") == st.session_state["full"]
        st.text_input("Text", "as given", key="text")

    monkeypatch.setattr(SessionState, "filtered_state", property(copy))
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    look_up_single_values()
    app = AppTest.from_function(menus).run()
    assert not app.exception
    assert not copies
    app.selectbox(key="full").set_value(2).run()
    assert (app.selectbox(key="full").value, app.selectbox(key="empty").value) == (2, None)
    values = app.session_state._state.filtered_state
    assert set(values) == {"empty", "own", "full", "text"}
    assert dict(values) == {"empty": None, "own": 1, "full": 2, "text": "as given"}
    assert (len(values), "nothing" in values) == (4, False)
    with pytest.raises(KeyError):
        values["nothing"]


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
