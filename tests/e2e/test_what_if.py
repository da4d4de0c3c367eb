"""The What if page in the browser: dragged by mouse, keys and fingers, undone, switched off, shared."""

import re

import pytest
from helpers import assert_no_errors_shown, barriers, darken, query_of
from playwright.sync_api import Browser, Locator, Page, expect

from tools.browser import Server, open_page, wait_settled

_FOCUSED = """() => {
    const now = document.activeElement;
    return now.closest('[data-testid=stMain]') && !now.matches('main, .glossary *, [aria-label^=Help]');
}"""
HEAVY = "w_t0_100"
"""The first query of training counts a hundred times: a grade of one of its documents moves others."""


def names(page: Page) -> list[str]:
    """The documents from the top of the list down, as they stand on the screen."""
    rows = page.locator(".now .row")
    tops = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().top)")
    texts = page.locator(".now .name").all_inner_texts()
    return [name for _, name in sorted(zip(tops, texts, strict=True))]


def row(page: Page, name: str) -> Locator:
    return page.locator(".now .row").filter(has=page.get_by_text(name, exact=True))


def grade(page: Page, name: str) -> str:
    return row(page, name).locator("select").input_value()


def drag(page: Page, name: str, onto: str) -> None:
    start, end = (row(page, one).locator(".grip").bounding_box() for one in (name, onto))
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 50, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 50, end["y"] + end["height"] / 2, steps=6)
    page.mouse.up()
    wait_settled(page)


def changes(page: Page) -> str:
    return query_of(page).get("changes", "")


@pytest.fixture
def opened(server: Server, page: Page) -> Page:
    open_page(page, f"{server.url}/what_if?m=50&changes={HEAVY}")
    expect(page.locator(".now .row")).to_have_count(15)
    return page


def test_a_row_is_dragged_by_mouse_undone_shared_and_switched_off(opened: Page) -> None:
    page, before = opened, names(opened)
    last, first = before[-1], before[0]
    row(page, before[4]).locator(".grip").click()
    drag(page, before[4], before[4])
    assert (names(page), changes(page)) == (before, HEAVY), "a click or a drop in its own place"
    assert page.locator(".held").count() == 0

    drag(page, last, first)
    assert int(grade(page, last)) > int(grade(page, first))
    assert re.fullmatch(rf"{HEAVY}(__g_t0_\d+_\d)?__g_t0_\d+_\d_1", changes(page))
    after = names(page)
    assert after.index(last) < before.index(last), "the model ranks it higher now"
    expect(page.locator("h2").first).to_contain_text(f"You asked for rank 1: {last} rises from rank")
    expect(page.locator(".live")).to_contain_text(f"{last} rises from rank")
    assert page.locator(".slopes .marked").count() == 1

    page.get_by_role("button", name="Undo").click()
    wait_settled(page)
    assert names(page) == before
    assert changes(page) == HEAVY

    drag(page, last, first)
    assert names(page) == after
    link, heading = changes(page), page.locator("h2").first.inner_text()
    page.reload()
    wait_settled(page)
    assert (names(page), changes(page), page.locator("h2").first.inner_text()) == (after, link, heading)
    boxes = page.get_by_test_id("stCheckbox").locator("label").filter(has_text="grade")
    for place in range(boxes.count()):
        boxes.nth(place).click()
        wait_settled(page)
    assert names(page) == before
    assert changes(page).count("-g_t0_") == changes(page).count("g_t0_") > 0
    assert_no_errors_shown(page)


