"""Every lesson by finger on a phone and by mouse, and three by keys: predict, see the gap, play freely.

Buttons are clicked: on a busy machine a tap lasts so long that Chromium takes it for a long press.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from helpers import tab_to
from playwright.sync_api import Browser, Locator, Page, expect

from tools import lessons
from tools.browser import Server, open_page
from ui.learn.lessons import order, texts

WORDS = texts("frame")
Place = tuple[float, float]
Hand = Callable[[Page, str, Sequence[Place]], None]
MIDDLE, ACROSS = (0.5, 0.5), ((0.1, 0.3), (0.4, 0.7), (0.9, 0.6))
PREDICTED: dict[str, Sequence[tuple[str, Sequence[Place]]]] = {
    "pairs": [("[aria-pressed]", [MIDDLE])],
    "ndcg": [(f"[data-grip=guess{k}]", [MIDDLE, (4, 0.5)]) for k in range(3)],
    "loss": [("[data-grip='sketch area']", ACROSS)],
    "regularisation": [("[data-grip='sketch area']", ACROSS)],
    "newton": [("[data-grip=area]", [MIDDLE, (0.6, 0.4)])],
    "kernel": [("[data-grip=pad]", ACROSS)],
    "nystroem": [(f"[data-grip=doc{k}]", [MIDDLE]) for k in (2, 15, 30)],
    "fourier": [("[data-grip='guess track']", [(0.2, 0.5), (0.7, 0.5)])],
    "alpha": [("[data-grip='guess track']", [(0.2, 0.5), (0.7, 0.5)])],
}
"""What a finger touches in the figure of each lesson, and its way in shares of that element."""


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def places(page: Page, selector: str, way: Sequence[Place]) -> list[dict[str, float]]:
    """Return the places of a way in the window, once its element is in view."""
    found = page.locator(f".lesson .figure {selector}").first
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    return [{"x": box["x"] + u * box["width"], "y": box["y"] + v * box["height"]} for u, v in way]


def dragged(page: Page, selector: str, way: Sequence[Place]) -> None:
    """Move the mouse over an element of the figure with its button held; one place is a click."""
    points = places(page, selector, way)
    page.mouse.move(**points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(**point, steps=5)
    page.mouse.up()


def drawn(page: Page, selector: str, way: Sequence[Place]) -> None:
    """Move a finger over an element of the figure; one place is a tap."""
    points = places(page, selector, way)
    points += [] if len(points) == 1 else [points[-1]]
    session = page.context.new_cdp_session(page)
    for k, point in enumerate(points):
        kind = "touchMove" if k else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def state_of(figure: Locator) -> str:
    """Return where everything in a figure is."""
    return str(figure.locator("svg.marks").evaluate("one => one.innerHTML"))


def assert_nothing_is_covered(phone: Page) -> None:
    """Compare the places of the buttons and of the text beside the figure."""
    phone.locator(".lesson .figure").scroll_into_view_if_needed()
    ways, text = phone.locator(".lesson .ways").bounding_box(), phone.locator(".lesson .text").bounding_box()
    assert ways is not None
    assert text is not None
    assert ways["y"] + ways["height"] <= text["y"] or text["y"] + text["height"] <= ways["y"]


def walk(name: str, page: Page, moved: Hand) -> None:
    """Predict in the figure of a lesson, see the gap, and drag in its last step."""
    figure, ways = page.locator(".lesson .figure"), page.locator(".lesson .ways")
    assert_nothing_is_covered(page)
    ways.get_by_role("button", name=WORDS["next"], exact=True).click()
    commit = ways.get_by_role("button", name=WORDS["commit"])
    expect(commit).to_have_attribute("aria-disabled", "true")
    for selector, way in PREDICTED[name]:
        moved(page, selector, way)
    expect(commit).to_have_attribute("aria-disabled", "false")
    commit.click()
    expect(page.locator(".lesson .gap strong")).to_have_text(re.compile(r"\d"))
    for _ in range(2):
        ways.get_by_role("button", name=WORDS["next"], exact=True).click()
    expect(page.locator(".lesson .steps [aria-current=step]")).to_contain_text("5")
    assert_nothing_is_covered(page)
    held = figure.locator(".grip.drags").first
    grip = held.get_attribute("data-grip")
    before = state_of(figure)
    moved(page, f"[data-grip='{grip}']", [MIDDLE, (0.9, 0.3), (2.5, -0.4)])
    assert state_of(figure) != before
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.parametrize("name", ["loss"])
def test_a_lesson_of_the_app_is_walked_by_touch(name: str, server: Server, phone: Page) -> None:
    open_page(phone, f"{server.url}/lessons?lesson={name}")
    walk(name, phone, drawn)


@pytest.mark.skipif(not lessons.ESBUILD.exists(), reason="esbuild is missing: run `make js`")
def test_a_phone_shows_the_figure_with_each_symbol_and_no_keys(phone: Page, files: dict[str, Path]) -> None:
    file = files["lessons"].as_uri()
    for name in order():
        phone.goto("about:blank")
        phone.goto(f"{file}#lesson={name}&step=4&guess=shown")
        for term in phone.locator(".lesson .terms button").all():
            term.scroll_into_view_if_needed()
            term.tap()
            expect(term).to_have_class(re.compile("lit"))
            figure, box = phone.locator(".lesson .figure").bounding_box(), term.bounding_box()
            assert figure is not None
            assert box is not None
            assert figure["y"] >= 0, name
            assert figure["y"] + figure["height"] <= box["y"], name
            assert box["y"] + box["height"] < 801, name
        for step in (1, 2, 5):
            phone.locator(".lesson .steps button").nth(step - 1).click()
            for keys in phone.locator(".lesson .keys").all():
                expect(keys).to_be_hidden()


@pytest.mark.skipif(not lessons.ESBUILD.exists(), reason="esbuild is missing: run `make js`")
@pytest.mark.parametrize("hand", ["finger", "mouse"])
def test_every_lesson_is_walked_by_hand(
    hand: str, phone: Page, browser: Browser, files: dict[str, Path]
) -> None:
    """In the file of all lessons, whose scripts are those of the app."""
    size = {"width": 1400, "height": 800}
    page = phone if hand == "finger" else browser.new_page(viewport=size, reduced_motion="reduce")
    file = files["lessons"].as_uri()
    assert list(PREDICTED) == order()
    for name in PREDICTED:
        page.goto("about:blank")
        page.goto(f"{file}#lesson={name}")
        walk(name, page, drawn if hand == "finger" else dragged)
    page.close()


PREDICT: dict[str, tuple[tuple[str, ...], str]] = {
    "pairs": (("Enter", "ArrowRight", "ArrowDown", "Enter"), r"^(?=(.*1){2}).*$"),
    "regularisation": (
        ("Shift+ArrowUp", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowUp"),
        r"^0\.8_0\.81_0\.82_",
    ),
    "nystroem": (("Enter", "ArrowRight", "Enter", "ArrowDown", "Enter"), r"^\d+_\d+_\d+$"),
}
"""For a lesson the keys of a prediction in its figure, and what the address then has."""
PLAY = {"pairs": "ArrowUp", "regularisation": "ArrowRight", "nystroem": "Enter"}
PRESSES = 12
"""Presses of Tab that lead from a step's first element to its last."""


