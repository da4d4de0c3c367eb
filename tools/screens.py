"""Pictures of every page for people to look at: `make screens`, or `python -m tools.screens [PAGE …]`.

The pages are those in the app's own navigation. Each is taken in full, wide, narrow and dark, and wide once
more for each tab; and without scrolling on a laptop, with a projector (large type, the first figure alone)
and on a phone, light and dark.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Page

from tools.browser import REPOSITORY, app_server, chromium, open_page, wait_settled

TALLEST = 12_000
SCREENS = {
    "laptop": (1366, 768, ""),
    "projector": (1280, 720, "large=true&alone=true"),
    "phone": (400, 800, ""),
}
"""Name -> width, height and query."""
LOOKS = {"wide": (1440, "light"), "narrow": (420, "light"), "dark": (1440, "dark")}
"""Name -> width and colours of the pictures of whole pages."""
HEIGHT = """() => Math.max(...['stMain', 'stSidebarContent'].map(
    id => document.querySelector(`[data-testid="${id}"]`)?.scrollHeight ?? 0))"""
"""Height of all content: Streamlit scrolls boxes inside a document that is one screen high."""


def picture(page: Page, path: Path, width: int) -> Path:
    """Take a picture of the whole page as it is now."""
    page.set_viewport_size({"width": width, "height": 900})
    wait_settled(page)
    page.set_viewport_size({"width": width, "height": min(max(900, page.evaluate(HEIGHT)), TALLEST)})
    wait_settled(page)
    page.screenshot(path=path)
    return path


def tabs(page: Page, path: Path, width: int) -> Iterator[Path]:
    """Take a picture of each tab that is not open yet."""
    main = page.get_by_test_id("stMain")
    for name in main.get_by_role("tab", selected=False).all_inner_texts():
        main.get_by_role("tab", name=name, exact=True).click()
        tab = "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-")
        yield picture(page, path.with_stem(f"{path.stem}-{tab}"), width)


def page_urls(browser: Browser, root: str) -> dict[str, str]:
    """Return the address of every page, by its name in the address; the first is "home"."""
    page = browser.new_page(viewport={"width": 400, "height": 800})  # there the menu lists all
    open_page(page, root)
    page.get_by_test_id("stExpandSidebarButton").click()
    links = page.get_by_test_id("stSidebarNavLink").evaluate_all("links => links.map(a => a.href)")
    page.close()
    addresses = [link.split("?")[0] for link in links]
    return {address.removeprefix(root).strip("/") or "home": address for address in addresses}


def take(browser: Browser, name: str, url: str, folder: Path) -> Iterator[Path]:
    """Take all pictures of a page."""
    for look, (width, colours) in LOOKS.items():
        size = {"width": width, "height": 900}
        page = browser.new_page(viewport=size, color_scheme=colours, reduced_motion="reduce")
        open_page(page, url)
        path = folder / f"{name}-{look}.png"
        yield picture(page, path, width)
        if look == "wide":
            yield from tabs(page, path, width)
        page.close()
    for (screen, (width, height, query)), colours in product(SCREENS.items(), ("light", "dark")):
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme=colours, reduced_motion="reduce")
        open_page(page, f"{url}?{query}")
        path = folder / f"{name}-{screen}-{colours}.png"
        page.screenshot(path=path)
        page.close()
        yield path


def main() -> None:
    """Start the app, take the pictures, say where they are."""
    parser = argparse.ArgumentParser(prog="python -m tools.screens", description=__doc__)
    parser.add_argument("pages", nargs="*", help="names of pages as in their address; all by default")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "screens")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, app_server(Path(scratch)) as server, chromium() as browser:
        for name, url in page_urls(browser, server.url).items():
            if name in chosen.pages or not chosen.pages:
                for path in take(browser, name, url, chosen.out):
                    print(path)


if __name__ == "__main__":
    main()
