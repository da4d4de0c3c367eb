"""A visitor of a Streamlit app without a browser, so that the load test measures the server alone.

A Chromium context takes 6 s of processor time and 180 MB to open Home; on two cores, 30 of them have no
figure after three minutes. A visitor takes 0.06 s. It does what costs the server something, as Chromium does
it: it fetches the files of Streamlit's frontend over six connections, opens a session over the websocket with
its cookies, and sends with every rerun the address, the states of the widgets that it moved, and what it
holds of large messages. It runs fragments again at their intervals.

It draws nothing, sends a move at once, where a browser waits up to 0.2 s for more, and does not reconnect.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit
import urllib3
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"
FIGURE = "plotly_chart"
CONNECTIONS = 6
"""A browser opens so many to one server at once."""
RUNS_KEPT = 2
"""Runs of the script for which a browser keeps a large message."""
FONTS = ("SourceSansVF-Upright", "SourceCodeVF-Upright", "MaterialSymbols")
_COOKIE = re.compile(r'document\.cookie = "([^=";]+)=([^";]+)')
_ADDED = re.compile(r'told\.has\("(\w+)"\).*"\1=([^"]*)"', re.DOTALL)
"""A parameter that a script of the page adds to the address (`ui/controls/link.py`)."""


# files of the frontend ------------------------------------------------------------------------------------


_MANIFEST = json.loads((Path(streamlit.__file__).parent / "static" / "manifest.json").read_text())


@cache
def files_of(kind: str = "") -> tuple[str, ...]:
    """Return the files that a browser loads for the first element of a kind; "" for the page itself."""
    if not kind:
        entry = _MANIFEST["index.html"]
        fonts = [name for name in entry["assets"] if Path(name).name.startswith(FONTS)]
        return (*_with_imports("index.html"), *entry["css"], *fonts)
    for source in _MANIFEST:
        if "/components/" in source and Path(source).stem.lower() == kind.replace("_", ""):
            return _with_imports(source)
    return ()


def _with_imports(source: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [source]
    while waiting:
        one = _MANIFEST[waiting.pop()]
        if one["file"] not in found:
            found[one["file"]] = None
            waiting += one.get("imports", [])
    return tuple(found)


# the page -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """An element of the page, the run of the script that drew it last, its fragment and its script."""

    element: Element
    run: str
    fragment: str
    script: str

    @property
    def kind(self) -> str:
        return self.element.WhichOneof("type") or ""

    @property
    def proto(self) -> Any:
        return getattr(self.element, self.kind)

    @property
    def id(self) -> str:
        """Return the id of the widget, or ""."""
        return getattr(self.proto, "id", "") if self.kind else ""

    @property
    def errors(self) -> list[str]:
        """Return what an element says that went wrong."""
        if self.kind == "exception":
            return [f"{self.proto.type}: {self.proto.message}"]
        wrong = (self.kind == "toast" and "error" in self.proto.icon) or (
            self.kind == "alert" and self.proto.format == Alert.ERROR
        )
        return [self.proto.body] if wrong else []


class Page:
    """The page of one session: what a browser keeps of Streamlit's messages, and what it sends back.

    Attributes
    ----------
    query : dict
        Parameters of the address.
    states : dict
        Widget id -> its state, for widgets that were moved.
    timers : dict
        Fragment id -> seconds after which it runs again and again.
    pages : dict
        Title in the menu -> hash of its script.
    errors : Counter
        Text -> how often it was drawn.
    """

    def __init__(self, url: str, query: str = "", path: str = "") -> None:
        self._root, self._path, self.query = url, path, dict(parse_qsl(query))
        self.elements: dict[tuple[int, ...], Shown] = {}
        self.states: dict[str, WidgetState] = {}
        self.timers: dict[str, float] = {}
        self.pages: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        self.errors: Counter[str] = Counter()
        self.running, self._run, self._script, self._main = False, "", "", ""
        self._cached: dict[str, tuple[ForwardMsg, int, str]] = {}
        self._runs = 0

    def take(self, message: ForwardMsg) -> ForwardMsg:
        """Draw a message; return it, or the message that it refers to. Raises KeyError."""
        metadata = message.metadata
        if message.WhichOneof("type") == "ref_hash":
            kept, _, fragment = self._cached[message.ref_hash]
            self._cached[message.ref_hash] = kept, self._runs, fragment
            message = ForwardMsg.FromString(kept.SerializeToString())
            message.metadata.CopyFrom(metadata)
        elif metadata.cacheable:
            self._cached[message.hash] = message, self._runs, message.delta.fragment_id
        kind = message.WhichOneof("type")
        if draw := getattr(self, f"_take_{kind}", None):
            draw(getattr(message, kind), metadata)
        return message

    def widgets(self) -> dict[str, Shown]:
        """Return the widgets that are shown, by their keys."""
        shown = (one for one in self.elements.values() if one.id.startswith("$$ID-"))
        return {one.id.split("-", 2)[2]: one for one in shown}

    @property
    def title(self) -> str:
        """Return the title of the page that is shown, or ""."""
        return next((title for title, script in self.pages.items() if script == self._script), "")

    def value(self, key: str) -> float | str:
        """Return the value of a slider, or its word."""
        shown = self.widgets()[key]
        proto, state = shown.proto, self.states.get(shown.id)
        if proto.options:
            words = proto.raw_value if proto.set_value else [proto.options[int(at)] for at in proto.default]
            return str((state.string_array_value.data if state else words)[0])
        values = proto.value if proto.set_value else proto.default
        return float((state.double_array_value.data if state else values)[0])

    def rerun(self, fragment: str = "", *, auto: bool = False, script: str | None = None) -> BackMsg:
        """Return the request to run the script again, or a fragment of it."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = urlencode(self.query)
        asked.widget_states.widgets.extend(self.states.values())
        asked.page_script_hash = self._script if script is None else script
        asked.page_name = "" if asked.page_script_hash else self._path
        asked.fragment_id, asked.is_auto_rerun = fragment, auto
        asked.cached_message_hashes.extend(self._cached)
        about = asked.context_info
        about.timezone, about.locale, about.timezone_offset, about.is_embedded = "UTC", "en-US", 0, False
        about.url, about.color_scheme = f"{self._root}/{self._path}", "light"
        return message

    def press(self, key: str) -> BackMsg:
        """Press a button. Raises KeyError where it is not shown."""
        shown = self.widgets()[key]
        message = self.rerun(shown.fragment)
        message.rerun_script.widget_states.widgets.add(id=shown.id, trigger_value=True)
        return message

    def move(self, key: str, value: float | str) -> BackMsg:
        """Move a slider to a number, or to one of its words; the address follows. Raises KeyError."""
        shown = self.widgets()[key]
        state = self.states.setdefault(shown.id, WidgetState(id=shown.id))
        if isinstance(value, str):
            state.string_array_value.data[:] = [value]
            text, default = value, [shown.proto.options[int(place)] for place in shown.proto.default]
        else:
            state.double_array_value.data[:] = [value]
            text, default = f"{value:g}", [f"{at:g}" for at in shown.proto.default]
        if name := shown.proto.query_param_key:
            self.query.pop(name, None)
            self.query |= {name: text} if [text] != default else {}
        return self.rerun()

    def turn_to(self, title: str) -> BackMsg:
        """Go to another page of the app: only the frame of all pages stays."""
        self.timers.clear()
        self._keep(lambda shown: shown.script == self._main)
        bound = {getattr(shown.proto, "query_param_key", "") for shown in self.elements.values()}
        self.query = {name: text for name, text in self.query.items() if name in bound}
        return self.rerun(script=self.pages[title])

    def _keep(self, wanted: Callable[[Shown], bool]) -> None:
        """Drop the other elements, with the states of their widgets."""
        self.elements = {at: shown for at, shown in self.elements.items() if wanted(shown)}
        shown = {element.id for element in self.elements.values()}
        self.states = {name: state for name, state in self.states.items() if name in shown}

    def _take_new_session(self, session: Any, metadata: Any) -> None:
        self._run, self.running = metadata.run.script_run_id, True
        if not metadata.run.fragment_ids:
            self.timers.clear()
            self._script, self._main = session.page_script_hash, session.main_script_hash

    def _take_session_status_changed(self, status: Any, _: Any) -> None:
        self.running = status.script_is_running

    def _take_navigation(self, navigation: Any, _: Any) -> None:
        self.pages = {page.page_name: page.page_script_hash for page in navigation.app_pages}
        self._script = navigation.page_script_hash
        paths = {one.page_script_hash: one.url_pathname for one in navigation.app_pages if not one.is_default}
        self._path = paths.get(self._script, "")

    def _take_page_info_changed(self, info: Any, _: Any) -> None:
        self.query = dict(parse_qsl(info.query_string))

    def _take_auto_rerun(self, timer: Any, _: Any) -> None:
        self.timers[timer.fragment_id] = timer.interval

    def _take_stop_auto_rerun(self, stopped: Any, _: Any) -> None:
        for fragment in stopped.fragment_ids:
            self.timers.pop(fragment, None)

    def _take_delta(self, delta: Any, metadata: Any) -> None:
        if delta.WhichOneof("type") != "new_element":
            return
        at = tuple(metadata.delta_path)
        for below in [place for place in self.elements if place[: len(at)] == at]:
            del self.elements[below]
        shown = Shown(delta.new_element, self._run, delta.fragment_id, metadata.active_script_hash)
        self.elements[at] = shown
        if shown.id and getattr(shown.proto, "set_value", False):
            self.states.pop(shown.id, None)
        self.errors.update(shown.errors)
        for name, value in _ADDED.findall(delta.new_element.html.body):
            self.query.setdefault(name, value)
        self.cookies.update(_COOKIE.findall(delta.new_element.html.body))

    def _take_script_finished(self, status: int, metadata: Any) -> None:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        run, fragments = metadata.run.script_run_id, set(metadata.run.fragment_ids)
        self._keep(lambda one: one.run == run or (bool(fragments) and one.fragment not in fragments))
        self._runs += 1
        self._cached = {
            name: (message, last, fragment)
            for name, (message, last, fragment) in self._cached.items()
            if (fragments and fragment not in fragments) or self._runs - last <= RUNS_KEPT
        }


