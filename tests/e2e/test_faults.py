"""Test in a browser what a visitor sees when workers and servers are killed: stories of tools/faults.py.

Tests of the store and of pages try damage, full disks and bounds.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tools.faults import STORIES, said


@pytest.mark.parametrize("story", ["workers", "servers"])
def test_what_a_visitor_sees(browser: Browser, tmp_path: Path, story: str) -> None:
    for moment in STORIES[story](browser, tmp_path):
        said(moment)
        expect(moment.page.get_by_test_id("stException")).to_have_count(0)
