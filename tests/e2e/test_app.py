"""The app in a browser on the bundled folds: sliders, links, points, films, documentation, menu."""

from collections.abc import Iterator
from itertools import cycle, islice, pairwise
from urllib.parse import parse_qsl

import pytest
from helpers import (
    assert_no_errors_shown,
    box,
    choose,
    finish_training,
    follow,
    hover,
    query_of,
    sidebar,
    step_slider,
    tile,
    traces,
)
from playwright.sync_api import Page, expect

from tools.browser import REPOSITORY, Server, open_page, wait_settled
from ui.controls.navigation import ENTRIES
from ui.learn.home_words import WELCOME


def test_a_new_run_shows_the_effect_of_a_setting_and_a_link_to_all_settings_the_same_figures(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/train?seed=4711")
    linear, kernel = traces(page, "ndcg-at-k")
    step_slider(page, "Number of features (m)", -2)
    linear_after, kernel_after = traces(page, "ndcg-at-k")
    assert linear_after == linear
    assert kernel_after["name"] == "Nyström, m = 50"
    assert kernel_after["y"] != kernel["y"]
    slider = sidebar(page).get_by_role("group", name="C", exact=True).get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻⁴")
    step_slider(page, "C", 1)
    expect(page.locator(".st-key-effect")).to_be_visible()
    expect(page.locator(".st-key-effect")).to_contain_text("C 2⁻⁴ → 2⁻³: NDCG@10")
    step_slider(page, "C", 2)
    expect(slider).to_have_attribute("aria-valuetext", "2⁻¹")
    choose(page, "Fold", "Fold 2")
    link, state, shown = page.evaluate("location.href"), query_of(page), traces(page, "ndcg-at-k")
    assert state.items() >= {"m": "50", "c": "-1", "fold": "Fold2"}.items()
    assert_no_errors_shown(page)

    other = page.context.new_page()
    open_page(other, link)
    assert query_of(other) == state
    assert traces(other, "ndcg-at-k") == shown


def test_the_first_and_the_last_value_of_a_control_survive_in_a_link(server: Server, page: Page) -> None:
    """Streamlit drops from the address what equals the widget's own default: that must be ours."""
    link = "m=5&c=10&g=-12&fold=Fold3"
    open_page(page, f"{server.url}/train?{link}")
    expect(page.get_by_text("fold 3 · Nyström m = 5 · C = 2¹⁰ · γ = 2⁻¹²").first).to_be_visible()
    assert query_of(page).items() >= dict(parse_qsl(link)).items()


def test_play_moves_to_the_last_iteration_and_the_slider_back(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/convergence?m=10&plain=false")
    film = page.locator(".st-key-playback")
    last = film.locator(".js-plotly-plot").evaluate("chart => chart._transitionData._frames.length - 1")
    expect(film).to_contain_text("Iteration 0:")
    film.locator(".updatemenu-button").first.click()
    expect(film).to_contain_text(f"Iteration {last}:")
    steps = film.locator(".slider-rail-touch-rect")
    at = box(steps)
    page.mouse.click(at["x"] + 2, at["y"] + at["height"] / 2)
    expect(film).to_contain_text("Iteration 0:")


_PLACE = """(chart, m) => {
    const trace = chart._fullData.find(t => t.name === "Nyström");
    const k = Array.from(trace.x, Number).indexOf(m);
    const { xaxis, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect();
    return [
        box.left + xaxis._offset + xaxis.d2p(Number(trace.x[k])),
        box.top + yaxis._offset + yaxis.d2p(Number(trace.y[k])),
    ];
}"""


def click_point(page: Page, m: int) -> None:
    figure = page.locator(".st-key-ndcg-against-m .js-plotly-plot")
    figure.scroll_into_view_if_needed()
    x, y = figure.evaluate(_PLACE, m)
    hover(page, figure, x, y)
    page.mouse.click(x, y)
    wait_settled(page)


def test_a_clicked_point_opens_its_run_and_survives_a_reload(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/ndcg_vs_m?upto=50&m=10&c=-3")
    finish_training(page)
    curve = next(t for t in traces(page, "ndcg-against-m") if t["name"] == "Nyström")
    click_point(page, 50)
    page.get_by_role("button", name="Open Nyström, m = 50").click()
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert query_of(page)["m"] == "50"
    assert query_of(page)["c"] == "-3"
    shown = tile(page, "NDCG@10")
    assert shown == f"{curve['y'][-1]:.3f}"
    page.reload()
    wait_settled(page)
    assert tile(page, "NDCG@10") == shown
    assert_no_errors_shown(page)


BUILT = (REPOSITORY / "static" / "docs" / "index.html").is_file()


@pytest.mark.skipif(not BUILT, reason="make docs has not been run")
def test_home_leads_to_the_documentation(page: Page, server: Server) -> None:
    open_page(page, server.url)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Documentation").click()
    documentation = opened.value
    expect(documentation.get_by_role("heading", name="rankviz", level=1)).to_be_visible()
    assert documentation.url.startswith(server.url)
    documentation.get_by_role("link", name="Mathematics").first.click()
    expect(documentation.get_by_role("heading", name="Feature maps")).to_be_visible()
    documentation.set_viewport_size({"width": 420, "height": 900})
    width = documentation.evaluate("document.documentElement.scrollWidth")
    assert width <= 420, "the page scrolls sideways"


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


CLOSABLE = ':is([data-testid="stPopoverButton"], summary):visible'
EVERYWHERE = ("About this figure", "Save", "Terms")
"""The same on all pages, so one page tries them."""
SECONDS = 20
"""A page may take so long; the fault lasted until the next click."""
FILES = {entry.file: entry for entry in ENTRIES}
LEFT = ("home", "train", "what_if", "train")
"""Pages with boxes of their own; test_every_page.py reads the code of all for the cause of the fault."""
TIMES = 10
"""Every box of Train, two of the other pages."""


def test_the_menu_leads_on_whatever_is_open(server: Server, page: Page) -> None:
    logged = len(server.log())
    open_page(page, f"{server.url}/?m=10&upto=10&exact=false")
    tried: dict[str, Iterator[str]] = {}
    for left, to in islice(pairwise(cycle(FILES[file] for file in LEFT)), TIMES):
        main = page.get_by_test_id("stMain")
        there = page if left.file == "home" else main  # the sidebar is the same on all
        labels = there.locator(CLOSABLE).all_inner_texts()
        if left.file not in tried:
            own = [label for label in labels if not any(name in label for name in EVERYWHERE)]
            tried[left.file] = cycle(dict.fromkeys(labels if left.file == "train" else own[:2]))
        there.locator(CLOSABLE).nth(labels.index(next(tried[left.file]))).click()
        wait_settled(page)
        follow(page, to.title)
        name = WELCOME if to.file == "home" else to.title
        heading = main.get_by_role("heading", level=1, name=name, exact=True)
        expect(heading).to_be_visible(timeout=1000 * SECONDS)
        wait_settled(page, SECONDS)
        expect(heading).to_be_visible()  # still: the fault took the page away when it was complete
    assert "find fragment" not in server.log()[logged:]
