"""Test that an automatic job ends with the last tab that waits for it, but not with a reload."""

import re
import time
from pathlib import Path

from conftest_jobs import wait_for
from playwright.sync_api import Browser, Page, expect

from tools.browser import app_server
from tools.stored import Stored, stored

SCRIPT = Path(__file__).with_name("unasked_app.py")
MOST = 60_000
PATIENCE = 12.0
"""As unasked_app.py sets it: more seconds than a reload takes on a busy machine."""


def goes_on(store: Stored, job: str) -> None:
    """The job makes records after all who are gone have had the time to come back."""
    over = time.monotonic() + PATIENCE + 1
    wait_for(lambda: time.monotonic() > over)
    before = store.made(job)
    wait_for(lambda: store.made(job) > before)
    now = store.job(job)
    assert now is not None
    assert now.live
    assert not now.stopping


def test_it_ends_with_the_last_tab(tmp_path: Path, browser: Browser, page: Page) -> None:
    runs = tmp_path / "runs"
    own = {"RANKVIZ_RUNS": str(runs), "RANKVIZ_WORKERS": "1"}  # which trains all the while
    with stored(runs) as store, app_server(tmp_path, own, SCRIPT) as server:
        page.goto(server.url)
        expect(page.get_by_text("Changing a setting stops it")).to_be_visible(timeout=MOST)
        job = wait_for(store.jobs)[0].id
        wait_for(lambda: store.made(job))
        other = browser.new_page()
        other.goto(server.url)
        expect(other.get_by_text("Another visitor asked for the same runs")).to_be_visible(timeout=MOST)
        page.goto("about:blank")
        other.reload()
        expect(other.get_by_text(re.compile(r"[1-9]\d* records are there"))).to_be_visible(timeout=MOST)
        goes_on(store, job)
        other.close()
        wait_for(lambda: not store.job(job).live)
        assert store.job(job).state == "stopped"
        assert 0 < store.made(job) < 1000
        assert len(store.jobs()) == 1, "no other job was begun"
