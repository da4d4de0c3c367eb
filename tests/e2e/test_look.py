"""What is seen at once: title, answer and first figure, on a laptop, a projector and a phone; and by whom."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers import OF_STORE, assert_no_errors_shown, query_of, sidebar
from playwright.sync_api import Page, expect

from tools.browser import REPOSITORY, Server, open_page, wait_settled
from ui.shared.link import VERSION

PAGES = sorted(path.stem.replace("home", "") for path in (REPOSITORY / "pages").glob("*.py"))
DRAWN = [name for name in PAGES if name not in OF_STORE]
FIGURE = ".js-plotly-plot, .playground .square, .weights .beside, .ranked-list"
BAD = ("serious", "critical")
_SIZES = """chart => [...chart.querySelectorAll('text, .name, li span')]
    .filter(text => text.textContent.trim())
    .map(text => parseFloat(getComputedStyle(text).fontSize))"""


def bottom(page: Page, selector: str) -> float:
    """Where the first visible element of the main part ends, in pixels from the top."""
    box = page.get_by_test_id("stMain").locator(selector).filter(visible=True).first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    return box["y"] + box["height"]


@pytest.mark.parametrize("name", DRAWN)
def test_title_answer_and_first_figure_are_in_view_on_a_laptop(server: Server, page: Page, name: str) -> None:
    """And figures have a text, and the page fits a narrow screen, while it is open."""
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/{name}?m=50")
    assert_no_errors_shown(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert bottom(page, "h1") < bottom(page, "h2") < bottom(page, FIGURE) <= 768
    for label in ("Number of features (m)", "C", "γ"):
        box = sidebar(page).get_by_role("group", name=label, exact=True).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768, label
    assert_figures_have_a_text(page)
    assert not serious(page)
    page.set_viewport_size({"width": 420, "height": 900})
    wait_settled(page)
    assert page.get_by_test_id("stMain").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert_no_errors_shown(page)


def assert_figures_have_a_text(page: Page) -> None:
    """Every chart is a figure with a name of two words at least, and there is one."""
    named = page.get_by_role("figure", name=re.compile(r"\w+ \w+"))
    expect(named).not_to_have_count(0, timeout=60_000)  # on a busy machine its runs go on as a job
    wait_settled(page)
    charts = page.locator("[data-testid=stPlotlyChart], .playground .square, .weights").filter(visible=True)
    assert charts.count() == named.count() > 0


def test_the_sidebar_leads_to_every_page(server: Server, page: Page) -> None:
    open_page(page, server.url)
    links = sidebar(page).get_by_test_id("stSidebarNavLink").evaluate_all("all => all.map(a => a.pathname)")
    assert sorted(links) == sorted(f"/{name}" for name in PAGES)


@pytest.mark.parametrize("name", DRAWN)
def test_a_projector_shows_one_figure_with_its_answer(server: Server, page: Page, name: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/{name}?m=50&large=true&alone=true")
    assert bottom(page, "h2") < bottom(page, FIGURE) <= 720
    switches = sidebar(page).get_by_role("button", name="Large type, one figure")
    for way in (switches, *sidebar(page).get_by_test_id("stSidebarNavLink").all()):
        box = way.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 360, "no setting is in the way of other pages and of the switches"
    for documents in page.locator(".ranked-list .view, .weights .right").all():
        assert documents.evaluate("list => list.scrollHeight - list.clientHeight") <= 1
    chart = page.get_by_test_id("stMain").locator(FIGURE).filter(visible=True)
    expect(chart).to_have_count(1)
    assert min(chart.evaluate(_SIZES)) >= 13
    assert (
        page.get_by_test_id("stMain")
        .locator("h2")
        .first.evaluate("heading => parseFloat(getComputedStyle(heading).fontSize)")
        >= 20
    )


def test_large_type_and_settings_are_in_the_address_of_the_next_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data?m=50&large=true&alone=true")
    sidebar(page).get_by_role("link", name="Train").click()
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert query_of(page).items() >= {"m": "50", "large": "true", "alone": "true"}.items()


def test_a_tab_that_was_opened_stays_on_its_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data?m=50")
    page.get_by_role("tab", name="One query").click()
    wait_settled(page)
    for name, title in (("low_rank", "Low rank"), ("side_by_side", "Side by side")):
        sidebar(page).get_by_role("link", name=title).click()
        page.wait_for_url(f"**/{name}*")
        wait_settled(page)
        assert "view" not in query_of(page)
        expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab").nth(1).click()
        wait_settled(page)


@pytest.mark.parametrize("name", ["", "why"])
def test_a_phone_shows_the_figure_while_a_control_moves(server: Server, page: Page, name: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    open_page(page, f"{server.url}/{name}?m=50")
    page.get_by_test_id("stExpandSidebarButton").click()
    slider = (
        sidebar(page).get_by_role("group", name="Number of features (m)", exact=True).get_by_role("slider")
    )
    slider.scroll_into_view_if_needed()
    box = sidebar(page).bounding_box()
    assert box is not None
    assert box["y"] >= 400
    assert bottom(page, "h2") < box["y"]
    slider.press("ArrowRight")
    wait_settled(page)
    assert query_of(page)["m"] == "100"
    box = page.get_by_test_id("stMain").locator(".js-plotly-plot").first.bounding_box()
    assert box is not None
    assert box["y"] < 300


def serious(page: Page) -> list[tuple[str, list[str]]]:
    """What axe-core finds in the way of those who see little or use no mouse, with some of the elements."""
    found = [one for one in Axe().run(page).response["violations"] if one["impact"] in BAD]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_serious_stands_in_the_way_of_anybody_in_the_dark(
    server: Server, page: Page, name: str
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.emulate_media(color_scheme="dark")
    open_page(page, f"{server.url}/{name}?m=50")
    assert not serious(page)


def test_links_on_home_have_each_parameter_once_and_keep_the_settings(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?m=50&c=-2&g=-1")
    page.get_by_test_id("stMain").get_by_role("link", name="Side by side").click()
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    address = page.evaluate("location.search")
    assert sorted(address.removeprefix("?").split("&")) == ["c=-2", "g=-1", "m=50", f"v={VERSION}"]
    page.reload()
    wait_settled(page)
    assert query_of(page).items() >= {"m": "50", "c": "-2", "g": "-1"}.items()
    expect(page.get_by_text("This link asks for what is not offered")).to_have_count(0)


def test_what_a_page_does_not_read_of_its_link_is_said(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&seeds=5&view=Numbers&stranger=1")
    expect(page.get_by_text("does not read what its link has: seeds = 5, stranger = 1.")).to_be_visible()
    open_page(page, f"{server.url}/ndcg_vs_m?m=50&seeds=2")
    expect(page.get_by_text("does not read what its link has")).to_have_count(0)


def test_the_browser_names_the_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50")
    expect(page).to_have_title("Train · rankviz")


def test_back_leads_to_the_page_before(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50")
    page.get_by_role("button", name="Pin this run").click()
    wait_settled(page)
    assert "pins" in query_of(page)
    sidebar(page).get_by_role("link", name="Data").click()
    page.wait_for_url("**/data*")
    wait_settled(page)
    page.go_back()
    page.wait_for_url("**/train*")
    page.go_back()
    page.wait_for_url("about:blank")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_disabled_button_can_be_read(server: Server, page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    open_page(page, f"{server.url}/data")
    page.get_by_test_id("stExpander").filter(has_text="Bring your own data").locator("summary").click()
    button = page.get_by_role("button", name="Check and add")
    expect(button).to_be_disabled()
    colour = button.locator("p").evaluate(
        "text => getComputedStyle(text).color.match(/[0-9.]+/g).map(Number)"
    )
    assert (max(colour[:3]) < 100) is (scheme == "light"), colour
