"""Training on a cluster from the browser: chosen, asked for, seen to be made, the same figure."""

from __future__ import annotations

import re
from collections.abc import Callable

from helpers import assert_no_errors_shown
from playwright.sync_api import Page, expect

from rankviz.shards.cluster import local_cluster
from tools.browser import Server, open_page, wait_settled

PATIENCE = 120_000
"""Milliseconds: the workers of the cluster import the libraries first."""


def test_a_model_is_made_on_the_cluster(page: Page, start_server: Callable[..., Server]) -> None:
    with local_cluster(2, 1e9) as address:
        server = start_server(RANKVIZ_CLUSTER=address)
        open_page(page, f"{server.url}/train?m=50&c=-3")
        choose_the_cluster(page)
        page.get_by_role("slider", name="C").first.press("ArrowRight")
        seen = page.get_by_text(re.compile("The cluster: 2 workers with 2 threads"))
        expect(seen.first).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text("This run took")).to_be_hidden()
        page.get_by_role("button", name="Train on the cluster").click()
        expect(page.get_by_text("This run took")).to_be_visible(timeout=PATIENCE)
        wait_settled(page)
        assert_no_errors_shown(page)


def choose_the_cluster(page: Page) -> None:
    page.get_by_role("combobox", name="Where to train").click()
    page.get_by_role("option", name="the cluster").click()
    wait_settled(page)
