"""The What if page in the browser: dragged by mouse, keys and fingers, undone, switched off, shared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import assert_no_errors_shown, darken, query_of
from playwright.sync_api import Browser, Locator, Page, expect
from test_foreign_text import DOCUMENT, assert_nothing_leads_elsewhere
from test_look import barriers
from test_uploads import GOOD

from tools.browser import Server, open_page, wait_settled

HEAVY = "w_t0_100"
"""The first query of training counts a hundred times: a grade of one of its documents moves others."""


def names(page: Page) -> list[str]:
    """The documents from the top of the list down, as they stand on the screen."""
    rows = page.locator(".now .row")
    tops = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().top)")
    texts = page.locator(".now .name").all_inner_texts()
    return [name for _, name in sorted(zip(tops, texts, strict=True))]


def row(page: Page, name: str) -> Locator:
    """The row of a document."""
    return page.locator(".now .row").filter(has=page.get_by_text(name, exact=True))


def grade(page: Page, name: str) -> str:
    return row(page, name).locator("select").input_value()


def drag(page: Page, name: str, onto: str) -> None:
    """Drag the row of a document onto that of another one."""
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


def test_a_row_is_dragged_by_mouse_undone_and_switched_off(opened: Page) -> None:
    page, before = opened, names(opened)
    last, first = before[-1], before[0]
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
    boxes = page.get_by_test_id("stCheckbox").locator("label").filter(has_text="grade")
    for place in range(boxes.count()):
        boxes.nth(place).click()
        wait_settled(page)
    assert names(page) == before
    assert changes(page).count("-g_t0_") == changes(page).count("g_t0_") > 0
    assert_no_errors_shown(page)


def test_a_reload_from_the_link_gives_the_same(opened: Page) -> None:
    page = opened
    drag(page, names(page)[-1], names(page)[1])
    order, link, heading = names(page), changes(page), page.locator("h2").first.inner_text()
    page.reload()
    wait_settled(page)
    assert (names(page), changes(page), page.locator("h2").first.inner_text()) == (order, link, heading)


def test_a_row_is_moved_and_graded_by_keys(opened: Page) -> None:
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


def test_a_grade_from_the_menu_and_a_document_left_out(opened: Page) -> None:
    page, chosen = opened, names(opened)[2]
    other = "0" if grade(page, chosen) != "0" else "1"
    row(page, chosen).locator("select").select_option(other)
    wait_settled(page)
    assert re.search(rf"g_t0_\d+_{other}$", changes(page))
    row(page, chosen).get_by_role("button", name=f"Leave {chosen} out").click()
    wait_settled(page)
    assert chosen not in names(page)
    assert len(names(page)) == 14
    expect(page.locator(".ghost.gone")).to_have_text(re.compile(chosen))


def test_a_drop_that_the_grades_ask_for_already_says_so(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/what_if?m=50")
    before = names(page)
    grades = [int(grade(page, name)) for name in before]
    low, high = next((i, j) for i in range(15) for j in range(i + 1, 15) if grades[i] < grades[j])
    drag(page, before[high], before[low])
    expect(page.locator("h2").first).to_contain_text("already has a higher grade than")
    assert (names(page), changes(page)) == (before, "")


def test_what_a_click_or_a_drag_outside_does(opened: Page) -> None:
    """A click holds nothing, and a row that is dropped where it was changes nothing."""
    page, before = opened, names(opened)
    row(page, before[4]).locator(".grip").click()
    drag(page, before[4], before[4])
    assert (names(page), changes(page)) == (before, HEAVY)
    assert page.locator(".held").count() == 0


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
    context.close()


def test_a_long_list_scrolls_while_a_row_is_dragged(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 560})
    open_page(page, f"{server.url}/what_if?m=50")
    view = page.locator(".view")
    room = view.evaluate("view => view.scrollHeight - view.clientHeight")
    assert room > 20
    grip = page.locator(".now .grip").first.bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + 50, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(grip["x"] + 50, 556, steps=5)
    for _ in range(50):
        if view.evaluate("view => view.scrollTop") >= room - 1:
            break
        page.wait_for_timeout(100)
    assert view.evaluate("view => view.scrollTop") >= room - 1
    page.mouse.up()
    wait_settled(page)
    assert "changes" in query_of(page)


def test_a_feature_is_edited_in_its_box(opened: Page) -> None:
    page = opened
    page.get_by_role("button", name="Edit").click()
    value = page.get_by_role("spinbutton", name="Normalised value")
    value.fill("7")
    value.press("Enter")
    wait_settled(page)
    page.get_by_role("button", name="Set", exact=True).click()
    wait_settled(page)
    assert changes(page).endswith("_0_7")
    assert_no_errors_shown(page)


def test_nothing_stands_in_the_way_after_a_change(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, f"{server.url}/what_if?m=50&changes={HEAVY}__g_t0_4_1__o_t0_3")
    assert not barriers(page)
    darken(page)
    assert not barriers(page)


def test_names_of_documents_are_texts(tmp_path: Path, start_server, page: Page) -> None:
    folder = tmp_path / "data" / "odd" / "Fold1"
    folder.mkdir(parents=True)
    for number, name in enumerate(("train", "vali", "test"), 1):
        lines = GOOD.replace("docid = q", f"docid = {DOCUMENT}q").replace("qid:", f"qid:{number}0")
        (folder / f"{name}.txt").write_text(lines)
    running = start_server(RANKVIZ_DATA=str(tmp_path / "data"))
    open_page(page, f"{running.url}/what_if?data=odd&m=5")
    shown = names(page)
    assert shown[0].startswith(DOCUMENT)
    drag(page, shown[-1], shown[0])
    assert_no_errors_shown(page)
    assert_nothing_leads_elsewhere(page)
