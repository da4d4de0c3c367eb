"""Low rank: controls in one row, their options whole on a small tablet; papers and terms on a phone."""

import pytest
from helpers import box
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

_CUT = """page => ['stButtonGroup', 'stSelectbox']
    .flatMap(kind => Array.from(page.querySelectorAll(`[data-testid=${kind}] *`)))
    .filter(part => !part.closest('details:not([open])') || page.localName === 'details')
    .filter(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible')
    .map(part => part.textContent || part.value)"""
_WIDTH = "area => area.getBBox().width"
_BOTTOM = "parts => Math.max(...parts.map(part => part.getBoundingClientRect().bottom))"


def test_controls_figures_and_terms_fit_on_a_laptop_a_tablet_and_a_phone(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/low_rank?map=linear")
    main = page.get_by_test_id("stMain")
    assert "of the energy of query" in main.get_by_role("heading", level=2).first.inner_text()
    charts = main.locator("[class*='st-key-dual-heatmap'] .js-plotly-plot")
    expect(charts).to_have_count(2)
    assert charts.evaluate_all(_BOTTOM) < 768
    labels = ["Query, of", "Keep rank k", "Share of the energy"]
    assert len({round(box(main.get_by_text(label))["y"]) for label in labels}) == 1, "controls in one row"
    assert [charts.nth(k).locator(".colorbar").count() for k in (0, 1)] == [1, 0], "one for one scale"
    first, second = (charts.nth(k).locator(".nsewdrag").first.evaluate(_WIDTH) for k in (0, 1))
    assert first == pytest.approx(second, abs=6)

    page.set_viewport_size({"width": 760, "height": 900})
    for view, shown, button, inside in (
        ("All queries", "no query selected", "More", "Beside it"),
        ("Three models", "C of both", "What is drawn", "Against"),
    ):
        page.get_by_role("tab", name=view).click()
        panel = page.get_by_role("tabpanel").filter(has_text=shown)
        expect(panel.get_by_text(shown, exact=True)).to_be_visible()
        wait_settled(page)
        assert page.get_by_test_id("stMainBlockContainer").evaluate(_CUT) == []
        more = main.locator("details").filter(has_text=inside).last
        more.locator("summary").filter(has_text=button).click()
        expect(more.get_by_text(inside, exact=True)).to_be_visible()
        assert more.evaluate(_CUT) == []
        more.locator("summary").filter(has_text=button).click()

    page.set_viewport_size({"width": 400, "height": 768})
    about = page.locator("summary").filter(has_text="About this figure").first
    about.click()
    expect(page.get_by_text("(xu2019)").filter(visible=True).first).to_be_visible()
    about.click()
    page.locator(".glossary summary").press("Enter")
    terms = page.locator(".glossary > div")
    reference = terms.get_by_text("Modeling the Parameter Interactions")
    reference.scroll_into_view_if_needed()
    expect(reference).to_be_in_viewport()
    assert box(terms)["x"] >= 0
    assert box(terms)["x"] + box(terms)["width"] <= 400
