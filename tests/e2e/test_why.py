"""The Why page in the browser: the way there with both documents, a row of the list, a name of a feature."""

from __future__ import annotations

import re

from helpers import assert_no_errors_shown, chart, place_in_list, query_of, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled


def answer(page: Page) -> str:
    return (
        page.get_by_test_id("stMain").get_by_role("heading", level=2).first.inner_text().replace("\xa0", " ")
    )


def test_a_list_leads_to_why_with_both_documents_in_the_address(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&query=7&view=One+query")
    page.get_by_role("button", name="Why is rank 1 above rank 2?").click()
    page.wait_for_url("**/why*")
    wait_settled(page)
    state = query_of(page)
    assert state["m"] == "50"
    assert state["query"] == "7"
    said = answer(page)
    assert f"A, {state['above']} (rank 1" in said
    assert f"B, {state['below']} (rank 2" in said
    shares = traces(page, "why-shares")[0]["x"]
    page.reload()
    wait_settled(page)
    assert answer(page) == said
    assert traces(page, "why-shares")[0]["x"] == shares
    assert_no_errors_shown(page)


def test_two_documents_that_are_clicked_in_a_list_are_asked_about(server: Server, page: Page) -> None:
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
    state = query_of(page)
    assert {state["above"], state["below"]} == set(names)
    assert_no_errors_shown(page)


def test_a_row_of_the_list_is_looked_at(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/why?m=50&query=7&view=Down+the+list")
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 17, box["y"] + 35 * 3.5)  # the tick of the third row
    wait_settled(page)
    state = query_of(page)
    expect(page.get_by_test_id("stMain").get_by_role("heading", level=2).first).to_contain_text("(rank 3,")
    assert f"A, {state['above']} (rank 3" in answer(page)
    assert f"B, {state['below']} (rank 4" in answer(page)
    assert_no_errors_shown(page)
