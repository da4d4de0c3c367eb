"""The app as a browser sees it: start it, open it in Chromium, wait until it has come to rest.

Shared by the browser tests (tests/e2e) and by `make screens`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserType, Error, Page, sync_playwright

REPOSITORY = Path(__file__).resolve().parent.parent
START_SECONDS = 180
SETTLE_SECONDS = 180  # the wheel is tried beside three other stages
QUIET_SECONDS = 0.4
"""Streamlit waits up to 0.2 s after a key or a slider's move before it asks the server for a rerun."""

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


_OF_THE_PERSON = ("RANKVIZ_", "STREAMLIT_", "COV_", "PYTHONPATH", "PYTEST_")


class AppError(RuntimeError):
    """The app did not start, died, or did not come to rest."""


@dataclass(frozen=True)
class Server:
    """A running app: where it answers and what it has logged."""

    url: str
    process: subprocess.Popen[bytes]
    log_file: Path

    def log(self) -> str:
        """Everything the app has written so far."""
        return self.log_file.read_text(errors="replace")

    def require_alive(self) -> None:
        """Raise with the log where the app has ended."""
        if self.process.poll() is not None:
            raise AppError(f"the app ended with exit status {self.process.returncode}:\n{self.log()}")


@contextmanager
def app_server(
    folder: Path,
    environment: Mapping[str, str] | None = None,
    script: Path = REPOSITORY / "app.py",
    port: int | None = None,
) -> Iterator[Server]:
    """Run the app on this port, or a free one, with caches and data below `folder`; end it afterwards."""
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.fileWatcherType=none"]
    with serving([*command, "--server.port"], folder, REPOSITORY, environment, port) as server:
        yield server


@contextmanager
def serving(
    command: Sequence[str],
    folder: Path,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[Server]:
    """Run a command that serves the app on the port that is appended to it; as `app_server`."""
    port = port or free_port()
    log_file = folder / "app.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [*command, str(port)],
            cwd=cwd,
            env=isolated(folder) | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    server = Server(f"http://127.0.0.1:{port}", process, log_file)
    try:
        _wait_for_health(server)
        yield server
        server.require_alive()
    finally:
        _end(process)


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nobody answers, and which this process was not given before.

    The system may give one port twice before a server listens on it. Two servers of nginx then share it.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in _GIVEN:
            _GIVEN.add(port)
            return port


_GIVEN: set[int] = set()


def isolated(folder: Path) -> dict[str, str]:
    """The environment without settings of the person at work: data, caches and runs go below `folder`.

    The app makes no figures ahead there, which would take the machine from what is looked at, and its workers
    do not stand back: here the browser would take all there is.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OF_THE_PERSON)}
    own = {name: folder / name.lower() for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "RANKVIZ_CACHE")}
    for path in own.values():
        path.mkdir(parents=True, exist_ok=True)
    fixed = {"PYTHONUNBUFFERED": "1", "RANKVIZ_PREPARE": "no", "RANKVIZ_NICE": "0"}
    return kept | {name: str(path) for name, path in own.items()} | fixed


def _wait_for_health(server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        server.require_alive()
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AppError(f"the app did not answer within {START_SECONDS} s:\n{server.log()}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or the program that BROWSER_PATH names."""
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        try:
            yield browser
        finally:
            browser.close()


def launch(kind: BrowserType, *rules: str) -> Browser:
    """Start it; host names lead nowhere, but where `rules` say ("MAP name 127.0.0.1:port")."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium")
    if program is None:
        raise AppError("no Chromium: install Debian's package chromium, or name a browser in BROWSER_PATH")
    resolve = ", ".join([*rules, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"])
    arguments = [*CHROMIUM_ARGUMENTS, f"--host-resolver-rules={resolve}"]
    return kind.launch(executable_path=program, args=arguments)


_REST = """([quiet, most]) => new Promise(done => {
    const socket = WebSocket.prototype;
    if (!socket.plainSend) {
        socket.plainSend = socket.send;
        socket.send = function (data) {
            if (!this.heard) this.addEventListener('message', () => { window.answered = performance.now(); });
            this.heard = true;
            window.asked = performance.now();
            this.plainSend(data);
        };
    }
    const find = id => document.querySelector(`[data-testid="${id}"]`);
    const busy = () => {
        // a click is sent at once; until the server answers, Streamlit calls itself "notRunning"
        const waits = window.asked > (window.answered || 0) && performance.now() - window.asked < 10000;
        if (waits) return 'the server has not answered';
        const app = find('stApp'), main = find('stMain');
        if (!app || !main) return 'no app yet';
        if (app.dataset.testConnectionState !== 'CONNECTED') return 'not connected';
        if (app.dataset.testScriptState !== 'notRunning') return app.dataset.testScriptState;
        const waiting = document.querySelector('[data-testid$="Skeleton"], [data-stale="true"]');
        if (waiting) return waiting.dataset.testid + ' is waiting';
        const charts = [...main.querySelectorAll('[data-testid="stPlotlyChart"]')];
        if (charts.some(c => c.offsetParent && !c.querySelector('.main-svg'))) return 'figure';
        const text = main.innerText;
        // the first run of a server may end without a word and begin again (ui/controls/navigation.py)
        if (!text.trim()) return 'nothing is drawn';
        if (text.includes('The figure comes by itself')) return 'a job that nobody asked for';
        const shown = text + ' height ' + main.scrollHeight, last = before;
        before = shown;
        if (shown === last) return '';
        const at = [...shown].findIndex((letter, i) => letter !== last?.[i]);
        const part = all => JSON.stringify(all?.slice(Math.max(0, at - 20), at + 40) ?? '');
        return `it keeps changing, from ${part(last)} to ${part(shown)}`;
    };
    const start = performance.now();
    let before = null, since = start;
    const look = () => {
        const now = performance.now(), why = busy();
        if (why) since = now;
        if (now - since >= quiet || now - start >= most) done(why);
        else setTimeout(look, 50);
    };
    look();
})"""
"""Answers "" once the page was at rest for so many milliseconds, or the reason after the most."""


def wait_settled(page: Page, seconds: float = SETTLE_SECONDS) -> None:
    """Wait until Streamlit runs nothing, every visible figure is drawn and the page has stopped changing."""
    deadline, why = time.monotonic() + seconds, "no page yet"
    while (left := deadline - time.monotonic()) > 0:
        try:
            why = page.evaluate(_REST, [1000 * QUIET_SECONDS, 1000 * max(left, 2 * QUIET_SECONDS)])
        except Error as error:  # another page has been opened meanwhile
            why = error.message
            page.wait_for_timeout(50)
            continue
        if not why:
            return
    raise AppError(f"{page.evaluate('location.href')} did not come to rest within {seconds:g} s: {why}")


def open_page(page: Page, url: str) -> None:
    """Go to an address of the app and wait until it is at rest."""
    page.goto(url)
    wait_settled(page)
