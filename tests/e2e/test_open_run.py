"""A point of the NDCG-against-m figure opens its run."""

from __future__ import annotations

from helpers import assert_no_errors_shown, finish_training, hover, query_of, tile, traces
from playwright.sync_api import Page

from tools.browser import Server, open_page, wait_settled

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
