"""The server around the pages: its garbage collector passes over the libraries, and BLAS has one thread."""

import asyncio
import gc
import io
import logging
import math
import os
import platform
import subprocess
import sys
import time
import tomllib
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import uvicorn
from conftest_pages import Opener
from starlette.requests import HTTPConnection
from streamlit import config
from streamlit.error_util import _log_uncaught_app_exception
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import DoubleArray, SInt64Array
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.context import StreamlitHeaders
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.session_state import WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.server import ServerState
from websockets.protocol import State

import app as served
from rankviz.common.parallel import _libraries, single_blas
from ui.controls.sequence import Sequence, View
from ui.model import data_serving
from ui.shell import server, visitors
from ui.shell.assets import Assets
from ui.shell.server import (
    LONGEST_ADDRESS,
    MESSAGE_BYTES,
    MOST_FAULTS,
    MOST_FRAMES,
    MOST_NAMES,
    MOST_STATES,
    BoundedFrames,
    BoundedHeads,
    FewFiles,
    Headers,
    PageMessages,
    SameOrigin,
    bound_log,
    bound_messages,
    end_left_sessions,
    freeze_libraries,
    look_up_single_values,
    raise_file_limit,
    refuse_impossible_values,
)
from ui.shell.words import REFUSED as REFUSED_WORDS


