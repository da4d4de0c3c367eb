"""Tabs and tables below a label: only what is open is drawn."""

import re

import pytest
from conftest_pages import TABS, Opener, opened, words
from streamlit.testing.v1 import AppTest
from test_every_page import FEW

from ui.shell import page as frame


@pytest.mark.parametrize("page", TABS)
def test_only_the_open_tab_is_drawn(page: str, open_page: Opener, small_set: None) -> None:
    app = open_page(page, data="edge", m=10, **FEW.get(page, {}))
    for view in (TABS[page][0], TABS[page][-1]):
        if view != TABS[page][0]:
            app.session_state["view"] = view
            app.run()
        tabs = [tab for tab in app.tabs if tab.label in TABS[page]]
        assert [tab.label for tab in tabs] == list(TABS[page])
        assert [tab.label for tab in tabs if len(tab.children)] == [view]


def test_what_a_tab_asks_for_is_kept_and_the_link_comes_when_its_place_is_opened(open_page: Opener) -> None:
    app = open_page("train", m=10)
    query = app.selectbox(key="query").options[3]
    app.selectbox(key="query").set_value(int(query)).run()
    assert f"Query {query}" in words(app)
    app.session_state["view"] = "Numbers"
    app.run()
    assert f"Query {query}" not in words(app)
    app.session_state["view"] = "One query"
    app.run()
    assert f"Query {query}" in words(app)
    assert not app.sidebar.get("code")
    assert "m=10" in opened(app, "share-and-presets").sidebar.code[0].value


def test_what_is_folded_is_computed_once_open_and_stays_open() -> None:
    app = AppTest.from_function(_folded).run()
    assert app.session_state["drawn"] == []
    opened(app, "rows")
    assert app.session_state["drawn"] == [3]
    app.number_input[0].set_value(4).run()
    assert app.session_state["drawn"] == [3, 4]
    assert app.expander[0].label == "All 4 rows"
    app.session_state["rows"] = False
    app.run()
    assert app.session_state["drawn"] == [3, 4]


def _folded() -> None:
    import streamlit as st

    from ui.shell.figures import folded

    drawn = st.session_state.setdefault("drawn", [])
    number = int(st.number_input("Rows", value=3))
    folded(f"All {number} rows", "rows", lambda: drawn.append(number))


def _with_tabs() -> None:
    import streamlit as st

    from ui.shell.page import tabs

    tabs({"First": lambda: st.text("one"), "Second": lambda: st.text("two")})


@pytest.mark.parametrize(
    ("to", "link", "drawn"),
    [
        ("Train", "", "two"),
        ("Why", "", "one"),  # a page does not open the tab of another one
        ("Why", "Second", "two"),
    ],
)
def test_another_page_begins_with_its_first_tab_or_that_of_the_address(
    to: str, link: str, drawn: str
) -> None:
    app = AppTest.from_function(_with_tabs)
    app.session_state["page-title"] = "Train"
    app.run()
    app.session_state["view"] = "Second"
    app.run()
    assert app.text[0].value == "two"
    app.query_params.clear()
    app.session_state["page-title"] = to
    if link:
        app.query_params["view"] = link
    app.run()
    assert app.text[0].value == drawn
    app.session_state["view"] = "Second"
    app.run()
    assert app.text[0].value == "two", "a tab opened here stays"


def test_no_style_of_all_pages_depends_on_a_part_of_a_class_around_an_element() -> None:
    # Streamlit changes all classes in each run, and a browser would restyle all that lies in these elements
    rules = re.sub(r"/\*.*?\*/", "", frame._STYLE, flags=re.DOTALL)
    around = re.compile(r"\[class[*^$]=[^\]]*\][^\s,{()]*\s+[^\s,{)]")
    assert around.search('a [class*="x"]:hover summary {}')
    assert not around.findall(rules)
