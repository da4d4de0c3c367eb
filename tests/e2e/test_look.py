"""Test that title, answer and first figure are visible at once, on several screens and for every visitor."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

import pytest
from helpers import OF_STORE, Theme, assert_no_errors_shown, barriers, box, follow, query_of, sidebar, turn
from playwright.sync_api import Locator, Page, expect

from tools.browser import Server, open_page, wait_settled
from ui.controls.navigation import ENTRIES, Entry

SECTIONS = {
    section: [entry for entry in ENTRIES if (entry.section or "Learn") == section]
    for section in dict.fromkeys(entry.section for entry in ENTRIES[1:])
}
"""The pages by their sections in the menu, with Home in the first."""
FIGURE = ".js-plotly-plot, .playground .square, .weights .beside, .ranked-list, .lesson .figure"
ONE_LINE = ("data", "train", "why", "ndcg_vs_m", "influence", "side_by_side")
"""Pages whose heading takes one line."""
ON_A_PHONE = {
    "sweep": 360,
    "train": 360,
    "why": 400,
    "low_rank": 360,
    "side_by_side": 360,
    "ndcg_vs_m": 390,
    "weights": 345,
}
"""Where the first figure of a phone begins at most."""
OPENERS = {
    "train": "Save",
    "ndcg_vs_m": "More",
    "low_rank": "More",
    "kernel_approximation": "More",
    "convergence": "Compare with",
    "why": "Feature names",
}
WAYS = {
    "compare": ("Train and compare with the linear model", "Train"),
    "sweep": ("Start the sweep",),
    "lessons": ("Next",),
    "lecture": ("Start from an example",),
}
"""Ways on that a projector shows."""
QUICK = {"kernel_approximation": "&draws=1&errupto=50", "methods": "&fold=Fold3"}
"""Settings with which a page has its figures at once, or has nothing trained yet."""
_SIZES = """chart => [...chart.querySelectorAll('text, .name, li span')]
    .filter(text => text.textContent.trim())
    .map(text => parseFloat(getComputedStyle(text).fontSize))"""

_HEAD = "[data-testid=stHorizontalBlock]:has(h1)"
_SHORTENED = """main => [...main.querySelectorAll('input[role=combobox], .stMarkdownEllipsis, a p')]
    .filter(one => one.offsetParent && one.offsetWidth > 40 && one.scrollWidth > one.clientWidth + 1)
    .filter(one => !one.closest('[class*="ways-sequence"], details:not([open]) > :not(summary)'))
    .map(one => one.value || one.textContent)"""
_SMALL = """main => [...main.querySelectorAll(
    `:is([data-testid=stCaptionContainer], .st-key-effect, .st-key-what-if-edits, .st-key-what-if-training) p,
    .st-key-what-if-table :is(td, th)`
)].filter(one => one.getClientRects().length && one.textContent)
    .filter(one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom < 17.9)
    .map(one => one.textContent)"""
"""Texts that an audience reads, in smaller letters than 18 pixels."""
_HIDDEN_BESIDE = "table => table.scrollWidth - table.clientWidth"
_BELOW = """sidebar => [...sidebar.querySelectorAll('button, input, [role=slider], summary, a')]
    .filter(one => one.offsetParent && !one.closest('details:not([open]) > :not(summary)'))
    .filter(one => one.getBoundingClientRect().bottom > innerHeight)
    .map(one => one.getAttribute('aria-label') || one.textContent)"""
_ENDS = """sidebar => [...sidebar.querySelectorAll('[data-testid=stSlider]')].filter(
    slider => slider.getClientRects().length
).map((slider, k, all) => {
    const label = all[k + 1]?.querySelector('[data-testid=stWidgetLabel]');
    const below = label?.getBoundingClientRect().top ?? Infinity;
    const ends = [...slider.querySelectorAll('[data-testid=stSliderTickBar] p')];
    return [Math.max(...ends.map(end => end.getBoundingClientRect().bottom)), below];
}).filter(([end, label]) => end > label)"""
_ON_PLOTS = """main => [...main.querySelectorAll('.js-plotly-plot')].filter(plot => {
    const button = plot.querySelector('.modebar')?.getBoundingClientRect();
    const drawn = [...plot.querySelectorAll('.nsewdrag, .legend')];
    return drawn.map(one => one.getBoundingClientRect()).some(area =>
        button && button.top < area.bottom && button.bottom > area.top && button.left < area.right);
}).length"""
_CUT = """main => [...main.querySelectorAll('.js-plotly-plot text')].filter(text => {
    const { left, right, width } = text.getBoundingClientRect();
    const whole = text.closest('.js-plotly-plot').getBoundingClientRect();
    return width && (left < whole.left - 1 || right > Math.min(whole.right, innerWidth) + 1);
}).map(text => text.textContent)"""
"""Texts of figures that end at the border of the figure, or beside the screen."""
_FADES = """async main => {
    const rows = [...main.querySelectorAll('[data-testid=stHorizontalBlock]')].filter(row =>
        row.checkVisibility() && row.scrollWidth > row.clientWidth + 1
        && getComputedStyle(row).overflowX === 'auto');
    const fades = () => rows.map(row => parseFloat(getComputedStyle(row).maskPosition));
    const start = fades();
    for (const row of rows) row.scrollLeft = row.scrollWidth;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return [...start.filter(at => at !== 100), ...fades().filter(at => at !== 0)];
}"""
"""Rows that slide whose right end does not fade at the start, or still does at the end."""

_THUMB_ON_TOP = """ghost => {
    const { x, y, width, height } = ghost.getBoundingClientRect();
    return ghost.getRootNode().elementFromPoint(x + width / 2, y + height / 2) ===
        ghost.parentElement.querySelector("input")
        && getComputedStyle(ghost.nextElementSibling).position === "relative";
}"""
_ON_ICONS = """main => [...main.querySelectorAll('.modebar')].filter(bar => {
    const button = bar.getBoundingClientRect();
    return [...main.querySelectorAll('[class*="-tools"] :is(summary, button)')].some(icon => {
        const { left, right, top, bottom } = icon.getBoundingClientRect();
        return button.left < right && button.right > left && button.top < bottom && button.bottom > top;
    });
}).length"""


def bottom(page: Page, selector: str) -> float:
    """Return the lower edge of the first visible element, in pixels from the top."""
    box = page.get_by_test_id("stMain").locator(selector).filter(visible=True).first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    return box["y"] + box["height"]


@contextmanager
def visited(
    entry: Entry, page: Page, url: str, size: tuple[int, int], link: str, theme: Theme = "dark"
) -> Iterator[str]:
    """Go to a page by the menu, to the first one of a section by its link; a fault names it."""
    name = entry.file.replace("home", "")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=theme)
    try:
        if name in QUICK or any(entry is entries[0] for entries in SECTIONS.values()):
            open_page(page, f"{url}/{name}?{link}{QUICK.get(name, '')}")
        else:
            expect(page.get_by_test_id("stTopNav")).to_be_visible()
            follow(page, entry.title)
            page.wait_for_url(f"**/{name}*")
            wait_settled(page)
        expect(page).to_have_title(f"{entry.title} · rankviz")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        page.mouse.move(0, 0)  # what it lies on may change
        assert_no_errors_shown(page)
        along = dict(parse_qsl(link))
        if any(
            one.own for one in SECTIONS[entry.section or "Learn"] if ENTRIES.index(one) < ENTRIES.index(entry)
        ):
            del along["m"]  # Streamlit drops settings from the address after a page that folds them
        assert query_of(page).items() >= along.items(), "settings go along"
        yield name
    except Exception as fault:
        fault.add_note(f"On the page {entry.title}.")
        raise


@pytest.mark.parametrize("section", SECTIONS)
def test_every_page_is_whole_on_a_laptop_a_phone_and_a_wide_screen(
    server: Server, page: Page, section: str
) -> None:
    """Title, answer and first figure are in view; figures have a text; nobody meets a barrier.

    A page keeps the theme of the one before on the laptop: to turn the theme draws the whole page again.
    """
    themes: tuple[Theme, Theme] = ("light", "dark")
    for entry in SECTIONS[section]:
        with visited(entry, page, server.url, (1366, 768), "m=50", themes[0]) as name:
            assert_all_in_view(page, name)
            assert not barriers(page)
            page.set_viewport_size({"width": 390, "height": 844})
            turn(page, themes[1])
            themes = (themes[1], themes[0])
            assert_sizes_on_a_phone(page, name)
            assert not barriers(page)
            assert_sizes_on_a_wide_screen(page, name)
            assert_no_errors_shown(page)


def assert_all_in_view(page: Page, name: str) -> None:
    """Check the place of title, answer and first figure on a laptop, and of the sidebar's controls."""
    main = page.get_by_test_id("stMain")
    assert sidebar(page).evaluate(_BELOW) == [], "a control of the sidebar is out of view"
    if name in OF_STORE:  # without a figure at first
        return
    if name:
        assert bottom(page, "h1") < bottom(page, "h2") < bottom(page, FIGURE) <= 768
    else:  # Home greets with a list, and three ways in
        assert bottom(page, "h1") < bottom(page, ".list .sum") < bottom(page, "h2") <= 768
    title = box(page.get_by_role("heading", level=1))
    assert title["y"] + title["height"] / 2 == pytest.approx(69, abs=1), "at one height on every page"
    assert main.evaluate(_ON_PLOTS) == 0, "no button lies on what is drawn"
    assert main.evaluate(_ON_ICONS) == 0, "none on the icons below it"
    assert sidebar(page).evaluate(_ENDS) == [], "the ends of a slider lie on the next label"
    header = box(page.get_by_test_id("stHeader"))
    assert header["y"] + header["height"] <= title["y"], "the menu lies on the title"
    if name != "what_if":  # its figure comes with the first change
        assert_figures_have_a_text(page)
    if name in ONE_LINE:
        assert_heading_and_icons(main)
    if name in OPENERS:
        assert_what_opens_lies_over_no_figure(page, OPENERS[name])
    if name == "weights":
        bars = main.locator(".weights .bars")
        assert bars.evaluate("bars => bars.scrollHeight - bars.clientHeight") <= 1
        assert bars.locator(".ghost").first.evaluate(_THUMB_ON_TOP)
    if name == "train":
        told = main.locator("h2").first
        assert "C\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}2⁻¹⁰" in told.evaluate("heading => heading.textContent")
        power = sidebar(page).get_by_test_id("stSlider").locator(".katex-html .mord").first
        family = "element => getComputedStyle(element).fontFamily"
        assert power.evaluate(family) == told.evaluate(family), "powers have one style"


