"""Settings of the server: headers of every answer, and libraries that the garbage collector skips.

Other sites cannot frame the app, and pages fetch from no other host. Streamlit sets no such headers, but an
app can add them (`app.py`). The browser enforces them. So even a text shown as HTML by mistake can fetch
nothing. See docs/decisions/0022-security-in-the-browser.md.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import math
import os
import socket
import time
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import uvicorn
from google.protobuf.message import DecodeError
from starlette.requests import HTTPConnection
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import Serialized, Value, WStates
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from rankviz.common.parallel import leave_cores_to_others
from ui.shell import words
from ui.shell.visitors import COOKIE, address_of

LOG = logging.getLogger("rankviz.server")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = {
    "default-src": "'self'",
    # Streamlit's page, the documentation and ui/shell/visitors.py have inline scripts
    "script-src": "'self' 'unsafe-inline'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
"""Policy for our pages: allowed sources, scripts and frames."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # the address contains what a visitor looks at
}
_ENCODED = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}


class Headers:
    """Adds `HEADERS` to the answers of an application, and replaces its own."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer, and add the headers to the start of each answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() not in _ENCODED]
                message["headers"] = [*others, *_ENCODED.items()]
            await send(message)

        await self._application(scope, receive, send_with_headers)


METRICS, METRICS_ENVIRONMENT = "/_stcore/metrics", "RANKVIZ_METRICS"
"""Path of Streamlit's counts of sessions and memory; it answers only if the variable is set."""
_CHANGES = ("POST", "PUT", "PATCH", "DELETE")


class SameOrigin:
    """Refuses sessions and changes that a page of another origin requests, and Streamlit's counts.

    Streamlit accepts every port of this machine's name: any other app there could open sessions with a
    visitor's cookie. Origins in `server.corsAllowedOrigins` stay allowed.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer, or answer with status 403 or 404."""
        foreign = scope["type"] == "websocket" or scope.get("method") in _CHANGES
        if foreign and not _is_own(scope):
            await _refuse(scope, receive, send, 403)
        elif str(scope.get("path", "")).endswith(METRICS) and not os.environ.get(METRICS_ENVIRONMENT):
            await _refuse(scope, receive, send, 404)
        else:
            await self._application(scope, receive, send)


def _is_own(scope: Message) -> bool:
    """Return True if the request names no origin, this host and port, or an origin that the server allows."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin = headers.get(b"origin")
    if origin is None or not config.get_option("server.enableCORS"):  # browsers always name it
        return True
    allowed = {one.strip() for one in config.get_option("server.corsAllowedOrigins")}
    try:
        return urlsplit(origin).netloc == headers.get(b"host") or origin in allowed
    except ValueError:  # such as "http://["
        return False


async def _refuse(scope: Message, receive: Receive, send: Send, status: int, why: str = "") -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: status 403
    else:
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": why.encode()})


_PLAIN = ("rerun_script", "stop_script", "app_heartbeat")
_COSTLY = ("file_urls_request", "deferred_file", "dataframe_chunk")
"""Kinds of messages of our pages' browsers; a session waits before each costly one but the first."""
COSTLY_SECONDS = 0.5
MOST_NAMES = 2000
"""Most files of one upload for which a browser may ask for addresses."""
LONGEST_NAME = 500
"""Most letters of the name of a page, fragment, request, language or time zone."""
LONGEST_ADDRESS = 200_000
"""Most letters of an address, and of its parameters: no lecture that fits a link is longer when packed."""
_LISTS = ("string_array_value", "int_array_value", "double_array_value")
_NUMBERS = ("int_value", "double_value")  # a field of whole numbers declares the second, and sends the first
MOST_VALUES = 50_000
"""Most values in the lists of all controls: millions would take 16 times the bytes of their message."""
MOST_STATES, STATE_BYTES = 2000, 2_500_000
"""Most states of controls, also names of large messages that a browser holds, and most bytes of the states: a
session keeps them. The largest state is a box around points of a figure: 7,000 queries have about 2 MB."""


class PageMessages:
    """Passes on only messages that browsers of our pages send, and costly ones one after the other.

    Streamlit lets any visitor empty the caches of all. It makes addresses for any number of files while all
    others wait, and a file for each request to download one.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer, without the other messages."""
        if scope["type"] != "websocket":
            await self._application(scope, receive, send)
            return
        last, told = -math.inf, set[str]()

        async def receive_wanted() -> Message:
            nonlocal last
            while True:
                message = await receive()
                kind = _kind_of(message)
                if kind in _COSTLY:
                    await asyncio.sleep(last + COSTLY_SECONDS - time.monotonic())
                    last = time.monotonic()
                if kind in ("", *_PLAIN, *_COSTLY):
                    return message
                if kind not in told:  # once a session: a flood must not fill the log
                    told.add(kind)
                    LOG.warning("A browser sent a message that no page sends (%s); it is ignored.", kind)
                del message  # else its 3 MB stay until the next one

        await self._application(scope, receive_wanted, send)


