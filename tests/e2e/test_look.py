"""Test that title, answer and first figure are visible at once, on several screens and for every visitor."""

from __future__ import annotations

import re

import pytest
from helpers import OF_STORE, assert_no_errors_shown, barriers, box, darken, follow, query_of, sidebar
from playwright.sync_api import Locator, Page, expect

from tools.browser import REPOSITORY, Server, open_page, wait_settled
from ui.controls.link import VERSION

PAGES = sorted(path.stem.replace("home", "") for path in (REPOSITORY / "pages").glob("*.py"))
DRAWN = [name for name in PAGES if name not in OF_STORE]
FIGURE = ".js-plotly-plot, .playground .square, .weights .beside, .ranked-list, .lesson .figure"
ONE_LINE = ("data", "train", "why", "ndcg_vs_m", "influence", "side_by_side")
"""Pages whose heading takes one line."""
ON_A_PHONE = {
    "sweep": 360,
    "train": 360,
    "why": 400,
    "low_rank": 360,
    "side_by_side": 360,
    "ndcg_vs_m": 390,
}
"""Where the first figure of a phone begins at most."""
OPENERS = {
    "train": "Save",
    "ndcg_vs_m": "More",
    "low_rank": "More",
    "kernel_approximation": "More",
    "convergence": "Compare with",
    "why": "Feature names",
}
QUICK = {"kernel_approximation": "&draws=1&errupto=50"}
"""Settings with which a page has its figures at once."""
_SIZES = """chart => [...chart.querySelectorAll('text, .name, li span')]
    .filter(text => text.textContent.trim())
    .map(text => parseFloat(getComputedStyle(text).fontSize))"""

_BELOW = """sidebar => [...sidebar.querySelectorAll('button, input, [role=slider], summary, a')]
    .filter(one => one.offsetParent && !one.closest('details:not([open]) > :not(summary)'))
    .filter(one => one.getBoundingClientRect().bottom > innerHeight)
    .map(one => one.getAttribute('aria-label') || one.textContent)"""
_ENDS = """sidebar => [...sidebar.querySelectorAll('[data-testid=stSlider]')].filter(
    slider => slider.getClientRects().length
).map((slider, k, all) => {
    const label = all[k + 1]?.querySelector('[data-testid=stWidgetLabel]');
    const below = label?.getBoundingClientRect().top ?? Infinity;
    const ends = [...slider.querySelectorAll('[data-testid=stSliderTickBar] p')];
    return [Math.max(...ends.map(end => end.getBoundingClientRect().bottom)), below];
}).filter(([end, label]) => end > label)"""
_ON_PLOTS = """main => [...main.querySelectorAll('.js-plotly-plot')].filter(plot => {
    const button = plot.querySelector('.modebar')?.getBoundingClientRect();
    const drawn = [...plot.querySelectorAll('.nsewdrag, .legend')];
    return drawn.map(one => one.getBoundingClientRect()).some(area =>
        button && button.top < area.bottom && button.bottom > area.top && button.left < area.right);
}).length"""

_ON_ICONS = """main => [...main.querySelectorAll('.modebar')].filter(bar => {
    const button = bar.getBoundingClientRect();
    return [...main.querySelectorAll('[class*="-tools"] :is(summary, button)')].some(icon => {
        const { left, right, top, bottom } = icon.getBoundingClientRect();
        return button.left < right && button.right > left && button.top < bottom && button.bottom > top;
    });
}).length"""


def bottom(page: Page, selector: str) -> float:
    """Return the lower edge of the first visible element, in pixels from the top."""
    box = page.get_by_test_id("stMain").locator(selector).filter(visible=True).first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    return box["y"] + box["height"]