def test_what_was_loaded_is_passed_over_after_the_first_page(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
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


def test_the_server_collects_garbage_and_scripts_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Knot:
        pass

    async def collected() -> bool:
        knot = Knot()
        knot.itself = knot
        left = weakref.ref(knot)
        del knot
        async with data_serving.free_memory(SimpleNamespace()):
            for _ in range(500):
                _made = [[] for _ in range(2000)]
                await asyncio.sleep(0.01)
                if left() is None:
                    return True
        return False

    monkeypatch.setattr(data_serving, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(data_serving, "continue_sweeps", lambda: None)
    files = SimpleNamespace(is_active_session=None, uploaded_file_mgr=None)
    monkeypatch.setattr(data_serving, "runtime", SimpleNamespace(get_instance=lambda: files))
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    gc.disable()
    try:
        assert asyncio.run(collected())
    finally:
        gc.enable()
    settings = tomllib.loads((Path(served.__file__).parent / ".streamlit" / "config.toml").read_text())
    assert settings["runner"]["postScriptGC"] is False


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


HEAPS = """
import asyncio
import math
from threading import Barrier, Thread
from types import SimpleNamespace
import numpy as np
from rankviz.common.memory import resident_memory, return_freed_memory, reuse_freed_memory
from ui.controls.sequence import Sequence, View
from ui.model import data_serving

def work():
    together.wait()
    made = [np.ones(125_000) for _ in range(10)]
    together.wait()
    del made
    together.wait()

async def serve():
    async with data_serving.free_memory(SimpleNamespace()):
        before = resident_memory()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return_freed_memory()
        return resident_memory() - before

reuse_freed_memory()  # as every fit does
together = Barrier(8)
threads = [Thread(target=work) for _ in range(8)]
print(asyncio.run(serve()))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps a heap for each thread")
def test_arrays_that_threads_freed_leave_the_server() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    ran = subprocess.run(
        [sys.executable, "-c", HEAPS], capture_output=True, text=True, check=True, env=environment
    )
    assert int(ran.stdout) < 20_000_000  # of 80 MB


def answer(
    path: str, kind: str = "http", method: str = "GET", guard: Callable[..., Any] = SameOrigin, **headers: str
) -> Any:
    """What a guard of the server answers: a status, "closed", or "through" to the application."""
    sent = list[Any]()

    async def application(*_: object) -> None:
        sent.append({"status": "through"})

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "headers": named}
    asyncio.run(guard(application)(scope, receive, send))
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
        ("http://[", False),
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


def test_the_address_of_a_visitor_is_the_proxys_word_and_of_ipv6_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def seen(address: str | None, *forwarded: str) -> str:
        headers = StreamlitHeaders([("X-Forwarded-For", one) for one in forwarded])
        context = SimpleNamespace(ip_address=address, headers=headers)
        monkeypatch.setattr(visitors, "st", SimpleNamespace(context=context))
        return visitors.address()

    assert seen(None, "made up") == ""
    assert seen("192.0.2.1", "made up") == seen("192.0.2.1") == seen("::ffff:192.0.2.1")
    assert seen("192.0.2.1") != seen("192.0.2.2")
    assert seen("2001:db8:0:1::1") == seen("2001:db8:0:1:ffff::2") != seen("2001:db8:0:2::1")
    monkeypatch.setenv("RANKVIZ_BEHIND_PROXY", "1")
    assert seen(None, "made up, 192.0.2.1") == seen("127.0.0.1", "192.0.2.1") != seen(None, "192.0.2.2")
    assert seen(None, "made up", "192.0.2.1") == seen(None, "192.0.2.1"), "the proxy adds a header"
    assert seen(None, "192.0.2.1:5678") == seen(None, "192.0.2.1:80") == seen(None, "192.0.2.1")
    assert seen(None, "[2001:db8::1]:80") == seen(None, "[2001:db8::1]") == seen(None, "2001:db8::2")
    assert seen("127.0.0.1") == ""


@pytest.mark.parametrize("proxy", ["", "1"])
def test_the_server_itself_believes_no_address_in_a_header(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """Behind a proxy it may: then nobody reads the address that it gives."""
    monkeypatch.setenv("RANKVIZ_BEHIND_PROXY", proxy)
    clients = list[str]()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        clients.append(scope["client"][0])

    async def serve() -> None:
        server_around_it = ProxyHeadersMiddleware(application)
        async with data_serving.free_memory(SimpleNamespace()):  # type: ignore[arg-type]
            for peer in ("127.0.0.1", "192.0.2.1"):
                headers = [(b"x-forwarded-for", b"203.0.113.7")]
                scope = {"type": "websocket", "client": (peer, 1), "headers": headers}
                await server_around_it(scope, None, None)  # type: ignore[arg-type]

    asyncio.run(serve())
    assert clients == ["203.0.113.7" if proxy else "127.0.0.1", "192.0.2.1"]


def test_few_files_that_may_be_opened_make_the_server_warn_and_then_refuse_new_sessions(
    caplog: pytest.LogCaptureFixture,
) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    def ask(taken: float, path: str, kind: str = "http", accept: str = "text/html,*/*") -> Any:
        limit = int(len(os.listdir("/dev/fd")) / taken)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
            return answer(path, kind, guard=FewFiles, accept=accept)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    files = [open(os.devnull) for _ in range(200)]  # noqa: SIM115
    try:
        assert (ask(0.7, "/train"), caplog.messages) == ("through", [])
        assert ask(0.85, "/train") == "through"
        assert "LimitNOFILE" in caplog.messages[-1]
        assert ask(0.95, "/train") == 503
        assert ask(0.95, "/_stcore/stream", "websocket") == "closed"
        assert ask(0.95, "/_stcore/health", accept="*/*") == "through"
        assert ask(0.95, "/static/js/a.js", accept="*/*") == "through"
    finally:
        for file in files:
            file.close()


def connection(cookie: str = "", address: str = "127.0.0.1") -> dict[str, Any]:
    """A websocket of a browser with this cookie."""
    headers = [(b"cookie", f"rankviz_visitor={cookie}".encode())] if cookie else []
    return {"type": "websocket", "headers": headers, "client": (address, 1)}


def test_behind_a_proxy_the_addresses_of_browsers_have_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def party(forwarded: str) -> Any:
        headers = [(b"x-forwarded-for", forwarded.encode())]
        return paced._session(HTTPConnection(connection() | {"headers": headers})).parties

    async def application(scope: Any, receive: Any, send: Any) -> None:
        """Answer nothing."""

    paced = server.Paced(application)
    assert len(party("192.0.2.5")) == 1, "without the setting the header has no meaning"
    monkeypatch.setenv("RANKVIZ_BEHIND_PROXY", "1")
    one, same, other = party("192.0.2.5"), party("198.51.100.1, 192.0.2.5"), party("192.0.2.6")
    assert one[1] is same[1]
    assert one[1] is not other[1]


def test_a_session_that_floods_waits_while_others_send_too(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits, through = [0.0], list[tuple[str, float]](), list[str]()
    several = list[tuple[int, float]]()
    monkeypatch.setattr(server, "leave_cores_to_others", lambda *told: several.append(told))

    async def application(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(scope["messages"]):
            through.append(f"{scope['name']}: {await receive()}")

    async def session(name: str, messages: int, every: float) -> None:
        due = clock[0]

        async def receive() -> Any:  # messages are sent at their times, and those that wait come at once
            nonlocal due
            due += every
            clock[0] = max(clock[0], due)
            return {"name": name, "bytes": bytes(2_000_000 if name == "large" else 20)}

        async def sleep(seconds: float) -> None:
            waits.append((name, seconds))
            clock[0] += seconds

        paced._sleep = sleep
        await paced(connection(name) | {"name": name, "messages": messages}, receive, None)  # type: ignore[arg-type]

    paced = server.Paced(application, lambda: clock[0], running=list)
    asyncio.run(session("alone", 200, 0.1))
    assert (len(through), waits) == (200, []), "nobody else waits for it"
    assert several == [], "fits of the only visitor use all cores"
    other = server._Session(server._Party())
    other.latest = math.inf
    paced._sessions.add(other)
    asyncio.run(session("quick", 200, 0.6))
    assert waits == [], "a person who moves controls all the time does not wait"
    assert set(several) == {(1, server.FLOOD_SECONDS)}, "fits of two visitors may use one core each"
    asyncio.run(session("flood", 200, 0.1))
    seconds = [one for _, one in waits]
    assert seconds[0] == pytest.approx(server.WAIT)
    assert seconds[:5] == sorted(seconds[:5]), "the more it sends, the longer it waits"
    assert len(seconds) < 20, "instead of 190 scripts, about one each 4 s"
    waits.clear()
    asyncio.run(session("burst", 500, 0.0))
    assert [one for _, one in waits] == [server.WAIT], "what came meanwhile passes together"
    asyncio.run(session("torrent", 2000, 0.04))
    assert max(one for _, one in waits) == server.LONGEST
    waits.clear()
    asyncio.run(session("large", 3, 6.0))
    assert len(waits) == 3, "a message of 2 MB counts as twenty"
    waits.clear()
    open_tab = paced._session(HTTPConnection(connection("tabs")))
    asyncio.run(session("tabs", 8, 0.01))
    asyncio.run(session("another browser", 8, 0.01))
    assert waits == []
    asyncio.run(session("tabs", 8, 0.01))
    assert waits, "tabs of one browser share the ten messages"
    del open_tab
    assert (paced._sessions, list(paced._parties)) == ({other}, []), "ended sessions are forgotten"


@pytest.mark.parametrize(
    ("cookies", "address"), [(True, "127.0.0.1"), (False, "192.0.2.66")], ids=["one browser", "one address"]
)
def test_sessions_of_one_visitor_or_address_take_turns_while_others_are_there(
    cookies: bool, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.001)
    running, at_once, began = list[Any](), list[int](), list[str]()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(2):  # the second message comes while the script of the first one runs
            await receive()
            began.append(scope["name"])
            running.append(scope[server.SESSION])
            at_once.append(len(set(running)))
        await asyncio.sleep(scope["seconds"])
        running[:] = [one for one in running if one is not scope[server.SESSION]]

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": b""}

    def opened(name: str, cookie: str, address: str, seconds: float) -> Any:
        scope = connection(cookie, address) | {"name": name, "seconds": seconds}
        return asyncio.create_task(paced(scope, receive, None))  # type: ignore[arg-type]

    async def serve(others: bool) -> None:
        for clear in (at_once, began):
            clear.clear()
        many = [opened(f"{k}", "many" if cookies else "", address, 0.05) for k in range(20)]
        if others:
            present.latest = time.monotonic()
            paced._sessions.add(present)
            many.append(opened("other", "other", "192.0.2.5", 0.5))
        await asyncio.gather(*many)

    present = server._Session(server._Party())
    paced = server.Paced(application, running=lambda: set(running))
    monkeypatch.setattr(server, "FLOOD", 1000)
    asyncio.run(serve(others=False))
    assert max(at_once) == 20, "nobody else waits for it"
    asyncio.run(serve(others=True))
    assert max(at_once) == server.TURNS + 1 == 4
    assert began.index("other") <= 2 * server.TURNS + 1, "another visitor does not wait"
    first = list(dict.fromkeys(one for one in began if one != "other"))
    assert first == [f"{k}" for k in range(20)], "who came first goes first"


def test_what_waited_is_not_passed_on_once_the_browser_has_left() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        with pytest.raises(OSError, match="left"):
            await send({"type": "websocket.send"})
        assert (await receive())["type"] == "websocket.disconnect", "else Streamlit logs a fault"

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": b""}

    async def send(_: Any) -> None:
        raise OSError("left")

    asyncio.run(server.Paced(application, running=list)(connection(), receive, send))  # type: ignore[arg-type]


def test_the_server_answers_others_between_the_messages_of_a_flood() -> None:
    other = list[int]()

    async def receive() -> Any:  # thousands of messages are here already
        return {"type": "websocket.receive", "bytes": b""}

    async def application(_: Any, receive: Any, send: Any) -> None:
        for _ in range(100):
            await receive()

    async def serve() -> None:
        flood = asyncio.create_task(server.Paced(application, running=list)(connection(), receive, None))  # type: ignore[arg-type]
        while not flood.done():
            other.append(1)
            await asyncio.sleep(0)

    asyncio.run(serve())
    assert len(other) > 80


def test_messages_of_browsers_are_bounded() -> None:
    ours, smaller = uvicorn.Config(print, ws_max_size=200 << 20), uvicorn.Config(print, ws_max_size=5)
    ours.load()
    bound_messages()
    assert (ours.ws_max_size, smaller.ws_max_size) == (MESSAGE_BYTES, 5)
    assert ours.ws_protocol_class is BoundedFrames
    assert ours.http_protocol_class is BoundedHeads


class _Wire:
    """A connection that keeps what is written."""

    def __init__(self) -> None:
        self.written, self.closed = list[bytes](), False
        self.write, self.is_closing = self.written.append, lambda: self.closed
        self.pause_reading = self.resume_reading = lambda: None

    def abort(self) -> None:
        self.closed = True

    close = abort

    def get_extra_info(self, name: str) -> Any:
        return None


def _frame(first: int, data: bytes = b"") -> bytes:
    """Return a frame of a browser, with a mask of zeros."""
    return bytes([first, 0x80 | len(data), 0, 0, 0, 0]) + data


@pytest.mark.parametrize(
    ("frame", "first"), [(0x89, b""), (0x8A, b""), (0x00, _frame(0x02, b"a"))], ids=["ping", "pong", "piece"]
)
def test_a_connection_with_very_many_small_frames_is_closed(frame: int, first: bytes) -> None:
    async def closed_after() -> tuple[bool, bool, int]:
        uvicorn_config = uvicorn.Config(print, ws_ping_interval=None)
        uvicorn_config.load()
        protocol, wire = BoundedFrames(uvicorn_config, ServerState(), {}), _Wire()
        protocol.connection_made(wire)  # type: ignore[arg-type]
        protocol.conn.state, protocol.conn.parser = State.OPEN, protocol.conn.parse()
        next(protocol.conn.parser)
        protocol.data_received(first + MOST_FRAMES * _frame(frame))
        before = wire.closed
        protocol.data_received(200_000 * _frame(frame))
        return before, wire.closed, len(wire.written)

    before, after, answers = asyncio.run(closed_after())
    assert (before, after) == (False, True)
    assert answers <= MOST_FRAMES


def test_a_connection_with_a_very_long_head_is_closed() -> None:
    """uvicorn joins its pieces as long as they come."""

    async def answers_to(*pieces: bytes) -> tuple[bool, bytes]:
        uvicorn_config = uvicorn.Config(print)
        uvicorn_config.load()
        protocol, wire = BoundedHeads(uvicorn_config, ServerState(), {}), _Wire()
        protocol.connection_made(wire)  # type: ignore[arg-type]
        for piece in pieces:
            protocol.data_received(piece)
        return wire.closed, b"".join(wire.written)

    begin, piece = b"GET /?a=" + LONGEST_ADDRESS * b"a" + b" HTTP/1.1\r\nhost: x\r\na: ", 1000 * b"a"
    assert asyncio.run(answers_to(begin, *[piece] * 800)) == (False, b"")
    closed, said = asyncio.run(answers_to(begin, *[piece] * 900))
    assert closed
    assert b"400" in said
    assert b"too long" in said


def test_sessions_kept_for_a_return_end_when_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[str]()

    def manager(seconds: int) -> WebsocketSessionManager:
        storage = MemorySessionStorage(ttl_seconds=seconds)
        session = SimpleNamespace(id=f"{seconds} s", shutdown=lambda: ended.append(session.id))
        storage.save(SessionInfo(client=None, session=session, script_run_count=1))  # type: ignore[arg-type]
        return WebsocketSessionManager(storage, None, None, None)  # type: ignore[arg-type]

    for seconds in (100, 0):
        kept = SimpleNamespace(_session_mgr=manager(seconds))
        monkeypatch.setattr(server.runtime, "get_instance", lambda kept=kept: kept)
        end_left_sessions()
        end_left_sessions()
    assert ended == ["0 s"]


def test_a_fault_in_one_turn_does_not_end_what_the_server_does_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turns = list[int]()

    async def turn() -> None:
        turns.append(1)
        raise LookupError

    async def serve() -> None:
        async with data_serving.free_memory(SimpleNamespace()):
            while len(turns) < 2:
                await asyncio.sleep(0.01)

    monkeypatch.setattr(data_serving, "LOOK_SECONDS", 0)
    monkeypatch.setattr(data_serving, "_free_and_continue", turn)
    asyncio.run(asyncio.wait_for(serve(), 10))
    assert "tries again" in caplog.messages[-1]


def test_the_server_has_our_additions() -> None:
    kinds = [one.cls for one in served.middleware]
    assert kinds.index(Headers) < kinds.index(SameOrigin) < kinds.index(FewFiles) < kinds.index(server.Paced)
    assert kinds.index(server.Paced) < kinds.index(PageMessages), "ignored messages count as a flood, too"
    assert kinds.index(Headers) < kinds.index(Assets), "compressed files have the security headers, too"


def passed_on(*messages: BackMsg | bytes) -> tuple[list[Any], float]:
    """The messages that reach Streamlit, and the seconds that it takes."""
    sent = [one if isinstance(one, bytes) else one.SerializeToString() for one in messages]
    waiting = [{"type": "websocket.receive", "bytes": one} for one in sent]
    waiting += [{"type": "websocket.receive", "text": "not bytes"}] * 2
    found = list[Any]()

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect"}

    async def application(_: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            found.append(message["bytes"])

    began = time.monotonic()
    asyncio.run(PageMessages(application)({"type": "websocket"}, receive, None))  # type: ignore[arg-type]
    return [sent.index(one) for one in found], time.monotonic() - began


def names(number: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend(["a"] * number)
    return message


def test_messages_that_no_page_sends_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    kinds = ("clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime")
    others = [BackMsg(**{kind: True}) for kind in kinds]
    skills = BackMsg()
    skills.backend_operation_request.install_skills.SetInParent()
    rerun = BackMsg()
    rerun.rerun_script.query_string = "m=5"
    found, _ = passed_on(
        *others, skills, names(MOST_NAMES + 1), rerun, BackMsg(app_heartbeat=True), b"\xff", *[b""] * 9
    )
    assert found == [6, 7, 8], "Streamlit itself ends what is no message"
    long = BackMsg(rerun_script=ClientState(fragment_id="f" * 1000))
    assert passed_on(rerun, long, rerun)[0] == [0, 0], "Streamlit would log its whole name"
    many = BackMsg()
    many.rerun_script.widget_states.widgets.extend(WidgetState(id="a") for _ in range(MOST_STATES + 1))
    hashes = BackMsg(rerun_script=ClientState(cached_message_hashes=["a"] * (MOST_STATES + 1)))
    assert passed_on(many, hashes, rerun)[0] == [2], "a session would keep them: 44 MB of 8 MB"
    large = BackMsg()
    large.rerun_script.widget_states.widgets.extend(
        WidgetState(id="a", string_value="x" * 2000) for _ in range(MOST_STATES)
    )
    assert passed_on(large, rerun)[0] == [1], "20 sessions would keep 171 MB"
    for kind, name in (("deferred_file", "file_id"), ("dataframe_chunk", "source_id")):
        asked, about_request = BackMsg(), BackMsg()
        setattr(getattr(asked.backend_operation_request, kind), name, "f" * 1000)
        about_request.backend_operation_request.request_id = "r" * 1000
        assert passed_on(asked, about_request, rerun)[0] == [2], "nor these"
    about = (("url", 200_000), ("locale", 500), ("timezone", 500))
    for name, most in about:
        fits, beyond = BackMsg(), BackMsg()
        setattr(fits.rerun_script.context_info, name, "x" * most)
        setattr(beyond.rerun_script.context_info, name, "x" * (most + 1))
        assert passed_on(beyond, fits)[0] == [1], name
    lists = [BackMsg(), BackMsg()]
    for number, one in enumerate(lists):
        texts = one.rerun_script.widget_states.widgets.add(id="a").string_array_value.data
        texts.extend([""] * (50_000 + number))
    assert passed_on(*lists)[0] == [0]
    assert len(caplog.messages) == 26, "each kind once: a flood does not fill the log"


def test_every_lecture_that_fits_a_link_passes_and_no_longer_address() -> None:
    texts = ["".join(map(chr, np.random.default_rng(k).integers(0x4E00, 0x9FFF, 1000))) for k in range(60)]
    lecture = Sequence("", tuple(View("train", {}, text) for text in texts)).packed()
    assert len(Sequence.unpacked(lecture).views) == 60, "almost nothing of it can be compressed"
    found = [BackMsg(), BackMsg()]
    found[0].rerun_script.query_string = f"seq={lecture}&at=1&v=2&C=-4"
    found[1].rerun_script.query_string = "a" * 200_001
    assert passed_on(*found)[0] == [0]


def test_costly_messages_of_a_session_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "COSTLY_SECONDS", 0.2)
    file = BackMsg()
    file.backend_operation_request.deferred_file.file_id = "1"
    rerun = BackMsg(stop_script=True)
    assert passed_on(file, rerun, rerun)[1] < 0.2
    found, seconds = passed_on(names(MOST_NAMES), rerun, file)
    assert found == [0, 1, 2]
    assert seconds >= 0.2


def test_the_log_has_little_of_faults_that_quote_long_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    logged, before = io.StringIO(), logging.getLogRecordFactory()
    lines = io.StringIO()
    logger = logging.getLogger("streamlit.error_util")
    monkeypatch.setattr(logger, "handlers", [logging.StreamHandler(logged)])
    server._traced.clear()
    bound_log()
    try:
        other = logging.Logger("other")
        other.addHandler(logging.StreamHandler(lines))
        other.warning("No page %s", "a\nWARNING all is lost\r" + "x" * 100_000)
        assert lines.getvalue().count("\n") == 1, "foreign text makes no lines"
        assert len(lines.getvalue()) < 11_000
        for number in range(MOST_FAULTS + 5):
            _log_uncaught_app_exception(KeyError(f"{number} " + "x" * 100_000))
            if not number:
                assert len(logged.getvalue()) < 20_000
    finally:
        logging.setLogRecordFactory(before)
        server._traced.clear()
    assert logged.getvalue().count("KeyError: '") == MOST_FAULTS, "further ones are named"
    assert logged.getvalue().endswith(5 * "Uncaught app execution\nKeyError\n")
    assert config.get_option("logger.enableRich") is False, "it takes minutes to colour such a text"


FORGED: dict[str, dict[str, Any]] = {
    "string_value": {"string_value": "unknown"},
    "double_array_value": {"double_array_value": DoubleArray(data=[math.nan])},
    "bool_value": {"int_value": 99},
}


@pytest.mark.parametrize("kind", FORGED)
def test_what_a_control_cannot_have_is_a_sentence_and_its_first_value(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)
    refuse_impossible_values()
    app = open_page("train", m=5, c=-3)
    sent = app._tree.get_widget_states()
    of_kind = [state for state in sent.widgets if state.WhichOneof("value") == kind]
    for state in of_kind:
        state.CopyFrom(WidgetState(id=state.id, **FORGED[kind]))
    app._run(sent)
    assert of_kind
    is_told = REFUSED_WORDS in [one.value for one in app.warning]
    assert is_told == (kind != "string_value"), "a menu's value may have been an option of other data"
    assert not app.exception
    assert not app.code, "no details of a fault"
    app.run()
    assert REFUSED_WORDS not in [one.value for one in app.warning]


@pytest.mark.parametrize(
    "selection", ['{"rows": []}', '{"points": [null], "point_indices": [], "box": []}', "[]"]
)
def test_a_selection_without_its_lists_is_an_empty_one(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, selection: str
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)
    refuse_impossible_values()
    app = open_page("train", m=5)
    sent = app._tree.get_widget_states()
    charts = [one.proto.id for one in app.get("plotly_chart") if one.proto.id.endswith("ranked-list")]
    assert charts
    for chart in charts:
        sent.widgets.append(WidgetState(id=chart, string_value=f'{{"selection": {selection}}}'))
    app._run(sent)
    assert not app.exception
    assert not app.code
    assert REFUSED_WORDS in [one.value for one in app.warning]


def test_browsers_send_whole_numbers_to_fields_of_numbers(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)
    refuse_impossible_values()
    app = open_page("train", m=5)
    sent = app._tree.get_widget_states()
    seed = next(state for state in sent.widgets if state.id.endswith("-seed"))
    seed.CopyFrom(WidgetState(id=seed.id, int_value=3))
    for _ in range(2):
        app._run(sent)
    assert app.number_input(key="seed").value == 3
    assert REFUSED_WORDS not in [one.value for one in app.warning]


@pytest.mark.parametrize("page", ["sweep", "compare", "runs"])
def test_no_page_fails_by_what_none_of_its_controls_can_have(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)
    refuse_impossible_values()
    app = open_page(page)
    whole = app._tree.get_widget_states()
    assert whole.widgets
    for forged in [*FORGED.values(), {"int_array_value": SInt64Array(data=[-1])}]:
        sent = WidgetStates(widgets=[WidgetState(id=state.id, **forged) for state in whole.widgets])
        app._run(sent)
        assert not app.exception, forged
        assert not app.code, forged
