"""Figures are saved as pictures that look elsewhere as they did here: size, letters, legend, background."""

import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from helpers import assert_no_errors_shown, box, follow
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page, wait_settled

PAPER, TWO_COLUMNS = "paper, one column, 85 mm", "paper, two columns, 174 mm"
SLIDE = "slide 16:9, large type"
POINTS = 72 / 96
EMBEDDED = re.compile(r'@font-face \{ font-family: "Source Sans"; [^}]*src: url\("data:font/woff2;base64,')
_LETTERS = """svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => {
        const box = t.getBoundingClientRect();
        const scale = Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b);
        const cuts = [];
        for (let part = t; part !== svg; part = part.parentElement) cuts.push(part.getAttribute('clip-path'));
        return {
            words: t.textContent,
            legend: Boolean(t.closest('.legend')),
            family: getComputedStyle(t).fontFamily,
            pixels: scale * parseFloat(getComputedStyle(t).fontSize),
            outside: Math.max(frame.left - box.left, frame.top - box.top,
                              box.right - frame.right, box.bottom - frame.bottom),
            cut: cuts.some(Boolean),
        };
    });
}"""
"""What a browser draws of a picture's texts, in pixels of 1/96 inch."""


def box_of(page: Page, key: str) -> Locator:
    """The box "Save" below the figure with this key."""
    return page.locator(f".st-key-{key}-tools details").filter(has_text="Save")


def saved(page: Page, key: str, size: str, kind: str) -> bytes:
    place = box_of(page, key)
    if place.get_attribute("open") is None:
        _opener(page, key).click()
    choose_picture(page, place, size)
    wait_settled(page)
    with page.expect_download() as download:
        place.get_by_role("button", name=kind, exact=True).click()
    name = f"{key}.{kind.split()[0].lower()}"
    assert download.value.suggested_filename == name
    expect(place.get_by_role("status")).to_have_text(f"Saved as {name}.")
    return Path(download.value.path()).read_bytes()


def choose_picture(page: Page, place: Locator, size: str) -> None:
    """Choose the size of a picture, after the box has opened and the page has scrolled: both close a menu."""
    menu = place.get_by_role("combobox", name="Picture")
    menu.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    menu.click()
    page.get_by_role("option", name=size).click()


def _opener(page: Page, key: str) -> Locator:
    return box_of(page, key).locator("summary")


@pytest.fixture
def elsewhere(page: Page) -> Iterator[Page]:
    """Open a blank page, without the styles and fonts of the app."""
    other = page.context.new_page()
    page.bring_to_front()  # a hidden tab draws once a second, and each click waits for two drawings
    yield other
    other.close()


def letters(elsewhere: Page, svg: bytes) -> list[dict[str, Any]]:
    """Every text of a picture as it is drawn there."""
    elsewhere.set_content(f'<body style="margin: 0">{svg.decode()}</body>')
    elsewhere.evaluate("document.fonts.ready")
    drawn: list[dict[str, Any]] = elsewhere.locator("svg").first.evaluate(_LETTERS)
    assert drawn
    return drawn


def millimetres(text: str) -> float:
    assert text.endswith("mm")
    return float(text.removesuffix("mm"))


def test_an_svg_for_paper_is_whole_wherever_it_is_opened(server: Server, page: Page, elsewhere: Page) -> None:
    page.emulate_media(color_scheme="dark")
    open_page(page, f"{server.url}/?m=50")
    offered = page.locator(".st-key-ndcg-against-m .modebar-btn")
    titles = offered.evaluate_all("all => all.map(one => one.dataset.title)")
    assert titles == ["Fullscreen"], "no picture without its font"
    assert_whole(saved(page, "ndcg-against-m", PAPER, "SVG"), elsewhere)
    follow(page, "Low rank")
    expect(page.get_by_role("heading", level=1)).to_have_text("Low rank")
    wait_settled(page)
    assert_whole(saved(page, "dual-heatmap", PAPER, "SVG"), elsewhere)
    assert_no_errors_shown(page)


