"""The frame of every page: the menu, the sidebar, ways by keyboard, and what opens beside results."""

import json
import re
from itertools import pairwise

import pytest
from helpers import box, query_of, sidebar, traces
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page, wait_settled
from ui.controls.link import VERSION
from ui.controls.navigation import ENTRIES
from ui.learn.home_words import PAGES


def overlap(one: Locator, other: Locator) -> bool:
    a, b = box(one), box(other)
    across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
    down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
    return across > 0 and down > 0


def test_the_menu_has_every_page_and_home_links_that_keep_the_settings(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?m=50&c=-2&g=-1&upto=10&exact=false")
    assert_menu_has_every_page_in_its_section_with_a_question(page)
    main = page.get_by_test_id("stMain")
    main.get_by_text(PAGES, exact=True).click()
    wait_settled(page)  # links move while the list opens; a click needs the same link for press and release
    main.get_by_role("link", name="Two models").click()
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    address = page.evaluate("location.search")
    assert sorted(address.removeprefix("?").split("&")) == ["c=-2", "g=-1", "m=50", f"v={VERSION}"]
    page.reload()
    wait_settled(page)
    assert query_of(page).items() >= {"m": "50", "c": "-2", "g": "-1"}.items()
    expect(page.get_by_text("is not available")).to_have_count(0)


def assert_menu_has_every_page_in_its_section_with_a_question(page: Page) -> None:
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


def test_another_page_begins_at_its_top(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/kernel_approximation?m=50&draws=1&errupto=50&large=true")
    main, menu = page.get_by_test_id("stMain"), page.get_by_test_id("stTopNav")
    main.evaluate("main => main.scrollTo(0, 600)")
    menu.get_by_role("button", name="One model", exact=True).click()
    page.get_by_role("menuitem", name="Train").click()
    page.get_by_role("heading", name="Train", exact=True).wait_for()
    wait_settled(page)
    assert main.evaluate("main => main.scrollTop") == 0


def test_a_figure_follows_the_systems_theme_and_about_and_terms_open_beside_it(
    server: Server, page: Page
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/train?m=50")
    figure = page.get_by_test_id("stMain").locator(".js-plotly-plot").first
    letters = figure.locator(".xtick text").first  # Python sets their colours, Streamlit those of the page
    for scheme, colour in (("light", "28, 28, 26"), ("dark", "242, 242, 239"), ("light", "28, 28, 26")):
        page.emulate_media(color_scheme=scheme)
        expect(letters).to_have_css("fill", f"rgb({colour})")
    wait_settled(page)
    about = page.get_by_test_id("stExpander").filter(has_text="About this figure").first
    about.locator("summary").click()
    expect(about.get_by_text("Mean over queries")).to_be_visible()
    assert not overlap(about, figure)
    about.locator("summary").click()
    page.locator(".glossary summary").click()
    terms = page.locator(".glossary > div")
    expect(terms).to_be_visible()
    wait_settled(page)
    assert not overlap(terms, figure)
    assert terms.locator("img").evaluate_all("all => all.every(one => one.naturalWidth > 0)")
    entries = terms.locator(".entry").filter(visible=True)
    sought = (("FOURIER", "Random Fourier features"), ("nystrom", "Nyström:"), ("gamma", "γ:"))
    for typed, found in sought:
        page.get_by_label("Search terms").fill(typed)
        expect(entries.filter(has_text=found)).to_have_count(1)
        expect(entries.filter(has_text="Document:")).to_have_count(0)
    for typed, first in (
        ("margin", "Margin:"),
        ("m", "m:"),
        ("chen2017", "Kernel approximation"),
        ("", "Query:"),
    ):
        page.get_by_label("Search terms").fill(typed)
        expect(entries.first).to_contain_text(re.compile(f"^{first}"))
    page.get_by_label("Search terms").fill("zzz")
    expect(entries).to_have_count(0)
    expect(terms.get_by_text("No term found.")).to_be_visible()


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


def test_a_phone_has_the_menu_and_shows_the_figure_while_a_control_moves(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{server.url}/?m=50")
    below = page.get_by_test_id("stMain")  # its room below the page, so that the open settings hide nothing
    expect(below).to_have_css("padding-bottom", "0px")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(below).to_have_css("padding-bottom", f"{0.45 * 844:.1f}px")
    links = sidebar(page).get_by_test_id("stSidebarNavLink")
    expect(links).to_have_count(len(ENTRIES))
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)
        assert link.evaluate("link => link.clientHeight") >= 24
    assert restyled(page) < 100, "each text that Plotly measures costs as much"
    places = [box(link) for link in links.all()]
    for x in {place["x"] for place in places}:
        tops = sorted(place["y"] for place in places if place["x"] == x)
        gaps = [below - above for above, below in pairwise(tops)]
        assert max(gaps) < 70, "a section's name and a row at most"

    slider = sidebar(page).get_by_role("group", name="Number of features (m)").get_by_role("slider")
    slider.scroll_into_view_if_needed()
    top, main = box(sidebar(page))["y"], page.get_by_test_id("stMain")
    answer = box(main.locator("h2"))
    assert top >= 400
    assert answer["y"] >= 0
    assert answer["y"] + answer["height"] < top
    slider.press("ArrowRight")
    wait_settled(page)
    assert query_of(page)["m"] == "100"
    assert box(main.locator(".js-plotly-plot"))["y"] < 300

    links.filter(has_text="Convergence").click()
    expect(page.get_by_role("heading", level=1, name="Convergence")).to_be_visible()
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    wait_settled(page)


def restyled(page: Page) -> int:
    """Return how many elements the browser styles anew when one is added to the body."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate("document.body.append(document.createElement('p')), document.body.offsetHeight")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    page.evaluate("document.body.lastChild.remove()")
    return max(one["args"].get("elementCount", 0) for one in events if one["name"] == "UpdateLayoutTree")


def rows_of(page: Page) -> list[str]:
    """Return texts, lines and pictures of the four rows of Nyström and Fourier."""
    return [
        page.locator(f".st-key-kernel-{row} .js-plotly-plot").evaluate(
            """chart => [...chart.querySelectorAll("text, path, image")].map(
                one => [one.textContent, one.getAttribute("d"), one.getAttribute("href")].join(" ").trim())
                .filter(Boolean).join()"""
        )
        for row in ("matrices", "plane", "draws", "rankings")
    ]


def test_figures_and_rows_follow_m_before_the_server_answers(server: Server, page: Page) -> None:
    """The figures stay on the page."""
    open_page(page, f"{server.url}/kernel_approximation?m=25&errupto=50")
    at_25 = rows_of(page)
    plane = page.locator(".st-key-kernel-plane .js-plotly-plot")
    plane.evaluate("chart => { chart.mark = 1; }")
    slider = page.locator(".st-key-m-on-page").get_by_role("slider")
    slider.press("ArrowRight")
    expect(page.get_by_role("heading", name="At m = 50").first).to_be_visible()
    wait_settled(page)
    at_50 = rows_of(page)
    assert all(before != after for before, after in zip(at_25, at_50, strict=True))
    assert len(traces(page, "kernel-plane")[0]["x"]) == 50
    page.evaluate("() => { WebSocket.prototype.send = () => {}; }")  # no server hears of what follows
    slider.press("ArrowLeft")
    wait_settled(page)
    assert rows_of(page) == at_25
    slider.press("ArrowRight")
    wait_settled(page)
    assert rows_of(page) == at_50
    expect(page.get_by_role("heading", name="At m = 50").first).to_be_visible()
    assert plane.evaluate("chart => chart.mark"), "it was drawn anew"
    page.set_viewport_size({"width": 1100, "height": 800})
    wait_settled(page)
    expect(plane.get_by_text("50 landmarks", exact=True)).to_be_visible()
    assert plane.evaluate("chart => chart.layout.width === chart.getBoundingClientRect().width")
