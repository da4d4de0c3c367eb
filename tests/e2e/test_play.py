"""Newton iterations played in the browser: by the button, and step by step with the slider."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tools.browser import Server, open_page


def test_play_moves_to_the_last_iteration_and_the_slider_back(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/convergence?m=10&plain=false")
    film = page.locator(".st-key-playback")
    last = film.locator(".js-plotly-plot").evaluate("chart => chart._transitionData._frames.length - 1")
    expect(film).to_contain_text("Iteration 0:")
    film.locator(".updatemenu-button").first.click()
    expect(film).to_contain_text(f"Iteration {last}:")
    steps = film.locator(".slider-rail-touch-rect")
    box = steps.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    expect(film).to_contain_text("Iteration 0:")
