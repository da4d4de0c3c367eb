"""A class in two browsers: the lecturer sees where a student is, and the gap of the prediction."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tools.browser import Server, open_page
from ui.learn import lecture_words as words
from ui.learn.lessons import texts
from ui.shell.words import CLASS_CLOSED, STEP_ON


def test_a_class_follows_a_lecture(server: Server, page: Page, other: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    open_page(page, f"{server.url}/lecture")
    page.get_by_role("button", name=words.EXAMPLE).click()
    page.get_by_role("button", name=words.OPEN_CLASS).click()
    link = page.get_by_test_id("stCode").get_by_text("class=").inner_text()
    page.locator("a.lecture-start").last.click()
    bar, progress = page.locator(".st-key-sequence-bar"), page.locator(".st-key-sequence-bar p").last
    expect(bar).to_contain_text("1 / 4")

    open_page(other, link)
    other.locator("a.lecture-start").click()
    expect(other.locator(".st-key-sequence-bar")).to_contain_text("1 / 4")
    frame = texts("frame")
    other.get_by_role("button", name=frame["next"], exact=True).click()
    other.locator(".lesson .figure [aria-pressed]").first.click()
    other.get_by_role("button", name=frame["commit"]).click()
    gap = other.locator(".lesson .gap strong").inner_text()
    expect(progress).to_contain_text(f"{gap} × 1", timeout=15_000)
    expect(progress).to_contain_text("1 in the class: 1 at this step")

    page.keyboard.press("PageDown")
    expect(bar).to_contain_text("2 / 4")
    expect(page).to_have_url(re.compile("/playground.*at=2"))
    expect(progress).to_contain_text("1 before it", timeout=15_000)
    expect(other.locator(".st-key-sequence-bar")).to_contain_text("step 2", timeout=15_000)
    other.get_by_role("link", name=STEP_ON).click()
    expect(other).to_have_url(re.compile("/playground.*at=2"))
    expect(progress).to_contain_text("1 at this step", timeout=15_000)

    page.goto(link)  # the lecturer closes the class: the student is told, and no number is left
    page.get_by_role("button", name=words.CLOSE_CLASS).click()
    expect(page.get_by_role("button", name=words.OPEN_CLASS)).to_be_visible(timeout=15_000)
    expect(other.locator(".st-key-sequence-bar")).to_contain_text(CLASS_CLOSED, timeout=15_000)
    open_page(page, other.url)
    expect(page.get_by_text("in the class")).to_have_count(0)
