"""Side by side, and Train beside a pin: the library's numbers of any two models, one selection of queries."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, execute, figures, pin_of, words
from streamlit.testing.v1 import AppTest
from test_home_train import lines

from rankviz import RunRecord, RunSpec
from rankviz.analysis.reference_runs import ranking_errors
from rankviz.datasets import find_datasets, open_fold
from rankviz.metrics.evaluation import compared
from rankviz.metrics.significance import compare
from rankviz.models.methods import METHODS
from rankviz.plots.style import second_tone, style_of
from ui.compare.side_by_side_words import (
    CAUTION,
    Pair,
    about,
    marked_document,
    query_reading,
    reading,
    tau_text,
)
from ui.model.train_words import NO_LOSS
from ui.shell.figures import report_ties
from ui.shell.texts import plain

pytestmark = pytest.mark.usefixtures("every_tab")

METRIC = "NDCG@10"


def spec(feature_map: str) -> RunSpec:
    found = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
    others = {"linear": found.linear(2.0**-10), "exact": found.exact()}
    return others.get(feature_map) or found.but(feature_map=feature_map)


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


def test_a_marked_document_and_the_selected_query_that_differs_most_are_shown(
    open_page: Opener,
) -> None:
    app = open_page("side_by_side", m=10)
    picked = table(app)["query"].iloc[[3, 5]].tolist()
    moved = next(frame.value for frame in app.dataframe if "change" in frame.value)
    app = open_page("side_by_side", m=10, document=moved["document"].iloc[0])
    assert f"Marked: document {moved['document'].iloc[0]}, grade {moved['grade'].iloc[0]}" in words(app)
    assert app.query_params["document"] == moved["document"].iloc[0]
    assert f"Query {picked[0]}," in words(open_page("side_by_side", m=10, picked=".".join(map(str, picked))))


def test_the_query_that_differs_most_is_shown_first(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, query=10**9)
    assert app.selectbox(key="query").value is None
    assert f"Query {table(app)['query'].iloc[0]}," in words(app)


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


SPEC = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
LINEAR = SPEC.linear(2.0**-10)
SMALL_C = SPEC.but(C=2.0**-8)


def pinning(*specs: RunSpec) -> dict[str, str]:
    return {"pins": ",".join(map(pin_of, specs))}


def difference(app: AppTest) -> dict[int, float]:
    return dict(table(app).set_index("query")["difference"])


def expected(left: RunSpec, right: RunSpec) -> Any:
    a, b = (execute(spec).metrics["vali"][METRIC] for spec in (left, right))
    return pytest.approx((a - b).to_dict(), abs=1e-12)


PAIRS = {
    "two C": (SPEC, SMALL_C, ("Nyström, m = 10, C = 2⁻⁴", "Nyström, m = 10, C = 2⁻⁸")),
    "two m": (SPEC, SPEC.but(n_components=25), ("Nyström, m = 10", "Nyström, m = 25")),
    "two losses": (LINEAR.but(loss="hinge"), LINEAR, ("linear, hinge", "linear, squared hinge")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_side_by_side_of_two_models_of_one_map(name: str, open_page: Opener) -> None:
    left, right, called = PAIRS[name]
    app = open_page("side_by_side", m=50, left=pin_of(left), right=pin_of(right), **pinning(left, right))
    assert difference(app) == expected(left, right)
    scatter = figures(app)[0]
    own = style_of(left.feature_map).colour
    texts = [annotation["text"] for annotation in scatter["layout"]["annotations"]]
    assert texts == [f"● {called[0]} ahead", f"◆ {called[1]} ahead"]
    points = next(trace for trace in scatter["data"] if trace.get("name") == "queries")
    assert {own, second_tone(own)} <= set(points["marker"]["color"])
    assert {"circle", "diamond"} <= set(points["marker"]["symbol"])
    assert scatter["layout"]["yaxis"]["title"]["text"] == f"{METRIC}, {called[0]}"
    assert f" minus {called[1]}" in words(app) or called[0] in words(app)
    assert app.query_params["left"] == pin_of(left)
    assert app.query_params["right"] == pin_of(right)


def test_side_by_side_of_a_map_and_another_method(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, right="factorised RankSVM")
    assert difference(app) == expected(SPEC, SPEC.factorized(5, SPEC.C))
    assert "Nyström m = 10 (γ" not in words(app), "both have m, γ and seed"
    assert "factorised RankSVM, 5 factors" in words(app)
    colours = {a["font"]["color"] for a in figures(app)[0]["layout"]["annotations"]}
    assert colours == {style_of("nystroem").colour, style_of("factorized").colour}


def test_the_menu_has_what_is_pinned_and_pins_from_the_page(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10)
    left = app.selectbox(key="left")
    maps = ["Nyström", "random Fourier", "linear", "exact kernel"]
    others = [method.label for method in METHODS.values() if method.trains][1:]
    assert left.options == [*maps, *others]
    app.button(key="pin").click().run()
    assert app.selectbox(key="left").options[-1] == "Nyström, m = 10 (pinned)"
    app.session_state["c"] = -8
    app.run()
    app.selectbox(key="right").set_value(pin_of(SPEC)).run()
    assert difference(app) == expected(SMALL_C, SPEC)
    app.button(key="unpin").click().run()
    assert app.selectbox(key="right").value == "random Fourier"
    assert "right" not in app.query_params
    assert not app.warning


def test_an_unknown_pin_of_a_link_is_reported_without_its_digest(open_page: Opener) -> None:
    told = [one.value for one in open_page("side_by_side", m=10, right="0" * 16).warning]
    assert told == ["Right: the run of this link is not available; showing random Fourier."]


def test_only_the_very_same_run_is_refused(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, right=pin_of(SPEC), **pinning(SPEC))
    assert "Both sides are Nyström, m = 10." in app.info[0].value
    assert not figures(app)


def test_what_both_share_is_said_once() -> None:
    assert about(SPEC, SPEC.but(feature_map="fourier"), "vali") == (
        "synthetic-demo fold 1 · Nyström m = 10 beside random Fourier m = 10 · C = 2⁻⁴ · γ = 2⁻² · seed 0 · "
        "squared hinge · validation"
    )
    assert about(LINEAR, SPEC, "test") == (
        "synthetic-demo fold 1 · linear (C = 2⁻¹⁰) beside Nyström m = 10 (C = 2⁻⁴, γ = 2⁻², seed 0) · "
        "squared hinge · test"
    )


def test_a_pair_of_one_map_is_called_by_what_differs() -> None:
    pair = Pair(execute(SPEC), execute(SMALL_C))
    assert pair.names == pair.names_in_text == pair.labels == PAIRS["two C"][2]
    other = Pair(execute(LINEAR), execute(SPEC))
    assert other.names_in_text == ("the linear model (C = 2⁻¹⁰)", "Nyström")
    assert other.names == ("linear, C = 2⁻¹⁰", "Nyström")
    assert Pair(execute(SPEC.linear(SPEC.C)), execute(SPEC)).names == ("linear", "Nyström")


def test_train_beside_a_pin(open_page: Opener) -> None:
    app = open_page("train", m=10, beside=pin_of(SMALL_C), **pinning(SMALL_C))
    records = execute(SPEC), execute(SMALL_C)
    means = [record.metrics["vali"][METRIC].mean() for record in records]
    assert app.metric[0].delta == f"{means[0] - means[1]:+.3f} against the pin"
    shown = figures(app)[0]
    one, two = "Nyström, m = 10, C = 2⁻⁸", "Nyström, m = 10, C = 2⁻⁴"
    assert list(lines(shown)) == [one, two]
    own = style_of("nystroem").colour
    assert [trace["line"]["color"] for trace in shown["data"]] == [second_tone(own), own]
    assert len({trace["line"]["dash"] for trace in shown["data"]}) == 2
    left, right = (record.metrics["vali"][METRIC] for record in records)
    assert compare(left, right).sentence(two, one, METRIC) in words(app)
    assert figures(app)[1]["layout"]["xaxis"]["ticktext"] == [one, two]
    assert app.query_params["beside"] == pin_of(SMALL_C)
    app.selectbox(key="beside").set_value("linear").run()
    assert list(lines(figures(app)[0])) == ["linear, C = 2⁻¹⁰", "Nyström, m = 10"]
    assert "beside" not in app.query_params


def test_train_beside_a_pin_of_another_look_says_its_settings(open_page: Opener) -> None:
    pin = SPEC.but(feature_map="fourier", n_components=25)
    app = open_page("train", map="linear", beside=pin_of(pin), **pinning(pin))
    left, right = (execute(spec).metrics["vali"][METRIC] for spec in (SPEC.linear(2.0**-4), pin))
    said = compare(left, right).sentence("the linear model", "random Fourier (m = 25, C = 2⁻⁴)", METRIC)
    assert said[1:] in words(app)


def test_train_without_pins_has_no_menu(open_page: Opener) -> None:
    app = open_page("train", m=10)
    assert not [box for box in app.selectbox if box.key == "beside"]
    app.button(key="pin").click().run()
    assert app.selectbox(key="beside").options == ["the linear model", "Nyström, m = 10 (pinned)"]
    app.selectbox(key="beside").set_value(pin_of(SPEC)).run()
    assert "This is Nyström (m = 10, C = 2⁻⁴) itself" in words(app)


@pytest.mark.parametrize(("method", "called"), [("factorised RankSVM", "factorised RankSVM, 5 factors")])
def test_train_draws_the_trace_that_a_method_has(method: str, called: str, open_page: Opener) -> None:
    app = open_page("train", m=10, method=method, map="linear")
    trace = figures(app)[-1]
    assert [t["name"] for t in trace["data"]] == [called, called]
    record = execute(SPEC.linear(2.0**-4).factorized(5, 2.0**-4))
    assert lines(trace)[called][-1] == pytest.approx(record.trace["gap"].iloc[-1])
    assert "CG iterations" not in words(app)
    assert "This is" not in words(app), "it is not the linear model of RankSVM"
    assert NO_LOSS.format(model="").strip() in words(app)
    assert list(lines(figures(app)[0])) == ["linear, C = 2⁻¹⁰", called]
