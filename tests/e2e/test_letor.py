"""The app in a browser on the real folds: the same page gives what the library gives."""

from pathlib import Path

import pytest
from helpers import (
    assert_no_errors_shown,
    box,
    choose,
    finish_training,
    follow,
    query_of,
    reveal_test,
    sidebar,
    traces,
)
from playwright.sync_api import Page, expect
from test_reload import assert_reload_changes_nothing

from rankviz.datasets import load_fold
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec
from tools.browser import Server, open_page, wait_settled

pytestmark = pytest.mark.letor


def test_ohsumed_is_chosen_trained_shown_and_kept(letor_server: Server, letor_root: Path, page: Page) -> None:
    """The preset of chen2017 gives the test figures of the library."""
    open_page(page, f"{letor_server.url}/train?m=25")
    bundled, main = traces(page, "ndcg-at-k"), page.get_by_test_id("stMain")
    choose(page, "Data set", "OHSUMED")
    assert query_of(page)["data"] == "OHSUMED"
    assert traces(page, "ndcg-at-k") != bundled
    expect(main.get_by_text("OHSUMED fold 1").first).to_be_visible()
    expect(main.get_by_text("21 queries").first).to_be_visible()
    assert_no_errors_shown(page)
    assert_a_slider_keeps_its_place_and_focus(page)

    sidebar(page).get_by_text("Share and presets").click()
    page.get_by_role("button", name="chen2017").click()
    wait_settled(page)
    finish_training(page)
    reveal_test(page)
    spec = RunSpec(dataset="OHSUMED", n_components=500, C=2.0**-7, gamma=2.0**-6)
    means = execute(spec, fold=load_fold(letor_root / "OHSUMED", 1)).metrics["test"].mean()
    for name in ("NDCG@10", "MeanNDCG", "MAP", "P@10"):
        metric = page.get_by_test_id("stMetric").filter(has_text=name)
        expect(metric.get_by_test_id("stMetricValue")).to_have_text(f"{means[name]:.3f}", timeout=60_000)

    for title in ("Data", "Why"):
        follow(page, title)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        wait_settled(page)
        expect(main.get_by_text("OHSUMED").filter(visible=True).first).to_be_visible()
        assert_reload_changes_nothing(page)


def assert_a_slider_keeps_its_place_and_focus(page: Page) -> None:
    """Three presses of a key are three steps, though the first one changes a setting of the data set."""
    expect(page.get_by_role("button", name="restore mine")).to_be_visible()
    slider = sidebar(page).get_by_role("group", name="C", exact=True).get_by_role("slider")
    slider.focus()
    before, top = int(slider.input_value()), box(slider)["y"]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        wait_settled(page)
    expect(slider).to_be_focused()
    expect(slider).to_have_value(str(before + 3))
    assert box(slider)["y"] == top
