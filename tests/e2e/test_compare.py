"""The Compare page in the browser: sent there from the sidebar, kept by the address, on to Why."""

import re

from helpers import answer, assert_no_errors_shown, query_of, sidebar, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled


def test_the_present_model_is_compared_and_a_query_leads_to_why(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&metric=MAP")
    sidebar(page).get_by_text("Share and presets").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    assert link.startswith(f"{server.url}/train?")
    for words in ("metric=MAP", "m=50", "seed=0", "c=-4"):
        assert words in link, "the link has what the page was set to just now"
    page.get_by_role("button", name="Compare this model").click()
    page.wait_for_url("**/compare*")
    wait_settled(page)
    assert answer(page).startswith("Nyström, m = 50 is the only model here")
    page.get_by_role("button", name="Clear comparison").click()
    wait_settled(page)
    page.get_by_role("button", name="Train and compare with the linear model").click()
    expect(page.get_by_role("tab", name="Win and loss")).to_be_visible()
    wait_settled(page)
    said = answer(page)
    assert re.search("linear.*MAP", said)
    assert len(query_of(page)["runs"].split(",")) == 6  # two models on three folds
    page.reload()
    wait_settled(page)
    assert answer(page) == said
    page.get_by_role("tab", name="Win and loss").click()
    wait_settled(page)
    assert len(traces(page, "compared-queries")[0]["y"]) == 120
    asked = page.get_by_text(re.compile(r"^Query \d+ \(")).inner_text()
    page.get_by_role("button", name="Why: linear").click()
    page.wait_for_url("**/why*")
    wait_settled(page)
    assert query_of(page)["map"] == "linear"
    chosen = page.get_by_test_id("stSelectbox").filter(has_text="Query").get_by_role("combobox")
    assert asked.startswith(f"Query {chosen.input_value()} (")
    assert_no_errors_shown(page)
