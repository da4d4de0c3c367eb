"""A visitor of a Streamlit app without a browser: light enough that many of them measure the server alone.

It does what costs the server something, as Chromium does it (tests/e2e/test_soak.py compares both). On the
first visit it fetches the files of Streamlit's frontend over six connections: 115 requests, 8 MB, kept for
later visits. Then it opens a session over the websocket with the cookies it was given, and sends with every
rerun the address, the states of all widgets, and what it holds of large messages. It runs fragments again at
their intervals, whether the script runs or not.

It leaves out what takes the browser's own time: nothing is parsed, laid out or drawn, so that a figure is
there when its message is. It sends a control's move at once, where a browser waits up to 0.2 s for more. It
runs no JavaScript but a cookie that a page sets, fetches no icons or media of the page, sends nothing of
tabs, uploads and selections in figures and tables, and does not reconnect.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from benchmarks.streamlit_files import Connections, files_of, files_of_the_frame
from benchmarks.streamlit_page import FIGURE, Page

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"


@dataclass
class Request:
    """What a visitor did and when (by `time.monotonic`), and after how many seconds what came.

    Attributes
    ----------
    figure : float
        The first figure that was drawn; nan where none was.
    ended : float
        The end of the script that this began.
    rested : float
        The time from which nothing ran any more, no fragment either; nan where the visitor moved on before.
    """

    what: str
    sent: float
    figure: float = math.nan
    ended: float = math.nan
    rested: float = math.nan


class Visitor:
    """One browser: its cookies and files outlive its visits. Use `open` and `close`, or `async with`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.page = Page(url)
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self.broken = False
        self.messages = self.bytes = self.scripts = self.fragments = 0
        self._cookies: dict[str, str] = {}
        self._have: set[str] = set()
        self._socket: ClientConnection | None = None
        self._connections: Connections | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._news = asyncio.Event()
        self._asked = self._begun = False

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def errors(self) -> list[str]:
        """What was said to have gone wrong in all visits, each text once."""
        return [text for level, text in self.page.said if level == "error"]

    @property
    def at_rest(self) -> bool:
        """Whether neither the script runs nor a fragment is waited for."""
        return not (self._asked or self.page.running or self.page.timers)

    async def open(self, query: str = "") -> Request:
        """Visit the app; returns once the session is asked for."""
        self.requests.append(Request("visit", time.monotonic()))
        self.failures, self.broken = [], False
        said, self.page = self.page.said, Page(self.url, query)
        self.page.said = said  # over all visits
        address = urlsplit(self.url)
        self._connections = Connections(str(address.hostname), int(address.port or 80))
        await self._fetch_frame(query)
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        token = self._cookies.get("_streamlit_xsrf", "PLACEHOLDER_AUTH_TOKEN")
        self._socket = await connect(
            f"ws://{address.netloc}/_stcore/stream",
            origin=Origin(self.url),
            subprotocols=[Subprotocol("streamlit"), Subprotocol(token)],
            additional_headers={"Cookie": cookie} if cookie else {},
            user_agent_header=AGENT,
            max_size=None,
            compression="deflate",
            proxy=None,
            open_timeout=60,
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
        """Wait until something is true of this visitor; whether it was within so many seconds."""
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
        if self._connections is not None:
            self._connections.close()
        self._socket = self._connections = None
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
        with contextlib.suppress(ConnectionClosed):  # the listener tells
            await self._socket.send(message.SerializeToString())

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(f"{type(error).__name__}: {error}")
            self.broken = True
            self._news.set()

    async def _fetch_frame(self, query: str) -> None:
        """The page itself, the files it is made of, and what its script asks before it connects."""
        await self._get(f"/?{query}" if query else "/")
        await self._fetch(files_of_the_frame())
        found = await asyncio.gather(self._get("/_stcore/health"), self._get("/_stcore/host-config"))
        for headers in found:
            name, _, value = headers.get("set-cookie", "").split(";")[0].partition("=")
            if name:
                self._cookies[name] = value

    async def _fetch(self, files: tuple[str, ...]) -> None:
        missing = [name for name in files if name not in self._have]
        self._have.update(missing)
        await asyncio.gather(*(self._get(f"/{name}") for name in missing))

    async def _get(self, path: str) -> dict[str, str]:
        assert self._connections is not None
        headers = {"Host": urlsplit(self.url).netloc, "User-Agent": AGENT, "Accept-Encoding": "gzip, deflate"}
        if self._cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        found = await self._connections.get(path, headers)
        if found[":status"] != "200":
            self.failures.append(f"{path} gave {found[':status']}")
        return found

    async def _listen(self, socket: ClientConnection) -> None:
        async for data in socket:
            assert isinstance(data, bytes)
            self.messages, self.bytes = self.messages + 1, self.bytes + len(data)
            self._note(self.page.take(ForwardMsg.FromString(data)))
            self._keep_time()
            self._news.set()
        raise ConnectionError("the server closed the connection")

    def _note(self, message: ForwardMsg) -> None:
        """Write down what a message means for the request that is waited for."""
        kind, request = message.WhichOneof("type"), self.requests[-1]
        seconds = time.monotonic() - request.sent
        whole = not message.metadata.run.fragment_ids
        if kind == "new_session":
            self.scripts, self.fragments = self.scripts + whole, self.fragments + (not whole)
            if whole:
                self._asked, self._begun = False, True
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            drawn = message.delta.new_element.WhichOneof("type") or ""
            if drawn == FIGURE and self._begun and math.isnan(request.figure):
                request.figure = seconds
            if files := set(files_of(drawn)) - self._have:
                self._spawn(self._fetch(tuple(files)))
        elif kind == "script_finished" and self._begun and whole and math.isnan(request.ended):
            if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                request.ended = seconds
        elif kind == "session_status_changed" and self.at_rest and math.isnan(request.rested):
            request.rested = seconds

    def _keep_time(self) -> None:
        """Have a timer for each fragment that is to be run again and again, and no other."""
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