def test_a_row_is_moved_and_graded_by_keys_left_out_and_edited(opened: Page) -> None:
    page, before = opened, names(opened)
    chosen = before[3]
    row(page, before[0]).locator(".grip").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(row(page, chosen).locator(".grip")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator(".live")).to_contain_text(f"{chosen} is held at rank 4")
    page.keyboard.press("End")
    expect(page.locator(".live")).to_contain_text(f"Rank 15, below {before[-1]}")
    assert names(page) == before or names(page)[-1] == chosen
    page.keyboard.press("Escape")
    wait_settled(page)
    assert (names(page), changes(page)) == (before, HEAVY)

    page.keyboard.press("2")
    wait_settled(page)
    assert grade(page, chosen) == "2"
    expect(row(page, chosen).locator(".grip")).to_be_focused()

    place = names(page).index(chosen)
    page.keyboard.down("Alt")
    for _ in range(len(before) - 1 - place):
        page.keyboard.press("ArrowDown")
    page.keyboard.up("Alt")
    wait_settled(page)
    assert int(grade(page, chosen)) < 2
    expect(row(page, chosen).locator(".grip")).to_be_focused()

    other = names(page)[2]
    wanted = "0" if grade(page, other) != "0" else "1"
    row(page, other).locator("select").select_option(wanted)
    wait_settled(page)
    assert re.search(rf"g_t0_\d+_{wanted}$", changes(page))
    row(page, other).get_by_role("button", name=f"Leave {other} out").click()
    wait_settled(page)
    assert other not in names(page)
    assert len(names(page)) == 14
    expect(page.locator(".ghost.gone")).to_have_text(re.compile(other))

    page.get_by_role("button", name="Edit").click()
    value = page.get_by_role("spinbutton", name="Normalised value")
    value.fill("7")
    value.press("Enter")
    wait_settled(page)
    page.get_by_role("button", name="Set", exact=True).click()
    wait_settled(page)
    assert changes(page).endswith("_0_7")
    page.set_viewport_size({"width": 1280, "height": 720})
    wait_settled(page)
    assert not barriers(page)
    darken(page)
    assert not barriers(page)
    assert_no_errors_shown(page)


def test_a_drop_that_changes_nothing_says_so_and_a_long_list_scrolls(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/what_if?m=50")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    assert any(tabbed(page) for _ in range(9)), "the first control is within ten presses of Tab"
    before = names(page)
    grades = [int(grade(page, name)) for name in before]
    low, high = next((i, j) for i in range(15) for j in range(i + 1, 15) if grades[i] < grades[j])
    drag(page, before[high], before[low])
    expect(page.locator("h2").first).to_contain_text("already has a higher grade than")
    assert (names(page), changes(page)) == (before, "")

    page.set_viewport_size({"width": 1366, "height": 560})
    wait_settled(page)
    view = page.locator(".view")
    room = view.evaluate("view => view.scrollHeight - view.clientHeight")
    assert room > 20
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    grip = page.locator(".now .grip").first.bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + 50, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(grip["x"] + 50, 556, steps=5)
    page.wait_for_function(
        "view => view.scrollTop >= view.scrollHeight - view.clientHeight - 1", arg=view.element_handle()
    )
    page.mouse.up()
    wait_settled(page)
    assert "changes" in query_of(page)

    page.get_by_role("button", name="Leave out", exact=True).click()
    page.get_by_role("button", name="Leave out query").click()
    wait_settled(page)
    assert "q_t0" in changes(page)
    expect(page.get_by_test_id("stPopoverBody").filter(visible=True)).to_have_count(0)


def tabbed(page: Page) -> bool:
    """Press Tab; return whether a control of the page has the focus."""
    page.keyboard.press("Tab")
    return bool(page.evaluate(_FOCUSED))


def test_a_finger_drags_on_a_narrow_screen(server: Server, browser: Browser) -> None:
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    open_page(page, f"{server.url}/what_if?m=50&changes={HEAVY}")
    before = names(page)
    page.locator(".view").scroll_into_view_if_needed()
    boxes = [row(page, name).locator(".grip").bounding_box() for name in (before[5], before[1])]
    assert all(boxes)
    start, end = ((box["x"] + 40, box["y"] + box["height"] / 2) for box in boxes if box)
    touch = context.new_cdp_session(page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        told = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    send("touchStart", start)
    for share in (0.2, 0.5, 0.8, 1.0):
        send("touchMove", (start[0], start[1] + share * (end[1] - start[1])))
    send("touchEnd")
    wait_settled(page)
    assert int(grade(page, before[5])) > int(grade(page, before[1]))
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400
    row(page, before[3]).hover()
    expect(page.locator(".slopes .lit")).not_to_have_css("stroke-width", "3.2px")
    context.close()


def test_on_a_phone_the_answer_is_in_view_after_a_change_far_below(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{server.url}/what_if?m=10")
    page.get_by_role("button", name="Half of the queries").click()
    answer = page.locator(".st-key-what-if-answer").get_by_role("heading")
    expect(answer).to_contain_text("With 50 % of the training queries")
    wait_settled(page)
    expect(answer).to_be_in_viewport(ratio=1)
    table = page.locator(".st-key-what-if-table")
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth"), "all columns are in view"
