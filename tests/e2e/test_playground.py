"""The playground in a browser: documents dragged, by keys and by touch, and what comes of it."""

import re
from collections.abc import Iterator

import pytest
from helpers import follow, query_of, sidebar
from playwright.sync_api import Browser, Locator, Page, expect

from tools.browser import Server, open_page, wait_settled


def plane(page: Page) -> Locator:
    return page.locator(".playground .square")


def marks(page: Page, kind: str = "document") -> Locator:
    return page.locator(f".playground .mark.{kind}")


def place(mark: Locator) -> tuple[float, float]:
    """Return the coordinates in a mark's label."""
    found = re.search(r"at (−?[\d.]+), (−?[\d.]+)", mark.get_attribute("aria-label") or "")
    assert found is not None
    return tuple(float(one.replace("−", "-")) for one in found.groups())  # type: ignore[return-value]


def answer(page: Page) -> Locator:
    return page.get_by_test_id("stMain").locator("h2").first


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Pixels of a place in the plane."""
    box = plane(page).bounding_box()
    assert box is not None
    scale = box["width"] / 2.4
    return box["x"] + (x + 1.2) * scale, box["y"] + (1.2 - y) * scale


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*at(page, *start))
    page.mouse.down()
    page.mouse.move(*at(page, *end), steps=4)
    page.mouse.up()


def test_a_document_that_is_dragged_is_trained_on_and_is_in_the_link(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/playground?pset=Linear&peach=8")
    expect(answer(page)).to_have_text(
        re.compile(r"After training, the linear model orders all \d+ pairs; no linear model orders more")
    )
    best = marks(page).and_(page.get_by_label(re.compile("grade 2"))).first
    key = best.get_attribute("data-key")
    drag(page, place(best), (-0.9, -0.9))
    expect(page.get_by_text("1 change by hand")).to_be_visible()
    expect(answer(page)).to_have_text(re.compile(r"After training, the linear model orders \d+ of \d+ pairs"))
    wait_settled(page)
    assert place(page.locator(f"[data-key={key}]")) == pytest.approx((-0.9, -0.9), abs=0.02)
    told = answer(page).inner_text()

    assert re.fullmatch(rf"{str(key)[1:]}\.-\d+\.-\d+\.2\.\d", query_of(page)["docs"])
    page.reload()
    wait_settled(page)
    expect(answer(page)).to_have_text(told)
    page.get_by_role("button", name="Undo all changes").click()
    expect(answer(page)).to_have_text(re.compile("orders all"))
    wait_settled(page)
    assert "docs" not in query_of(page)
    page.get_by_role("button", name="Undo the last change").click()
    expect(answer(page)).to_have_text(told)


def test_the_model_follows_a_held_document_a_slider_and_a_frequency(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/playground?pmap=random+Fourier&pset=XOR&pm=4")
    told, points = page.locator(".playground output"), page.locator(".playground .frequency")
    first, side = marks(page).first, page.locator(".playground .side")
    title, wave = first.locator("title"), page.locator(".playground .over title").first
    said = re.compile(r"Query ● 1, grade \d, score −?[\d.]+, \d+ of \d+ pairs misordered")
    expect(title).to_have_text(said)
    expect(wave).to_have_text(re.compile(r"Frequency \d+, weight [+−]"))
    expect(side).not_to_contain_text("Chosen")
    expect(answer(page)).to_have_text(re.compile("with 4 frequencies orders"))
    before, there = told.inner_text(), place(first)
    page.mouse.move(*at(page, *there))
    page.mouse.down()
    page.mouse.move(*at(page, 0.0, 1.1), steps=4)
    expect(told).to_have_text(re.compile(r"^\d+ of \d+ pairs in order"))  # trained, and still held
    page.mouse.up()
    expect(told).to_have_text(re.compile("^Newton step"))
    assert told.inner_text() != before
    page.get_by_role("slider", name="Number of features (m)").press("ArrowRight")
    expect(points).to_have_count(6)
    expect(page.locator(".playground .matrices")).to_contain_text("Nyström, m = 6:")
    points.nth(5).press("ArrowUp")
    expect(page.get_by_text("2 changes by hand")).to_be_visible()
    expect(answer(page)).to_have_text(re.compile("with 6 frequencies orders"))
    expect(page).to_have_url(re.compile(r"\bpm=6\b"))
    expect(page).to_have_url(re.compile(r"\bdocs=[^&]*_w5\."))
    first.focus()
    expect(side).to_contain_text(f"Chosen: {title.text_content()}")
    page.get_by_role("slider", name="Newton step").fill("0")
    expect(title).to_have_text(re.compile(r"score 0, (\d+) of \1 pairs misordered"))


def chosen(page: Page) -> Locator:
    return page.locator(".playground .mark.chosen")


def test_keys_move_grade_and_take_away_a_document_and_nothing_else_stays_chosen(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/playground?peach=4")
    first = marks(page).first
    first.focus()
    x, y = place(first)
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowUp"):
        page.keyboard.press(key)
    moved = f"at {x + 0.04:.2f}, {y + 0.1:.2f}".replace("-", "−")
    expect(first).to_have_attribute("aria-label", re.compile(re.escape(moved)))
    expect(page.get_by_text("1 change by hand")).to_be_visible()
    page.keyboard.press("4")
    expect(first).to_have_attribute("aria-label", re.compile("query 1, grade 4"))
    page.keyboard.press("q")
    expect(page.get_by_label(re.compile("query 2, grade 4"))).to_have_count(1)
    wait_settled(page)
    expect(page.get_by_label(re.compile("query 2, grade 4"))).to_be_focused()
    page.keyboard.press("Delete")
    expect(marks(page)).to_have_count(11)
    expect(page.get_by_text("11 documents")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Play")).to_be_focused()

    page.mouse.click(*at(page, *place(marks(page).nth(5))))
    expect(chosen(page)).to_have_count(1)
    page.get_by_role("button", name="Delete document").click()
    expect(marks(page)).to_have_count(10)
    expect(chosen(page)).to_have_count(0)
    page.get_by_role("button", name="Grade 4").click()
    expect(page.get_by_text("2 changes by hand")).to_be_visible()
    expect(page.get_by_label(re.compile("grade 4"))).to_have_count(0)
    page.mouse.click(*at(page, *place(marks(page).nth(5))))
    expect(chosen(page)).to_have_count(1)
    sidebar(page).get_by_role("combobox", name="Documents").first.click()
    page.get_by_role("option", name="Two moons").click()
    expect(page.get_by_text("Two moons · linear")).to_be_visible()
    expect(chosen(page)).to_have_count(0)


def test_ctrl_z_takes_changes_back_and_a_document_is_added_as_the_toolbar_shows_it(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/playground?pset=XOR&peach=4")
    drag(page, place(marks(page).first), (-1, -1))
    expect(page.get_by_text("1 change by hand")).to_be_visible()
    page.mouse.dblclick(*at(page, 0, 1.14))
    expect(marks(page)).to_have_count(13)
    page.keyboard.press("Delete")
    expect(marks(page)).to_have_count(12)
    expect(page.get_by_text("2 changes by hand")).to_be_visible()
    for left, key in ((13, "Control+z"), (12, "Meta+z"), (12, "Control+z")):
        page.keyboard.press(key)
        expect(marks(page)).to_have_count(left)
    expect(page.get_by_text(re.compile("changes? by hand$"))).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(page.get_by_role("button", name="Undo the last change")).to_be_disabled()

    page.mouse.click(*at(page, *place(marks(page).nth(9))))
    triangle = page.get_by_role("button", name="Query 3, triangle")
    expect(triangle).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Click, then place it in the plane").click()
    expect(chosen(page)).to_have_count(0)
    expect(triangle).to_have_attribute("aria-pressed", "true")
    page.mouse.click(*at(page, 0, 1.1))
    expect(page.get_by_label(re.compile(r"query 3, grade \d, at −?0.0\d, 1.1\d"))).to_be_focused()


def test_documents_are_added_until_there_is_a_pair(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/playground?peach=1&docs=0_1_2")
    expect(answer(page)).to_have_text(re.compile("No documents:"))
    page.get_by_role("button", name="Click, then place it in the plane").click()
    page.mouse.click(*at(page, 0.5, 0.5))
    expect(answer(page)).to_have_text(re.compile("No pairs: add a document of another grade"))
    page.mouse.click(*at(page, -0.5, 0.5))
    expect(answer(page)).to_have_text(re.compile("No pairs: change a grade"))
    page.get_by_role("button", name="Grade 3").click()
    expect(answer(page)).to_have_text(
        "After training, the linear model orders the only pair; no linear model orders more."
    )
    wait_settled(page)
    assert sorted(query_of(page)["docs"].split("_")) == ["0", "1", "2", "3.50.50.1.0", "4.-50.50.3.0"]


def test_a_landmark_below_its_document_is_chosen_by_a_second_click_and_dragged(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/playground?pmap=Nystr%C3%B6m&pm=1&pset=XOR")
    landmark = marks(page, "landmark")
    start, before = place(landmark), answer(page).inner_text()
    for _ in range(2):
        page.mouse.click(*at(page, *start))
    expect(landmark).to_be_focused()
    drag(page, start, (0.11, 0.07))
    expect(page.get_by_text("1 change by hand")).to_be_visible()
    expect(answer(page)).not_to_have_text(before)
    assert place(landmark) == pytest.approx((0.11, 0.07), abs=0.02)
    wait_settled(page)
    assert query_of(page)["docs"].startswith("z0.")


def test_the_way_is_played_and_the_plane_is_found_as_it_was_left(server: Server, page: Page) -> None:
    """The settings of other pages are folded on this page, and stay."""
    plane_link = "pset=XOR&pmap=exact+kernel&pg=3&peach=4&docs=0.50.50.4.0"
    open_page(page, f"{server.url}/playground?m=50&c=-2&{plane_link}")
    words = page.locator(".playground output")
    expect(words).to_contain_text(re.compile(r"Newton step (\d+) of \1 "))
    expect(page.get_by_role("slider", name="Number of features (m)")).to_have_count(1)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_be_hidden()
    expect(sidebar(page).get_by_text("Settings not used on this page")).to_be_visible()
    told, address = answer(page).inner_text(), query_of(page)
    assert address.items() >= {"m": "50", "c": "-2"}.items()

    page.get_by_role("slider", name="Newton step").fill("0")
    expect(words).to_contain_text("Newton step 0 of")
    expect(words).to_contain_text(re.compile(r"· 0 of \d+ pairs in order"))
    page.get_by_role("button", name="One step on").click()
    expect(words).to_contain_text("Newton step 1 of")
    page.get_by_role("button", name="Play").click()
    expect(words).to_contain_text(re.compile(r"Newton step (\d+) of \1 "))

    follow(page, "Data")
    page.wait_for_url("**/data*")
    wait_settled(page)
    assert not {"pset", "docs"} & set(query_of(page))
    assert query_of(page).items() >= {"m": "50", "c": "-2"}.items()
    follow(page, "Playground")
    page.wait_for_url("**/playground*")
    expect(answer(page)).to_have_text(told)
    expect(page.get_by_text("1 change by hand")).to_be_visible()
    wait_settled(page)
    assert query_of(page) == address


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    page = context.new_page()
    open_page(page, f"{server.url}/playground?peach=6")
    yield page
    context.close()


def test_a_finger_drags_on_a_dark_phone(phone: Page) -> None:
    assert phone.evaluate("document.documentElement.scrollWidth") <= 400
    box = plane(phone).bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400
    first = marks(phone).first
    first.scroll_into_view_if_needed()
    fill = first.locator("path").get_attribute("fill")
    assert fill == "#2c4a6b"  # grade 0 on dark
    session, (x, y), (u, v) = (
        phone.context.new_cdp_session(phone),
        at(phone, *place(first)),
        at(phone, 0.9, 0.9),
    )
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": (x + u) / 2, "y": (y + v) / 2}]),
        ("touchMove", [{"x": u, "y": v}]),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(phone.get_by_text("1 change by hand")).to_be_visible()
    assert place(first) == pytest.approx((0.9, 0.9), abs=0.03)
