"""Checks of every page in `pages/`, whatever it is about."""

from __future__ import annotations

import re

import pytest
from helpers import OF_STORE, assert_no_errors_shown, sidebar
from playwright.sync_api import Page, expect

from tools.browser import REPOSITORY, Server, open_page, wait_settled

PAGES = sorted(path.stem for path in (REPOSITORY / "pages").glob("*.py") if path.stem != "home")


def test_the_sidebar_leads_to_every_page(server: Server, page: Page) -> None:
    open_page(page, server.url)
    links = sidebar(page).get_by_test_id("stSidebarNavLink").evaluate_all("all => all.map(a => a.pathname)")
    assert sorted(links) == ["/", *(f"/{name}" for name in PAGES)]


@pytest.mark.parametrize("name", ["", *(name for name in PAGES if name not in OF_STORE)])
def test_page_opens_its_figures_have_a_text_and_fit_a_narrow_screen(
    server: Server, page: Page, name: str
) -> None:
    open_page(page, f"{server.url}/{name}")
    assert_no_errors_shown(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    charts = page.locator("[data-testid=stPlotlyChart], .playground .square, .weights").filter(visible=True)
    named = page.get_by_role("figure", name=re.compile(r"\w+ \w+"))
    expect(named).not_to_have_count(0, timeout=60_000)  # on a busy machine its runs go on as a job
    wait_settled(page)
    assert charts.count() == named.count() > 0
    page.set_viewport_size({"width": 420, "height": 900})
    wait_settled(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert_no_errors_shown(page)
