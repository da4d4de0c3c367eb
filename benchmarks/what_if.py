"""The What if page in Chromium: from the drop of a document to the new list, and frames while it is dragged.

`python -m benchmarks.what_if` on the bundled fold; with RANKVIZ_LETOR=folder on OHSUMED too. What is measured
is the whole of app, network and browser on one machine.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page

from benchmarks.report import write
from tools.browser import app_server, chromium, open_page, wait_settled

DROPS = 8
NOTES = (
    "Seconds from the drop of a document to the new list, whose rows glide to their places then: of drops "
    "from the tenth place to the second, the first one of a page apart.",
    "Milliseconds between frames while a row is dragged down the list and up again.",
)
_WATCH = """list => {
    window.trained = [];
    let since = null;
    new MutationObserver(() => {
        if (list.getAttribute('aria-busy') === 'true') since ??= performance.now();
        else if (since !== null) { window.trained.push(performance.now() - since); since = null; }
    }).observe(list, {attributes: true, attributeFilter: ['aria-busy']});
    window.frames_ = [];
    const tick = now => { window.frames_.push(now); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
}"""


@dataclass(frozen=True)
class Case:
    """What is opened, and what the new list may take (seconds)."""

    name: str
    query: str
    goal: float


BUNDLED = Case("bundled, Nyström m = 200", "m=200", 0.3)
OHSUMED = Case("OHSUMED, Nyström m = 500", "data=OHSUMED&m=500", 0.6)


def main() -> None:
    """Measure, and save the table."""
    root = os.environ.get("RANKVIZ_LETOR")
    cases = [BUNDLED, OHSUMED] if root else [BUNDLED]
    environment = {"RANKVIZ_DATA": root} if root else {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        with app_server(Path(folder), environment) as server:
            rows = [_row(page, server.url, case) for case in cases]
    write("what_if", "The What if page in Chromium", pd.DataFrame(rows), NOTES)


def _row(page: Page, url: str, case: Case) -> dict[str, object]:
    open_page(page, f"{url}/what_if?{case.query}")
    page.locator(".ranked-list").evaluate(_WATCH)
    for _ in range(DROPS + 1):
        _drag(page)
        wait_settled(page)
    seconds = np.array(page.evaluate("window.trained")) / 1000
    frames = _frames(page)
    return {
        "case": case.name,
        "documents": page.locator(".now .row").count(),
        "first drop, s": round(seconds[0], 3),
        "median, s": round(float(np.median(seconds[1:])), 3),
        "slowest, s": round(float(seconds[1:].max()), 3),
        "goal, s": case.goal,
        "frame, median ms": round(float(np.median(frames)), 1),
        "frame, 95 % ms": round(float(np.quantile(frames, 0.95)), 1),
        "frame, slowest ms": round(float(frames.max()), 1),
    }


def _drag(page: Page, steps: int = 12) -> None:
    """The document at the tenth place (or the last one) to the second."""
    grips = page.locator(".now .grip")
    start, end = (grips.nth(min(place, grips.count() - 1)).bounding_box() for place in (9, 1))
    assert start, "the list is not in view"
    assert end, "the list is not in view"
    page.mouse.move(start["x"] + 40, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(start["x"] + 40, end["y"] + 12, steps=steps)
    page.mouse.up()


def _frames(page: Page) -> np.ndarray:
    """Milliseconds between frames while a row goes up and down the list for some seconds."""
    box = page.locator(".now .grip").first.bounding_box()
    assert box, "the list is not in view"
    x, y = box["x"] + 40, box["y"] + 10
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("window.frames_ = []")
    for _ in range(4):
        page.mouse.move(x, y + 380, steps=40)
        page.mouse.move(x, y, steps=40)
    times = np.array(page.evaluate("window.frames_"))
    page.mouse.up()
    return np.diff(times)


if __name__ == "__main__":
    main()