# the visitor ----------------------------------------------------------------------------------------------


@dataclass
class Request:
    """A visitor's actions, their times (`time.monotonic`), and seconds until the answers; nan: none yet.

    Attributes
    ----------
    figure, ended, rested : float
        The first figure; the end of the script; the time from which nothing runs, no fragment either.
    figures : list of float
        Every figure, in the order in which they came.
    """

    what: str
    sent: float
    figure: float = math.nan
    ended: float = math.nan
    rested: float = math.nan
    figures: list[float] = field(default_factory=list)


class Visitor:
    """One browser: its cookies and files outlive its visits. Use `open` and `close`, or `async with`.

    `address` is its own address on this machine.
    """

    def __init__(self, url: str, address: str = "127.0.0.1") -> None:
        self.url, self.page, self.broken = url, Page(url), False
        self._from = (address, 0)
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self._cookies: dict[str, str] = {}
        self._have: set[str] = set()
        self._socket: ClientConnection | None = None
        self._threads = ThreadPoolExecutor(CONNECTIONS)
        how: dict[str, Any] = {"maxsize": CONNECTIONS, "block": True, "timeout": 60}
        self._server = urllib3.connection_from_url(url, source_address=self._from, **how)
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._news = asyncio.Event()
        self._asked = self._begun = False

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def at_rest(self) -> bool:
        """Return whether no script runs and no fragment is waited for."""
        return not (self._asked or self.page.running or self.page.timers)

    async def open(self, query: str = "", path: str = "") -> Request:
        """Visit a page of the app, by default Home; returns once the session is asked for."""
        self.requests.append(Request("visit", time.monotonic()))
        self.failures, self.broken = [], False
        errors, self.page = self.page.errors, Page(self.url, query, path)
        self.page.errors = errors  # over all visits
        await self._fetch((f"{path}?{query}" if query else path,))
        await self._fetch(files_of())
        await self._fetch(("_stcore/health", "_stcore/host-config"))
        token = self._cookies.get("_streamlit_xsrf", "PLACEHOLDER_AUTH_TOKEN")
        self._socket = await connect(
            f"{self.url.replace('http', 'ws', 1)}/_stcore/stream",
            origin=Origin(self.url),
            subprotocols=[Subprotocol("streamlit"), Subprotocol(token)],
            additional_headers=self._cookie(),
            user_agent_header=AGENT,
            max_size=None,
            proxy=None,
            open_timeout=60,
            ping_interval=None,  # as browsers: they send none, and wait for a late server
            local_addr=self._from,
        )
        self._spawn(self._listen(self._socket))
        await self._send(self.page.rerun())
        return self.requests[-1]

    async def move(self, key: str, value: float | str) -> Request:
        """Move a slider of the sidebar; returns once the rerun is asked for."""
        return await self._ask(f"{key} = {value}", self.page.move(key, value))

    async def turn_to(self, title: str) -> Request:
        """Go to another page by the menu; returns once it is asked for."""
        message = self.page.turn_to(title)
        self._keep_time()
        return await self._ask(title, message)

    async def press(self, key: str) -> Request:
        """Press a button; returns once the rerun is asked for."""
        return await self._ask("press", self.page.press(key))

    async def until(self, true: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition holds, at most so many seconds; return whether it does."""
        deadline = time.monotonic() + seconds
        while not true() and not self.broken:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                break
        return true()

    async def rest(self, seconds: float) -> bool:
        """Wait until the page has come to rest."""
        return await self.until(lambda: self.at_rest, seconds)

    async def close(self) -> None:
        """Leave the page."""
        self._cookies |= self.page.cookies
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()
        self._socket = None
        self._timers.clear()
        self._asked = self._begun = False

    async def _ask(self, what: str, message: BackMsg) -> Request:
        self._begun = False
        self.requests.append(Request(what, time.monotonic()))
        await self._send(message)
        return self.requests[-1]

    async def _send(self, message: BackMsg) -> None:
        assert self._socket is not None
        self._asked = self._asked or not message.rerun_script.is_auto_rerun
        with contextlib.suppress(ConnectionClosed):  # the listener notes it
            await self._socket.send(message.SerializeToString())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(f"{type(error).__name__}: {error}")
            self.broken = True
            self._news.set()

    def _cookie(self) -> dict[str, str]:
        """Return the header with the cookies; empty without any."""
        told = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {"Cookie": told} if told else {}

    def _get(self, name: str) -> urllib3.BaseHTTPResponse:
        """Fetch a file in a thread. Raises OSError."""
        headers = {"User-Agent": AGENT, "Accept-Encoding": "gzip, deflate"} | self._cookie()
        try:
            answer = self._server.request("GET", f"/{name}", headers=headers, decode_content=False)
        except urllib3.exceptions.HTTPError as error:
            raise ConnectionError(str(error)) from error
        if answer.status != 200:
            raise ConnectionError(f"/{name} gave {answer.status}")
        return answer

    async def _fetch(self, files: tuple[str, ...]) -> None:
        """Fetch files that the browser does not hold, and keep the cookies that come with them."""
        missing = [name for name in files if name not in self._have]
        self._have.update(name for name in missing if name.startswith("static/"))
        run = asyncio.get_running_loop().run_in_executor
        for answer in await asyncio.gather(*(run(self._threads, self._get, name) for name in missing)):
            for cookie in answer.headers.getlist("set-cookie"):
                name, _, value = cookie.split(";")[0].partition("=")
                self._cookies[name] = value

    async def _listen(self, socket: ClientConnection) -> None:
        async for data in socket:
            assert isinstance(data, bytes)
            self._note(self.page.take(ForwardMsg.FromString(data)))
            self._keep_time()
            self._news.set()
        raise ConnectionError("the server closed the connection")

    def _note(self, message: ForwardMsg) -> None:
        """Write down the seconds at which the answer to the latest request comes."""
        kind, request = message.WhichOneof("type"), self.requests[-1]
        seconds, whole = time.monotonic() - request.sent, not message.metadata.run.fragment_ids
        if kind == "new_session" and whole:
            self._asked, self._begun = False, True
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            drawn = message.delta.new_element.WhichOneof("type") or ""
            if drawn == FIGURE and self._begun:
                request.figure = seconds if math.isnan(request.figure) else request.figure
                request.figures.append(seconds)
            if drawn and set(files_of(drawn)) - self._have:
                self._spawn(self._fetch(files_of(drawn)))
        elif kind == "script_finished" and self._begun and whole and math.isnan(request.ended):
            if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                request.ended = seconds
        elif kind == "session_status_changed" and self.at_rest and math.isnan(request.rested):
            request.rested = seconds

    def _keep_time(self) -> None:
        """Run one timer for each fragment that has an interval."""
        for fragment, (interval, task) in list(self._timers.items()):
            if self.page.timers.get(fragment) != interval:
                task.cancel()
                del self._timers[fragment]
        for fragment, interval in self.page.timers.items():
            if fragment not in self._timers:
                self._timers[fragment] = interval, self._spawn(self._tick(fragment, interval))

    async def _tick(self, fragment: str, interval: float) -> None:
        due = time.monotonic()
        while True:
            due += interval
            await asyncio.sleep(due - time.monotonic())
            await self._send(self.page.rerun(fragment, auto=True))
