"""Helpers of the browser tests: controls by their labels, figures by their keys."""

from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tools.browser import wait_settled
from ui.controls.navigation import ENTRIES

OF_STORE = {"runs", "compare", "lecture"}
"""Pages of what is in the run store, empty where a test opens them first: no figure is there then."""
SIZE: ViewportSize = {"width": 1440, "height": 900}
Theme = Literal["light", "dark"]
BACKGROUND: dict[Theme, str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 20)"}
_TRACES = """chart => (chart._fullData || []).map(trace => ({
    name: trace.name,
    x: Array.from(trace.x || [], String),
    y: Array.from(trace.y || [], Number),
}))"""
_VALUES = """charts => charts.map(chart => [
    chart.closest('[class*="st-key-"]').className.match(/st-key-(\\S+)/)[1],
    (chart._fullData || []).map(trace => ({
        name: trace.name || '',
        x: JSON.stringify(Array.from(trace.x || [])),
        y: JSON.stringify(Array.from(trace.y || [])),
        z: JSON.stringify(Array.from(trace.z || [], row => Array.from(row))),
        marked: JSON.stringify([trace.selectedpoints, trace.marker && trace.marker.opacity]),
    })),
])"""


def forget(tab: Page) -> None:
    """Reset the tab to a new visitor's, and close all others."""
    for other in tab.context.pages:
        if other != tab:
            other.close()
    if tab.url.startswith("http"):
        tab.evaluate("() => (localStorage.clear(), sessionStorage.clear())")
    tab.goto("about:blank")
    tab.context.clear_cookies()
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    tab.set_viewport_size(SIZE)


def box(found: Locator) -> dict[str, float]:
    """Return place and size of the first visible element."""
    measured = found.filter(visible=True).first.bounding_box()
    assert measured is not None
    return dict(measured)


def darken(page: Page) -> None:
    """Have the system turn dark while the page is open."""
    turn(page, "dark")


def turn(page: Page, theme: Theme) -> None:
    """Give the system another theme while the page is open."""
    page.emulate_media(color_scheme=theme)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUND[theme])
    wait_settled(page)


def barriers(page: Page) -> list[tuple[str, list[str]]]:
    """Return the problems that axe-core finds, minor ones excepted, with some of their elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    told = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    found = [one for one in told if one["impact"] != "minor"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebar")


def follow(page: Page, title: str) -> None:
    """Choose a page in the menu along the top."""
    menu = page.get_by_test_id("stTopNav")
    if section := next(entry.section for entry in ENTRIES if entry.title == title):
        menu.get_by_role("button", name=section, exact=True).click()
        page.get_by_role("menuitem", name=title, exact=True).click()
    else:
        menu.get_by_role("link", name=title, exact=True).click()


def answer(page: Page) -> str:
    """The first heading of the page's results."""
    heading = page.get_by_test_id("stMain").get_by_role("heading", level=2).first
    return heading.inner_text().replace("\xa0", " ")


def traces(page: Page, key: str) -> list[dict[str, Any]]:
    """Name, x and y of every trace of the figure with this key, as Plotly draws them."""
    chart = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(chart).to_have_count(1)
    drawn: list[dict[str, Any]] = chart.evaluate(_TRACES)
    assert drawn, f"the figure {key} shows nothing"
    return drawn


def chart(page: Page, name: str) -> Locator:
    """A chart whose key ends in a number after a change of what is selected or marked."""
    found = page.locator(f"[class*='st-key-{name}'] .js-plotly-plot")
    expect(found).to_have_count(1)
    return found


def place_in_list(page: Page, key: str, document: str) -> tuple[float, float]:
    """Return a document's place on the screen, in the left of two ranked lists."""
    lists = chart(page, key)
    lists.scroll_into_view_if_needed()
    x, y = lists.evaluate(
        """(chart, name) => {
            const area = chart.querySelector('.nsewdrag').getBoundingClientRect();
            const { xaxis, yaxis } = chart._fullLayout;
            for (const trace of chart._fullData.filter(trace => trace.mode === 'markers+text')) {
                const at = trace.customdata.findIndex(row => row[0] === name);
                if (at >= 0 && trace.x[at] === 0) {
                    return [area.x + xaxis.l2p(0), area.y + yaxis.l2p(trace.y[at])];
                }
            }
        }""",
        document,
    )
    return x, y


def choose(page: Page, label: str, option: str) -> None:
    sidebar(page).get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    wait_settled(page)


def step_slider(page: Page, label: str, steps: int) -> None:
    """Move a slider in the sidebar by the arrow keys, right or (negative) left."""
    slider = sidebar(page).get_by_role("group", name=label, exact=True).get_by_role("slider")
    for _ in range(abs(steps)):
        before = slider.get_attribute("aria-valuenow") or ""
        slider.press("ArrowRight" if steps > 0 else "ArrowLeft")
        expect(slider).not_to_have_attribute(
            "aria-valuenow", before
        )  # a busy machine may draw the thumb late
    wait_settled(page)


def query_of(page: Page) -> dict[str, str]:
    """The state in the address bar (`page.url` lags behind it), once the version has been put there."""
    page.wait_for_function("() => new URLSearchParams(location.search).has('v')")
    return dict(parse_qsl(urlsplit(page.evaluate("location.href")).query))


def assert_no_errors_shown(page: Page) -> None:
    """No error box and no uncaught exception on the page."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def tile(page: Page, label: str) -> str:
    """The number that a tile of the page shows."""
    metric = page.get_by_test_id("stMetric").filter(has_text=label)
    return metric.get_by_test_id("stMetricValue").inner_text().strip()


def reveal_test(page: Page) -> None:
    page.get_by_test_id("stMain").get_by_text("Reveal test", exact=True).click()
    wait_settled(page)


def figures(page: Page) -> dict[str, list[dict[str, str]]]:
    """All visible figures by their keys: name, values and marked points of every trace, as JSON."""
    charts = page.get_by_test_id("stMain").locator(".js-plotly-plot").filter(visible=True)
    drawn: dict[str, list[dict[str, str]]] = dict(charts.evaluate_all(_VALUES))
    assert all(drawn.values()), "a figure shows nothing"
    return drawn


def hover(page: Page, figure: Locator, x: float, y: float) -> None:
    """Move the pointer to a point of a figure, until Plotly has noticed: a click selects what is hovered."""
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    page.wait_for_function("figure => figure._hoverdata?.length > 0", arg=figure.element_handle())


def finish_training(page: Page, seconds: float = 120) -> None:
    """Press "Train in the background" where it is offered, as on a busy machine; wait for the job's end.

    A run that took longer than predicted has become a job by itself.
    """
    offer, stop = (
        page.get_by_role("button", name=name) for name in ("Train in the background", "Stop the job")
    )
    if offer.count():
        offer.click()
        wait_settled(page)
    elif not stop.count():
        return
    expect(page.get_by_role("button", name="Stop the job")).to_have_count(0, timeout=1000 * seconds)
    wait_settled(page)
    expect(offer).to_have_count(0)


def tab_to(page: Page, selector: str, most: int = 60) -> None:
    """Press Tab until an element of the lesson that matches has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.locator(f".lesson {selector}:focus").count():
            return
    raise AssertionError(f"Tab does not lead to {selector}")