@pytest.mark.skipif(not lessons.ESBUILD.exists(), reason="esbuild is missing: run `make js`")
@pytest.mark.parametrize("name", PREDICT)
def test_a_lesson_is_walked_by_keys_alone(name: str, browser: Browser, files: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page.goto(f"{files['lessons'].as_uri()}#lesson={name}")
    root = page.locator(".lesson")

    def pressed(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)
        focus = page.locator(".lesson :focus")
        expect(focus).to_have_count(1)
        expect(focus).to_be_in_viewport()

    tab_to(page, ".ways .main")
    pressed("Enter")
    keys, guess = PREDICT[name]
    tab_to(page, ".figure .grip")
    pressed(*keys)
    tab_to(page, ".ways .main", PRESSES)
    pressed("Enter")
    expect(root).to_have_attribute("data-step", "2")
    expect(page.locator(".lesson .gap strong")).to_have_text(re.compile(r"\d"))
    assert re.match(guess, page.url.rpartition("guess=")[2])
    pressed("ArrowRight")
    for term in texts(name)["terms"]:
        tab_to(page, f".terms [data-term={term}]", PRESSES)
        expect(page.locator(f".lesson math .lit[data-term={term}]").first).to_be_visible()
    tab_to(page, ".ways .main", PRESSES)
    pressed("Enter")
    before = page.locator(".lesson .figure svg").inner_html()
    tab_to(page, ".figure .grip")
    pressed(PLAY[name])
    assert page.locator(".lesson .figure svg").inner_html() != before
    tab_to(page, ".ways .main", PRESSES)
    pressed("Enter")
    following = order()[order().index(name) + 1]
    expect(root).to_have_attribute("data-lesson", following)
    expect(root).to_have_attribute("data-step", "0")
    page.close()
