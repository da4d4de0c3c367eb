"""A learning curve in a browser: its runs as a job, and its parts."""

from __future__ import annotations

import re

from helpers import assert_no_errors_shown, finish_training
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

MOST = 90_000


def test_a_long_curve_grows_as_its_job_does_and_stops(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/ndcg_vs_m?upto=10&m=10&exact=false")
    finish_training(page)
    open_page(
        page,
        f"{server.url}/ndcg_vs_m?view=Learning+curve&upto=10&m=2000&exact=false&curvedraws=20&curvemaps=true",
    )
    expect(page.get_by_text(re.compile("Training these .* runs will take"))).to_be_visible(timeout=MOST)
    page.get_by_role("button", name="Train in the background").click()
    stop = page.get_by_role("button", name="Stop the job")
    expect(stop).to_be_visible(timeout=MOST)
    chart = page.locator(".st-key-learning-curve .js-plotly-plot")
    expect(chart).to_have_count(1, timeout=MOST)
    so_far = page.get_by_role("heading", name=re.compile("^So far by NDCG@10"))
    expect(so_far).to_be_visible(timeout=MOST)
    stop.click()
    expect(stop).to_have_count(0, timeout=MOST)
    wait_settled(page)
    expect(so_far).to_be_visible()
    expect(page.get_by_role("button", name="Train in the background")).to_be_visible()
    assert_no_errors_shown(page)
    page.goto("about:blank")
