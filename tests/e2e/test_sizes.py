"""Sizes of what pages show: figures, headings, lines of text, icons; on phones and wide screens."""

from __future__ import annotations

import pytest
from helpers import sidebar
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page

LAPTOP, WIDE, PHONE, PROJECTOR = (1366, 768), (1920, 1080), (390, 844), (1280, 720)
PLOT = ".js-plotly-plot .nsewdrag"


def seen_at(page: Page, size: tuple[int, int], url: str) -> Locator:
    """Open a page at a size; return its main part."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_page(page, url)
    return page.get_by_test_id("stMain")


def box(found: Locator) -> dict[str, float]:
    """Return place and size of the first visible element."""
    measured = found.filter(visible=True).first.bounding_box()
    assert measured is not None
    return dict(measured)


@pytest.mark.parametrize("name", ["data", "train", "why", "ndcg_vs_m", "influence", "side_by_side"])
def test_a_heading_takes_one_line_and_icons_lie_in_the_corner(server: Server, page: Page, name: str) -> None:
    main = seen_at(page, LAPTOP, f"{server.url}/{name}?m=50")
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


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("", 330),
        ("sweep", 360),
        ("train", 360),
        ("why", 400),
        ("low_rank", 360),
        ("side_by_side", 360),
        ("ndcg_vs_m", 390),
    ],
)
def test_the_first_figure_of_a_phone(server: Server, page: Page, name: str, most: int) -> None:
    main = seen_at(page, PHONE, f"{server.url}/{name}?m=50")
    assert box(main.locator(".js-plotly-plot"))["y"] <= most
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    if name == "train":
        pin, clear = (box(main.get_by_role("button", name=label)) for label in ("Pin this run", "Clear pins"))
        assert pin["y"] == clear["y"]


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


@pytest.mark.parametrize(
    ("name", "opener"),
    [
        ("train", "Save"),
        ("ndcg_vs_m", "More"),
        ("low_rank", "More"),
        ("kernel_approximation", "More"),
        ("convergence", "Compare with"),
        ("why", "Feature names"),
    ],
)
def test_what_opens_lies_over_no_figure(server: Server, page: Page, name: str, opener: str) -> None:
    main = seen_at(page, LAPTOP, f"{server.url}/{name}?m=50")
    opened = main.locator("details").filter(has=page.locator("summary").filter(has_text=opener)).first
    opened.locator("summary").first.click()
    expect(opened).to_have_attribute("open", "")
    place = box(opened)
    for figure in main.locator(".js-plotly-plot").filter(visible=True).all():
        drawn = box(figure)
        assert (
            drawn["y"] + drawn["height"] <= place["y"] + 5 or place["y"] + place["height"] <= drawn["y"] + 5
        )
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_powers_on_sliders_are_read_aloud(server: Server, page: Page) -> None:
    seen_at(page, LAPTOP, f"{server.url}/train?m=50&c=-4")
    slider = sidebar(page).get_by_role("group", name="C", exact=True).get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻⁴")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻³")


@pytest.mark.parametrize("name", ["", "train", "data", "compare"])
def test_lines_and_room_on_a_wide_screen(server: Server, page: Page, name: str) -> None:
    main = seen_at(page, WIDE, f"{server.url}/{name}?m=50")
    lines = main.locator("[data-testid=stMarkdownContainer] > p, h2").filter(visible=True)
    assert max(lines.evaluate_all("all => all.map(line => line.clientWidth)")) <= 1100
    if name in ("train", "data"):
        figure, tabs = box(main.locator(".js-plotly-plot")), box(main.locator(".stTabs"))
        assert tabs["y"] < figure["y"]
        assert tabs["x"] > figure["x"] + figure["width"]


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
