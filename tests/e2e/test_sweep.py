"""A sweep in a browser: designed, started, seen to fill in, there again after a reload, stopped."""

import re

from helpers import assert_no_errors_shown, query_of, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

DESIGN = "m=5&xc=-4&xc=0&xg=-4&xg=0"
PATIENCE = 60_000
"""Milliseconds: workers import the libraries first, on a machine that is busy with all the tests."""
CUT = """() => [...document.querySelectorAll('[role="tab"]')].filter(tab => {
    const list = tab.parentElement.getBoundingClientRect(), own = tab.getBoundingClientRect();
    return own.left < list.left - 1 || own.right > list.right + 1;
}).map(tab => tab.innerText)"""
IN_THE_PLOT = """() => [...document.querySelectorAll('.js-plotly-plot .legend')].filter(legend => {
    const plots = [...legend.closest('.js-plotly-plot').querySelectorAll('.nsewdrag')];
    const tops = plots.map(one => one.getBoundingClientRect().top);
    return legend.getBoundingClientRect().bottom > Math.min(...tops);
}).length"""


def test_a_sweep_fills_in_and_is_there_again(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/sweep?{DESIGN}")
    expect(page.get_by_role("heading", name=re.compile("^27 runs of 9 models"))).to_be_visible(
        timeout=PATIENCE  # what the machine can do is measured once
    )
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.get_by_role("button", name="Stop the sweep")).to_be_visible()
    study = query_of(page)["study"]
    page.reload()
    expect(page.get_by_role("heading", name=re.compile(r"^Best: C = .*\(all 9 cells"))).to_be_visible(
        timeout=PATIENCE
    )
    wait_settled(page)
    assert query_of(page)["study"] == study
    expect(page.get_by_text("27 of 27 runs made")).to_be_visible()
    (cells,) = [one for one in traces(page, f"sweep-map-{study}") if one["name"] == "cells"]
    assert len(cells["x"]) == 9
    page.set_viewport_size({"width": 1920, "height": 1080})
    open_page(page, f"{page.url}&view=Validation+curves")
    for _ in ("alone", "beside the open terms", "alone again"):
        assert page.evaluate(CUT) == []
        assert page.evaluate(IN_THE_PLOT) == 0
        page.locator(".glossary summary").click()
        wait_settled(page)
    page.get_by_role("button", name="Open in Train").click()
    expect(page.get_by_role("heading", name="Train")).to_be_visible()
    wait_settled(page)
    assert_no_errors_shown(page)