def assert_what_opens_lies_over_no_figure(page: Page, opener: str) -> None:
    main = page.get_by_test_id("stMain")
    opened = main.locator("details").filter(has=page.locator("summary").filter(has_text=opener)).first
    opened.locator("summary").first.click()
    expect(opened).to_have_attribute("open", "")
    wait_settled(page)
    place = box(opened)
    for figure in map(box, main.locator(".js-plotly-plot").filter(visible=True).all()):
        lowest, end = figure["y"] + figure["height"], place["y"] + place["height"]
        assert lowest <= place["y"] + 5 or end <= figure["y"] + 5
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    opened.locator("summary").first.click()
    page.mouse.move(0, 0)
    wait_settled(page)


def assert_heading_and_icons(main: Locator) -> None:
    """Check that the heading takes one line and the icons lie in the figure's lower right corner."""
    heading, figure = box(main.locator("h2")), box(main.locator(".js-plotly-plot"))
    assert heading["height"] < 30
    for label in ("About this figure", "Save"):
        icon = box(main.locator("[class*=-tools] summary").filter(has_text=label))
        assert icon["width"] <= 30
        assert icon["height"] <= 30
        assert icon["x"] + icon["width"] > figure["x"] + 0.9 * figure["width"]
        assert icon["y"] < figure["y"] + figure["height"] + 5
    legend = main.locator(".js-plotly-plot").filter(visible=True).first.locator(".legend")
    if legend.count():
        assert box(legend)["y"] - heading["y"] - heading["height"] < 40


