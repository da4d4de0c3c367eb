"""Nyström and Fourier in a browser: m on the page is that of the sidebar, and moves all rows."""

from __future__ import annotations

from helpers import box, follow, query_of, sidebar
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


_MARK = """main => {
    const plots = [...main.querySelectorAll('.js-plotly-plot')];
    plots.forEach((plot, place) => { plot.marked = place; });
    return plots.length;
}"""
_DRAWN = """main => [...main.querySelectorAll('.js-plotly-plot')].map(plot => {
    const names = [plot._fullLayout._uid, ...plot._fullData.map(trace => trace.uid)]; // by chance
    const svg = [...plot.querySelectorAll('.main-svg')].map(part => part.innerHTML).join('');
    return {
        marked: plot.marked ?? null,
        size: plot.getBoundingClientRect().toJSON(),
        svg: names.reduce((text, name) => text.replaceAll(name, ''), svg),
    };
})"""


def test_m_changes_figures_in_place_as_they_are_drawn_anew(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/kernel_approximation?draws=1&m=10&of=query")
    main = page.get_by_test_id("stMain")
    n = main.evaluate(_MARK)
    before = main.evaluate(_DRAWN)
    slider = main.get_by_role("group", name="Number of features (m)").get_by_role("slider")
    for m in ("25", "50"):
        slider.press("ArrowRight")
        expect(page.get_by_role("heading", level=2).first).to_contain_text(f"At m = {m} ")
        wait_settled(page)
    moved = main.evaluate(_DRAWN)
    assert [one["marked"] for one in moved] == list(range(n)), "a figure was drawn anew"
    assert all(one["svg"] != old["svg"] for one, old in zip(moved, before, strict=True))
    open_page(page, page.evaluate("location.href"))
    fresh = main.evaluate(_DRAWN)
    assert [one["marked"] for one in fresh] == [None] * n
    assert [one["size"] for one in moved] == [one["size"] for one in fresh]
    for one, other in zip(moved, fresh, strict=True):
        assert one["svg"] == other["svg"]


def test_buttons_of_a_figure_work_after_m_has_moved(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/kernel_approximation?draws=1&m=10")
    wait_settled(page)
    main = page.get_by_test_id("stMain")
    main.get_by_role("group", name="Number of features (m)").get_by_role("slider").press("ArrowRight")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("At m = 25 ")
    wait_settled(page)
    figure = page.locator(".st-key-kernel-draws .js-plotly-plot")
    width = box(figure)["width"]
    figure.hover()
    figure.locator("[data-title=Fullscreen]").click()
    expect(figure.locator("[data-title='Close fullscreen']")).to_have_count(1)
    assert box(figure)["width"] > width
    figure.locator("[data-title='Close fullscreen']").click()
    expect(figure.locator("[data-title=Fullscreen]")).to_have_count(1)
    assert box(figure)["width"] == width
