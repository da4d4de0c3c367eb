"""A running app and a watched browser for every test here: `make e2e`.

Whatever a test does, at its end the browser must have logged no error and have asked nobody but 127.0.0.1,
and the app must have logged no traceback.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from helpers import SIZE, forget
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tools import lessons
from tools.browser import Server, app_server, chromium

expect.set_options(timeout=60_000)  # milliseconds: the machine may be busy with all the tests
LOCAL_SCHEMES = ("data", "blob", "about")
PROBE = re.compile(r"^/[a-z_-]+/_stcore/(health|host-config)$")
"""On an address such as /train Streamlit's page first looks for its server below /train, gets a 404 each from
these two, and finds it one level up. Chromium logs the 404s as errors; they are the only ones let pass."""


class Watch:
    """Faults in the pages of a browser context until `end`, and the hosts they asked."""

    def __init__(self, context: BrowserContext) -> None:
        self.faults: list[str] = []
        self.requests: list[str] = []
        self._to_pages = {
            "console": self._console,
            "pageerror": lambda error: self.faults.append(f"uncaught: {error}"),
            "crash": lambda _: self.faults.append("the page crashed"),
            "request": lambda request: self.requests.append(request.url),
            "websocket": lambda socket: self.requests.append(socket.url),
        }
        self._pages, self._context = list(context.pages), context
        for page in context.pages:
            self._listen(page)
        context.on("page", self._attach)

    def end(self) -> None:
        self._context.remove_listener("page", self._attach)
        for page, (event, told) in product(self._pages, self._to_pages.items()):
            page.remove_listener(event, told)

    def _attach(self, page: Page) -> None:
        self._pages.append(page)
        self._listen(page)

    def _listen(self, page: Page) -> None:
        for event, told in self._to_pages.items():
            page.on(event, told)

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
    with app_server(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="session")
def letor_server(letor_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with app_server(tmp_path_factory.mktemp("letor"), {"RANKVIZ_DATA": str(letor_root)}) as running:
        yield running


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the single files of lessons and Playground by their names."""
    return {path.stem: path for path in lessons.write(tmp_path_factory.mktemp("lessons"))}


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


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """The browser profile, with one tab, that the tests of a process have one after the other.

    A tab that has shown the app before shows it in half the time, for it need not read its script anew.
    """
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture(scope="session")
def other_profile(browser: Browser) -> Iterator[BrowserContext]:
    """Open the browser profile of a second visitor."""
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    yield context
    context.close()


@contextmanager
def watched(profile: BrowserContext) -> Iterator[Page]:
    """The tab of a visitor who has never been here; its faults fail the test that used it."""
    tab = profile.pages[0] if profile.pages else profile.new_page()
    watch = Watch(profile)
    yield tab
    forget(tab)
    watch.end()
    assert watch.requests, "the test opened no page"
    assert not watch.strangers(), "asked another host"
    assert not watch.faults, "\n".join(watch.faults)


@pytest.fixture
def page(profile: BrowserContext, request: pytest.FixtureRequest, start_server: object) -> Iterator[Page]:
    """A visitor's tab, and a watch over the servers that all tests have in common.

    It needs `start_server` only so that it is empty before the test's own app ends.
    """
    used = [name for name in ("server", "letor_server") if name in request.fixturenames]
    servers: list[Server] = [request.getfixturevalue(name) for name in used]
    before = [len(s.log()) for s in servers]
    with watched(profile) as tab:
        yield tab
    for running, length in zip(servers, before, strict=True):
        running.require_alive()
        logged = running.log()[length:]
        assert "Traceback" not in logged, logged


@pytest.fixture
def other(other_profile: BrowserContext, page: Page) -> Iterator[Page]:
    with watched(other_profile) as tab:
        yield tab
