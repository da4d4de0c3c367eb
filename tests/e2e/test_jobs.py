"""Long work in a browser: start, watch, reload, stop; other visitors; killed workers; restarted servers."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import wait_for
from playwright.sync_api import Browser, Page, expect

from tools.browser import Server, app_server
from tools.stored import Stored, stored

SCRIPT = Path(__file__).with_name("jobs_app.py")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The folder of runs, the same for every server of a test."""
    return tmp_path / "runs"


@pytest.fixture
def store(runs: Path) -> Iterator[Stored]:
    """Open the run store; stop its workers at the end."""
    with stored(runs) as opened:
        yield opened


@pytest.fixture
def serve(tmp_path: Path, runs: Path, store: Stored) -> Callable[..., Any]:
    def served(name: str, **more: str) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        return app_server(folder, {"RANKVIZ_RUNS": str(runs)} | more, SCRIPT)

    return served


@pytest.fixture
def app(serve: Callable[..., Any], page: Page) -> Iterator[Server]:
    with serve("app") as server:
        yield server
        page.goto("about:blank")  # leaves before the server ends, or it would log that it lost it


def begin(page: Page, server: Server, store: Stored) -> str:
    """Start the job and wait for its first record; its id."""
    page.goto(server.url)
    expect(page.get_by_text(re.compile("these 300 runs will take about .* and .* MB"))).to_be_visible()
    page.get_by_role("button", name="Train in the background").click()
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()
    (job,) = store.jobs()
    return job.id


def address(page: Page) -> str:
    return str(page.evaluate("location.href"))


def test_start_watch_reload_stop_and_another_visitor(
    browser: Browser, page: Page, app: Server, store: Stored
) -> None:
    job = begin(page, app, store)
    assert address(page).endswith(f"?job={job}")

    page.reload()
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()

    other = browser.new_context().new_page()  # a profile of its own, so another visitor
    other.goto(address(page))
    expect(other.get_by_text("Another visitor asked for the same runs")).to_be_visible()
    expect(other.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible()
    expect(other.get_by_role("button", name="Stop the job")).to_have_count(0)
    assert not store.job(job).stopping

    page.get_by_role("button", name="Stop the job").click()
    for watcher in (page, other):
        expect(watcher.get_by_text(re.compile(r"Stopped on request; [1-9]\d* of 300 runs"))).to_be_visible()
    kept = store.made(job)
    expect(page.get_by_text(f"{kept} records are there")).to_be_visible()
    expect(page.get_by_text(f"these {300 - kept} runs will take")).to_be_visible()
    expect(other.get_by_role("button", name="Delete the job")).to_have_count(0)
    other.context.close()

    page.get_by_role("button", name="Delete the job").click()
    expect(page.get_by_text("Stopped on request")).to_have_count(0)
    expect(page.get_by_role("button", name="Train in the background")).to_be_visible()
    assert wait_for(lambda: store.job(job) is None)
    expect(page.get_by_text(f"{kept} records are there")).to_be_visible()
