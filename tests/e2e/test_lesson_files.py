"""Lessons as single files: they open from a disk, offline, and keep their state in the address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tools import lessons

pytestmark = pytest.mark.skipif(not lessons.ESBUILD.exists(), reason="esbuild is missing: run `make js`")


def test_a_file_works_offline_and_keeps_its_state(browser: Browser, tmp_path: Path) -> None:
    written = lessons.write(tmp_path)
    assert max(path.stat().st_size for path in written) < 300_000
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("request", lambda request: faults.append(request.url))
        page.goto(f"{written[0].as_uri()}#lesson=loss&step=2")
        page.get_by_role("button", name=lessons.texts("frame")["answer"]).click()
        expect(page).to_have_url(re.compile("#lesson=loss&step=3&guess=shown$"))
        page.reload()
        expect(page.locator(".lesson h2")).to_have_text(_head("loss", 2))
        page.get_by_label(lessons.texts("frame")["menu"], exact=True).select_option("ndcg")
        expect(page.locator(".lesson h2")).to_have_text(_head("ndcg", 0))
        assert [url for url in faults if not url.startswith("file:")] == []
    finally:
        context.close()


def _head(name: str, step: int) -> str:
    found = lessons.texts(name)["steps"][step]
    return str(found.get("shownHead") or found["head"])