def _kind_of(received: Message) -> str:
    """Return the kind of a message; "" for others of the protocol, and for what Streamlit refuses."""
    if received["type"] != "websocket.receive":
        return ""
    if received.get("bytes") is None:
        return "text"
    try:
        message = BackMsg.FromString(received["bytes"])
    except DecodeError:
        return ""
    kind = message.WhichOneof("type") or "empty"
    rerun, about = message.rerun_script, message.rerun_script.context_info
    names = (rerun.fragment_id, rerun.page_script_hash, rerun.page_name, about.locale, about.timezone)
    files, other = message.file_urls_request, message.backend_operation_request
    longest = max(map(len, (*names, files.request_id, files.session_id)))
    if max(longest, other.ByteSize()) > LONGEST_NAME:
        return "a long name"  # Streamlit would write it to the log
    if max(len(rerun.query_string), len(about.url)) > LONGEST_ADDRESS:
        return "a long address"
    if rerun.widget_states.ByteSize() > STATE_BYTES:
        return "large states"
    if max(len(rerun.widget_states.widgets), len(rerun.cached_message_hashes)) > MOST_STATES:
        return "too many states"
    lists = (getattr(one, kind).data for one in rerun.widget_states.widgets for kind in _LISTS)
    if sum(map(len, lists)) > MOST_VALUES:
        return "too many values"
    if kind == "backend_operation_request":
        return other.WhichOneof("payload") or kind
    return "too many names" if len(files.file_names) > MOST_NAMES else kind


FILES = 65_536
"""Open files and connections that a server may have; each session takes four: its connection, and three of an
event loop that Streamlit makes for it."""
WARNED, FULL = 0.8, 0.9
"""Shares of the limit of open files that make the server warn, and refuse new sessions."""
WARN_SECONDS = 60.0


class FewFiles:
    """Refuses new sessions before no more files can be opened, so that open pages, jobs and workers go on."""

    def __init__(self, application: Application) -> None:
        self._application, self._warned = application, -math.inf

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer, or answer with status 503."""
        taken = _share_of_files() if _opens_session(scope) else 0.0
        if taken > WARNED and time.monotonic() - self._warned > WARN_SECONDS:
            self._warned = time.monotonic()
            LOG.warning("%.0f %% of the files that may be open are: raise LimitNOFILE.", 100 * taken)
        if taken > FULL:
            await _refuse(scope, receive, send, 503, words.TOO_MANY_SESSIONS)
        else:
            await self._application(scope, receive, send)


def _opens_session(scope: Message) -> bool:
    """Return True for a websocket, and for a page that will open one."""
    accepted = dict(scope.get("headers", ())).get(b"accept", b"")
    return scope["type"] == "websocket" or (scope["type"] == "http" and b"text/html" in accepted)


def _share_of_files() -> float:
    """Return the share of the limit of open files that is taken; 0 on systems without such a limit."""
    try:
        import resource

        return len(os.listdir("/dev/fd")) / resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except (ImportError, OSError) as error:
        return 1.0 if getattr(error, "errno", None) == errno.EMFILE else 0.0


FLOOD, FLOOD_SECONDS, WAIT, LONGEST = 10, 5.0, 0.004, 5.0
"""Messages of one visitor within so many seconds that never wait, the wait of the first further one in
seconds, which grows with the square of their number, and the longest wait."""
TOGETHER = 0.03
"""Seconds for which messages that waited pass together."""
LARGE = 100_000
"""Bytes of a message that count as one message more: to read 4 MB takes 0.05 s, while all others wait."""
TURNS, TURN_SECONDS, LOOK_SECONDS = 3, 2.0, 0.02
"""Scripts of one visitor, and of one address, that run at once while others are there; seconds after which a
script counts no longer; seconds between two looks for a free turn."""
PRESENT_SECONDS = 60.0
"""Seconds after its last message for which a session counts as there."""
SESSION = "rankviz.session"
"""Key of a connection's scope: its session here."""


class _Party:
    """A visitor or a network address: times of messages, and a lock that gives turns in their order."""

    def __init__(self) -> None:
        self.sent, self.turn = deque[float](), asyncio.Lock()


