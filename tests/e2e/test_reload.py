"""A page comes back from its address: the same figures and the same address after a reload."""

from urllib.parse import urlencode

import pytest
from helpers import assert_no_errors_shown, figures, finish_training, follow, query_of, sidebar
from playwright.sync_api import Page, expect

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
    finish_training(page)  # a tab has runs of its own
    assert_reload_changes_nothing(page, tab)


WALK = (
    "Data",
    "Lessons",
    "Playground",
    "Weights by hand",
    "Several models",
    "Train",
    "Nyström and Fourier",
    "Lecture",
    "Methods",
    "Runs",
    "Why",
)
"""Pages that fold the sidebar's settings, and others."""


def test_address_keeps_changed_settings_on_every_page(server: Server, page: Page) -> None:
    quick = {"draws": "1", "errupto": "50"}  # as the page stays: its errors up to 2000 take long
    open_page(page, f"{server.url}/kernel_approximation?{urlencode(SETTINGS | quick)}")
    for title in WALK:
        follow(page, title)
        wait_settled(page)
        assert query_of(page).items() >= SETTINGS.items(), title
        assert shown_settings(page) == SHOWN, title
    page.reload()
    wait_settled(page)
    assert query_of(page).items() >= SETTINGS.items()
    assert shown_settings(page) == SHOWN


SETTINGS = {"fold": "Fold2", "m": "100", "c": "-2", "loss": "logistic", "seed": "3"}
SHOWN = {"fold-named": "Fold 2", "m": "4", "c": "-2", "loss": "logistic"}
"""What the sidebar's controls hold for these settings: m = 100 is the fourth value of its list, from 0."""


def shown_settings(page: Page) -> dict[str, str]:
    return {key: sidebar(page).locator(f".st-key-{key} input").input_value() for key in SHOWN}


def test_fast_presses_of_a_slider_leave_its_address(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train")
    for key in ("c", "m", "g"):
        slider = sidebar(page).locator(f".st-key-{key} input")
        slider.focus()
        for press in ["ArrowLeft"] * 9 + ["ArrowRight"] * 3:
            page.keyboard.press(press)
            page.wait_for_timeout(60)
        wait_settled(page)
        expected = {"c": "-10", "m": "50", "g": "-8"}
        assert query_of(page)[key] == expected[key]
    expect(page.get_by_text("not available")).to_have_count(0)
