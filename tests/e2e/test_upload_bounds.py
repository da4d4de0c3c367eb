"""Test bounds on uploads with two visitors at once: one gets the reason, and can continue."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import assert_no_errors_shown, sidebar
from playwright.sync_api import Locator, Page, expect
from test_uploads import GOOD

from tools.browser import Server, open_page, wait_settled

PADDED = GOOD + "# padding\n" * 100_000
"""About 1 MB, as sent and on the disk."""


@pytest.fixture
def bounded(start_server: Callable[..., Server], tmp_path: Path) -> Callable[..., tuple[Server, Path]]:
    """Starts an app with bounds by their names; its uploads lie in the folder that is returned too."""

    def start(**bounds: int) -> tuple[Server, Path]:
        path, uploads = tmp_path / "bounds.toml", tmp_path / "uploads"
        path.write_text("".join(f"{name} = {value}\n" for name, value in bounds.items()))
        return start_server(RANKVIZ_BOUNDS=str(path), RANKVIZ_UPLOADS=str(uploads)), uploads

    return start


def chosen(page: Page, server: Server, name: str) -> Page:
    """Give the form a file, without waiting for what comes of it."""
    open_page(page, f"{server.url}/data")
    hand_over(page, name)
    return page


def form(page: Page) -> Locator:
    return page.get_by_test_id("stExpander").filter(has_text="Bring your own data")


def hand_over(page: Page, name: str) -> None:
    if not button(page).is_visible():
        form(page).locator("summary").click()
    expect(button(page)).to_be_visible()
    form(page).locator('input[type="file"]').first.set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": PADDED.encode()}
    )


def button(page: Page) -> Locator:
    return form(page).get_by_role("button", name="Check and add")


def error(page: Page) -> Locator:
    return form(page).get_by_test_id("stAlertContentError")


def has(page: Page, name: str) -> bool:
    return sidebar(page).get_by_role("combobox", name="Data set").input_value() == name


def add(page: Page) -> None:
    expect(button(page)).to_be_enabled()
    wait_settled(page)
    button(page).click()
    wait_settled(page)


def in_place(uploads: Path) -> list[str]:
    """Names of the data sets of all visitors; a half-written one stays only where it is left over."""
    deadline = time.monotonic() + 60
    while True:
        names = sorted(path.name for path in uploads.glob("*/uploaded/*"))
        if time.monotonic() > deadline or not any(name.startswith(".") for name in names):
            return names
        time.sleep(0.1)


def test_of_two_files_at_once_one_is_held_where_memory_has_room_for_one(
    bounded: Callable[..., tuple[Server, Path]], page: Page, other: Page
) -> None:
    server, uploads = bounded(held_bytes=len(PADDED) * 3 // 2)
    pages = [chosen(page, server, "mine.txt"), chosen(other, server, "yours.txt")]
    for one in pages:
        wait_settled(one)
    refused = [error(one).count() for one in pages]
    assert sorted(refused) == [0, 1]
    second, first = (pages[at] for at in (refused.index(1), refused.index(0)))
    expect(error(second)).to_contain_text("Uploads take 1 MB of")
    expect(button(second)).to_be_disabled()
    expect(form(second).get_by_test_id("stFileUploaderFile")).to_have_count(0)
    add(first)
    assert_no_errors_shown(first)
    hand_over(second, "again.txt")  # what was checked is not held any more
    expect(error(second)).to_have_count(0)
    add(second)
    assert has(second, "again")
    assert len(in_place(uploads)) == 2

    hand_over(first, "taken-out.txt")
    expect(button(first)).to_be_enabled()
    form(first).get_by_role("button", name="Remove taken-out.txt").click()
    expect(button(first)).to_be_disabled()
    wait_settled(first)
    hand_over(second, "last.txt")  # nor is what was taken out of the form
    add(second)
    assert has(second, "last")
    assert len(in_place(uploads)) == 3
