"""The Definitions page in the browser: the way there keeps what is shown; a pasted list is in the address."""

from __future__ import annotations

from helpers import assert_no_errors_shown, query_of, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled


def test_a_metric_headline_leads_here_and_a_pasted_list_is_in_the_address(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&query=91&metric=NDCG%405&view=One+query")
    page.get_by_role("button", name="Why do the numbers differ?").first.click()
    page.wait_for_url("**/definitions*")
    wait_settled(page)
    state = query_of(page)
    assert {name: state[name] for name in ("m", "query", "cut")} == {"m": "50", "query": "91", "cut": "5"}
    answer = page.get_by_test_id("stMain").get_by_role("heading", level=2)
    expect(answer).to_contain_text("By rankviz, NDCG@5 of query 91 is")
    shares = [sum(bars["y"]) for bars in traces(page, "terms")]
    page.reload()
    wait_settled(page)
    assert [sum(bars["y"]) for bars in traces(page, "terms")] == shares
    page.get_by_text("Paste a list", exact=True).click()
    field = page.get_by_role("textbox", name="Grade and score on each line")
    field.fill("0 3\n2 2\n1 1")
    field.press("Control+Enter")
    wait_settled(page)
    assert query_of(page)["pasted"] == "0 3\n2 2\n1 1"
    assert [len(bars["x"]) for bars in traces(page, "terms")] == [3, 3, 3, 3]
    assert_no_errors_shown(page)
