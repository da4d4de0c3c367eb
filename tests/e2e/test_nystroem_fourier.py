"""Nyström and Fourier in a browser: m on the page is that of the sidebar, and moves all rows."""

from __future__ import annotations

from helpers import follow, query_of, sidebar
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled


def test_m_is_one_setting_on_all_pages(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/kernel_approximation?draws=1&m=10&g=-3")
    follow(page, "Train")
    wait_settled(page)
    slider = sidebar(page).get_by_role("group", name="Number of features (m)").get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "10")
    slider.press("ArrowRight")
    wait_settled(page)
    follow(page, "Nyström and Fourier")
    wait_settled(page)
    expect(page.get_by_role("heading", level=2).first).to_contain_text("At m = 25 ")
    assert {"m": "25", "g": "-3"}.items() <= query_of(page).items()
