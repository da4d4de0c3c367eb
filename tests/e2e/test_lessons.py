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


def test_a_double_click_makes_a_tie(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/lessons?lesson=ndcg&step=5&guess=shown")
    page.locator(".lesson [data-grip=tile1]").dblclick()  # grade 1 at rank 2, before grade 0
    expect(page.locator(".lesson .figure .tie")).to_have_count(1)
    expect(page.locator(".lesson .figure .band")).to_have_count(3)


def test_no_picture_of_a_lesson_stays_in_the_next_one(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons?lesson=nystroem")
    picture = page.locator("canvas.many")
    pixels = "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
    assert picture.evaluate(f"canvas => {pixels}.some(Boolean)")
    page.get_by_test_id("stMain").get_by_role("combobox").click()
    page.get_by_role("option", name=re.compile("^5")).click()
    expect(page.locator(".lesson[data-lesson=newton]")).to_be_visible()
    wait_settled(page)
    assert picture.evaluate("canvas => canvas.width") == 0


def test_the_end_of_the_lessons_leads_to_a_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/lessons?lesson={WORDS['lessons'][-1]}&step=5&guess=shown")
    page.get_by_role("button", name=WORDS["finish"]).click()
    expect(page.locator(".lesson h2")).to_have_text(WORDS["end"]["head"])
    first = WORDS["end"]["pages"][0]
    page.get_by_role("link", name=first["text"]).click()
    expect(page).to_have_url(re.compile(first["page"]))


@pytest.mark.parametrize(
    "step", ["pairs&step=2", "kernel&step=4", "nystroem&step=4", "fourier&step=4", "alpha&step=3"]
)
def test_a_step_needs_no_scrolling(server: Server, page: Page, step: str) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons?lesson={step}&guess={GUESSES[step.partition('&')[0]]}")
    page.locator(".lesson .figure").wait_for()
    main = page.get_by_test_id("stMain")
    assert main.evaluate("one => one.scrollHeight - one.clientHeight") <= 0
    expect(main).to_have_css("scrollbar-gutter", "stable")  # nothing moves where a step is longer


@pytest.mark.parametrize("lesson", ["nystroem", "alpha"])
def test_an_answer_opens_with_all_that_follows_it_above_the_buttons(
    server: Server, page: Page, lesson: str
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons?lesson={lesson}&step=5&guess={GUESSES[lesson]}")
    page.locator(".lesson summary").click()
    last, ways = page.locator(".lesson .text > p").last, page.locator(".lesson .ways")
    expect(last).to_be_in_viewport(ratio=1)
    end, buttons = last.bounding_box(), ways.bounding_box()
    assert end is not None
    assert buttons is not None
    fade = float(ways.evaluate("one => parseFloat(getComputedStyle(one, '::before').height)"))
    assert end["y"] + end["height"] <= buttons["y"] - fade


def test_the_figure_stays_in_view_beside_a_long_text(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/lessons?lesson=loss&step=3&guess={GUESSES['loss']}&large=true")
    figure, last = page.locator(".lesson .figure"), page.locator(".lesson .text p").last
    before = last.bounding_box()
    page.get_by_test_id("stMain").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    box, after = figure.bounding_box(), last.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] < before["y"]
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 720


def test_a_new_step_begins_at_its_top_on_a_phone(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 850})
    open_page(page, f"{server.url}/lessons?lesson=loss&step=3&guess={GUESSES['loss']}")
    page.locator(".lesson .text p").last.scroll_into_view_if_needed()
    page.get_by_test_id("stMain").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    expect(page.locator(".lesson h2")).not_to_be_in_viewport()
    page.locator(".lesson .ways .main").click()
    expect(page.locator(".lesson h2")).to_be_in_viewport(ratio=1)
    box, menu = (page.locator(one).bounding_box() for one in (".lesson", "[data-testid=stHeader]"))
    assert box is not None
    assert menu is not None
    assert box["y"] >= menu["y"] + menu["height"]


def test_the_page_ends_below_the_buttons_on_a_phone(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 850})
    open_page(page, f"{server.url}/lessons?lesson=loss&step=3&guess={GUESSES['loss']}")
    box = page.locator(".lesson .ways").bounding_box()
    assert box is not None
    height = page.get_by_test_id("stMain").evaluate("one => one.scrollHeight")
    assert height - box["y"] - box["height"] < 60


FOCUS = """one => {
    one.blur();
    const before = getComputedStyle(one).stroke;
    one.focus();
    const { stroke, fill } = getComputedStyle(one);
    return [before, fill, stroke];
}"""


@pytest.mark.parametrize("lesson", ["pairs", "ndcg", "loss", "newton", "kernel", "alpha"])
def test_the_focus_is_seen_in_the_figure(server: Server, page: Page, lesson: str) -> None:
    open_page(page, f"{server.url}/lessons?lesson={lesson}&step=1&guess={GUESSES[lesson]}")
    for step in (2, 4, 5):
        page.locator(".lesson .steps button").nth(step - 1).click()
        page.keyboard.press("Tab")  # from now on the browser shows the focus
        for grip in page.locator(".lesson .figure .grip[tabindex]").all():
            *without, ring = grip.evaluate(FOCUS)
            assert ring not in without, (step, grip.get_attribute("aria-label"))


def test_a_slider_takes_keys_after_a_click_on_its_track(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/lessons?lesson=alpha&step=3&guess=12")
    knob, track = (page.locator(f".lesson [data-grip='added{part}']") for part in ("", " track"))
    size = box(track)
    track.click(position={"x": 4, "y": size["height"] / 2})
    for key, at in (("ArrowRight", "1"), ("End", "3"), ("Home", "0")):
        page.keyboard.press(key)
        expect(knob).to_have_attribute("aria-valuenow", at)
    assert query_of(page)["step"] == "3"


def test_a_lesson_is_walked_by_keyboard(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lessons")
    head, text, status = (page.locator(f".lesson {one}") for one in ("h2", ".text", ".status"))
    expect(head).to_have_text(FIRST["steps"][0]["head"])
    box = page.locator(".lesson .figure").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 768

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
