"""The app in a browser on the bundled folds: open, train, move, share, reveal."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl

import pytest
from helpers import (
    assert_no_errors_shown,
    choose,
    query_of,
    sidebar,
    step_slider,
    traces,
)
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page


def test_home_opens_on_the_bundled_folds_with_a_figure(server: Server, page: Page) -> None:
    open_page(page, server.url)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("synthetic-demo")
    curves = traces(page, "ndcg-against-m")
    assert any(len(curve["y"]) > 5 for curve in curves)
    assert all(0 <= value <= 1 for curve in curves for value in curve["y"])
    assert_no_errors_shown(page)


def test_moving_m_changes_the_model_and_leaves_the_baseline(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train")
    linear, kernel = traces(page, "ndcg-at-k")
    step_slider(page, "Number of features (m)", -3)
    linear_after, kernel_after = traces(page, "ndcg-at-k")
    assert query_of(page)["m"] == "25"
    assert kernel_after["name"] == "Nyström, m = 25"
    assert kernel_after["y"] != kernel["y"]
    assert linear_after == linear
    assert_no_errors_shown(page)


def test_a_shared_link_gives_the_same_state_and_the_same_figures(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train")
    step_slider(page, "Number of features (m)", -2)
    step_slider(page, "C", 3)
    choose(page, "Fold", "Fold 2")
    link, state, shown = page.evaluate("location.href"), query_of(page), traces(page, "ndcg-at-k")
    assert state.items() >= {"m": "50", "c": "-1", "fold": "Fold2"}.items()

    other = page.context.new_page()
    open_page(other, link)
    assert query_of(other) == state
    assert traces(other, "ndcg-at-k") == shown


def test_tables_and_code_come_with_their_scripts_when_they_are_opened(server: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, f"{server.url}/train?m=10")
    assert any("/PlotlyChart." in url for url in asked)
    assert not [url for url in asked if re.search(r"/(DataFrame|StreamlitSyntaxHighlighter)\.", url)]
    main = page.get_by_test_id("stMain")
    main.get_by_text(re.compile(r"All \d+ documents")).click()
    expect(main.get_by_test_id("stDataFrame")).to_be_visible()
    assert any("/DataFrame." in url for url in asked)
    step_slider(page, "Number of features (m)", 1)
    expect(main.get_by_test_id("stDataFrame")).to_be_visible()


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("m=5&g=-12", "Nyström m = 5 · C = 2⁻⁴ · γ = 2⁻¹²"),
        ("m=10&c=10&g=4&fold=Fold3", "fold 3 · Nyström m = 10 · C = 2¹⁰ · γ = 2⁴"),
    ],
)
def test_the_first_and_the_last_value_of_a_control_survive_in_a_link(
    server: Server, page: Page, link: str, shown: str
) -> None:
    """Streamlit drops from the address what equals the widget's own default: that must be ours."""
    open_page(page, f"{server.url}/train?{link}")
    expect(page.get_by_text(shown).first).to_be_visible()
    assert query_of(page).items() >= dict(parse_qsl(link)).items()


def test_a_link_to_a_page_may_be_the_first_visit_of_all(
    page: Page, start_server: Callable[..., Server]
) -> None:
    """Streamlit would run `pages/train.py` without router.py then."""
    open_page(page, f"{start_server().url}/train?m=25")
    expect(page.locator(".st-key-ndcg-at-k .js-plotly-plot")).to_have_count(1, timeout=60_000)
    assert traces(page, "ndcg-at-k")[-1]["name"] == "Nyström, m = 25"
    assert_no_errors_shown(page)


@pytest.mark.parametrize(
    ("page_name", "label"),
    [("why", "Query"), ("weights", "Training query")],
)
def test_an_address_after_a_change_of_fold_shows_the_same_query(
    server: Server, page: Page, page_name: str, label: str
) -> None:
    open_page(page, f"{server.url}/{page_name}?m=10&fold=Fold2")
    choose(page, "Fold", "Fold 1")
    menu = page.get_by_test_id("stMain").get_by_role("combobox", name=label).first
    before = menu.input_value()
    open_page(page, page.evaluate("location.href"))
    assert menu.input_value() == before
