"""The app in a browser on the bundled folds: moved by sliders, shared by links."""

from __future__ import annotations

from urllib.parse import parse_qsl

from helpers import assert_no_errors_shown, choose, query_of, sidebar, step_slider, traces
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page


def test_a_link_to_what_sliders_and_menus_were_set_to_gives_the_same_figures(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/train")
    linear, kernel = traces(page, "ndcg-at-k")
    step_slider(page, "Number of features (m)", -2)
    linear_after, kernel_after = traces(page, "ndcg-at-k")
    assert linear_after == linear
    assert kernel_after["name"] == "Nyström, m = 50"
    assert kernel_after["y"] != kernel["y"]
    slider = sidebar(page).get_by_role("group", name="C", exact=True).get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "2⁻⁴")
    step_slider(page, "C", 3)
    expect(slider).to_have_attribute("aria-valuetext", "2⁻¹")
    choose(page, "Fold", "Fold 2")
    link, state, shown = page.evaluate("location.href"), query_of(page), traces(page, "ndcg-at-k")
    assert state.items() >= {"m": "50", "c": "-1", "fold": "Fold2"}.items()
    assert_no_errors_shown(page)

    other = page.context.new_page()
    open_page(other, link)
    assert query_of(other) == state
    assert traces(other, "ndcg-at-k") == shown


def test_the_first_and_the_last_value_of_a_control_survive_in_a_link(server: Server, page: Page) -> None:
    """Streamlit drops from the address what equals the widget's own default: that must be ours."""
    link = "m=5&c=10&g=-12&fold=Fold3"
    open_page(page, f"{server.url}/train?{link}")
    expect(page.get_by_text("fold 3 · Nyström m = 5 · C = 2¹⁰ · γ = 2⁻¹²").first).to_be_visible()
    assert query_of(page).items() >= dict(parse_qsl(link)).items()


def test_an_address_after_a_change_of_fold_shows_the_same_query(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/why?m=10&fold=Fold2")
    choose(page, "Fold", "Fold 1")
    menu = page.get_by_test_id("stMain").get_by_role("combobox", name="Query").first
    before = menu.input_value()
    open_page(page, page.evaluate("location.href"))
    assert menu.input_value() == before
