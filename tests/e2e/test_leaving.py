"""The menu leads to another page at once, whatever is open on the one that is left."""

from __future__ import annotations

import pytest
from helpers import follow
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled
from ui.controls.navigation import ENTRIES

CLOSABLE = ':is([data-testid="stPopoverButton"], summary):visible'
EVERYWHERE = ("About this figure", "Save", "Terms")
"""The same on all pages, so one page tries them."""
SECONDS = 20
"""A page may take so long; the fault lasted until the next click."""
FILES = {entry.file: entry for entry in ENTRIES}
LEFT = ("home", "train", "what_if")
"""Pages with boxes of their own; test_every_page.py reads the code of all for the cause of the fault."""


@pytest.mark.parametrize("file", LEFT)
def test_the_menu_leads_on_whatever_is_open(file: str, server: Server, page: Page) -> None:
    left, to = FILES[file], FILES["runs" if file != "runs" else "data"]
    logged = len(server.log())
    open_page(page, f"{server.url}/{'' if file == 'home' else file}?m=10&upto=10&exact=false")
    main = page.get_by_test_id("stMain")
    there = page if file == "home" else main  # the sidebar is the same on all
    heading = main.get_by_role("heading", level=1, name=to.title, exact=True)
    labels = there.locator(CLOSABLE).all_inner_texts()
    assert labels
    own = [label for label in dict.fromkeys(labels) if not any(name in label for name in EVERYWHERE)]
    for place in map(labels.index, dict.fromkeys(labels) if file == "train" else own[:2]):
        there.locator(CLOSABLE).nth(place).click()
        wait_settled(page)
        follow(page, to.title)
        expect(heading).to_be_visible(timeout=1000 * SECONDS)
        wait_settled(page, SECONDS)
        expect(heading).to_be_visible()  # still: the fault took the page away when it was complete
        follow(page, left.title)
        expect(heading).to_have_count(0)
        wait_settled(page)
    assert "find fragment" not in server.log()[logged:]
