"""Test foreign text in the browser: no address, upload or document causes a request to another host.

That no other host is asked is what the fixture `page` sees to at the end of every test.
"""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from helpers import assert_no_errors_shown, follow
from playwright.sync_api import Page, expect
from test_uploads import GOOD, upload
from test_what_if import drag, names

from tools.browser import Server, open_page, wait_settled
from ui.controls.settings import all_settings

HOSTILE = (
    "![p](https://elsewhere.example/p.png)",
    "[a](https://elsewhere.example) https://elsewhere.example/ www.elsewhere.example",
    '<img src="https://elsewhere.example/p.png"><a href="https://elsewhere.example">x</a>',
    r"$\href{https://elsewhere.example}{x}$ :material/bolt: :red[x] `c` a@elsewhere.example",
)
NAMES = [" ".join(texts).replace("/", "∕") for texts in (HOSTILE[:2], HOSTILE[2:])]
"""Names of folders, which are no longer than 255 bytes."""
DOCUMENT = '<a/href="https://elsewhere.example">x</a>'


_HOSTS = """() => Array.from(document.querySelectorAll('[href], [src], [*|href]'))
    .flatMap(one => [one.href, one.src, one.getAttributeNS('http://www.w3.org/1999/xlink', 'href')])
    .map(found => found && found.baseVal !== undefined ? found.baseVal : found)
    .filter(Boolean)
    .map(found => new URL(found, location.href))
    .filter(url => url.host && url.host !== location.host)
    .map(url => url.href)"""


def assert_nothing_leads_elsewhere(page: Page) -> None:
    """No link, picture or other element of the page names another host."""
    assert page.evaluate(_HOSTS) == []


@pytest.mark.parametrize("name", ["side_by_side", "why"])
def test_an_address(server: Server, page: Page, name: str) -> None:
    """Every parameter says all that is hostile."""
    others = ("query", "view", "picked", "document", "pins", "job", "part", "metric", "anything")
    others += ("above", "below", "of", "move", "names")
    keys = ["data", "fold", *(setting.key for setting in all_settings()), *others]
    address = dict.fromkeys(keys, " ".join(HOSTILE)) | {"costs": "λ as below"}
    open_page(page, f"{server.url}/{name}?{urlencode(address)}")
    assert_nothing_leads_elsewhere(page)


@pytest.fixture
def odd_names(tmp_path: Path) -> Path:
    """A data root whose sets are called what is hostile, odd documents in them."""
    for text in NAMES:
        folder = tmp_path / "data" / text / "Fold1"
        folder.mkdir(parents=True)
        for number, name in enumerate(("train", "vali", "test"), 1):
            lines = GOOD.replace("docid = q", f"docid = {DOCUMENT}q").replace("qid:", f"qid:{number}0")
            (folder / f"{name}.txt").write_text(lines)
    return tmp_path / "data"


def test_names_of_data_sets_and_documents(odd_names: Path, start_server, page: Page) -> None:
    running = start_server(RANKVIZ_DATA=str(odd_names))
    for text in reversed(NAMES):
        open_page(page, f"{running.url}/data?{urlencode({'data': text, 'm': 5})}")
        for title in ("Data", "Two models", "What if"):
            if title != "Data":
                follow(page, title)
            expect(page.get_by_role("heading", level=1)).to_have_text(title)
            wait_settled(page)
            assert_no_errors_shown(page)
            assert_nothing_leads_elsewhere(page)
    shown = names(page)
    assert shown[0].startswith(DOCUMENT)
    drag(page, shown[-1], shown[0])
    assert_no_errors_shown(page)
    assert_nothing_leads_elsewhere(page)


def test_an_upload(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data")
    for text in NAMES:
        name = f"{text}.txt"
        upload(page, name, GOOD.replace("0 qid:1 ", f"{text} qid:1 ", 1))
        expect(page.get_by_test_id("stAlertContentError")).to_be_visible()
        assert_nothing_leads_elsewhere(page)
        page.get_by_role("button", name=f"Remove {name}").click()
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
