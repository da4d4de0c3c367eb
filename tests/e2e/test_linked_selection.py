"""Charts that share a selection, and pins: what is marked by hand is in the address and comes back."""

from __future__ import annotations

from helpers import assert_no_errors_shown, query_of, traces
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page, wait_settled

_POINT = """(chart, query) => {
    const trace = chart._fullData.find(trace => trace.name === 'queries');
    const at = trace.customdata.findIndex(row => row[0] === query);
    const area = chart.querySelector('.nsewdrag').getBoundingClientRect();
    const { xaxis, yaxis } = chart._fullLayout;
    return [area.x + xaxis.l2p(trace.x[at]), area.y + yaxis.l2p(trace.y[at])];
}"""
_MARKED = """chart => {
    const trace = chart._fullData.find(trace => trace.name === 'queries');
    return Array.from(trace.selectedpoints || [], at => trace.customdata[at][0]).sort((a, b) => a - b);
}"""


def chart(page: Page, name: str) -> Locator:
    """A chart of the Side by side page; its key ends in a number after a Clear."""
    found = page.locator(f"[class*='st-key-{name}'] .js-plotly-plot")
    expect(found).to_have_count(1)
    return found


def click_query(page: Page, name: str, query: int) -> None:
    """Click the point of a query."""
    chart(page, name).scroll_into_view_if_needed()
    x, y = chart(page, name).evaluate(_POINT, query)
    page.mouse.move(x, y)
    page.wait_for_timeout(300)  # Plotly finds the point under the pointer while it rests
    page.mouse.click(x, y)
    page.wait_for_url(f"**picked={query}*")
    wait_settled(page)


def test_a_point_clicked_in_one_chart_is_selected_in_both(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/side_by_side?m=50")
    ordered = chart(page, "ndcg-differences").evaluate(
        "chart => chart._fullData.find(trace => trace.name === 'queries').customdata.map(row => row[0])"
    )
    for name, query in (("ndcg-differences", ordered[0]), ("ndcg-per-query", ordered[-1])):
        click_query(page, name, query)
        for other in ("ndcg-differences", "ndcg-per-query"):
            assert chart(page, other).evaluate(_MARKED) == [query]
        assert query_of(page).items() >= {"picked": str(query), "query": str(query)}.items()
    page.reload()
    wait_settled(page)
    assert chart(page, "ndcg-per-query").evaluate(_MARKED) == [ordered[-1]]
    page.get_by_role("button", name="Clear selection").click()
    wait_settled(page)
    assert chart(page, "ndcg-differences").evaluate(_MARKED) == []
    assert "picked" not in query_of(page)
    assert_no_errors_shown(page)


def test_pins_come_back_with_the_address(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/convergence?m=50")
    page.get_by_role("button", name="Pin this run").click()
    wait_settled(page)
    open_page(page, f"{server.url}/convergence?m=25&pins={query_of(page)['pins']}")
    names = [trace["name"] for trace in traces(page, "convergence-runs")]
    assert names == [
        "Nyström, m = 25, preconditioned",
        "Nyström, m = 25, without preconditioner",
        "Nyström, m = 50, preconditioned",
    ]
    page.get_by_role("button", name="Clear pins").click()
    wait_settled(page)
    assert len(traces(page, "convergence-runs")) == 2
    assert_no_errors_shown(page)
