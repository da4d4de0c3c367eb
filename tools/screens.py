"""Pictures of every page for people to look at: `make screens`, or `python -m tools.screens [PAGE …]`.

The pages are those in the app's own navigation. Each is taken in full, wide, narrow and dark, and wide
once more per tab and per state listed in STATES; and as it is seen at once on a laptop, with a projector
(large type, the first figure alone) and on a phone, light and dark.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize

from tools.browser import REPOSITORY, app_server, chromium, open_page, wait_settled

TALLEST = 12_000


@dataclass(frozen=True)
class Look:
    """A way to look at a page."""

    name: str
    width: int
    scheme: Literal["light", "dark"]
    every_state: bool = False


@dataclass(frozen=True)
class Screen:
    """A screen on which nobody scrolls."""

    name: str
    width: int
    height: int
    query: str = ""


SCREENS = (
    Screen("laptop", 1366, 768),
    Screen("projector", 1280, 720, "large=true&alone=true"),
    Screen("phone", 400, 800),
)
LOOKS = (
    Look("wide", 1440, "light", every_state=True),
    Look("narrow", 420, "light"),
    Look("dark", 1440, "dark"),
)

STATES: dict[str, dict[str, str]] = {
    "train": {
        "linear": "map=linear",
        "fourier": "map=random+Fourier&m=25",
        "wrong": "map=nonsense&fold=Fold9",
    },
}
"""Further query strings by page: name of the state -> query string."""


def _measure(page: Page) -> int:
    """Height of the whole content: Streamlit scrolls boxes inside a document one screen high."""
    return int(
        page.evaluate(
            """() => Math.max(...['stMain', 'stSidebarContent'].map(
            id => document.querySelector(`[data-testid="${id}"]`)?.scrollHeight ?? 0))"""
        )
    )


def picture(page: Page, path: Path, width: int) -> Path:
    """A picture of the whole page as it is now."""
    page.set_viewport_size({"width": width, "height": 900})
    wait_settled(page)
    page.set_viewport_size({"width": width, "height": min(max(900, _measure(page)), TALLEST)})
    wait_settled(page)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    return path


def _with_tabs(page: Page, path: Path, look: Look) -> Iterator[Path]:
    yield picture(page, path, look.width)
    if not look.every_state:
        return
    tabs = page.get_by_test_id("stMain").get_by_role("tab", selected=False)
    for name in tabs.all_inner_texts():
        page.get_by_test_id("stMain").get_by_role("tab", name=name, exact=True).click()
        tab = "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-")
        yield picture(page, path.with_stem(f"{path.stem}-{tab}"), look.width)


def page_urls(browser: Browser, root: str) -> dict[str, str]:
    """Address of every page, by its name in the address, from the app's navigation; the first is "home"."""
    page = browser.new_page()
    open_page(page, root)
    links = page.get_by_test_id("stSidebarNavLink").evaluate_all("links => links.map(a => a.href)")
    page.close()
    if not links:
        return {"home": root}
    addresses = [link.split("?")[0] for link in links]
    return {address.removeprefix(root).strip("/") or "home": address for address in addresses}


def take(browser: Browser, root: str, folder: Path, only: list[str]) -> Iterator[Path]:
    """Pictures of every page (or of those in `only`) in every look and state."""
    for name, url in page_urls(browser, root).items():
        if only and name not in only:
            continue
        queries = {"": ""} | STATES.get(name, {})
        for look in LOOKS:
            context = browser.new_context(
                viewport={"width": look.width, "height": 900},
                color_scheme=look.scheme,
                reduced_motion="reduce",
            )
            for state, query in (queries if look.every_state else {"": ""}).items():
                page = context.new_page()
                open_page(page, f"{url}?{query}")
                stem = "-".join(part for part in (name, state, look.name) if part)
                yield from _with_tabs(page, folder / f"{stem}.png", look)
                page.close()
            context.close()
        yield from _at_once(browser, name, url, folder)


def _at_once(browser: Browser, name: str, url: str, folder: Path) -> Iterator[Path]:
    """What is seen of a page without scrolling."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for screen in SCREENS:
        for scheme in schemes:
            size: ViewportSize = {"width": screen.width, "height": screen.height}
            context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            page = context.new_page()
            open_page(page, f"{url}?{screen.query}")
            path = folder / f"{name}-{screen.name}-{scheme}.png"
            page.screenshot(path=path)
            context.close()
            yield path


def main() -> None:
    """Start the app, take the pictures, say where they are."""
    parser = argparse.ArgumentParser(prog="python -m tools.screens", description=__doc__)
    parser.add_argument("pages", nargs="*", help="names of pages as in their address; all by default")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "screens")
    parser.add_argument("--data", help="a folder with data sets, as for `make app DATA=`")
    parser.add_argument("--script", type=Path, default=REPOSITORY / "app.py")
    chosen = parser.parse_args()
    environment = {"RANKVIZ_DATA": chosen.data} if chosen.data else {}
    with (
        tempfile.TemporaryDirectory() as scratch,
        app_server(Path(scratch), environment, chosen.script) as server,
        chromium() as browser,
    ):
        for path in take(browser, server.url, chosen.out, chosen.pages):
            print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    main()
