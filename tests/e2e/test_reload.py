"""A page comes back from its address: the same figures and the same address after a reload."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from helpers import assert_no_errors_shown, figures, finish_training, query_of
from playwright.sync_api import Page

from tools.browser import Server, open_page, wait_settled

STATES = [
    (
        "influence",
        "Influence of λ and μ",
        {"map": "linear", "scope": "this fold", "vary": "λ₁₀", "l20": "3", "mu": "true", "query": "7"},
    ),
    (
        "kernel_approximation",
        "Residuals of one query",
        {"errnorm": "spectral", "also": "orthogonal frequencies", "draws": "2", "errupto": "50", "kq": "7"},
    ),
    ("side_by_side", "All queries", {"picked": "7.13", "onlypicked": "true", "tool": "a lasso"}),
]
"""Page, tab and what the page itself keeps in the address, none of it a default; see also test_link.py."""


def open_tab(page: Page, tab: str) -> None:
    if tab:
        page.get_by_role("tab", name=tab, exact=True).click()
        wait_settled(page)


def seen(page: Page) -> tuple[object, list[str]]:
    """The figures of a page, and the words in components of ours."""
    components = page.get_by_test_id("stMain").get_by_test_id("stBidiComponentIsolated")
    return figures(page), components.all_inner_texts()


def assert_reload_changes_nothing(page: Page, tab: str = "") -> None:
    shown, address = seen(page), query_of(page)
    assert any(shown), "the page draws nothing"
    page.reload()
    wait_settled(page)
    open_tab(page, tab)
    assert seen(page) == shown
    assert query_of(page) == address
    assert_no_errors_shown(page)


@pytest.mark.parametrize(("name", "tab", "state"), STATES, ids=[name for name, _, _ in STATES])
def test_state_of_a_page_comes_back(
    server: Server, page: Page, name: str, tab: str, state: dict[str, str]
) -> None:
    open_page(page, f"{server.url}/{name}?{urlencode({'m': '50'} | state)}")
    finish_training(page)
    assert_no_errors_shown(page)
    assert query_of(page).items() >= state.items()
    open_tab(page, tab)
    assert_reload_changes_nothing(page, tab)
