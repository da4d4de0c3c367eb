"""A component made of files of ours, under the policy of our pages: what is dragged reaches Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tools.browser import REPOSITORY, Server, app_server, open_page

SCRIPT = Path(__file__).parent / "components" / "app.py"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with app_server(tmp_path, {"PYTHONPATH": str(REPOSITORY)}, script=SCRIPT) as running:
        yield running


def test_a_drag_reaches_python_and_comes_back(server: Server, page: Page) -> None:
    open_page(page, server.url)
    square = page.get_by_role("button", name="drag")
    expect(page.get_by_text("At 10, told None")).to_be_visible()
    assert square.evaluate("e => getComputedStyle(e).backgroundColor") not in ("rgba(0, 0, 0, 0)", "")

    for at in (50, 90):  # the script is called again with new data on the same parent
        square.hover()
        page.mouse.down()
        x = square.bounding_box()["x"]
        page.mouse.move(x + 30 + 40, 0, steps=5)
        page.mouse.up()
        expect(page.get_by_text(f"At {at}, told {at}")).to_be_visible()
