"""Low rank: at the width of a small tablet its controls show their options whole."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page

_CUT = """page => ['stButtonGroup', 'stSelectbox']
    .flatMap(kind => Array.from(page.querySelectorAll(`[data-testid=${kind}] *`)))
    .filter(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible')
    .map(part => part.textContent || part.value)"""


@pytest.mark.parametrize(("view", "shown"), [("One query", "Beside it"), ("Three models", "C of both")])
def test_no_option_is_cut_off_beside_others(server: Server, page: Page, view: str, shown: str) -> None:
    page.set_viewport_size({"width": 760, "height": 900})
    open_page(page, f"{server.url}/low_rank?map=linear&view={view}")
    panel = page.get_by_role("tabpanel").filter(has_text=shown)
    expect(panel.get_by_text(shown, exact=True)).to_be_visible()
    assert page.get_by_test_id("stMainBlockContainer").evaluate(_CUT) == []
