"""Pictures of every step of every lesson: `make lesson-pictures`, or `python -m tools.lesson_pictures`.

Each lesson becomes one sheet with its five steps, small enough for the documentation (docs/lessons.md).
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tools import lessons
from tools.browser import REPOSITORY, chromium

GUESSES = {
    "pairs": "1_1_0_0_0_0_0_0_0_0_0_0_1",
    "ndcg": "0.7_0.6_0.65",
    "loss": "5_4_3.2_2.4_1.8_1.4_1_0.5_0.2_0_0",
    "regularisation": "0.85_0.87_0.9_0.92_0.95_0.94_0.9_0.8",
    "newton": "0.5_0.5",
    "kernel": "0_56_68_130_257_130_68_56_0",
    "nystroem": "3_20_35",
    "fourier": "20",
    "alpha": "12",
}
"""A prediction of a reader for each lesson, as the address has it."""
STEPS = 5
SIZE, TILE, GAP = (1120, 700), (560, 350), 8
"""Pixels of a window, and of its picture in a sheet; pixels between pictures."""
QUALITY = 70


def walk(page: Page, file: Path, name: str) -> Iterator[int]:
    """Show each step of a lesson in turn, with the reader's prediction; yield its number from 1."""
    for step in range(1, STEPS + 1):
        page.goto(f"{file.as_uri()}#lesson={name}&step={step}&guess={GUESSES[name]}")
        page.locator(f".lesson[data-step='{step - 1}'] .figure").wait_for()
        yield step


def sheet(page: Page, file: Path, name: str) -> Image.Image:
    """Return the five steps of a lesson, two in a row."""
    width, height = TILE
    whole = Image.new("RGB", (2 * width + GAP, 3 * height + 2 * GAP), "white")
    for step in walk(page, file, name):
        own = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(TILE, Image.Resampling.LANCZOS)
        row, column = divmod(step - 1, 2)
        whole.paste(own, (column * (width + GAP), row * (height + GAP)))
    return whole


def main() -> None:
    """Take the pictures, say where they are and how large."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else REPOSITORY / "docs" / "lessons"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        file = lessons.write(Path(scratch))[0]
        page = browser.new_page(
            viewport=dict(zip(("width", "height"), SIZE, strict=True)), reduced_motion="reduce"
        )
        for name in GUESSES:
            path = folder / f"{name}.webp"
            sheet(page, file, name).save(path, quality=QUALITY, method=6)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
