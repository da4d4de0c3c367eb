"""Nyström and Fourier in a browser: m on the page is that of the sidebar, and moves all rows."""

from __future__ import annotations

from helpers import assert_no_errors_shown, figures, finish_training, follow, query_of, sidebar
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

ROWS = ("kernel-matrices", "kernel-plane", "kernel-draws", "kernel-rankings")


def rows(page: Page) -> dict[str, object]:
    """Return the figures of the four rows."""
    drawn: dict[str, object] = {key: figures(page)[key] for key in ROWS}
    chart = page.locator(".st-key-kernel-matrices .js-plotly-plot")
    return drawn | {
        "kernel-matrices": chart.evaluate("chart => JSON.stringify(chart.calcdata.map(c => c[0].z))")
    }


def test_m_moves_all_rows(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/kernel_approximation?draws=1&m=50")
    finish_training(page)
    assert sidebar(page).get_by_role("group", name="Number of features (m)").count() == 0
    main = page.get_by_test_id("stMain")
    answer = main.get_by_role("heading", level=2).first
    expect(answer).to_contain_text("At m = 50 ")
    before = rows(page)
    main.get_by_role("group", name="Number of features (m)").get_by_role("slider").press("ArrowRight")
    expect(answer).to_contain_text("At m = 100 ")
    wait_settled(page)
    after = rows(page)
    assert all(after[key] != before[key] for key in ROWS)
    assert query_of(page)["m"] == "100"
    assert_no_errors_shown(page)
    page.get_by_role("button", name="New draw").click()
    expect(main.get_by_text("Errors of earlier draws at m = 100: seed 0: ")).to_be_visible()
    wait_settled(page)
    finish_training(page)
    assert query_of(page)["earlier"] == "0"
    assert figures(page)["kernel-draws"] != after["kernel-draws"]


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
