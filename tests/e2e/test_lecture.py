"""A class in two browsers: the lecturer sees where a student is, and the gap of the prediction."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers import barriers, box, query_of, sidebar
from playwright.sync_api import Page, expect

from tools.browser import Server, open_page, wait_settled
from ui.controls.lesson_texts import gap_axis
from ui.controls.sequence import Sequence, View
from ui.learn import lecture_words as words
from ui.learn.lessons import LESSON, texts
from ui.shell.words import (
    CLASS_CLOSED,
    EDIT_LECTURE,
    GO_TO_VIEW,
    IN_CLASS,
    NO_PREDICTIONS,
    NOBODY,
    WAIT,
)
from ui.work.classes import LENGTH


def test_a_class_follows_a_lecture(server: Server, page: Page, other: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lecture")
    page.get_by_role("button", name=words.EXAMPLE).click()
    page.get_by_role("button", name=words.OPEN_CLASS).click()
    link = page.get_by_test_id("stCode").get_by_text("class=").inner_text()
    expect(page.get_by_text(NOBODY)).to_be_visible()
    assert barriers(page) == []
    open_page(other, link)
    told = other.locator(".class-place")
    expect(told).to_have_text(f"{IN_CLASS} {WAIT}")
    assert barriers(other) == []
    waiting = page.get_by_text("1 student waiting.")
    expect(waiting).to_be_visible(timeout=15_000)
    page.locator("a.lecture-start").last.click()
    bar = progress = page.locator(".st-key-ways-sequence")
    expect(bar).to_contain_text("1 / 4")
    expect(bar).to_contain_text(NO_PREDICTIONS)
    figure = page.locator(".lesson .figure")
    places = {}
    for width, height in ((400, 800), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        wait_settled(page)
        places[width, height] = box(figure)["y"]

    told.get_by_role("link", name=GO_TO_VIEW.format(at=1)).click(timeout=15_000)
    expect(other.locator(".st-key-ways-sequence")).to_contain_text("1 / 4")
    frame = texts("frame")
    other.get_by_role("button", name=frame["next"], exact=True).click()
    other.locator(".lesson .figure [aria-pressed]").first.click()
    other.get_by_role("button", name=frame["commit"]).click()
    gap = other.locator(".lesson .gap strong").inner_text()
    chart = bar.get_by_test_id("stPlotlyChart")
    expect(chart.locator(".bartext")).to_have_text("1", timeout=15_000)
    expect(chart.locator(".xtick text").get_by_text(gap, exact=True)).to_be_visible()
    expect(chart.locator(".xtitle")).to_have_text(gap_axis("pairs"))
    for (width, height), y in places.items():  # the first prediction moves nothing
        page.set_viewport_size({"width": width, "height": height})
        wait_settled(page)
        assert box(figure)["y"] == pytest.approx(y, abs=2), width
    expect(other.locator(".st-key-ways-sequence").get_by_test_id("stPlotlyChart")).to_have_count(0)
    expect(progress).to_contain_text("1 student on this view")

    page.keyboard.press("PageDown")
    expect(bar).to_contain_text("2 / 4")
    expect(page).to_have_url(re.compile("/playground.*at=2"))
    expect(progress).to_contain_text("1 student on an earlier view", timeout=15_000)
    other.get_by_role("link", name=GO_TO_VIEW.format(at=2)).click(timeout=15_000)
    expect(other).to_have_url(re.compile("/playground.*at=2"))
    expect(progress).to_contain_text("1 student on this view", timeout=15_000)

    page.goto(link)  # the lecturer closes the class: the student is told, and no number is left
    page.get_by_role("button", name=words.CLOSE_CLASS).click()
    page.get_by_role("button", name=words.CLOSE_NOW).click()
    expect(page.get_by_role("button", name=words.OPEN_CLASS)).to_be_visible(timeout=15_000)
    expect(other.locator(".st-key-ways-sequence")).to_contain_text(CLASS_CLOSED, timeout=15_000)
    open_page(page, other.url)
    expect(page.get_by_text("1 student")).to_have_count(0)


def test_keys_follow_a_shared_lecture_to_its_last_view_unless_something_else_takes_them(
    server: Server, page: Page
) -> None:
    locked = View("playground", {"pmap": "Nyström"}, "Look *here*", locked=True)
    packed = Sequence("L", (View("weights", {}, "First"), locked)).packed()
    open_page(page, f"{server.url}/lecture?seq={packed}")
    expect(page.get_by_role("link", name=EDIT_LECTURE)).to_be_visible()
    expect(page.get_by_test_id("stTextArea")).to_have_count(0)
    page.locator("a.lecture-start").click()
    bar = page.locator(".st-key-ways-sequence")
    expect(bar).to_contain_text("1 / 2")
    page.keyboard.press("PageUp")
    sidebar(page).locator(".st-key-c input").focus()
    page.keyboard.press("PageDown")
    expect(bar).to_contain_text("2 / 2")
    assert_playground_is_locked(page)
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    expect(bar).to_contain_text("1 / 2")
    assert_arrows_follow_unless_something_else_takes_them(page)

    open_page(page, f"{server.url}/playground?seq={packed}&at=2&alone=true")
    expect(bar.get_by_text("Look here")).to_be_visible()
    page.get_by_role("link", name=EDIT_LECTURE).click()
    expect(page.get_by_test_id("stTextArea")).to_have_count(2)


def assert_arrows_follow_unless_something_else_takes_them(page: Page) -> None:
    bar, slider = page.locator(".st-key-ways-sequence"), page.locator(".weights .bars input").first
    wait_settled(page)
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_value(before)
    page.evaluate("""() => ['text', 'checkbox'].forEach(type =>
        document.body.append(Object.assign(document.createElement('input'), {type, id: type})))""")
    page.locator("#text").focus()
    for key in ("ArrowRight", "PageDown"):
        page.keyboard.press(key)
    wait_settled(page)
    expect(bar).to_contain_text("1 / 2")
    page.locator("#checkbox").focus()
    for key, shown in (("PageDown", "2 / 2"), ("ArrowLeft", "1 / 2"), ("ArrowRight", "2 / 2")):
        page.keyboard.press(key)
        expect(bar).to_contain_text(shown)
        wait_settled(page)


def test_a_projector_shows_the_histogram_beside_the_text(server: Server, page: Page, other: Page) -> None:
    text = "Which lines will be red after the turn? Why do lines between two queries never count as pairs?"
    packed = Sequence("A lecture", (View("lessons", {}, text),)).packed()
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/lecture?seq={packed}&at=0")
    page.get_by_role("button", name=words.OPEN_CLASS).click()
    code = page.get_by_test_id("stCode").get_by_text("class=").inner_text().split("class=")[1][:LENGTH]
    open_page(other, f"{server.url}/lessons?step=2&class={code}&at=1")
    other.locator(".lesson .figure [aria-pressed]").first.click()
    other.get_by_role("button", name=texts("frame")["commit"]).click()
    expect(other.locator(".lesson .gap strong")).to_be_visible()
    wait_settled(other)
    for shown in ("", "&large=true", "&large=true&alone=true"):
        open_page(page, f"{server.url}/lessons?step=2&class={code}&at=1{shown}")
        header, ways = box(page.get_by_test_id("stHeader")), page.locator(".lesson .ways button")
        expect(ways.first).to_be_visible()
        assert len({box(one)["y"] for one in ways.all()}) == 1, shown
        chart = box(page.locator(".st-key-class-gaps"))
        assert chart["y"] >= header["y"] + header["height"], shown
        for words_beside in (page.get_by_text(text), page.get_by_text("1 student")):
            beside = box(words_beside)
            assert beside["x"] + beside["width"] <= chart["x"], shown
        figure = box(page.locator(".lesson .figure"))
        assert figure["y"] + figure["height"] <= 720, shown


def test_a_projector_shows_the_axis_below_the_bar(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    text = "Read both curves and the level of the linear model. From which $m$ on do more features not help?"
    packed = Sequence("A lecture", (View("ndcg_vs_m", {}, text),)).packed()
    open_page(page, f"{server.url}/ndcg_vs_m?large=true&alone=true&seq={packed}&at=1")
    title = box(page.locator(".js-plotly-plot .xtitle"))
    assert title["y"] + title["height"] < 720


def test_the_bar_stands_above_settings_on_the_page(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    packed = Sequence("L", (View("kernel_approximation", {}, "Look", locked=True),)).packed()
    open_page(page, f"{server.url}/kernel_approximation?seq={packed}&at=1&m=50&draws=1&errupto=50&large=true")
    bar, menu = box(page.locator(".st-key-ways-sequence nav")), box(page.get_by_test_id("stHeader"))
    assert menu["y"] + menu["height"] <= bar["y"]
    assert bar["y"] + bar["height"] < box(page.get_by_role("heading", level=1))["y"]


def test_a_phone_keeps_the_bar_and_the_place_of_the_lecturer(server: Server, page: Page, other: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    names = ("kernel_approximation", "train", "playground")
    packed = Sequence("L", tuple(View(name, {"m": "50"}, "Look *here*") for name in names)).packed()
    open_page(page, f"{server.url}/lecture?seq={packed}")
    page.get_by_role("link", name=EDIT_LECTURE).click()
    page.get_by_role("button", name=words.OPEN_CLASS).click()
    link = page.get_by_test_id("stCode").get_by_text("class=").inner_text()
    code = parse_qs(urlsplit(link).query)["class"][0]
    open_page(page, f"{server.url}/train?class={code}&at=2&large=true")
    title = box(page.locator(".js-plotly-plot .xtitle").first)
    assert title["y"] + title["height"] < 720, "the first figure is in view below the bar"
    open_page(page, f"{server.url}/playground?class={code}&at=3")
    other.set_viewport_size({"width": 390, "height": 844})
    for at, name in enumerate(names[:2], 1):
        open_page(other, f"{server.url}/{name}?class={code}&at={at}&m=50&draws=1&errupto=50")
        place, text = other.locator(".class-place"), other.get_by_text("Look here")
        expect(place).to_contain_text(GO_TO_VIEW.format(at=3), timeout=15_000)
        other.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
        for one in (place, text):
            assert box(one)["x"] >= 0
            assert box(one)["x"] + box(one)["width"] <= 390, name
        assert box(place)["y"] + box(place)["height"] <= box(other.locator(".st-key-ways-sequence nav"))["y"]
        other.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 900)")
        expect(place.get_by_role("link")).to_be_in_viewport()
        assert box(other.get_by_test_id("stHeader"))["height"] <= box(place)["y"] + 1


def test_the_buttons_of_a_view_are_in_one_line(server: Server, page: Page) -> None:
    packed = Sequence("L", tuple(View("lessons", {LESSON: name}) for name in ("pairs", "fourier"))).packed()
    open_page(page, f"{server.url}/lecture?seq={packed}&at=0")
    for width, height in ((1280, 720), (1366, 768), (400, 800)):
        page.set_viewport_size({"width": width, "height": height})
        wait_settled(page)
        views = page.locator("[class*='st-key-lecture-view-']")
        for k in range(2):
            for line in ("[class*='st-key-up-'], [class*='st-key-remove-']", ".stCheckbox"):
                places = [one.bounding_box() for one in views.nth(k).locator(line).all()]
                assert len(places) == 2
                assert len({round(one["y"]) for one in places if one}) == 1, (width, k, line)


def assert_playground_is_locked(page: Page) -> None:
    plane = page.locator(".playground")
    expect(plane.locator("output")).to_contain_text(re.compile(r"Newton step (\d+) of \1 "))
    controls = plane.locator(":is(.toolbar, .sliders) :is(button, select, input)")
    assert controls.count() > 15
    assert [one for one in controls.all() if one.is_enabled()] == []
    assert plane.get_by_role("button", name="Grade 3", disabled=True).count() == 1  # for a screen reader
    assert plane.get_by_role("slider", disabled=True).count() == 3
    wait_settled(page)
    before = [query_of(page), plane.inner_text()]
    slider = plane.locator(".sliders input").first
    slider.evaluate("slider => slider.focus()")
    page.keyboard.press("ArrowRight")
    plane.get_by_label("Grade 3", exact=True).evaluate("button => button.focus()")
    page.keyboard.press("Enter")
    mark = plane.locator("[data-key='d0']")
    spot = box(mark)
    page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    page.mouse.down()
    page.mouse.move(spot["x"] + 60, spot["y"] + 40, steps=4)
    page.mouse.up()
    plane.locator(".player button").first.focus()
    page.keyboard.press("Control+z")
    wait_settled(page)
    assert box(mark) == spot
    assert [query_of(page), plane.inner_text()] == before


def test_a_formula_of_any_size_leaves_the_page_in_view(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    view = View("train", {}, r"$\kern-300em\rule{900em}{900em}$")
    open_page(page, f"{server.url}/train?seq={Sequence('', (view,)).packed()}&at=1")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366