class _Session:
    """A connection: the visitor, the address if known, and the times of its last message and turn."""

    def __init__(self, *parties: _Party) -> None:
        self.parties, self.latest, self.turned, self.left = parties, -math.inf, -math.inf, False


def _running() -> Iterator[_Session]:
    """Yield the sessions whose scripts Streamlit runs now."""
    for found in runtime.get_instance()._session_mgr.list_active_sessions():
        if found.session._scriptrunner is not None:
            yield found.client._websocket.scope[SESSION]  # type: ignore[attr-defined]


class Paced:
    """Lets visitors who send very often wait while others send too, so that one cannot take the server.

    All sessions of one browser are one visitor. While others are there, a few scripts of a visitor, and of
    an address, run at once: the others take turns. Messages that arrive while a session waits pass together.
    Streamlit runs the script once for all of them. Where as many send as there are cores, a fit stays in the
    thread of its script: with ten visitors on two cores, it took 0.20 s with two threads and 0.14 s with one.
    """

    def __init__(
        self,
        application: Application,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        running: Callable[[], Iterable[_Session]] = _running,
    ) -> None:
        self._application, self._clock, self._sleep, self._running = application, clock, sleep, running
        self._parties = WeakValueDictionary[object, _Party]()
        self._sessions = set[_Session]()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer; the messages of a session may wait."""
        if scope["type"] != "websocket":
            await self._application(scope, receive, send)
            return
        session, passed = self._session(HTTPConnection(scope)), -math.inf
        visitor = session.parties[0]

        async def receive_paced() -> Message:
            nonlocal passed
            message = await receive()
            now = session.latest = self._clock()
            visitor.sent.extend([now] * (1 + len(message.get("bytes") or b"") // LARGE))
            while visitor.sent[0] < now - FLOOD_SECONDS:
                visitor.sent.popleft()
            beyond, others = len(visitor.sent) - FLOOD, self._others(visitor, now - FLOOD_SECONDS)
            if others:
                leave_cores_to_others(others, FLOOD_SECONDS)
            if beyond > 0 and now > passed + TOGETHER and others:
                await self._sleep(min(LONGEST, WAIT * beyond**2))
                passed = self._clock()
            elif beyond > 0:  # else it answers nobody until all that have arrived are read
                await asyncio.sleep(0)
            if session not in self._with_turns():
                for party in session.parties:
                    await self._wait_for_turn(party)
                session.turned = self._clock()
            return {"type": "websocket.disconnect", "code": 1006} if session.left else message

        async def send_noted(message: Message) -> None:
            try:
                await send(message)
            except Exception:  # the browser has left: Streamlit fails if it gets what has waited
                session.left = True
                raise

        self._sessions.add(session)
        try:
            await self._application({**scope, SESSION: session}, receive_paced, send_noted)
        finally:
            self._sessions.remove(session)

    def _session(self, connection: HTTPConnection) -> _Session:
        """Return a session of the connection's visitor and address; without a cookie it is a new visitor."""
        client, cookie = connection.client, connection.cookies.get(COOKIE)
        seen, forwarded = client.host if client else None, connection.headers.getlist("X-Forwarded-For")
        address = address_of(seen, forwarded)
        visitor = self._parties.setdefault((COOKIE, cookie), _Party()) if cookie else _Party()
        return _Session(visitor, *([self._parties.setdefault(address, _Party())] if address else []))

    def _others(self, party: _Party, since: float) -> int:
        """Return the number of sessions of others that have sent since then."""
        return sum(party not in one.parties and one.latest > since for one in self._sessions)

    def _with_turns(self) -> list[_Session]:
        """Return the sessions whose scripts have run for a short time only."""
        since = self._clock() - TURN_SECONDS
        return [one for one in self._running() if one.turned > since]

    async def _wait_for_turn(self, party: _Party) -> None:
        """Wait until few scripts of a visitor or address run; those who came first go first."""
        async with party.turn:
            while sum(party in one.parties for one in self._with_turns()) >= TURNS:
                if not self._others(party, self._clock() - PRESENT_SECONDS):
                    break
                await self._sleep(LOOK_SECONDS)


def end_left_sessions() -> None:
    """End sessions that Streamlit kept for a return, once their time is over; call it now and then.

    Streamlit does so only when another session is closed. Until then they hold memory and files.
    """
    kept = runtime.get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    for _, found in kept.expire():
        found.session.shutdown()


