"""Low rank: bars clicked or brushed select queries everywhere on the page; the address keeps them."""

from helpers import assert_no_errors_shown, chart, hover, query_of
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

_BARS = """chart => {
    const bars = chart._fullData.find(trace => trace.name === 'targets');
    const area = chart.querySelector('.nsewdrag').getBoundingClientRect();
    const { xaxis, yaxis } = chart._fullLayout;
    return Array.from(bars.x, (x, at) => [
        Number(bars.text[at].match(/: (\\d+) of/)[1]), area.x + xaxis.l2p(x), area.y + 0.5 * area.height,
    ]);
}"""
_FULL = """chart => Array.from(chart._fullData.find(trace => trace.name === 'this model').y)
    .reduce((sum, n) => sum + n, 0)"""
QUERIES = 118


def bars_of(page: Page, measure: str) -> list[tuple[int, float, float]]:
    """Queries in each bar, and a place within it on the screen."""
    chart(page, f"dim-{measure}").scroll_into_view_if_needed()
    bars: list[tuple[int, float, float]] = chart(page, f"dim-{measure}").evaluate(_BARS)
    return bars


def click_bar(page: Page, measure: str, place: int) -> int:
    """Click a bar, counted from the left; returns how many queries it stands for."""
    n, x, y = bars_of(page, measure)[place]
    hover(page, chart(page, f"dim-{measure}"), x, y)
    page.mouse.click(x, y)
    return n


def expect_selected(page: Page, n: int) -> None:
    """Toolbar, address and both histograms agree on how many queries are selected."""
    main = page.get_by_test_id("stMain")
    expect(
        main.get_by_text(f"{n} of {QUERIES} queries selected" if n else "no query selected")
    ).to_be_visible()
    wait_settled(page)
    address = [text for text in query_of(page).get("picked", "").split(".") if text]
    assert len(address) == n
    for measure in ("k", "rank"):
        assert chart(page, f"dim-{measure}").evaluate(_FULL) == (n or QUERIES)


def test_bars_that_are_clicked_or_brushed_select_their_queries(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/low_rank?m=50")
    few = min(range(2), key=lambda place: bars_of(page, "k")[place][0])
    n = click_bar(page, "k", few)
    expect_selected(page, n)
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text(f"Query, of the {n} selected")).to_be_visible()
    page.reload()
    wait_settled(page)
    expect_selected(page, n)
    click_bar(page, "k", few)
    expect_selected(page, 0)
    n = click_bar(page, "rank", 0)
    expect_selected(page, n)
    main.get_by_role("button", name="Clear selection").click()
    expect_selected(page, 0)
    page.get_by_role("radio", name="a box").click()
    wait_settled(page)
    bars = bars_of(page, "rank")
    (_, left, y), (_, right, _) = bars[1], bars[2]
    page.mouse.move(left - 5, y - 40)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.move(right + 5, y + 40, steps=6)
    page.mouse.up()
    expect_selected(page, bars[1][0] + bars[2][0])
    assert_no_errors_shown(page)