def assert_sizes_on_a_phone(page: Page, name: str) -> None:
    """Check that nothing is wider than a phone, and that the first figure begins high enough."""
    main = page.get_by_test_id("stMain")
    assert main.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert main.evaluate(_CUT) == []
    assert main.evaluate(_FADES) == []
    subject = main.locator("[data-testid=stHorizontalBlock]:has(h1) [data-testid=stCaptionContainer]")
    assert " = " not in "".join(subject.evaluate_all("rows => rows.map(row => row.textContent)"))
    if not name:
        assert box(main.locator(".list"))["y"] <= 330
    if name in ON_A_PHONE:
        assert box(main.locator(".js-plotly-plot, .weights .beside"))["y"] <= ON_A_PHONE[name]
    if name == "train":
        pin, clear = (box(main.get_by_role("button", name=label)) for label in ("Pin this run", "Clear pins"))
        assert pin["y"] == clear["y"]


def assert_sizes_on_a_wide_screen(page: Page, name: str) -> None:
    """Check that lines stay short, and that tabs lie beside the figure; without one they take its place."""
    if name not in ("", "train", "data", "compare", "influence"):
        return
    page.set_viewport_size({"width": 1920, "height": 1080})
    wait_settled(page)
    main = page.get_by_test_id("stMain")
    lines = main.locator("[data-testid=stMarkdownContainer] > p, h2").filter(visible=True)
    assert max(lines.evaluate_all("all => all.map(line => line.clientWidth)")) <= 1100
    if name in ("train", "data"):
        figure, tabs = box(main.locator(".js-plotly-plot")), box(main.locator(".stTabs"))
        assert tabs["y"] < figure["y"]
        assert tabs["x"] > figure["x"] + figure["width"]
    if name == "influence":
        assert box(main.locator(".js-plotly-plot"))["width"] > 1300


