"""The Definitions page: the terms of a query, a pasted list, and the link from metric headlines."""

import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, evaluate, execute
from rankviz.datasets import find_datasets, open_fold
from rankviz.metrics import DEFINITIONS

SPEC = RunSpec("synthetic-demo", feature_map="nystroem", n_components=10, C=2.0**-4, gamma=2.0**-2)
PASTED = {"list": "Paste a list", "pasted": "0 3\n2 2\n1 1"}


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_values_of_a_query_are_the_library_s(open_page: Opener) -> None:
    app = open_page("definitions", m=10, by="trec_eval", cut=5)
    vali = open_fold(find_datasets()["synthetic-demo"], "Fold1").vali
    query = int(words(app).partition("NDCG@5 of query ")[2].partition(" ")[0])
    shown = table(app, "gain")
    assert shown.index[0] == "trec_eval"
    for name, definition in DEFINITIONS.items():
        ours = evaluate(execute(SPEC).scores["vali"], vali, name, at=[5]).per_query.loc[query, "NDCG@5"]
        assert shown.loc[definition.label, "NDCG@5"] == pytest.approx(ours, abs=1e-12)
    assert f"By trec_eval, NDCG@5 of query {query} is {shown.loc['trec_eval', 'NDCG@5']:.3f}" in words(app)
    assert len(figures(app)) == 1
    assert not [button for button in app.button if "why-different" in str(button.key)]


@pytest.mark.parametrize(
    ("page", "figure"),
    [("side_by_side", "ndcg-per-query"), ("train", "ndcg-at-k"), ("influence", "influence-of-c")],
)
def test_figures_of_metrics_lead_here(page: str, figure: str, open_page: Opener) -> None:
    app = open_page(page, m=10)
    keys = [str(button.key) for button in app.button if "why-different" in str(button.key)]
    assert any(key.startswith(figure) for key in keys), keys


def test_the_effect_on_the_mean_of_the_part(open_page: Opener) -> None:
    app = open_page("definitions", m=10, view="Effect on the mean")
    found = table(app, "then")
    first = found.iloc[0]
    assert f"The rule “{first['rule']}” moves mean NDCG@10 most" in words(app)
    assert f"“{first['then']}”" in words(app)


def test_a_pasted_list_needs_no_model(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.compare.definitions.run_or_wait", lambda *_, **__: pytest.fail("trained"))
    app = open_page("definitions", view="All measures", cut=3, **PASTED)
    ours = evaluate([3, 2, 1], [0, 2, 1], qid=[1, 1, 1], at=[3]).mean
    assert f"By rankviz, NDCG@3 of your list is {ours['NDCG@3']:.3f}" in words(app)
    assert table(app, "MAP").loc["LETOR 4.0", "MAP"] == ours["MAP"]
    app.text_area(key="pasted").set_value("0 3\n2 b").run()
    assert "pasted list, line 2: the score" in app.error[0].value
    assert not figures(app)


def test_a_cut_off_beyond_the_definition_is_said(open_page: Opener) -> None:
    app = open_page("definitions", cut=12, **PASTED)
    assert "rankviz defines @k up to 10" in app.info[0].value
    assert "NDCG@10 of your list" in words(app)


def test_a_metric_headline_leads_here_with_what_it_shows(open_by_menu: Opener) -> None:
    app = open_by_menu("train", m=10, metric="NDCG@3", test="true")
    app.button(key="tiles-why-different").click().run()
    assert app.title[0].value == "Definitions"
    assert app.toggle(key="test").value
    assert "By rankviz, NDCG@3 of query" in words(app)
    app = open_by_menu("definitions", m=10, view="All measures", test="true")
    means = [frame.value for frame in app.dataframe if "NDCG@10" in frame.value][-1]
    tile = execute(SPEC).metrics["test"]["NDCG@10"].mean()
    assert means.loc["rankviz", "NDCG@10"] == pytest.approx(tile, abs=1e-12)
