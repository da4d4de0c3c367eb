"""Long work in a browser: start, watch, reload, stop; other visitors; killed workers; restarted servers."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tools.browser import Server, app_server

SCRIPT = Path(__file__).with_name("jobs_app.py")
PATIENCE = 60_000
"""Milliseconds: a worker starts within two seconds, but not on a machine that is busy with all the tests."""


@pytest.fixture(autouse=True)
def slow_machines() -> Iterator[None]:
    expect.set_options(timeout=PATIENCE)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    """The folder of jobs, the same for every server of a test; no worker outlives the test."""
    folder = tmp_path / "runs"
    yield folder
    for file in folder.glob("*/worker.json"):
        if not (file.parent / "outcome.json").exists():
            (file.parent / "stop").touch()
    assert wait_for(
        lambda: len(list(folder.glob("*/outcome.json"))) == len(list(folder.glob("*/worker.json")))
    )


@pytest.fixture
def serve(tmp_path: Path, runs: Path) -> Callable[[str], Any]:
    def served(name: str) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        return app_server(folder, {"RANKVIZ_RUNS": str(runs)}, SCRIPT)

    return served


@pytest.fixture
def app(serve: Callable[[str], Any], page: Page) -> Iterator[Server]:
    with serve("app") as server:
        yield server
        page.goto("about:blank")  # leaves before the server ends, or it would log that it lost it


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def begin(page: Page, server: Server, runs: Path) -> Path:
    """Start the job and wait for its first record; its folder."""
    page.goto(server.url)
    expect(page.get_by_text(re.compile("these 300 runs will take about .* and .* MB"))).to_be_visible()
    page.get_by_role("button", name="Train in the background").click()
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()
    return wait_for(lambda: list(runs.glob("*/worker.json")))[0].parent


def address(page: Page) -> str:
    return str(page.evaluate("location.href"))


def test_start_watch_reload_stop_and_another_visitor(
    browser: Browser, page: Page, app: Server, runs: Path
) -> None:
    folder = begin(page, app, runs)
    assert address(page).endswith(f"?job={folder.name}")

    page.reload()
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()

    other = browser.new_context().new_page()  # a profile of its own, so another visitor
    other.goto(address(page))
    expect(other.get_by_text("Many seeds")).to_be_visible()
    expect(other.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()
    expect(other.get_by_role("button", name="Stop the job")).to_have_count(0)
    assert not (folder / "stop").exists()

    page.get_by_role("button", name="Stop the job").click()
    for watcher in (page, other):
        expect(watcher.get_by_text(re.compile(r"Stopped on request; [1-9]\d* of 300 runs"))).to_be_visible()
    kept = len(list(folder.glob("record-*.npz")))
    expect(page.get_by_text(f"{kept} records are there")).to_be_visible()
    expect(page.get_by_text(f"these {300 - kept} runs will take")).to_be_visible()
    expect(other.get_by_role("button", name="Delete the job")).to_have_count(0)
    other.context.close()

    page.get_by_role("button", name="Delete the job").click()
    expect(page.get_by_text("Stopped on request")).to_have_count(0)
    expect(page.get_by_role("button", name="Train in the background")).to_be_visible()
    assert wait_for(lambda: not folder.exists())


def test_a_killed_worker_is_shown_as_the_failure_of_its_job(page: Page, app: Server, runs: Path) -> None:
    folder = begin(page, app, runs)
    os.kill(json.loads((folder / "worker.json").read_text())["pid"], signal.SIGKILL)
    said = page.get_by_test_id("stAlertContentError")
    expect(said).to_contain_text("The worker process ended without a result; signal 9 (SIGKILL")
    expect(said).to_contain_text("last stage: ")
    expect(page.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()
    expect(page.get_by_role("button", name="Train in the background")).to_be_visible()


def test_a_job_outlives_the_server(page: Page, serve: Callable[[str], Any], runs: Path) -> None:
    with serve("first") as first:
        folder = begin(page, first, runs)
        page.goto("about:blank")
    records = len(list(folder.glob("record-*.npz")))
    assert wait_for(lambda: len(list(folder.glob("record-*.npz"))) > records + 1)
    with serve("second") as second:
        page.goto(f"{second.url}/?job={folder.name}")
        page.get_by_role("button", name="Stop the job").click()
        expect(page.get_by_text(re.compile(r"Stopped on request; [1-9]\d* of 300 runs"))).to_be_visible()
        page.goto("about:blank")