def assert_figures_have_a_text(page: Page) -> None:
    """Every chart is a figure with a name of two words at least, and there is one."""
    named = page.get_by_role("figure", name=re.compile(r"\w+ \w+"))
    expect(named).not_to_have_count(0, timeout=60_000)  # on a busy machine its runs go on as a job
    wait_settled(page)
    kinds = "[data-testid=stPlotlyChart], .playground .square, .weights, .lesson .figure"
    charts = page.locator(kinds).filter(visible=True)
    assert charts.count() == named.count() > 0


@pytest.mark.parametrize("section", SECTIONS)
def test_a_projector_shows_one_figure_with_its_answer(server: Server, page: Page, section: str) -> None:
    for entry in SECTIONS[section]:
        with visited(entry, page, server.url, (1280, 720), "m=50&large=true&alone=true") as name:
            assert_ways_on_are_in_view(page, name)
            if name not in OF_STORE:
                assert_one_figure(page, name)


def assert_ways_on_are_in_view(page: Page, name: str) -> None:
    """Check that a projector shows the ways on, and examples where there is no result."""
    main = page.get_by_test_id("stMain")
    expect(sidebar(page).get_by_role("button", name="Presentation")).to_be_in_viewport(ratio=1)
    for way in WAYS.get(name, ()):
        expect(main.get_by_role("button", name=way, exact=True)).to_be_in_viewport(ratio=1)
    if name == "lecture":
        expect(main.get_by_text("Which pairs are in the wrong order?")).to_be_in_viewport()
    if name == "compare":
        assert bottom(page, FIGURE) <= 720, "the example of a comparison"
    if name == "sweep":
        expect(page.get_by_role("group", name="C from, to")).to_be_visible()


def assert_one_figure(page: Page, name: str) -> None:
    """Check the place, size and letters of the only figure on a projector."""
    main = page.get_by_test_id("stMain")
    assert bottom(page, "h2") < bottom(page, FIGURE) <= 720
    for chosen in page.locator(":is(.st-key-data, .st-key-fold-named) input").all():
        whole = "input => input.closest('details:not([open])') || input.scrollWidth <= input.clientWidth"
        assert chosen.evaluate(whole), "its value is whole"
    for documents in page.locator(".ranked-list .view, .weights .right").all():
        assert documents.evaluate("list => list.scrollHeight - list.clientHeight") <= 1
    icons = page.locator("[data-testid=stTooltipIcon] svg").filter(visible=True)
    sizes = set(icons.evaluate_all("all => all.map(icon => icon.clientWidth)"))
    assert sizes == ({20} if name != "lessons" else set()), "lessons have no icons"
    for bars in page.locator(".weights .bars").all():
        assert bars.evaluate("bars => bars.scrollHeight > bars.clientHeight")
        expect(page.locator(".weights .more")).to_have_text(re.compile(r"^↓ \d+ more below$"))
    chart = main.locator(FIGURE).filter(visible=True)
    expect(chart).to_have_count(1)
    assert main.evaluate(_CUT) == []
    assert min(chart.evaluate(_SIZES)) >= 13
    letters = "heading => parseFloat(getComputedStyle(heading).fontSize)"
    assert main.locator("h2").first.evaluate(letters) >= 20


