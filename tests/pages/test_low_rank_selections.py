"""Low rank: selected queries that a tab does not have, and selections that another data set has not."""

import re
from collections.abc import Callable

import pytest
from conftest_pages import Opener, figures, words
from test_home_train import lines

from rankviz import RunSpec, execute
from rankviz.analysis.spectra import spectra
from rankviz.datasets import find_datasets, open_fold
from ui.study.low_rank_words import none_counted, other_queries

ERRORS = "Errors of a solver"
pytestmark = pytest.mark.usefixtures("made_at_once")


def test_selected_queries_without_ranks_under_three_models_are_said(open_page: Opener) -> None:
    every = open_page("low_rank", m=10, view="Three models")
    assert len(figures(every)) == 3
    (listed,) = re.findall(r"0 under all three models: ([\d, ]+)\.", words(every))
    zero = listed.split(", ")
    app = open_page("low_rank", m=10, view="Three models", picked=".".join(zero))
    text, n = words(app), len(zero)
    assert f"**{n} of 118 queries selected**" in text
    assert f"The matrices of the {n} selected queries are 0 under all three models" in text
    assert len(figures(app)) == 2
    assert f"This tab shows {118 - n} queries; {n} of the 118 queries in the other tabs are 0 under" in text
    assert f"0 under all three models: {listed}." in text


def test_queries_here_and_above_are_compared_in_words() -> None:
    assert other_queries([1, 2], [2, 1]) == ""
    only_here = other_queries([1], [1, 7])
    assert "shows 2 queries; 1 query is here only, with α = 0 under the current model: 7." in only_here
    assert other_queries(range(20), [19]).endswith("0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 9 more.]")
    assert "the selected query is 0 under" in none_counted(1)
    assert "All matrices are 0" in none_counted(0)


def test_a_query_of_another_data_set_is_not_looked_for_in_the_staircase(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("five grades")
    app = open_page("low_rank", data="synthetic-demo", map="linear", block=87)
    assert "Query 87: " in words(app)
    app.session_state["view"], app.session_state["why"] = "Why so low?", "staircase"
    app.run()
    assert "Query 87, α/C" in words(app)
    app.session_state["data"] = "edge"
    app.run()
    assert not app.exception
    assert "Query 2, α/C" in words(app)


def test_the_staircase_is_of_a_selected_query(open_page: Opener) -> None:
    app = open_page("low_rank", map="linear", block=87)
    app.session_state["view"], app.session_state["why"] = "Why so low?", "staircase"
    app.session_state["picked"] = [5]
    app.run()
    assert "Query 5, α/C" in words(app)


def test_every_passage_on_why_is_of_the_selected_queries(open_page: Opener) -> None:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    spec = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-4)
    table = spectra(execute(spec, fold=fold), fold.train, "block").table
    large = table.loc[table["largest_rank"].idxmax()]
    least = table.loc[table["largest_rank"].idxmin()]
    for row in (large, least):
        app = open_page("low_rank", map="linear", view="Why so low?", why=ERRORS, picked=int(row["query"]))
        drawn = figures(app)[-1]
        (level,) = (shape["y0"] for shape in drawn["layout"]["shapes"])
        assert level == row["largest_rank"]
        assert lines(drawn)["zero up to 10<sup>-6</sup>"][0] == row["rank"]
        assert lines(drawn)["this solver, stopped early"][-1] == row["rank"]
        assert "Median over 1 query. Lines" in words(app)


def test_a_selection_stays_with_its_data_set_and_fold(
    open_by_menu: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("five grades")
    app = open_by_menu("low_rank", data="edge", map="linear", picked="1.2")
    assert "**2 of 2 queries selected**" in words(app)

    def expect(data: str, fold: str, queries: list[int]) -> None:
        app.session_state["data"], app.session_state["fold"] = data, fold
        app.run()
        assert not app.exception
        assert app.session_state["picked"] == queries
        assert ("no query selected" in words(app)) == (not queries)
        assert app.query_params.get("picked", "") == ".".join(map(str, queries))

    expect("synthetic-demo", "Fold1", [])
    app.session_state["picked"] = [5]  # as a view marks it
    expect("synthetic-demo", "Fold1", [5])
    expect("edge", "Fold1", [1, 2])
    expect("synthetic-demo", "Fold2", [])
    expect("synthetic-demo", "Fold1", [5])


def test_the_address_drops_a_selection_of_other_data_before_anything_is_trained(
    open_page: Opener, data_set: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    data_set("five grades")
    app = open_page("low_rank", data="edge", map="linear", picked="1.2")
    monkeypatch.setattr("ui.study.low_rank.linked", lambda *_: None)  # as while a job is running
    app.session_state["data"] = "synthetic-demo"
    app.run()
    assert "picked" not in app.query_params
    app.session_state["data"] = "edge"
    app.run()
    assert app.query_params["picked"] == "1.2"


def test_a_selection_of_training_queries_is_there_again_after_another_page(open_page: Opener) -> None:
    app = open_page("low_rank", map="linear", picked="87.5")
    app.switch_page("pages/side_by_side.py").run()
    assert "no query selected" in words(app)
    app.switch_page("pages/low_rank.py").run()
    assert app.session_state["picked"] == [87, 5]


def test_a_number_in_the_address_that_no_query_can_have_is_passed_over(open_page: Opener) -> None:
    app = open_page("low_rank", map="linear", picked="5." + "9" * 5000)
    assert app.session_state["picked"] == [5]
