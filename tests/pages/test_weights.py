"""Weights by hand: what the browser is sent, what the page answers, and when it says that it cannot."""

from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from conftest_pages import Opener, components, ordinary, words

from rankviz import evaluate
from rankviz.learning.losses import LOSSES
from ui.controls.feature_names import given_names, read
from ui.learn import weights as views
from ui.learn.weights import described, from_a_link, in_a_link, of_query, packed
from ui.learn.weights_words import OTHER_WEIGHTS


def test_the_browser_gets_columns_grades_and_ideals() -> None:
    train = ordinary(1)
    sent = packed(train, given_names(train), np.array([0.5, -2.0, 0, 0, 0, 0]), 0.25, LOSSES["huber"])
    X = np.frombuffer(b64decode(sent["X"]), "<f4").reshape(train.n_features, train.n_documents)
    assert np.array_equal(X.T, train.X.astype(np.float32))
    assert sent["most"] == 3.0
    best = evaluate(train.y.astype(float), train, at=[10]).per_query["NDCG@10"].to_numpy()
    assert np.array_equal(np.array(sent["ideals"]) > 0, best == 1)
    assert sent["loss"] == {"zones": [{"high": 1.0, "width": 1.0, "bend": 1.0}]}
    query = of_query(train, 3, dark=False)
    assert len(query["titles"]) == np.diff(train.ptr)[3]


def test_losses_are_described_or_refused() -> None:
    assert described(LOSSES["hinge"]) == {"kind": "hinge"}
    assert described(LOSSES["squared_hinge"]) == {"zones": [{"high": 1.0, "width": None, "bend": 1.0}]}
    assert described(LOSSES["smooth_hinge"]) is None


def test_the_page_shows_the_linear_baseline_until_the_map_is_linear(open_page: Opener) -> None:
    app = open_page("weights", clin=-6)
    sent, walk = components(app)
    assert sent["C"] == 2.0**-6
    assert "linear · C = 2⁻⁶" in words(app)
    assert app.header[0].value.endswith(".")
    assert walk.items() >= {"rev": 0, "path": [], "start": []}.items()
    own = open_page("weights", map="linear", c=-3)
    assert components(own)[0]["C"] == 2.0**-3


def test_a_loss_that_the_browser_does_not_know_is_said(open_page: Opener) -> None:
    app = open_page("weights", loss="smooth hinge")
    assert "does not support the" in app.info[0].value
    assert not components(app)


@pytest.mark.parametrize(
    ("name", "text"), [("MOST_CELLS", "exceed the limit of"), ("MOST_PAIRS", "pairs are too many")]
)
def test_what_is_too_much_for_a_browser_is_said(
    name: str, text: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, name, 10)
    app = open_page("weights")
    assert text in app.info[0].value
    assert not components(app)


def test_moved_weights_are_in_the_link_or_refused(open_by_menu: Opener) -> None:
    moved = [(0, 0.25), (7, -1.5e-7), (3, 0.0)]
    assert in_a_link(moved) == "0_0.25__7_-1.5e-07__3_0"
    assert from_a_link(in_a_link(moved), 8, most=0.25) == moved
    for wrong in ("8_1", "-1_1", "1_nan", "1_inf", "a_1", "1", "1_2_3", "1_0.26", "1_-0.26"):
        with pytest.raises(ValueError, match=r"\w"):
            from_a_link(wrong, 8, most=0.25)
    app = open_by_menu("weights", weights="2_0.5")
    assert components(app)[1]["start"] == [[2, 0.5]]
    assert app.query_params["weights"] == "2_0.5"
    app.session_state["clin"] = -3
    app.run()
    assert components(app)[1]["start"] == []
    assert "weights" not in app.query_params, "another model has other weights"
    app = open_by_menu("weights", weights="1_1e999")
    assert OTHER_WEIGHTS in app.warning[0].value
    assert "weights" not in app.query_params


def test_only_weights_within_reach_of_the_bars_are_walked_back(open_page: Opener) -> None:
    app = open_page("weights")
    data = components(app)[0]
    for factor, walked in ((1.0, True), (1.01, False), (1e6, False)):
        app.session_state[views.HEARD] = {"walk": {"w": [factor * data["most"]] * data["features"]}}
        app.session_state[views.WALK] = {"rev": 0, "path": []}
        app.run()
        assert bool(components(app)[1]["path"]) == walked, factor


def test_what_the_page_does_not_read_cannot_clash(open_page: Opener) -> None:
    assert components(open_page("weights", map="random Fourier", kernel="polynomial"))


def test_what_is_told_is_kept_until_a_run_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two messages interrupts the run that the first one started."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(views.st, "session_state", state)
    views._hear("walk", {"w": [0.0]})
    views._hear("moved", {"w": []})
    assert state[views.HEARD] == {"walk": {"w": [0.0]}, "moved": {"w": []}}


def test_names_of_features_are_read_by_lines_of_any_length() -> None:
    text = f" 1 :  clicks \n2=title\n1:{' ' * 300_000}b\n7: none\n\n3:a{' ' * 300_000}b"
    own, wrong = read(text, 5)
    assert own == {1: "b", 2: "title"}
    assert [line[:7].rstrip() for line in wrong] == ["7: none", "3:a"]
