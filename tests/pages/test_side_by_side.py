"""The Side by side page: the library's numbers, and one selection of queries in the address."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import figures, words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, execute
from rankviz.significance import compare

Opener = Callable[..., AppTest]
METRIC = "NDCG@10"


def spec(feature_map: str) -> RunSpec:
    return RunSpec("synthetic-demo", feature_map=feature_map, n_components=10, C=2.0**-4, gamma=2.0**-2)


def test_sentence_and_table_are_the_library_s(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    left, right = (execute(spec(name)).metrics["vali"][METRIC] for name in ("nystroem", "fourier"))
    sentence = compare(left, right).sentence("Nyström", "random Fourier", METRIC)
    assert sentence in words(app)
    table = app.dataframe[0].value.set_index("query")
    assert table["difference"].to_dict() == pytest.approx((left - right).to_dict(), abs=1e-12)
    assert table["difference"].abs().is_monotonic_decreasing
    assert len(figures(app)) == 4


def test_a_link_brings_selection_and_query_back(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    queries = app.dataframe[0].value["query"].tolist()
    picked = sorted(queries[2:5])
    app = open_page("side_by_side", m=10, picked=".".join(map(str, [*picked, 10**9])), query=queries[3])
    assert sorted(app.dataframe[0].value["query"]) == picked
    assert "3 queries selected" in words(app)
    assert f"Query {queries[3]}," in words(app)
    assert app.selectbox(key="query").value == queries[3]
    app.button(key="clear-selection").click().run()
    assert len(app.dataframe[0].value) == len(queries)
    assert "picked" not in app.query_params


def test_the_query_that_differs_most_is_shown_first(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, query=10**9)
    widest = app.dataframe[0].value["query"].iloc[0]
    assert app.selectbox(key="query").value is None
    assert f"Query {widest}," in words(app)


def test_test_part_only_when_revealed(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    assert "· test" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "· test; random Fourier alike" in words(app)
