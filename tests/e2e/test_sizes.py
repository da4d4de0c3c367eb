"""The place of a component before its script comes; test_look.py measures all pages on three screens."""

from __future__ import annotations

from helpers import box
from playwright.sync_api import Page, expect

from tools.browser import Server


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