def raise_file_limit() -> None:
    """Raise the limit of open files to the system's, and warn if that is low for a class.

    Beyond the limit no session opens and no worker starts.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < 4096:
        LOG.warning(
            "Only %d files may be open, enough for about %d sessions: raise LimitNOFILE.", most, most // 8
        )


def freeze_libraries() -> None:
    """Collect garbage once, after the first page, and make the collector skip all present objects.

    With the libraries in memory, a collection takes longer than many scripts. See
    docs/decisions/0030-streamlit-traps.md.
    """
    if _first_page.acquire(blocking=False):  # many visitors may end their first page at the same time
        gc.collect()
        gc.freeze()


_first_page = Lock()
"""Taken by the first page for ever."""


def look_up_single_values() -> None:
    """Let widgets look up their value in the session without a copy of all; call it while the server starts.

    Streamlit's menus and inputs copy every value of the session to look at one. On a page with 20 of them
    these copies take a tenth of the script.
    """
    SafeSessionState.filtered_state = property(_Values)  # type: ignore[assignment]


class _Values(Mapping[str, Any]):
    """The values of a session by the keys that scripts use; only iteration copies them."""

    def __init__(self, state: SafeSessionState) -> None:
        self._state, self._lock = state._state, state._lock

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._state

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            return self._state[key]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(self._state.filtered_state)

    def __len__(self) -> int:
        with self._lock:
            return len(self._state.filtered_state)


REFUSED = "value-refused"
"""Session key: a control has its start value, because the browser's was none that it can have."""


def refuse_impossible_values() -> None:
    """Give a control its start value where a browser sends none that it can have; call it at the start.

    Otherwise Streamlit fails outside the script, or the script does, and again at each later message.
    """
    read = WStates.__getitem__

    def checked(states: WStates, name: str) -> Any:
        sent, control = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(sent, Serialized) or control is None:
            return read(states, name)
        try:
            refused = not (_is_readable(control, sent.value) and _is_selection(control, sent.value))
            if not refused and _is_listed(control, sent.value):
                return read(states, name)
        except Exception:  # each kind of control has its own errors
            refused = True
            LOG.debug("A control cannot read its value.", exc_info=True)
        states.states[name] = Value(control.deserializer(None))
        if refused and (context := get_script_run_ctx()) is not None:
            context.session_state._state[REFUSED] = True  # others wait for the lock
        return states.states[name].value

    WStates.__getitem__ = checked  # type: ignore[method-assign]


def _is_readable(control: WidgetMetadata[Any], sent: WidgetState) -> bool:
    """Return True for a finite value of the control's type, or for none."""
    kind = sent.WhichOneof("value")
    if kind is None:  # empty
        return True
    value = unpack_widget_state_value(sent)
    finite = all(
        math.isfinite(one) for one in (value if kind in _LISTS else [value]) if isinstance(one, float)
    )
    types = _NUMBERS if kind in _NUMBERS else (kind,)
    return finite and control.value_type in (None, *types)


def _is_selection(control: WidgetMetadata[Any], sent: WidgetState) -> bool:
    """Return True if a selection in a figure or a table has its lists, of points or of row numbers."""
    if sent.WhichOneof("value") != "string_value":
        return True
    empty = control.deserializer(None)
    if not isinstance(empty, Mapping) or "selection" not in empty:
        return True
    found = control.deserializer(unpack_widget_state_value(sent))["selection"]
    kinds = {"points": dict, "rows": int}
    return all(
        isinstance(found[name], list) and all(isinstance(one, kinds.get(name, object)) for one in found[name])
        for name in empty["selection"]
    )


def _is_listed(control: WidgetMetadata[Any], sent: WidgetState) -> bool:
    """Return True if all values are options now; browsers still send what was one for other data."""
    kind, options = sent.WhichOneof("value"), control.formatted_options
    if options is None or kind is None or not kind.startswith("string"):
        return True
    value = unpack_widget_state_value(sent)
    return set(value if kind in _LISTS else [value]) <= set(options)


MOST_DOWNLOADS = 2 << 30
"""Most bytes of files for downloads; beyond them none is made."""


def bytes_of_downloads() -> int:
    """Return the bytes of all files that Streamlit keeps for browsers, until pages run or sessions end."""
    storage = runtime.get_instance().media_file_mgr._storage if runtime.exists() else None
    return sum(file.content_size for file in list(getattr(storage, "_files_by_id", {}).values()))


