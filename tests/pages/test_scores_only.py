"""A ranker with scores and nothing else on Home, Train, NDCG against m and Side by side."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import strangers
from conftest_pages import Opener, figures, words
from test_home_train import lines

from rankviz import RunSpec, execute
from rankviz.metrics.significance import compare
from rankviz.models.methods import METHODS
from rankviz.plots import metric_vs_m
from ui.model.train import can_be_rebuilt
from ui.study.ndcg_vs_m_words import seconds_in_words

pytestmark = pytest.mark.usefixtures("every_tab")

LINK = {"method": "feature mean", "m": 10}
METRIC = "NDCG@10"


@pytest.fixture(autouse=True)
def mean(monkeypatch: pytest.MonkeyPatch) -> RunSpec:
    """Enter the ranker; its run on the bundled fold."""
    monkeypatch.setitem(METHODS, "mean", strangers.RANKER)
    return RunSpec("synthetic-demo", method="mean")


def linear() -> RunSpec:
    return RunSpec("synthetic-demo", feature_map="linear", C=2.0**-10)


def test_train_shows_its_scores_and_offers_what_there_is(open_page: Opener, mean: RunSpec) -> None:
    app, record = open_page("train", **LINK), execute(mean)
    assert app.metric[0].value == f"{record.metrics['vali'][METRIC].mean():.3f}"
    assert list(lines(figures(app)[0])) == ["linear", "feature mean"]
    left, right = (r.metrics["vali"][METRIC] for r in (record, execute(linear())))
    said = compare(left, right).sentence("feature mean", "the linear model (C = 2⁻¹⁰)", METRIC)
    assert said[1:] in words(app)
    assert "has no trace of its iterations" in words(app)
    assert "This is" not in words(app)
    assert len(figures(app)) == 3, "curve, list, margins; no trace"
    assert [t["name"] for t in figures(app)[2]["data"]] == ["preference pairs"], "no loss is drawn"
    labels = [button.label for button in app.get("download_button")]
    assert "Scores, validation part" in labels
    assert "Run" in labels
    assert not {"Weights", "Model"} & set(labels)
    assert not can_be_rebuilt(mean)
    labels = [button.label for button in open_page("train", m=10).get("download_button")]
    assert {"Weights", "Model"} <= set(labels)


@pytest.mark.parametrize("x", ["m", "seconds"])
def test_ndcg_against_m_draws_it_as_a_level(x: str, open_page: Opener, mean: RunSpec) -> None:
    app = open_page("ndcg_vs_m", upto=10, exact="false", xaxis=x, **LINK)
    shown = lines(figures(app)[0])
    assert list(shown) == ["linear (no m)", "feature mean (no m)", "Nyström", "random Fourier"]
    assert set(shown["feature mean (no m)"]) == {execute(mean).metrics["vali"][METRIC].mean()}
    assert "feature mean is" in words(app)
    assert "No seconds for" not in words(app), "its training is timed as a whole"


def test_records_of_before_that_tell_no_seconds_are_said_to(mean: RunSpec) -> None:
    old = replace(execute(mean), seconds={"data": 1.0, "evaluate": 1.0})
    words_of = seconds_in_words([execute(linear()), old], 10, [])
    assert words_of.endswith("No seconds for feature mean.")


def test_home_draws_it_as_a_level(open_page: Opener, mean: RunSpec) -> None:
    app = open_page(None, **LINK)
    assert "feature mean (no m)" in lines(figures(app)[0])
    assert "Horizontal line: synthetic-demo fold 1 · feature mean · validation." in words(app)
    left, right = (execute(spec).metrics["vali"][METRIC] for spec in (mean, linear()))
    assert compare(left, right).sentence("feature mean", "the linear model", METRIC)[1:] in words(app)


def test_side_by_side_begins_with_it(open_page: Opener) -> None:
    app = open_page("side_by_side", **LINK)
    assert app.selectbox(key="right").value == "feature mean"
    assert len(figures(app)) == 4
    assert "Nyström m = 10 (C = 2⁻⁴, γ = 2⁻², seed 0, squared hinge) beside feature mean" in words(app)


def test_nothing_is_said_to_be_unlearned(open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("one grade")
    assert "nothing to learn" not in words(open_page("train", data="edge", **LINK))


def test_a_level_says_whether_it_has_an_m(mean: RunSpec) -> None:
    spec = RunSpec("demo", feature_map="nystroem", n_components=10)
    assert metric_vs_m.label_of(spec) == "Nyström"
    assert metric_vs_m.label_of(mean) == "feature mean (no m)"
    assert metric_vs_m.label_of(spec.factorized(5, 1.0)) == "factorised RankSVM, 5 factors, m = 10"
    assert metric_vs_m.label_of(spec.linear(1.0).factorized(5, 1.0)) == "factorised RankSVM, 5 factors (no m)"
