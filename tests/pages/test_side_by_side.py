"""The Side by side page: the library's numbers, any two models, one selection of queries in the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, execute, figures, words
from streamlit.testing.v1 import AppTest

from rankviz import RunRecord, RunSpec
from rankviz.analysis.reference_runs import ranking_errors
from rankviz.datasets import find_datasets, open_fold
from rankviz.metrics.evaluation import compared
from rankviz.metrics.significance import compare
from ui.compare.side_by_side_words import CAUTION, Pair, marked_document, query_reading, reading, tau_text
from ui.shell.figures import report_ties
from ui.shell.texts import plain

METRIC = "NDCG@10"


def spec(feature_map: str) -> RunSpec:
    found = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
    others = {"linear": found.linear(2.0**-10), "exact": found.exact()}
    return others.get(feature_map) or found.but(feature_map=feature_map)


@cache
def record(feature_map: str) -> RunRecord:
    return execute(spec(feature_map))


@pytest.fixture
def pair() -> Pair:
    return Pair(record("nystroem"), record("fourier"))


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "tau" in frame.value)


def test_sentence_and_table_are_the_library_s_and_buttons_select_what_differs_most(
    open_page: Opener, pair: Pair
) -> None:
    app = open_page("side_by_side", m=10)
    left, right = pair.values("vali", METRIC)
    assert compare(left, right).sentence("Nyström", "random Fourier", METRIC) in words(app)
    found = table(app).set_index("query")
    assert found["difference"].to_dict() == pytest.approx((left - right).to_dict(), abs=1e-12)
    assert found["difference"].abs().is_monotonic_decreasing
    vali = open_fold(find_datasets()["synthetic-demo"], "Fold1").vali
    errors = ranking_errors(pair.left, pair.right, vali, "vali")
    pd.testing.assert_frame_equal(found[["tau", "overlap"]].sort_index(), errors.sort_index())
    assert len(figures(app)) == 4
    found = table(app)
    widest, unlike = int(found["query"].iloc[0]), int(found.loc[found["tau"].idxmin(), "query"])
    app.button(key=f"look-tau-{unlike}").click().run()
    assert app.query_params["picked"] == str(unlike)
    assert app.selectbox(key="query").value == unlike
    assert f"On query {unlike}, Nyström minus random Fourier is" in words(app)
    app.button(key=f"look-difference-{widest}").click().run()
    assert app.query_params["picked"] == str(widest)
    assert f"Query {widest}," in words(app)
    assert "· test" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "squared hinge · test" in words(app)
    assert "· validation" not in words(app)


def test_a_link_brings_selection_query_and_document_back(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    queries = table(app)["query"].tolist()
    picked = sorted(queries[2:5])
    link = {"picked": ".".join(map(str, [*picked, 10**9])), "query": queries[3], "document": "nothing"}
    app = open_page("side_by_side", m=10, onlypicked=True, **link)
    assert sorted(table(app)["query"]) == picked
    assert "3 of 40 queries selected" in words(app)
    assert "Over the 3 selected of 40 queries, Nyström minus random Fourier is" in words(app)
    assert CAUTION in words(app)
    assert f"Query {queries[3]}," in words(app)
    assert "document" not in app.query_params
    app.button(key="clear-selection").click().run()
    assert len(table(app)) == len(queries)
    assert "picked" not in app.query_params
    assert CAUTION not in words(app)


def test_a_document_is_marked_in_lists_and_scores(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    moved = next(frame.value for frame in app.dataframe if "change" in frame.value)
    app = open_page("side_by_side", m=10, document=moved["document"].iloc[0])
    assert f"Marked: document {moved['document'].iloc[0]}, grade {moved['grade'].iloc[0]}" in words(app)
    assert app.query_params["document"] == moved["document"].iloc[0]


def test_the_query_that_differs_most_is_shown_first(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, query=10**9)
    assert app.selectbox(key="query").value is None
    assert f"Query {table(app)['query'].iloc[0]}," in words(app)


def test_of_the_selected_queries_the_one_that_differs_most_is_shown(open_page: Opener) -> None:
    found = table(open_page("side_by_side", m=10))
    picked = found["query"].iloc[[3, 5]].tolist()
    app = open_page("side_by_side", m=10, picked=".".join(map(str, picked)))
    assert f"Query {picked[0]}," in words(app)


@pytest.mark.parametrize("kind", ["tiny", "one document", "one grade"])
def test_edges_of_data(kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    for right in ("random Fourier", "exact kernel"):
        app = open_page("side_by_side", data="edge", right=right, scores="standardised", metric="NDCG@1")
        assert len(figures(app)) == 4
        assert "nan" not in words(app).lower().split()
    if kind == "one document":
        assert "share the only document" in words(app)
        assert " none)" in words(app)
    if kind == "one grade":
        assert "nothing to learn" in words(app)
        assert "even on each of the 2 queries" in words(app)


def test_an_interval_over_chosen_queries_comes_with_a_caution(pair: Pair) -> None:
    left, right = pair.values("vali", METRIC)
    difference = left - right
    best = difference.nlargest(8).index.tolist()
    said, note = reading(pair, "vali", METRIC, best)
    chosen = left.index.isin(best)
    found = compare(left[chosen], right[chosen]).interval
    assert f"{found.mean:+.3f} {METRIC} on average (paired 95 % interval [{found.low:+.3f}" in said
    assert CAUTION in note
    assert "All queries: " in note
    for nothing in ([], [10**9], left.index.tolist()):
        assert reading(pair, "vali", METRIC, nothing) == reading(pair, "vali", METRIC)
    assert "interval" not in reading(pair, "vali", METRIC, best[:1])[0]


def test_even_models_are_said_to_be_even(pair: Pair) -> None:
    same = Pair(pair.left, replace(pair.right, metrics=pair.left.metrics))
    assert "are even on each of the 40 queries" in reading(same, "vali", METRIC)[0]
    some = pair.left.metrics["vali"].index[:7]
    assert "are even on each of the 7 selected of 40 queries" in reading(same, "vali", METRIC, some)[0]
    assert f"are even on query {some[0]}." in reading(same, "vali", METRIC, some[:1])[0]


def test_words_of_one_query(pair: Pair) -> None:
    row = pd.Series({"query": 3, "documents": 4, "tau": np.nan, "overlap": 1.0})
    moved = pd.DataFrame(columns=["document", "grade", "left_rank", "right_rank", "change"])
    assert query_reading(row, moved, pair) == (
        "On query 3 both lists share 4 of the first 4 documents; all ranks are the same."
    )
    moved.loc[0] = ["document 2", 1, 4, 1, 3]
    said = query_reading(row, moved, pair)
    assert "document 2 moves farthest, from rank 4 with Nyström to 1 with random Fourier" in said
    assert marked_document(moved.iloc[0], pair).startswith(
        "Marked: document 2, grade 1, rank 4 with Nyström and rank 1"
    )


@pytest.mark.parametrize(
    ("tau", "text"), [(1.0, "1.000"), (0.9997, "above 0.999"), (-0.25, "−0.250"), (-1e-9, "0.000")]
)
def test_tau_is_not_rounded_to_1(tau: float, text: str) -> None:
    assert tau_text(tau) == text


def test_few_selected_queries_have_no_interval(pair: Pair) -> None:
    every = pair.left.metrics["vali"].index
    few, many = (reading(pair, "vali", METRIC, list(every[:n]))[0] for n in (4, len(every) - 1))
    assert "(too few queries for a 95 % interval)" in few
    assert "(paired 95 % interval [" in many
    assert "nan" not in few + many


def test_ties_that_decide_are_told(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    data = open_fold(find_datasets()["synthetic-demo"], "Fold1").vali
    told: list[str] = []
    monkeypatch.setattr("streamlit.caption", told.append)
    report_ties({"vali": [pair.left, pair.right]}, [METRIC])
    assert told == []
    metrics, by_order = compared(np.zeros(data.n_documents), data)
    constant = replace(pair.right, metrics={"vali": metrics}, by_order={"vali": by_order})
    report_ties({"vali": [pair.left, constant]}, [METRIC])
    assert len(told) == 1
    assert "random Fourier" in told[0]
    assert f"in the order of the file {METRIC} would be {by_order[METRIC]:.3f} instead of" in plain(told[0])


def test_one_note_tells_ties_of_several_parts(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("streamlit.caption", told.append)
    tied = replace(pair.left, by_order={"vali": {METRIC: 0.0}, "test": {METRIC: 1.0}})
    report_ties({"vali": [tied], "test": [tied]}, [METRIC])
    assert len(told) == 1
    assert ", validation), 1.000 instead of" in plain(told[0])
    assert ", test)." in plain(told[0])
