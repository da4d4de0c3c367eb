"""Build the documentation and check it: `make docs` writes it into static/docs, from where the app serves it.

Warnings are errors. Every link within the site leads to a page and a place on it that exist, and no page asks
another host for a style, a script, a font or a picture.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import lessons

REPOSITORY = Path(__file__).resolve().parent.parent
SITE = REPOSITORY / "static" / "docs"
FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
"""Addresses that a browser fetches by itself: element -> attribute."""

NOT_FETCHED = {"canonical", "index", "search", "next", "prev"}
"""Values of rel with which a <link> is fetched by nobody."""


class DocumentationError(RuntimeError):
    """The documentation has faults; each is a line of the message."""


class Page(HTMLParser):
    """Collects links of a page, its fetched files, and its link targets."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element's place and where it leads."""
        given = {name: value or "" for name, value in attrs}
        self.places.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if FETCHED.get(tag, "") in given and given.get("rel") not in NOT_FETCHED:
            self.fetched.append(given[FETCHED[tag]])


def build(site: Path = SITE) -> None:
    """Build the site anew into `site`; raises `DocumentationError` where Sphinx has something to say."""
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html"]
    command += ["-d", str(REPOSITORY / "build" / "doctrees"), str(REPOSITORY / "docs"), str(site)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr.strip():
        shutil.rmtree(site, ignore_errors=True)
        raise DocumentationError(done.stderr)
    lessons.write(site / "lessons")


def check(site: Path = SITE) -> None:
    """Raise `DocumentationError` for links that lead nowhere and for what other hosts are asked for."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    faults = [fault for path in pages for fault in _faults(path, pages)]
    faults += [
        f"{path.name} fetches {url}"
        for path in site.rglob("*.css")
        for url in re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^)\"']+)", path.read_text("utf-8"))
    ]
    if faults or not pages:
        raise DocumentationError("\n".join(sorted(faults)) or f"no pages in {site}")


def _faults(path: Path, pages: dict[Path, Page]) -> Iterator[str]:
    page = pages[path]
    for url in page.fetched:
        if urlsplit(url).netloc:
            yield f"{path.name} fetches {url}"
    for url in (*page.links, *page.fetched):
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            yield f"{path.name} leads to {url}, which is not there"
        elif target in pages and unquote(parts.fragment) not in pages[target].places:
            yield f"{path.name} leads to {url}, where there is no such place"


def main() -> None:
    """Build, check, say where it is."""
    build()
    check()
    print(f"The documentation is in {(SITE / 'index.html').relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
