"""Test in a browser that faults of the machine give sentences: the stories of tools/faults.py.

Tests of the store and of pages try the bounds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tools.faults import STORIES, said
from tools.stored import NotAllowed


@pytest.mark.parametrize("story", [name for name in STORIES if name != "bounds"])
def test_what_a_visitor_sees(browser: Browser, tmp_path: Path, story: str) -> None:
    try:
        for moment in STORIES[story](browser, tmp_path):
            said(moment)
            expect(moment.page.get_by_test_id("stException")).to_have_count(0)
    except NotAllowed as why:
        pytest.skip(str(why))
