"""NDCG against m: the tabs "Learning curve" and "Label noise", their runs and what they say of them."""

from collections.abc import Callable

import numpy as np
import pytest
from conftest_pages import Opener, figures, words
from test_home_train import decoded, lines

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.metrics.significance import crossed_interval
from rankviz.models.methods import METHODS
from ui.shell.words import NO_POINT_ASKED
from ui.work import jobs

SPEC = RunSpec("synthetic-demo", n_components=10, C=2.0**-4, gamma=2.0**-2)
QUICK = {"upto": 10, "m": 10, "exact": "false", "curvedraws": 2, "noisedraws": 2}


@pytest.fixture(autouse=True)
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LIVE_IN_ALL", 600.0)


def of_model(found: dict[RunSpec, RunRecord], part: str = "vali") -> float:
    values = np.stack([r.metrics[part]["NDCG@10"].to_numpy() for r in found.values()])
    return crossed_interval(values).mean


def test_the_learning_curve_is_the_library_s(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", view="Learning curve", curvefirst=3, **QUICK)
    drawn = lines(figures(app)[1])
    expected = of_model(dict(execute_all([SPEC.but(share=0.25, draw=draw) for draw in (3, 4)])))
    assert drawn["Nyström, m = 10"][3] == pytest.approx(expected, abs=1e-3)
    traces = {trace.get("name"): trace for trace in figures(app)[1]["data"]}
    assert list(decoded(traces["Nyström, m = 10"]["x"])) == [4, 8, 15, 30, 60, 90, 120]
    assert {drawn["linear"][-1]} == set(lines(figures(app)[0])["linear (no m)"])
    assert "of 120 training queries" in words(app)
    assert [header.value for header in app.header][1].startswith("By NDCG@10, Nyström")


def test_label_noise_is_the_library_s_and_follows_its_controls(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", view="Label noise", **QUICK)
    drawn = lines(figures(app)[1])
    expected = of_model(dict(execute_all([SPEC.but(flipped=0.2, draw=draw) for draw in (0, 1)])))
    assert drawn["Nyström, m = 10"][3] == pytest.approx(expected, abs=1e-3)
    assert "of its training grades flipped" in words(app)
    app.slider(key="noisedraws").set_value(1).run()
    app.number_input(key="noisefirst").set_value(5).run()
    expected = of_model(dict(execute_all([SPEC.but(flipped=0.4, draw=5)])))
    assert lines(figures(app)[1])["Nyström, m = 10"][-1] == pytest.approx(expected, abs=1e-3)


def test_all_maps_and_another_metric(open_page: Opener) -> None:
    app = open_page(
        "ndcg_vs_m", view="Label noise", noisemaps="true", metric="MAP", **QUICK | {"noisedraws": 1}
    )
    assert set(lines(figures(app)[1])) >= {"linear", "Nyström, m = 10", "random Fourier, m = 10"}
    assert "By MAP, random Fourier" in words(app)


def test_what_takes_long_is_offered_with_its_cost(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_page("ndcg_vs_m", **QUICK)  # the runs of the figure above are there
    assert len(figures(first)) == 2
    assert "flipped" not in words(first), "runs of a tab are made when it is open"
    monkeypatch.setattr(jobs, "LIVE_IN_ALL", 0.0)
    app = open_page("ndcg_vs_m", view="Learning curve", **QUICK)
    assert "Training these" in words(app)
    assert NO_POINT_ASKED in words(app)
    assert app.slider(key="curvedraws").value == 2


def test_odd_addresses_ask_for_what_there_is(open_page: Opener) -> None:
    odd = QUICK | {"noisedraws": "0", "noisefirst": "-3", "noisemaps": "perhaps"}
    app = open_page("ndcg_vs_m", view="Label noise", **odd)
    assert not app.error
    assert len(figures(app)) == 2


@pytest.mark.parametrize("kind", ["tiny", "one grade", "all-zero features"])
def test_edges_of_data(kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    app = open_page("ndcg_vs_m", data="edge", **QUICK)
    for view in ("Learning curve", "Label noise"):
        app.session_state["view"] = view
        app.run()
        assert figures(app) or app.error or app.info
        assert "nan" not in words(app).lower().split()


@pytest.mark.parametrize("method", ["factorized", "mart"])
def test_every_method(method: str, open_page: Opener, small_set: None) -> None:
    label = METHODS[method].label
    app = open_page("ndcg_vs_m", view="Label noise", data="edge", method=label, rounds=5, **QUICK)
    assert not app.error, [error.value for error in app.error]
    assert any(label in name or "Nyström" in name for name in lines(figures(app)[-1]))
