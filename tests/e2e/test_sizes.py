"""Sizes of what single pages show; test_look.py measures all pages on three screens."""

from __future__ import annotations

import pytest
from helpers import box, sidebar
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page

LAPTOP, PHONE, PROJECTOR = (1366, 768), (390, 844), (1280, 720)
PLOT = ".js-plotly-plot .nsewdrag"


def seen_at(page: Page, size: tuple[int, int], url: str) -> Locator:
    """Open a page at a size; return its main part."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_page(page, url)
    return page.get_by_test_id("stMain")


def test_slider_and_headings_have_powers_in_one_style(server: Server, page: Page) -> None:
    main = seen_at(page, LAPTOP, f"{server.url}/train?m=50")
    told = main.locator("h2").first.evaluate("heading => heading.textContent")
    assert "C\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}2⁻¹⁰" in told
    power = sidebar(page).get_by_test_id("stSlider").locator(".katex-html .mord").first
    family = "element => getComputedStyle(element).fontFamily"
    assert power.evaluate(family) == main.locator("h2").first.evaluate(family)


def test_the_figure_of_runs_is_high_and_against_m(server: Server, page: Page) -> None:
    seen_at(page, LAPTOP, f"{server.url}/?m=50")  # its runs
    main = seen_at(page, LAPTOP, f"{server.url}/runs")
    expect(main.locator(".xtitle")).to_have_text("m (log)")
    assert box(main.locator(PLOT))["height"] >= 200
    assert box(main.get_by_test_id("stDataFrame"))["y"] < 768


def test_one_colour_bar_for_one_scale(server: Server, page: Page) -> None:
    main = seen_at(page, LAPTOP, f"{server.url}/low_rank?m=50")
    plots = main.locator(".js-plotly-plot")
    assert [plots.nth(k).locator(".colorbar").count() for k in (0, 1)] == [1, 0]
    widths = [
        plots.nth(k).locator(".nsewdrag").first.evaluate("area => area.getBBox().width") for k in (0, 1)
    ]
    assert widths[0] == pytest.approx(widths[1], abs=6)


def test_a_thumb_lies_over_the_learned_weight_and_the_page_scrolls(server: Server, page: Page) -> None:
    main = seen_at(page, LAPTOP, f"{server.url}/weights?m=50")
    bars = main.locator(".weights .bars")
    assert bars.evaluate("bars => bars.scrollHeight - bars.clientHeight") <= 1
    on_top = """ghost => {
        const { x, y, width, height } = ghost.getBoundingClientRect();
        return ghost.getRootNode().elementFromPoint(x + width / 2, y + height / 2) ===
            ghost.parentElement.querySelector("input")
            && getComputedStyle(ghost.nextElementSibling).position === "relative";
    }"""
    assert bars.locator(".ghost").first.evaluate(on_top)


def test_the_figure_of_weights_on_phone_and_projector(server: Server, page: Page) -> None:
    """Its bars begin early on a phone, and are seen in presentation as large as on a laptop."""
    assert box(seen_at(page, PHONE, f"{server.url}/weights?m=50").locator(".weights .beside"))["y"] <= 345
    seen = []
    for size, link in ((LAPTOP, ""), (PROJECTOR, "&large=true&alone=true")):
        beside = box(seen_at(page, size, f"{server.url}/weights?m=50{link}").locator(".weights .beside"))
        seen.append(beside["width"] * (min(size[1], beside["y"] + beside["height"]) - beside["y"]))
    assert seen[1] >= seen[0]


def test_the_example_of_a_comparison_is_in_view_on_a_projector(server: Server, page: Page) -> None:
    figure = box(seen_at(page, PROJECTOR, f"{server.url}/compare").locator(".js-plotly-plot"))
    assert figure["y"] + figure["height"] <= PROJECTOR[1]


def test_powers_on_sliders_are_read_aloud(server: Server, page: Page) -> None:
    seen_at(page, LAPTOP, f"{server.url}/train?m=50&c=-4")
    slider = sidebar(page).get_by_role("group", name="C", exact=True).get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻⁴")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻³")


def test_a_component_has_a_place_before_its_script_comes(server: Server, page: Page) -> None:
    page.route(
        "**/plane.js*",
        lambda route: route.fulfill(body="export default () => {};", content_type="text/javascript"),
    )
    page.goto(f"{server.url}/playground")
    place = page.get_by_test_id("stBidiComponentIsolated").first
    expect(place).to_be_visible()
    assert box(place)["height"] >= 300
    expect(place).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.unroute("**/plane.js*")


def test_ways_on_are_in_view_on_a_projector(server: Server, page: Page) -> None:
    look = "large=true&alone=true"
    main = seen_at(page, PROJECTOR, f"{server.url}/lessons?{look}")
    on = main.get_by_role("button", name="Next")
    expect(on).to_be_visible()
    assert box(on)["y"] + box(on)["height"] <= PROJECTOR[1]
    main = seen_at(page, PROJECTOR, f"{server.url}/lecture?{look}")
    expect(main.get_by_role("button", name="Start from an example")).to_be_in_viewport()
    expect(main.get_by_text("Which pairs are in the wrong order?")).to_be_in_viewport()
