"""A lesson in a browser, by keyboard alone: predict, see the gap, light up the formula, go on."""

from __future__ import annotations

import re

import pytest
from helpers import box, query_of, tab_to
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled
from tools.lesson_pictures import GUESSES
from ui.learn.lessons import texts

WORDS, FIRST = texts("frame"), texts("pairs")


FOCUS = """one => {
    one.blur();
    const before = getComputedStyle(one).stroke;
    one.focus();
    const { stroke, fill } = getComputedStyle(one);
    return [before, fill, stroke];
}"""


def test_a_double_click_makes_a_tie_and_no_picture_stays_in_the_next_lesson(
    server: Server, page: Page
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons?lesson=ndcg&step=5&guess=shown")
    page.locator(".lesson [data-grip=tile1]").dblclick()  # grade 1 at rank 2, before grade 0
    expect(page.locator(".lesson .figure .tie")).to_have_count(1)
    expect(page.locator(".lesson .figure .band")).to_have_count(3)
    picture = page.locator("canvas.many")
    pixels = "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
    for place, lesson, drawn in (
        ("7", "nystroem", f"canvas => {pixels}.some(Boolean)"),
        ("5", "newton", "canvas => canvas.width === 0"),
    ):
        page.get_by_test_id("stMain").get_by_role("combobox").click()
        page.get_by_role("option", name=re.compile(f"^{place}")).click()
        expect(page.locator(f".lesson[data-lesson={lesson}]")).to_be_visible()
        wait_settled(page)
        assert picture.evaluate(drawn), lesson


def test_the_end_of_the_lessons_leads_to_a_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/lessons?lesson={WORDS['lessons'][-1]}&step=5&guess=shown")
    page.get_by_role("button", name=WORDS["finish"]).click()
    expect(page.locator(".lesson h2")).to_have_text(WORDS["end"]["head"])
    first = WORDS["end"]["pages"][0]
    page.get_by_role("link", name=first["text"]).click()
    expect(page).to_have_url(re.compile(first["page"]))


WITHOUT_SCROLLING = {"pairs": 2, "kernel": 4, "nystroem": 4, "fourier": 4, "alpha": 3}
"""A step of a lesson that a laptop shows as a whole, besides the last one."""


@pytest.mark.parametrize("lesson", GUESSES)
def test_a_laptop_shows_a_step_the_focus_and_an_open_answer(server: Server, page: Page, lesson: str) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    step = WITHOUT_SCROLLING.get(lesson, 1)
    open_page(page, f"{server.url}/lessons?lesson={lesson}&step={step}&guess={GUESSES[lesson]}")
    page.locator(".lesson .figure").wait_for()
    main = page.get_by_test_id("stMain")
    if step > 1:
        assert main.evaluate("one => one.scrollHeight - one.clientHeight") <= 0
    expect(main).to_have_css("scrollbar-gutter", "stable")  # nothing moves where a step is longer
    if lesson == "alpha":
        assert_a_slider_takes_keys_after_a_click_on_its_track(page)
    for step in (2, 4, 5):
        page.locator(".lesson .steps button").nth(step - 1).click()
        page.keyboard.press("Tab")  # from now on the browser shows the focus
        for grip in page.locator(".lesson .figure .grip[tabindex]").all():
            *without, ring = grip.evaluate(FOCUS)
            assert ring not in without, (step, grip.get_attribute("aria-label"))
    assert main.evaluate("one => one.scrollHeight - one.clientHeight") <= 0
    page.locator(".lesson summary").click()
    last, ways = page.locator(".lesson .text > p").last, page.locator(".lesson .ways")
    expect(last).to_be_in_viewport(ratio=1)
    end, buttons = box(last), box(ways)
    fade = float(ways.evaluate("one => parseFloat(getComputedStyle(one, '::before').height)"))
    assert end["y"] + end["height"] <= buttons["y"] - fade


def assert_a_slider_takes_keys_after_a_click_on_its_track(page: Page) -> None:
    knob, track = (page.locator(f".lesson [data-grip='added{part}']") for part in ("", " track"))
    track.click(position={"x": 4, "y": box(track)["height"] / 2})
    for key, at in (("ArrowRight", "1"), ("End", "3"), ("Home", "0")):
        page.keyboard.press(key)
        expect(knob).to_have_attribute("aria-valuenow", at)
    assert query_of(page)["step"] == "3"


def test_the_figure_stays_in_view_beside_a_long_text(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/lessons?lesson=loss&step=3&guess={GUESSES['loss']}&large=true")
    last = page.locator(".lesson .text p").last
    before = box(last)["y"]
    page.get_by_test_id("stMain").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    figure = box(page.locator(".lesson .figure"))
    assert box(last)["y"] < before
    assert figure["y"] >= 0
    assert figure["y"] + figure["height"] <= 720


def test_on_a_phone_the_page_ends_below_the_buttons_and_a_new_step_begins_at_its_top(
    server: Server, page: Page
) -> None:
    page.set_viewport_size({"width": 400, "height": 850})
    open_page(page, f"{server.url}/lessons?lesson=loss&step=3&guess={GUESSES['loss']}")
    main, ways = page.get_by_test_id("stMain"), box(page.locator(".lesson .ways"))
    assert main.evaluate("one => one.scrollHeight") - ways["y"] - ways["height"] < 60
    page.locator(".lesson .text p").last.scroll_into_view_if_needed()
    main.evaluate("one => one.scrollTo(0, one.scrollHeight)")
    expect(page.locator(".lesson h2")).not_to_be_in_viewport()
    page.locator(".lesson .ways .main").click()
    expect(page.locator(".lesson h2")).to_be_in_viewport(ratio=1)
    lesson, menu = box(page.locator(".lesson")), box(page.get_by_test_id("stHeader"))
    assert lesson["y"] >= menu["y"] + menu["height"]


def test_a_lesson_is_walked_by_keyboard(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons")
    head, text, status = (page.locator(f".lesson {one}") for one in ("h2", ".text", ".status"))
    expect(head).to_have_text(FIRST["steps"][0]["head"])
    figure = box(page.locator(".lesson .figure"))
    assert figure["y"] + figure["height"] <= 768

    tab_to(page, ".ways .main")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Step 2 of 5")
    page.keyboard.press("ArrowRight")  # without a prediction it leads nowhere
    expect(status).to_have_text(WORDS["first"])
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")  # past "Show me" and "Back": the last line of the figure
    page.keyboard.press("Enter")
    expect(page.locator(".lesson [aria-pressed=true]")).to_have_count(1)
    tab_to(page, ".ways .main")
    page.keyboard.press("Enter")

    expect(page.locator(".lesson .gap strong")).to_have_text(re.compile(r"^\d+$"))
    gap = page.locator(".lesson .gap").inner_text()
    wait_settled(page)
    assert query_of(page)["step"] == "3"
    assert query_of(page)["guess"].split("_").count("1") == 1
    page.keyboard.press("ArrowRight")
    tab_to(page, ".terms button")
    lit = page.locator(".lesson math .term.lit")
    expect(lit).to_have_text("t")
    expect(page.locator(".lesson .figure .margin.lit")).to_have_count(1)
    page.locator(".lesson .figure .spot").first.hover()  # and from the figure to the formula
    expect(lit).to_have_text("xi")
    tab_to(page, ".ways .main")
    page.keyboard.press("Enter")
    before = head.inner_text()
    page.locator(".lesson [data-grip=w]").focus()
    page.keyboard.press("Shift+ArrowUp")
    for _ in range(12):
        page.keyboard.press("Shift+ArrowUp")
    expect(head).not_to_have_text(before)
    address = text.get_by_role("link").get_attribute("href") or ""

    wait_settled(page)
    page.reload()
    wait_settled(page)
    assert query_of(page)["step"] == "5"
    page.locator(".lesson .steps button").nth(2).click()
    expect(page.locator(".lesson .gap")).to_have_text(gap.replace("\n", ""))
    page.locator(".lesson .steps button").nth(4).click()
    page.get_by_role("button", name=WORDS["onward"].split(":")[0]).click()
    expect(head).to_have_text(texts("ndcg")["steps"][0]["head"])
    wait_settled(page)
    assert query_of(page)["lesson"] == "ndcg"
    assert "guess" not in query_of(page)
    expect(status).to_have_text("")  # what the last lesson told stays there

    open_page(page, f"{server.url}/{address}")  # the documents of the lesson in the Playground
    expect(page.locator(".playground .mark.document")).to_have_count(8)
