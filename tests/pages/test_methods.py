"""The Methods page: its table before and after training, the baseline, and methods that cannot be trained."""

import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, execute
from rankviz.analysis.methods import catalogue
from ui.compare import methods

LINK = {"map": "linear", "folds": "this fold", "cfrom": "Sidebar", "C": "-4"}


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "minimises" in frame.value).set_index("method")


def test_methods_are_listed_before_any_is_trained_and_one_is_used(open_page: Opener) -> None:
    app = open_page("methods", **LINK)
    assert app.header[0].value == "No method is trained on these data yet."
    assert table(app).index.tolist() == [one.label for one in catalogue().values()]
    assert "NDCG@10" not in table(app)
    assert len(figures(app)) == 2  # one for phones, which hide the other
    app.session_state[methods.PICKED] = "logistic"
    app.run()
    assert "RankSVM, logistic" in words(app)
    app.button(key="methods-use").click().run()
    assert app.title[0].value == "Train"
    assert app.session_state["loss"] == "logistic"


def test_ticked_methods_are_trained_and_compared_with_the_baseline(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "_ticked", lambda: ["huber"])
    app = open_page("methods", **LINK)
    shown = table(app)
    for key in ("squared_hinge", "huber"):
        spec = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-4, loss=key)
        ours = execute(spec).metrics["vali"].mean()
        for metric in ("NDCG@10", "MAP"):
            assert shown.loc[catalogue()[key].label, metric] == pytest.approx(ours[metric], abs=1e-12)
    assert shown["NDCG@10"].notna().sum() == 2
    assert shown["NDCG@10 difference"].notna().sum() == 1
    assert "2 of" in app.header[0].value
    assert "printed" not in " ".join(shown.columns)


def test_differences_need_two_methods(open_page: Opener) -> None:
    assert "another method" in open_page("methods", view="Differences", **LINK).info[0].value
