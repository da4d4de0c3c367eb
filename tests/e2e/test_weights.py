"""Weights by hand in a browser: the list follows, the numbers are Python's, and the way back is walked."""

import re
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Locator, Page, expect

from rankviz import RankSVM, evaluate, load_demo
from rankviz.datasets import normalise
from rankviz.learning.pairs import preference_pairs
from rankviz.metrics.pairwise import summary
from rankviz.runs.spec import DataSpec
from tools.browser import Server, open_page, wait_settled

LINK = "weights?map=linear&c=-8"


def tile(page: Page, name: str) -> Locator:
    return page.locator(".weights .tiles > div").filter(has_text=re.compile(f"^{name}")).locator("dd").first


def weight(page: Page, feature: int) -> Locator:
    return page.get_by_role("slider", name=f"feature {feature}", exact=True)


def order(page: Page) -> list[str]:
    """The documents as they are listed, the first one first."""
    rows = page.locator(".weights .list li").evaluate_all(
        "all => all.map(row => ['.rank', '.title'].map(name => row.querySelector(name).textContent))"
    )
    return [title for _, title in sorted((int(rank), title) for rank, title in rows)]


def test_numbers_list_link_and_the_way_back(start_server: Callable[..., Server], page: Page) -> None:
    """The numbers are those of Python at any weights; the way back ends at the optimum."""
    # an app of its own: another test may have had this model trained on the way to one with another C
    open_page(page, f"{start_server().url}/{LINK}")
    train = normalise(load_demo(), DataSpec.normalisation).train
    model = RankSVM("linear", C=2.0**-8).fit(train.X, train.y, qid=train.qid)

    def same(w: np.ndarray) -> None:
        scores, pairs = train.X @ w, preference_pairs(train.y, train.ptr)
        losses = np.maximum(0, 1 - pairs.margins(scores)) ** 2
        expect(tile(page, "Objective")).to_have_text(f"{0.5 * w @ w + losses.sum() / 256:.5g}")
        expect(tile(page, "Misordered")).to_have_text(f"{summary(scores, train).misordered:,}")
        mean = evaluate(scores, train, at=[10], ties="mean").mean["NDCG@10"]
        expect(tile(page, "NDCG@10, all queries")).to_have_text(f"{mean:.3f}")

    same(model.coef_)
    before, without = order(page), np.where(np.arange(train.n_features) == 2, 0.0, model.coef_)
    weight(page, 3).fill("0")
    same(without)
    page.wait_for_function("() => new URLSearchParams(location.search).get('weights') === '2_0'")
    page.reload()
    wait_settled(page)
    same(without)
    assert abs(float(weight(page, 3).input_value())) < 1e-9  # a range rounds to its steps
    page.get_by_role("button", name="Back to the optimum").click()
    same(model.coef_)
    page.wait_for_function("() => !new URLSearchParams(location.search).has('weights')")

    page.locator(".weights .bars input").first.focus()
    for _ in range(60):
        page.keyboard.press("ArrowLeft")
    expect(tile(page, "Objective")).not_to_have_text(f"{model.objective_:.5g}")
    assert order(page) != before
    page.get_by_role("button", name="Back to the optimum").click()
    same(model.coef_)
    assert order(page) == before
    page.get_by_role("button", name="All to zero").click()  # from elsewhere, once more
    same(np.zeros(train.n_features))
    page.get_by_test_id("stMain").get_by_role("combobox").first.click()
    page.get_by_role("option", name="query 5", exact=True).click()
    expect(page.locator(".weights .list .title").first).to_have_text(re.compile("S5-"))
    same(np.zeros(train.n_features))
    expect(tile(page, "NDCG@10, query 5")).to_be_visible()
    page.get_by_role("button", name="Back to the optimum").click()
    same(model.coef_)
