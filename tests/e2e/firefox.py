"""Drive Firefox over WebDriver BiDi, which it speaks itself; Playwright needs a Firefox of its own."""

import base64
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
PREFERENCES = (
    'user_pref("network.dns.disabled", true);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
)
SECONDS = 120


class Firefox:
    """A tab of a running Firefox.

    Attributes
    ----------
    faults : list of str
        Uncaught errors, console errors, and addresses that are not files.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._numbers, self.faults = socket, itertools.count(1), list[str]()
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self._tab = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str, width: int = 1400, height: int = 900) -> None:
        """Go to an address, in a window of this size, and wait until it is loaded."""
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._tab, viewport=size)
        self._ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return what a script computes, as JSON can hold it; wait for a promise."""
        target = {"context": self._tab}
        code = f"(async () => JSON.stringify(await ({script})))()"
        found = self._ask("script.evaluate", expression=code, target=target, awaitPromise=True)
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return json.loads(found["result"].get("value", "null"))

    def mouse(self, *moves: dict[str, Any]) -> None:
        """Make moves and presses of a mouse, as `input.performActions` has them."""
        actions = [{"type": "pointer", "id": "mouse", "actions": list(moves)}]
        self._ask("input.performActions", context=self._tab, actions=actions)

    def picture(self, path: Path) -> None:
        found = self._ask("browsingContext.captureScreenshot", context=self._tab)
        path.write_bytes(base64.b64decode(found["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(SECONDS))
            if answer.get("id") == number:
                assert answer["type"] == "success", f"{method}: {answer.get('message')}"
                result: dict[str, Any] = answer["result"]
                return result
            self._hear(answer.get("method"), answer.get("params", {}))

    def _hear(self, event: str | None, told: dict[str, Any]) -> None:
        if event == "log.entryAdded" and told["level"] == "error":
            self.faults.append(told["text"])
        elif event == "network.beforeRequestSent" and not told["request"]["url"].startswith("file:"):
            self.faults.append(told["request"]["url"])


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Start Firefox without a window or a network, with a profile below `folder`; end it afterwards."""
    profile, log = folder / "profile", folder / "firefox.log"
    profile.mkdir()
    (profile / "user.js").write_text(PREFERENCES, encoding="utf-8")
    command = [
        str(PROGRAM),
        "--headless",
        "--no-remote",
        "--remote-debugging-port=0",
        "--profile",
        str(profile),
    ]
    with log.open("wb") as told, subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT) as process:
        try:
            with connect(f"{_address(process, log)}/session", max_size=None, open_timeout=SECONDS) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(10 * SECONDS):
        if found := re.search(r"BiDi listening on (\S+)", log.read_text(errors="replace")):
            return found[1]
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"Firefox did not start: {log.read_text(errors='replace')}")
