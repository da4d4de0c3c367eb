"""Lessons and Playground as single files: from a disk, offline, in two browsers; state in the address."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from firefox import PROGRAM, firefox
from helpers import barriers
from playwright.sync_api import Browser, Page, expect

from tools import lessons
from tools.lesson_pictures import GUESSES, walk

pytestmark = pytest.mark.skipif(not lessons.ESBUILD.exists(), reason="esbuild is missing: run `make js`")
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_WHOLE = "one => one.scrollWidth <= one.clientWidth + 1"
_COVERED = """(() => {
    const box = (one) => [one.textContent, one.getBoundingClientRect()];
    const all = Array.from(document.querySelectorAll('.lesson .figure svg text'), box);
    const share = (low, high, a, b) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
    return all.flatMap(([text, a], k) => all.slice(k + 1)
        .filter(([other, b]) => text.length + other.length > 4
            && share('left', 'right', a, b) > 2 && share('top', 'bottom', a, b) > 4)
        .map(([other]) => `${text} | ${other}`));
})()"""
_MARK = "document.querySelectorAll('.mark.document')[0].getBoundingClientRect()"


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """Open a tab without a network; errors and requests other than for files fail the test."""
    context = browser.new_context(offline=True)
    page, faults = context.new_page(), list[str]()
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("request", lambda request: faults.append(request.url))
    yield page
    context.close()
    assert [url for url in faults if not url.startswith("file:")] == []


def test_a_file_works_offline_and_keeps_its_state(offline: Page, files: dict[str, Path]) -> None:
    assert max(path.stat().st_size for path in files.values()) < 300_000
    page = offline
    page.goto(f"{files['lessons'].as_uri()}#lesson=loss&step=2")
    page.get_by_role("button", name=lessons.texts("frame")["answer"]).click()
    expect(page).to_have_url(re.compile("#lesson=loss&step=3&guess=shown$"))
    page.reload()
    expect(page.locator(".lesson h2")).to_have_text(_head("loss", 2))
    page.get_by_label(lessons.texts("frame")["menu"], exact=True).select_option("ndcg")
    expect(page.locator(".lesson h2")).to_have_text(_head("ndcg", 0))


def test_the_last_lesson_has_an_end(offline: Page, files: dict[str, Path]) -> None:
    words, last = lessons.texts("frame"), lessons.texts("frame")["lessons"][-1]
    for name in ("lessons", last):
        offline.goto(f"{files[name].as_uri()}#lesson={last}&step=5&guess=shown")
        head = offline.locator(".lesson h2")
        before = head.inner_text()
        offline.get_by_role("button", name=words["finish"]).click()
        expect(head).to_have_text(words["end"]["head"])
        pages = [one["text"] for one in words["end"]["pages"]]
        expect(offline.locator(".lesson .text li")).to_have_text(pages)
        expect(offline.get_by_role("button", name=words["finish"])).to_be_hidden()
        offline.keyboard.press("ArrowLeft")
        expect(head).to_have_text(before)
    offline.goto(f"{files['pairs'].as_uri()}#lesson=pairs&step=5&guess=shown")
    expect(offline.locator(".lesson .ways .main")).to_be_hidden()


def test_the_playground_works_offline_and_keeps_its_state(offline: Page, files: dict[str, Path]) -> None:
    page, address = offline, files["playground"].as_uri()
    page.goto(f"{address}#pmap=Nystr%C3%B6m&pm=8&peach=8&docs=0.100.-100.4.1_5_z2.10.20&pset=XOR")
    answer, marks = page.locator(".answer"), page.locator(".mark.document")
    expect(answer).to_have_text(re.compile("Nyström with 8 landmarks orders"))
    expect(marks).to_have_count(23)
    expect(page.get_by_label("Document of query 2, grade 4, at 1.00, −1.00,")).to_have_count(1)
    expect(page.get_by_label("Landmark 3, at 0.10, 0.20,")).to_have_count(1)
    page.get_by_role("slider", name="C", exact=True).press("ArrowRight")
    expect(page).to_have_url(re.compile("pc=1&docs="))
    page.get_by_label("Feature map").select_option("random Fourier")
    expect(answer).to_have_text(re.compile("random Fourier with 8 frequencies orders"))
    page.get_by_role("button", name="Undo all changes").click()
    expect(marks).to_have_count(24)
    page.get_by_role("button", name="Undo the last change").click()
    expect(marks).to_have_count(23)
    told = page.evaluate("location.hash")
    page.reload()
    expect(marks).to_have_count(23)
    assert page.evaluate("location.hash") == told
    page.evaluate("location.hash = 'docs=7.x&pmap=cubic'")
    expect(page.locator(".unread")).to_have_text(lessons.playground()["unread"])
    expect(marks).to_have_count(48)


def test_no_step_or_open_answer_has_barriers_is_too_wide_or_covers_words_of_a_figure(
    browser: Browser, files: dict[str, Path]
) -> None:
    """The narrow window opens the file of each lesson, the wide one that of all."""
    assert list(GUESSES) == lessons.texts("frame")["lessons"]
    for scheme, width, height in (("light", 400, 800), ("dark", 1120, 700)):
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        for name in GUESSES:
            for step in walk(page, files[name if width == 400 else "lessons"], name):
                where = f"{name}, step {step}, {width} pixels, {scheme}"
                if width == 400 and step == 5:
                    assert_an_answer_opens_by_keyboard(page, name)
                assert barriers(page) == [], where
                assert page.evaluate(_TOO_WIDE) <= 0, where
                assert page.evaluate(_COVERED) == [], where
                if (name, step) == ("ndcg", 4):  # the widest formula
                    assert page.locator(".lesson math").evaluate(_WHOLE), where
        page.goto(f"{files['playground'].as_uri()}#pmap=random+Fourier")
        expect(page.locator(".playground .mark").first).to_be_visible()
        assert barriers(page) == [], f"playground, {width} pixels, {scheme}"
        assert page.evaluate(_TOO_WIDE) <= 0
        page.close()


def assert_an_answer_opens_by_keyboard(page: Page, name: str) -> None:
    answer = page.locator(".lesson details p")
    expect(answer).to_be_hidden()
    page.locator(".lesson summary").focus()
    page.keyboard.press("Enter")
    expect(answer).to_be_visible()
    told = re.escape(lessons.texts(name)["steps"][4]["answer"]).replace("\\ ", r"\s")
    expect(answer).to_have_text(re.compile(re.sub(r"\\\{\w+\\\}", "[^{}]+", told)))


@pytest.mark.skipif(PROGRAM is None, reason="Firefox is missing")
def test_every_file_works_in_firefox(files: dict[str, Path], tmp_path: Path) -> None:
    with firefox(tmp_path) as tab:
        for name, path in files.items():
            tab.open(f"{path.as_uri()}#lesson={name}&step=4&guess=shown")
            if name not in ("lessons", "playground"):
                assert tab.evaluate("document.querySelector('.lesson h2').textContent")
                assert tab.evaluate("document.querySelectorAll('.lesson math .term').length") > 1, name
        tab.open(files["playground"].as_uri())
        drawn = "while (!document.querySelector('.mark.document')) await new Promise(requestAnimationFrame)"
        place = tab.evaluate(f"(async () => {{ {drawn}; return {_MARK}; }})()")
        x, y = (round(place[low] + place[size] / 2) for low, size in (("x", "width"), ("y", "height")))
        tab.mouse(
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "x": x + 40, "y": y + 30, "duration": 100},
            {"type": "pointerUp", "button": 0},
        )
        assert re.search(r"docs=0\.", tab.evaluate("location.hash"))
        moved = tab.evaluate(f"new Promise(requestAnimationFrame).then(() => {_MARK})")
        gone = [moved[one] - place[one] for one in ("x", "y")]
        assert gone == pytest.approx([40, 30], abs=3), "places are in hundredths of the plane"
        assert tab.faults == []


def _head(name: str, step: int) -> str:
    found = lessons.texts(name)["steps"][step]
    return str(found.get("shownHead") or found["head"])
