"""A running app and a watched browser for every test here: `make e2e`.

Whatever a test does, at its end the browser must have logged no error and have asked nobody but 127.0.0.1,
and the app must have logged no traceback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tools.browser import Server, app_server, chromium

LOCAL_SCHEMES = ("data", "blob", "about")
PROBE = re.compile(r"^/[a-z_-]+/_stcore/(health|host-config)$")
"""On an address such as /train Streamlit's page first looks for its server below /train, gets a 404 each from
these two, and finds it one level up. Chromium logs the 404s as errors; they are the only ones let pass."""


class Watch:
    """Faults in the pages of a browser context, and the hosts they asked."""

    def __init__(self, context: BrowserContext) -> None:
        self.faults: list[str] = []
        self.requests: list[str] = []
        context.on("page", self._attach)

    def _attach(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("crash", lambda _: self.faults.append("the page crashed"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))

    def _console(self, message: ConsoleMessage) -> None:
        url = message.location["url"]
        probe = "404" in message.text and PROBE.match(urlsplit(url).path)
        if message.type == "error" and not probe:
            self.faults.append(f"console: {message.text} ({url})")

    def strangers(self) -> list[str]:
        """Addresses asked that are not on this machine."""
        return [url for url in self.requests if not _local(url)]


def _local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in LOCAL_SCHEMES or parts.hostname == "127.0.0.1"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app on the bundled folds alone."""
    with app_server(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="session")
def letor_server(letor_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with the real folds as a data root."""
    with app_server(tmp_path_factory.mktemp("letor"), {"RANKVIZ_DATA": str(letor_root)}) as running:
        yield running


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts an app of the test's own, with the environment variables that it is given."""
    with ExitStack() as running:
        started: list[Server] = []

        def start(**environment: str) -> Server:
            folder = tmp_path / f"app{len(started)}"
            folder.mkdir()
            started.append(running.enter_context(app_server(folder, environment)))
            return started[-1]

        yield start
        for server in started:
            assert "Traceback" not in server.log(), server.log()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest, start_server: object) -> Iterator[Page]:
    """A page of a fresh browser profile, watched; its faults fail the test that used it.

    It needs `start_server` only so that it closes before the test's own app ends.
    """
    used = [name for name in ("server", "letor_server") if name in request.fixturenames]
    servers: list[Server] = [request.getfixturevalue(name) for name in used]
    before = [len(s.log()) for s in servers]
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    watch = Watch(context)
    yield context.new_page()
    context.close()
    assert watch.requests, "the test opened no page"
    assert not watch.strangers(), "asked another host"
    assert not watch.faults, "\n".join(watch.faults)
    for running, length in zip(servers, before, strict=True):
        running.require_alive()
        logged = running.log()[length:]
        assert "Traceback" not in logged, logged
