"""Pages by metrics that runs lack: one of which less is better, and one of the visitor's own."""

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, decoded, execute, figures, words
from streamlit.testing.v1 import AppTest
from test_sweep import SMALL, design_of, make, no_processes, press, study_of, table_of

from rankviz import RunSpec
from rankviz.datasets import load_demo
from rankviz.metrics.evaluation import column_name
from rankviz.metrics.significance import compare
from rankviz.runs.selection import Choice, select
from ui.compare.runs_filters import MOST_MEASURED
from ui.model.what_if_words import WRONG, _of_all
from ui.shell.visitors import visitor
from ui.study.low_rank_models_words import spread
from ui.study.ndcg_vs_m_words import of_queries, of_wrong_grades
from ui.work.metrics import METRICS, OWN, with_column
from ui.work.run_store import run_store

pytestmark = pytest.mark.usefixtures("every_tab")
__all__ = ["no_processes"]

LESS = "MeanRank"
OWN_GAINS = "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15})@10"
"""The gains of NDCG@10, spelled out."""
ME = "1" * 32
OF_CHANGES = ["why", "convergence", "low_rank"]
"""Pages that tell the effect of a changed setting by the metric, and nothing else."""
WITH_METRIC = ["train", "what_if", "side_by_side", "influence", "ndcg_vs_m", *OF_CHANGES]


def said(app: AppTest) -> str:
    return words(app).replace("\u2060", "").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("page", WITH_METRIC)
def test_every_menu_offers_the_mean_rank_and_says_that_less_is_better(
    page: str, open_page: Opener, small_set: None
) -> None:
    app = open_page(page, data="edge", m=10, upto=25, metric=LESS)
    assert not app.error, [one.value for one in app.error]
    assert app.selectbox(key="metric").value == LESS
    assert app.selectbox(key="metric").options == [*METRICS, OWN]
    assert "Less MeanRank is better." in said(app)
    assert "nan" not in said(app).lower().split()


def test_the_best_C_has_the_smallest_mean_rank(open_page: Opener) -> None:
    app = open_page("influence", map="linear", scope="this fold", metric=LESS)
    assert "MeanRank is lowest (best) at C = " in said(app)
    lines = {trace.get("name"): trace for trace in figures(app)[0]["data"]}
    values = decoded(lines["mean over queries"]["y"])
    assert decoded(lines["best"]["y"]) == pytest.approx([min(values)])
    assert max(values) > min(values)


def test_the_better_of_two_models_has_the_smaller_mean_rank(open_page: Opener) -> None:
    app = open_page("side_by_side", m=10, metric=LESS)
    (table,) = (one.value for one in app.dataframe if "tau" in one.value)
    known = table.set_index("query")[["left", "right"]].dropna()
    part = load_demo(1).vali
    assert len(known) == sum(part.y[part.query_slice(q)].any() for q in range(part.n_queries))
    assert compare(known["left"], known["right"]).sentence("Nyström", "random Fourier", LESS) in said(app)


def test_the_effect_of_a_change_says_that_less_is_better(open_page: Opener) -> None:
    app = open_page("train", m=10, metric=LESS)
    app.sidebar.select_slider(key="m").set_value(25).run()
    assert "MeanRank (less is better) " in said(app)


@pytest.mark.parametrize("metric", [LESS, OWN_GAINS])
def test_a_sweep_takes_the_best_cell(open_page: Opener, metric: str) -> None:
    """Also one that keeps the metric, as those of the command line do."""
    app = make(press(open_page("sweep", **SMALL), "start-sweep"))
    study = study_of(app)
    design, table = design_of(study), with_column(table_of(app), metric)
    means = table.groupby(["C", "gamma"])[f"vali:{metric}"].mean()
    best = means.min() if metric == LESS else means.max()
    assert means.max() > means.min()
    assert select(design, table, metric).validation == pytest.approx(best)
    own = {"metric": OWN, "own": metric} if metric not in METRICS else {"metric": metric}
    status = run_store().studies.status(study)
    run_store().studies.redesign(study, status.study.owner, Choice(metric).beside(design))
    run_store().studies.share(study, status.study.owner, True)
    for link in (own, {}):
        shown = open_page("sweep", study=study, **link)
        assert not shown.error
        assert f"validation {metric} {best:.3f}" in said(shown)
        assert f", rank 1 of {len(means)}." in said(shown)
        assert shown.selectbox(key="metric").value == own["metric"]
        lines = {trace.get("name"): trace for trace in figures(shown)[0]["data"]}
        assert lines["best"]["x"] is not None
    compared = open_page("compare", studies=study, **own)
    assert not compared.error
    assert "by validation " in said(compared)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[RunSpec]:
    """Three runs of the demonstration data, in the visitor's store."""
    monkeypatch.setattr("ui.shell.visitors._secret", lambda: ME)
    digest = load_demo(1).digest
    specs = [RunSpec("synthetic-demo", digest=digest, n_components=5, C=2.0**k) for k in (-9, -3, 3)]
    run_store().records.keep([execute(spec) for spec in specs], visitor())
    return specs


