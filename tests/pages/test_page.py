"""Tabs: the address says which is open, and only that one is drawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import TABS, words
from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize("page", TABS)
def test_only_the_open_tab_is_drawn(
    page: str, open_page: Callable[..., AppTest], data_set: Callable[[str], None]
) -> None:
    data_set("small")
    drawn = {}
    for view in TABS[page]:
        app = open_page(page, view=view, data="edge", m=10)
        tabs = [tab for tab in app.tabs if tab.label in TABS[page]]
        assert [tab.label for tab in tabs] == list(TABS[page])
        drawn[view] = {tab.label for tab in tabs if len(tab.children)}
    assert drawn == {view: {view} for view in TABS[page]}


def test_what_a_tab_asks_for_is_kept_while_another_is_open(open_page: Callable[..., AppTest]) -> None:
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
