"""Comparisons of any two models: pins, other methods, two settings of one map, on Side by side and Train."""

from __future__ import annotations

from typing import Any

import pytest
from conftest_pages import Opener, execute, figures, pin_of, words
from streamlit.testing.v1 import AppTest
from test_home_train import lines

from rankviz import RunSpec
from rankviz.metrics.significance import compare
from rankviz.models.methods import METHODS
from rankviz.plots.style import second_tone, style_of
from ui.compare.side_by_side_words import Pair, about
from ui.model.train_words import NO_LOSS

pytestmark = pytest.mark.usefixtures("every_tab")

METRIC = "NDCG@10"
SPEC = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
LINEAR = SPEC.linear(2.0**-10)
SMALL_C = SPEC.but(C=2.0**-8)


def pinning(*specs: RunSpec) -> dict[str, str]:
    return {"pins": ",".join(map(pin_of, specs))}


def difference(app: AppTest) -> dict[int, float]:
    table = next(frame.value for frame in app.dataframe if "tau" in frame.value)
    return dict(table.set_index("query")["difference"])


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
    assert "is not available; showing random Fourier." in words(app)
    assert "right" not in app.query_params
    app.selectbox(key="right").set_value("linear").run()
    assert not [text for text in app.warning if "not pinned" in text.value]


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
    assert other.names_in_text == ("the linear model", "Nyström")
    assert other.names == ("linear", "Nyström")


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
    assert list(lines(figures(app)[0])) == ["linear", "Nyström, m = 10"]
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
    assert "This is Nyström itself" in words(app)


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
    assert list(lines(figures(app)[0])) == ["linear", called]
