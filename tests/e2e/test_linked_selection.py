"""Charts that share a selection, and pins: what is marked by hand is in the address and comes back."""

from helpers import assert_no_errors_shown, box, chart, hover, place_in_list, query_of
from playwright.sync_api import Page, expect

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
    const full = trace.customdata.filter((_, at) => trace.marker.opacity[at] > 0.5);
    const all = full.length === trace.customdata.length;
    return all ? [] : full.map(row => row[0]).sort((a, b) => a - b);
}"""
_ORDER = "chart => chart._fullData.find(trace => trace.name === 'queries').customdata.map(row => row[0])"
CHARTS = ("ndcg-per-query", "ndcg-differences")


def place_of(page: Page, name: str, query: int) -> tuple[float, float]:
    """Return the place of a query's point on the screen, with the pointer on it."""
    chart(page, name).scroll_into_view_if_needed()
    x, y = chart(page, name).evaluate(_POINT, query)
    hover(page, chart(page, name), x, y)
    return x, y


def click_query(page: Page, name: str, query: int) -> None:
    page.mouse.click(*place_of(page, name, query))


def drag_around(page: Page, name: str, query: int, corners: list[tuple[int, int]]) -> None:
    """Draw an outline around the point of a query, through places relative to it."""
    x, y = place_of(page, name, query)
    page.mouse.move(x + corners[0][0], y + corners[0][1])
    page.mouse.down()
    for dx, dy in corners[1:]:
        page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up()


def expect_selected(page: Page, queries: list[int]) -> None:
    """The address and both charts agree that these are the selected queries."""
    said = f"{len(queries)} of 40" if queries else "no query selected"
    expect(page.get_by_test_id("stMain").get_by_text(said)).to_be_visible()
    wait_settled(page)
    address = [int(text) for text in query_of(page).get("picked", "").split(".") if text]
    assert sorted(address) == sorted(queries)
    for name in CHARTS:
        assert chart(page, name).evaluate(_MARKED) == sorted(queries)


def test_documents_are_marked_and_queries_selected_everywhere(server: Server, page: Page) -> None:
    """By clicks, boxes, lassos, buttons and rows."""
    open_page(page, f"{server.url}/side_by_side?m=50")
    assert_a_document_clicked_in_a_list_is_marked_in_the_scores(page)
    ordered = chart(page, "ndcg-differences").evaluate(_ORDER)
    first, last = ordered[0], ordered[-1]
    for selected in ([first], [], [first]):  # a second click ends a selection, a third selects again
        click_query(page, "ndcg-per-query", first)
        expect_selected(page, selected)
    click_query(page, "ndcg-differences", first)
    expect_selected(page, [])
    around = [(-7, -7), (7, -7), (7, 7), (-7, 7), (-7, -7)]
    for tool, corners in (("a box", [around[0], around[2]]), ("a lasso", around)):
        page.get_by_role("radio", name=tool).click()
        wait_settled(page)
        for query in (last, first):  # the tool stays
            drag_around(page, "ndcg-differences", query, corners)
            expect_selected(page, [query])
    assert query_of(page)["tool"] == "a lasso"
    main = page.get_by_test_id("stMain")
    button = main.locator("[class*='st-key-look-difference-'] button").first
    widest = int(button.inner_text().split()[0])
    assert widest in (first, last)
    button.click()
    expect_selected(page, [widest])
    main.get_by_role("tab", name="All queries").click()
    rows = main.locator("[class*='st-key-queries-'] [data-testid='stDataFrame']")
    expect(rows).to_be_visible()
    rows.scroll_into_view_if_needed()
    at = box(rows)
    page.mouse.click(at["x"] + 16, at["y"] + 35 * 2 + 17)  # the tick box of the second row
    expect(main.get_by_text("2 of 40")).to_be_visible()
    wait_settled(page)
    both = [int(text) for text in query_of(page)["picked"].split(".")]
    assert widest in both
    expect_selected(page, both)
    assert_no_errors_shown(page)


def assert_a_document_clicked_in_a_list_is_marked_in_the_scores(page: Page) -> None:
    name = chart(page, "ranked-lists").evaluate(
        """chart => chart._fullData.find(trace => trace.mode === 'markers+text' && trace.x[0] === 0)
            .customdata[0][0]"""
    )
    for marked in (True, False):
        x, y = place_in_list(page, "ranked-lists", name)
        hover(page, chart(page, "ranked-lists"), x, y)
        page.mouse.click(x, y)
        said = page.get_by_test_id("stMain").get_by_text(f"Marked: document {name}")
        expect(said).to_have_count(int(marked))
        wait_settled(page)
        assert ("document" in query_of(page)) == marked
        rings = chart(page, "score-against-score").evaluate(
            "chart => (chart._fullData.at(-1).customdata || []).flat()"
        )
        assert rings == ([name] if marked else [])
