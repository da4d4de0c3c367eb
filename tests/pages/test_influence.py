"""The Influence page: the library's numbers, sentences that the queries support, sliders in the address."""

from collections.abc import Callable

import pandas as pd
import pytest
from conftest_pages import Opener, figures, opened, words

from rankviz import RunSpec, execute
from rankviz.datasets import load_demo
from rankviz.metrics.significance import compare
from ui.study.influence_words import reading_of_C

SPEC = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-4)
COSTS = {"view": "Influence of λ and μ", "map": "linear"}


def test_the_path_over_C_is_the_library_s_of_one_fold_and_of_all(open_page: Opener) -> None:
    app = opened(open_page("influence", map="linear", scope="this fold"), "influence-of-c-table")
    table = app.dataframe[0].value
    assert table["value"].tolist() == [2.0**c for c in range(-15, 11)]
    for row in (0, 11, 25):
        record = execute(SPEC.but(C=table["value"][row], start="zero"))
        assert table["mean"][row] == pytest.approx(record.metrics["vali"]["NDCG@10"].mean(), abs=5e-3)
    assert "NDCG@10 is highest at C = " in words(app)
    assert "hollow: significantly worse" in words(app)
    assert "**Paired interval**" in app.header[0].proto.help, "the heading's term is explained"
    pooled = opened(open_page("influence", map="linear"), "influence-of-c-table")
    assert pooled.dataframe[0].value["queries"][0] == 3 * table["queries"][0]
    assert "3 folds pooled" in words(pooled)
    parts = [load_demo(fold).vali for fold in (1, 2, 3)]
    empty = sum(not part.y[part.query_slice(q)].any() for part in parts for q in range(part.n_queries))
    counted = f"rankviz definition, 120 queries, {empty} of them without a relevant document, counted as 0"
    assert counted in words(pooled)
    assert "; equal scores count at the mean over their orders" in words(pooled).partition(counted)[2][:150]


def test_costs_come_from_the_sliders(open_page: Opener) -> None:
    app = open_page("influence", **COSTS, scope="this fold", l10=2.0, l20=4.0, vary="λ₂₁", mu="true")
    assert "λ₁₀ = 2, λ₂₀ = 4, λ₂₁ = 1.3, × μ by query" in words(app)
    table = ((0.0, 2.0, 4.0), (2.0, 0.0, 3.0), (4.0, 3.0, 0.0))
    record = execute(SPEC.but(costs=("query", table)))
    shown = opened(app, "influence-of-cost-table").dataframe[0].value.set_index("value")
    assert shown.loc[3.0, "mean"] == pytest.approx(record.metrics["vali"]["NDCG@10"].mean(), abs=1e-9)
    app.toggle(key="mu").set_value(False).run()
    assert "× μ by query" not in words(app)
    assert len(figures(app)) == 2


def test_a_loss_without_pairs_has_no_costs(open_page: Opener) -> None:
    app = open_page("influence", **COSTS, loss="ListNet", model="current model")
    assert "The ListNet loss is no sum over preference pairs, so pairs have no costs." in words(app)
    assert not app.error
    assert not figures(app)


@pytest.mark.parametrize("kind", ["tiny", "one grade", "five grades"])
def test_costs_at_the_edges_of_data(kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    app = open_page("influence", **COSTS, data="edge")
    assert figures(app) or app.info
    if kind == "five grades":
        assert "grades up to 4" in app.info[0].value


def test_values_that_are_all_alike_have_no_best_one(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    """NDCG@10 of queries of fewer than ten documents is 0, whatever the model, by LETOR's definition."""
    data_set("tiny")
    app = open_page("influence", map="linear", data="edge")
    assert "NDCG@10 is the same at all 26 values of C" in words(app)
    assert "highest" not in app.header[0].value


def test_one_query_is_too_few_to_distinguish_values_of_C() -> None:
    one = compare(pd.Series([0.1]), pd.Series([0.5]))
    assert "but 1 query is too few" in reading_of_C({1.0: one}, 2.0, 1, "MAP")


def test_the_model_is_linear_or_the_sidebar_s_and_what_is_not_shown_is_said(open_page: Opener) -> None:
    """Its C is grey in the sidebar, and the marked C is the linear model's."""
    said = "The current model, Nyström, is not chosen under Model"
    for model, shown, times in (("linear", "· linear ·", 1), ("current model", "Nyström m = 10", 0)):
        app = open_page("influence", scope="this fold", model=model, m=10)
        assert shown in words(app)
        assert sum(one.value.startswith(said) for one in app.caption) == times
    app = open_page("influence", scope="this fold", map="linear", c=-10)
    assert not any("is not chosen under Model" in one.value for one in app.caption)
