"""The Runs page in a browser: what was trained is there, found, marked, deleted, restored, taken along."""

from pathlib import Path

from helpers import assert_no_errors_shown, barriers, box, finish_training, follow, query_of, sidebar
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled

SOME = "map=random+Fourier&m=10&c=-3"
"""Beside it Train makes the linear model."""


def button(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True).click()
    wait_settled(page)


def show_runs(server: Server, page: Page) -> None:
    """Train some, and go to the page that lists them."""
    open_page(page, f"{server.url}/train?{SOME}")
    finish_training(page)
    follow(page, "Runs")
    page.wait_for_url("**/runs*")
    wait_settled(page)
    answer = page.get_by_role("heading", level=2)
    for _ in range(50):  # records are kept in a thread
        if "Of " in answer.first.inner_text():
            break
        page.reload()
        wait_settled(page)
    expect(answer).to_contain_text("has the best validation NDCG@10")


def first_row(page: Page) -> None:
    """Tick the box of the first row, which is drawn on a canvas."""
    grid = page.get_by_test_id("stDataFrame").bounding_box()
    assert grid is not None
    page.mouse.click(grid["x"] + 16, grid["y"] + 52)
    wait_settled(page)


def test_runs_are_found_deleted_restored_taken_along_and_opened(
    server: Server, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    show_runs(server, page)
    figure = box(page.locator(".st-key-many-runs .js-plotly-plot"))
    assert figure["y"] + figure["height"] <= 768
    assert figure["height"] >= 250
    assert box(page.get_by_test_id("stDataFrame"))["y"] < 768
    assert not barriers(page)
    search = sidebar(page).get_by_role("textbox", name="Search")
    search.fill("fourier")
    search.press("Enter")
    wait_settled(page)
    assert query_of(page)["find"] == "fourier"
    answer = page.get_by_role("heading", level=2).inner_text()
    page.reload()
    wait_settled(page)
    assert page.get_by_role("heading", level=2).inner_text() == answer
    first_row(page)
    button(page, "Star")
    expect(page.get_by_role("button", name="Unstar", exact=True)).to_be_visible()
    button(page, "Delete")
    expect(page.get_by_text("1 run deleted")).to_be_visible()
    assert page.get_by_role("heading", level=2).inner_text() != answer
    button(page, "Undo")
    assert page.get_by_role("heading", level=2).inner_text() == answer

    first_row(page)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="1 run as one file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Import").click()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)
    wait_settled(page)
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_text("1 run imported.")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 420, "height": 900})
    wait_settled(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    page.get_by_role("button", name="Open in Train").click()
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert query_of(page).items() >= {"map": "random Fourier", "m": "10", "c": "-3"}.items()
    expect(page.get_by_text("is not available")).to_have_count(0)
    assert_no_errors_shown(page)
