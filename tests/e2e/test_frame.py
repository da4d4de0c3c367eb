"""The frame of every page: the menu, the sidebar, ways by keyboard, and what opens beside results."""

from __future__ import annotations

from itertools import pairwise

import pytest
from helpers import query_of, sidebar
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page, wait_settled
from ui.controls.navigation import ENTRIES

_FOCUSED = """() => {
    const now = document.activeElement;
    return now.closest('[data-testid=stMain]') && !now.matches('main, .glossary *, [aria-label^=Help]');
}"""


def overlap(page: Page, one: Locator, other: Locator) -> bool:
    """Return True if two elements share pixels."""
    a, b = one.bounding_box(), other.bounding_box()
    assert a is not None
    assert b is not None
    across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
    down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
    return across > 0 and down > 0


def test_the_menu_has_every_page_in_its_section_with_a_question(server: Server, page: Page) -> None:
    open_page(page, server.url)
    menu, found = page.get_by_test_id("stTopNav"), ["Home"]
    for section in dict.fromkeys(entry.section for entry in ENTRIES[1:]):
        menu.get_by_role("button", name=section, exact=True).click()
        rows = page.get_by_role("menuitem")
        expect(rows.first).to_be_visible()
        found += rows.all_inner_texts()
        assert all(row.evaluate("row => row.clientHeight") >= 24 for row in rows.all())
        own = [entry for entry in ENTRIES if entry.section == section]
        assert rows.evaluate_all("all => all.map(a => a.pathname)") == [f"/{entry.file}" for entry in own]
        rows.last.hover()
        expect(page.get_by_test_id("stTooltipContent")).to_have_text(own[-1].about)
        page.keyboard.press("Escape")
        expect(rows).to_have_count(0)
    assert [title.split("\n")[-1] for title in found] == [entry.title for entry in ENTRIES]


def test_the_first_control_of_what_if_is_within_ten_tabs(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/what_if?m=50")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate(_FOCUSED):
            return
    pytest.fail("no control after ten Tab presses")


def test_terms_open_beside_the_page_and_can_be_searched(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/train?m=50")
    page.locator(".glossary summary").click()
    box = page.locator(".glossary > div")
    expect(box).to_be_visible()
    wait_settled(page)
    assert not overlap(page, box, page.get_by_test_id("stMain").locator(".js-plotly-plot").first)
    assert box.locator("img").evaluate_all("all => all.every(one => one.naturalWidth > 0)")
    page.get_by_label("Search terms").fill("FOURIER")
    entries = box.locator(".entry").filter(visible=True)
    expect(entries.filter(has_text="Random Fourier features")).to_have_count(1)
    expect(entries.filter(has_text="Document:")).to_have_count(0)
    for sought, found in (("nystrom", "Nyström:"), ("gamma", "γ:")):
        page.get_by_label("Search terms").fill(sought)
        expect(entries.filter(has_text=found)).to_have_count(1)
    page.get_by_label("Search terms").fill("zzz")
    expect(entries).to_have_count(0)
    expect(box.get_by_text("No term found.")).to_be_visible()


def test_about_opens_below_its_figure(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50")
    about = page.get_by_test_id("stExpander").filter(has_text="About this figure").first
    about.locator("summary").click()
    expect(about.get_by_text("Mean over queries")).to_be_visible()
    assert not overlap(page, about, page.get_by_test_id("stMain").locator(".js-plotly-plot").first)


def test_an_editor_of_what_if_closes_when_it_has_acted(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/what_if?m=50")
    page.get_by_role("button", name="Leave out", exact=True).click()
    page.get_by_role("button", name="Leave out query").click()
    wait_settled(page)
    assert "changes" in query_of(page)
    expect(page.get_by_test_id("stPopoverBody").filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize("address", ["no-such-page", "sweep?study=nosuch&alone=true"])
def test_an_unknown_address_keeps_title_and_menu_and_offers_a_way_on(
    server: Server, page: Page, address: str
) -> None:
    open_page(page, f"{server.url}/{address}")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_test_id("stTopNav")).to_be_visible()
    main = page.get_by_test_id("stMain")
    if "sweep" in address:
        main.get_by_role("button", name="New sweep").click()
        expect(main.get_by_role("button", name="Start the sweep")).to_be_visible()
    else:
        main.get_by_role("link", name="Train:").click()
        expect(page.get_by_role("heading", level=1, name="Train")).to_be_visible()
    wait_settled(page)


def test_the_menu_of_a_phone_has_no_holes_and_closes_after_a_choice(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{server.url}/train?m=50")
    page.get_by_test_id("stExpandSidebarButton").click()
    links = sidebar(page).get_by_test_id("stSidebarNavLink")
    expect(links).to_have_count(len(ENTRIES))
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)
        assert link.evaluate("link => link.clientHeight") >= 24
    boxes = [box for link in links.all() if (box := link.bounding_box())]
    for x in {box["x"] for box in boxes}:
        tops = sorted(box["y"] for box in boxes if box["x"] == x)
        gaps = [below - above for above, below in pairwise(tops)]
        assert max(gaps) < 70, "a section's name and a row at most"
    links.filter(has_text="Convergence").click()
    expect(page.get_by_role("heading", level=1, name="Convergence")).to_be_visible()
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    wait_settled(page)


@pytest.mark.parametrize("file", ["train", "what_if"])
def test_a_presentation_enlarges_the_first_figure(server: Server, page: Page, file: str) -> None:
    areas = []
    for width, height, query in ((1366, 768, ""), (1280, 720, "&large=true&alone=true")):
        page.set_viewport_size({"width": width, "height": height})
        open_page(page, f"{server.url}/{file}?m=50{query}")
        figure = page.get_by_test_id("stMain").locator(".js-plotly-plot, .square, .ranked-list")
        box = figure.filter(visible=True).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
        areas.append(box["width"] * box["height"])
    assert areas[1] >= areas[0]
