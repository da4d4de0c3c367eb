"""Low rank: controls in one row, their options whole on a small tablet."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page

_CUT = """page => ['stButtonGroup', 'stSelectbox']
    .flatMap(kind => Array.from(page.querySelectorAll(`[data-testid=${kind}] *`)))
    .filter(part => !part.closest('details:not([open])') || page.localName === 'details')
    .filter(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible')
    .map(part => part.textContent || part.value)"""
_BOTTOM = "parts => Math.max(...parts.map(part => part.getBoundingClientRect().bottom))"


@pytest.mark.parametrize(
    ("view", "shown", "button", "inside"),
    [
        ("All queries", "no query selected", "More", "Beside it"),
        ("Three models", "C of both", "What is drawn", "Against"),
    ],
)
def test_no_option_is_cut_off_beside_others(
    server: Server, page: Page, view: str, shown: str, button: str, inside: str
) -> None:
    page.set_viewport_size({"width": 760, "height": 900})
    open_page(page, f"{server.url}/low_rank?map=linear&view={view}")
    panel = page.get_by_role("tabpanel").filter(has_text=shown)
    expect(panel.get_by_text(shown, exact=True)).to_be_visible()
    assert page.get_by_test_id("stMainBlockContainer").evaluate(_CUT) == []
    more = page.get_by_test_id("stMain").locator("details").filter(has_text=inside).last
    more.locator("summary").filter(has_text=button).click()
    expect(more.get_by_text(inside, exact=True)).to_be_visible()
    assert more.evaluate(_CUT) == []


def test_answer_and_first_figures_are_wholly_visible_on_a_laptop(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/low_rank?map=linear")
    main = page.get_by_test_id("stMain")
    assert "of the energy of query" in main.get_by_role("heading", level=2).first.inner_text()
    charts = main.locator("[class*='st-key-dual-heatmap'] .js-plotly-plot")
    expect(charts).to_have_count(2)
    assert charts.evaluate_all(_BOTTOM) < 768
    labels = ["Query, of", "Keep rank k", "Share of the energy"]
    tops = {round(main.get_by_text(label).first.bounding_box()["y"]) for label in labels}  # type: ignore[index]
    assert len(tops) == 1, "the controls stand in one row"