def send_at_once() -> None:
    """Make connections to this process send small messages at once; call it while the server starts.

    Streamlit's listening socket names no protocol, so asyncio does not switch Nagle's algorithm off. The end
    of each answer then waits about 40 ms for the browser. Connections inherit the option from the socket.
    """
    for found in gc.get_objects():
        if type(found) is socket.socket and found.fileno() >= 0 and _listens(found):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


MESSAGE_BYTES = 3 << 20
"""Largest message of a browser: states of its controls, and selections in figures."""


HEAD_BYTES = 1 << 20
"""Largest head of a request: its address, of at most `LONGEST_ADDRESS`, and its headers."""


def bound_messages() -> None:
    """Bound messages, frames and heads of browsers, for connections from now on; call it at the start.

    Streamlit takes messages of 200 MB, as for its own, and uvicorn heads without end: a few visitors who
    never end theirs would fill the memory.
    """
    for found in gc.get_objects():
        if type(found) is uvicorn.Config:
            if getattr(found, "http_protocol_class", None) is HttpToolsProtocol:
                found.http_protocol_class = BoundedHeads
            found.ws_max_size = min(found.ws_max_size, MESSAGE_BYTES)
            if getattr(found, "ws_protocol_class", None) is WebSocketsSansIOProtocol:
                found.ws_protocol_class = BoundedFrames


class BoundedHeads(HttpToolsProtocol):
    """Closes a connection that sends a very long head."""

    _in_head, _length = False, 0

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and count it if its head has not ended."""
        super().data_received(data)
        self._length += len(data) if self._in_head else 0
        if self._length > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The address or the headers are too long.")

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._in_head, self._length = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """End a head."""
        self._in_head, self._length = False, 0
        super().on_headers_complete()


MOST_FRAMES, FRAMES_SECONDS, SLICE = 1000, 10.0, 8192
"""Most pings, pongs and further pieces of messages of a connection within so many seconds, and bytes that are
read at once. Browsers send no pings, and a message of 3 MB in 50 pieces or less."""


class BoundedFrames(WebSocketsSansIOProtocol):
    """Closes a connection that sends very many pings or pieces of messages.

    They reach no `Application`: uvicorn answers pings and joins pieces itself, while all others wait.
    """

    _began, _frames = -math.inf, 0

    def data_received(self, data: bytes) -> None:
        """Read frames a few at a time, until the connection is closed."""
        for start in range(0, len(data), SLICE):
            if not self.transport.is_closing():
                super().data_received(data[start : start + SLICE])

    def handle_cont(self, event: Frame) -> None:
        """Keep a further piece of a message."""
        if self._within_bounds(len(self.frames)):
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer a ping."""
        if self._within_bounds():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Note the answer to a ping."""
        if self._within_bounds():
            super().handle_pong(event)

    def _within_bounds(self, pieces: int = 0) -> bool:
        """Count a frame; close the connection and return False beyond `MOST_FRAMES`."""
        if self.loop.time() > self._began + FRAMES_SECONDS:
            self._began, self._frames = self.loop.time(), 0
        self._frames += 1
        if max(self._frames, pieces) > MOST_FRAMES:
            self.transport.abort()
        return not self.transport.is_closing()


MOST_LOGGED = 10_000
"""Most letters of a message or traceback in the log: the text of an error may quote a message of 4 MB."""
MOST_FAULTS, FAULTS_SECONDS = 20, 60.0
"""Most tracebacks in the log within so many seconds; of further errors it has the kind only."""
_traced = deque[float](maxlen=MOST_FAULTS)


class _Record(logging.LogRecord):
    """A record of the log of one line and a traceback, both cut, so that a flood does not fill the disk."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        if self.exc_info and self.exc_info[1] is not None:
            if len(_traced) == MOST_FAULTS and self.created - _traced[0] < FAULTS_SECONDS:
                self.exc_text = type(self.exc_info[1]).__name__
                return
            _traced.append(self.created)
            text = "".join(traceback.format_exception(self.exc_info[1]))
            self.exc_text = text[:MOST_LOGGED] + " …" * (len(text) > MOST_LOGGED)

    def getMessage(self) -> str:
        """Return the message in one line: foreign text in it cannot look like lines of its own."""
        text = super().getMessage()
        return text[:MOST_LOGGED].replace("\r", "\\r").replace("\n", "\\n") + " …" * (len(text) > MOST_LOGGED)


def bound_log() -> None:
    """Cut messages and tracebacks in the log, from now on; call it while the server starts."""
    logging.setLogRecordFactory(_Record)


def _listens(one: socket.socket) -> bool:
    """Return True for a socket that accepts connections over TCP."""
    over_tcp = one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM
    return over_tcp and bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
