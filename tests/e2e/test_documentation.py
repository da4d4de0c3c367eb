"""Home links to the documentation where there is a local copy, and its pages read in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tools.browser import REPOSITORY, Server, open_page

BUILT = (REPOSITORY / "static" / "docs" / "index.html").is_file()


@pytest.mark.skipif(not BUILT, reason="make docs has not been run")
def test_home_leads_to_the_documentation(page: Page, server: Server) -> None:
    open_page(page, server.url)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Documentation").click()
    documentation = opened.value
    expect(documentation.get_by_role("heading", name="rankviz", level=1)).to_be_visible()
    assert documentation.url.startswith(server.url)
    documentation.get_by_role("link", name="Mathematics").first.click()
    expect(documentation.get_by_role("heading", name="Feature maps")).to_be_visible()
    documentation.set_viewport_size({"width": 420, "height": 900})
    width = documentation.evaluate("document.documentElement.scrollWidth")
    assert width <= 420, "the page scrolls sideways"