def assert_whole(svg: bytes, elsewhere: Page) -> None:
    """A picture for paper has its size and its font, and all letters wholly within it, none of them small."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert millimetres(root.attrib["width"]) == 85
    assert millimetres(root.attrib["height"]) == pytest.approx(85 * height / width, abs=0.01)
    assert EMBEDDED.search(svg.decode())
    without = svg.replace(b"@font-face", b"@nothing")  # as a program that reads no fonts from pictures
    for drawn in (letters(elsewhere, svg), letters(elsewhere, without)):
        assert max(text["outside"] for text in drawn) <= 0.5, drawn
        assert not any(text["cut"] for text in drawn if text["legend"]), drawn
        assert {text["family"] for text in drawn} == {'"Source Sans", Arial, Helvetica, sans-serif'}
        assert min(text["pixels"] for text in drawn) * POINTS >= 8


def test_pictures_of_one_figure_by_keyboard_on_paper_and_in_every_size_and_kind(
    server: Server, page: Page, elsewhere: Page
) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.add_init_script("window.print = () => { window.asked = true; }")
    page.emulate_media(color_scheme="dark")
    open_page(page, f"{server.url}/train?m=25")
    assert not [url for url in fetched if "picture" in url], "fetched before a picture was asked for"
    assert_each_press_of_a_key_makes_one_picture(page)
    assert_print_gives_lines_and_letters_of_the_size_of_paper(page)
    svg = saved(page, "ndcg-at-k", SLIDE, "SVG")
    root = ElementTree.fromstring(svg)
    assert (root.attrib["width"], root.attrib["height"]) == ("1280px", "720px")
    drawn = letters(elsewhere, svg)
    assert min(text["pixels"] for text in drawn) >= 18
    assert {text["words"] for text in drawn if text["legend"]} >= {"Nyström, m = 25"}
    assert max(text["outside"] for text in drawn) <= 0.5

    assert_light_and_fine(saved(page, "ndcg-at-k", SLIDE, "PNG"), 2560, 1440, dots=0)
    assert_light_and_fine(saved(page, "ndcg-at-k", TWO_COLUMNS, "PNG"), 2055, None, dots=300)
    png = saved(page, "ndcg-at-k", PAPER, "PNG")
    assert_light_and_fine(png, 1004, None, dots=300)
    assert_pdf_has_the_pixels(saved(page, "ndcg-at-k", PAPER, "PDF (picture)"), png)

    chart = page.locator(".st-key-ndcg-at-k .js-plotly-plot")
    chart.locator(".legendtoggle").first.click()  # hides the linear model
    expect(chart.locator(".scatterlayer .trace")).to_have_count(1)
    root = ElementTree.fromstring(saved(page, "ndcg-at-k", "as shown", "SVG"))
    place = box(chart)
    assert root.attrib["width"] == f"{round(place['width'])}px"
    assert root.attrib["height"] == f"{round(place['height'])}px"
    assert len(root.findall(".//*[@class='scatterlayer mlayer']/*")) == 1, "as the visitor has made it"
    assert_no_errors_shown(page)


def assert_light_and_fine(png: bytes, width: int, height: int | None, dots: float) -> None:
    """Check that a picture is light, has its size and is fine enough to print."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    image = Image.open(io.BytesIO(png))
    image.load()  # checks the sums of all chunks
    assert image.info.get("dpi", (0, 0)) == pytest.approx((dots, dots), abs=0.1)
    image = image.convert("RGB")
    assert image.width == width
    assert height in (None, image.height)
    last = (image.width - 1, image.height - 1)
    assert image.getpixel((0, 0)) == image.getpixel(last) == (255, 255, 255)
    assert image.convert("L").getextrema()[0] < 80, "nothing is drawn"


def assert_pdf_has_the_pixels(pdf: bytes, png: bytes) -> None:
    """Check that a PDF has the pixels of a PNG for paper, and its size."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    found = re.search(rb"/Width (\d+) /Height (\d+) .*?/Length (\d+) >>\nstream\n", pdf)
    assert found
    width, height, length = map(int, found.groups())
    assert (width, height) == image.size
    assert zlib.decompress(pdf[found.end() : found.end() + length]) == image.tobytes()
    page_size = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert page_size
    assert float(page_size[1]) == pytest.approx(85 / 25.4 * 72, abs=0.01)
    assert float(page_size[2]) == pytest.approx(float(page_size[1]) * height / width, abs=0.01)


def assert_each_press_of_a_key_makes_one_picture(page: Page) -> None:
    taken: list[str] = []
    page.on("download", lambda download: taken.append(download.suggested_filename))
    opener = _opener(page, "ndcg-at-k")
    opener.press("Enter")
    status = box_of(page, "ndcg-at-k").get_by_role("status")
    for count in (1, 2):
        with page.expect_download():
            box_of(page, "ndcg-at-k").get_by_role("button", name="PNG", exact=True).press("Enter")
        expect(status).to_have_text("Saved as ndcg-at-k.png.")
        assert len(taken) == count
    opener.press("Enter")
    opener.press("Enter")  # shows the last press's words again
    wait_settled(page)
    assert len(taken) == 2


def assert_print_gives_lines_and_letters_of_the_size_of_paper(page: Page) -> None:
    place = box_of(page, "ndcg-at-k")
    choose_picture(page, place, PAPER)
    wait_settled(page)
    place.get_by_role("button", name="Print", exact=True).click()
    expect(page.locator("#printed")).to_have_count(1)
    assert page.evaluate("() => window.asked")
    printed = page.pdf(prefer_css_page_size=True)
    width = float(re.search(rb"/MediaBox \[0 0 ([0-9.]+) ", printed)[1])  # type: ignore[index]
    assert width == pytest.approx(85 / 25.4 * 72, abs=2)
    assert printed.count(b"/Type /Page\n") == 1
    assert b"/Type3" in printed or b"/FontFile" in printed  # letters, of a font with variable weight
    assert b"/Subtype /Image" not in printed
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("#printed")).to_have_count(0)
