"""The Why page: the library's shares for the pair in the address, its names, and where it cannot say why."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
import strangers
import streamlit as st
from conftest_pages import Opener, figures, opened, words
from streamlit.testing.v1 import AppTest

from rankviz import Fold, RunSpec, crossings, execute, explain_margin
from rankviz.datasets import RankingData, find_datasets, open_fold
from rankviz.datasets.statistics import document_names
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.methods import METHODS
from rankviz.runs.run import model_from
from rankviz.whatif.crossings import swaps as turn_at
from rankviz.whatif.estimates import margins_without_queries
from rankviz.whatif.explanations import landmark_shares
from rankviz.whatif.refits import refits_of
from ui.controls import feature_names, selection
from ui.model import why as views
from ui.model.why_choices import usual_pair
from ui.model.why_computations import MOST_REFITS
from ui.model.why_words import NEEDS, WHAT_IT_IS, named_swap, signed
from ui.shell.texts import escaped

SPEC = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
QUERY = 1
"""Position of the query that is asked for."""


@cache
def fold() -> Fold:
    return open_fold(find_datasets()["synthetic-demo"], "Fold1")


@cache
def model(feature_map: str = "nystroem") -> FeatureRanker:
    spec = SPEC.linear(2.0**-10) if feature_map == "linear" else SPEC.but(feature_map=feature_map)
    return model_from(execute(spec), fold().train)


def query() -> int:
    return int(fold().vali.query_ids[QUERY])


@cache
def ranked() -> pd.DataFrame:
    """The documents of the query as the model ranks them."""
    vali = fold().vali
    rows = np.arange(vali.n_documents)[vali.query_slice(QUERY)]
    scores = model().predict(vali.X)[rows]
    found = pd.DataFrame(
        {"document": document_names(vali, QUERY), "grade": vali.y[rows], "row": rows, "score": scores}
    )
    found = found.iloc[np.argsort(-scores, kind="stable")].reset_index(drop=True)
    return found.assign(rank=np.arange(1, len(found) + 1))


def pair(above: int = 0, below: int = 3) -> dict[str, object]:
    """The address of a pair, by places in the list."""
    listed = ranked()["document"]
    return {"m": 10, "query": query(), "above": listed[above], "below": listed[below]}


def rows(*places: int) -> list[np.ndarray]:
    return [fold().vali.X[ranked()["row"][place]] for place in places]


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_sentence_and_shares_are_the_library_s_and_another_query_lets_the_pair_go(open_page: Opener) -> None:
    app = open_page("why", **pair())
    found = explain_margin(model(), *rows(0, 3))
    shown = table(opened(app, "why-features-table"), "share").sort_values("number")
    np.testing.assert_allclose(shown["share"], found.values, atol=1e-12)
    np.testing.assert_array_equal(shown["value_A"], rows(0)[0])
    best = int(found.values.argmax())
    listed = ranked()
    said = app.header[0].value
    assert said.startswith(
        f"A, {escaped(listed['document'][0])} (rank 1, grade {listed['grade'][0]}), scores"
    )
    assert f"above B, {escaped(listed['document'][3])} (rank 4" in said
    assert f"for A: feature {best + 1} ({signed(found.values[best])})" in said
    assert WHAT_IT_IS in words(app)
    numbers = figures(app)[0]["layout"]["yaxis2"]["ticktext"]
    assert numbers[0] == signed(found.values[np.abs(found.values).argmax()])
    assert numbers[-1] == signed(float(found.margin))
    app.selectbox(key="query").set_value(int(fold().vali.query_ids[2])).run()
    assert "above" not in app.query_params
    assert "(rank 1," in app.header[0].value


def test_the_other_way_round_it_says_below(open_page: Opener) -> None:
    app = open_page("why", **pair(3, 0))
    assert " below B, " in app.header[0].value


def test_without_a_pair_the_first_document_is_asked_about_and_a_better_one_below_it() -> None:
    listed = pd.DataFrame({"document": list("abcd"), "grade": [1, 1, 0, 2], "rank": [1, 2, 3, 4]})
    assert usual_pair(listed) == ("a", "d")
    assert usual_pair(listed.head(3)) == ("a", "c")
    assert usual_pair(listed.head(2)) == ("a", "b")
    assert usual_pair(listed.head(1)) == ("a", "a")


def test_the_address_has_what_was_chosen_and_nothing_that_is_not_there(open_page: Opener) -> None:
    app = open_page("why", m=10, query=query(), above="nobody")
    assert "above" not in app.query_params
    assert "below" not in app.query_params
    name = ranked()["document"][4]
    app.selectbox(key="below").set_value(name).run()
    assert app.query_params["below"] == name
    assert "(rank 5," in app.header[0].value
    before = app.selectbox(key="above").value
    next(button for button in app.button if button.label == "Swap").click().run()
    assert (app.selectbox(key="above").value, app.selectbox(key="below").value) == (name, before)
    assert app.query_params["above"] == name
    app.selectbox(key="below").set_value(name).run()
    assert "A and B are the same document" in app.info[0].value
    assert not figures(app)


def test_both_documents_stand_beside_the_spread_of_the_data(open_page: Opener) -> None:
    app = opened(open_page("why", view="Both documents", **pair()), "why-features-table")
    shown = table(app, "q50").set_index("number")
    X = fold().train.X
    np.testing.assert_allclose(shown["q50"], np.median(X, axis=0)[shown.index - 1])
    np.testing.assert_allclose(shown["max"], X.max(axis=0)[shown.index - 1])
    np.testing.assert_allclose(
        shown["below_A"], [(X[:, j - 1] < rows(0)[0][j - 1]).mean() for j in shown.index]
    )


def test_a_feature_is_moved_to_where_they_swap(open_page: Opener) -> None:
    app = open_page("why", view="Move a feature", **pair())
    a, b = rows(0, 3)
    best = turn_at(model(), a, b, fold().train.X).found
    assert app.selectbox(key="move").value == str(best[0].feature + 1)
    every = [f"feature {number}" for number in range(1, 21)]
    assert named_swap(best[0], every, a[best[0].feature]) in words(app)
    assert len(table(opened(app, "why-swaps-table"), "they swap at")) == len(best)
    chosen = best[-1].feature
    app.selectbox(key="move").set_value(str(chosen + 1)).run()
    assert app.query_params["move"] == str(chosen + 1)
    low, high = fold().train.X[:, chosen].min(), fold().train.X[:, chosen].max()
    at = crossings(model(), a, b, chosen, (low, high))
    ticks = next(trace for trace in figures(app)[-1]["data"] if trace["name"] == "they swap")
    assert len(at) == len(ticks["y"]) > 0
    assert f"Along feature {chosen + 1} they swap at {at[0]:.4g}" in words(app)


def test_landmarks_are_named_by_document_query_and_grade(open_page: Opener) -> None:
    app = open_page("why", view="Landmarks", **pair())
    found = landmark_shares(model(), *rows(0, 3), fold().train)
    first = next(found.itertuples(index=False))
    assert f"query {first.query}, grade {first.grade}" in words(app)
    labels = figures(app)[-1]["layout"]["yaxis"]["ticktext"]
    assert len(labels) == len(found[found["share"] != 0])
    train: RankingData = fold().train
    position = train.query_ids.tolist().index(first.query)
    name = document_names(train, position)[first.document - train.ptr[position]]
    assert f"{name}, query {first.query}, grade {first.grade}" in labels


# --- Training queries ---------------------------------------------------------------------------------------


def test_training_queries_are_left_out_as_the_library_does(open_page: Opener) -> None:
    app = open_page("why", view="Training queries", **pair())
    refits = refits_of(model(), fold().train)
    found = margins_without_queries(refits, *rows(0, 3), most=MOST_REFITS)
    shown = table(opened(app, "why-queries-table"), "estimate")
    assert shown["query"].tolist() == found["query"].tolist()
    for column in ("estimate", "refit"):
        np.testing.assert_allclose(shown[column], found[column], atol=1e-9)
    np.testing.assert_allclose(shown["margin after"], found["after"], atol=1e-9)
    np.testing.assert_allclose(figures(app)[-1]["data"][0]["y"], range(MOST_REFITS))
    assert views.queries_answer(found) in app.header[1].value
    assert views.estimates_quality(found) in words(app)
    assert [button.label for button in app.button if "on What if" in button.label]
    app = open_page("why", view="Training queries", of="linear", **pair())
    assert len(figures(app)) == 2
    assert not [button.label for button in app.button if "on What if" in button.label]


def test_models_that_share_nothing_say_so_and_those_without_a_hessian_too(open_page: Opener) -> None:
    app = open_page("why", view="Training queries", loss="hinge", **pair())
    assert "no second derivative" in app.info[0].value
    assert len(figures(app)) == 1
    app = open_page("why", view="Training queries", method="factorised RankSVM", **pair())
    assert "no training that goes on from its weights" in words(app)


@pytest.mark.parametrize(
    ("kind", "said"), [("one grade", "A and B have the same score"), ("one query", "has one query")]
)
def test_training_queries_that_decide_nothing_are_no_fault(
    kind: str, said: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set(kind)
    app = open_page("why", view="Training queries", data="edge", m=5)
    assert said in "\n".join([words(app), *(header.value for header in app.header)])


def without(margin: float, *changes: float, trained: int) -> pd.DataFrame:
    """Return a table like that of `margins_without_queries`, with exact estimates."""
    number = np.arange(1, len(changes) + 1)
    refit = np.where(number <= trained, changes, np.nan)
    columns = {"query": number, "pairs": 1, "margin": margin, "estimate": changes, "refit": refit}
    return pd.DataFrame(columns).assign(after=margin + np.array(changes))


def test_the_query_that_turns_a_pair_is_named_and_those_that_do_are_counted() -> None:
    assert views.queries_answer(without(0.1, 0.3, -0.2, -0.05, trained=2)) == (
        "Without training query 2, B would stand above A (margin 0.1 → −0.1); 1 of 3 queries changes the "
        "order"
    )
    assert views.queries_answer(without(-0.1, 0.3, 0.2, trained=2)) == (
        "Without training query 1, A would stand above B (margin −0.1 → 0.2); 2 of 2 queries change the order"
    )
    assert "Without training query 2, B would stand above A (margin 0.1 → −0.1, by its estimate)" in (
        views.queries_answer(without(0.1, 0.3, -0.2, trained=1))
    )
    assert views.queries_answer(without(0.5, 0.3, -0.2, trained=2)) == (
        "None of 2 training queries alone changes the order; query 1 changes the margin most (0.5 → 0.8)"
    )
    assert "the same score" in views.queries_answer(without(0.0, 0.0, 0.0, trained=2))


def test_how_good_the_estimates_are_is_said() -> None:
    found = without(0.1, 0.3, -0.2, -0.05, trained=2).assign(refit=[0.31, -0.22, np.nan])
    assert views.estimates_quality(found) == (
        "Refits without 2 of 3 training queries; the others are estimates. Largest error of an estimate: "
        "0.02; largest change: 0.31."
    )


def test_the_list_says_why_each_stands_above_the_next(open_page: Opener) -> None:
    shown = table(open_page("why", view="Down the list", **pair()), "most for A")
    X = fold().vali.X[ranked()["row"]][: len(shown) + 1]
    found = explain_margin(model(), X[:-1], X[1:])
    np.testing.assert_allclose(shown["margin"], found.margin, atol=1e-12)
    assert shown["A"].tolist() == ranked()["document"][: len(shown)].tolist()
    best = int(found.values[0].argmin())
    assert shown["most for B"][0] == f"feature {best + 1} ({signed(found.values[0, best])})"


def test_another_model_can_be_asked(open_page: Opener) -> None:
    app = open_page("why", of="linear", **pair())
    found = explain_margin(model("linear"), *rows(0, 3))
    shown = table(opened(app, "why-features-table"), "share").sort_values("number")
    np.testing.assert_allclose(shown["share"], found.values, atol=1e-9)
    app = open_page("why", of="linear", view="Landmarks", **pair())
    assert "The linear model has no kernel expansion" in words(app)


def test_a_polynomial_kernel_has_sampled_shares_and_says_so(open_page: Opener) -> None:
    app = open_page("why", kernel="polynomial", **pair())
    said = words(app)
    assert "Sampled Shapley values" in said
    assert "means over 200 random orders" in said
    assert WHAT_IT_IS not in said
    shown = table(opened(app, "why-features-table"), "standard error")
    assert (shown["standard error"] > 0).any()


@pytest.mark.parametrize("method", ["LambdaMART", "random forest", "hidden layer", "ordinal thresholds"])
def test_shares_of_other_methods_are_exact(method: str, open_page: Opener) -> None:
    settings = {"rounds": "8", "trees": "8", "map": "linear", "m": 10, "query": query()}
    chosen = {"loss": method} if method == "ordinal thresholds" else {"method": method}
    app = open_page("why", **settings, **chosen)
    shown = table(opened(app, "why-features-table"), "share")
    assert WHAT_IT_IS in words(app)
    assert "standard error" not in shown
    assert shown["share"].abs().max() > 0


def test_a_model_that_is_known_by_its_scores_only_says_so(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "mean", strangers.RANKER)
    app = open_page("why", method=strangers.RANKER.label, query=query())
    assert "has no form that is a sum" in app.info[0].value
    assert NEEDS in words(app)
    assert not figures(app)


# --- Names of features --------------------------------------------------------------------------------------


def test_lines_are_names_by_number() -> None:
    own, wrong = feature_names.read("1: clicks\n\n 3 = a: b \n0: none\n4:\n9: far\nnonsense", 8)
    assert own == {1: "clicks", 3: "a: b"}
    assert wrong == ["0: none", "4:", "9: far", "nonsense"]
    assert feature_names.read(f"1: {'x' * 61}", 8) == ({}, [f"1: {'x' * 61}"])


def test_names_are_shown_as_they_are_and_short_ones_are_in_the_address(open_page: Opener) -> None:
    hostile = "**b** <img src=//elsewhere.example>"
    best = int(explain_margin(model(), *rows(0, 3)).values.argmax()) + 1
    app = open_page("why", names=f"{best}: {hostile}|99: far", **pair())
    assert escaped(hostile) in app.header[0].value
    assert hostile not in words(app)
    label = figures(app)[0]["layout"]["yaxis"]["ticktext"]
    assert not [text for text in label if "<img" in text]
    assert "Not read" in app.warning[0].value
    area = app.text_area[0]
    area.set_value(f"{best}: clicks").run()
    assert app.query_params["names"] == f"{best}: clicks"
    assert "for A: clicks (" in app.header[0].value
    area = app.text_area[0]
    area.set_value("\n".join(f"{number}: {'n' * 60}" for number in range(1, 21))).run()
    assert "names" not in app.query_params
    assert "n" * 60 in app.header[0].value


# --- The way here -------------------------------------------------------------------------------------------


def asked_about(app: AppTest, key: str) -> str:
    button = app.button(key=f"{key}-go")
    return f"{button.label} {button.proto.help}"


def test_ranked_lists_lead_here_from_the_two_at_the_top(open_page: Opener) -> None:
    """A browser test follows the button."""
    app = open_page("train", view="One query", m=10, query=query())
    listed = ranked()["document"]
    assert asked_about(app, "train-why").startswith("Why is rank 1 above rank 2? ")
    name = f"train-why-{query()}-{listed[0]}-{listed[1]}"
    assert app.selectbox(key=f"{name}-above").value == listed[0]
    assert app.selectbox(key=f"{name}-below").value == listed[1]
    app.selectbox(key=f"{name}-below").set_value(listed[0]).run()
    assert app.button(key="train-why-others").disabled


def test_documents_that_are_marked_are_asked_about_in_the_order_of_each_list(open_page: Opener) -> None:
    listed = ranked()["document"]
    app = open_page("side_by_side", m=10, query=query(), document=listed[4])
    assert "why 4 above 5?" in asked_about(app, "why-left")
    app = open_page("side_by_side", m=10, query=query(), document=listed[1], document2=listed[4])
    assert "why 2 above 5?" in asked_about(app, "why-left")
    assert f"{escaped(listed[1])} over {escaped(listed[4])}" in asked_about(app, "why-left")
    app = open_page("train", view="One query", m=10, query=query(), document=listed[4], document2=listed[1])
    assert asked_about(app, "train-why").startswith("Why is rank 2 above rank 5? ")


def test_of_two_clicks_the_second_marks_another_and_a_third_on_it_none() -> None:
    state = st.session_state
    for name, left in [("a", ["a"]), ("b", ["b", "a"]), ("c", ["c", "b"]), ("c", [])]:
        selection.mark_document(name)
        assert [state[key] for key in (selection.LAST, selection.BEFORE) if state[key] is not None] == left


def test_with_another_model_the_pair_stays_and_is_in_the_link(open_page: Opener) -> None:
    app = open_page("why", m=10, query=query())
    shown = [app.selectbox(key=key).value for key in ("above", "below")]
    assert "above" not in app.query_params, "what is usual need not be said"
    app.selectbox(key="of").select("linear").run()
    assert [app.selectbox(key=key).value for key in ("above", "below")] == shown
    fresh = open_page("why", m=10, query=query(), of="linear")
    usual = [fresh.selectbox(key=key).value for key in ("above", "below")]
    assert usual != shown, "the linear model's own"
    assert [app.query_params["above"], app.query_params["below"]] == shown
    app.selectbox(key="query").select(int(fold().vali.query_ids[QUERY + 1])).run()
    assert "above" not in app.query_params, "another query has its own"
