"""Terms and references are read with one tap, on a narrow screen too."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tools.browser import Server, open_page


def test_the_paper_that_a_page_names_is_one_tap_away(server: Server, page: Page) -> None:
    width = 400
    page.set_viewport_size({"width": width, "height": 768})
    open_page(page, f"{server.url}/low_rank?map=linear")
    about = page.locator("summary").filter(has_text="About this figure").first
    about.click()
    expect(page.get_by_text("(xu2019)").filter(visible=True).first).to_be_visible()
    about.click()
    page.locator(".glossary summary").press("Enter")
    shown = page.locator(".glossary > div")
    reference = shown.get_by_text("Modeling the Parameter Interactions")
    reference.scroll_into_view_if_needed()
    expect(reference).to_be_in_viewport()
    box = shown.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
