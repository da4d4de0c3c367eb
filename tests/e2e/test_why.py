"""The Why page in the browser: the way there with both documents, a row of the list, a name of a feature."""

import re

from helpers import answer, assert_no_errors_shown, box, chart, choose, place_in_list, query_of, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled


def test_clicked_documents_lead_to_why_which_keeps_its_query_in_another_fold(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/train?m=50&query=7&view=One+query")
    lists = chart(page, "ranked-list")
    names = lists.evaluate(
        """chart => chart._fullData.filter(trace => trace.mode === 'markers+text' && trace.x[0] === 0)
            .flatMap(trace => trace.customdata.map(row => row[0]))"""
    )[:2]
    for name in names:
        page.mouse.click(*place_in_list(page, "ranked-list", name))
        wait_settled(page)
    asked = page.get_by_role("button", name=re.compile(r"^\S* ?Why is rank"))
    expect(asked).to_have_attribute("kind", "primary")
    asked.click()
    page.wait_for_url("**/why*")
    wait_settled(page)
    state, said = query_of(page), answer(page)
    assert {state["above"], state["below"]} == set(names)
    assert (state["m"], state["query"]) == ("50", "7")
    assert f"A, {state['above']} (rank " in said
    assert f"B, {state['below']} (rank " in said
    shares = traces(page, "why-shares")[0]["x"]
    page.reload()
    wait_settled(page)
    assert answer(page) == said
    assert traces(page, "why-shares")[0]["x"] == shares

    page.get_by_role("tab", name="Down the list").click()
    wait_settled(page)
    table = page.get_by_test_id("stDataFrame").filter(visible=True)
    table.scroll_into_view_if_needed()
    at = box(table)
    page.mouse.click(at["x"] + 17, at["y"] + 35 * 3.5)  # the tick of the third row
    wait_settled(page)
    expect(page.get_by_test_id("stMain").get_by_role("heading", level=2).first).to_contain_text("(rank 3,")
    state = query_of(page)
    assert f"A, {state['above']} (rank 3" in answer(page)
    assert f"B, {state['below']} (rank 4" in answer(page)

    choose(page, "Fold", "Fold 2")
    menu = page.get_by_test_id("stMain").get_by_role("combobox", name="Query").first
    before = menu.input_value()
    page.reload()
    wait_settled(page)
    assert menu.input_value() == before
    assert query_of(page)["fold"] == "Fold2"
    assert_no_errors_shown(page)
