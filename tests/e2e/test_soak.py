"""The visitors of `make soak`: they ask what Chromium asks, and the measurement runs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from helpers import follow, sidebar
from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.streamlit_client import Visitor
from tools.browser import REPOSITORY, Server, open_page, wait_settled

MOVES = (("move", "m", "100"), ("turn_to", "Train"), ("move", "c", -3.0))
"""From the defaults, one step of a slider each, and a page in between."""


def request_of(data: bytes | BackMsg) -> dict[str, Any]:
    """Return the request in a message, independent of session and order."""
    asked = (BackMsg.FromString(data) if isinstance(data, bytes) else data).rerun_script
    return {
        "address": dict(parse_qsl(asked.query_string)),
        "page": asked.page_script_hash,
        "fragment": asked.fragment_id,
        "pressed": [state.id for state in asked.widget_states.widgets if state.trigger_value],
        "held": sorted(asked.cached_message_hashes),
        "context": str(asked.context_info),
    }


async def visit(url: str) -> tuple[Visitor, list[dict[str, Any]]]:
    """A visitor who has made the moves, and what was sent."""
    found: list[dict[str, Any]] = []
    async with Visitor(url) as visitor:
        send = visitor._send

        async def note(message: BackMsg) -> None:
            found.append(request_of(message))
            await send(message)

        visitor._send = note
        await visitor.open()
        assert await visitor.rest(60)
        for name, *values in MOVES:
            await getattr(visitor, name)(*values)
            assert await visitor.rest(60)
    return visitor, found


def test_a_visitor_asks_what_a_browser_asks(server: Server, page: Page) -> None:
    found: list[dict[str, Any]] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: found.append(request_of(data))))
    with ThreadPoolExecutor(1) as thread:  # the browser's driver has an event loop in this one
        thread.submit(
            asyncio.run, visit(server.url)
        ).result()  # so that all is trained when they are compared
        open_page(page, server.url)
        sidebar(page).get_by_role("slider").first.press("ArrowLeft")
        wait_settled(page)
        follow(page, "Train")
        wait_settled(page)
        sidebar(page).get_by_role("slider").nth(1).press("ArrowRight")
        wait_settled(page)
        visitor, asked = thread.submit(asyncio.run, visit(server.url)).result()
    assert len(asked) == len(MOVES) + 1
    for ours, theirs in zip(asked, found, strict=True):
        assert ours == theirs
    assert not visitor.failures
    assert not visitor.page.errors
    assert all(request.figure <= request.ended <= request.rested for request in visitor.requests)
    page.goto("about:blank")


def test_a_measurement_runs_and_is_written_down(tmp_path: Path) -> None:
    options = ["--visitors", "1", "--minutes", "0.1", "--data", "synthetic", "--results", str(tmp_path)]
    command = [sys.executable, "-m", "benchmarks.soak", "visitors", *options]
    subprocess.run(command, cwd=REPOSITORY, check=True, timeout=300)
    header, _, row = (tmp_path / "soak_visitors.md").read_text().strip().splitlines()[-3:]
    cells = dict(zip(header.strip("| ").split(" | "), row.strip("| ").split(" | "), strict=True))
    assert cells["case"] == "synthetic"
    assert float(cells["moves"]) >= 1
    assert cells["errors"] == cells["failures"] == "0"