@pytest.mark.parametrize("name", DRAWN)
def test_title_answer_and_first_figure_are_in_view_on_a_laptop(server: Server, page: Page, name: str) -> None:
    """And while it is open: figures have a text; it is read in the dark, on a phone and on a wide screen."""
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/{name}?m=50{QUICK.get(name, '')}")
    assert_no_errors_shown(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    if name:
        assert bottom(page, "h1") < bottom(page, "h2") < bottom(page, FIGURE) <= 768
    else:  # Home greets with a list, and three ways in
        assert bottom(page, "h1") < bottom(page, ".list .sum") < bottom(page, "h2") <= 768
    title = page.get_by_role("heading", level=1).bounding_box()
    assert title is not None
    assert title["y"] + title["height"] / 2 == pytest.approx(69, abs=1), "at one height on every page"
    assert page.get_by_test_id("stMain").evaluate(_ON_PLOTS) == 0, "no button lies on what is drawn"
    assert page.get_by_test_id("stMain").evaluate(_ON_ICONS) == 0, "none on the icons below it"
    assert sidebar(page).evaluate(_ENDS) == [], "the ends of a slider lie on the next label"
    assert sidebar(page).evaluate(_BELOW) == [], "a control of the sidebar is out of view"
    header = page.get_by_test_id("stHeader").bounding_box()
    assert header is not None
    assert header["y"] + header["height"] <= title["y"], "the menu lies on the title"
    if name != "what_if":  # its figure comes with the first change
        assert_figures_have_a_text(page)
    if name in ONE_LINE:
        assert_heading_and_icons(page.get_by_test_id("stMain"))
    if name in OPENERS:
        assert_what_opens_lies_over_no_figure(page, OPENERS[name])
    assert not barriers(page)
    assert_sizes_on_a_phone(page, name)
    assert not barriers(page)
    assert_sizes_on_a_wide_screen(page, name)
    assert_no_errors_shown(page)


def assert_what_opens_lies_over_no_figure(page: Page, opener: str) -> None:
    main = page.get_by_test_id("stMain")
    opened = main.locator("details").filter(has=page.locator("summary").filter(has_text=opener)).first
    opened.locator("summary").first.click()
    expect(opened).to_have_attribute("open", "")
    place = box(opened)
    for figure in map(box, main.locator(".js-plotly-plot").filter(visible=True).all()):
        lowest, end = figure["y"] + figure["height"], place["y"] + place["height"]
        assert lowest <= place["y"] + 5 or end <= figure["y"] + 5
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    opened.locator("summary").first.click()


def assert_heading_and_icons(main: Locator) -> None:
    """Check that the heading takes one line and the icons lie in the figure's lower right corner."""
    heading, figure = box(main.locator("h2")), box(main.locator(".js-plotly-plot"))
    assert heading["height"] < 30
    for label in ("About this figure", "Save"):
        icon = box(main.locator("[class*=-tools] summary").filter(has_text=label))
        assert icon["width"] <= 30
        assert icon["height"] <= 30
        assert icon["x"] + icon["width"] > figure["x"] + 0.9 * figure["width"]
        assert icon["y"] < figure["y"] + figure["height"] + 5
    legend = main.locator(".js-plotly-plot").filter(visible=True).first.locator(".legend")
    if legend.count():
        assert box(legend)["y"] - heading["y"] - heading["height"] < 40


def assert_sizes_on_a_phone(page: Page, name: str) -> None:
    """Check that nothing is wider than a dark phone, and that the first figure begins high enough."""
    page.set_viewport_size({"width": 390, "height": 844})
    darken(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    if not name:
        assert box(main.locator(".list"))["y"] <= 330
    if name in ON_A_PHONE:
        assert box(main.locator(".js-plotly-plot"))["y"] <= ON_A_PHONE[name]
    if name == "train":
        pin, clear = (box(main.get_by_role("button", name=label)) for label in ("Pin this run", "Clear pins"))
        assert pin["y"] == clear["y"]


def assert_sizes_on_a_wide_screen(page: Page, name: str) -> None:
    """Check that lines stay short, and that tabs lie beside the figure."""
    if name not in ("", "train", "data", "compare"):
        return
    page.set_viewport_size({"width": 1920, "height": 1080})
    wait_settled(page)
    main = page.get_by_test_id("stMain")
    lines = main.locator("[data-testid=stMarkdownContainer] > p, h2").filter(visible=True)
    assert max(lines.evaluate_all("all => all.map(line => line.clientWidth)")) <= 1100
    if name in ("train", "data"):
        figure, tabs = box(main.locator(".js-plotly-plot")), box(main.locator(".stTabs"))
        assert tabs["y"] < figure["y"]
        assert tabs["x"] > figure["x"] + figure["width"]


def assert_figures_have_a_text(page: Page) -> None:
    """Every chart is a figure with a name of two words at least, and there is one."""
    named = page.get_by_role("figure", name=re.compile(r"\w+ \w+"))
    expect(named).not_to_have_count(0, timeout=60_000)  # on a busy machine its runs go on as a job
    wait_settled(page)
    kinds = "[data-testid=stPlotlyChart], .playground .square, .weights, .lesson .figure"
    charts = page.locator(kinds).filter(visible=True)
    assert charts.count() == named.count() > 0


@pytest.mark.parametrize("name", DRAWN)
def test_a_projector_shows_one_figure_with_its_answer(server: Server, page: Page, name: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="dark")  # on a laptop pages are opened in the light
    open_page(page, f"{server.url}/{name}?m=50&large=true&alone=true")
    assert bottom(page, "h2") < bottom(page, FIGURE) <= 720
    expect(sidebar(page).get_by_role("button", name="Presentation")).to_be_in_viewport(ratio=1)
    for chosen in page.locator(":is(.st-key-data, .st-key-fold-named) input").all():
        whole = "input => input.closest('details:not([open])') || input.scrollWidth <= input.clientWidth"
        assert chosen.evaluate(whole), "its value is whole"
    for documents in page.locator(".ranked-list .view, .weights .right").all():
        assert documents.evaluate("list => list.scrollHeight - list.clientHeight") <= 1
    icons = page.locator("[data-testid=stTooltipIcon] svg").filter(visible=True)
    sizes = set(icons.evaluate_all("all => all.map(icon => icon.clientWidth)"))
    assert sizes == ({20} if name != "lessons" else set()), "lessons have no icons"
    for bars in page.locator(".weights .bars").all():
        assert bars.evaluate("bars => bars.scrollHeight > bars.clientHeight")
        expect(page.locator(".weights .more")).to_have_text(re.compile(r"^↓ \d+ more below$"))
    chart = page.get_by_test_id("stMain").locator(FIGURE).filter(visible=True)
    expect(chart).to_have_count(1)
    assert min(chart.evaluate(_SIZES)) >= 13
    assert (
        page.get_by_test_id("stMain")
        .locator("h2")
        .first.evaluate("heading => parseFloat(getComputedStyle(heading).fontSize)")
        >= 20
    )


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("compare", ("Compare with the linear model", "Train")),
        ("sweep", ("Start the sweep",)),
    ],
)
def test_a_projector_shows_the_way_on_where_there_is_no_result(
    server: Server, page: Page, name: str, ways: tuple[str, ...]
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/{name}?m=50&large=true&alone=true")
    for way in ways:
        button = page.get_by_test_id("stMain").get_by_role("button", name=way)
        expect(button).to_be_in_viewport(ratio=1)
    if name == "sweep":
        assert bottom(page, FIGURE) <= 720
        expect(page.get_by_role("group", name="C from, to")).to_be_visible()


def test_large_type_and_settings_are_in_the_address_of_the_next_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data?m=50&large=true&alone=true")
    follow(page, "Train")
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert query_of(page).items() >= {"m": "50", "large": "true", "alone": "true"}.items()


def test_a_tab_that_was_opened_stays_on_its_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data?m=50")
    page.get_by_role("tab", name="One query").click()
    wait_settled(page)
    follow(page, "Two models")
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    assert "view" not in query_of(page)
    expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")


def test_a_phone_shows_the_figure_while_a_control_moves(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    open_page(page, f"{server.url}/?m=50")
    page.get_by_test_id("stExpandSidebarButton").click()
    slider = (
        sidebar(page).get_by_role("group", name="Number of features (m)", exact=True).get_by_role("slider")
    )
    for link in sidebar(page).get_by_test_id("stSidebarNavLink").all():
        expect(link).to_be_in_viewport(ratio=1)
        assert link.evaluate("link => link.clientHeight") >= 24
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


@pytest.mark.parametrize("name", sorted(OF_STORE))
def test_nothing_stands_in_the_way_of_anybody(server: Server, page: Page, name: str) -> None:
    """Check pages without a figure at first; the test above checks the others."""
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/{name}?m=50")
    assert not barriers(page)
    darken(page)
    assert not barriers(page)
    assert sidebar(page).evaluate(_BELOW) == [], "a control of the sidebar is out of view"
    assert_sizes_on_a_wide_screen(page, name)


def test_links_on_home_have_each_parameter_once_and_keep_the_settings(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?m=50&c=-2&g=-1")
    page.get_by_test_id("stMain").get_by_role("link", name="Two models").click()
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    address = page.evaluate("location.search")
    assert sorted(address.removeprefix("?").split("&")) == ["c=-2", "g=-1", "m=50", f"v={VERSION}"]
    page.reload()
    wait_settled(page)
    assert query_of(page).items() >= {"m": "50", "c": "-2", "g": "-1"}.items()
    expect(page.get_by_text("is not available")).to_have_count(0)


def test_the_browser_names_the_page_and_back_leads_to_the_one_before(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&metric=MAP")
    expect(page).to_have_title("Train · rankviz")
    assert_no_explanation_covers_what_it_explains(page)
    page.get_by_role("button", name="Pin this run").click()
    wait_settled(page)
    assert "pins" in query_of(page)
    follow(page, "Two models")
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    metric = page.get_by_test_id("stMain").get_by_role("combobox", name="Metric")
    expect(metric).to_have_value("MAP")
    assert query_of(page)["metric"] == "MAP"
    metric.fill("P@5")  # the menu is longer than what it draws
    page.get_by_role("option", name="P@5", exact=True).click()
    wait_settled(page)
    assert query_of(page)["metric"] == "P@5"
    page.go_back()
    page.wait_for_url("**/train*")
    wait_settled(page)
    expect(metric).to_have_value("P@5")  # the one chosen last
    assert query_of(page).items() >= {"m": "50", "metric": "P@5"}.items()
    assert "pins" in query_of(page), "and its own controls are as left"
    page.go_back()
    page.wait_for_url("about:blank")


def assert_no_explanation_covers_what_it_explains(page: Page) -> None:
    opener, told = page.get_by_role("button", name="Presentation"), page.get_by_test_id("stTooltipContent")
    opener.click()
    expect(page.get_by_text("First figure alone")).to_be_visible()
    expect(told).to_be_hidden()
    page.keyboard.press("Escape")


def test_a_disabled_button_can_be_read(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data")
    page.get_by_test_id("stExpander").filter(has_text="Bring your own data").locator("summary").click()
    button = page.get_by_role("button", name="Check and add")
    expect(button).to_be_disabled()

    def brightest() -> float:
        colour = "text => Math.max(...getComputedStyle(text).color.match(/[0-9.]+/g).slice(0, 3).map(Number))"
        return float(button.locator("p").evaluate(colour))

    assert brightest() < 100
    darken(page)
    expect(button).to_be_disabled()
    assert brightest() >= 100