@pytest.mark.parametrize("metric", [LESS, OWN_GAINS])
def test_runs_take_metrics_that_they_lack(open_page: Opener, kept: list[RunSpec], metric: str) -> None:
    link = {"metric": metric} if metric in METRICS else {"metric": OWN, "own": metric}
    app = open_page("runs", first="best", **link)
    assert not app.error
    column = next(one.value for one in app.dataframe if f"{metric}, validation" in one.value)
    values = column[f"{metric}, validation"].dropna()
    assert len(values) >= len(kept)
    assert values.is_monotonic_increasing if metric == LESS else values.is_monotonic_decreasing
    assert f"the best validation {metric}: {values.iloc[0]:.3f}" in said(app)
    assert f"of at most {MOST_MEASURED} runs" in said(app)
    field = app.number_input(key="atmost" if metric == LESS else "atleast")
    field.set_value(float(values.iloc[0]) + 1e-3 * (1 if metric == LESS else -1)).run()
    assert f"of {len(column)} runs" in said(app)


def test_runs_without_their_data_have_no_own_metric(open_page: Opener, kept: list[RunSpec]) -> None:
    other = [spec.but(digest="0" * 32) for spec in kept]
    table = pd.DataFrame({"state": "done"}, index=[spec.hash for spec in kept])
    assert column_name(OWN_GAINS) in str(list(with_column(table, OWN_GAINS).columns))
    import ui.work.metrics as metrics

    with pytest.MonkeyPatch.context() as change:
        change.setattr(metrics, "is_here", lambda spec: spec in other)
        assert list(with_column(table, OWN_GAINS).columns) == ["state"]


def test_sentences_of_tables_call_more_ranks_worse() -> None:
    row = {"judged_by": 40, "distinguishable": True, "difference": 2.0, "difference_low": 1.0}
    row |= {"difference_high": 3.0, "mean": 22.0, "queries": 20, "flipped": 0.0}
    whole = row | {"queries": 40, "difference": 0.0, "distinguishable": False, "mean": 20.0}
    queries = pd.DataFrame([row | {"share": 0.5}, whole | {"share": 1.0}])
    assert "it is worse by 2.000" in of_queries(queries, "A", LESS)
    assert "is better by 2.000" in of_queries(queries, "A", "MAP")
    grades = pd.DataFrame([whole, row | {"flipped": 0.1}])
    assert "already worse by 2.000" in of_wrong_grades(grades, "A", LESS)
    low = pd.Series(np.linspace(1, 2, 40))
    more = low + np.linspace(1, 2, 40)
    found = compare(low, more)
    assert _of_all(found, found, LESS).startswith("Significant gain on 40 validation queries")
    assert _of_all(found, found, "MAP").startswith("Significant loss on 40 validation queries")
    text = spread({"few": low, "many": more}, LESS)
    assert text.startswith("Mean MeanRank lies between 1.500 and 3.000; few is better than many")


def test_another_metric_is_answered_in_words(open_page: Opener) -> None:
    app = open_page("what_if", m=10)
    assert "moves nothing" not in said(app)
    app.selectbox(key="metric").set_value(LESS).run()
    (told,) = (one.value for one in app.header if "moves nothing" in one.value)
    assert (
        f"Another metric moves nothing: {LESS} judges the same model. Over 40 validation queries: NDCG@10 0."
        in told
    )
    next(one for one in app.button if one.label == WRONG).click().run()
    assert "moves nothing" not in said(app), "the question now is another one"
    app.selectbox(key="metric").set_value("MAP").run()
    (told,) = (one.value for one in app.header if "the same changes make" in one.value)
    assert f"By {LESS} the same changes make: {LESS} (less is better) " in told


@pytest.mark.parametrize("page", WITH_METRIC)
def test_own_gains_are_computed_on_every_page(page: str, open_page: Opener, small_set: None) -> None:
    own = open_page(page, data="edge", m=10, upto=25, metric=OWN, own=OWN_GAINS)
    assert not own.error
    assert own.text_input(key="own").value == OWN_GAINS
    if page in OF_CHANGES:
        own.sidebar.select_slider(key="m").set_value(25).run()
    assert OWN_GAINS.lower() in words(own).replace("\u2060", "").lower()


def test_what_is_no_metric_here_is_told_and_so_is_a_grade_without_a_gain(open_page: Opener) -> None:
    app = open_page("train", m=10, metric=OWN, own="")
    for text in ("", "<b>x</b>@5"):
        app.text_input(key="own").set_value(text).run()
        assert not app.exception
        (told,) = [one.value for one in app.caption if "Write a metric in the field" in one.value]
        assert "<b>" not in told
    app.text_input(key="own").set_value("nDCG(gains={1: 1})@5").run()
    assert not app.exception
    assert "has no gain: give gains of the grades 1 to" in app.error[0].value


def test_a_record_with_an_own_metric_is_stored_without_it(open_page: Opener) -> None:
    from rankviz.metrics.evaluation import COLUMNS
    from ui.work.runs import remembered

    open_page("train", m=10, metric=OWN, own=OWN_GAINS)
    assert all(tuple(record.metrics["vali"]) == COLUMNS for record in remembered())