@pytest.mark.parametrize("section", SECTIONS)
def test_large_type_cuts_no_value_and_leaves_controls_and_figure_in_view(
    server: Server, page: Page, section: str
) -> None:
    """A menu that shows NDCG@1 for NDCG@10 would name another metric."""
    for entry in SECTIONS[section]:
        with visited(entry, page, server.url, (1280, 720), "m=50&large=true") as name:
            main = page.get_by_test_id("stMain")
            assert not barriers(page)
            assert main.evaluate(_SHORTENED) == []
            assert sidebar(page).evaluate(_BELOW) == []
            menu = box(page.get_by_test_id("stHeader"))
            assert main.evaluate(_SMALL) == []
            for control in (
                main.locator(f"{_HEAD} :is(button, [data-testid=stSelectbox])").filter(visible=True).all()
            ):
                assert box(control)["y"] >= menu["y"] + menu["height"]
            if name and name not in OF_STORE:
                assert box(main.locator(FIGURE))["y"] <= 360
            for label in main.locator(".st-key-ways-on-page label").filter(visible=True).all():
                assert box(label)["height"] < 30, "its words are in one line"
            if name == "what_if":
                rows = box(main.locator(".st-key-ranked .view"))
                assert rows["y"] + rows["height"] <= 720
                effects = box(main.locator(".st-key-what-if-table"))
                assert effects["y"] + effects["height"] <= 720
                assert main.locator(".st-key-what-if-table").evaluate(_HIDDEN_BESIDE) == 0


def test_a_presentation_enlarges_the_first_figure(server: Server, page: Page) -> None:
    areas: list[list[float]] = []
    for width, height, link in ((1366, 768, ""), (1280, 720, "&large=true&alone=true")):
        page.set_viewport_size({"width": width, "height": height})
        open_page(page, f"{server.url}/train?m=50{link}")
        areas.append([seen_area(page, height)])
        for title in ("What if", "Weights by hand"):
            follow(page, title)
            expect(page.get_by_role("heading", level=1)).to_have_text(title)
            wait_settled(page)
            areas[-1].append(seen_area(page, height))
    assert all(large >= usual for usual, large in zip(*areas, strict=True)), areas


def seen_area(page: Page, height: int) -> float:
    """Return how many pixels of the first figure are in view."""
    place = box(page.get_by_test_id("stMain").locator(FIGURE))
    return place["width"] * (min(height, place["y"] + place["height"]) - place["y"])


def test_the_browser_names_the_page_and_back_leads_to_the_one_before(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/train?m=50&metric=MAP")
    expect(page).to_have_title("Train · rankviz")
    assert_no_explanation_covers_what_it_explains(page)
    page.get_by_role("button", name="Pin this run").click()
    wait_settled(page)
    assert "pins" in query_of(page)
    page.get_by_role("tab", name="One query").click()
    wait_settled(page)
    follow(page, "Two models")
    page.wait_for_url("**/side_by_side*")
    wait_settled(page)
    assert "view" not in query_of(page), "a tab that was opened stays on its page"
    expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
    metric = page.get_by_test_id("stMain").get_by_role("combobox", name="Metric")
    expect(metric).to_have_value("MAP")
    assert query_of(page)["metric"] == "MAP"
    metric.fill("P@5")  # the menu is longer than what it draws
    page.get_by_role("option", name="P@5", exact=True).click()
    wait_settled(page)
    assert query_of(page)["metric"] == "P@5"
    page.go_back()
    page.wait_for_url("**/train*")
    wait_settled(page)
    expect(metric).to_have_value("P@5")  # the one chosen last
    assert query_of(page).items() >= {"m": "50", "metric": "P@5"}.items()
    assert "pins" in query_of(page), "and its own controls are as left"
    page.go_back()
    page.wait_for_url("about:blank")


def assert_no_explanation_covers_what_it_explains(page: Page) -> None:
    opener, told = page.get_by_role("button", name="Others"), page.get_by_test_id("stTooltipContent")
    opener.hover()
    expect(told).to_have_text("Choose two documents by name.")
    opener.click()
    expect(page.get_by_role("button", name="Show why")).to_be_visible()
    expect(told).to_be_hidden()
    page.keyboard.press("Escape")
